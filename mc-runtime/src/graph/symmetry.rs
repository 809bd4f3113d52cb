//! Threads that are like each other: which events of theirs correspond, and how long they did the same.
//!
//! A thread may have a *twin*: the one that was spawned before it with the same code and the same captured state, and is told apart from it by nothing else
//! (`exec::symmetry` finds out). Of the executions that differ only in which of them did what, the one is explored in which a twin comes first: at the first
//! event in which the two differ it reads, or is placed, earlier in modification order. So an event depends on the twin's at the same index as long as the two did the same,
//! as if that were before it in program order.
//! Source: Kokologiannakis, Marmanis, Vafeiadis: SPORE, PLDI 2024; the rule and its argument are in `docs/reductions.md`.

use super::Graph;
use super::event::Event;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::Code;

impl Graph {
    /// The thread that this one is like, if any.
    pub(crate) fn twin(&self, thread: ThreadId) -> Option<ThreadId> {
        self.starts[thread.slot()].twin
    }

    /// Has any thread a twin?
    pub(crate) fn has_twins(&self) -> bool {
        self.ranks.iter().any(|t| self.twin(*t).is_some())
    }

    /// The first of all threads that are like this one.
    pub(crate) fn eldest(&self, thread: ThreadId) -> ThreadId {
        self.twin(thread).map_or(thread, |twin| self.eldest(twin))
    }

    /// The event of the twin that the event `id`, perhaps still to be added, corresponds to: both threads did the same before. The twin may not have come there yet.
    #[inline]
    pub(crate) fn counterpart(&self, id: EventId) -> Option<EventId> {
        let thread = self.twin(id.thread)?;
        let same_before = id.index.checked_sub(1).is_none_or(|index| self.event(EventId { index, ..id }).as_twin);
        same_before.then_some(EventId { thread, ..id })
    }

    /// That event, if the twin has come there.
    #[inline]
    pub(crate) fn counterpart_event(&self, id: EventId) -> Option<&Event> {
        self.counterpart(id).filter(|c| self.contains(*c)).map(|c| self.event(c))
    }

    /// The first position of modification order that the event `id` of a thread may read, or directly after which it may be placed, for the sake of its twin.
    #[inline]
    pub(crate) fn not_before_twin(&self, id: EventId, location: LocationId) -> usize {
        if self.twin(id.thread).is_some() { self.not_before(id, location) } else { 0 }
    }

    fn not_before(&self, id: EventId, location: LocationId) -> usize {
        match self
            .counterpart_event(id)
            .filter(|c| c.location == location && c.operation.has_location() && !c.operation.meets())
        {
            Some(event) if event.writes => event.place as usize,
            Some(event) => self.mo_index(event.rf),
            None => 0,
        }
    }

    /// Is what the event does the same as what its counterpart did, but for who does it?
    pub(super) fn does_the_same(&self, id: EventId, counterpart: EventId) -> bool {
        let (event, other) = (self.event(id), self.event(counterpart));
        let code = event.operation.code;
        if code != other.operation.code || matches!(code, Code::Spawn | Code::Join) {
            return false;
        }
        if code == Code::Choose {
            return event.value == other.value;
        }
        if code == Code::Arrive {
            // Whoever comes last goes on in another way than the others.
            return !event.comes_last() && !other.comes_last();
        }
        if !event.operation.has_location() || code == Code::Pass {
            return true;
        }
        if event.location == other.location {
            return !event.writes && !other.writes && event.rf == other.rf;
        }
        if code == Code::WriteLock {
            return false; // others may have read there
        }
        // Each in what is its own: it was not written there, or by itself.
        let own = |source: EventId, thread| (!source.is_init()).then_some((source.thread == thread, source.index));
        let (mine, theirs) = (own(event.rf, id.thread), own(other.rf, counterpart.thread));
        mine == theirs && mine.is_none_or(|(itself, _)| itself)
    }
}
