//! `FairMutex`: each of its unlocks is a fair one, which here is one of the orders that are explored for [`Mutex`](super::Mutex), too.

use std::time::{Duration, Instant};

use lock_api::RawMutexFair as _;

use super::mutex::RawMutex;

/// A mutual exclusion lock that is passed on to whoever waits longest, as `parking_lot::FairMutex`.
///
/// Any waiter may come next here: a test that holds, holds for the one that waits longest.
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// Access to the data of a locked [`FairMutex`].
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// Access to a part of the data of a locked [`FairMutex`].
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// A new, unlocked mutex.
pub const fn const_fair_mutex<T>(val: T) -> FairMutex<T> {
    FairMutex::from_raw(<RawFairMutex as lock_api::RawMutex>::INIT, val)
}

/// The lock without data.
pub struct RawFairMutex(RawMutex);

// SAFETY: all is left to a `RawMutex`.
unsafe impl lock_api::RawMutex for RawFairMutex {
    const INIT: Self = Self(RawMutex::new());
    type GuardMarker = <RawMutex as lock_api::RawMutex>::GuardMarker;

    #[track_caller]
    fn lock(&self) {
        self.0.lock();
    }

    #[track_caller]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    #[track_caller]
    unsafe fn unlock(&self) {
        // SAFETY: promised by the caller.
        unsafe { self.0.unlock_fair() };
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexFair for RawFairMutex {
    #[track_caller]
    unsafe fn unlock_fair(&self) {
        // SAFETY: promised by the caller.
        unsafe { self.0.unlock_fair() };
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexTimed for RawFairMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_for(&self, timeout: Duration) -> bool {
        self.0.try_lock_for(timeout)
    }

    #[track_caller]
    fn try_lock_until(&self, timeout: Instant) -> bool {
        self.0.try_lock_until(timeout)
    }
}
