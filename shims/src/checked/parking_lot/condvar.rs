//! `Condvar`: [`sync::Condvar`] for parking_lot's mutexes, without spurious wake-ups, and for one mutex at a time.

use std::fmt;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::time::{Duration, Instant};

use mc_runtime::ops::{self, Label, Rmw};

use super::mutex::{MutexGuard, RawMutex};
use super::timed::Timeout;
use crate::checked::sync;
use crate::checked::word::Word64;

/// A condition variable without spurious wake-ups, as `parking_lot::Condvar`.
///
/// At most 32 threads wait at a time: under control one more is a failure, outside of a check it wakes up spuriously.
pub struct Condvar {
    waiters: sync::Condvar,
    /// The address of the mutex with which somebody has waited last.
    mutex: Word64,
}

/// Whether a wait ended because its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Was the time over?
    #[inline]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A new condition variable.
    #[inline]
    pub const fn new() -> Self {
        Self { waiters: sync::Condvar::new(), mutex: Word64::new(0) }
    }

    /// Wakes one waiter; whether there was any.
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        self.waiters.is_awaited() && self.waiters.wake_one()
    }

    /// Wakes all waiters; how many there were.
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        if self.waiters.is_awaited() { self.waiters.wake_all() } else { 0 }
    }

    /// Releases the lock, waits for a notification, and takes the lock again.
    ///
    /// # Panics
    /// When another thread waits with another mutex.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>) {
        self.sleep(mutex_guard, None);
    }

    /// As [`wait`](Self::wait), or until `timeout`.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_until<T: ?Sized>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        timeout: impl Into<Instant>,
    ) -> WaitTimeoutResult {
        self.sleep(mutex_guard, Some(Timeout::At(timeout.into())))
    }

    /// As [`wait`](Self::wait), or for `timeout`.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_for<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        self.sleep(mutex_guard, Some(Timeout::After(timeout)))
    }

    /// Waits as long as `condition` holds.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while<T, F>(&self, mutex_guard: &mut MutexGuard<'_, T>, mut condition: F)
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut **mutex_guard) {
            self.wait(mutex_guard);
        }
    }

    /// Waits as long as `condition` holds, or until `timeout`.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while_until<T, F>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        mut condition: F,
        timeout: impl Into<Instant>,
    ) -> WaitTimeoutResult
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        self.sleep_while(mutex_guard, &mut condition, Timeout::At(timeout.into()))
    }

    /// Waits as long as `condition` holds, or for `timeout`.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while_for<T: ?Sized, F>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        mut condition: F,
        timeout: Duration,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        let timeout = Timeout::After(timeout);
        // One end for all its waits. Under control the first that is over is the last, and nobody looks at a clock.
        let end = if ops::controlled() { None } else { timeout.deadline() };
        self.sleep_while(mutex_guard, &mut condition, end.map_or(timeout, Timeout::At))
    }

    #[track_caller]
    fn sleep_while<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: &mut dyn FnMut(&mut T) -> bool,
        timeout: Timeout,
    ) -> WaitTimeoutResult {
        let mut result = WaitTimeoutResult(false);
        while !result.0 && condition(&mut **guard) {
            result = self.sleep(guard, Some(timeout));
        }
        result
    }

    #[track_caller]
    fn sleep<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, timeout: Option<Timeout>) -> WaitTimeoutResult {
        // SAFETY: the mutex is released and taken again by the wait; whoever holds the guard sees it held throughout.
        let raw = unsafe { MutexGuard::mutex(guard).raw() };
        let at = std::ptr::from_ref::<RawMutex>(raw).addr() as u64;
        let known = self.mutex.rmw(Rmw::Swap, at, AcqRel, Label::CondvarEnqueue);
        let enqueued = |queued: sync::Queued<'_>| {
            // Who waits with another mutex has named it before: then either this thread's swap has seen it, or it came after that.
            if queued.others && (known != at || self.mutex.rmw(Rmw::Or, 0, AcqRel, Label::CondvarEnqueue) != at) {
                queued.leave();
                _ = self.mutex.compare_exchange(at, known, AcqRel, Relaxed, Label::CondvarEnqueue);
                panic!("attempted to use a condition variable with more than one mutex");
            }
        };
        let time = timeout.map(Timeout::duration);
        WaitTimeoutResult(self.waiters.sleep(raw.inner(), time, enqueued))
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
