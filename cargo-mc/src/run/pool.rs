//! Several tests at once: as many threads as jobs, each attends to one worker process at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use mc_protocol::client::ClientError;
use mc_protocol::judge::{Goal, Required, judge};
use mc_protocol::message::Message;
use mc_protocol::options::Options;
use mc_protocol::outcome::Outcome;

use super::{Interrupt, Plan};
use crate::discover::Case;

/// A test and how it is to be checked.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) case: Case,
    pub(super) options: Options,
    pub(super) goal: Goal,
    /// What is asked for on the command line, whatever a suite says itself.
    pub(super) asked: Option<Required>,
}

/// What happens, told in the thread that called [`work`].
pub(super) enum Event<'a> {
    Started(&'a Task),
    Said(&'a Task, &'a Message),
    Finished(&'a Task, Result<Outcome, ClientError>),
}

enum News {
    Started,
    Said(Message),
    Finished(Result<Outcome, ClientError>),
}

/// News that wait to be told before workers' words wait too.
const BACKLOG: usize = 256;

/// Runs all tasks in their order; ends early on an interrupt, and after a failure if the plan says so.
pub(super) fn work(tasks: Vec<Task>, plan: &Plan<'_>, interrupt: &Interrupt, tell: &mut dyn FnMut(Event<'_>)) {
    let next = AtomicUsize::new(0);
    let enough = AtomicBool::new(false);
    let (sender, news) = sync_channel::<(usize, News)>(BACKLOG);
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.min(tasks.len()) {
            let sender = sender.clone();
            let (tasks, next, enough) = (&tasks, &next, &enough);
            scope.spawn(move || {
                while !interrupt.requested() && !enough.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else { break };
                    // The receiver lives as long as this scope.
                    let send = |news| drop(sender.send((index, news)));
                    send(News::Started);
                    let (binary, name) = (&task.case.binary, &task.case.name);
                    let control = &mut |message: Option<&Message>| {
                        if let Some(progress @ Message::Progress { .. }) = message {
                            send(News::Said(progress.clone()));
                        }
                        interrupt.control()
                    };
                    let result = match task.case.models {
                        Some(_) => binary.check_models(name, &task.options, task.asked, control),
                        None => binary.check(name, &task.options, control),
                    };
                    let passes =
                        result.as_ref().is_ok_and(|outcome| judge(outcome, task.goal.or_own(outcome)).passes());
                    if plan.fail_fast && !passes {
                        enough.store(true, Ordering::Relaxed);
                    }
                    send(News::Finished(result));
                }
            });
        }
        drop(sender);
        for (index, news) in news {
            let task = &tasks[index];
            match news {
                News::Started => tell(Event::Started(task)),
                News::Said(message) => tell(Event::Said(task, &message)),
                News::Finished(result) => tell(Event::Finished(task, result)),
            }
        }
    });
}
