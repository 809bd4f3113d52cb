//! What shims call: every operation of a checked thread enters the engine here.
//!
//! Each function answers `None` (or `false`) when the calling thread is not under control: outside of a check, or
//! while an execution that was cut short is torn down. The shim then does what std does, without ever blocking.
//! This is the only module that finds the engine through a thread-local; everything below it is passed `&mut`.

use std::any::Any;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The width of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Width {
    /// 8 bits
    W8,
    /// 16 bits
    W16,
    /// 32 bits
    W32,
    /// 64 bits
    W64,
}

/// What a read-modify-write does with the old value. All wrap, in the width of the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rmw {
    /// `old + operand`
    Add,
    /// `old - operand`
    Sub,
    /// `old & operand`
    And,
    /// `!(old & operand)`
    Nand,
    /// `old | operand`
    Or,
    /// `old ^ operand`
    Xor,
    /// `operand`
    Swap,
    /// The greater, both taken as signed.
    MaxSigned,
    /// The lesser, both taken as signed.
    MinSigned,
    /// The greater, both taken as unsigned.
    MaxUnsigned,
    /// The lesser, both taken as unsigned.
    MinUnsigned,
    /// A waiter joins: sets the lowest clear bit of the low half (of a 64-bit word), none when all 32 are set.
    CondvarEnqueue,
    /// Sets the high-half bit of the only waiter that has none yet; nothing when there are none or several.
    CondvarNotifySole,
    /// Sets the high-half bit of waiter `operand` if it waits and has none yet, else of the lowest such waiter, if any.
    CondvarNotifyPrefer,
    /// Sets the high-half bit of every waiter.
    CondvarNotifyAll,
}

/// The condition of a guarded read-modify-write over a 32- or 64-bit state word. A pure function of the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// `old & (1 << bit) == (set as u64) << bit`
    Bit {
        /// Which bit.
        bit: u8,
        /// Whether it must be set.
        set: bool,
    },
    /// `old & mask == want` (on the low 32 bits)
    Mask {
        /// The bits that are looked at.
        mask: u32,
        /// What they must be.
        want: u32,
    },
    /// `old & mask != unwanted` (on the low 32 bits)
    Not {
        /// The bits that are looked at.
        mask: u32,
        /// What they must not be.
        unwanted: u32,
    },
    /// `lo <= old <= hi`, signed 32-bit.
    Range {
        /// Lowest value.
        lo: i32,
        /// Highest value.
        hi: i32,
    },
}

/// What a guarded read-modify-write writes once its test holds. A pure function of the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// `(old & keep) + add`, 32 bits.
    KeepAdd {
        /// The bits that stay.
        keep: u32,
        /// What is added.
        add: u32,
    },
    /// `to` if old is `from`, otherwise old.
    Claim {
        /// The value that is replaced.
        from: u32,
        /// By this one.
        to: u32,
    },
    /// Clears bit `bit` and bit `bit + 32`: a woken waiter leaves a condition variable's word.
    ClearPair {
        /// The lower bit.
        bit: u8,
    },
}

/// A guarded read-modify-write: the thread waits until `test` holds for the old value, then writes `update` of it, in one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// When it may go on.
    pub test: Test,
    /// What it then writes.
    pub update: Update,
}

/// What an operation is to the user, for traces and for the explanation of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is named after the std method")]
pub enum Label {
    Atomic,
    MutexLock,
    MutexTryLock,
    MutexUnlock,
    RwLockRead,
    RwLockTryRead,
    RwLockReadUnlock,
    RwLockWrite,
    RwLockTryWrite,
    RwLockWriteUnlock,
    RwLockDowngrade,
    CondvarEnqueue,
    CondvarWait,
    CondvarTimeout,
    CondvarNotifyOne,
    CondvarNotifyAll,
    BarrierArrive,
    BarrierWait,
    OnceCall,
    OnceComplete,
    OnceGet,
    Park,
    Unpark,
    ArcClone,
    ArcDrop,
    ArcObserve,
    ThreadFinished,
    ThreadDone,
}

/// A thread of the running execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadKey(pub u32);

/// The payload with which an execution that is cut short unwinds its threads.
#[derive(Debug)]
pub struct Cut(());

/// Is the calling thread under control?
pub fn controlled() -> bool { false }

/// Is the calling thread's execution being torn down? Then nothing may block.
pub fn inert() -> bool { false }

/// An atomic load of `width` at `at`.
#[track_caller]
#[inline(never)]
pub fn load(at: *mut (), width: Width, order: Ordering, label: Label) -> Option<u64> { None }

/// An atomic store.
#[track_caller]
#[inline(never)]
pub fn store(at: *mut (), width: Width, value: u64, order: Ordering, label: Label) -> bool { false }

/// An atomic read-modify-write; returns the old value.
#[track_caller]
#[inline(never)]
pub fn rmw(at: *mut (), width: Width, what: Rmw, operand: u64, order: Ordering, label: Label) -> Option<u64> { None }

/// `compare_exchange` (or `_weak`); the old value, `Ok` if it was replaced.
#[track_caller]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "std's own signature, and where")]
pub fn compare_exchange(at: *mut (), width: Width, expected: u64, new: u64, success: Ordering, failure: Ordering, weak: bool, label: Label) -> Option<Result<u64, u64>> { None }

/// A guarded read-modify-write on the 32- or 64-bit state word of a blocking shim; returns the old value.
///
/// The word must be written by read-modify-writes only, and by plain stores of its only holder (`Mutex` unlocking).
#[track_caller]
#[inline(never)]
pub fn wait(at: *mut (), width: Width, guard: Guard, order: Ordering, label: Label) -> Option<u64> { None }

/// A fence.
#[track_caller]
#[inline(never)]
pub fn fence(order: Ordering) -> bool { false }

/// A data choice: one of `0..n`, each explored. `n` must not be 0. No event when `n` is 1.
#[track_caller]
#[inline(never)]
pub fn choose(n: usize) -> Option<usize> { None }

/// Drops this execution unless `condition` holds: the thread stops here, the others go on, and nothing is reported.
#[track_caller]
#[inline(never)]
pub fn assume(condition: bool) {}

/// A read of non-atomic memory, for data-race detection.
#[track_caller]
#[inline(never)]
pub fn cell_read(at: *mut (), size: usize) {}

/// A write of non-atomic memory, for data-race detection.
#[track_caller]
#[inline(never)]
pub fn cell_write(at: *mut (), size: usize) {}

/// Starts a thread that runs `body`. The shim makes sure that `body` outlives the thread (scoped threads are joined).
#[track_caller]
#[inline(never)]
pub fn spawn(name: Option<String>, stack_size: Option<usize>, body: Box<dyn FnOnce() + 'static>) -> Option<ThreadKey> { None }

/// Waits until a thread has ended; everything that it did happens before what follows.
#[track_caller]
#[inline(never)]
pub fn join(thread: ThreadKey) -> bool { false }

/// The calling thread; `ThreadKey(0)` is the body of the test.
pub fn current() -> Option<ThreadKey> { None }

/// Call this with every payload that a shim's own `catch_unwind` around a thread's body caught: it goes on unwinding if
/// the execution is being cut short, records the panic as a failure otherwise (unless the test allows panics), and gives the payload back.
pub fn caught(payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> { payload }

/// Is the calling thread (of the test, not of the operating system) unwinding? As `std::thread::panicking`.
pub fn panicking() -> bool { std::thread::panicking() }

/// A hint that this thread cannot get on (`yield_now`, `spin_loop`): no event; samplers run somebody else.
pub fn yield_now() {}

/// The virtual clock of the calling thread, since the start of the execution.
pub fn now() -> Option<Duration> { None }

/// Advances the virtual clock of the calling thread.
pub fn sleep(time: Duration) -> bool { false }

/// Something that the exploration must know from the start of the test (for example that the counts of `Arc`s of some type are looked at).
///
/// True if `key` was learned in an earlier execution. Otherwise it is learned now, this execution is cut and the exploration
/// of the test starts again: then this does not return (it unwinds). Cheap as long as keys are few: at most one restart per key.
pub fn learn(key: u64) {}

/// Was `key` learned?
pub fn learned(key: u64) -> bool { false }

/// How many events and tracked accesses the calling thread has made so far: unchanged over a call that did nothing visible.
pub fn activity() -> u64 { 0 }

/// Adds what happens before this point to the clock kept beside `at` until the end of the execution (an unobserved reference count's decrement).
pub fn leave_clock(at: *mut ()) {}

/// Runs `f` (a destructor) as if everything that was left at `at` with [`leave_clock`] happened before it, then forgets that again.
pub fn with_clocks(at: *mut (), f: impl FnOnce()) { f() }

/// Is `at` in memory that outlives an execution (a `static`), so that [`restore`] is due?
pub fn is_static(at: *const ()) -> bool { false }

/// Puts the `size` bytes at `at` back to what they are now when the execution ends, after running `drop` if they were changed.
/// The first call in an execution for an address counts. For the object of a `static` only, before its first change.
pub fn restore(at: *mut (), size: usize, drop: Box<dyn FnOnce()>) {}

/// The calling thread's values of `thread_local!`s: `(key, value, destructor)`, in order of registration. The shim runs the destructors
/// when the thread's body has ended (last registered first, as std does); the engine does so, inert, for threads that were cut.
pub fn with_locals<R>(f: impl FnOnce(&mut Locals) -> R) -> Option<R> { None }

/// See [`with_locals`].
pub type Locals = Vec<(usize, *mut (), unsafe fn(*mut ()))>;

/// Ends the execution with a failure that a shim has found (a re-entrant initialisation, too many waiters).
#[track_caller]
pub fn fail(kind: crate::outcome::FailureKind, message: String) -> ! { panic!("{message}") }

/// Is `at` the start of memory that the check's own allocator handed out, and still live? `None` when it is not in its arenas.
pub fn is_live(at: *const ()) -> Option<bool> { None }
