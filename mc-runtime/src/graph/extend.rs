//! Adding an event at the end of a thread: its place in modification order, and its clocks.
//! An access has a place and a source; what has no location, most often the life of a thread, little more than clocks.
//!
//! Source: C++20 [intro.races] for synchronises-with; a release sequence is its head and a chain of read-modify-writes.

use super::clock::ClockRef;
use super::event::{Event, Known, Message};
use super::readers::ALL;
use super::threads::Start;
use super::{Graph, Site};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, Operation, Order};

/// What is decided about a new access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    /// Its thread.
    pub thread: ThreadId,
    /// What it does.
    pub operation: Operation,
    /// Where.
    pub location: LocationId,
    /// What it reads from, if it reads.
    pub rf: EventId,
    /// For a store: the write directly before it in modification order.
    pub after: EventId,
    /// See [`Event::added_max`].
    pub added_max: bool,
    /// For the lock of a writer: which of the readers' sections of its generation come before it, as bits.
    pub sections: u64,
}

impl New {
    /// A read of the initial value, or a write directly after it.
    pub(crate) fn access(thread: ThreadId, operation: Operation, location: LocationId) -> Self {
        let none = EventId::INIT;
        New { thread, operation, location, rf: none, after: none, added_max: true, sections: ALL }
    }
}

impl Graph {
    /// Adds an access after the last event of its thread. The caller has asked the memory model.
    pub(crate) fn add(&mut self, new: &New, site: Site) -> EventId {
        let (stamp, mark) = (self.order.len() as u32, self.clocks.mark());
        let id = new.thread.event(self.thread(new.thread).len());
        let counterpart = self.counterpart(id).filter(|c| self.contains(*c));
        // Such a store joins no clock, and all that follows from where it is is said here.
        let alone = new.operation.code == Code::Store && counterpart.is_none();
        let place = if alone { self.place(id, new.location, new.after) } else { 0 };
        let known = self.known_before(id);
        let event = Event {
            operation: new.operation,
            value: new.operation.a,
            rf: new.rf,
            site,
            stamp,
            mark,
            location: new.location,
            place,
            known,
            message: if new.operation.order.releases() { Message::Own } else { Message::Row(known.released) },
            writes: true,
            added_max: new.added_max,
            settled: false,
            as_twin: false,
        };
        self.threads[id.thread.slot()].events.push(event);
        self.order.push(id);
        if alone {
            self.seq_cst += u32::from(new.operation.order == Order::SeqCst);
        } else {
            self.take_effect(id, new, counterpart);
            if new.operation.reads() {
                self.add_read(id, new.location);
            }
        }
        id
    }

    /// Adds an event without a location after the last one of its thread. `value`: of a choice, or the slot of a thread that is spawned.
    #[inline(never)]
    pub(crate) fn add_plain(&mut self, thread: ThreadId, operation: &Operation, value: u64, site: Site) -> EventId {
        let id = thread.event(self.thread(thread).len());
        self.add_plain_as(id, operation, value, site);
        id
    }

    /// The same, compiled into where threads do so: who has the name of the event does not make it again.
    #[inline(always)]
    pub(crate) fn add_plain_as(&mut self, id: EventId, operation: &Operation, value: u64, site: Site) {
        debug_assert_eq!(id.index as usize, self.thread(id.thread).len(), "it is the next one of its thread");
        let (stamp, mark, code) = (self.order.len() as u32, self.clocks.mark(), operation.code);
        let counterpart = self.counterpart(id).filter(|c| self.contains(*c));
        let mut known = self.known_before(id);
        if code == Code::Join {
            self.join_clocks(id.thread, ThreadId(operation.a as u32), &mut known);
        }
        if counterpart.is_some() {
            std::hint::cold_path();
            self.twin_clocks(id, counterpart, &mut known);
        }
        match code {
            Code::Fence => self.fence_clocks(id, operation.order, &mut known),
            Code::Spawn => {
                let twin = (operation.a as u32).checked_sub(1).map(ThreadId);
                let start = Start { spawn: id, twin, known: self.known_to_spawned(id, &known) };
                self.insert_thread(ThreadId(value as u32), start);
            }
            _ => {}
        }
        self.threads[id.thread.slot()].events.push(Event {
            operation: *operation,
            value,
            rf: EventId::INIT,
            site,
            stamp,
            mark,
            location: LocationId::NONE,
            place: 0,
            known,
            message: Message::NOTHING,
            writes: false,
            added_max: code != Code::Choose || value == 0,
            settled: false,
            as_twin: false,
        });
        self.order.push(id);
        if let Some(counterpart) = counterpart {
            std::hint::cold_path();
            self.event_mut(id).as_twin = self.does_the_same(id, counterpart);
        }
    }

    /// What the thread that the event `id` spawns knows before its first event, where the spawning one has these clocks.
    fn known_to_spawned(&mut self, id: EventId, known: &Known) -> Known {
        let spawn = (id.thread, id.index + 1);
        let hb = self.clocks.with(known.hb, spawn);
        let prefix = if known.prefix == known.hb { hb } else { self.clocks.with(known.prefix, spawn) };
        Known { hb, prefix, ..Known::NOTHING }
    }

    /// Gives the last event of a thread another write to read from, and what follows: result, place, clocks.
    pub(super) fn read_elsewhere(&mut self, id: EventId, rf: EventId) {
        let old = *self.event(id);
        self.seq_cst -= u32::from(old.is_seq_cst());
        if old.writes {
            self.unplace(old.location, old.place);
        }
        let added_max = self.mo_max(old.location) == rf;
        let new = New { rf, ..New::access(id.thread, old.operation, old.location) };
        let counterpart = self.counterpart(id).filter(|c| self.contains(*c));
        let event = self.event_mut(id);
        (event.rf, event.added_max, event.as_twin) = (rf, added_max, false);
        self.take_effect(id, &new, counterpart);
    }

    /// The access `id`, which is there, takes its place if it writes, and is told what follows from where it is.
    #[inline(never)]
    fn take_effect(&mut self, id: EventId, new: &New, counterpart: Option<EventId>) {
        let code = new.operation.code;
        let result = match code {
            Code::Store => Some(new.operation.a),
            Code::Load => None,
            _ => new.operation.result(self.value(new.location, new.rf)),
        };
        let (writes, mut place) = (result.is_some(), 0);
        if writes {
            let after = if code == Code::Store { new.after } else { new.rf };
            place = self.place(id, new.location, after);
        }
        let mut known = self.known_before(id);
        if !new.rf.is_init() {
            self.read_clocks(id, new.rf, new.operation.order(writes).acquires(), &mut known);
        }
        self.twin_clocks(id, counterpart, &mut known);
        if new.operation.locks() {
            (known.prefix, known.hb) = self.join_sections(id, new, known.prefix, known.hb);
        }
        let message = if writes { self.message_of(id, new, new.operation.order, &known) } else { Message::NOTHING };
        let event = self.event_mut(id);
        (event.writes, event.value, event.place, event.known) = (writes, result.unwrap_or(0), place, known);
        event.message = message;
        self.seq_cst += u32::from(new.operation.order(writes) == Order::SeqCst);
        if let Some(counterpart) = counterpart {
            self.event_mut(id).as_twin = self.does_the_same(id, counterpart);
        }
    }

    /// Puts a write directly after another in modification order; returns its place.
    #[inline(always)]
    fn place(&mut self, id: EventId, location: LocationId, after: EventId) -> u32 {
        let order = &mut self.mo[location.slot()];
        if order.last().map_or(EventId::INIT, |last| *last) == after {
            order.push(id);
            return order.len() as u32;
        }
        self.place_between(id, location, after)
    }

    /// Where that is not the last one.
    #[inline(never)]
    fn place_between(&mut self, id: EventId, location: LocationId, after: EventId) -> u32 {
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
            self.threads[write.thread.slot()].events[write.index as usize].place = index as u32 + 1;
        }
    }

    /// What the thread of the event `id` knows before it.
    #[inline(always)]
    fn known_before(&self, id: EventId) -> Known {
        *self.known(id.thread, id.index as usize)
    }

    /// An event depends on what its twin's has.
    #[inline(always)]
    fn twin_clocks(&mut self, id: EventId, counterpart: Option<EventId>, known: &mut Known) {
        if let Some(counterpart) = counterpart {
            let prefix = self.event(counterpart).known.prefix;
            known.prefix = self.clocks.join(known.prefix, prefix, (counterpart.thread, id.index + 1), Some(id.thread));
        }
    }

    /// What a fence acquires and releases.
    #[inline(never)]
    fn fence_clocks(&mut self, id: EventId, order: Order, known: &mut Known) {
        self.seq_cst += u32::from(order == Order::SeqCst);
        if order.acquires() {
            known.hb = self.clocks.join(known.hb, known.pending, (id.thread, 0), Some(id.thread));
        }
        if order.releases() {
            known.released = self.clocks.with(known.hb, (id.thread, id.index + 1));
        }
    }

    /// Adds to what a thread knows what its event `id` learns from `rf`.
    #[inline(never)]
    fn read_clocks(&mut self, id: EventId, rf: EventId, acquires: bool, known: &mut Known) {
        let source = self.event(rf);
        let prefix = (source.known.prefix, (rf.thread, rf.index + 1));
        let message = message(rf, source);
        if acquires {
            return self.learn(id.thread, prefix, message, known);
        }
        known.prefix = self.clocks.join(known.prefix, prefix.0, prefix.1, Some(id.thread));
        known.pending = self.clocks.join(known.pending, message.0, message.1, Some(id.thread));
    }

    /// Likewise what `thread` learns of a thread that it joins.
    #[inline(always)]
    fn join_clocks(&mut self, thread: ThreadId, child: ThreadId, known: &mut Known) {
        let events = self.thread(child).len();
        let last = *self.known(child, events);
        let end = (child, events as u32 + 1);
        self.learn(thread, (last.prefix, end), (last.hb, end), known);
    }

    /// Adds clocks to what a thread knows: of what is in its past then, and of what happens before.
    fn learn(&mut self, thread: ThreadId, prefix: Clock, hb: Clock, known: &mut Known) {
        let before = known.prefix;
        known.prefix = self.clocks.join(before, prefix.0, prefix.1, Some(thread));
        known.hb = if (known.hb, hb) == (before, prefix) {
            known.prefix // everything so far is synchronised
        } else {
            self.clocks.join(known.hb, hb.0, hb.1, Some(thread))
        };
    }

    /// What an acquiring reader of a write gets.
    fn message_of(&mut self, id: EventId, new: &New, order: Order, known: &Known) -> Message {
        let updates = new.operation.code != Code::Store && !new.rf.is_init();
        let sequence = updates.then(|| message(new.rf, self.event(new.rf)));
        let own = match (order.releases(), sequence) {
            (true, None) => return Message::Own,
            (true, Some((ClockRef::EMPTY, (_, 0)))) => return Message::Own,
            (true, Some(_)) => self.clocks.with(known.hb, (id.thread, id.index + 1)),
            (false, _) => known.released,
        };
        match sequence {
            Some((row, also)) => Message::Row(self.clocks.join(own, row, also, None)),
            None => Message::Row(own),
        }
    }
}

/// A clock: a row, and one component more.
type Clock = (ClockRef, (ThreadId, u32));

/// The clock that an acquiring reader of `write` joins.
fn message(write: EventId, event: &Event) -> Clock {
    match event.message {
        Message::Own => (event.known.hb, (write.thread, write.index + 1)),
        Message::Row(row) => (row, (write.thread, 0)),
    }
}
