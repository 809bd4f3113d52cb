//! The sending ends.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::channel::{Channel, Refused};
use super::{SendError, TrySendError};
use crate::checked::sync::Arc;

/// One of the senders. (The public types have no `Drop`, as std's have none.)
struct End<T>(Arc<Channel<T>>);

impl<T> Clone for End<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.0.add_sender();
        Self(self.0.clone())
    }
}

impl<T> Drop for End<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.0.remove_sender();
    }
}

/// Sends without ever waiting, as [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    end: End<T>,
}

// SAFETY: a shared sender gives away messages only, and gets none: `T: Send` is enough.
unsafe impl<T: Send> Sync for Sender<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Sender<T> {}
impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> Sender<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { end: End(channel) }
    }

    /// Sends `t`.
    ///
    /// # Errors
    /// When the receiver is gone; the error holds `t`.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.end.0.send(t).map_err(SendError)
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self { end: self.end.clone() }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// Sends to a channel with a bound, as [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T> {
    end: End<T>,
}

// SAFETY: as for `Sender`.
unsafe impl<T: Send> Sync for SyncSender<T> {}
// SAFETY: as for `Sender`.
unsafe impl<T: Send> Send for SyncSender<T> {}
impl<T> UnwindSafe for SyncSender<T> {}
impl<T> RefUnwindSafe for SyncSender<T> {}

impl<T> SyncSender<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { end: End(channel) }
    }

    /// Sends `t`, after waiting until there is room, or, where there is none at all, until the receiver comes for it.
    ///
    /// # Errors
    /// When the receiver is gone; the error holds `t`.
    #[track_caller]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.end.0.send(t).map_err(SendError)
    }

    /// Sends `t` if there is room, or, where there is none at all, if the receiver waits.
    ///
    /// # Errors
    /// When there is no room, or the receiver is gone; the error holds `t`.
    #[track_caller]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        self.end.0.try_send(t).map_err(|(t, why)| match why {
            Refused::Full => TrySendError::Full(t),
            Refused::Gone => TrySendError::Disconnected(t),
        })
    }
}

impl<T> Clone for SyncSender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self { end: self.end.clone() }
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}
