//! `Mutex`: lock_api's over the lock of `mc::sync::Mutex`.

use std::time::{Duration, Instant};

use super::GuardMarker;
use super::timed::{Timeout, timed};
use crate::checked::{statics, sync};

/// A mutual exclusion lock without poisoning, as `parking_lot::Mutex`.
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// Access to the data of a locked [`Mutex`].
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// Access to a part of the data of a locked [`Mutex`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// A new, unlocked mutex.
pub const fn const_mutex<T>(val: T) -> Mutex<T> {
    Mutex::from_raw(<RawMutex as lock_api::RawMutex>::INIT, val)
}

/// The lock without data.
pub struct RawMutex(sync::RawMutex);

impl RawMutex {
    /// As [`RawMutex::INIT`](lock_api::RawMutex::INIT), for the locks that are made of this one.
    pub(super) const fn new() -> Self {
        Self(sync::RawMutex::new())
    }

    /// For a condition variable to release and take again.
    pub(super) fn inner(&self) -> &sync::RawMutex {
        &self.0
    }

    #[track_caller]
    fn try_lock_by(&self, timeout: Timeout) -> bool {
        self.touched();
        timed(timeout, || self.0.lock(), || self.0.try_lock(), |deadline| self.0.lock_until(deadline))
    }

    #[track_caller]
    fn touched(&self) {
        statics::refuse_unknown(self);
    }
}

// SAFETY: 0 to 1 and back is done by read-modify-writes that wait for 0, and by whoever made it 1: one holder at a time.
unsafe impl lock_api::RawMutex for RawMutex {
    const INIT: Self = Self::new();
    type GuardMarker = GuardMarker;

    #[track_caller]
    fn lock(&self) {
        self.touched();
        self.0.lock();
    }

    #[track_caller]
    fn try_lock(&self) -> bool {
        self.touched();
        self.0.try_lock()
    }

    #[track_caller]
    unsafe fn unlock(&self) {
        self.0.unlock();
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: as above. Any waiter may come next, the one that waited longest among them.
unsafe impl lock_api::RawMutexFair for RawMutex {
    #[track_caller]
    unsafe fn unlock_fair(&self) {
        self.0.unlock();
    }
}

// SAFETY: as above; true is the answer only when the lock was taken.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        self.try_lock_by(Timeout::After(timeout))
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: Instant) -> bool {
        self.try_lock_by(Timeout::At(timeout))
    }
}
