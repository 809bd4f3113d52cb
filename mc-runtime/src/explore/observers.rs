//! Threads that only look: which of their reads are left out. What they are is asked in `exec::observers`; the argument is in `docs/reductions.md`.

use super::Explorer;
use crate::ids::{EventId, ThreadId};
use crate::model::coherence;

impl Explorer {
    /// From now on these are such threads, by slot, as bits. One alone makes no difference.
    pub(crate) fn set_observers(&mut self, observers: u64) {
        self.observers = if observers.count_ones() > 1 { observers } else { 0 };
    }

    /// Is the thread one?
    pub(crate) fn observes(&self, thread: ThreadId) -> bool {
        self.observers != 0 && self.observers.checked_shr(thread.0).unwrap_or(0) & 1 == 1
    }

    /// Could the event, if it is a read, have read another write, as far as program order and reads-from go?
    pub(crate) fn has_choice(&self, id: EventId) -> bool {
        let event = self.graph.event(id);
        if !event.reads() {
            return false;
        }
        let oldest = coherence::earliest(&self.graph, event.location, id.thread, id.index as usize);
        let mut writes =
            (oldest..=self.graph.mo(event.location).len()).map(|index| self.graph.mo_at(event.location, index));
        writes.any(|write| write != event.rf && (write.is_init() || !self.graph.prefix(write).contains(id)))
    }

    /// Has the thread, which is one, read something else than the newest write?
    pub(crate) fn deviates(&self, thread: ThreadId) -> bool {
        self.graph.thread(thread).iter().any(|event| event.reads() && !event.added_max)
    }

    /// Has one of the others?
    fn another_deviates(&self, thread: ThreadId) -> bool {
        self.graph.ranks().iter().any(|t| *t != thread && self.observes(*t) && self.deviates(*t))
    }

    /// The thread, which is one, begins to run: nothing that others have read changes until another one does. Has one of them deviated?
    #[inline(never)]
    pub(crate) fn look_at_others(&mut self, thread: ThreadId) -> bool {
        self.others_deviate = self.another_deviates(thread);
        self.others_deviate
    }

    /// Are other reads of the thread that runs left out, since they are explored where no other observer deviates?
    #[inline(always)]
    pub(super) fn leaves_reads_out(&self, thread: ThreadId) -> bool {
        let leaves_out = self.observers != 0 && self.others_deviate && self.observes(thread);
        debug_assert!(!self.observes(thread) || leaves_out == self.another_deviates(thread), "they have not run");
        leaves_out
    }
}
