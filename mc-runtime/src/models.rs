//! Checks that a plain test makes in the middle of itself, as loom's do: `#[test] fn t() { model(|| ..); }`, any number of them, with closures that
//! capture what they like, and code of the test before, between and after.
//!
//! So the check is made in the process that runs the test, which then goes on. Under `cargo mc` that is a worker, one for each test (see
//! `worker::models`), and a crash ends it alone. Under plain `cargo test` it is the process of all tests: they are checked one after the other, and a crash
//! prints its counterexample before it ends the process.

use std::env;
use std::panic::panic_any;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::check;
use crate::exec::run::TestBody;
use crate::judge::{Goal, Judgement, Required, judge};
use crate::message::{ENVIRONMENT, Replayed, Task, TraceEvent};
use crate::options::{MemoryModel, Options, Origin, Strategy, Threads};
use crate::outcome::{Failure, Outcome};
use crate::report::{self, View};
use crate::settings::Layer;
use crate::worker;

/// What the test itself says about the check of a model. Flags and variables count over it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// At most this many executions.
    pub max_executions: Option<u64>,
    /// Wall time, milliseconds.
    pub time_limit: Option<u64>,
    /// Executions may have this many events at least.
    pub max_events: u64,
    /// Executions may have no more events than this.
    pub most_events: Option<u64>,
    /// In which order, or which samples.
    pub strategy: Option<Strategy>,
    /// The seed of everything random.
    pub seed: Option<u64>,
    /// The memory model.
    pub memory_model: Option<MemoryModel>,
    /// What must be known in the end; by default as for any test.
    pub require: Option<Required>,
    /// The test was written for no checker, see [`Origin::Unmodified`]. As under libtest, a panic of a thread that it spawned fails it only where it looks at it.
    pub unmodified: bool,
    /// What runs its threads, if it can be nothing else.
    pub threads: Option<Threads>,
    /// What the report says before a schedule; by default how `cargo mc` replays it.
    pub replay: Option<&'static str>,
}

impl Bounds {
    /// These options, where somebody asked for them, and otherwise what is here.
    pub(crate) fn over(&self, options: Options) -> Options {
        let max_events = self.most_events.unwrap_or(options.max_events.max(self.max_events));
        Options {
            strategy: unless(options.asked.strategy, self.strategy).unwrap_or(options.strategy),
            seed: unless(options.asked.seed, self.seed).unwrap_or(options.seed),
            memory_model: unless(options.asked.memory_model, self.memory_model).unwrap_or(options.memory_model),
            max_executions: options.max_executions.or(self.max_executions),
            time_limit: options.time_limit.or(self.time_limit),
            max_events: unless(options.asked.max_events, Some(max_events)).unwrap_or(options.max_events),
            origin: if self.unmodified { Origin::Unmodified } else { Origin::Foreign },
            allow_panics: options.allow_panics || self.unmodified,
            threads: self.threads.unwrap_or(options.threads),
            ..options
        }
    }

    /// What a model must come to that is checked with `options`, if nobody asks for something else.
    pub(crate) fn required(&self, options: &Options) -> Required {
        let usual = Goal::new(&Layer::default(), options, self.require, false).require;
        if check::sees_real_std() { usual.min(Required::Bounded) } else { usual }
    }
}

fn unless<T>(asked: bool, own: Option<T>) -> Option<T> {
    own.filter(|_| !asked)
}

/// Checks `body`; what came of it.
///
/// # Panics
/// With the counterexample, if an execution fails; and if the check cannot be made, or learns less than is required.
#[track_caller]
pub fn check(bounds: Bounds, body: impl Fn() + Send + Sync + 'static) -> Outcome {
    assert!(crate::ops::current().is_none(), "a model is checked inside of a model");
    let body: TestBody = Arc::new(body);
    let Some(task) = env::var_os(ENVIRONMENT) else { return plain(bounds, &body) };
    match Task::from_text(&task.to_string_lossy()) {
        Ok(task) => worker::models::serve(task, bounds, body),
        Err(error) => panic!("`{ENVIRONMENT}` holds no task: {error}"),
    }
}

/// In the process of plain `cargo test`.
#[track_caller]
fn plain(bounds: Bounds, body: &TestBody) -> Outcome {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let one = alone();
    let environment = environment();
    let options = bounds.over(environment.options());
    let require = environment.require.unwrap_or_else(|| bounds.required(&options));
    let goal = Goal { expect: None, require };
    worker::crash::watch(options.hang_limit);
    name_test(bounds);
    let outcome = check::run(check::engine(&options), body.clone(), &NEVER, |_| ());
    let judgement = judge(&outcome, goal);
    if judgement.passes() {
        return outcome;
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

/// Runs the execution of `schedule` once more.
///
/// # Panics
/// With the counterexample if it fails; and if `body` does something else than what the schedule was made from.
#[track_caller]
pub fn replay(bounds: Bounds, schedule: &str, body: impl Fn() + Send + Sync + 'static) {
    assert!(crate::ops::current().is_none(), "a schedule is replayed inside of a model");
    let parsed = match schedule.trim().parse() {
        Ok(parsed) => parsed,
        Err(error) => panic!("{error}"),
    };
    let body: TestBody = Arc::new(body);
    let one = alone();
    let options = bounds.over(environment().options());
    worker::crash::watch(options.hang_limit);
    name_test(bounds);
    let (trace, how) = worker::retrace(options, parsed, &body);
    let text = match &how {
        Replayed::Passed => String::new(),
        Replayed::Failed(failure) => format!("\n{}", render(failure, &trace)),
        Replayed::Diverged { message } => message.clone(),
    };
    worker::models::told(how);
    drop(one);
    if !text.is_empty() {
        panic_any(text);
    }
}

/// One at a time, although a test may have threads of its own: an exploration compares the writable memory of the process, and the name is for the crash of it.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[track_caller]
fn environment() -> Layer {
    match Layer::from_environment(|name| env::var(name).ok()) {
        Ok(layer) => layer,
        Err(error) => panic!("{error}"),
    }
}

/// The test whose model is checked, and what its report says before a schedule.
static TEST: Mutex<(String, &str)> = Mutex::new((String::new(), REPLAY));
const REPLAY: &str = "cargo mc replay --loom";

fn name_test(bounds: Bounds) {
    let name = std::thread::current().name().unwrap_or("main").to_owned();
    *TEST.lock().unwrap_or_else(PoisonError::into_inner) = (name, bounds.replay.unwrap_or(REPLAY));
}

fn test() -> (String, &'static str) {
    TEST.try_lock().map_or_else(|_| ("a test".to_owned(), REPLAY), |test| test.clone())
}

fn inconclusive(outcome: &Outcome, goal: Goal) -> String {
    let Outcome { verdict, executions, bounds, .. } = outcome;
    let cut = bounds.iter().map(|bound| format!(", cut at {} = {}", bound.limit, bound.given())).collect::<String>();
    let required = goal.require;
    format!(
        "{}: a model is {verdict}, {required} is required: {executions} executions{cut}\n\
         `MC_REQUIRE={verdict}` accepts that",
        test().0
    )
}

fn failures(outcome: &Outcome, options: &Options, body: &TestBody) -> String {
    let reports = outcome.failures.iter().map(|failure| {
        let trace = match failure.schedule.parse() {
            Ok(schedule) => worker::retrace(options.clone(), schedule, body).0,
            Err(_) => Vec::new(),
        };
        render(failure, &trace)
    });
    format!("\n{}", reports.collect::<Vec<_>>().join("\n"))
}

fn render(failure: &Failure, trace: &[TraceEvent]) -> String {
    let (test, replay) = test();
    // Another way of replaying belongs to the test that it is written in.
    let name = if replay.starts_with("cargo mc") { test.clone() } else { String::new() };
    report::render(failure, trace, &View::of_plain_test(test, name, replay))
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
