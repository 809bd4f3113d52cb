//! The part of a graph that a backward revisit keeps.

use super::Graph;
use super::clock::ClockRef;
use super::event::{Event, Known, Message};
use super::threads::{Line, Start};
use crate::ids::{EventId, ThreadId};
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
    /// Nothing is cut yet.
    pub(crate) fn keep_all(&mut self, graph: &Graph) {
        self.keep.clear();
        self.keep.extend(graph.threads[..graph.slots()].iter().map(|thread| thread.events.len() as u32));
    }

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
        let source = from.event(read);
        // What a reader-writer lock is revisited by has come before it.
        let waits = source.operation.locks() || source.operation.must_wait(from.value(source.location, write));
        self.clear_for(from);
        self.copy_threads(from, cut);
        self.copy_events(from, cut, waits, source.stamp);
        self.copy_order(from, source.stamp as usize);
        self.shared = source.stamp as usize;
        for slot in 0..from.mo.len() {
            self.copy_location(from, slot);
        }
        let settled = from.prefix(write);
        for thread in &self.ranks {
            let events = self.threads[thread.slot()].events.iter_mut();
            events.take(settled.of(*thread) as usize).for_each(|event| event.settled = true);
        }
        if waits {
            return None;
        }
        self.read_elsewhere(read, write);
        Some(read)
    }

    fn clear_for(&mut self, from: &Graph) {
        self.clear();
        let needed = from.mo.len();
        if self.mo.len() < needed {
            self.make_locations(needed);
        }
        self.initial[..needed].copy_from_slice(&from.initial);
        self.readers[..needed].copy_from_slice(&from.readers);
    }

    /// Copies the threads whose spawn is kept.
    fn copy_threads(&mut self, from: &Graph, cut: &Cut) {
        let kept = |t: &ThreadId| cut.keeps(from.parent(*t));
        self.ranks.clear();
        self.ranks.extend(from.ranks.iter().copied().filter(kept));
        let slots = self.ranks.iter().map(|t| t.slot() + 1).max().unwrap_or(1);
        self.starts.resize(slots, Start::UNSPAWNED);
        for thread in &self.ranks {
            self.starts[thread.slot()] = from.starts[thread.slot()];
        }
        self.threads.resize_with(slots.max(self.threads.len()), || Line::EMPTY);
    }

    /// Copies the events that are kept, as they are; and who has ended before the first that is not.
    fn copy_events(&mut self, from: &Graph, cut: &Cut, waits: bool, same: u32) {
        for thread in &self.ranks {
            let read = !waits && cut.read.is_some_and(|read| read.thread == *thread);
            let keep = cut.keep[thread.slot()] as usize + usize::from(read);
            let (old, new) = (&from.threads[thread.slot()], &mut self.threads[thread.slot()]);
            new.events.extend_from_slice(&old.events[..keep]);
            if old.ended <= same {
                new.ended = old.ended;
            }
        }
    }

    /// Gives them their order, which begins with the same ones as that of `from`, and their clocks. Whoever was joined has ended.
    fn copy_order(&mut self, from: &Graph, same: usize) {
        self.order.extend_from_slice(&from.order[..same]);
        self.seq_cst = from.seq_cst;
        for id in &from.order[same..] {
            if self.contains(*id) {
                let stamp = self.order.len() as u32;
                let event = self.event_mut(*id);
                event.stamp = stamp;
                if let Some(child) = event.joins() {
                    let thread = &mut self.threads[child.slot()];
                    thread.ended = thread.ended.min(stamp);
                }
                self.order.push(*id);
            } else {
                self.seq_cst -= u32::from(from.event(*id).is_seq_cst());
            }
        }
        // Rows of events that are gone do no harm, until they are too many.
        const ROWS: usize = if cfg!(feature = "axioms") { 1 } else { 4 };
        if from.clocks.mark() as usize <= ROWS * from.order.len() * (from.slots() + 1) {
            self.clocks.clone_from(&from.clocks);
        } else {
            self.copy_all_clocks(from);
        }
    }

    fn copy_location(&mut self, from: &Graph, slot: usize) {
        let [reads, mo] = [&from.reads[slot], &from.mo[slot]];
        // As a rule most are kept, and what is before the first one that is not stays where it is.
        let kept = |all: &[EventId]| all.iter().position(|id| !self.contains(*id)).unwrap_or(all.len());
        let [(reads, read), (writes, written)] = [reads.split_at(kept(reads)), mo.split_at(kept(mo))];
        self.reads[slot].extend_from_slice(reads);
        self.mo[slot].extend_from_slice(writes);
        for read in read {
            if self.contains(*read) {
                self.reads[slot].push(*read);
            }
        }
        for write in written {
            if self.contains(*write) {
                self.mo[slot].push(*write);
                self.event_mut(*write).place = self.mo[slot].len() as u32;
            }
        }
    }

    #[cold]
    fn copy_all_clocks(&mut self, from: &Graph) {
        for index in 0..self.order.len() {
            let id = self.order[index];
            let mut event = *self.event(id);
            event.mark = self.clocks.mark();
            self.copy_clocks(from, id, &mut event);
            *self.event_mut(id) = event;
            if event.operation.code == Code::Spawn {
                self.copy_start(from, event.value as usize);
            }
        }
    }

    /// Copies the clocks of a thread that was spawned.
    fn copy_start(&mut self, from: &Graph, slot: usize) {
        let old = from.starts[slot].known;
        let hb = self.clocks.copy(&from.clocks, old.hb);
        let prefix = if old.prefix == old.hb { hb } else { self.clocks.copy(&from.clocks, old.prefix) };
        self.starts[slot].known = Known { hb, prefix, ..old };
    }

    /// Copies the clocks of an event, sharing rows with the event before it where they were shared.
    fn copy_clocks(&mut self, from: &Graph, id: EventId, event: &mut Event) {
        let [old, new] = [from, &*self].map(|graph| *graph.known(id.thread, id.index as usize));
        let clocks = &mut self.clocks;
        let mut copy = |row: ClockRef, (old, new): (ClockRef, ClockRef)| {
            if old == row { new } else { clocks.copy(&from.clocks, row) }
        };
        let known = event.known;
        let hb = copy(known.hb, (old.hb, new.hb));
        let prefix = if known.prefix == known.hb { hb } else { copy(known.prefix, (old.prefix, new.prefix)) };
        let pending = copy(known.pending, (old.pending, new.pending));
        let released = copy(known.released, (old.released, new.released));
        event.known = Known { hb, prefix, pending, released };
        event.message = match event.message {
            Message::Own => Message::Own,
            Message::Row(row) if row == known.released => Message::Row(released),
            Message::Row(row) => Message::Row(self.clocks.copy(&from.clocks, row)),
        };
    }
}
