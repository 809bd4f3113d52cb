//! `Mutex`: a guarded read-modify-write to lock, a release store to unlock.
//!
//! The data needs no events of its own: it is ordered by those of the lock.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{LockResult, TryLockError, TryLockResult};

use mc_runtime::ops::{Guard, Label, Test, Update};

use super::condvar;
use super::poison::{Entered, Flag};
use crate::checked::statics;
use crate::checked::word::Word32;

/// Takes the lock when it is free.
const LOCK: Guard = Guard { test: Test::Mask { mask: 1, want: 0 }, update: Update::KeepAdd { keep: !1, add: 1 } };

/// The lock without data: 0 is free, 1 is held.
pub(in crate::checked) struct RawMutex(Word32);

impl RawMutex {
    pub(in crate::checked) const fn new() -> Self {
        Self(Word32::new(0))
    }

    #[track_caller]
    pub(in crate::checked) fn lock(&self) {
        self.0.wait(LOCK, Acquire, Label::MutexLock);
    }

    /// As [`lock`](Self::lock) outside of a check; false when the deadline passed first.
    #[cfg(feature = "lock_api")]
    pub(in crate::checked) fn lock_until(&self, deadline: Option<std::time::Instant>) -> bool {
        self.0.wait_until(LOCK, deadline).is_some()
    }

    #[track_caller]
    pub(in crate::checked) fn try_lock(&self) -> bool {
        self.0.compare_exchange(0, 1, Acquire, Relaxed, Label::MutexTryLock).is_ok()
    }

    /// Is it held, by whomever?
    #[cfg(feature = "lock_api")]
    #[track_caller]
    pub(in crate::checked) fn is_locked(&self) -> bool {
        self.0.load(Relaxed, Label::MutexTryLock) != 0
    }

    #[track_caller]
    pub(in crate::checked) fn unlock(&self) {
        self.0.store(0, Release, Label::MutexUnlock);
    }
}

/// A mutual exclusion lock, as [`std::sync::Mutex`].
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    poison: Flag,
    data: UnsafeCell<T>,
}

// SAFETY: the data is reached through `&mut` or by whoever holds the lock, one thread at a time: `T: Send` is enough.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above; a shared lock only passes exclusive access from thread to thread.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// A new, unlocked mutex.
    #[inline]
    pub const fn new(t: T) -> Self {
        Self { raw: RawMutex::new(), poison: Flag::new(), data: UnsafeCell::new(t) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock and takes it.
    ///
    /// # Errors
    /// When a thread panicked while it held the lock; the error holds the guard.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.touched();
        self.raw.lock();
        MutexGuard::new(self)
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// When it is held, or poisoned.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.touched();
        condvar::looks_at_a_lock();
        if self.raw.try_lock() { Ok(MutexGuard::new(self)?) } else { Err(TryLockError::WouldBlock) }
    }

    /// Did a thread panic while it held the lock?
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.poison.look()
    }

    /// Forgets that a thread panicked while it held the lock.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.touched();
        self.poison.clear();
    }

    /// The data.
    ///
    /// # Errors
    /// When the mutex is poisoned; the error holds the data.
    pub fn into_inner(self) -> LockResult<T>
    where
        T: Sized,
    {
        let data = self.data.into_inner();
        self.poison.wrap(data)
    }

    /// The data, through exclusive access.
    ///
    /// # Errors
    /// When the mutex is poisoned; the error holds the reference.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poison.wrap(self.data.get_mut())
    }

    fn touched(&self) {
        // SAFETY: `touched` runs the function when nobody has access any more and the data is not used again.
        statics::touched(self, |mutex| unsafe { mutex.data.get().drop_in_place() });
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(t: T) -> Self {
        Self::new(t)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => shown.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &"<locked>"),
        };
        shown.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

/// Access to the data of a locked [`Mutex`]; unlocks it when dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    lock: &'a Mutex<T>,
    entered: Entered,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives `&T` only, so `T: Sync` is enough.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// For a lock that the calling thread has just taken.
    fn new(lock: &'a Mutex<T>) -> LockResult<Self> {
        lock.poison.wrap(Self { lock, entered: lock.poison.enter(), not_send: PhantomData })
    }

    /// The lock itself, for a condition variable to release and take again.
    pub(super) fn raw(&self) -> &'a RawMutex {
        &self.lock.raw
    }

    /// This guard, as an error when its mutex was poisoned meanwhile.
    pub(super) fn relocked(self) -> LockResult<Self> {
        let poison = &self.lock.poison;
        poison.wrap(self)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard exists only while its thread holds the lock, and it gives out nothing that outlives it.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` excludes other borrows through this guard.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.lock.poison.leave(self.entered);
        self.lock.raw.unlock();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
