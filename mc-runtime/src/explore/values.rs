//! Two reads of a location in a row that get the same value from two writes: the first may as well have read what the second does.
//!
//! Whether that is so also for what the thread does without an event in between is asked elsewhere (`exec::values`). The argument is in `docs/reductions.md`.

use super::Explorer;
use crate::graph::event::Event;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, Operation};
use crate::ops::Label;

impl Explorer {
    /// Has `thread` read the location directly before its event number `index`, an access of an atomic number? A quick look, which most accesses do not pass.
    #[inline(always)]
    pub(crate) fn follows_read(
        &self,
        thread: ThreadId,
        index: usize,
        operation: &Operation,
        location: LocationId,
    ) -> bool {
        let last = || self.graph.thread(thread)[..index].last();
        let reads = |event: &Event| event.location == location && !event.writes || event.chooses_weak();
        is_of_number(operation) && last().is_some_and(reads)
    }

    /// The read that `thread` has made directly before its event number `index`, if that is to be a read which could stand for it: of the same location, and of an ordering that is not weaker.
    fn read_before(
        &self,
        thread: ThreadId,
        index: usize,
        operation: &Operation,
        location: LocationId,
    ) -> Option<&Event> {
        let before = self.graph.thread(thread)[..index].iter().rev();
        let last = before.into_iter().find(|event| !event.chooses_weak())?;
        let fits = (last.location, last.operation.width) == (location, operation.width)
            && is_of_number(&last.operation)
            && last.reads()
            && !last.writes
            && is_of_number(operation);
        let value = || self.graph.value(location, last.rf);
        let order = |fits: bool| fits.then(|| operation.order(operation.result(value()).is_some()));
        order(fits).is_some_and(|order| last.operation.order(false).asks_no_more_than(order)).then_some(last)
    }

    /// Does the read `at`, if it reads from `write`, get from another write the value that its thread has read just before?
    pub(crate) fn repeats_value(&self, at: EventId, write: EventId) -> bool {
        let Event { operation, location, .. } = self.graph.event(at);
        self.read_before(at.thread, at.index as usize, operation, *location)
            .is_some_and(|earlier| self.is_like(earlier, write))
    }

    /// Could that be so for the next event of `thread`?
    pub(crate) fn may_repeat_value(&self, thread: ThreadId, operation: &Operation, location: LocationId) -> bool {
        let next = self.graph.thread(thread).len();
        self.read_before(thread, next, operation, location).is_some_and(|earlier| {
            let writes = self.earliest(thread, location)..=self.graph.mo(location).len();
            writes.into_iter().any(|index| self.is_like(earlier, self.graph.mo_at(location, index)))
        })
    }

    /// Is it another write than what was read, and of the same value?
    fn is_like(&self, read: &Event, write: EventId) -> bool {
        let value = |write| self.graph.value(read.location, write);
        read.rf != write && value(read.rf) == value(write)
    }
}

/// Is it a read or update of an atomic number, and not of what a shim is made of?
fn is_of_number(operation: &Operation) -> bool {
    matches!(operation.code, Code::Load | Code::CompareExchange | Code::Rmw(_)) && operation.label == Label::Atomic
}
