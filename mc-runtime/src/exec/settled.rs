//! Replay of what is settled: the events of a thread before its last recorded one that has an effect, or all if it ends then. Nothing is compared with the states in which
//! they are made, so that no round of a loop is looked at.
//!
//! Not here: the replay of all else (`access`), which does for settled events, too.

use super::access::{Accessed, has_effect};
use super::readers::counts;
use super::{Engine, Guide};
use crate::ids::ThreadId;
use crate::operation::{Code, Operation};

impl Engine {
    /// A thread is about to start. As long as nothing of it is recorded, nothing is settled.
    #[inline]
    pub(super) fn settle(&mut self, thread: ThreadId) {
        self.threads[thread.slot()].rounds.undone.follow(self.loops.polls.any());
        if !self.explorer.graph.thread(thread).is_empty() {
            self.settle_events(thread);
        }
    }

    #[inline(never)]
    fn settle_events(&mut self, thread: ThreadId) {
        if self.loops.polls.any() && !self.explorer.graph.has_ended(thread) {
            return; // what has an effect may be undone
        }
        let graph = &self.explorer.graph;
        let events = graph.thread(thread);
        let end = events.len() - 1;
        // The way to such a read is tried, also if it writes.
        let is_equal = self.ends_in_equal(thread.event(end));
        let looked_at = if is_equal { &events[..end] } else { events };
        let last = || looked_at.iter().rposition(|event| has_effect(graph, event)).unwrap_or(0);
        self.threads[thread.slot()].settled = if graph.has_ended(thread) { events.len() } else { last() };
    }

    /// Is the next event of the running thread recorded, and after it one that has an effect, or its end? Then nothing will be compared with the state in which it is made.
    #[inline(always)]
    pub(super) fn is_settled(&self) -> bool {
        let me = self.me_ref();
        me.position < me.settled
    }

    /// The settled access of an address that was accessed before in this execution, in memory of the test's own. `None`: it waits, or there is more to be looked at.
    #[inline]
    pub(super) fn replay_settled(&mut self, at: usize, operation: &Operation) -> Option<Accessed> {
        let graph = &self.explorer.graph;
        let id = self.next_event();
        let event = graph.event(id);
        let (location, rf, wrote) = (event.location, event.rf, event.writes);
        let is_same = event.operation == *operation
            && operation.code != Code::WriteLock
            && counts(event).is_none()
            && self.locations.is_known(location, at, operation.width);
        if !is_same || self.is_followed() || wrote && self.explorer.observes(self.current()) {
            return None;
        }
        let mut old = 0;
        if event.reads() {
            if !self.executed(rf) {
                return None;
            }
            old = graph.value(location, rf);
            if operation.result(old) != wrote.then_some(event.value) {
                return None;
            }
        }
        if wrote {
            self.locations.follow(graph, id, event);
        }
        self.replayed += 1;
        self.executed_event(id);
        Some(Accessed { old, wrote })
    }

    /// Does somebody look at each event?
    fn is_followed(&self) -> bool {
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on() {
            return true;
        }
        self.me_ref().open.is_some() || self.tracer.is_some() || !matches!(self.guide, Guide::Explore)
    }
}
