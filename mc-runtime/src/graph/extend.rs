//! Adding an event at the end of a thread: its place in modification order, and its clocks.
//!
//! Source: C++20 [intro.races] for synchronises-with; a release sequence is its head and a chain of read-modify-writes.

use super::clock::ClockRef;
use super::event::{Event, Message};
use super::{Graph, Site};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, Operation};

/// What is decided about a new event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    /// Its thread.
    pub thread: ThreadId,
    /// What it does.
    pub operation: Operation,
    /// Where.
    pub location: LocationId,
    /// What it reads from, if it reads; the spawn of a begin, the end of a join.
    pub rf: EventId,
    /// For a store: the write directly before it in modification order.
    pub after: EventId,
    /// For a choice or a spawn.
    pub value: u64,
    /// See [`Event::added_max`].
    pub added_max: bool,
}

impl New {
    /// An event that neither reads nor writes.
    pub(crate) fn plain(thread: ThreadId, operation: Operation, value: u64) -> Self {
        let none = EventId::INIT;
        New { thread, operation, location: LocationId::NONE, rf: none, after: none, value, added_max: true }
    }
}

impl Graph {
    /// Adds an event after the last of its thread. The caller has asked the memory model.
    pub(crate) fn add(&mut self, new: New, site: Site) -> EventId {
        let id = new.thread.event(self.threads[new.thread.slot()].len());
        self.marks.push(self.clocks.mark());
        let mut event = Event {
            operation: new.operation,
            value: new.value,
            rf: new.rf,
            stamp: self.order.len() as u32,
            location: new.location,
            hb: ClockRef::EMPTY,
            prefix: ClockRef::EMPTY,
            message: Message::Row(ClockRef::EMPTY),
            pending: ClockRef::EMPTY,
            released: ClockRef::EMPTY,
            writes: false,
            added_max: new.added_max,
            settled: false,
        };
        self.order.push(id);
        self.complete(id, &mut event, new.after);
        if event.location != LocationId::NONE {
            self.accesses[event.location.slot()].push(id);
        }
        self.seq_cst += u32::from(event.is_seq_cst());
        self.threads[new.thread.slot()].push(event);
        self.sites[new.thread.slot()].push(site);
        if new.operation.code == Code::Spawn {
            self.insert_thread(ThreadId(new.value as u32), id);
        }
        id
    }

    /// Gives the last event of a thread another write to read from, and what follows: result, place, clocks.
    pub(super) fn read_elsewhere(&mut self, id: EventId, rf: EventId) {
        let mut event = *self.event(id);
        (event.hb, event.prefix, event.pending, event.released) = Default::default();
        event.message = Message::Row(ClockRef::EMPTY);
        self.seq_cst -= u32::from(event.is_seq_cst());
        if event.writes {
            self.mo[event.location.slot()].retain(|w| *w != id);
            event.writes = false;
        }
        event.rf = rf;
        event.added_max = self.mo_max(event.location) == rf;
        self.complete(id, &mut event, EventId::INIT);
        self.seq_cst += u32::from(event.is_seq_cst());
        *self.event_mut(id) = event;
    }

    fn complete(&mut self, id: EventId, event: &mut Event, after: EventId) {
        if event.reads() {
            if let Some(value) = event.operation.result(self.value(event.location, event.rf)) {
                event.value = value;
                event.writes = true;
                self.place(id, event.location, event.rf);
            }
        } else if event.operation.code == Code::Store {
            event.value = event.operation.a;
            event.writes = true;
            self.place(id, event.location, after);
        }
        self.set_clocks(id, event);
    }

    fn place(&mut self, id: EventId, location: LocationId, after: EventId) {
        let at = self.mo_index(location, after);
        self.mo[location.slot()].insert(at, id);
    }

    fn set_clocks(&mut self, id: EventId, event: &mut Event) {
        let own = Some(id.thread);
        let previous = id.index.checked_sub(1).map(|i| *self.event(EventId { index: i, ..id }));
        if let Some(p) = previous {
            (event.hb, event.prefix, event.pending, event.released) = (p.hb, p.prefix, p.pending, p.released);
        }
        if !event.rf.is_init() {
            let source = *self.event(event.rf);
            let upto = (event.rf.thread, event.rf.index + 1);
            event.prefix = self.clocks.join(event.prefix, source.prefix, upto, own);
            let (row, also) = self.message(event.rf, &source);
            if event.order().acquires() || matches!(event.operation.code, Code::Begin | Code::Join) {
                event.hb = self.clocks.join(event.hb, row, also, own);
            } else {
                event.pending = self.clocks.join(event.pending, row, also, own);
            }
        }
        if event.operation.code == Code::Fence {
            if event.order().acquires() {
                event.hb = self.clocks.join(event.hb, event.pending, (id.thread, 0), own);
            }
            if event.order().releases() {
                event.released = self.clocks.join(ClockRef::EMPTY, event.hb, (id.thread, id.index + 1), None);
            }
        }
        if event.writes {
            event.message = self.message_of(id, event);
        } else if matches!(event.operation.code, Code::Spawn | Code::End) {
            event.message = Message::Own;
        }
    }

    /// The clock that an acquiring reader of `write` joins, as a row and one component.
    fn message(&self, write: EventId, event: &Event) -> (ClockRef, (ThreadId, u32)) {
        match event.message {
            Message::Own => (event.hb, (write.thread, write.index + 1)),
            Message::Row(row) => (row, (write.thread, 0)),
        }
    }

    fn message_of(&mut self, id: EventId, event: &Event) -> Message {
        let source = if event.updates() && !event.rf.is_init() { Some(*self.event(event.rf)) } else { None };
        let sequence = source.map(|s| self.message(event.rf, &s));
        let own = match (event.order().releases(), sequence) {
            (true, None) => return Message::Own,
            (true, Some((ClockRef::EMPTY, (_, 0)))) => return Message::Own,
            (true, Some(_)) => self.clocks.join(ClockRef::EMPTY, event.hb, (id.thread, id.index + 1), None),
            (false, _) => event.released,
        };
        match sequence {
            Some((row, also)) => Message::Row(self.clocks.join(own, row, also, None)),
            None => Message::Row(own),
        }
    }
}
