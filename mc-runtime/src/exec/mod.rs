//! Running the real code of a test along a graph: threads as coroutines, replay of the prefix, then extension.
//!
//! A run answers the recorded events of each thread from the graph, in an order that extends (program order or reads-from)+, so that plain
//! memory holds the right values; when all of the prefix is there, the leftmost thread that can move goes on until it must wait.
//! Not here: what the choices are (`explore`), and what a shim is (`ops` is all that is known).

/// Returns the step that an operation ends with here, if there is one. Rare: the code for it is laid out elsewhere, so that what most operations run stays together.
macro_rules! or_return {
    ($step:expr) => {
        if let Some(step) = $step {
            std::hint::cold_path();
            return step;
        }
    };
}

/// Makes `$to` what `$from` is, field by field, and keeps its memory. What it leaves out stands after `but`; nothing can be forgotten.
macro_rules! copy_fields {
    ($type:ident, $from:expr => $to:expr; $($field:ident),* but $($(#[$cfg:meta])? $left:ident),*) => {{
        let $type { $($field,)* $($(#[$cfg])? $left: _,)* } = $from;
        $($to.$field.clone_from($field);)*
    }};
}

mod access;
pub(crate) mod arena;
mod awaits;
#[cfg(feature = "unmodified")]
mod calls;
mod cells;
mod clock;
mod conclude;
mod cut;
mod fiber;
mod guards;
mod guide;
mod handed_over;
mod hash_keys;
mod headers;
mod held;
#[cfg(feature = "unmodified")]
mod instrumented;
mod last_look;
mod leaks;
mod learned;
mod left;
mod liveness;
mod locations;
mod looked;
mod memory;
mod observers;
mod older;
#[cfg(feature = "unmodified")]
mod outside;
mod overlap;
pub(crate) mod panics;
mod parts;
mod plain;
mod polls;
mod probe;
mod progress;
mod readers;
#[cfg(feature = "unmodified")]
mod recent;
#[cfg(feature = "unmodified")]
mod repeated;
mod reread;
mod reuse;
mod round;
mod rounds;
pub(crate) mod run;
mod sample;
mod settled;
#[cfg(feature = "unmodified")]
mod shadow;
mod snapshot;
mod spin;
mod state;
mod symmetry;
#[cfg(feature = "unmodified")]
pub(crate) mod tested_data;
mod thread;
mod thread_table;
mod touched;
mod turn;
mod undone;
mod unsync;
mod unused;
#[cfg(feature = "unmodified")]
mod unwritten;
mod values;
mod wakeups;
mod weak;
mod writable;

use crate::explore::{Explorer, Frontier};
use crate::ids::{EventId, ThreadId};
use crate::options::{MemoryModel, Options, Origin, Threads};
use crate::outcome::FailureKind;
pub(crate) use crate::trace::Tracer;
pub(crate) use access::Accessed;
pub(crate) use access::is_static;
use arena::Heap;
#[cfg(feature = "unmodified")]
pub(crate) use calls::{Calls, Trace, Where};
use cells::Cells;
pub(crate) use fiber::Bounds;
use fiber::Stacks;
pub(crate) use guide::{Follower, Guide};
pub use held::Until;
pub use last_look::Looked;
pub(crate) use learned::key_of;
use locations::Locations;
#[cfg(feature = "unmodified")]
pub(crate) use outside::Reached;
use progress::Progress;
use rustc_hash::FxHashSet;
pub(crate) use sample::Sampler;
use spin::Loops;
pub(crate) use state::Frame;
use std::sync::Arc;
use std::time::Instant;
pub use thread::HandleWords;
pub(crate) use thread::{Body, Life, Panicked, State, Thread, drop_rare};
use thread_table::ThreadTable;
pub(crate) use unused::Made;
#[cfg(feature = "unmodified")]
pub(crate) use unwritten::look_twice;
pub(crate) use weak::Weak;
pub(crate) use writable::{data, executable};

/// How an operation of a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<T> {
    /// It is done.
    Done(T),
    /// The thread waits: switch away, and try again when it is resumed.
    Wait,
    /// The execution is being torn down: do what std does, without blocking.
    Inert,
    /// The execution is cut: unwind the thread.
    Cut,
}

impl<T> Step<T> {
    /// As a step of what gives another value, where it is not done.
    #[cold]
    fn not_done<U>(self) -> Step<U> {
        match self {
            Step::Done(_) => unreachable!("it is done"),
            Step::Wait => Step::Wait,
            Step::Inert => Step::Inert,
            Step::Cut => Step::Cut,
        }
    }
}

/// A failure of the running execution.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Its kind.
    pub kind: FailureKind,
    /// One line, then details.
    pub message: String,
    /// Who failed.
    pub thread: ThreadId,
    /// Where.
    pub site: Option<(String, u32)>,
}

/// Why an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Every thread ended.
    Complete,
    /// Some thread waits for ever, and that is no failure of its own; or it does so at an old value, and was cut because no other execution comes from this one.
    Blocked,
    /// `Engine::failure` says what failed.
    Failed,
    /// It grew past the limit on events.
    TooLong,
    /// Something was learned; the exploration starts again.
    Restart,
}

/// Everything about the check of one test.
#[derive(Debug)]
#[repr(C)] // first what is asked for most: how far from its beginning a field is says how long an instruction is that names it
pub(crate) struct Engine {
    /// The threads, by slot.
    pub threads: ThreadTable,
    /// Virtual memory of the test; `None` when another global allocator is used.
    pub heap: Option<Box<Heap>>,
    /// How many events of the graph are the prefix, and how many of those were replayed.
    prefix: usize,
    replayed: usize,
    /// How many events of a thread are a turn.
    turn: usize,
    /// A thread left of the running one can move.
    preempt: bool,
    cutting: bool,
    /// The resumed thread may make one event, where a guide decides each one.
    granted: bool,
    /// Threads that are like each other count as such.
    symmetry: bool,
    /// Some coroutine was given up while it unwound: this thread of the operating system counts one panic too many.
    pub tainted: bool,
    restart: bool,
    too_long: bool,
    pub(crate) late: bool,
    dropped: bool,
    /// The program does not fit the schedule that is followed.
    pub off_schedule: bool,
    /// One waits at a guard, if that was asked since the running one was resumed.
    waits_left: Option<bool>,
    /// The graph and the frontier.
    pub explorer: Explorer,
    /// The events of this run, as executed.
    pub order: Vec<EventId>,
    /// Who decides.
    pub guide: Guide,
    /// What was decided about it.
    pub options: Options,
    /// The failure of this execution.
    pub failure: Option<Found>,
    /// What was learned (see `ops::learn`).
    pub learned: FxHashSet<u64>,
    alike: symmetry::Alike,
    /// A watchdog looks at it.
    pub progress: Arc<Progress>,
    /// `ops::assume` has cut an execution of the check.
    pub assumes: bool,
    /// What `ops::restore` is to put back.
    pub statics: Vec<memory::Static>,
    /// The bounds of the running stack.
    pub stack: Bounds,
    /// How many coroutines are suspended in the middle of unwinding, those that were given up counted as one.
    pub unwinding_suspended: u32,
    stacks: Stacks,
    locations: Locations,
    cells: Cells,
    loops: Loops,
    probe: probe::Probe,
    observers: observers::Observers,
    sections: Vec<crate::graph::readers::Section>,
    /// Of each thread the newest access of some memory.
    newest: Vec<EventId>,
    /// Memory that is kept.
    runnable: Vec<ThreadId>,
    shared: state::Shared,
    /// What others can change, when a thread goes on in a round.
    now: Vec<u8>,
    /// Who has the next turn, where that is known already.
    picked: Option<ThreadId>,
    /// When the check must be over, and whether an execution was cut because of that.
    pub(crate) deadline: Option<Instant>,
    pub spurious: weak::Spurious,
    /// Who could tell that memory is handed over.
    pub handed_over: handed_over::HandedOver,
    /// When its threads began to run, and when they ended.
    pub lives: Vec<Life>,
    /// Gets the events of a replay.
    pub tracer: Option<Tracer>,
    /// What is no event, since nobody reads its result.
    pub left_out: unused::LeftOut,
    left: left::Clocks,
    /// Who polls a future once more, see `last_look`.
    looking: Option<ThreadId>,
    /// Plain accesses of what is atomic otherwise.
    unsync: Vec<unsync::Unsync>,
    /// Of each of them the address, and where it is in the other list: memory that is kept.
    unsync_by_address: Vec<(usize, usize)>,
    /// The number of the running execution.
    pub number: u64,
    snapshots: snapshot::Snapshots,
    /// Bytes that outlive their executions.
    pub kept: usize,
    /// Non-atomic accesses that have begun.
    held: Vec<held::Held>,
    #[cfg(feature = "unmodified")]
    pub outside: outside::Outside,
    #[cfg(feature = "unmodified")]
    unwritten: unwritten::Unwritten,
    #[cfg(feature = "unmodified")]
    pub told: instrumented::Told,
    /// Accesses of the running thread since its open read.
    #[cfg(feature = "unmodified")]
    later: Vec<instrumented::Later>,
    /// A count of an `Arc` of std's was an event.
    #[cfg(feature = "unmodified")]
    has_seen_counts: bool,
}

/// The heap of the test, if its code allocates on one of its own.
fn heap_of(options: &Options, own_heap: bool) -> Option<Box<Heap>> {
    let heap = own_heap.then(|| Heap::of(options)).flatten();
    #[cfg(feature = "unmodified")]
    assert!(
        heap.is_some() || !crate::instrumentation::is_on_in_std(),
        "the address space for the heap of a test cannot be had, by which its code is told from the checker's"
    );
    heap.map(Box::new)
}

impl Engine {
    /// An engine for one test. With `own_heap`, [`arena::Allocator`] is the global allocator.
    pub(crate) fn new(options: Options, guide: Guide, own_heap: bool) -> Self {
        panics::tell_apart();
        Engine {
            turn: guide::turn(&options),
            explorer: Explorer::new(options.memory_model, Frontier::new(&options)),
            learned: learned::from_start(&options, &guide).collect(),
            guide,
            threads: ThreadTable::default(),
            failure: None,
            sections: Vec::new(),
            symmetry: options.reductions.symmetry,
            alike: symmetry::Alike::default(),
            progress: Arc::default(),
            assumes: false,
            heap: heap_of(&options, own_heap),
            tainted: false,
            statics: Vec::new(),
            stack: Bounds::default(),
            unwinding_suspended: 0,
            stacks: Stacks::default(),
            locations: Locations::default(),
            cells: Cells::default(),
            loops: Loops::new(options.reductions),
            probe: probe::Probe::default(),
            observers: observers::Observers::default(),
            newest: Vec::new(),
            runnable: Vec::new(),
            shared: state::Shared::default(),
            now: Vec::new(),
            prefix: 0,
            replayed: 0,
            preempt: false,
            waits_left: None,
            granted: false,
            picked: None,
            cutting: false,
            restart: false,
            too_long: false,
            deadline: None,
            late: false,
            dropped: false,
            spurious: weak::Spurious::default(),
            handed_over: handed_over::HandedOver::default(),
            off_schedule: false,
            order: Vec::new(),
            lives: Vec::new(),
            tracer: None,
            left_out: unused::LeftOut::new(&options),
            left: Default::default(),
            looking: None,
            unsync: Vec::new(),
            unsync_by_address: Vec::new(),
            number: 0,
            snapshots: snapshot::Snapshots::new(&options),
            kept: 0,
            held: Vec::new(),
            #[cfg(feature = "unmodified")]
            outside: Default::default(),
            #[cfg(feature = "unmodified")]
            unwritten: Default::default(),
            #[cfg(feature = "unmodified")]
            told: instrumented::Told::default(),
            #[cfg(feature = "unmodified")]
            later: Vec::new(),
            #[cfg(feature = "unmodified")]
            has_seen_counts: false,
            options,
        }
    }

    /// The running execution begins: its graph is the prefix.
    fn begin(&mut self) {
        self.prefix = self.explorer.graph.len();
        self.replayed = 0;
        self.number += 1;
        thread::drop_rare(&mut self.failure);
        (self.preempt, self.granted, self.picked, self.cutting) = (false, false, None, false);
        (self.restart, self.too_long, self.dropped, self.late) = (false, false, false, false);
        self.left.clear();
        self.left_out.reset();
        self.unsync.clear();
        self.held.clear();
        self.order.clear();
        self.lives.clear();
        self.unwinding_suspended = u32::from(self.tainted);
        self.threads.begin();
        self.locations.reset();
        self.locations.remembers_parts = self.loops.any() && !self.guide.decides();
        self.cells.reset();
        self.probe.stop();
        self.reset_observers();
        #[cfg(feature = "unmodified")]
        {
            self.outside.reset();
            self.told.shadow.reset();
            self.unwritten.reset();
            self.later.clear();
            self.told.calls_of_engine += 1;
        }
        let reuses = self.reuses_addresses();
        if let Some(heap) = &mut self.heap {
            heap.reset();
            heap.reuses = reuses && !heap.rehearsal;
            heap.fill = (self.loops.any() || self.explorer.observers != 0).then_some(0);
            #[cfg(feature = "unmodified")]
            {
                if self.options.uninit {
                    heap.fill = Some(self.unwritten.filling());
                }
                heap.watches_calls = self.options.origin == Origin::Unmodified;
            }
        }
        if self.guide.decides() {
            self.guide.begin();
        }
        if self.options.origin == Origin::Unmodified {
            hash_keys::reset();
        }
    }

    /// Is it still replaying its prefix?
    fn replaying(&self) -> bool {
        self.replayed < self.prefix
    }

    /// Was this event executed in this run?
    fn executed(&self, id: EventId) -> bool {
        id.is_init() || (id.index as usize) < self.threads[id.thread.slot()].position
    }

    /// The thread that runs.
    pub(crate) fn current(&self) -> ThreadId {
        self.threads.running()
    }

    fn me(&mut self) -> &mut Thread {
        self.threads.me()
    }

    fn me_ref(&self) -> &Thread {
        self.threads.me_ref()
    }

    /// Does chance decide?
    pub(crate) fn guide_samples(&self) -> bool {
        matches!(self.guide, Guide::Sample(_))
    }

    /// Is the execution being cut?
    pub(crate) fn is_cutting(&self) -> bool {
        self.cutting
    }

    /// What every operation does first. `None`: go on.
    fn enter<T>(&mut self) -> Option<Step<T>> {
        self.progress.count_operation();
        if !self.cutting && self.heap.as_ref().is_some_and(|h| !h.freed.is_empty() || h.double_free.is_some()) {
            self.look_at_frees();
        }
        #[cfg(feature = "unmodified")]
        self.end_drops(true);
        if self.probe.runs() {
            return Some(self.fails_probe());
        }
        self.cutting.then(|| self.cut_step())
    }

    /// This event of the running thread was executed.
    #[inline(always)]
    fn executed_event(&mut self, id: EventId) {
        let me = self.threads.me();
        self.order.push(id);
        me.position += 1;
        me.activity += 1;
        me.waiting = None;
        (me.entered, me.repeats) = (false, None);
        if let Some(heap) = &mut self.heap {
            heap.events = me.position as u32;
        }
    }

    /// The memory model, for the ordering of accesses: under `sc` each is `SeqCst`, and so synchronises.
    fn sequential(&self) -> bool {
        self.options.memory_model == MemoryModel::Sc
    }

    /// Is the running thread itself unwinding, given that std says that somebody is?
    pub(crate) fn current_is_unwinding(&self) -> bool {
        // Only where coroutines share a count, and another is suspended in the middle of unwinding, can std mean that one.
        let own = self.options.threads == Threads::Os || panics::are_told_apart();
        own || self.unwinding_suspended == 0 || self.threads.me_ref().panicked.is_some()
    }
}
