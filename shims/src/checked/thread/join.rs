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

#[cfg(unix)]
impl<T> std::os::unix::thread::JoinHandleExt for JoinHandle<T> {
    fn as_pthread_t(&self) -> std::os::unix::thread::RawPthread {
        self.0.real().map_or_else(no_pthread, |real| real.as_pthread_t())
    }

    fn into_pthread_t(self) -> std::os::unix::thread::RawPthread {
        self.0.into_real().map_or_else(no_pthread, |real| real.into_pthread_t())
    }
}

/// The thread runs on the stack of another one.
#[cfg(unix)]
#[cold]
#[track_caller]
fn no_pthread() -> std::os::unix::thread::RawPthread {
    let message = "a thread of a checked test is no thread of the system, so it has no `pthread_t`".to_owned();
    mc_runtime::ops::fail(mc_runtime::outcome::FailureKind::Contract, message)
}
