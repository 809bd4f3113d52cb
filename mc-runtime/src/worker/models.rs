//! The worker's side of a test that checks models in the middle of itself. Each is told when it is done; the end of the process is the end of the test.

use std::panic::{PanicHookInfo, resume_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use super::server::{finish, refuse, send, serve_signals};
use super::{STOP, crash, replay};
use crate::check::{self, Event};
use crate::exec::run::TestBody;
use crate::judge::Required;
use crate::message::{Message, Replayed, Task};
use crate::models::{self, Bounds};
use crate::options::Options;
use crate::outcome::{Outcome, Site, Verdict};

/// The exit code of libtest where a test has failed.
const FAILED: i32 = 101;

/// Does the task with the model that the test has come to.
pub(crate) fn serve(task: Task, bounds: Bounds, body: TestBody) -> Outcome {
    let one = models::alone();
    match task {
        Task::List => refuse("the list of tests was asked for, not a test".to_owned(), 96),
        Task::Check { options } => {
            let options = bounds.over(options);
            let require = bounds.required(&options);
            let outcome = explore(options, require, body);
            // Told already: libtest need not print it. `#[should_panic(expected = "..")]` looks at it, and who keeps schedules.
            let failure = outcome.failures.first().map(|failure| format!("{}\n{}", failure.message, failure.schedule));
            send(&Message::Model { outcome: outcome.clone(), require });
            if bounds.unmodified {
                // It is the only one, and libtest would wait for ever for the lock of standard output, if an execution was given up where a thread had it.
                finish(if failure.is_some() { FAILED } else { 0 });
            }
            drop(one);
            if let Some(message) = failure {
                resume_unwind(Box::new(message));
            }
            outcome
        }
        Task::Replay { options, schedule } => match replay::run(bounds.over(options), &schedule, body) {
            Replayed::Failed(failure) => super::server::replayed(Replayed::Failed(failure)),
            // It may be the schedule of a later model.
            how => {
                send(&Message::Replayed(how));
                Outcome::of(Verdict::Ran)
            }
        },
    }
}

/// Tells what came of an execution that the test itself asked for.
pub(crate) fn told(how: Replayed) {
    if let Replayed::Failed(failure) = how
        && super::server::has_client()
    {
        let outcome = Outcome { failures: vec![failure], ..Outcome::of(Verdict::Failed) };
        send(&Message::Model { outcome, require: Required::Sampled });
    }
}

/// Executions of the models before.
static DONE: AtomicU64 = AtomicU64::new(0);

fn explore(options: Options, require: Required, body: TestBody) -> Outcome {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        serve_signals();
        crash::watch(options.hang_limit);
    });
    send(&Message::Started);
    let done = DONE.load(Ordering::Relaxed);
    let tell = |event: Event<'_>| match event {
        Event::Progress { executions, blocked, estimate, frontier } => {
            let (executions, estimate) = (executions + done, estimate.map(|estimate| estimate + done as f64));
            send(&Message::Progress { executions, blocked, estimate, frontier });
        }
        Event::Failure(failure) => send(&Message::Failure(failure.clone())),
    };
    let outcome = crash::exploring(|| check::run(check::engine(&options), body, &STOP, tell));
    DONE.fetch_add(outcome.executions, Ordering::Relaxed);
    if outcome.verdict == Verdict::Interrupted {
        send(&Message::Model { outcome, require });
        finish(1);
    }
    outcome
}

/// A panic of the process that is none of a checked thread.
pub(crate) fn panicked(message: &str, info: &PanicHookInfo<'_>) {
    if super::server::has_client() {
        let site = info.location().map(|l| Site { file: l.file().to_owned(), line: l.line() });
        send(&Message::Panicked { message: message.to_owned(), site });
    }
}
