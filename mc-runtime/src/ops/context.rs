//! How an operation finds the engine, and waits: the only place that reaches it through a thread-local.

use super::ThreadKey;
use crate::exec::arena::{self, Heap};
use crate::exec::{Engine, Step, panics};
use crate::ids::ThreadId;
use std::cell::Cell;
use std::ptr;

/// The payload with which an execution that is cut short unwinds its threads.
#[derive(Debug)]
pub struct Cut(());

thread_local! {
    /// The engine whose thread runs on this thread of the operating system; null outside.
    static ENGINE: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
}

/// Before a thread of `engine` runs on this thread of the operating system. Returns what [`leave_engine`] restores.
pub(crate) fn enter_engine(engine: *mut Engine, heap: *mut Heap) -> (*mut Engine, *mut Heap) {
    (ENGINE.replace(engine), arena::switch(heap))
}

/// After it has suspended itself or ended.
pub(crate) fn leave_engine(before: (*mut Engine, *mut Heap)) {
    ENGINE.set(before.0);
    arena::switch(before.1);
}

/// Runs `f` on the engine, with the system's allocator. `None` outside of a check.
#[inline]
pub(crate) fn with_engine<R>(f: impl FnOnce(&mut Engine) -> R) -> Option<R> {
    enter(|engine| {
        #[cfg(feature = "unmodified")]
        {
            engine.told.calls_of_engine += 1;
        }
        f(engine)
    })
}

/// Tells of a plain access of the running thread. `None` outside of a check.
#[cfg(feature = "unmodified")]
#[inline]
pub(crate) fn access_plainly<R>(f: impl FnOnce(&mut Engine) -> R) -> Option<R> {
    enter(f)
}

#[inline]
fn enter<R>(f: impl FnOnce(&mut Engine) -> R) -> Option<R> {
    let engine = ENGINE.get();
    if engine.is_null() {
        std::hint::cold_path();
        return None;
    }
    let heap = arena::switch(ptr::null_mut());
    // SAFETY: set by `enter_engine` to the engine that runs this coroutine, which nobody borrows meanwhile (`exec::run::execute`); `f` never
    // runs code of the test, so nothing comes here again before the borrow ends.
    let result = f(unsafe { &mut *engine });
    arena::switch(heap);
    Some(result)
}

/// Does code of a test run on the calling thread, as against the engine that it has called?
#[cfg(feature = "unmodified")]
pub(crate) fn runs_test() -> bool {
    !ENGINE.get().is_null() && arena::is_used()
}

/// Was the memory at `at` allocated in the execution of the calling thread, and does code of its test run? Only threads of that execution have it then, of which one
/// runs at a time.
#[inline]
pub fn is_of_execution(at: *const ()) -> bool {
    arena::is_of_execution(at as usize)
}

/// Tells of a call of the running thread, for which nothing is allocated.
#[cfg(feature = "unmodified")]
#[inline]
pub(crate) fn note_call(f: impl FnOnce(&mut crate::exec::Calls)) {
    // SAFETY: as in `with_engine`.
    if let Some(engine) = unsafe { ENGINE.get().as_mut() } {
        f(&mut engine.told.calls);
    }
}

/// Runs `f`, which does what the system would: what is done in it is told where the function was called that calls the system, if that is known.
#[cfg(feature = "unmodified")]
pub fn as_system<R>(f: impl FnOnce() -> R) -> R {
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            note_call(|calls| calls.in_system = false);
        }
    }
    note_call(|calls| calls.in_system = true);
    let _back = Back;
    f()
}

/// Runs `f`, which the checker calls, as no part of the test.
#[cfg(feature = "unmodified")]
pub(crate) fn as_checker(f: impl FnOnce()) {
    struct Back(*mut Heap);
    impl Drop for Back {
        fn drop(&mut self) {
            arena::switch(self.0);
        }
    }
    let _back = Back(arena::switch(ptr::null_mut()));
    f();
}

/// Does code of a test run, and not of the checker for it, which goes to the system for what it needs?
#[cfg(feature = "unmodified")]
pub fn is_called_by_test() -> bool {
    ask_engine(|e| e.heap.is_none() || arena::is_used()).unwrap_or(false)
}

/// Asks the engine something for which it allocates nothing. `None` outside of a check.
#[inline]
pub(crate) fn ask_engine<R>(f: impl FnOnce(&Engine) -> R) -> Option<R> {
    // SAFETY: as in `with_engine`, and `f` changes nothing.
    unsafe { ENGINE.get().as_ref() }.map(f)
}

/// Does an operation, waiting as often as it must. `None` when the caller is not under control.
#[inline]
pub(crate) fn wait_for<T>(operation: impl FnMut(&mut Engine) -> Step<T>) -> Option<T> {
    wait_or(operation, || unwind())
}

#[cold]
fn unwind() -> ! {
    std::panic::resume_unwind(Box::new(Cut(())))
}

/// As [`wait_for`], where nothing may unwind.
#[cfg(feature = "unmodified")]
pub(crate) fn wait_or_stop<T>(operation: impl FnMut(&mut Engine) -> Step<T>) -> Option<T> {
    wait_or(operation, || stop_for_good())
}

#[inline]
fn wait_or<T>(mut operation: impl FnMut(&mut Engine) -> Step<T>, cut: impl Fn() -> Option<T>) -> Option<T> {
    loop {
        let here = stack_pointer();
        let mut compared = 0;
        let step = with_engine(|e| {
            let step = operation(e);
            compared = e.compared_below(here);
            step
        })?;
        if let Step::Done(value) = step {
            if compared > 0 {
                std::hint::cold_path();
                clean_stack(compared);
            }
            return Some(value);
        }
        if let Step::Wait = step {
            suspend();
            continue;
        }
        std::hint::cold_path();
        return if let Step::Cut = step { cut() } else { None };
    }
}

/// The calling thread does not go on, and is not unwound either.
#[cfg(feature = "unmodified")]
pub(crate) fn stop_for_good() -> ! {
    with_engine(|e| e.threads.me().state = crate::exec::State::Abandoned);
    loop {
        suspend();
    }
}

/// Switches to the scheduler.
#[inline(never)]
pub(crate) fn suspend() {
    let here = stack_pointer();
    let suspender = with_engine(|e| {
        let me = e.threads.me();
        me.suspended_at = here;
        let suspender = me.suspender;
        e.leave_round();
        suspender
    });
    let suspender = suspender.flatten().expect("only threads of a test wait");
    // Not as std says it: that may mean another one, who would be taken for this one when both are back.
    let waiting_to_unwind = super::panicking();
    if waiting_to_unwind {
        std::hint::cold_path();
        with_engine(|e| e.unwinding_suspended += 1);
    }
    let panics = if waiting_to_unwind { panics::take() } else { 0 };
    // SAFETY: the suspender of the running thread, which has not ended.
    unsafe { suspender.suspend() };
    if panics > 0 {
        std::hint::cold_path();
        panics::give_back(panics);
    }
    with_engine(Engine::return_to_round);
    if waiting_to_unwind {
        std::hint::cold_path();
        with_engine(|e| e.unwinding_suspended -= 1);
    }
}

/// What the engine left below the stack pointer must not differ from round to round, where states are compared of which it becomes part.
#[inline(never)]
fn clean_stack(size: usize) {
    match size.div_ceil(256) {
        ..=1 => clean::<32>(),
        2 => clean::<64>(),
        3..=4 => clean::<128>(),
        5..=8 => clean::<256>(),
        _ => clean::<512>(),
    }
}

#[inline(never)]
fn clean<const WORDS: usize>() {
    std::hint::black_box(&mut [0u64; WORDS]);
}

/// The stack pointer.
#[inline(always)]
fn stack_pointer() -> usize {
    let here: usize;
    // SAFETY: copies a register.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) here, options(nomem, nostack, preserves_flags)) };
    here
}

/// Is the execution of the calling thread being torn down?
pub(crate) fn is_cut() -> bool {
    ask_engine(Engine::is_cutting).unwrap_or(false)
}

/// Do operations of the calling thread do nothing, where others unwind?
pub(crate) fn is_only_inert() -> bool {
    ask_engine(|e| e.threads.me_ref().only_inert).unwrap_or(false)
}

/// From here on they do.
pub(crate) fn set_only_inert() {
    with_engine(|e| e.threads.me().only_inert = true);
}

/// Only the destructors of its thread-locals are left of the calling thread, which the C library calls: nothing may unwind through that.
pub(crate) fn ends() {
    with_engine(|e| e.threads.me().only_inert |= !e.abandons());
}

/// The bytes of a value, padding included, for comparison with what they are at another time.
pub fn bytes<T>(of: &T) -> &[u8] {
    // SAFETY: a live value, read as plain bytes; those that were never written (padding) are read as whatever they hold.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(of).cast(), size_of::<T>()) }
}

/// The thread that spawned this one; none has spawned the body of the test.
pub fn parent(thread: ThreadKey) -> Option<ThreadKey> {
    let spawn = ask_engine(|e| e.explorer.graph.parent(ThreadId(thread.0)))?;
    (!spawn.is_init()).then_some(ThreadKey(spawn.thread.0))
}
