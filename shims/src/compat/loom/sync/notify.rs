//! `loom::sync::Notify`: parking without a thread's handle.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use mc_runtime::ops;

use crate::checked::signal::Signal;

/// A flag that is given and waited for. What comes before [`notify`](Self::notify) happens before what follows [`wait`](Self::wait).
pub struct Notify {
    signal: Signal,
    /// Somebody waits. Not an event: it is only looked at to find a mistake in the model.
    waiting: AtomicBool,
}

impl Notify {
    /// Not given.
    pub fn new() -> Self {
        Self { signal: Signal::new(), waiting: AtomicBool::new(false) }
    }

    /// Gives it to the one who waits, or to the next who does.
    #[track_caller]
    pub fn notify(&self) {
        self.signal.notify();
    }

    /// Waits for it and takes it. May return without it.
    ///
    /// # Panics
    /// When another thread waits, too.
    #[track_caller]
    pub fn wait(&self) {
        assert!(!self.waiting.swap(true, SeqCst), "only a single thread may wait on `Notify`");
        if ops::wakes_spuriously() {
            ops::woken_spuriously(false);
        } else {
            self.signal.wait();
        }
        self.waiting.store(false, SeqCst);
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Notify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}
