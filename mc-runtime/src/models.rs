//! Checks that a plain test makes in the middle of itself, as loom's do: `#[test] fn t() { model(|| ..); }`, any number of them, with closures that
//! capture what they like, and code of the test before, between and after.
//!
//! So the check is made in the process that runs the test, which then goes on. Under `cargo mc` that is a worker, one for each test (see
//! `worker::models`), and a crash ends it alone. Under plain `cargo test` it is the process of all tests: they are checked one after the other, and a crash
//! prints its counterexample before it ends the process.

use std::env;
use std::panic::panic_any;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::check;
use crate::exec::run::TestBody;
use crate::judge::{Goal, Judgement, judge};
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::report::{self, Style, View};
use crate::settings::Layer;
use crate::worker::{self, ENVIRONMENT, Task, TraceEvent};

/// What the test itself says about the check of a model. Flags and variables count over it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// At most this many executions.
    pub max_executions: Option<u64>,
    /// Wall time, milliseconds.
    pub time_limit: Option<u64>,
    /// Executions may have this many events at least.
    pub max_events: u64,
}

impl Bounds {
    /// These options, and what they leave open as here.
    pub(crate) fn over(&self, options: Options) -> Options {
        Options {
            max_executions: options.max_executions.or(self.max_executions),
            time_limit: options.time_limit.or(self.time_limit),
            max_events: options.max_events.max(self.max_events),
            foreign: true,
            ..options
        }
    }
}

/// Checks `body`.
///
/// # Panics
/// With the counterexample, if an execution fails; and if the check cannot be made, or learns less than is required.
#[track_caller]
pub fn check(bounds: Bounds, body: impl Fn() + Send + Sync + 'static) {
    assert!(crate::ops::current().is_none(), "a model is checked inside of a model");
    let body: TestBody = Arc::new(body);
    let Some(task) = env::var_os(ENVIRONMENT) else { return plain(bounds, &body) };
    match serde_json::from_str::<Task>(&task.to_string_lossy()) {
        Ok(task) => worker::models::serve(task, bounds, body),
        Err(error) => panic!("`{ENVIRONMENT}` holds no task: {error}"),
    }
}

/// In the process of plain `cargo test`.
#[track_caller]
fn plain(bounds: Bounds, body: &TestBody) {
    static NEVER: AtomicBool = AtomicBool::new(false);
    /// One at a time: an exploration compares the writable memory of the process, and the name is for the crash of it.
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let environment = match Layer::from_environment(|name| env::var(name).ok()) {
        Ok(layer) => layer,
        Err(error) => panic!("{error}"),
    };
    let require = environment.require;
    let options = bounds.over(environment.options());
    let goal = Goal::new(&Layer::default(), &options, require, false);
    worker::crash::watch(options.hang_limit);
    *TEST.lock().unwrap_or_else(PoisonError::into_inner) = std::thread::current().name().unwrap_or("main").to_owned();
    let outcome = check::run(check::engine(&options), body.clone(), &NEVER, |_| ());
    let judgement = judge(&outcome, goal);
    if judgement.passes() {
        return;
    }
    let text = match judgement {
        Judgement::Failed | Judgement::Uncheckable => failures(&outcome, &options, body),
        _ => inconclusive(&outcome, goal),
    };
    // A test with `#[should_panic]` would swallow that nothing is known.
    if judgement != Judgement::Failed {
        say(&text);
    }
    drop(one);
    panic_any(text);
}

/// The test whose model is checked.
static TEST: Mutex<String> = Mutex::new(String::new());

fn test() -> String {
    TEST.try_lock().map_or_else(|_| "a test".to_owned(), |test| test.clone())
}

fn inconclusive(outcome: &Outcome, goal: Goal) -> String {
    let Outcome { verdict, executions, bounds, .. } = outcome;
    let cut = bounds.iter().map(|bound| format!(", cut at {} = {}", bound.limit, bound.value)).collect::<String>();
    let required = goal.require;
    format!(
        "{}: a model is {verdict}, {required} is required: {executions} executions{cut}\n\
         `MC_REQUIRE={verdict}` accepts that",
        test()
    )
}

fn failures(outcome: &Outcome, options: &Options, body: &TestBody) -> String {
    let reports = outcome.failures.iter().map(|failure| {
        let trace = match failure.schedule.parse() {
            Ok(schedule) => worker::retrace(options.clone(), schedule, body),
            Err(_) => Vec::new(),
        };
        render(failure, &trace)
    });
    format!("\n{}", reports.collect::<Vec<_>>().join("\n"))
}

fn render(failure: &Failure, trace: &[TraceEvent]) -> String {
    let roots = env::current_dir().into_iter().chain(env::var_os("CARGO_MANIFEST_DIR").map(Into::into));
    let view = View {
        test: test(),
        replay: "cargo mc replay --loom".to_owned(),
        recorded: None,
        roots: roots.collect(),
        width: report::WIDTH,
        style: Style::PLAIN,
    };
    report::render(failure, trace, &view)
}

/// The process is about to die of this.
pub(crate) fn last_words(failure: &Failure) {
    say(&render(failure, &[]));
}

/// Past what libtest captures.
fn say(text: &str) {
    let text = format!("{text}\n");
    // SAFETY: a plain system call; the pointer and the length are those of `text`.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
