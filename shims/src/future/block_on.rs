//! `block_on`, and the waker that it gives to the future.

use std::mem::ManuallyDrop;
use std::pin::pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

#[cfg(not(mc))]
use super::signal::Signal;
#[cfg(mc)]
use crate::checked::signal::Signal;
use crate::sync::Arc;

/// Runs `future` on the calling thread until it is ready, and gives what it came to.
///
/// The thread sleeps while nobody has woken the future. In a checked test it may also poll the future once without that, as any executor may: a
/// future must not take being polled for having been woken.
///
/// ```
/// assert_eq!(mc::future::block_on(async { 42 }), 42);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(Signal::new());
    let waker = waker(signal.clone());
    let mut context = Context::from_waker(&waker);
    let mut spurious = false;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        if !spurious && Signal::may_wake_spuriously() {
            spurious = true;
        } else {
            signal.wait();
        }
    }
}

/// What the pointer of each waker is: an owner of a signal, from `Arc::into_raw`.
static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

fn waker(signal: Arc<Signal>) -> Waker {
    // SAFETY: the functions of the table fit a pointer that is an owner of a signal; a signal may be used in all threads.
    unsafe { Waker::from_raw(raw(signal)) }
}

fn raw(signal: Arc<Signal>) -> RawWaker {
    RawWaker::new(Arc::into_raw(signal).cast(), &TABLE)
}

/// # Safety
/// `data` is the pointer of a waker with [`TABLE`]; its owner passes on.
unsafe fn owner(data: *const ()) -> Arc<Signal> {
    // SAFETY: `raw` made the pointer, with `into_raw` (promised by the caller).
    unsafe { Arc::from_raw(data.cast::<Signal>()) }
}

#[track_caller]
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: called by a `Waker`, which keeps its owner: nothing is dropped here.
    let signal = ManuallyDrop::new(unsafe { owner(data) });
    raw(Arc::clone(&signal))
}

#[track_caller]
unsafe fn wake(data: *const ()) {
    // SAFETY: called by a `Waker` that is consumed.
    unsafe { owner(data) }.notify();
}

#[track_caller]
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: called by a `Waker`, which keeps its owner: nothing is dropped here.
    ManuallyDrop::new(unsafe { owner(data) }).notify();
}

#[track_caller]
unsafe fn drop_waker(data: *const ()) {
    // SAFETY: called by a `Waker` that is dropped.
    drop(unsafe { owner(data) });
}
