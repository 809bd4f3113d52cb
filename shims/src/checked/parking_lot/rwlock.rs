//! `RwLock`: lock_api's over the lock of `mc::sync::RwLock`, with one more bit for the reader that may become the writer.

use lock_api::RawRwLockUpgrade as _;
use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update};
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use super::GuardMarker;
use super::asked::Asked;
use crate::checked::sync::WRITER;
use crate::checked::{statics, sync};

/// A reader-writer lock without poisoning, as `parking_lot::RwLock`.
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// Shared access to the data of an [`RwLock`].
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// Exclusive access to the data of an [`RwLock`].
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// Shared access to the data of an [`RwLock`] that can become exclusive.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// Shared access to a part of the data of an [`RwLock`].
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// Exclusive access to a part of the data of an [`RwLock`].
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// A new, unlocked lock.
pub const fn const_rwlock<T>(val: T) -> RwLock<T> {
    RwLock::from_raw(<RawRwLock as lock_api::RawRwLock>::INIT, val)
}

/// The reader that may become the writer, beside whom there are other readers.
pub(super) const UPGRADABLE: u32 = 1 << 30;
/// The other readers.
pub(super) const READERS: u32 = UPGRADABLE - 1;

const KEEP: Update = Update::KeepAdd { keep: !0, add: 0 };

/// The writer's bit can be set.
pub(super) const CLAIM: Guard = Guard {
    test: Test::Mask { mask: WRITER | UPGRADABLE, want: 0 },
    update: Update::KeepAdd { keep: !0, add: WRITER },
};
/// All readers have gone.
pub(super) const ALONE: Guard = Guard { test: Test::Mask { mask: READERS, want: 0 }, update: KEEP };
/// Nobody writes, or will, or may.
pub(super) const READ_UPGRADABLE: Guard = Guard {
    test: Test::Mask { mask: WRITER | UPGRADABLE, want: 0 },
    update: Update::KeepAdd { keep: !0, add: UPGRADABLE },
};
/// Nobody writes: there is no writer's bit, or its owner still waits for readers.
pub(super) const READ_RECURSIVE: Guard = Guard {
    test: Test::Not { mask: WRITER | READERS, unwanted: WRITER },
    update: Update::KeepAdd { keep: !0, add: 1 },
};
const BECOME_WRITER: Guard =
    Guard { test: Test::Mask { mask: !0, want: UPGRADABLE }, update: Update::KeepAdd { keep: 0, add: WRITER } };

/// Learned where somebody can tell that a writer which waits has its bit, as [`RawRwLock`] says.
const ANNOUNCED: u64 = u64::from_le_bytes(*b"announce") | 1;

/// The lock without data.
///
/// A writer waits until there are no readers. In parking_lot it takes its bit first, and that keeps others away, so that a thread which reads twice,
/// or waits for another reader, may wait for ever. Once somebody can tell, a writer here does the same; before, both is one event.
///
/// What can be told is that the bit is there before the writer has the lock. While others read, a reader tells, who comes beside them and is kept away, and
/// [`is_locked_exclusive`](lock_api::RawRwLock::is_locked_exclusive); all else comes to the same with the bit and without. When they have gone the
/// writer has the lock, but for one whose time is over and who has yet to give the bit back: that is told by whoever asks then and does not wait (it is refused), and
/// only where that writer found readers when its time was over.
pub struct RawRwLock(pub(super) sync::RawRwLock, Asked);

impl RawRwLock {
    /// Does a writer that waits do so in two steps?
    pub(super) fn announces() -> bool {
        !ops::controlled() || ops::learned(ANNOUNCED)
    }

    /// A reader came and found `state`.
    pub(super) fn joins(state: u32) {
        if state & READERS != 0 {
            ops::learn(ANNOUNCED);
        }
    }

    /// The calling thread asks for the lock and will not wait.
    fn asks(&self) {
        if !Self::announces() && self.1.by_this_thread() {
            ops::learn(ANNOUNCED);
        }
    }

    /// A writer's time was over when the state was `found`.
    pub(super) fn is_over(&self, found: u32) {
        if found & READERS != 0 && !Self::announces() && self.1.gives_up() {
            ops::learn(ANNOUNCED);
        }
    }

    /// The writer's bit is this thread's, set when the state was `found`: waits for the readers to go.
    #[track_caller]
    pub(super) fn wait_alone(&self, found: u32) {
        if found & READERS != 0 {
            self.0.word().wait(ALONE, Acquire, Label::RwLockWrite);
        }
    }

    /// From upgradable to writer, perhaps with readers that have yet to go; the state before.
    #[track_caller]
    pub(super) fn claim_upgrade(&self, order: Ordering) -> u32 {
        self.0.word().rmw(Rmw::Add, WRITER - UPGRADABLE, order, Label::RwLockWrite)
    }

    /// From upgradable to writer, by an update of this `order` if no reader has yet to go.
    #[track_caller]
    pub(super) fn become_writer(&self, order: Ordering) {
        if Self::announces() {
            self.wait_alone(self.claim_upgrade(order));
        } else {
            self.0.word().wait(BECOME_WRITER, order, Label::RwLockWrite);
        }
    }

    /// Becomes the writer if nobody has the lock; the state that is found.
    #[track_caller]
    pub(super) fn try_write(&self) -> Result<u32, u32> {
        self.asks();
        self.0.word().compare_exchange(0, WRITER, Acquire, Relaxed, Label::RwLockTryWrite)
    }

    /// From upgradable to writer if nobody else reads; the state that is found. It does not ask: there is no other writer's bit.
    /// parking_lot's acquires nothing from the readers before it when its first, weak attempt fails.
    #[track_caller]
    pub(super) fn try_become_writer(&self) -> Result<u32, u32> {
        self.0.word().compare_exchange(UPGRADABLE, WRITER, Relaxed, Relaxed, Label::RwLockTryWrite)
    }

    /// Adds to the state if `test` holds of it; the state before.
    #[track_caller]
    fn attempt(&self, test: impl Fn(u32) -> bool, add: u32) -> Option<u32> {
        self.asks();
        let word = self.0.word();
        let mut state = word.load(Relaxed, Label::RwLockTryRead);
        while test(state) {
            match word.compare_exchange(state, state.wrapping_add(add), Acquire, Relaxed, Label::RwLockTryRead) {
                Ok(_) => return Some(state),
                Err(found) => state = found,
            }
        }
        None
    }

    #[track_caller]
    pub(super) fn touched(&self) {
        statics::refuse_unknown(self);
    }
}

// SAFETY: the writer's bit is set where it was not, and its owner goes on after the count of readers was 0 with the bit set, or with it
// in one step; readers join only where the bit is not set.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: Self = Self(sync::RawRwLock::new(), Asked::new());
    type GuardMarker = GuardMarker;

    #[track_caller]
    fn lock_shared(&self) {
        self.touched();
        Self::joins(self.0.read());
    }

    #[track_caller]
    fn try_lock_shared(&self) -> bool {
        self.touched();
        self.asks();
        self.0.try_read().map(Self::joins).is_some()
    }

    #[track_caller]
    unsafe fn unlock_shared(&self) {
        self.0.read_unlock();
    }

    #[track_caller]
    fn lock_exclusive(&self) {
        self.touched();
        if Self::announces() {
            self.wait_alone(self.0.word().wait(CLAIM, Acquire, Label::RwLockWrite));
        } else {
            self.0.write();
        }
    }

    #[track_caller]
    fn try_lock_exclusive(&self) -> bool {
        self.touched();
        self.try_write().is_ok()
    }

    #[track_caller]
    unsafe fn unlock_exclusive(&self) {
        self.0.write_unlock();
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        self.asks();
        self.0.word().load(Relaxed, Label::RwLockTryWrite) != 0
    }

    #[track_caller]
    fn is_locked_exclusive(&self) -> bool {
        ops::learn(ANNOUNCED);
        self.0.word().load(Relaxed, Label::RwLockTryRead) & WRITER != 0
    }
}

// SAFETY: as above. Any waiter may come next.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    #[track_caller]
    unsafe fn unlock_shared_fair(&self) {
        self.0.read_unlock();
    }

    #[track_caller]
    unsafe fn unlock_exclusive_fair(&self) {
        self.0.write_unlock();
    }
}

// SAFETY: from the writer's bit to one reader in one event.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade(&self) {
        self.0.downgrade();
    }
}

// SAFETY: as `lock_shared`, but that a writer which still waits for readers does not count: this reader is one more of them.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    #[track_caller]
    fn lock_shared_recursive(&self) {
        self.touched();
        self.0.word().wait(READ_RECURSIVE, Acquire, Label::RwLockRead);
    }

    #[track_caller]
    fn try_lock_shared_recursive(&self) -> bool {
        self.touched();
        self.attempt(|state| state & (WRITER | READERS) != WRITER, 1).is_some()
    }
}

// SAFETY: the bit of the upgradable reader is set where neither it nor the writer's is; it keeps both from being set by others.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    #[track_caller]
    fn lock_upgradable(&self) {
        self.touched();
        Self::joins(self.0.word().wait(READ_UPGRADABLE, Acquire, Label::RwLockRead));
    }

    #[track_caller]
    fn try_lock_upgradable(&self) -> bool {
        self.touched();
        self.attempt(|state| state & (WRITER | UPGRADABLE) == 0, UPGRADABLE).map(Self::joins).is_some()
    }

    #[track_caller]
    unsafe fn unlock_upgradable(&self) {
        self.0.word().rmw(Rmw::Sub, UPGRADABLE, Release, Label::RwLockReadUnlock);
    }

    #[track_caller]
    unsafe fn upgrade(&self) {
        self.become_writer(Acquire);
    }

    #[track_caller]
    unsafe fn try_upgrade(&self) -> bool {
        self.try_become_writer().is_ok()
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    #[track_caller]
    unsafe fn unlock_upgradable_fair(&self) {
        // SAFETY: promised by the caller.
        unsafe { self.unlock_upgradable() };
    }
}

// SAFETY: each is one event that replaces the caller's own part of the state.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    #[track_caller]
    unsafe fn downgrade_upgradable(&self) {
        // As in parking_lot: it releases nothing to the next one that may become the writer.
        self.0.word().rmw(Rmw::Sub, UPGRADABLE - 1, Relaxed, Label::RwLockDowngrade);
    }

    #[track_caller]
    unsafe fn downgrade_to_upgradable(&self) {
        self.0.word().rmw(Rmw::Sub, WRITER - UPGRADABLE, Release, Label::RwLockDowngrade);
    }
}
