//! `block_on`, and the waker that it gives to the future.

use std::pin::pin;
use std::task::{Context, Poll};

#[cfg(not(any(mc, feature = "checked")))]
pub(super) use super::signal::Signal;
use super::waker::{Wake, waker};
#[cfg(any(mc, feature = "checked"))]
pub(super) use crate::checked::signal::Signal;
use crate::sync::Arc;

/// Runs `future` on the calling thread until it is ready, and gives what it came to.
///
/// The thread sleeps while nobody has woken the future. In a checked test it may also poll the future once without that, as any executor may: a
/// future must not take being polled for having been woken. When nobody is left to wake it, the future is asked once more: one that is ready then is
/// told as a lost wake-up, one that is not as a deadlock.
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
        } else if !signal.wait() {
            // Without its own, and the one in the context. (The poll may leave another.)
            let others = Arc::strong_count(&signal) - 2;
            Signal::looked(future.as_mut().poll(&mut context).is_ready(), others);
        }
    }
}

impl Wake for Signal {
    #[track_caller]
    fn wake(this: Arc<Self>) {
        this.notify();
    }

    #[track_caller]
    fn wake_by_ref(this: &Arc<Self>) {
        this.notify();
    }
}
