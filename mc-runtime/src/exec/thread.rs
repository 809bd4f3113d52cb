//! A thread of the running execution.

use super::fiber::{Fiber, Suspender};
use super::spin::Rounds;
use super::symmetry::{Likeness, Row};
use super::wakeups::Woken;
use super::weak::{Failed, Run};
use crate::graph::Site;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{BlockReason, Operation};
use crate::ops::Locals;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// No number of events.
const NEVER: usize = usize::MAX;

/// What a thread waits for, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not (yet) spawned in this execution.
    Absent,
    /// Spawned, and has not run.
    Unstarted,
    /// Can run.
    Ready,
    /// Has replayed all of its prefix, and waits for the others to do so.
    Replayed,
    /// Replays: waits for the event that its next one reads from.
    Source(EventId),
    /// Waits for the guard of `Thread::waiting`.
    Guard,
    /// Waits for a write that it has not tried to read, as `Thread::waiting` says.
    Await,
    /// Waits for a thread to end.
    Join(ThreadId),
    /// Stopped for good.
    Blocked(BlockReason),
    /// Ended.
    Ended,
    /// Would not unwind when the execution was cut; never resumed.
    Abandoned,
}

/// What a thread waits for, for the explanation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// The operation.
    pub operation: Operation,
    /// On what.
    pub location: LocationId,
    /// Where.
    pub site: Site,
}

/// A read that may be taken back, and what else is to be put back then: what the state of a thread does not hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// The read.
    pub read: EventId,
    /// The thread's clock before it.
    pub clock: Duration,
    /// How many clocks had been left anywhere before it.
    pub left: usize,
    /// The thread is put back to it then, see `older`.
    pub again: Option<Unseen>,
    /// What `Explorer::same_way` says of it.
    pub same_way: bool,
}

/// What neither the state of a thread nor its events show of what it has done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unseen {
    /// How much it has chosen for weak compare-exchanges to come.
    weak: usize,
    weakly_failed: usize,
    failed: Option<Failed>,
    strays: bool,
    drawn: u64,
}

/// A panic that reached the end of a thread, or was just raised.
#[derive(Clone, Debug)]
pub(crate) struct Panicked {
    /// The message.
    pub message: String,
    /// Where it was raised.
    pub site: Option<(String, u32)>,
}

/// A thread began to run, or ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    /// How many events had been executed before.
    pub before: usize,
    /// How many operations had been left out.
    pub left_out: usize,
    pub thread: ThreadId,
    /// It ended.
    pub over: bool,
}

/// The words that the handles of a thread share with it, 0 when it starts.
#[derive(Debug, Default)]
pub struct HandleWords {
    /// 1 while there is a park token.
    pub token: AtomicU32,
    /// 1 once its result is there, if anybody asks for that before it has ended.
    pub done: AtomicU32,
}

impl HandleWords {
    /// Is the address in one of them?
    pub(super) fn hold(&self, at: usize) -> bool {
        let start = std::ptr::from_ref(self).addr();
        (start..start + size_of::<Self>()).contains(&at)
    }
}

/// A thread.
#[derive(Debug)]
#[repr(C)] // first what is asked for most: how far from its beginning a field is says how long an instruction is that names it
pub(crate) struct Thread {
    /// What it waits for.
    pub state: State,
    /// It has come to its next access before, and had to wait there.
    pub entered: bool,
    /// Somebody has asked which thread it is.
    pub is_told_apart: bool,
    pub has_result: bool,
    /// It waits until a time is over at the latest, see `ops::TimeOut`.
    pub has_time_out: bool,
    /// How many events it has executed.
    pub position: usize,
    /// So many events of the graph come before its last one that has an effect, when it starts; all, if it ends then.
    pub settled: usize,
    /// How many they were when it had last joined a thread: as many as now if that was the last of them.
    pub joined: usize,
    /// It came to that access with the state of an earlier round, of so many reads; or it stops before its next event for another reason: [`NO_ROUND`](crate::operation::NO_ROUND).
    pub repeats: Option<u32>,
    /// If it [repeats](Self::repeats): it came to the access with which the round had begun.
    pub comes_back: bool,
    /// Events and tracked accesses, see `ops::activity`.
    pub activity: u64,
    /// Its stack.
    pub fiber: Option<Box<Fiber>>,
    /// Set when it runs for the first time.
    pub suspender: Option<Suspender>,
    /// While it is suspended: the lowest address of its stack that it uses.
    pub suspended_at: usize,
    /// Its virtual clock.
    pub clock: Duration,
    /// Its code, before it has started.
    pub body: Option<Body>,
    /// The loads since its last event with an effect.
    pub rounds: Rounds,
    /// The threads that it spawned last.
    pub row: Row,
    /// Of the thread that it is about to spawn, or waits to.
    pub likeness: Likeness,
    /// Memory for the next one.
    pub spare: Option<Box<Fiber>>,
    /// As given by `Builder::name`.
    pub name: Option<String>,
    /// As given by `Builder::stack_size`.
    pub stack_size: usize,
    /// Where they are for as long as the check lasts.
    pub words: Box<HandleWords>,
    /// Its thread-locals.
    pub locals: Locals,
    /// How many random numbers it has drawn.
    pub drawn: u64,
    /// What it was after each time that the thread slept, with how many events the thread had made by then.
    pub sleeps: Vec<(u32, Duration)>,
    /// Its result, once somebody has joined it.
    pub result: Vec<u8>,
    /// See [`Waiting`].
    pub waiting: Option<Waiting>,
    /// What others can change, when it was left in a round.
    pub left: Vec<u8>,
    /// Its last event, if that is a read that may be taken back.
    pub open: Option<Open>,
    /// The values that it has read in vain where it is.
    pub tried: Vec<u64>,
    /// The writes that the memory model does not let it read where it is.
    pub unreadable: Vec<EventId>,
    /// How many of its weak compare-exchanges have failed spuriously.
    pub spurious: u32,
    /// What was chosen for those to come.
    pub weak: Vec<Run>,
    /// Those that have failed since they last succeeded.
    pub weakly_failed: Vec<*const std::panic::Location<'static>>,
    /// Its last weak compare-exchange that failed for no reason, until it comes to the next one.
    pub failed: Option<Failed>,
    /// After such a failure it has done something else than to come back.
    pub strays: bool,
    /// How often it was woken spuriously.
    pub wakeups: u32,
    /// When that was the last time, and it has not waited again.
    pub woken: Option<Woken>,
    /// After a spurious wake-up it went on without looking again.
    pub unlooked: bool,
    /// Addresses whose clocks count as known while a destructor runs.
    pub acquired: Vec<Range<usize>>,
    /// The load of std's that it has made last, if nothing has come after.
    #[cfg(feature = "unmodified")]
    pub repeated: Option<super::repeated::Repeated>,
    /// What it has returned, as the C library has it.
    #[cfg(feature = "unmodified")]
    pub returned: usize,
    /// The calls that it is in, while it does not run.
    #[cfg(feature = "unmodified")]
    pub calls: super::calls::Calls,
    /// How often it wrote or read, while it dropped one, what others can see or change.
    #[cfg(feature = "unmodified")]
    pub shared_accesses: u64,
    /// The blocks that it has read then: others can change those that are not freed with the value.
    #[cfg(feature = "unmodified")]
    pub read_in_drops: Vec<usize>,
    /// A count of an `Arc` of std's was an event of it.
    #[cfg(feature = "unmodified")]
    pub has_seen_count: bool,
    /// The `Arc`s of std's whose values it is dropping.
    #[cfg(feature = "unmodified")]
    pub dropping: Vec<super::instrumented::Dropping>,
    /// The last panic.
    pub panicked: Option<Panicked>,
    /// How often the cut was raised in it.
    pub raised: u32,
    /// How many operations it made while the execution was torn down.
    pub inert: u32,
    /// Operations of a cut execution do nothing here, instead of unwinding.
    pub only_inert: bool,
}

/// The code of a thread.
pub(crate) enum Body {
    /// The body of the test: the same in each execution, and whoever executes it keeps it.
    Test(*const (dyn Fn() + Send + Sync)),
    /// What it has started.
    Once(Box<dyn FnOnce()>),
}

impl Body {
    /// Runs it.
    pub(crate) fn run(self) {
        match self {
            // SAFETY: `execute` borrows it for as long as it runs threads.
            Body::Test(body) => unsafe { (*body)() },
            Body::Once(body) => body(),
        }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Body")
    }
}

impl Thread {
    /// The ranges where clocks were left that count for what it does now.
    pub(super) fn acquired(&self) -> impl Iterator<Item = Range<usize>> {
        let ranges = self.acquired.iter().cloned();
        #[cfg(feature = "unmodified")]
        let ranges = ranges.chain(self.dropping.iter().map(super::instrumented::Dropping::counts));
        ranges
    }
}

impl Default for Thread {
    fn default() -> Self {
        Thread {
            state: State::Absent,
            position: 0,
            joined: NEVER,
            settled: 0,
            fiber: None,
            spare: None,
            body: None,
            suspender: None,
            suspended_at: 0,
            name: None,
            stack_size: 0,
            words: Box::default(),
            locals: Vec::new(),
            clock: Duration::ZERO,
            sleeps: Vec::new(),
            activity: 0,
            row: Row::default(),
            likeness: Likeness::default(),
            is_told_apart: false,
            result: Vec::new(),
            has_result: false,
            waiting: None,
            has_time_out: false,
            rounds: Rounds::default(),
            left: Vec::new(),
            entered: false,
            repeats: None,
            comes_back: false,
            open: None,
            tried: Vec::new(),
            unreadable: Vec::new(),
            spurious: 0,
            drawn: 0,
            weak: Vec::new(),
            weakly_failed: Vec::new(),
            failed: None,
            strays: false,
            wakeups: 0,
            woken: None,
            unlooked: false,
            acquired: Vec::new(),
            #[cfg(feature = "unmodified")]
            repeated: None,
            #[cfg(feature = "unmodified")]
            returned: 0,
            #[cfg(feature = "unmodified")]
            calls: super::calls::Calls::default(),
            #[cfg(feature = "unmodified")]
            shared_accesses: 0,
            #[cfg(feature = "unmodified")]
            read_in_drops: Vec::new(),
            #[cfg(feature = "unmodified")]
            has_seen_count: false,
            #[cfg(feature = "unmodified")]
            dropping: Vec::new(),
            panicked: None,
            raised: 0,
            inert: 0,
            only_inert: false,
        }
    }
}

/// Empties what is hardly ever there.
#[inline]
pub(crate) fn drop_rare<T>(place: &mut Option<T>) {
    if place.is_some() {
        empty(place);
    }
}

#[cold]
#[inline(never)]
fn empty<T>(place: &mut Option<T>) {
    *place = None;
}

/// Puts something where nothing is, as a rule.
pub(super) fn fill<T>(place: &mut Option<T>, value: T) {
    drop_rare(place);
    // Nothing is to be dropped.
    std::mem::forget(place.replace(value));
}

impl Thread {
    /// Makes it as new, and keeps its memory.
    pub(crate) fn reset(&mut self) {
        self.state = State::Absent;
        (self.position, self.joined, self.settled) = (0, NEVER, 0);
        self.suspender = None;
        drop_rare(&mut self.name);
        self.stack_size = 0;
        self.words.token.store(0, Ordering::Relaxed);
        self.words.done.store(0, Ordering::Relaxed);
        self.locals.clear();
        self.clock = Duration::ZERO;
        self.sleeps.clear();
        self.activity = 0;
        self.row.clear();
        self.likeness.code = 0;
        (self.is_told_apart, self.has_result) = (false, false);
        (self.waiting, self.has_time_out) = (None, false);
        self.rounds.clear();
        (self.entered, self.repeats, self.open) = (false, None, None);
        self.forget_tries();
        self.spurious = 0;
        self.drawn = 0;
        self.weak.clear();
        self.weakly_failed.clear();
        (self.wakeups, self.woken, self.unlooked) = (0, None, false);
        (self.failed, self.strays) = (None, false);
        self.acquired.clear();
        #[cfg(feature = "unmodified")]
        {
            (self.repeated, self.returned) = (None, 0);
            self.calls.clear();
            self.shared_accesses = 0;
            self.read_in_drops.clear();
            self.has_seen_count = false;
            self.dropping.clear();
        }
        drop_rare(&mut self.panicked);
        self.raised = 0;
        self.inert = 0;
        self.only_inert = false;
    }

    /// Is all that it is in what [`Thread::copy_from`] copies, its code, and its stack?
    pub(super) fn is_quiet(&self) -> bool {
        let between_rounds = match self.state {
            State::Await | State::Abandoned | State::Absent => false,
            State::Ready | State::Replayed | State::Source(_) => self.rounds.is_empty(),
            // What it does next ends a round.
            State::Unstarted | State::Guard | State::Join(_) | State::Blocked(_) | State::Ended => true,
        };
        between_rounds
            && self.open.is_none()
            && self.repeats.is_none()
            && self.panicked.is_none()
            && self.tried.is_empty()
    }

    /// Makes it what the other was, but for its code and its stack, where it was between two turns and in no round of a loop.
    pub(super) fn copy_from(&mut self, other: &Self) {
        copy_fields!(Thread, other => self;
            state, position, joined, suspender, suspended_at, name, stack_size, locals, drawn, clock, sleeps, activity, row, likeness,
            is_told_apart, result, has_result, waiting, has_time_out, entered, tried, unreadable, spurious, weak,
            weakly_failed, failed, strays, wakeups, woken, unlooked, acquired, panicked, raised, inert, only_inert
            but words, fiber, spare, body, settled, rounds, left, repeats, comes_back, open,
            #[cfg(feature = "unmodified")] repeated,
            #[cfg(feature = "unmodified")] returned,
            #[cfg(feature = "unmodified")] calls,
            #[cfg(feature = "unmodified")] shared_accesses,
            #[cfg(feature = "unmodified")] read_in_drops,
            #[cfg(feature = "unmodified")] has_seen_count,
            #[cfg(feature = "unmodified")] dropping
        );
        self.left.clear();
        self.rounds.undone.clear();
        let words = |of: &HandleWords| [of.token.load(Ordering::Relaxed), of.done.load(Ordering::Relaxed)];
        let [token, done] = words(&other.words);
        self.words.token.store(token, Ordering::Relaxed);
        self.words.done.store(done, Ordering::Relaxed);
    }

    /// To be [put back](Self::put_back) later.
    pub(super) fn unseen(&self) -> Unseen {
        let (failed, strays, drawn) = (self.failed, self.strays, self.drawn);
        Unseen { weak: self.weak.len(), weakly_failed: self.weakly_failed.len(), failed, strays, drawn }
    }

    /// Can it be put back? A choice that was used up cannot.
    pub(super) fn has_as_many_choices(&self, before: &Unseen) -> bool {
        self.weak.len() == before.weak
    }

    pub(super) fn put_back(&mut self, before: &Unseen) {
        self.weakly_failed.truncate(before.weakly_failed);
        (self.failed, self.strays, self.drawn) = (before.failed, before.strays, before.drawn);
    }

    /// It does not wait where it was any more.
    pub(super) fn forget_tries(&mut self) {
        self.tried.clear();
        self.unreadable.clear();
    }
}
