//! `JoinHandle`.

use std::fmt;
use std::thread::Result;

use super::handle::Thread;
use super::launch::Started;

/// Owns the right to wait for a thread, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(pub(super) Started<T>);

// SAFETY: a handle gives access to the thread's result, which is `Send` since the thread was started, and only by value.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: as above; a shared handle gives no access to the result at all.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.0.tell_apart();
        &self.0.thread
    }

    /// Waits for the end of the thread; its result.
    ///
    /// # Errors
    /// When it panicked; the error is what it panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.0.join()
    }

    /// Does the thread have its result?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
