//! The poison flag of a lock. Plain memory as long as only those look at it who hold the lock; somebody else may see it at any time after it was set, and before the lock is
//! released. std promises no order for such a look.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError};

use mc_runtime::ops::{self, Label, Width};

pub(super) struct Flag(AtomicBool);

/// Learned when somebody looks at a flag, or clears one, without the lock: then all that is done to flags are events.
const LOOKED_AT: u64 = u64::from_le_bytes(*b"poisoned") | 1;

fn is_looked_at() -> bool {
    ops::learned_any() && ops::learned(LOOKED_AT)
}

/// Whether the thread was already unwinding when it took the lock.
#[derive(Clone, Copy)]
pub(super) struct Entered {
    panicking: bool,
}

impl Flag {
    pub(super) const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// For those who need not hold the lock.
    #[track_caller]
    pub(super) fn look(&self) -> bool {
        ops::learn(LOOKED_AT);
        self.is_set()
    }

    /// Likewise.
    #[track_caller]
    pub(super) fn clear(&self) {
        ops::learn(LOOKED_AT);
        self.set(false);
    }

    #[track_caller]
    fn is_set(&self) -> bool {
        if is_looked_at()
            && let Some(value) = ops::load(self.0.as_ptr().cast(), Width::W8, Ordering::Relaxed, Label::Atomic)
        {
            return value != 0;
        }
        self.0.load(Ordering::Relaxed)
    }

    #[track_caller]
    fn set(&self, value: bool) {
        let at = self.0.as_ptr().cast();
        if !(is_looked_at() && ops::store(at, Width::W8, u64::from(value), Ordering::Relaxed, Label::Atomic)) {
            self.0.store(value, Ordering::Relaxed);
        }
    }

    /// For an exclusive guard that was just taken.
    pub(super) fn enter(&self) -> Entered {
        Entered { panicking: ops::panicking() }
    }

    /// For an exclusive guard that is about to be released: poisons when a panic began while it was held.
    #[track_caller]
    pub(super) fn leave(&self, entered: Entered) {
        // Threads of a cut execution unwind too, but nothing panicked.
        if !entered.panicking && ops::panicking() && !ops::inert() {
            self.set(true);
        }
    }

    /// `value`, as an error when the flag is set.
    #[track_caller]
    pub(super) fn wrap<T>(&self, value: T) -> LockResult<T> {
        if self.is_set() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}
