//! One event of an execution graph.

use super::Site;
use super::clock::ClockRef;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{ARRIVALS, Code, Operation, Order};

/// An event. Small and `Copy`: prefixes of graphs are copied in the warm loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// What was asked for.
    pub operation: Operation,
    /// What was written (a write or update), chosen (a choice: the number) or started (a spawn: the slot).
    pub value: u64,
    /// What a read or update reads from.
    pub rf: EventId,
    /// Where the user's code made it.
    pub site: Site,
    /// Its position in the order of addition.
    pub stamp: u32,
    /// What the graph's clocks were before it.
    pub mark: u32,
    /// Where.
    pub location: LocationId,
    /// Of a write: where it is in modification order; the initial one is at 0.
    pub place: u32,
    /// What its thread knows after it.
    pub known: Known,
    /// What an acquiring reader of this write gets.
    pub message: Message,
    /// It writes: a store, or an update that did not fail.
    pub writes: bool,
    /// It was at the end of modification order, or the first choice, when it was added.
    pub added_max: bool,
    /// No later write may revisit it.
    pub settled: bool,
    /// Up to here its thread did the same as its twin (see `graph::symmetry`).
    pub as_twin: bool,
}

/// What a thread knows after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// What happens before the event, and what of that its thread knows after it (acquired clocks included).
    pub hb: ClockRef,
    /// (program order, reads-from, or what twins did)+ before the event.
    pub prefix: ClockRef,
    /// What relaxed reads of this thread have seen so far, for a later acquire fence.
    pub pending: ClockRef,
    /// What the thread's last release fence released.
    pub released: ClockRef,
}

impl Known {
    /// Nothing.
    pub(crate) const NOTHING: Known =
        Known { hb: ClockRef::EMPTY, prefix: ClockRef::EMPTY, pending: ClockRef::EMPTY, released: ClockRef::EMPTY };
}

const _: () = assert!(size_of::<Event>() <= 88, "events are copied in the warm loop");

/// What an acquiring reader of a write gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A release write's own happens-before, itself included; nothing of a release sequence before it is missing there.
    Own,
    /// This row (empty: the write releases nothing).
    Row(ClockRef),
}

impl Message {
    /// Of what releases nothing.
    pub(crate) const NOTHING: Message = Message::Row(ClockRef::EMPTY);
}

impl Event {
    /// Does it read a location?
    pub(crate) fn reads(&self) -> bool {
        self.operation.reads()
    }

    /// May a later write revisit it?
    pub(crate) fn is_revisitable(&self) -> bool {
        self.reads() && !self.settled && !self.operation.meets()
    }

    /// Does this arrival at a barrier take the last place?
    pub(super) fn comes_last(&self) -> bool {
        self.value & ARRIVALS == self.operation.a
    }

    /// The thread that it joins.
    pub(crate) fn joins(&self) -> Option<ThreadId> {
        (self.operation.code == Code::Join).then_some(ThreadId(self.operation.a as u32))
    }

    /// Does it choose whether a weak compare-exchange fails for no reason?
    pub(crate) fn chooses_weak(&self) -> bool {
        self.operation.chooses_weak()
    }

    /// Does it write what follows from what it reads?
    pub(crate) fn updates(&self) -> bool {
        self.writes && self.operation.code != Code::Store
    }

    /// The ordering that counts: that of the failure for a compare-exchange that failed.
    pub(crate) fn order(&self) -> Order {
        self.operation.order(self.writes)
    }

    /// Is it a sequentially consistent access or fence?
    pub(crate) fn is_seq_cst(&self) -> bool {
        self.order() == Order::SeqCst
    }

    /// Is it a sequentially consistent fence?
    pub(crate) fn is_seq_cst_fence(&self) -> bool {
        self.operation.code == Code::Fence && self.operation.order == Order::SeqCst
    }
}
