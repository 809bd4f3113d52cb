//! What shims tell about memory: non-atomic accesses, frees, clocks that are left behind, objects of statics.

use super::access::is_static;
use super::arena::Block;
use super::cells::{Access, Cells};
use super::left::{Clocks, Left};
use super::thread::{State, Thread};
use super::{Engine, Step};
use crate::graph::{Graph, Site};
use crate::ids::{EventId, ThreadId};
use crate::options::Origin;
use crate::outcome::FailureKind;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

/// An object of a static, and what it held when the execution first changed it.
#[derive(Clone)]
pub(crate) struct Static {
    at: usize,
    bytes: Vec<u8>,
    drop: Option<Rc<dyn Fn()>>,
}

impl fmt::Debug for Static {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Static({:#x}, {} bytes)", self.at, self.bytes.len())
    }
}

/// A place for a message.
pub(super) fn place(site: Site) -> String {
    site.map_or_else(|| "a place that is not known".to_owned(), |s| format!("{}:{}", s.file(), s.line()))
}

/// What happens before this point of the running thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order<'a> {
    graph: &'a Graph,
    left: &'a Clocks,
    current: ThreadId,
    me: &'a Thread,
}

impl Order<'_> {
    /// Does what `thread` did after its first `events` events happen before this point of the running thread? Of what it did between two of its events, `left` is how many
    /// clocks had been left by then.
    #[inline]
    pub(super) fn has(self, thread: ThreadId, events: u32, left: u32) -> bool {
        thread == self.current
            || self.graph.knows(self.current, self.me.position, thread) > events
            || self.me.acquired().any(|range| self.was_left(&range, thread, events, left))
    }

    /// Does it happen before something that was left in the range?
    fn was_left(self, range: &Range<usize>, thread: ThreadId, events: u32, left: u32) -> bool {
        let knows = |l: &Left| self.graph.knows(l.thread, l.events as usize, thread) > events;
        // Of its own thread, also what came after its last event, and before it was left.
        let ordered = |l: &Left| if l.thread == thread { (l.events, l.order) >= (events, left) } else { knows(l) };
        self.left.any(|l| range.contains(&l.at) && ordered(l))
    }
}

impl Engine {
    /// The check is over, or another engine goes on: statics hold what they held before.
    pub(crate) fn put_back(&mut self) {
        self.locations.reset();
    }

    /// Is it an execution that makes what is made once per process?
    pub(crate) fn rehearses(&self) -> bool {
        self.heap.as_ref().is_some_and(|h| h.rehearsal)
    }

    /// See [`Order::has`].
    pub(super) fn is_ordered(&self, thread: ThreadId, events: u32, left: u32) -> bool {
        let me = self.me_ref();
        Order { graph: &self.explorer.graph, left: &self.left, current: self.current(), me }.has(thread, events, left)
    }

    /// What plain memory was accessed by, and what it is to be held against.
    #[cfg(feature = "unmodified")]
    pub(super) fn shadow_and_order(&mut self) -> (&mut super::shadow::Shadow, Order<'_>) {
        let me = self.threads.me_ref();
        (
            &mut self.told.shadow,
            Order { graph: &self.explorer.graph, left: &self.left, current: self.threads.running(), me },
        )
    }

    /// What cells were accessed by, and what it is to be held against.
    fn cells_and_order(&mut self) -> (&mut Cells, Order<'_>) {
        let (current, me) = (self.threads.running(), self.threads.me_ref());
        (&mut self.cells, Order { graph: &self.explorer.graph, left: &self.left, current, me })
    }

    /// Does the event `id` happen before this point of the running thread?
    pub(super) fn is_event_ordered(&self, id: EventId) -> bool {
        self.is_ordered(id.thread, id.index, u32::MAX)
    }

    /// Is the address in the arenas, in this block if in any, and not in use?
    pub(super) fn is_freed(&self, at: usize, block: Option<Block>) -> bool {
        block.is_none_or(|b| b.freed) && self.heap.as_ref().is_some_and(|h| h.contains(at) && !h.is_kept(at))
    }

    /// Who freed the block at this address, and after what, as the end of a message.
    #[cold]
    #[inline(never)]
    pub(super) fn who_freed(&self, at: usize) -> String {
        let freed = self.heap.as_ref().and_then(|heap| heap.block(at)).filter(|block| block.freed);
        let Some((slot, events)) = freed.map(|block| block.freed_by) else { return String::new() };
        let thread = ThreadId(slot);
        let last = events.checked_sub(1).and_then(|last| self.explorer.graph.site(thread.event(last as usize)));
        let after = last.map_or(String::new(), |site| format!(", after its operation at {}", place(Some(site))));
        format!("\n{} has freed it{after}", self.thread_name(thread))
    }

    /// A non-atomic access by the running thread.
    pub(crate) fn cell(&mut self, at: usize, size: usize, writes: bool, site: Site) -> Step<()> {
        let until = (self.me().position, self.left.made());
        self.cell_until(at, size, writes, until, site)
    }

    /// One that it made at the latest when it had made so many events, and so many clocks had been left. What others did since may come after it.
    pub(super) fn cell_until(
        &mut self,
        at: usize,
        size: usize,
        writes: bool,
        (events, left): (usize, u32),
        site: Site,
    ) -> Step<()> {
        or_return!(self.enter());
        if size == 0 {
            return Step::Done(()); // no memory: its address may be that of something else
        }
        self.close();
        or_return!(self.touches(at, size));
        or_return!(self.acts(!writes));
        or_return!(self.is_between_joins());
        self.me().activity += 1;
        let what = if writes { "write" } else { "read" };
        let block = self.heap.as_mut().and_then(|h| h.watch(at));
        if self.is_freed(at, block) {
            let message = format!("non-atomic {what} of memory that was freed{}", self.who_freed(at));
            return self.fail(FailureKind::UseAfterFree, message, site);
        }
        if let Some(maker) = block.and_then(|b| self.unordered((ThreadId(b.slot), b.events))) {
            return self.uninitialised(maker, what, site);
        }
        let (thread, events) = (self.current(), events as u32);
        let new = Access { thread, events, left, site, writes };
        let (cells, order) = self.cells_and_order();
        let follows = |old: &Access| order.graph.knows(old.thread, old.events as usize, thread) > events;
        let race = cells.access(at, size, new, |old| order.has(old.thread, old.events, old.left) || follows(old));
        self.trace_cell(what, site);
        let Some(other) = race else { return Step::Done(()) };
        let message = format!(
            "data race: {} {what}s at {} what {} {} at {}, and neither happens before the other",
            self.thread_name(self.current()),
            place(site),
            self.thread_name(other.thread),
            if other.writes { "writes" } else { "reads" },
            place(other.site),
        );
        self.fail(FailureKind::DataRace, message, site)
    }

    /// The thread, if what it did after so many of its events (the allocation of some memory, and so its initialisation) does not happen before this point.
    pub(crate) fn unordered(&self, (thread, events): (ThreadId, u32)) -> Option<ThreadId> {
        (!self.is_ordered(thread, events, 0)).then_some(thread)
    }

    /// The access races with the initialisation of what it accesses.
    #[cold]
    pub(crate) fn uninitialised<T>(&mut self, maker: ThreadId, what: &str, site: Site) -> Step<T> {
        let message = format!(
            "data race: {} {what}s at {} what {} has allocated and initialised, and nothing orders that before",
            self.thread_name(self.current()),
            place(site),
            self.thread_name(maker),
        );
        self.fail(FailureKind::DataRace, message, site)
    }

    /// Looks at what was freed since the last operation: a free is a write of all that it frees.
    pub(super) fn look_at_frees(&mut self) {
        #[cfg(feature = "unmodified")]
        self.flush_later();
        let Some(heap) = &mut self.heap else { return };
        let double = heap.double_free.take();
        let freed = std::mem::take(&mut heap.freed);
        if let Some(at) = double {
            self.freed_twice(at);
        }
        for range in &freed {
            // At the end, statics are dropped by nobody.
            if !self.cutting {
                self.free(*range);
            }
        }
        if let Some(heap) = &mut self.heap {
            // What is there is empty, and has no memory: nothing is to be dropped.
            std::mem::forget(std::mem::replace(&mut heap.freed, freed));
            heap.freed.clear();
            heap.freed_arc = false;
        }
    }

    #[cold]
    #[inline(never)]
    fn freed_twice(&mut self, at: usize) {
        let message = format!("memory was freed twice{}", self.who_freed(at));
        let _: Step<()> = self.fail(FailureKind::DoubleFree, message, None);
    }

    /// May the memory that was freed have been owned through counts that are not seen, those of std's `Arc`? What they order is then not seen either.
    #[cold]
    #[inline(never)]
    fn may_be_owned_unseen(&self) -> bool {
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on() {
            return false;
        }
        self.options.origin != Origin::Own && self.heap.as_ref().is_some_and(|h| h.freed_arc || h.drops_arc())
    }

    fn free(&mut self, range: (usize, usize)) {
        #[cfg(feature = "unmodified")]
        if self.conflicts_between_joins(range, true) || self.conflicts_between_spawns(range, true) {
            let _: Step<()> = self.told_apart();
            return;
        }
        #[cfg(feature = "unmodified")]
        self.free_touched(range);
        if self.locations.within(range).next().is_some() || self.cells.any_in(range) || self.left_out.any_in(range) {
            self.free_accessed(range);
        }
    }

    /// Something in the range was accessed otherwise than as plain memory.
    #[inline(never)]
    fn free_accessed(&mut self, range: (usize, usize)) {
        if self.acts::<()>(true).is_some() {
            return;
        }
        if self.frees_between_joins(range) {
            let _: Step<()> = self.told_apart();
            return;
        }
        let unordered = if self.knows_all() { None } else { self.unordered_in(range) };
        self.cells.free(range);
        self.left_out.forget(range);
        self.locations.free(range);
        if let Some((thread, site)) = unordered
            && !self.may_be_owned_unseen()
        {
            self.freed_too_early(thread, site);
        }
    }

    /// What was accessed in the range, by whom and where, that does not happen before this point of the running thread.
    #[inline(never)]
    fn unordered_in(&mut self, range: (usize, usize)) -> Option<(ThreadId, Site)> {
        let plain = self.cells.unordered(range, |old| self.is_ordered(old.thread, old.events, old.left));
        let found = plain.map(|access| (access.thread, access.site)).or_else(|| self.unordered_left_out(range));
        found.or_else(|| self.unordered_access(range).map(|id| (id.thread, self.explorer.graph.site(id))))
    }

    /// An atomic access in the range that does not happen before this point of the running thread.
    fn unordered_access(&mut self, range: (usize, usize)) -> Option<EventId> {
        let mut newest = std::mem::take(&mut self.newest);
        newest.clear();
        newest.resize(self.threads.len(), EventId::INIT);
        let graph = &self.explorer.graph;
        for location in self.locations.within(range) {
            // An update is in both, which does no harm.
            for accesses in [graph.reads(location), graph.mo(location)] {
                // Those of a thread are in the order of the program, so that all but the last one are passed over.
                for &id in accesses.iter().rev() {
                    let newest = &mut newest[id.thread.slot()];
                    if (newest.is_init() || newest.index < id.index) && self.executed(id) {
                        *newest = id;
                    }
                }
            }
        }
        // If the newest one of a thread is ordered, so are the others.
        let is_unordered = |id: &EventId| !self.is_event_ordered(*id);
        let any = newest.iter().filter(|id| !id.is_init()).any(is_unordered);
        let mut all = self.locations.within(range).flat_map(|location| graph.accesses(location));
        let first = if any {
            std::hint::cold_path();
            all.find(|id| self.executed(*id) && is_unordered(id))
        } else {
            None
        };
        self.newest = newest;
        first
    }

    /// Has every other thread ended, and does all that it did happen before this point of the running thread?
    fn knows_all(&self) -> bool {
        let me = self.me_ref();
        let knows = |t: ThreadId| self.explorer.graph.knows(self.current(), me.position, t) as usize;
        let others = || self.explorer.graph.ranks().iter().copied().filter(|t| *t != self.current());
        let ended = |t: ThreadId| self.threads[t.slot()].state == State::Ended;
        others().all(ended) && others().all(|t| knows(t) > self.threads[t.slot()].position)
    }

    #[cold]
    fn freed_too_early(&mut self, thread: ThreadId, site: Site) {
        let message = format!(
            "{} frees memory that {} accesses at {}, and that access does not happen before the free\n\
             If it is shared through a `std::sync::Arc`, use `mc::sync::Arc`: the counts of the other are not seen.",
            self.thread_name(self.current()),
            self.thread_name(thread),
            place(site),
        );
        let _: Step<()> = self.fail(FailureKind::UseAfterFree, message, site);
    }

    /// Is the address, which is in no arena, in memory that outlives the execution, and that nobody puts back? That is neither on a stack, nor a static, nor of a handle.
    pub(super) fn outlives_outside(&self, at: usize) -> bool {
        self.heap.as_ref().is_some_and(|h| !h.rehearsal) && self.is_outside(at)
    }

    fn is_outside(&self, at: usize) -> bool {
        let fibers = self.threads.iter().filter_map(|t| t.fiber.as_ref());
        let of_handle = || self.threads.iter().any(|t| t.words.hold(at));
        !self.stack.holds(at) && !is_static(at) && !fibers.map(|f| f.bounds).any(|b| b.holds(at)) && !of_handle()
    }

    /// Leaves what happens before this point at an address.
    pub(crate) fn leave_clock(&mut self, at: usize) {
        // What is left after a read that may be taken back is taken back with it.
        let me = self.me_ref();
        let (kept, events) = (me.open.map_or(0, |open| open.left), me.position as u32);
        if me.acquired().next().is_some() {
            self.pass_on(at, kept);
        }
        self.notes_left(at);
        let order = self.left.make();
        self.left.leave(Left { at, thread: self.current(), events, order }, kept);
        self.left.tidy(kept);
    }

    /// A destructor that drops another owner passes on what happened before it, whoever runs it.
    fn pass_on(&mut self, at: usize, kept: usize) {
        for known in 0..self.left.len() {
            let left = self.left.get(known);
            if self.me_ref().acquired().any(|range| range.contains(&left.at) && !range.contains(&at)) {
                self.left.leave(Left { at, ..left }, kept);
            }
        }
    }

    /// A destructor begins, for which everything that was left in the range has happened.
    pub(crate) fn acquire_left(&mut self, range: Range<usize>) {
        // That does not count for what was freed before.
        if !self.cutting && self.heap.as_ref().is_some_and(|h| !h.freed.is_empty()) {
            self.look_at_frees();
        }
        self.me().acquired.push(range);
        self.ends_owned(1);
    }

    /// So many more values and blocks are ended by the last of the owners that nobody counts.
    pub(super) fn ends_owned(&mut self, more: i32) {
        if let Some(heap) = &mut self.heap {
            heap.ending = heap.ending.saturating_add_signed(more);
        }
    }

    /// The running thread asks for what another one would be told otherwise: who it is, what its thread-locals hold, whether it unwinds. In a destructor this means that it
    /// can be seen who runs it.
    pub(crate) fn asks_who_it_is(&mut self) {
        let destroys = self.me_ref().acquired().next().is_some();
        self.me().activity += u64::from(destroys);
    }

    /// The destructor that began last has ended.
    pub(crate) fn release_left(&mut self) {
        if !self.cutting && self.heap.as_ref().is_some_and(|h| !h.freed.is_empty()) {
            self.look_at_frees();
        }
        let Some(range) = self.me().acquired.pop() else { return };
        self.ends_owned(-1);
        // Only the system's allocator hands the addresses out again.
        if self.heap.is_none() {
            std::hint::cold_path();
            let kept = self.me_ref().open.map_or(0, |open| open.left);
            let kept = self.left.forget(&range, kept);
            if let Some(open) = &mut self.me().open {
                open.left = kept;
            }
        }
    }

    /// Remembers what the object of a static holds.
    pub(crate) fn remember_static(&mut self, at: usize, size: usize, drop: Rc<dyn Fn()>) {
        // What is a part of another object, such as a lock in a `LazyLock`, is dropped and put back with that.
        if self.statics.iter().any(|s| s.at <= at && at + size <= s.at + s.bytes.len()) {
            return;
        }
        // SAFETY: the shim's own object, `size` bytes in the writable data of the executable; read as plain bytes while nobody else runs.
        let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, size) }.to_vec();
        self.statics.push(Static { at, bytes, drop: Some(drop) });
    }

    /// What is to be dropped because the execution changed a static.
    pub(crate) fn drops_of_statics(&mut self) -> Vec<Rc<dyn Fn()>> {
        let changed = |s: &mut Static| {
            // SAFETY: as in `remember_static`.
            let now = unsafe { std::slice::from_raw_parts(s.at as *const u8, s.bytes.len()) };
            if now == s.bytes { None } else { s.drop.take() }
        };
        self.statics.iter_mut().filter_map(changed).collect()
    }

    /// Puts the statics back.
    #[inline]
    pub(crate) fn restore_statics(&mut self) {
        if !self.statics.is_empty() {
            self.restore_objects();
        }
        #[cfg(feature = "unmodified")]
        if self.options.origin == Origin::Unmodified {
            super::tested_data::restore();
        }
    }

    #[inline(never)]
    fn restore_objects(&mut self) {
        // One that was known before the one around it has the older bytes.
        for object in self.statics.drain(..).rev() {
            // What was an atomic in it is now what was there before: nothing is to be put back for that one alone.
            self.locations.forget_saved(object.at..object.at + object.bytes.len());
            let to = object.at as *mut u8;
            // SAFETY: as in `remember_static`; what the object owned was dropped before, and the execution is over.
            unsafe { to.copy_from_nonoverlapping(object.bytes.as_ptr(), object.bytes.len()) };
        }
    }
}
