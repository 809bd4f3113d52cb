//! The exploration: every consistent execution graph exactly once.
//!
//! Source: TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022), with the unblocked locks of Awamoche
//! (Kokologiannakis, Marmanis, Vafeiadis, CAV 2023) generalised to guarded read-modify-writes; as in `tests/spec/exploration.py`.
//! Not here: what is consistent (`model`), and running the test along a graph (`exec`).

mod frontier;
mod observers;
mod readers;
mod revisit;
mod symmetry;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use frontier::{Frontier, Item};
pub(crate) use readers::MOST_SECTIONS;

use frontier::Basis;

use crate::graph::extend::New;
use crate::graph::readers::ALL;
use crate::graph::{Graph, Site};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::model::{Buffers, Suspect, coherence, order_exists};
use crate::operation::{Code, Operation};
use crate::options::MemoryModel;
use std::ops::Range;

/// The graph of the running execution, and what is left to explore.
#[derive(Debug)]
#[repr(C)] // first what is asked for most: how far from its beginning a field is says how long an instruction is that names it
pub(crate) struct Explorer {
    /// The graph of the running execution.
    pub graph: Graph,
    /// Threads that only look (`exec::observers`), by slot, as bits.
    pub observers: u64,
    /// Has the thread that adds an access come to it in the same way again (`exec::values`)? Then reads of older writes are left out that get the same value as the one before.
    pub same_way: bool,
    /// Has one of them, other than the thread that runs, which is one, read something else than the newest write?
    others_deviate: bool,
    model: MemoryModel,
    /// What is left.
    pub frontier: Frontier,
    buffers: Buffers,
    revisit: revisit::Buffers,
    sets: readers::Sets,
    /// How many items were taken from the frontier.
    #[cfg(test)]
    taken: u64,
}

/// What `Explorer::add_at` is told about the write that is read, or stands directly before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// It is the newest. Or a schedule says so: if coherence allows it, the graph is consistent, as it was when that was made.
    Any,
    /// Coherence allows it. Whether the graph is consistent is not known.
    Coherent,
}

/// What `Explorer::next` found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// `graph` is the prefix of an execution that was not explored yet.
    Prefix,
    /// The frontier is empty.
    Done,
}

impl Explorer {
    /// An explorer at the empty graph.
    pub(crate) fn new(model: MemoryModel, frontier: Frontier) -> Self {
        let (buffers, revisit, sets) = Default::default();
        Explorer {
            graph: Graph::new(),
            frontier,
            same_way: false,
            observers: 0,
            others_deviate: false,
            model,
            buffers,
            revisit,
            sets,
            #[cfg(test)]
            taken: 0,
        }
    }

    /// Forgets everything: the exploration starts again.
    pub(crate) fn restart(&mut self) {
        self.graph.clear();
        self.forget_barren();
        self.frontier.clear();
    }

    /// Adds a data choice among `n`: the first one now, the others later.
    #[inline(never)]
    pub(crate) fn add_choice(&mut self, thread: ThreadId, operation: &Operation, site: Site) -> EventId {
        let id = self.graph.add_plain(thread, operation, 0, site);
        // The first value is the last in the order of twins, as the newest write is.
        let values = self.graph.counterpart_event(id).map_or(operation.a, |twin| twin.value + 1);
        for value in (1..values).rev() {
            self.push(Item::Choose { at: id, value });
        }
        id
    }

    /// Does a guarded read-modify-write have to wait, as things are?
    pub(crate) fn must_wait(&self, operation: &Operation, location: LocationId) -> bool {
        if operation.code == Code::WriteLock {
            return self.graph.lock_word(location) != 0;
        }
        operation.may_wait() && operation.must_wait(self.graph.value(location, self.graph.mo_max(location)))
    }

    /// Adds an access: the modification-order-maximal way now, the others later, and all revisits of what it writes.
    /// A guarded one must not have to wait. `tried`: values that are read in vain.
    #[inline(always)]
    pub(crate) fn add_access(
        &mut self,
        thread: ThreadId,
        operation: &Operation,
        location: LocationId,
        tried: &[u64],
        site: Site,
    ) -> EventId {
        if operation.code == Code::WriteLock {
            return self.add_write_lock(thread, *operation, location, site);
        }
        let (last, others) = (self.graph.mo_max(location), self.graph.mo(location).len());
        let first = coherence::earliest(&self.graph, location, thread, self.graph.thread(thread).len());
        let rf = if operation.code == Code::Store { EventId::INIT } else { last };
        let new = New { rf, after: last, ..New::access(thread, *operation, location) };
        let id = self.graph.add(&new, site);
        if first < others {
            self.push_others(id, first..others, tried);
        }
        self.push_revisits(id, location, Basis::Consistent);
        id
    }

    /// Adds an event of a meeting at a barrier, which does not have to wait: an arrival after all others, a passing that reads who ended the generation. Nothing
    /// about it is a choice.
    #[inline(never)]
    pub(crate) fn meet(&mut self, thread: ThreadId, operation: Operation, location: LocationId, site: Site) -> EventId {
        let newest = self.graph.mo(location).len();
        let oldest = if operation.code == Code::Pass { self.earliest(thread, location) } else { newest };
        let may_read =
            |index: &usize| !operation.must_wait(self.graph.value(location, self.graph.mo_at(location, *index)));
        let index = (oldest..=newest).find(may_read).expect("it does not have to wait");
        let rf = self.graph.mo_at(location, index);
        self.graph.add(&New { rf, ..New::access(thread, operation, location) }, site)
    }

    /// Puts other choices than the one that was made into the frontier, so that the latest in modification order comes out first. `tried`: values that are read in vain.
    fn push_others(&mut self, id: EventId, others: Range<usize>, tried: &[u64]) {
        if !self.leaves_reads_out(id.thread) {
            self.push_choices(id, others, tried);
        }
    }

    fn push_choices(&mut self, id: EventId, others: Range<usize>, tried: &[u64]) {
        let event = self.graph.event(id);
        let (operation, location, rf) = (event.operation, event.location, event.rf);
        for index in others {
            let write = self.graph.mo_at(location, index);
            if !operation.reads() {
                // Never between a write and the update that reads it.
                if coherence::rival(&self.graph, location, index).is_none() {
                    self.push(Item::Place { at: id, after: write });
                }
                continue;
            }
            if write == rf {
                continue;
            }
            let old = self.graph.value(location, write);
            if operation.must_wait(old) || tried.contains(&old) && operation.result(old).is_none() {
                continue;
            }
            if self.same_way && index < self.graph.mo(location).len() && self.repeats_value(id, write) {
                continue; // nor would a write revisit it
            }
            let rival = coherence::rival(&self.graph, location, index);
            let is_settled = rival.is_some_and(|r| r != id && self.graph.event(r).settled);
            if is_settled && (operation.result(old).is_some() || operation.locks()) {
                continue; // atomicity could not be restored
            }
            self.push(Item::ReadFrom { at: id, write });
        }
    }

    /// The first position of modification order that `thread` may read.
    pub(crate) fn earliest(&self, thread: ThreadId, location: LocationId) -> usize {
        coherence::earliest(&self.graph, location, thread, self.graph.thread(thread).len())
    }

    /// Adds an access that reads the write at `index` of modification order, or stands directly after it; nothing is left for
    /// later. `None`, and nothing is changed, if that cannot be.
    pub(crate) fn add_at(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        location: LocationId,
        index: usize,
        reading: Reading,
        site: Site,
    ) -> Option<EventId> {
        let newest = self.graph.mo(location).len();
        let is_coherent = || index == newest || (self.earliest(thread, location)..newest).contains(&index);
        if reading == Reading::Any && !is_coherent() {
            return None;
        }
        debug_assert!(is_coherent(), "who says that it is coherent has looked");
        let write = self.graph.mo_at(location, index);
        let old = self.graph.value(location, write);
        let store = operation.code == Code::Store;
        let writes = store || operation.result(old).is_some();
        if operation.must_wait(old) || (writes && coherence::rival(&self.graph, location, index).is_some()) {
            return None;
        }
        let new = New::access(thread, operation, location);
        let added_max = index == newest;
        let new = if store { New { after: write, ..new } } else { New { rf: write, ..new } };
        let new = New { added_max, ..new };
        if reading == Reading::Any { Some(self.graph.add(&new, site)) } else { self.add_if_consistent(&new, site) }
    }

    /// Adds a read in vain of the write at `index` of modification order, which coherence allows; nothing is left for later. `None`, and nothing is changed, if that cannot be.
    pub(crate) fn add_in_vain(
        &mut self,
        thread: ThreadId,
        operation: &Operation,
        location: LocationId,
        index: usize,
        site: Site,
    ) -> Option<EventId> {
        let (rf, added_max) = (self.graph.mo_at(location, index), index == self.graph.mo(location).len());
        self.add_if_consistent(&New { rf, added_max, ..New::access(thread, *operation, location) }, site)
    }

    fn add_if_consistent(&mut self, new: &New, site: Site) -> Option<EventId> {
        let len = self.graph.len();
        let id = self.graph.add(new, site);
        if !new.added_max && !self.order_exists(Suspect::Event(id)) {
            self.graph.truncate(len); // nothing has looked at that read yet
            return None;
        }
        Some(id)
    }

    fn push(&mut self, item: Item) {
        self.frontier.push(&self.graph, item);
    }

    /// Puts what else the last event could read into the frontier: a load, or a failed compare-exchange, that was added by `add_at`. `tried`: values that are read in vain,
    /// but for the newest write, at which a thread may be stuck for ever.
    pub(crate) fn add_other_reads(&mut self, id: EventId, tried: &[u64]) {
        if self.leaves_reads_out(id.thread) {
            return;
        }
        let location = self.graph.event(id).location;
        let first = coherence::earliest(&self.graph, location, id.thread, id.index as usize);
        let newest = self.graph.mo(location).len();
        if first < newest {
            self.push_choices(id, first..newest, tried);
        }
        if self.graph.event(id).rf != self.graph.mo_max(location) {
            self.push_choices(id, newest..newest + 1, &[]);
        }
    }

    /// The compare-exchange `at`, which was added last of the accesses, has failed, and its thread has stopped: at older writes at which it fails it would do the same. If `any_value`; otherwise where these
    /// have the same one.
    pub(crate) fn forget_failures(&mut self, at: EventId, any_value: bool) {
        let graph = &self.graph;
        let event = graph.event(at);
        let value = |write| graph.value(event.location, write);
        let newest = graph.mo_max(event.location);
        let is_left_out = |write| {
            let fails = event.operation.result(value(write)).is_none();
            write != newest && fails && (any_value || value(write) == value(event.rf))
        };
        self.frontier.retain_last(
            |item| matches!(item, Item::ReadFrom { at: other, .. } if *other == at),
            |item| !matches!(item, Item::ReadFrom { write, .. } if is_left_out(*write)),
        );
    }

    /// Nobody can move, and `thread` waits with a guarded update, or a compare-exchange that has read the values `tried` in vain: it may still have
    /// come before others.
    pub(crate) fn add_overtakes(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        location: LocationId,
        site: Site,
        tried: &[u64],
    ) {
        let first = self.earliest(thread, location);
        if operation.code == Code::WriteLock {
            return self.push_write_locks(thread, operation, location, site, first);
        }
        for index in first..=self.graph.mo(location).len() {
            let write = self.graph.mo_at(location, index);
            let old = self.graph.value(location, write);
            if operation.must_wait(old) || tried.contains(&old) {
                continue;
            }
            let rival = coherence::rival(&self.graph, location, index);
            let alone = operation.result(old).is_some() || operation.locks();
            if alone && rival.is_some_and(|r| self.graph.event(r).settled) {
                continue;
            }
            let len = self.graph.len() as u32;
            self.push(Item::Overtake { len, thread, operation, location, write, sections: ALL, site });
        }
    }

    /// Depth first: forgets all of the frontier but a random item; returns how many there were.
    pub(crate) fn keep_one(&mut self, rng: &mut rand_pcg::Pcg64) -> usize {
        self.frontier.keep_one(&mut self.graph, rng)
    }

    /// Goes to the next prefix that is to be executed.
    pub(crate) fn next(&mut self) -> Next {
        while let Some(item) = self.frontier.pop(&mut self.graph) {
            self.forget_barren();
            #[cfg(test)]
            {
                self.taken += 1;
            }
            let run = match item {
                Item::Choose { at, value } => self.choose(at, value),
                Item::ReadFrom { at, write } => self.read_from(at, write),
                Item::Place { at, after } => self.place(at, after),
                Item::Revisit { len, write, read, basis } => self.backward(len, write, read, basis),
                Item::Overtake { len, thread, operation, location, write, sections, site } => {
                    self.graph.truncate(len as usize);
                    let new = New { rf: write, added_max: false, ..New::access(thread, operation, location) };
                    if operation.code == Code::WriteLock {
                        self.write_lock(New { sections, ..new }, site)
                    } else {
                        let rival = coherence::rival(&self.graph, location, self.graph.mo_index(write));
                        let id = self.graph.add(&new, site);
                        self.competes(id, rival)
                    }
                }
            };
            if run {
                #[cfg(any(test, feature = "axioms"))]
                self.graph.check();
                return Next::Prefix;
            }
        }
        Next::Done
    }

    /// Takes the last event of the prefix up to `at` back, to add it in another way.
    fn take_back(&mut self, at: EventId) -> (New, Site) {
        let (event, site) = (*self.graph.event(at), self.graph.site(at));
        self.graph.truncate(event.stamp as usize);
        (New { added_max: false, ..New::access(at.thread, event.operation, event.location) }, site)
    }

    fn choose(&mut self, at: EventId, value: u64) -> bool {
        let (new, site) = self.take_back(at);
        self.graph.add_plain(new.thread, &new.operation, value, site);
        true
    }

    fn place(&mut self, at: EventId, after: EventId) -> bool {
        let (new, site) = self.take_back(at);
        let id = self.graph.add(&New { after, ..new }, site);
        let consistent = self.order_exists(Suspect::Event(id));
        if consistent {
            self.push_revisits(id, new.location, Basis::Consistent);
        }
        consistent
    }

    fn read_from(&mut self, at: EventId, write: EventId) -> bool {
        let (new, site) = self.take_back(at);
        let index = self.graph.mo_index(write);
        let rival = coherence::rival(&self.graph, new.location, index);
        let added_max = write == self.graph.mo_max(new.location); // an await that tried an older write first
        let id = self.graph.add(&New { rf: write, added_max, ..new }, site);
        self.competes(id, rival)
    }

    /// An event was added that reads what `rival` has read and updated. Is the graph to be executed?
    fn competes(&mut self, id: EventId, rival: Option<EventId>) -> bool {
        let event = self.graph.event(id);
        if event.operation.code == Code::ReadLock
            && let Some(rival) = rival
        {
            self.push_rival(id, rival);
            return false;
        }
        // With a rival, atomicity is broken: the graph is not explored itself, but this write may revisit the rival and so come first.
        let (updates, location) = (event.updates(), event.location);
        let run = !(updates && rival.is_some()) && self.order_exists(Suspect::Event(id));
        if updates {
            self.push_revisits(id, location, if run { Basis::Consistent } else { Basis::WithoutWrite });
        }
        run
    }

    fn order_exists(&mut self, suspect: Suspect) -> bool {
        order_exists(self.model, &self.graph, suspect, &mut self.buffers)
    }
}
