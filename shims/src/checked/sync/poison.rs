//! The poison flag of a lock. Plain memory: whoever writes it holds the lock, and std promises no order for a look at it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError};

use mc_runtime::ops;

pub(super) struct Flag(AtomicBool);

/// Whether the thread was already unwinding when it took the lock.
#[derive(Clone, Copy)]
pub(super) struct Entered {
    panicking: bool,
}

impl Flag {
    pub(super) const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// For an exclusive guard that was just taken.
    pub(super) fn enter(&self) -> Entered {
        Entered { panicking: ops::panicking() }
    }

    /// For an exclusive guard that is about to be released: poisons when a panic began while it was held.
    pub(super) fn leave(&self, entered: Entered) {
        // Threads of a cut execution unwind too, but nothing panicked.
        if !entered.panicking && ops::panicking() && !ops::inert() {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// `value`, as an error when the flag is set.
    pub(super) fn wrap<T>(&self, value: T) -> LockResult<T> {
        if self.is_set() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}
