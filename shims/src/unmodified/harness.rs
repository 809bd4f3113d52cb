//! What stands in for libtest where tests are checked that were written for no checker (`cargo mc test --std`): the same arguments, the same lists, and each
//! test that runs is checked.

use std::panic::{catch_unwind, resume_unwind};
use std::thread;

use libtest_mimic::{Arguments, Trial};
pub use mc_runtime::unmodified::Std;
use mc_runtime::{ops, unmodified};

use crate::__private::run_body;

/// A test, as the compiler describes it to libtest.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Its path.
    pub name: &'static str,
    /// Marked `#[ignore]`.
    pub ignored: bool,
    /// What `#[should_panic]` says.
    pub should_panic: ShouldPanic,
    /// The test; an error is what it returns besides success.
    pub body: fn() -> Result<(), String>,
}

/// What `#[should_panic]` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShouldPanic {
    /// It is not there.
    No,
    /// Every execution panics.
    Yes,
    /// With a message that has this in it.
    With(&'static str),
}

/// Runs the tests that the arguments of the process ask for, and ends the process if one fails. `checker`: the crates that the checker is made of.
pub fn main(tests: impl Iterator<Item = Test>, checker: &[&str], std: Std) {
    let arguments = Arguments::from_args();
    if !arguments.list {
        unmodified::begin(checker, env!("CARGO_MANIFEST_DIR"), std);
    }
    let trials = tests.map(|test| {
        let trial = Trial::test(test.name, move || {
            check(test);
            Ok(())
        });
        trial.with_ignored_flag(test.ignored)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_if_failed();
}

/// On a thread with the name of the test, as libtest does.
fn check(test: Test) {
    let checks = move || {
        unmodified::check(move || run_body(|| run(test)));
    };
    let thread = thread::Builder::new().name(test.name.to_owned()).spawn(checks).expect("a thread for the test");
    if let Err(payload) = thread.join() {
        resume_unwind(payload);
    }
}

/// One execution.
fn run(test: Test) {
    let result = catch_unwind(test.body);
    let payload = match (result, test.should_panic) {
        (Ok(Ok(())), ShouldPanic::No) => return,
        (Ok(Err(message)), ShouldPanic::No) => fail(message),
        (Ok(_), _) => fail("the test has `#[should_panic]`, but this execution does not panic".to_owned()),
        (Err(payload), _) => payload,
    };
    if payload.is::<ops::Cut>() || test.should_panic == ShouldPanic::No {
        resume_unwind(payload);
    }
    let message = payload.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no text");
    if let ShouldPanic::With(expected) = test.should_panic
        && !message.contains(expected)
    {
        fail(format!(
            "the test has `#[should_panic(expected = {expected:?})]`, but this execution panics with {message:?}"
        ));
    }
}

/// Without a place: it would be one of ours.
fn fail(message: String) -> ! {
    resume_unwind(Box::new(message))
}
