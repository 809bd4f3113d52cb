//! The part of a graph that a backward revisit keeps.

use super::Graph;
use super::clock::{ClockRef, Clocks};
use super::event::{Event, Message};
use crate::ids::{EventId, LocationId, ThreadId};

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
        self.keep.extend(graph.threads[..graph.slots()].iter().map(|events| events.len() as u32));
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
        self.copy_first(from, source);
        for &id in &from.order[source.stamp as usize..] {
            if cut.keeps(id) && !(waits && id == read) {
                self.copy_event(from, id, id != read);
            }
        }
        for (location, writes) in from.mo.iter().enumerate() {
            self.mo[location].extend(writes.iter().filter(|w| cut.keeps(**w) && !(waits && **w == read)));
            self.number(LocationId(location as u32), 0);
        }
        let settled = from.prefix(write);
        for thread in &self.ranks {
            let events = self.threads[thread.slot()].iter_mut();
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
        self.initial.clear();
        self.initial.extend_from_slice(&from.initial);
        self.mo.resize_with(from.mo.len().max(self.mo.len()), Vec::new);
        self.reads.resize_with(self.mo.len(), Vec::new);
        self.readers.resize(self.mo.len(), 0);
        self.initial.resize(self.mo.len(), 0);
    }

    /// Copies the threads whose spawn is kept.
    fn copy_threads(&mut self, from: &Graph, cut: &Cut) {
        let kept = |t: &ThreadId| cut.keeps(from.parent(*t));
        self.ranks.clear();
        self.ranks.extend(from.ranks.iter().copied().filter(kept));
        let slots = self.ranks.iter().map(|t| t.slot() + 1).max().unwrap_or(1);
        self.parents.resize(slots, EventId::INIT);
        self.twins.resize(slots, None);
        for thread in &self.ranks {
            self.parents[thread.slot()] = from.parent(*thread);
            self.twins[thread.slot()] = from.twin(*thread);
        }
        self.threads.resize_with(slots.max(self.threads.len()), Vec::new);
    }

    /// Copies all events that were added before `end`, as they are, with their clocks.
    fn copy_first(&mut self, from: &Graph, end: &Event) {
        self.order.extend_from_slice(&from.order[..end.stamp as usize]);
        self.clocks.copy_first(&from.clocks, end.mark);
        for thread in &self.ranks {
            let events = from.thread(*thread);
            let events = &events[..events.partition_point(|e| e.stamp < end.stamp)];
            self.seq_cst += events.iter().filter(|e| e.is_seq_cst()).count() as u32;
            self.threads[thread.slot()].extend_from_slice(events);
        }
        for (mine, theirs) in self.reads.iter_mut().zip(&from.reads) {
            let before = theirs.partition_point(|id| from.event(*id).stamp < end.stamp);
            mine.extend_from_slice(&theirs[..before]);
        }
        self.readers[..from.readers.len()].copy_from_slice(&from.readers);
    }

    fn copy_event(&mut self, from: &Graph, id: EventId, with_clocks: bool) {
        let mut event = *from.event(id);
        (event.stamp, event.mark) = (self.order.len() as u32, self.clocks.mark());
        if with_clocks {
            self.copy_clocks(from, id, &mut event);
        }
        self.order.push(id);
        if event.reads() {
            self.add_read(id, event.location);
        }
        self.seq_cst += u32::from(event.is_seq_cst());
        self.threads[id.thread.slot()].push(event);
    }

    /// Copies the clocks of an event, sharing rows with the event before it where they were shared.
    fn copy_clocks(&mut self, from: &Graph, id: EventId, event: &mut Event) {
        let rows = |e: &Event| [e.hb, e.prefix, e.pending, e.released];
        let before = id.index.checked_sub(1).map(|index| EventId { index, ..id });
        let [old, new] = [from, &*self].map(|graph| before.map_or([ClockRef::EMPTY; 4], |b| rows(graph.event(b))));
        let copy = |clocks: &mut Clocks, row: ClockRef, part: usize| {
            if old[part] == row { new[part] } else { clocks.copy(&from.clocks, row) }
        };
        let hb = event.hb;
        event.hb = copy(&mut self.clocks, event.hb, 0);
        event.prefix = if event.prefix == hb { event.hb } else { copy(&mut self.clocks, event.prefix, 1) };
        event.pending = copy(&mut self.clocks, event.pending, 2);
        let released = event.released;
        event.released = copy(&mut self.clocks, released, 3);
        event.message = match event.message {
            Message::Own => Message::Own,
            Message::Row(row) if row == released => Message::Row(event.released),
            Message::Row(row) => Message::Row(self.clocks.copy(&from.clocks, row)),
        };
    }
}
