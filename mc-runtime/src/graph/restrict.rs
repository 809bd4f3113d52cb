//! The part of a graph that a backward revisit keeps.

use super::Graph;
use super::clock::{ClockRef, Clocks};
use super::event::{Event, Message};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::Code;

/// Which events a revisit keeps: of each thread the first so many, and the revisited read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cut {
    /// By slot.
    pub keep: Vec<u32>,
    /// The read.
    pub read: Option<EventId>,
}

impl Cut {
    /// Is `x` kept?
    pub(crate) fn keeps(&self, x: EventId) -> bool {
        x.is_init() || Some(x) == self.read || x.index < self.keep[x.thread.slot()]
    }
}

impl Graph {
    /// Makes `self` what `cut` keeps of `from`, with everything before or at `write` settled and the revisited read reading from `write`.
    ///
    /// A read that must wait for what it would read then is not kept. Returns it with its new source otherwise.
    pub(crate) fn restrict(&mut self, from: &Graph, cut: &Cut, write: EventId) -> Option<EventId> {
        let read = cut.read.expect("a revisit has a read");
        self.clear_for(from);
        let waits = {
            let event = from.event(read);
            event.operation.must_wait(from.value(event.location, write))
        };
        for &id in &from.order {
            if !cut.keeps(id) || (waits && id == read) {
                continue;
            }
            let mut event = *from.event(id);
            event.stamp = self.order.len() as u32;
            event.settled |= from.in_prefix(id, write);
            self.order.push(id);
            event.mark = self.clocks.mark();
            if id != read {
                self.copy_clocks(from, id, &mut event);
            }
            if event.location != LocationId::NONE {
                self.accesses[event.location.slot()].push(id);
            }
            self.seq_cst += u32::from(event.is_seq_cst());
            self.threads[id.thread.slot()].push(event);
            if event.operation.code == Code::Spawn {
                self.insert_thread(ThreadId(event.value as u32), id);
            }
        }
        for (location, writes) in from.mo.iter().enumerate() {
            self.mo[location].extend(writes.iter().filter(|w| cut.keeps(**w) && !(waits && **w == read)));
            self.number(LocationId(location as u32), 0);
        }
        if waits {
            return None;
        }
        self.read_elsewhere(read, write);
        Some(read)
    }

    fn clear_for(&mut self, from: &Graph) {
        self.clear();
        self.initial.clear();
        self.initial.extend_from_slice(&from.initial);
        self.mo.resize_with(from.mo.len().max(self.mo.len()), Vec::new);
        self.accesses.resize_with(self.mo.len(), Vec::new);
        self.initial.resize(self.mo.len(), 0);
    }

    /// Copies the clocks of an event, sharing rows with the event before it where they were shared.
    fn copy_clocks(&mut self, from: &Graph, id: EventId, event: &mut Event) {
        let before = id.index.checked_sub(1).map(|index| EventId { index, ..id });
        let old = before.map(|b| *from.event(b));
        let new = before.map(|b| *self.event(b));
        let copy = |clocks: &mut Clocks, row: ClockRef, part: fn(&Event) -> ClockRef| match (&old, &new) {
            (Some(old), Some(new)) if part(old) == row => part(new),
            _ => clocks.copy(&from.clocks, row),
        };
        let hb = event.hb;
        event.hb = copy(&mut self.clocks, event.hb, |e| e.hb);
        event.prefix = if event.prefix == hb { event.hb } else { copy(&mut self.clocks, event.prefix, |e| e.prefix) };
        event.pending = copy(&mut self.clocks, event.pending, |e| e.pending);
        let released = event.released;
        event.released = copy(&mut self.clocks, released, |e| e.released);
        event.message = match event.message {
            Message::Own => Message::Own,
            Message::Row(row) if row == released => Message::Row(event.released),
            Message::Row(row) => Message::Row(self.clocks.copy(&from.clocks, row)),
        };
    }
}
