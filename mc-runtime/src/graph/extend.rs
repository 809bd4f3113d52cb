//! Adding an event at the end of a thread: its place in modification order, and its clocks.
//!
//! Source: C++20 [intro.races] for synchronises-with; a release sequence is its head and a chain of read-modify-writes.

use super::clock::ClockRef;
use super::event::{Event, Message};
use super::readers::ALL;
use super::{Graph, Site};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, Operation, Order};

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
    /// For the lock of a writer: which of the readers' sections of its generation come before it, as bits.
    pub sections: u64,
}

impl New {
    /// An event that neither reads nor writes.
    pub(crate) fn plain(thread: ThreadId, operation: Operation, value: u64) -> Self {
        let none = EventId::INIT;
        let (location, sections) = (LocationId::NONE, ALL);
        New { thread, operation, location, rf: none, after: none, value, added_max: true, sections }
    }
}

impl Graph {
    /// Adds an event after the last of its thread. The caller has asked the memory model.
    pub(crate) fn add(&mut self, new: &New, site: Site) -> EventId {
        let (stamp, mark, code) = (self.order.len() as u32, self.clocks.mark(), new.operation.code);
        let id = new.thread.event(self.thread(new.thread).len());
        let counterpart = self.counterpart(id).filter(|c| self.contains(*c));
        let Effect { writes, value, place, message, known } = self.take_effect(id, new, counterpart);
        self.threads[id.thread.slot()].push(Event {
            operation: new.operation,
            value,
            rf: new.rf,
            site,
            stamp,
            mark,
            location: new.location,
            place,
            hb: known.hb,
            prefix: known.prefix,
            message,
            pending: known.pending,
            released: known.released,
            writes,
            added_max: new.added_max,
            settled: false,
            as_twin: false,
        });
        self.order.push(id);
        self.seq_cst += u32::from(new.operation.order(writes) == Order::SeqCst);
        if let Some(counterpart) = counterpart {
            self.event_mut(id).as_twin = self.does_the_same(id, counterpart);
        }
        if new.operation.reads() {
            self.add_read(id, new.location);
        } else if code == Code::Spawn {
            let twin = (new.operation.a as u32).checked_sub(1).map(ThreadId);
            self.insert_thread(ThreadId(new.value as u32), id, twin);
        }
        id
    }

    /// Gives the last event of a thread another write to read from, and what follows: result, place, clocks.
    pub(super) fn read_elsewhere(&mut self, id: EventId, rf: EventId) {
        let old = *self.event(id);
        self.seq_cst -= u32::from(old.is_seq_cst());
        if old.writes {
            self.unplace(old.location, old.place);
        }
        let added_max = self.mo_max(old.location) == rf;
        let new = New { rf, location: old.location, ..New::plain(id.thread, old.operation, old.value) };
        let counterpart = self.counterpart(id).filter(|c| self.contains(*c));
        let Effect { writes, value, place, message, known } = self.take_effect(id, &new, counterpart);
        let event = self.event_mut(id);
        (event.rf, event.added_max) = (rf, added_max);
        (event.writes, event.value, event.place, event.message) = (writes, value, place, message);
        (event.hb, event.prefix, event.pending, event.released) =
            (known.hb, known.prefix, known.pending, known.released);
        self.seq_cst += u32::from(old.operation.order(writes) == Order::SeqCst);
        self.event_mut(id).as_twin = counterpart.is_some_and(|c| self.does_the_same(id, c));
    }

    /// The event `id` takes its place, if it writes. What follows from where it is.
    #[inline(never)]
    fn take_effect(&mut self, id: EventId, new: &New, counterpart: Option<EventId>) -> Effect {
        let code = new.operation.code;
        let result = match code {
            Code::Store => Some(new.operation.a),
            Code::Load => None,
            _ if new.operation.reads() => new.operation.result(self.value(new.location, new.rf)),
            _ => None,
        };
        let (writes, mut place) = (result.is_some(), 0);
        if writes {
            let after = if code == Code::Store { new.after } else { new.rf };
            place = self.place(id, new.location, after);
        }
        let known = self.known_after(id, new, writes, counterpart);
        let message = match code {
            _ if writes => self.message_of(id, new, new.operation.order, &known),
            Code::Spawn | Code::End => Message::Own,
            _ => Message::Row(ClockRef::EMPTY),
        };
        Effect { writes, value: result.unwrap_or(new.value), place, message, known }
    }

    /// Puts a write directly after another in modification order; returns its place.
    #[inline(always)]
    fn place(&mut self, id: EventId, location: LocationId, after: EventId) -> u32 {
        let order = &mut self.mo[location.slot()];
        if order.last().map_or(EventId::INIT, |last| *last) == after {
            order.push(id);
            return order.len() as u32;
        }
        let at = self.mo_index(after);
        self.mo[location.slot()].insert(at, id);
        self.number(location, at + 1);
        at as u32 + 1
    }

    /// Takes the write at a place out of modification order.
    pub(super) fn unplace(&mut self, location: LocationId, place: u32) {
        let (order, at) = (&mut self.mo[location.slot()], place as usize - 1);
        if at + 1 == order.len() {
            order.pop();
        } else {
            order.remove(at);
            self.number(location, at);
        }
    }

    /// Tells the writes of a location their places, from an index on.
    pub(super) fn number(&mut self, location: LocationId, from: usize) {
        for (index, write) in self.mo[location.slot()].iter().enumerate().skip(from) {
            self.threads[write.thread.slot()][write.index as usize].place = index as u32 + 1;
        }
    }

    /// What the thread of the event `id` knows after it.
    #[inline(always)]
    fn known_after(&mut self, id: EventId, new: &New, writes: bool, counterpart: Option<EventId>) -> Known {
        let own = Some(id.thread);
        let before = id.index.checked_sub(1).map(|index| EventId { index, ..id });
        let mut known = before.map_or_else(Known::default, |before| Known::after(self.event(before)));
        let (code, order) = (new.operation.code, new.operation.order(writes));
        if !new.rf.is_init() {
            let acquires = order.acquires() || matches!(code, Code::Begin | Code::Join);
            self.read_clocks(id, new.rf, acquires, &mut known);
        }
        if let Some(counterpart) = counterpart {
            let prefix = self.event(counterpart).prefix;
            known.prefix = self.clocks.join(known.prefix, prefix, (counterpart.thread, id.index + 1), own);
        }
        if new.operation.locks() {
            (known.prefix, known.hb) = self.join_sections(id, new, known.prefix, known.hb);
        }
        if code == Code::Fence {
            if order.acquires() {
                known.hb = self.clocks.join(known.hb, known.pending, (id.thread, 0), own);
            }
            if order.releases() {
                known.released = self.clocks.join(ClockRef::EMPTY, known.hb, (id.thread, id.index + 1), None);
            }
        }
        known
    }

    /// Adds to what a thread knows what its event `id` learns from `rf`.
    fn read_clocks(&mut self, id: EventId, rf: EventId, acquires: bool, known: &mut Known) {
        let own = Some(id.thread);
        let source = self.event(rf);
        let prefix = (source.prefix, (rf.thread, rf.index + 1));
        let message = message(rf, source);
        let before = known.prefix;
        known.prefix = self.clocks.join(before, prefix.0, prefix.1, own);
        if !acquires {
            known.pending = self.clocks.join(known.pending, message.0, message.1, own);
        } else if (known.hb, message) == (before, prefix) {
            known.hb = known.prefix; // everything so far is synchronised
        } else {
            known.hb = self.clocks.join(known.hb, message.0, message.1, own);
        }
    }

    /// What an acquiring reader of a write gets.
    fn message_of(&mut self, id: EventId, new: &New, order: Order, known: &Known) -> Message {
        let updates = new.operation.code != Code::Store && !new.rf.is_init();
        let sequence = updates.then(|| message(new.rf, self.event(new.rf)));
        let own = match (order.releases(), sequence) {
            (true, None) => return Message::Own,
            (true, Some((ClockRef::EMPTY, (_, 0)))) => return Message::Own,
            (true, Some(_)) => self.clocks.join(ClockRef::EMPTY, known.hb, (id.thread, id.index + 1), None),
            (false, _) => known.released,
        };
        match sequence {
            Some((row, also)) => Message::Row(self.clocks.join(own, row, also, None)),
            None => Message::Row(own),
        }
    }
}

/// What follows from where an event is.
struct Effect {
    writes: bool,
    value: u64,
    place: u32,
    message: Message,
    known: Known,
}

/// What a thread knows after an event; see [`Event`].
#[derive(Clone, Copy, Default)]
struct Known {
    hb: ClockRef,
    prefix: ClockRef,
    pending: ClockRef,
    released: ClockRef,
}

impl Known {
    fn after(event: &Event) -> Self {
        let Event { hb, prefix, pending, released, .. } = *event;
        Known { hb, prefix, pending, released }
    }
}

/// The clock that an acquiring reader of `write` joins, as a row and one component.
fn message(write: EventId, event: &Event) -> (ClockRef, (ThreadId, u32)) {
    match event.message {
        Message::Own => (event.hb, (write.thread, write.index + 1)),
        Message::Row(row) => (row, (write.thread, 0)),
    }
}
