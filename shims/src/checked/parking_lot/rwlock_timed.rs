//! The ways to lock an `RwLock` that have a time-out.

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::{Duration, Instant};

use lock_api::{RawRwLock as _, RawRwLockRecursive as _, RawRwLockUpgrade as _};
use mc_runtime::ops::{self, Guard, Label, Rmw};

use super::rwlock::{ALONE, CLAIM, READ_RECURSIVE, READ_UPGRADABLE, READERS, RawRwLock, UPGRADABLE};
use super::timed::{Timeout, Way, begin, choose, over, timed};
use crate::checked::sync::{READ, WRITER};

/// What a thread must do to become the writer, and to give that up again.
struct Claim<'a> {
    /// Locks, without a time-out.
    lock: &'a dyn Fn(),
    /// Locks if that can be done at once; the state that is found.
    try_lock: &'a dyn Fn() -> Result<u32, u32>,
    /// Sets the writer's bit under control; the state before.
    begin: &'a dyn Fn() -> u32,
    /// The same outside of a check, up to a deadline.
    begin_until: &'a dyn Fn(Option<Instant>) -> Option<u32>,
    /// From the bit back to where it began: this is subtracted.
    back: u32,
}

impl RawRwLock {
    fn until(&self, guard: Guard, deadline: Option<Instant>) -> Option<u32> {
        self.0.word().wait_until(guard, deadline)
    }

    #[track_caller]
    fn shared_by(&self, timeout: Timeout) -> bool {
        let until = |deadline| self.until(READ, deadline).is_some();
        timed(timeout, || self.lock_shared(), || self.try_lock_shared(), until)
    }

    #[track_caller]
    fn recursive_by(&self, timeout: Timeout) -> bool {
        let until = |deadline| self.until(READ_RECURSIVE, deadline).is_some();
        timed(timeout, || self.lock_shared_recursive(), || self.try_lock_shared_recursive(), until)
    }

    #[track_caller]
    fn upgradable_by(&self, timeout: Timeout) -> bool {
        let until = |deadline| self.until(READ_UPGRADABLE, deadline).is_some();
        timed(timeout, || self.lock_upgradable(), || self.try_lock_upgradable(), until)
    }

    #[track_caller]
    fn exclusive_by(&self, timeout: Timeout) -> bool {
        self.touched();
        let claim = Claim {
            lock: &|| self.lock_exclusive(),
            try_lock: &|| self.try_write(),
            begin: &|| self.0.word().wait(CLAIM, Acquire, Label::RwLockWrite),
            begin_until: &|deadline| self.until(CLAIM, deadline),
            back: WRITER,
        };
        self.claim_by(timeout, &claim)
    }

    /// Of the upgradable reader. As in parking_lot, one that finds no readers acquires nothing from those before.
    #[track_caller]
    fn upgrade_by(&self, timeout: Timeout) -> bool {
        let claim = Claim {
            lock: &|| self.become_writer(Relaxed),
            try_lock: &|| self.try_become_writer(),
            begin: &|| self.claim_upgrade(Relaxed),
            begin_until: &|_| Some(self.claim_upgrade(Relaxed)),
            back: WRITER - UPGRADABLE,
        };
        self.claim_by(timeout, &claim)
    }

    /// A writer that gives up may have kept readers away by then.
    #[track_caller]
    fn claim_by(&self, timeout: Timeout, claim: &Claim<'_>) -> bool {
        let all = [Way::Locks, Way::IsOver, Way::IsOverAndSeen];
        let ways = if Self::announces() { &all[..] } else { &all[..2] };
        match choose(timeout, ways) {
            Some(Way::Locks) => {
                let _time_out = begin(timeout);
                (claim.lock)();
                true
            }
            Some(Way::IsOver) => {
                let found = (claim.try_lock)();
                self.is_over(found.err().unwrap_or(0));
                over(timeout, found.is_ok());
                false
            }
            Some(Way::IsOverAndSeen) => {
                let time_out = begin(timeout);
                let found = (claim.begin)();
                drop(time_out);
                over(timeout, found & READERS == 0);
                self.give_up(claim);
                false
            }
            None if ops::inert() => (claim.try_lock)().is_ok(),
            None => {
                let deadline = timeout.deadline();
                let Some(found) = (claim.begin_until)(deadline) else { return false };
                let alone = found & READERS == 0 || self.until(ALONE, deadline).is_some();
                if !alone {
                    self.give_up(claim);
                }
                alone
            }
        }
    }

    #[track_caller]
    fn give_up(&self, claim: &Claim<'_>) {
        self.0.word().rmw(Rmw::Sub, claim.back, Relaxed, Label::RwLockWriteUnlock);
    }
}

// SAFETY: true is the answer only when the lock was taken, as `RawRwLock` takes it.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    #[track_caller]
    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        self.touched();
        self.shared_by(Timeout::After(timeout))
    }

    #[track_caller]
    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        self.touched();
        self.shared_by(Timeout::At(timeout))
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        self.exclusive_by(Timeout::After(timeout))
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        self.exclusive_by(Timeout::At(timeout))
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    #[track_caller]
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        self.touched();
        self.recursive_by(Timeout::After(timeout))
    }

    #[track_caller]
    fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
        self.touched();
        self.recursive_by(Timeout::At(timeout))
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    #[track_caller]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        self.touched();
        self.upgradable_by(Timeout::After(timeout))
    }

    #[track_caller]
    fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
        self.touched();
        self.upgradable_by(Timeout::At(timeout))
    }

    #[track_caller]
    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        self.upgrade_by(Timeout::After(timeout))
    }

    #[track_caller]
    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        self.upgrade_by(Timeout::At(timeout))
    }
}
