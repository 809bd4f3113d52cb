//! The execution graph: events, reads-from, modification order, and the clocks that follow from them.
//!
//! Invariants (`check`, for every prefix, in this crate's own tests and under the feature `axioms`):
//! - `order` holds every event once; the stamps of a thread grow with program order;
//! - `mo[l]` holds every write to `l` once, without the initial one, which comes first;
//! - `reads[l]` holds every read and update of `l` once, as added;
//! - clocks never change once their event is added.
//!
//! Not here: which graphs are consistent (`model`), and which are made (`explore`).

pub(crate) mod clock;
pub(crate) mod event;
pub(crate) mod extend;
pub(crate) mod readers;
pub(crate) mod restrict;
pub(crate) mod symmetry;
mod threads;

use clock::{Clocks, Past};
use event::{Event, Known};
use threads::{Line, Start};

use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::Code;

/// Where the user's code made an event.
pub(crate) type Site = Option<crate::place::Place>;

/// An execution graph, or a prefix of one.
#[derive(Clone, Debug, Default)]
#[repr(C)] // first what is asked for most: how far from its beginning a field is says how long an instruction is that names it
pub(crate) struct Graph {
    /// What each thread does, by slot.
    threads: Vec<Line>,
    /// All events, as added.
    order: Vec<EventId>,
    /// How each thread starts, by slot.
    starts: Vec<Start>,
    mo: Vec<Vec<EventId>>,
    clocks: Clocks,
    seq_cst: u32,
    /// All threads, by the path of their spawns: what "leftmost" means, whatever their slots are.
    ranks: Vec<ThreadId>,
    reads: Vec<Vec<EventId>>,
    /// Of each location, the threads that may have read it, a bit for each slot. The last one stands for all from there on.
    readers: Vec<u64>,
    initial: Vec<u64>,
    /// So many of its first events stayed as they are since somebody looked.
    lowest: usize,
    /// So many of its first events are those of the graph that it was made from by a revisit.
    shared: usize,
    /// Memory that is kept.
    sections: Vec<readers::Section>,
}

impl Graph {
    /// The graph without events: the body of the test has not begun.
    pub(crate) fn new() -> Self {
        let mut graph = Graph::default();
        graph.clear();
        graph
    }

    /// Makes it as new, and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.order.clear();
        self.seq_cst = 0;
        self.mo.iter_mut().for_each(Vec::clear);
        self.reads.iter_mut().for_each(Vec::clear);
        self.readers.fill(0);
        self.threads.iter_mut().for_each(Line::clear);
        self.starts.clear();
        self.ranks.clear();
        self.starts.push(Start::UNSPAWNED);
        self.ranks.push(ThreadId::MAIN);
        if self.threads.is_empty() {
            self.threads.push(Line::EMPTY);
        }
        self.clocks.clear();
        (self.lowest, self.shared) = (0, 0);
    }

    /// How many events it has.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// All events, in the order of their addition.
    pub(crate) fn order(&self) -> &[EventId] {
        &self.order
    }

    /// How many slots for threads are in use or free; every thread's slot is below.
    pub(crate) fn slots(&self) -> usize {
        self.starts.len()
    }

    /// The threads that exist, leftmost first.
    pub(crate) fn ranks(&self) -> &[ThreadId] {
        &self.ranks
    }

    /// The events of a thread in program order.
    #[inline(always)]
    pub(crate) fn thread(&self, thread: ThreadId) -> &[Event] {
        &self.threads[thread.slot()].events
    }

    /// The spawn of a thread; `INIT` for the body of the test.
    pub(crate) fn parent(&self, thread: ThreadId) -> EventId {
        self.starts[thread.slot()].spawn
    }

    /// An event. Panics if there is none of that name, and for `INIT`.
    #[inline(always)]
    pub(crate) fn event(&self, id: EventId) -> &Event {
        &self.threads[id.thread.slot()].events[id.index as usize]
    }

    #[inline(always)]
    fn event_mut(&mut self, id: EventId) -> &mut Event {
        &mut self.threads[id.thread.slot()].events[id.index as usize]
    }

    /// Where an event was made.
    pub(crate) fn site(&self, id: EventId) -> Site {
        self.event(id).site
    }

    /// Is `id` an event of this graph?
    pub(crate) fn contains(&self, id: EventId) -> bool {
        !id.is_init() && self.threads.get(id.thread.slot()).is_some_and(|t| (id.index as usize) < t.events.len())
    }

    /// The writes to a location in modification order, without the initial one.
    #[inline(always)]
    pub(crate) fn mo(&self, location: LocationId) -> &[EventId] {
        self.mo.get(location.slot()).map_or(&[], Vec::as_slice)
    }

    /// The last write in modification order.
    #[inline(always)]
    pub(crate) fn mo_max(&self, location: LocationId) -> EventId {
        self.mo(location).last().copied().unwrap_or(EventId::INIT)
    }

    /// Where a write is in modification order: 0 for the initial one.
    pub(crate) fn mo_index(&self, write: EventId) -> usize {
        if write.is_init() { 0 } else { self.event(write).place as usize }
    }

    /// The write at a position of modification order: the initial one at 0.
    pub(crate) fn mo_at(&self, location: LocationId, index: usize) -> EventId {
        if index == 0 { EventId::INIT } else { self.mo(location)[index - 1] }
    }

    /// The reads of a location, updates included, in the order of their addition.
    #[inline(always)]
    pub(crate) fn reads(&self, location: LocationId) -> &[EventId] {
        self.reads.get(location.slot()).map_or(&[], Vec::as_slice)
    }

    /// May the thread have read the location?
    pub(crate) fn may_have_read(&self, thread: ThreadId, location: LocationId) -> bool {
        self.readers[location.slot()] & reader(thread) != 0
    }

    #[inline(always)]
    fn add_read(&mut self, id: EventId, location: LocationId) {
        self.reads[location.slot()].push(id);
        self.readers[location.slot()] |= reader(id.thread);
    }

    /// All accesses of a location.
    pub(crate) fn accesses(&self, location: LocationId) -> impl Iterator<Item = EventId> + '_ {
        let stores = self.mo(location).iter().filter(|w| !self.event(**w).reads());
        self.reads(location).iter().chain(stores).copied()
    }

    /// Is there any access of a location?
    pub(crate) fn is_accessed(&self, location: LocationId) -> bool {
        !self.reads(location).is_empty() || !self.mo(location).is_empty()
    }

    /// How many location names there are; each is either in use or free.
    pub(crate) fn locations(&self) -> usize {
        self.mo.len()
    }

    /// The value that a write left.
    #[inline(always)]
    pub(crate) fn value(&self, location: LocationId, write: EventId) -> u64 {
        if write.is_init() { self.initial[location.slot()] } else { self.event(write).value }
    }

    /// Sets what a location held before its first write, making its name if it is new.
    pub(crate) fn set_initial(&mut self, location: LocationId, value: u64) {
        let needed = location.slot() + 1;
        if self.mo.len() < needed {
            self.make_locations(needed);
        }
        if self.reads[location.slot()].is_empty() {
            self.readers[location.slot()] = 0; // of what had its name before
        }
        self.initial[location.slot()] = value;
    }

    /// Makes names of locations, up to so many.
    #[cold]
    fn make_locations(&mut self, needed: usize) {
        self.mo.resize_with(needed, Vec::new);
        self.reads.resize_with(needed, Vec::new);
        self.readers.resize(needed, 0);
        self.initial.resize(needed, 0);
    }

    /// While an execution is replayed, values are what the thread passes now.
    pub(crate) fn refresh(&mut self, id: EventId, a: u64, b: u64, value: u64) {
        let event = self.event_mut(id);
        event.operation.a = a;
        event.operation.b = b;
        event.value = value;
    }

    /// How many of its first events stayed as they are since [`Graph::looked_at`].
    pub(crate) fn unchanged(&self) -> usize {
        self.lowest
    }

    /// All events are known now.
    pub(crate) fn looked_at(&mut self) {
        self.lowest = usize::MAX;
    }

    /// How many of its first events are those of the graph that it was made from by a revisit.
    pub(crate) fn shared(&self) -> usize {
        self.shared
    }

    /// What a location held before its first write.
    pub(crate) fn initial(&self, location: LocationId) -> u64 {
        self.initial[location.slot()]
    }

    /// How many sequentially consistent accesses and fences there are.
    pub(crate) fn seq_cst_events(&self) -> u32 {
        self.seq_cst
    }

    /// What happens before or at the end of the first `count` events of `thread`.
    #[inline]
    pub(crate) fn past(&self, thread: ThreadId, count: usize) -> Past<'_> {
        Past { thread, count: count as u32, others: self.clocks.row(self.known(thread, count).hb) }
    }

    /// What `thread` knows after its first `count` events.
    #[inline(always)]
    fn known(&self, thread: ThreadId, count: usize) -> &Known {
        match count.checked_sub(1) {
            Some(last) => &self.thread(thread)[last].known,
            None => &self.starts[thread.slot()].known,
        }
    }

    /// Does all that is in (program order or reads-from)* before the end of the first `count` events of `thread` happen before it?
    pub(crate) fn is_synchronised(&self, thread: ThreadId, count: usize) -> bool {
        let known = self.known(thread, count);
        let happened = self.clocks.row(known.hb);
        let has_happened = |(slot, count): (usize, &u32)| *count <= happened.get(slot).copied().unwrap_or(0);
        known.prefix == known.hb || self.clocks.row(known.prefix).iter().enumerate().all(has_happened)
    }

    /// What is in (program order, reads-from, or what twins did)* before or at `event`.
    pub(crate) fn prefix(&self, event: EventId) -> Past<'_> {
        self.prefix_of(event.thread, event.index as usize + 1)
    }

    /// What is in (program order, reads-from, or what twins did)* before or at the end of the first `count` events of `thread`.
    pub(crate) fn prefix_of(&self, thread: ThreadId, count: usize) -> Past<'_> {
        Past { thread, count: count as u32, others: self.clocks.row(self.known(thread, count).prefix) }
    }

    /// What happens before the end of a thread that has ended. That is no event, but counts as one more of its own.
    pub(crate) fn end(&self, thread: ThreadId) -> Past<'_> {
        let events = self.thread(thread).len();
        Past { count: events as u32 + 1, ..self.past(thread, events) }
    }

    /// The last of the first `count` events of a thread; its spawn, if that is none.
    pub(crate) fn last(&self, thread: ThreadId, count: usize) -> EventId {
        count.checked_sub(1).map_or_else(|| self.parent(thread), |index| thread.event(index))
    }

    /// How many events of `of` happen before or at the end of the first `count` events of `thread`; one more, if its end does.
    #[inline]
    pub(crate) fn knows(&self, thread: ThreadId, count: usize, of: ThreadId) -> u32 {
        self.past(thread, count).of(of)
    }

    /// Removes all events that were added after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.forget_ends(len + 1);
        let Some(first) = self.order.get(len) else { return };
        self.lowest = self.lowest.min(len);
        self.clocks.truncate(self.event(*first).mark);
        // Taken out meanwhile, so that the rest of the graph can be changed.
        let mut order = std::mem::take(&mut self.order);
        for id in order.drain(len..).rev() {
            let event = self.threads[id.thread.slot()].events.pop().expect("it was added");
            if event.operation.code == Code::Spawn {
                self.remove_thread(ThreadId(event.value as u32));
            }
            self.seq_cst -= u32::from(event.is_seq_cst());
            if event.location == LocationId::NONE {
                continue;
            }
            if event.reads() {
                let last = self.reads[event.location.slot()].pop();
                assert_eq!(last, Some(id), "reads are listed as added");
            }
            if event.writes {
                self.unplace(event.location, event.place);
            }
        }
        self.order = order;
    }

    /// Panics if an invariant is broken.
    #[cfg(any(test, feature = "axioms"))]
    pub(crate) fn check(&self) {
        let events: usize = self.threads.iter().map(|thread| thread.events.len()).sum();
        assert_eq!(events, self.order.len());
        for (stamp, id) in self.order.iter().enumerate() {
            let event = self.event(*id);
            assert_eq!(event.stamp as usize, stamp, "{id:?}");
            if event.writes {
                assert_eq!(self.mo_at(event.location, event.place as usize), *id);
            }
            if event.reads() {
                assert!(self.may_have_read(id.thread, event.location), "{id:?}");
            }
            if event.location != LocationId::NONE {
                assert_eq!(self.accesses(event.location).filter(|a| a == id).count(), 1, "{id:?}");
            }
            assert!(event.rf.is_init() || self.contains(event.rf), "{id:?}");
            if let Some(child) = event.joins() {
                assert!(self.has_ended(child) && self.prefix(*id).of(child) == self.end(child).count, "{id:?}");
            }
        }
        for thread in &self.threads {
            assert!(thread.events.windows(2).all(|w| w[0].stamp < w[1].stamp));
        }
        for reads in &self.reads {
            assert!(reads.is_sorted_by_key(|read| self.event(*read).stamp));
        }
        for thread in &self.ranks {
            let spawn = self.parent(*thread);
            let twin = if spawn.is_init() { 0 } else { self.event(spawn).operation.a };
            assert_eq!(self.twin(*thread).map_or(0, |twin| u64::from(twin.0) + 1), twin, "{thread}");
        }
        let writes: usize = self.mo.iter().map(Vec::len).sum();
        assert_eq!(writes, self.threads.iter().flat_map(|thread| &thread.events).filter(|e| e.writes).count());
    }
}

/// The bit of a thread that reads.
#[inline(always)]
fn reader(thread: ThreadId) -> u64 {
    1 << thread.0.min(u64::BITS - 1)
}
