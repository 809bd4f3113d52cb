//! What shims call: every operation of a checked thread enters the engine here.
//!
//! Each function answers `None` (or `false`) when the calling thread is not under control: outside of a check, or
//! while an execution that was cut short is torn down. The shim then does what std does, without ever blocking.
//! This is the only room that finds the engine through a thread-local (`context`); everything below it is passed `&mut`.

mod context;
mod entry;
mod kinds;
mod reuse;
mod unordered;
mod weak;

use crate::exec::{Body, Engine, State, drop_rare, is_static as in_writable_data};
pub use crate::exec::{HandleWords, Looked, Until};
use crate::ids::ThreadId;
use crate::operation::{Code, Operation, Order};
use crate::options::Strategy;
use crate::outcome::FailureKind;
pub use context::{Cut, bytes, is_of_execution, parent};
#[cfg(feature = "unmodified")]
pub(crate) use context::{access_plainly, as_checker, note_call, runs_test, stop_for_good, wait_or_stop};
#[cfg(feature = "unmodified")]
pub use context::{as_system, is_called_by_test};
pub(crate) use context::{
    ask_engine, ends, enter_engine, is_cut, is_only_inert, leave_engine, set_only_inert, wait_for, with_engine,
};
use entry::access;
pub use kinds::{Guard, Label, NO_MESSAGE, RECEIVER_GONE, Rmw, Test, Update, Width};
pub use reuse::OWNER_ORDER;
pub(crate) use reuse::reuse;
use std::any::Any;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;
pub use unordered::{BARRIER_ORDER, READER_ORDER, arrive, pass, read_lock, read_unlock, write_lock};
pub use weak::compare_exchange;

/// A thread of the running execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadKey(pub u32);

/// Is the calling thread under control?
pub fn controlled() -> bool {
    ask_engine(|e| !e.is_cutting()).unwrap_or(false)
}

/// Is the calling thread of an execution that is being torn down? Then nothing may block.
pub fn inert() -> bool {
    is_cut()
}

fn operation(code: Code, operands: (u64, u64), width: Width, order: Ordering, label: Label) -> Operation {
    let order = Order::from(order);
    Operation { a: operands.0, b: operands.1, code, order, failure: order, width, label }
}

/// An atomic load of `width` at `at`.
#[track_caller]
#[inline(always)]
pub fn load(at: *mut (), width: Width, order: Ordering, label: Label) -> Option<u64> {
    access(at, operation(Code::Load, (0, 0), width, order, label)).map(|a| a.old)
}

/// An atomic store.
#[track_caller]
#[inline(always)]
pub fn store(at: *mut (), width: Width, value: u64, order: Ordering, label: Label) -> bool {
    access(at, operation(Code::Store, (value, 0), width, order, label)).is_some()
}

/// An atomic read-modify-write; returns the old value.
#[track_caller]
#[inline(always)]
pub fn rmw(at: *mut (), width: Width, what: Rmw, operand: u64, order: Ordering, label: Label) -> Option<u64> {
    access(at, operation(Code::Rmw(what), (operand, 0), width, order, label)).map(|a| a.old)
}

/// Is the calling thread, which is about to wait, woken for no reason? That is a data choice like any other, made at most
/// `Options::spurious_wakeups` times by each thread. If so, the shim does what it does after a wait, and then calls [`woken_spuriously`].
#[track_caller]
#[inline(never)]
pub fn wakes_spuriously() -> bool {
    let site = Location::caller();
    with_engine(|e| e.may_wake_spuriously(site)).unwrap_or(false) && choose_as(2, Label::SpuriousWakeup) == Some(1)
}

/// The calling thread goes on after a spurious wake-up. With `by_lock`, its last operation took the lock again under which it waits.
#[track_caller]
pub fn woken_spuriously(by_lock: bool) {
    let site = Location::caller();
    with_engine(|e| e.wakes_spuriously(by_lock, site));
}

/// A guarded read-modify-write on the 32- or 64-bit state word of a blocking shim; returns the old value.
///
/// The word must be written by read-modify-writes only, and by plain stores of its only holder (`Mutex` unlocking).
#[track_caller]
#[inline(always)]
pub fn wait(at: *mut (), width: Width, guard: Guard, order: Ordering, label: Label) -> Option<u64> {
    access(at, Operation::guarded(guard, width, order.into(), label)).map(|a| a.old)
}

/// A fence.
#[track_caller]
#[inline(never)]
pub fn fence(order: Ordering) -> bool {
    let site = Some(Location::caller().into());
    let fence = operation(Code::Fence, (0, 0), Width::W64, order, Label::Atomic);
    wait_for(|e| e.plain(fence, site)).is_some()
}

/// A data choice: one of `0..n`, each explored. `n` must not be 0. No event when `n` is 1.
#[track_caller]
#[inline(never)]
pub fn choose(n: usize) -> Option<usize> {
    choose_as(n, Label::Atomic)
}

/// As [`choose`], of a thread that waits for so long at most. 0: the time is not over.
#[track_caller]
pub fn choose_time_out(n: usize) -> Option<usize> {
    choose_as(n, Label::TimeOut)
}

#[track_caller]
fn choose_as(n: usize, label: Label) -> Option<usize> {
    assert!(n > 0, "a choice among no values");
    if n == 1 {
        std::hint::cold_path();
        return controlled().then_some(0);
    }
    let site = Some(Location::caller().into());
    let choice = operation(Code::Choose, (n as u64, 0), Width::W64, Ordering::Relaxed, label);
    wait_for(|e| e.plain(choice, site)).map(|value| value as usize)
}

/// Drops this execution unless `condition` holds: the thread stops here, the others go on, and nothing is reported.
#[track_caller]
#[inline(never)]
pub fn assume(condition: bool) {
    if !condition {
        let site = Some(Location::caller().into());
        wait_for(|e| e.assume(site));
    }
}

/// A read of non-atomic memory, for data-race detection.
#[track_caller]
#[inline(never)]
pub fn cell_read(at: *mut (), size: usize) {
    let site = Some(Location::caller().into());
    wait_for(|e| e.cell(at as usize, size, false, site));
}

/// A write of non-atomic memory, for data-race detection.
#[track_caller]
#[inline(never)]
pub fn cell_write(at: *mut (), size: usize) {
    let site = Some(Location::caller().into());
    wait_for(|e| e.cell(at as usize, size, true, site));
}

/// What the next thread that the caller [spawns](spawn) is made of: the address of its code, and all that it has captured. Threads with the same are symmetric: it makes no
/// difference which of them does what, until something tells them apart. Without this call the thread is like no other.
pub fn liken<T>(code: *const (), captured: &T) {
    with_engine(|e| e.liken(code.addr(), bytes(captured)));
}

/// How many words [`liken_call`] looks at: as many as the C calling convention passes in registers, but for one.
pub const ARGUMENTS: usize = 5;

/// As [`liken`], where all that the thread has captured is in the first arguments of its code, a function with the C calling convention that returns nothing. Those that
/// the compiled function never reads do not count.
pub fn liken_call(code: *const (), arguments: &[MaybeUninit<*const ()>; ARGUMENTS]) {
    // SAFETY: read as plain words, each of them whatever it holds.
    let words = unsafe { &*std::ptr::from_ref(arguments).cast::<[u64; ARGUMENTS]>() };
    with_engine(|e| e.liken_call(code.addr(), words));
}

/// The caller has learned which thread `thread` is, as nobody does who only waits for its end: it is not symmetric to others any more.
pub fn tell_apart(thread: ThreadKey) {
    wait_for(|e| e.tell_apart(ThreadId(thread.0)));
}

/// The caller has joined `thread`, and gets this result from it.
pub fn joined<T>(thread: ThreadKey, result: &T) {
    if size_of::<T>() > 0 {
        joined_bytes(thread, bytes(result));
    }
}

#[inline(never)]
fn joined_bytes(thread: ThreadKey, result: &[u8]) {
    wait_for(|e| e.joined(ThreadId(thread.0), result));
}

/// The block that holds `at` is a leak if it is still there at the end, also in a test that may leave others.
pub fn track(at: *const ()) {
    with_engine(|e| {
        if let Some(heap) = &mut e.heap {
            heap.track(at as usize);
        }
    });
}

/// A non-atomic access begins, which lasts until [`let_go`] is called with the number that this gives. With `alone`, the same thread may have no other one
/// open there, unless both read.
#[track_caller]
#[inline(never)]
pub fn hold(at: *mut (), size: usize, writes: bool, alone: bool) -> Option<u64> {
    let site = Some(Location::caller().into());
    wait_for(|e| e.hold(at as usize, size, writes, alone, site))
}

/// The access of this number ends.
#[inline(never)]
pub fn let_go(number: u64, until: Until) {
    wait_for(|e| e.let_go(number, until));
}

/// A plain access of an atomic of `size` bytes, compared with the atomic accesses too. (`cell_read` and `cell_write` are compared with each other only.)
#[track_caller]
#[inline(never)]
pub fn unsync(at: *mut (), size: usize, writes: bool) {
    let site = Some(Location::caller().into());
    wait_for(|e| e.unsync(at as usize, size, writes, site));
}

/// Starts a thread that runs `body`. The shim makes sure that `body` outlives the thread (scoped threads are joined).
#[track_caller]
#[inline(never)]
pub fn spawn(name: Option<&str>, stack_size: Option<usize>, body: Box<dyn FnOnce() + 'static>) -> Option<ThreadKey> {
    let site = Some(Location::caller().into());
    let mut body = Some(Body::Once(body));
    let spawned = wait_for(|e| e.spawn(name, stack_size.unwrap_or(0), &mut body, site));
    drop_rare(&mut body);
    std::mem::forget(body); // nothing is there
    spawned.map(|t| ThreadKey(t.0))
}

/// Waits until a thread has ended; everything that it did happens before what follows.
#[track_caller]
#[inline(never)]
pub fn join(thread: ThreadKey) -> bool {
    let site = Some(Location::caller().into());
    wait_for(|e| e.join(ThreadId(thread.0), site)).is_some()
}

/// The calling thread has returned this, for whoever joins it as the C library has it.
#[cfg(feature = "unmodified")]
pub(crate) fn set_returned(value: usize) {
    with_engine(|e| e.threads.me().returned = value);
}

/// What a thread that has ended has returned.
#[cfg(feature = "unmodified")]
pub(crate) fn returned(thread: ThreadKey) -> usize {
    ask_engine(|e| e.threads[ThreadId(thread.0).slot()].returned).unwrap_or(0)
}

/// The calling thread; `ThreadKey(0)` is the body of the test.
pub fn current() -> Option<ThreadKey> {
    ask_engine(|e| ThreadKey(e.current().0))
}

/// What the handles of a thread share with it. They stay there until the check ends. `None` where the running execution has no such thread.
pub fn handle_words(thread: ThreadKey) -> Option<NonNull<HandleWords>> {
    let words = |e: &Engine| {
        let thread = e.threads.get(ThreadId(thread.0).slot()).filter(|t| t.state != State::Absent)?;
        Some(NonNull::from(&*thread.words))
    };
    ask_engine(words).flatten()
}

/// Call this with every payload that a shim's own `catch_unwind` around a thread's body caught: it goes on unwinding if
/// the execution is being cut short, records the panic as a failure otherwise (unless the test allows panics), and gives the payload back.
pub fn caught(payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    if payload.is::<Cut>() {
        std::panic::resume_unwind(payload);
    }
    with_engine(|e| e.uncaught(&*payload, true));
    payload
}

/// As [`caught`], of what nobody is given: the panic of a destructor that runs when the thread has its result, which a test cannot allow.
pub fn caught_at_end(payload: Box<dyn Any + Send>) {
    if payload.is::<Cut>() {
        std::panic::resume_unwind(payload);
    }
    with_engine(|e| e.uncaught(&*payload, false));
}

/// Is the calling thread (of the test, not of the operating system) unwinding? As `std::thread::panicking`.
pub fn panicking() -> bool {
    std::thread::panicking() && ask_engine(Engine::current_is_unwinding).unwrap_or(true)
}

/// A hint that this thread cannot get on (`yield_now`, `spin_loop`): no event; samplers run somebody else.
pub fn yield_now() {
    with_engine(Engine::hint);
}

/// Learned when somebody looks at a clock: only then a round of a loop that slept is not like the one before.
const CLOCK_KEY: u64 = u64::from_le_bytes(*b"clock\0\0\0") | 1;

/// The virtual clock of the calling thread, since the start of the execution.
pub fn now() -> Option<Duration> {
    learn(CLOCK_KEY);
    wait_for(Engine::look_at_clock)
}

/// Advances the virtual clock of the calling thread.
pub fn sleep(time: Duration) -> bool {
    with_engine(|e| e.sleep(time, e.has_learned(CLOCK_KEY))).is_some()
}

/// While this lives, the calling thread waits for something that comes before a time is over; that it is over first is what else was to be chosen.
/// So it is not stuck for ever if nothing comes.
#[derive(Debug)]
#[must_use = "the wait is to be made while it lives"]
pub struct TimeOut(());

impl TimeOut {
    /// The calling thread is about to wait.
    pub fn begin() -> Self {
        with_engine(|e| e.threads.me().has_time_out = true);
        TimeOut(())
    }
}

impl Drop for TimeOut {
    fn drop(&mut self) {
        with_engine(|e| e.threads.me().has_time_out = false);
    }
}

/// Something that the exploration must know from the start of the test (for example that the counts of `Arc`s of some type are looked at).
///
/// Returns at once if `key` was learned in an earlier execution. Otherwise it is learned now, this execution is cut and the exploration
/// of the test starts again: then this does not return (it unwinds). Cheap as long as keys are few: at most one restart per key.
pub fn learn(key: u64) {
    wait_for(|e| e.learn(key));
}

/// Was `key` learned?
pub fn learned(key: u64) -> bool {
    ask_engine(|e| e.has_learned(key)).unwrap_or(false)
}

/// The key for what is at an address for as long as the process lives: `key` says it, which is asked once as a rule. Of a key 16 bits count.
pub fn key_of(at: usize, key: impl FnOnce() -> u64) -> u64 {
    crate::exec::key_of(at, key)
}

/// Was anything learned?
#[inline]
pub fn learned_any() -> bool {
    ask_engine(|e| !e.learned.is_empty()).unwrap_or(false)
}

/// Which execution of this process runs: another number for each.
pub fn execution() -> Option<u64> {
    ask_engine(|e| e.number)
}

/// Fills the buffer with what looks random, and is the same whenever the calling thread has asked as often before. How many bytes that were.
///
/// # Safety
///
/// The buffer can be written to.
#[cfg(feature = "unmodified")]
pub unsafe fn fill_random(buffer: *mut u8, length: usize) -> usize {
    for at in (0..length).step_by(size_of::<u64>()) {
        let bytes = random().unwrap_or(0).to_ne_bytes();
        let count = bytes.len().min(length - at);
        // SAFETY: the caller's buffer has `length` bytes, and `at + count` is not above that.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.add(at), count) };
    }
    length
}

#[cfg(feature = "unmodified")]
fn random() -> Option<u64> {
    with_engine(|e| {
        let slot = u64::from(e.current().0);
        let drawn = &mut e.threads.me().drawn;
        *drawn += 1;
        // The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
        let mut z = (slot << 32 | *drawn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    })
}

/// How many events and tracked accesses the calling thread has made so far: unchanged over a call that did nothing visible.
pub fn activity() -> u64 {
    ask_engine(|e| e.threads.me_ref().activity).unwrap_or(0)
}

/// Adds what happens before this point to the clock kept beside `at` until the end of the execution (an unobserved reference count's decrement).
pub fn leave_clock(at: *mut ()) {
    with_engine(|e| e.leave_clock(at as usize));
}

/// The calling thread leaves in these bytes that it has returned, and nothing else. Only who joins it reads them.
pub fn returns_nothing(at: *const (), size: usize) {
    with_engine(|e| e.returns_nothing(at as usize, size));
}

/// Until this is dropped, the calling thread (in a destructor) acts as if everything that was left in the `size` bytes at `at` with [`leave_clock`] had happened before.
#[must_use]
pub fn with_clocks(at: *mut (), size: usize) -> WithClocks {
    with_engine(|e| e.acquire_left(at as usize..at as usize + size));
    WithClocks(())
}

/// See [`with_clocks`].
#[derive(Debug)]
pub struct WithClocks(());

impl Drop for WithClocks {
    fn drop(&mut self) {
        with_engine(Engine::release_left);
    }
}

/// The caller asks for something that another thread would be told otherwise: its handle, its thread-locals, whether it unwinds.
pub fn asks_who_it_is() {
    with_engine(Engine::asks_who_it_is);
}

/// Is `at` in memory that outlives an execution (a `static`), so that [`restore`] is due?
pub fn is_static(at: *const ()) -> bool {
    ask_engine(|e| !e.is_cutting() && in_writable_data(at as usize)).unwrap_or(false)
}

/// Puts the `size` bytes at `at` back to what they are now when the execution ends, after running `drop` if they were changed.
/// The first call in an execution for an address counts. For the object of a `static` only, before its first change.
///
/// # Safety
/// What `drop` refers to lives until the end of the check.
pub unsafe fn restore<'a>(at: *mut (), size: usize, drop: impl Fn() + 'a) {
    with_engine(|e| {
        let drop: Rc<dyn Fn() + 'a> = Rc::new(drop);
        // SAFETY: our caller's promise.
        let drop = unsafe { std::mem::transmute::<Rc<dyn Fn() + 'a>, Rc<dyn Fn()>>(drop) };
        e.remember_static(at as usize, size, drop);
    });
}

/// The calling thread's values of `thread_local!`s: `(key, value, destructor)`, in order of registration. The shim runs the destructors
/// when the thread's body has ended (last registered first, as std does); the engine does so, inert, for threads that were cut.
pub fn with_locals<R>(f: impl FnOnce(&mut Locals) -> R) -> Option<R> {
    with_engine(|e| f(&mut e.threads.me().locals))
}

/// The calling thread has made a value of a `thread_local!`. If that has no bytes, nothing but the list shows it, which no state of a loop has.
pub fn made_local() {
    with_engine(Engine::leaves_trace);
}

/// See [`with_locals`].
pub type Locals = Vec<(usize, *mut (), unsafe fn(*mut ()))>;

/// Ends the execution with a failure that a shim has found (a re-entrant initialisation, too many waiters).
#[track_caller]
pub fn fail(kind: FailureKind, message: String) -> ! {
    let site = Some(Location::caller().into());
    let kept = with_engine(|_| message.as_str().to_owned()).unwrap_or_default();
    wait_for(|e| e.fail::<()>(kind, kept.clone(), site));
    panic!("{message}")
}

/// Are all executions explored, so that a choice among many values makes many executions? Otherwise each execution draws one.
pub fn explores() -> bool {
    ask_engine(|e| matches!(e.options.strategy, Strategy::Dfs | Strategy::Bfs | Strategy::Random)).unwrap_or(false)
}

/// Does the calling thread poll a future once more, because nobody can move? Then it must say what came of it, with [`looked`].
pub fn looks_again() -> bool {
    ask_engine(Engine::is_looking).unwrap_or(false)
}

/// The calling thread, which [looks again](looks_again), has polled; or it cannot (`None`), for it would have to wait. Does not return then.
pub fn looked(saw: Option<Looked>) {
    if looks_again() {
        wait_for(|e| e.looked(saw));
    }
}

/// Is `at` in memory that the check's own allocator handed out, and still live? `None` when it is not in its arenas.
pub fn is_live(at: *const ()) -> Option<bool> {
    ask_engine(|e| e.heap.as_ref()?.block(at as usize).map(|b| !b.freed)).flatten()
}
