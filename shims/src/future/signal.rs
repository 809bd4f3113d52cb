//! A flag that one thread waits for, without a checker.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(crate) struct Signal {
    given: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    pub(crate) const fn new() -> Self {
        Self { given: Mutex::new(false), changed: Condvar::new() }
    }

    /// Gives it. Nothing more happens if it was given already.
    pub(crate) fn notify(&self) {
        *self.lock() = true;
        self.changed.notify_one();
    }

    /// Waits until it is given, and takes it; always true, for nobody knows that it will not be given.
    pub(crate) fn wait(&self) -> bool {
        let mut given = self.lock();
        while !*given {
            given = self.changed.wait(given).unwrap_or_else(PoisonError::into_inner);
        }
        *given = false;
        true
    }

    /// Is this the last time that the caller polls?
    pub(crate) fn looks_again() -> bool {
        false
    }

    /// What came of the last poll.
    pub(crate) fn looked(_ready: bool, _owners: usize) {}

    /// Does the one who waits go on, now, without being notified?
    pub(crate) fn may_wake_spuriously() -> bool {
        false
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
