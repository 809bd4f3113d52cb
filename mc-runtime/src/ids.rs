//! Names of threads, events and locations: dense indices, each a type of its own.

use std::fmt;

/// A thread of the test: a slot of the execution graph. 0 is the body of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ThreadId(pub u32);

/// The `index`-th event of `thread`. Ordered by thread, then by program order: *not* by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EventId {
    /// Whose event.
    pub thread: ThreadId,
    /// Its position in program order, from 0.
    pub index: u32,
}

impl EventId {
    /// The write that initialises every location; it is no event of any thread.
    pub(crate) const INIT: EventId = EventId { thread: ThreadId(u32::MAX), index: 0 };

    /// Whether this is [`EventId::INIT`].
    pub(crate) fn is_init(self) -> bool {
        self.thread == Self::INIT.thread
    }
}

impl ThreadId {
    /// The body of the test.
    pub(crate) const MAIN: ThreadId = ThreadId(0);

    /// As an index of per-thread tables.
    pub(crate) fn slot(self) -> usize {
        self.0 as usize
    }

    /// The thread's event number `index`.
    pub(crate) fn event(self, index: usize) -> EventId {
        EventId { thread: self, index: u32::try_from(index).expect("events per thread are limited below 2^32") }
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.write_str("main") } else { write!(f, "T{}", self.0) }
    }
}

/// An atomic location of the execution graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocationId(pub u32);

impl LocationId {
    /// Of an event that touches no location.
    pub(crate) const NONE: LocationId = LocationId(u32::MAX);

    /// As an index of per-location tables.
    pub(crate) fn slot(self) -> usize {
        self.0 as usize
    }
}
