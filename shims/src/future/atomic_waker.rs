//! `AtomicWaker`: the waker of a task that one side registers and the other side wakes.
//!
//! One lock around an `Option<Waker>`, so that `register` and `wake` come one after the other in every execution. What the lock-free
//! ones allow beyond that are wake-ups more, which a future has to live with anyway.

use std::fmt;
use std::task::Waker;

use crate::sync::Mutex;

/// A place for the waker of one task.
pub struct AtomicWaker(Mutex<Option<Waker>>);

impl AtomicWaker {
    /// With no waker yet.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// From now on `waker` is woken, in place of the one before. Register first, then look whether there is still something to wait for.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        drop(self.replace(Some(waker)));
    }

    /// As [`register`](Self::register), with a clone.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the task that was registered last, if it was not woken since.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// The waker that was registered last, for the caller to wake.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.replace(None)
    }

    /// No code of the waker runs while the lock is held.
    #[track_caller]
    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        let mut place = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        std::mem::replace(&mut place, waker)
    }
}

impl Default for AtomicWaker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}
