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
        let mut event = Event {
            operation: new.operation,
            value: new.value,
            rf: new.rf,
            site,
            stamp: self.order.len() as u32,
            mark: self.clocks.mark(),
            location: new.location,
            place: 0,
            hb: ClockRef::EMPTY,
            prefix: ClockRef::EMPTY,
            message: Message::Row(ClockRef::EMPTY),
            pending: ClockRef::EMPTY,
            released: ClockRef::EMPTY,
            writes: false,
            added_max: new.added_max,
            settled: false,
            as_twin: false,
        };
        self.order.push(id);
        self.complete(id, &mut event, new.after);
        if event.reads() {
            self.reads[event.location.slot()].push(id);
        }
        self.seq_cst += u32::from(event.is_seq_cst());
        self.threads[new.thread.slot()].push(event);
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
        event.as_twin = false;
        self.seq_cst -= u32::from(event.is_seq_cst());
        if event.writes {
            self.unplace(event.location, event.place);
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
                event.place = self.place(id, event.location, event.rf);
            }
        } else if event.operation.code == Code::Store {
            event.value = event.operation.a;
            event.writes = true;
            event.place = self.place(id, event.location, after);
        }
        self.set_clocks(id, event);
    }

    /// Puts a write directly after another in modification order; returns its place.
    fn place(&mut self, id: EventId, location: LocationId, after: EventId) -> u32 {
        let at = self.mo_index(after);
        self.mo[location.slot()].insert(at, id);
        self.number(location, at + 1);
        at as u32 + 1
    }

    /// Takes the write at a place out of modification order.
    pub(super) fn unplace(&mut self, location: LocationId, place: u32) {
        self.mo[location.slot()].remove(place as usize - 1);
        self.number(location, place as usize - 1);
    }

    /// Tells the writes of a location their places, from an index on.
    pub(super) fn number(&mut self, location: LocationId, from: usize) {
        for (index, write) in self.mo[location.slot()].iter().enumerate().skip(from) {
            self.threads[write.thread.slot()][write.index as usize].place = index as u32 + 1;
        }
    }

    fn set_clocks(&mut self, id: EventId, event: &mut Event) {
        let own = Some(id.thread);
        if let Some(before) = id.index.checked_sub(1) {
            let p = self.event(EventId { index: before, ..id });
            (event.hb, event.prefix, event.pending, event.released) = (p.hb, p.prefix, p.pending, p.released);
        }
        if !event.rf.is_init() {
            let source = self.event(event.rf);
            let prefix = (source.prefix, (event.rf.thread, event.rf.index + 1));
            let message = message(event.rf, source);
            let acquires = event.order().acquires() || matches!(event.operation.code, Code::Begin | Code::Join);
            let before = event.prefix;
            event.prefix = self.clocks.join(before, prefix.0, prefix.1, own);
            if !acquires {
                event.pending = self.clocks.join(event.pending, message.0, message.1, own);
            } else if (event.hb, message) == (before, prefix) {
                event.hb = event.prefix; // everything so far is synchronised
            } else {
                event.hb = self.clocks.join(event.hb, message.0, message.1, own);
            }
        }
        if let Some(counterpart) = self.counterpart(id).filter(|c| self.contains(*c)) {
            let prefix = self.event(counterpart).prefix;
            event.prefix = self.clocks.join(event.prefix, prefix, (counterpart.thread, id.index + 1), own);
            event.as_twin = self.does_the_same(id, event, counterpart);
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

    fn message_of(&mut self, id: EventId, event: &Event) -> Message {
        let source = (event.updates() && !event.rf.is_init()).then(|| self.event(event.rf));
        let sequence = source.map(|s| message(event.rf, s));
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

/// The clock that an acquiring reader of `write` joins, as a row and one component.
fn message(write: EventId, event: &Event) -> (ClockRef, (ThreadId, u32)) {
    match event.message {
        Message::Own => (event.hb, (write.thread, write.index + 1)),
        Message::Row(row) => (row, (write.thread, 0)),
    }
}
