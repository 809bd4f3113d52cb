//! The receiving end.
//!
//! Whether a receive with a time-out times out is no choice of its own: it looks once whether there is a message, and under control any moment may be
//! the one at which the time was over.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering::AcqRel;
use std::time::Duration;

use mc_runtime::ops::{self, Label, Rmw};

use super::channel::{CLOSED, Channel, POLLING, Room, WAITING};
use super::iter::{IntoIter, Iter, TryIter};
use super::{RecvError, RecvTimeoutError, TryRecvError};
use crate::checked::sync::Arc;
use crate::checked::time::is_never;

/// The receiver. (The public type has no `Drop`, as std's has none.)
struct End<T>(Arc<Channel<T>>);

impl<T> Drop for End<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Receives what is sent, as [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    end: End<T>,
    /// Not `Sync`, as std's is not.
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: the receiver is used by one thread at a time, and gets messages by value: `T: Send` is enough.
unsafe impl<T: Send> Send for Receiver<T> {}
impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { end: End(channel), not_sync: PhantomData }
    }

    fn channel(&self) -> &Channel<T> {
        &self.end.0
    }

    /// The next message, if there is one.
    ///
    /// # Errors
    /// When there is none now, or will be none because all senders are gone.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let channel = self.channel();
        let (is_any, is_over) = match channel.room {
            Room::Rendezvous => self.offer(POLLING),
            Room::Counted(_) | Room::Bounded(_) => match channel.is_any() {
                Ok(is_any) => (is_any, false),
                Err(()) => (false, true),
            },
        };
        match (is_any, is_over) {
            (true, _) => channel.receive().ok_or(TryRecvError::Disconnected),
            (false, true) => Err(TryRecvError::Disconnected),
            (false, false) => Err(TryRecvError::Empty),
        }
    }

    /// Comes to a rendezvous and goes again: has a sender come meanwhile, and if not, will there be none?
    #[track_caller]
    fn offer(&self, as_who: u64) -> (bool, bool) {
        let word = &self.channel().word;
        self.channel().looks_at_senders();
        word.rmw(Rmw::Or, as_who, AcqRel, Label::ChannelTryRecv);
        let old = word.rmw(Rmw::And, !as_who, AcqRel, Label::ChannelTryRecv);
        (old & as_who == 0, old & CLOSED != 0)
    }

    /// The next message, once it is there.
    ///
    /// # Errors
    /// When there will be none because all senders are gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel().parks();
        self.waits();
        self.channel().receive().ok_or(RecvError)
    }

    /// Says to senders of a rendezvous that the receiver is here.
    #[track_caller]
    fn waits(&self) {
        if self.channel().room == Room::Rendezvous {
            self.channel().word.rmw(Rmw::Or, WAITING, AcqRel, Label::ChannelRecv);
        }
    }

    /// The next message, if it comes before the time is over.
    ///
    /// # Errors
    /// When the time is over, or there will be none because all senders are gone.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        if !ops::controlled() && !ops::inert() {
            return self.recv_until(std::time::Instant::now().checked_add(timeout));
        }
        if is_never(timeout) {
            return self.recv().map_err(|RecvError| RecvTimeoutError::Disconnected);
        }
        if !timeout.is_zero() {
            self.channel().parks();
        }
        let found = match self.channel().room {
            Room::Rendezvous => match self.offer(WAITING) {
                (true, _) => self.channel().receive().ok_or(TryRecvError::Disconnected),
                (false, true) => Err(TryRecvError::Disconnected),
                (false, false) => Err(TryRecvError::Empty),
            },
            Room::Counted(_) | Room::Bounded(_) => self.try_recv(),
        };
        found.map_err(|error| match error {
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            TryRecvError::Empty => {
                ops::sleep(timeout);
                RecvTimeoutError::Timeout
            }
        })
    }

    /// Outside of a check.
    fn recv_until(&self, deadline: Option<std::time::Instant>) -> Result<T, RecvTimeoutError> {
        self.waits();
        let channel = self.channel();
        if let Some(received) = channel.receive_until(deadline) {
            return received.ok_or(RecvTimeoutError::Disconnected);
        }
        if channel.room == Room::Rendezvous {
            let old = channel.word.rmw(Rmw::And, !WAITING, AcqRel, Label::ChannelTryRecv);
            if old & WAITING == 0 {
                // A sender came at the last moment.
                return channel.receive().ok_or(RecvTimeoutError::Disconnected);
            }
        }
        Err(RecvTimeoutError::Timeout)
    }

    /// The messages, until all senders are gone. Waits for each.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { rx: self }
    }

    /// The messages that are there. Does not wait.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { rx: self }
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { rx: self }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
