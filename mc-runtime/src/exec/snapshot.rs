//! Snapshots: an execution goes on from where an earlier one was, instead of being replayed from its start.
//!
//! Between two turns all threads are suspended, and all that an execution is stands in memory at addresses that are the same each time: the stacks, the arenas, the atomics of statics, and what the
//! engine knows of them. A snapshot holds a copy of that. It fits a prefix that begins with the same events; what the prefix has beyond them is replayed.
//! The argument is in `docs/snapshots.md`. Not here: what an execution changes in memory that outlives it (`world`).

mod world;

use super::arena;
use super::fiber::{Fiber, Kept};
use super::run::{TestBody, execute};
use super::state::memory;
use super::thread::{Body, Life, State, Thread};
use super::{Ending, Engine, Found, Guide, cells, held, left, locations, memory as statics, unsync, unused};
use crate::ids::{EventId, ThreadId};
use crate::message::ENVIRONMENT;
use crate::options::{Options, Origin, Strategy, Threads};
use crate::worker::NO_SNAPSHOTS;
use std::env;
use std::ptr;
use world::{World, reaches_outside};

/// So many are kept. One that was taken earlier goes first.
const MOST: usize = 16;

/// An execution with more than so many bytes in arenas and stacks is replayed.
const MOST_BYTES: usize = 256 << 10;

/// After how many events one is taken, if nobody says: where a replay takes longer than a copy.
const OFTEN: u32 = 32;

/// When nothing can be copied, it is tried again after so many events.
const RETRY: usize = 4;

/// The snapshots of a check, depth first.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    /// After how many events one is taken; 0: none is.
    every: usize,
    /// Each goes on from the one before it, where that is of the same graph or of one below.
    all: Vec<Snapshot>,
    /// Memory that is kept.
    spare: Vec<Snapshot>,
    /// The next one is taken when there are so many events.
    due: usize,
    /// There was an execution that is long enough.
    pays: bool,
    /// Was it asked whether the body reaches outside?
    asked: bool,
    /// Something that a rehearsal has made outlives it.
    outlived: bool,
    /// The running execution began with one.
    resumed: bool,
    /// It is run once more.
    again: bool,
    world: World,
}

/// What a thread was.
#[derive(Debug, Default)]
struct Suspended {
    thread: Thread,
    fiber: Option<Kept>,
    stack: Vec<u8>,
    /// Its code, if it has not run.
    body: Option<*mut dyn FnOnce()>,
}

/// An execution between two turns.
#[derive(Debug, Default)]
struct Snapshot {
    /// How many graphs are below the one that it is of, and of how many of its events.
    level: usize,
    events: usize,
    /// By slot; the first so many count.
    count: usize,
    threads: Vec<Suspended>,
    heap: arena::Snapshot,
    order: Vec<EventId>,
    lives: Vec<Life>,
    locations: locations::Locations,
    /// By slot, what they held before they were written.
    initial: Vec<u64>,
    cells: cells::Cells,
    left: left::Clocks,
    left_out: unused::LeftOut,
    unsync: Vec<unsync::Unsync>,
    held: Vec<held::Held>,
    statics: Vec<statics::Static>,
    /// What it has changed of what outlives it.
    changes: Vec<world::Change>,
}

/// Copies what engine and snapshot both have of an execution, under the same names.
macro_rules! copy_execution {
    ($from:expr => $to:expr) => {{
        $to.order.clone_from(&$from.order);
        $to.lives.clone_from(&$from.lives);
        $to.locations.copy_from(&$from.locations);
        $to.cells.copy_from(&$from.cells);
        $to.left.copy_from(&$from.left);
        $to.left_out.copy_from(&$from.left_out);
        $to.unsync.clone_from(&$from.unsync);
        $to.held.clone_from(&$from.held);
        $to.statics.clone_from(&$from.statics);
    }};
}

/// Does nothing else run in this process that changes statics of the test? The tests of the engine have none.
fn is_alone() -> bool {
    cfg!(feature = "axioms") || env::var_os(ENVIRONMENT).is_some()
}

impl Snapshots {
    pub(super) fn new(options: &Options) -> Self {
        let fits = options.strategy == Strategy::Dfs
            && options.threads == Threads::Coroutines
            && options.origin != Origin::Unmodified
            && is_alone()
            && env::var_os(NO_SNAPSHOTS).is_none();
        // A test of one's own may call other libraries, and open files: what these have is in no snapshot.
        let by_default = if options.origin == Origin::Foreign { OFTEN } else { 0 };
        let every = if fits { options.snapshots.unwrap_or(by_default) } else { 0 };
        if every > 0 {
            super::data(); // made by the checker now, not by the rehearsal, which leaves it behind
        }
        Snapshots { every: every as usize, due: usize::MAX, ..Self::default() }
    }

    /// Is it time for one?
    #[inline(always)]
    pub(super) fn is_due(&self, events: usize) -> bool {
        events >= self.due
    }

    /// From here on there are none.
    fn stop(&mut self) {
        self.every = 0;
        self.due = usize::MAX;
        self.forget_all();
    }

    fn forget_all(&mut self) {
        self.spare.append(&mut self.all);
        self.spare.truncate(MOST);
    }
}

impl Engine {
    /// A rehearsal is over. Does something outlive it that it has made?
    pub(crate) fn was_rehearsed(&mut self, outlives: bool) {
        self.snapshots.outlived |= outlives;
    }

    /// An execution is over, which was this long.
    #[inline]
    pub(super) fn was_long(&mut self) {
        self.snapshots.pays |= self.order.len() >= self.snapshots.every && !self.rehearses();
    }

    /// Other coroutines than those of the snapshots run from here on, or on another thread of the operating system.
    pub(crate) fn forget_snapshots(&mut self) {
        self.snapshots.forget_all();
    }

    /// Did the running execution begin with one?
    pub(crate) fn goes_on_from_snapshot(&self) -> bool {
        self.snapshots.resumed
    }

    /// The execution is run once more, for comparison.
    pub(super) fn runs_again(&self) -> bool {
        self.snapshots.again
    }

    /// An execution begins. Can it go on from a snapshot? Then it does.
    #[inline]
    pub(super) fn goes_on(&mut self, body: &TestBody) -> bool {
        let snapshots = &mut self.snapshots;
        (snapshots.resumed, snapshots.due) = (false, usize::MAX);
        snapshots.every > 0 && snapshots.pays && !snapshots.again && self.finds_snapshot(body)
    }

    #[inline(never)]
    fn finds_snapshot(&mut self, body: &TestBody) -> bool {
        let explores = matches!(self.guide, Guide::Explore) && self.explorer.observers == 0 && self.tracer.is_none();
        #[cfg(feature = "unmodified")]
        let explores = explores && !crate::instrumentation::is_on();
        if !explores || self.rehearses() {
            return false;
        }
        let is_new = !std::mem::replace(&mut self.snapshots.asked, true);
        if is_new && self.changes_outside(body) {
            self.snapshots.stop();
            return false;
        }
        let Some(heap) = &self.heap else { return false };
        if !self.snapshots.world.begin(heap) {
            self.snapshots.forget_all();
        }
        if self.snapshots.world.size() > MOST_BYTES {
            self.snapshots.stop();
            return false;
        }
        let Some(index) = self.deepest() else {
            self.snapshots.due = self.snapshots.every;
            return false;
        };
        let snapshot = std::mem::take(&mut self.snapshots.all[index]);
        self.put_back_snapshot(&snapshot);
        self.snapshots.due = snapshot.events + self.snapshots.every;
        self.snapshots.all[index] = snapshot;
        self.snapshots.resumed = true;
        true
    }

    /// Might a test change what no snapshot holds, before its executions end?
    fn changes_outside(&self, body: &TestBody) -> bool {
        // The tests of the engine only collect there what whole executions came to.
        !cfg!(feature = "axioms") && (self.snapshots.outlived || reaches_outside(body))
    }

    /// The snapshot with the most events that fits the graph.
    fn deepest(&mut self) -> Option<usize> {
        let depth = self.explorer.frontier.depth();
        let unchanged = self.explorer.graph.unchanged();
        self.explorer.graph.looked_at();
        let Snapshots { all, spare, .. } = &mut self.snapshots;
        spare.extend(all.extract_if(.., |s| s.level > depth || s.level == depth && s.events > unchanged));
        let explorer = &self.explorer;
        let graph = |level| if level == depth { &explorer.graph } else { explorer.frontier.below(level) };
        let (mut level, mut bound) = (depth, usize::MAX);
        self.snapshots.all.iter().rposition(|snapshot| {
            while level > snapshot.level {
                bound = bound.min(graph(level).shared());
                level -= 1;
            }
            let fits = snapshot.events <= bound.min(graph(level).unchanged());
            fits && self.heap.as_ref().is_some_and(|heap| heap.suits(&snapshot.heap)) && self.has_stacks(snapshot)
        })
    }

    fn has_stacks(&self, snapshot: &Snapshot) -> bool {
        let kept = snapshot.threads[..snapshot.count].iter().enumerate();
        kept.filter_map(|(slot, s)| Some((slot, s.fiber.as_ref()?)))
            .all(|(slot, kept)| self.stacks.has_at(slot, kept.base()))
    }

    /// Between two turns: takes a snapshot if it is time for one.
    #[inline(always)]
    pub(super) fn takes_snapshot(&mut self) {
        if self.snapshots.is_due(self.order.len()) && !self.replaying() {
            self.take_snapshot();
        }
    }

    #[inline(never)]
    fn take_snapshot(&mut self) {
        let events = self.order.len();
        let taken = self.is_quiet() && {
            let snapshots = &mut self.snapshots;
            if snapshots.all.len() == MOST {
                let first = snapshots.all.remove(0);
                snapshots.spare.push(first);
            }
            let mut snapshot = snapshots.spare.pop().unwrap_or_default();
            let is_whole = self.copy_to(&mut snapshot);
            let to = if is_whole { &mut self.snapshots.all } else { &mut self.snapshots.spare };
            to.push(snapshot);
            is_whole
        };
        self.snapshots.due = events + if taken { self.snapshots.every } else { RETRY };
    }

    /// Is everything that the execution is in what a snapshot holds?
    fn is_quiet(&self) -> bool {
        let Some(heap) = &self.heap else { return false };
        let ranks = self.explorer.graph.ranks();
        let quiet = !self.cutting
            && self.failure.is_none()
            && self.order.len() == self.explorer.graph.len()
            && self.unwinding_suspended == 0
            && !self.probe.is_on()
            && self.looking.is_none()
            && heap.can_be_kept()
            && ranks.iter().all(|t| self.threads[t.slot()].is_quiet());
        let stack = |t: &ThreadId| {
            let thread = &self.threads[t.slot()];
            let base = thread.fiber.as_ref().map_or(thread.suspended_at, |fiber| fiber.bounds.base);
            if thread.state == State::Ended { 0 } else { base - thread.suspended_at }
        };
        quiet && heap.size() + ranks.iter().map(stack).sum::<usize>() <= MOST_BYTES
    }

    /// Makes the snapshot one of the execution as it is now. Whether it is whole.
    fn copy_to(&mut self, snapshot: &mut Snapshot) -> bool {
        let slots = self.explorer.graph.slots();
        (snapshot.level, snapshot.events, snapshot.count) = (self.explorer.frontier.depth(), self.order.len(), slots);
        if snapshot.threads.len() < slots {
            snapshot.threads.resize_with(slots, Suspended::default);
        }
        for (mine, thread) in snapshot.threads.iter_mut().zip(&self.threads[..slots]) {
            if !mine.copy_from(thread) {
                return false;
            }
        }
        if let Some(heap) = &self.heap {
            heap.keep_in(&mut snapshot.heap);
        }
        copy_execution!(self => snapshot);
        snapshot.initial.clear();
        let graph = &self.explorer.graph;
        snapshot.initial.extend(self.locations.bound().map(|location| graph.initial(location)));
        self.snapshots.world.changes(&mut snapshot.changes);
        true
    }

    /// Makes the execution, which has just begun, what it was.
    fn put_back_snapshot(&mut self, snapshot: &Snapshot) {
        copy_execution!(snapshot => self);
        for (location, value) in self.locations.bound().zip(&snapshot.initial) {
            self.explorer.graph.set_initial(location, *value);
        }
        self.replayed = snapshot.events;
        if let Some(heap) = &mut self.heap {
            heap.put_back(&snapshot.heap);
        }
        self.snapshots.world.put_back(&snapshot.changes);
        for slot in 0..snapshot.count {
            let thread = ThreadId(slot as u32);
            self.threads.ensure(thread);
            // SAFETY: all else that its stack has pointers to has just been put back, and it is resumed by nobody but `execute`.
            unsafe { self.put_back_thread(thread, &snapshot.threads[slot]) };
        }
    }

    /// # Safety
    /// What the stack of the thread has pointers to is what it was.
    unsafe fn put_back_thread(&mut self, id: ThreadId, kept: &Suspended) {
        let thread = &mut self.threads[id.slot()];
        thread.copy_from(&kept.thread);
        // What it waits for is found out again.
        let waits = matches!(thread.state, State::Guard | State::Source(_) | State::Replayed);
        thread.state = if waits { State::Ready } else { thread.state };
        thread.body = kept.body.map(|body| {
            // SAFETY: the arena in which it lies holds it as it was before it was taken out.
            Body::Once(unsafe { Box::from_raw(body) })
        });
        if let Some(fiber) = &kept.fiber {
            let (start, size) = fiber.used;
            // Where states are compared, what is below is as new.
            let below = self.loops.compared().saturating_sub(size).min(start - fiber.limit());
            // SAFETY: our caller's promise; the stack waits in the pool (`has_stacks`), nothing runs on it, and `size` bytes at its end are all of it that the coroutine uses.
            thread.fiber = unsafe {
                ptr::write_bytes((start - below) as *mut u8, 0, below);
                ptr::copy_nonoverlapping(kept.stack.as_ptr(), start as *mut u8, size);
                Fiber::again(fiber, &mut self.stacks, id.slot()).map(Box::new)
            };
            self.settle(id);
        }
    }

    /// A failure that an execution from a snapshot has is one only if it has it from the start, too. Otherwise something is not in the snapshots that the test changes: without them, the exploration starts again.
    #[inline]
    pub(crate) fn confirm(&mut self, ending: Ending, body: &TestBody) -> Ending {
        if self.snapshots.resumed && self.failure.is_some() { self.confirm_failure(body) } else { ending }
    }

    #[cold]
    #[inline(never)]
    fn confirm_failure(&mut self, body: &TestBody) -> Ending {
        let what = |found: &Found| (found.kind, found.thread, found.site.clone());
        let found = self.failure.take().map(|found| what(&found));
        let items = self.explorer.frontier.len();
        self.snapshots.again = true;
        let again = execute(self, body);
        self.snapshots.again = false;
        self.explorer.frontier.truncate(items);
        if self.failure.as_ref().map(what) == found {
            return again;
        }
        self.failure = None;
        self.snapshots.stop();
        Ending::Restart
    }
}

impl Suspended {
    /// Makes it what the thread is. Whether that can be.
    fn copy_from(&mut self, thread: &Thread) -> bool {
        self.thread.copy_from(thread);
        (self.fiber, self.body) = (None, None);
        self.stack.clear();
        match (&thread.fiber, &thread.body) {
            (None, None) => true,
            (None, Some(Body::Once(body))) => {
                self.body = Some(ptr::from_ref(&**body).cast_mut());
                true
            }
            (Some(fiber), None) => {
                let Some(kept) = fiber.keep(thread.suspended_at) else { return false };
                self.stack.extend_from_slice(memory(kept.used.0, kept.used.1));
                self.fiber = Some(kept);
                true
            }
            _ => false,
        }
    }
}
