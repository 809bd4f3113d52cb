//! Small programs under the engine: how many executions each has, and that a typical misuse of each shim is found.
//!
//! The numbers are counted by hand, from the orders that can be told apart; the comment beside each says which.
#![cfg(mc)]

mod arcs;
#[path = "../common/chance.rs"]
mod chance;
mod channels;
#[path = "../common/mod.rs"]
mod common;
mod futures;
mod locals;
mod locks;
mod once;
mod ordering;
mod owners;
mod readers;
mod reuse;
mod sizes;
mod threads;
mod unused;
mod waiting;
mod wakeups;

use std::panic::{UnwindSafe, catch_unwind};

use mc::__private::run_body;
use mc_runtime::models::{Bounds, replay};
use mc_runtime::options::Options;
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

/// Explores `body`.
fn check(body: fn()) -> Outcome {
    check_with(&Options::default(), body)
}

fn check_with(options: &Options, body: fn()) -> Outcome {
    common::explore(options, body)
}

/// `body` holds in each of exactly `executions`.
#[track_caller]
fn proved(executions: u64, body: fn()) {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    assert_eq!(outcome.executions, executions, "{outcome:?}");
}

/// `body` fails in some execution.
#[track_caller]
fn fails(kind: FailureKind, body: fn()) {
    let outcome = check(body);
    let kinds: Vec<_> = outcome.failures.iter().map(|failure| failure.kind).collect();
    assert_eq!(kinds, [kind], "{outcome:?}");
}

/// The failure of `body`, replayed and told.
#[track_caller]
fn counterexample(body: fn()) -> String {
    let outcome = check(body);
    let [failure] = &outcome.failures[..] else { panic!("{outcome:?}") };
    replayed(failure.schedule.clone(), body)
}

/// The failure that `body` has by this schedule, told.
#[track_caller]
fn replayed(schedule: String, body: impl Fn() + Copy + Send + Sync + UnwindSafe + 'static) -> String {
    let replayed = catch_unwind(move || replay(Bounds::default(), &schedule, move || run_body(body)));
    *replayed.unwrap_err().downcast::<String>().expect("a counterexample is a text")
}

/// How often `body` ends with each of its results.
#[track_caller]
fn results<const N: usize>(seen: &'static [std::sync::atomic::AtomicUsize; N], body: fn()) -> [bool; N] {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    seen.each_ref().map(|count| count.load(std::sync::atomic::Ordering::Relaxed) > 0)
}
