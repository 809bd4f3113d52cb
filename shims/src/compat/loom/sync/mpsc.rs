//! `loom::sync::mpsc`: a lock around the queue, and a condition variable for the one who receives.

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use crate::sync::{Arc, Condvar, Mutex, MutexGuard};

struct State<T> {
    queue: VecDeque<T>,
    senders: usize,
    receives: bool,
}

struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T> Channel<T> {
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        unpoisoned(self.state.lock())
    }
}

/// Nothing here panics while it holds the lock.
fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// A channel without a bound.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { queue: VecDeque::new(), senders: 1, receives: true };
    let channel = Arc::new(Channel { state: Mutex::new(state), changed: Condvar::new() });
    (Sender(channel.clone()), Receiver(channel))
}

/// The sending half.
pub struct Sender<T>(Arc<Channel<T>>);

impl<T> Sender<T> {
    /// Sends a value.
    ///
    /// # Errors
    /// The value, when nobody can receive it any more.
    #[track_caller]
    pub fn send(&self, msg: T) -> Result<(), SendError<T>> {
        let mut state = self.0.lock();
        if !state.receives {
            return Err(SendError(msg));
        }
        state.queue.push_back(msg);
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Self(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    #[track_caller]
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.senders -= 1;
        let last = state.senders == 0;
        drop(state);
        if last {
            self.0.changed.notify_one();
        }
    }
}

/// The receiving half.
pub struct Receiver<T>(Arc<Channel<T>>);

impl<T> Receiver<T> {
    /// Waits for a value.
    ///
    /// # Errors
    /// When there is none and nobody can send one any more.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let waits = |state: &mut State<T>| state.queue.is_empty() && state.senders > 0;
        let mut state = unpoisoned(self.0.changed.wait_while(self.0.lock(), waits));
        state.queue.pop_front().ok_or(RecvError)
    }

    /// Waits for a value, or until the time is over.
    ///
    /// # Errors
    /// When the time is over, or nobody can send a value any more.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let waits = |state: &mut State<T>| state.queue.is_empty() && state.senders > 0;
        let (mut state, end) = unpoisoned(self.0.changed.wait_timeout_while(self.0.lock(), timeout, waits));
        let none = if end.timed_out() { RecvTimeoutError::Timeout } else { RecvTimeoutError::Disconnected };
        state.queue.pop_front().ok_or(none)
    }

    /// A value, if one is there.
    ///
    /// # Errors
    /// When there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.0.lock();
        let none = if state.senders > 0 { TryRecvError::Empty } else { TryRecvError::Disconnected };
        state.queue.pop_front().ok_or(none)
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.receives = false;
        let left = std::mem::take(&mut state.queue);
        drop(state);
        drop(left);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
