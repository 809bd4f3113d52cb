//! Is a future ready that nobody will wake? Asked when nobody can move and a thread sleeps in `block_on`.
//!
//! The execution is over and has failed by then; this only tells a lost wake-up from a future that waits for something that never comes. The thread goes on
//! once more, with operations that do nothing but on memory, where the newest values are, and polls. It stops for good when it has said what came of
//! that, or where it would have to wait.

use super::memory::place;
use super::{Engine, Step};
use crate::ids::ThreadId;
use crate::ops::Label;
use crate::outcome::FailureKind;

/// What a future says when it is polled once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Is it ready?
    pub ready: bool,
    /// How many wakers of it there are beside that of the thread that polls.
    pub wakers: usize,
}

impl Engine {
    /// Who is to look.
    pub(super) fn sleepers(&self) -> Vec<ThreadId> {
        let waits_in_vain = |kind| matches!(kind, FailureKind::Deadlock | FailureKind::LostWakeup);
        if !self.failure.as_ref().is_some_and(|found| waits_in_vain(found.kind)) {
            return Vec::new();
        }
        let sleeps = |t: &ThreadId| {
            let waiting = self.threads.get(t.slot()).and_then(|t| t.waiting);
            waiting.is_some_and(|w| w.operation.label == Label::BlockOn)
        };
        self.explorer.graph.ranks().iter().copied().filter(sleeps).collect()
    }

    /// `thread` may look, if it is given and the test is cut.
    pub(super) fn set_looking(&mut self, thread: Option<ThreadId>) {
        self.looking = thread;
        if let Some(thread) = thread {
            self.threads[thread.slot()].only_inert = true;
        }
    }

    /// Is it the running thread that looks?
    pub(crate) fn is_looking(&self) -> bool {
        self.looking == Some(self.current())
    }

    /// The running thread has looked, or cannot without waiting. It stops.
    pub(crate) fn looked(&mut self, saw: Option<Looked>) -> Step<()> {
        if !self.is_looking() {
            return Step::Cut;
        }
        self.looking = None;
        if let Some(looked) = saw
            && let Some(mut found) = self.failure.take()
        {
            let thread = self.current();
            let site = self.me().waiting.and_then(|w| w.site);
            let name = self.thread_name(thread);
            let wakers = match looked.wakers {
                0 => "nobody has a waker of it (any more)".to_owned(),
                1 => "one waker of it is kept, and was not used since the last poll".to_owned(),
                n => format!("{n} wakers of it are kept, and none was used since the last poll"),
            };
            if !looked.ready {
                found.message.push_str(&format!("\nthe future of {name} is not ready either; {wakers}"));
            } else if found.kind == FailureKind::Deadlock {
                let (_, lines) = found.message.split_once('\n').unwrap_or_default();
                let place = place(site);
                found.message = format!(
                    "lost wake-up: the future that {name} waits for at {place} is ready, and nobody will wake it: {wakers}\n{lines}"
                );
                (found.kind, found.thread) = (FailureKind::LostWakeup, thread);
                found.site = site.map(|s| (s.file().to_owned(), s.line()));
            } else {
                found.message.push_str(&format!("\nthe future of {name} is ready, and nobody will wake it: {wakers}"));
            }
            self.failure = Some(found);
        }
        Step::Wait
    }
}
