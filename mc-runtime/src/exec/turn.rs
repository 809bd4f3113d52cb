//! When a thread may add an event: not while the prefix is replayed, when it is another's turn, or where a limit cuts the execution.

use super::access::describe;
use super::thread::State;
use super::{Engine, Step};
use crate::operation::Operation;
use std::time::Instant;

impl Engine {
    /// May the running thread add an event now? An access of what, if it is one?
    pub(super) fn turn<T>(&mut self, access: Option<(usize, &Operation)>) -> Option<Step<T>> {
        let me = self.me_ref();
        if me.position == me.settled && self.explorer.graph.has_ended(self.current()) {
            return Some(self.goes_on_after_end(access.map(|(_, operation)| operation)));
        }
        if self.replaying() {
            return Some(self.waits_as(State::Replayed));
        }
        #[cfg(feature = "unmodified")]
        if self.starts_again().is_some() {
            return Some(self.waits_as(State::Ready));
        }
        let stays = if self.guide.decides() {
            std::hint::cold_path();
            self.is_granted(access)
        } else if self.is_in_first_turn() {
            !self.preempt
        } else {
            std::hint::cold_path();
            if let Some(step) = self.looks_for_polls() {
                return Some(step);
            }
            !self.preempt && !self.is_ahead()
        };
        if !stays {
            self.preempt = false;
            return Some(self.waits_as(State::Ready));
        }
        let events = self.explorer.graph.len();
        if events as u64 >= self.options.max_events {
            return Some(self.stop_too_long());
        }
        if self.snapshots.is_due(events) && self.may_pause() {
            self.picked = Some(self.current());
            return Some(self.waits_as(State::Ready));
        }
        // A long execution may take longer than all others: now and then it is asked how late it is.
        const OFTEN: usize = 64;
        if events % OFTEN == OFTEN - 1 { self.stop_late() } else { None }
    }

    /// The running thread did nothing more here, in an execution that has begun with the same events.
    #[cold]
    fn goes_on_after_end<T>(&mut self, access: Option<&Operation>) -> Step<T> {
        let now = access.map_or("goes on".to_owned(), |operation| format!("does `{}`", describe(operation)));
        self.not_the_same("ended here", &now, None)
    }

    /// A snapshot is due. May the running thread be suspended for it?
    #[cold]
    fn may_pause(&self) -> bool {
        self.me_ref().is_quiet() && !std::thread::panicking()
    }

    pub(super) fn waits_as<T>(&mut self, state: State) -> Step<T> {
        std::hint::cold_path();
        self.me().state = state;
        Step::Wait
    }

    /// Ends the execution if the time of the check is over.
    #[cold]
    fn stop_late<T>(&mut self) -> Option<Step<T>> {
        self.late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.cutting |= self.late;
        self.late.then(|| self.cut_step())
    }
}
