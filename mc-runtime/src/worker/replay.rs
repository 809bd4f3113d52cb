//! Replaying one schedule, with a trace.

use std::sync::{Arc, Mutex, PoisonError};

use super::crash;
use super::server::{has_client, refuse, replayed, send};
use crate::check::make_failure;
use crate::exec::run::{TestBody, execute};
use crate::exec::{Ending, Engine, Follower, Guide, arena};
use crate::hooks;
use crate::message::{Message, Replayed, TraceEvent};
use crate::options::{Options, Origin};
use crate::schedule::Schedule;
use crate::trace::Tracer;

/// Set in the environment of a worker that replays without a rehearsal, because that crashed.
pub(super) const NO_REHEARSAL: &str = "MC_NO_REHEARSAL";

/// Follows the schedule, tells of every event, and ends the process.
pub(super) fn serve(options: Options, schedule: &str, body: TestBody) -> ! {
    replayed(run(options, schedule, body))
}

/// Follows the schedule and tells of every event.
pub(super) fn run(options: Options, schedule: &str, body: TestBody) -> Replayed {
    let schedule: Schedule = match schedule.parse() {
        Ok(schedule) => schedule,
        Err(error) => refuse(format!("{error}"), 2),
    };
    crash::watch(options.hang_limit);
    hooks::stop_at_panics();
    on_a_thread(move || {
        let tracer = Tracer(Box::new(|event| send(&Message::Trace(event))));
        follow(options, schedule, &body, tracer)
    })
}

/// The events of an execution of a model of this process, and how it ended.
pub(crate) fn retrace(options: Options, schedule: Schedule, body: &TestBody) -> (Vec<TraceEvent>, Replayed) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let (told, body) = (events.clone(), body.clone());
    let tell = move |event| told.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    let how = on_a_thread(move || follow(options, schedule, &body, Tracer(Box::new(tell))));
    let events = std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
    (events, how)
}

fn on_a_thread<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let thread = std::thread::Builder::new().name("mc".to_owned()).spawn(f);
    thread.expect("a thread for the replay").join().expect("the engine does not panic")
}

fn follow(mut options: Options, schedule: Schedule, body: &TestBody, tracer: Tracer) -> Replayed {
    options.memory_model = schedule.memory_model;
    options.allow_panics = schedule.allow_panics;
    (options.spurious_failures, options.spurious_wakeups) = schedule.spurious;
    options.uninit = schedule.uninit;
    #[cfg(feature = "unmodified")]
    if crate::instrumentation::is_on_in_std() {
        crate::hooks::print_apart();
    }
    super::prepare_thread(&options);
    let mut engine = Engine::new(options, Guide::Explore, arena::is_installed());
    engine.learned.extend(schedule.learned.iter().map(|key| u64::from(*key)));
    if std::env::var_os(NO_REHEARSAL).is_none() && engine.options.origin != Origin::Foreign {
        crash::rehearse(has_client());
        rehearse(&mut engine, body);
        if engine.has_reached_outside() && has_client() {
            crash::start_again(NO_REHEARSAL);
        }
        crash::rehearse(false);
    }
    engine.guide = Guide::Follow(Follower::new(schedule));
    engine.tracer = Some(tracer);
    let ending = execute(&mut engine, body);
    let followed = match &engine.guide {
        Guide::Follow(follower) => follower.is_followed(),
        _ => true,
    };
    #[cfg(feature = "unmodified")]
    let ending = crate::exec::look_twice(&mut engine, body, ending);
    match engine.failure.take() {
        Some(found) if engine.off_schedule => Replayed::Diverged { message: found.message },
        found if !followed => {
            let end = found.map_or_else(|| "it passes".to_owned(), |found| format!("it fails: {}", found.message));
            Replayed::Diverged {
                message: format!(
                    "the execution fits the schedule's choices, but does something else than the one that it was made from: the test, or a \
                     crate that it uses, has changed\n{end}"
                ),
            }
        }
        Some(found) => Replayed::Failed(make_failure(&engine, found, 1)),
        None if ending == Ending::Restart => {
            Replayed::Diverged { message: "the test looks at something that the schedule does not know of".to_owned() }
        }
        None => Replayed::Passed,
    }
}

/// As the check did: what is made once per process is made.
fn rehearse(engine: &mut Engine, body: &TestBody) {
    if let Some(heap) = &mut engine.heap {
        heap.rehearsal = true;
    }
    execute(engine, body);
    engine.explorer.restart();
    if let Some(heap) = &mut engine.heap {
        heap.end_rehearsal();
        heap.end_rehearsals();
    }
}
