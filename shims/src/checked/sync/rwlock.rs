//! `RwLock`: one word, the number of readers and a bit for the writer. Any waiter may come next.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{LockResult, TryLockError, TryLockResult};

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update};

use super::poison::{Entered, Flag};
use crate::checked::statics;
use crate::checked::word::Word32;

/// The bit of the writer.
pub(in crate::checked) const WRITER: u32 = 1 << 31;

/// The lock without data.
pub(in crate::checked) struct RawRwLock(Word32);

/// The locking functions give the state that they found.
impl RawRwLock {
    pub(in crate::checked) const fn new() -> Self {
        Self(Word32::new(0))
    }

    /// The state itself, for what only some locks can do.
    #[cfg(feature = "lock_api")]
    pub(in crate::checked) fn word(&self) -> &Word32 {
        &self.0
    }

    #[track_caller]
    pub(in crate::checked) fn read(&self) -> u32 {
        self.0.wait(READ, Acquire, Label::RwLockRead)
    }

    #[track_caller]
    pub(in crate::checked) fn try_read(&self) -> Option<u32> {
        let mut state = self.0.load(Relaxed, Label::RwLockTryRead);
        while state & WRITER == 0 {
            match self.0.compare_exchange(state, state + 1, Acquire, Relaxed, Label::RwLockTryRead) {
                Ok(_) => return Some(state),
                Err(found) => state = found,
            }
        }
        None
    }

    #[track_caller]
    pub(in crate::checked) fn read_unlock(&self) {
        self.0.rmw(Rmw::Sub, 1, Release, Label::RwLockReadUnlock);
    }

    #[track_caller]
    pub(in crate::checked) fn write(&self) {
        let test = Test::Mask { mask: !0, want: 0 };
        self.0.wait(Guard { test, update: Update::KeepAdd { keep: !0, add: WRITER } }, Acquire, Label::RwLockWrite);
    }

    #[track_caller]
    pub(in crate::checked) fn try_write(&self) -> bool {
        self.0.compare_exchange(0, WRITER, Acquire, Relaxed, Label::RwLockTryWrite).is_ok()
    }

    #[track_caller]
    pub(in crate::checked) fn write_unlock(&self) {
        self.0.rmw(Rmw::And, !WRITER, Release, Label::RwLockWriteUnlock);
    }

    #[track_caller]
    pub(in crate::checked) fn downgrade(&self) {
        self.0.rmw(Rmw::Sub, WRITER - 1, Release, Label::RwLockDowngrade);
    }
}

/// The lock of an [`RwLock`]: its readers have no order, as long as nobody looks whether the lock is free.
struct Lock(RawRwLock);

impl Lock {
    /// Is the order of readers left out? Then the state's events are not those of [`RawRwLock`].
    fn commutes() -> bool {
        ops::controlled() && !ops::learned(ops::READER_ORDER)
    }

    #[track_caller]
    fn read(&self) {
        if !(Self::commutes() && ops::read_lock(self.0.0.at(), Label::RwLockRead)) {
            self.0.read();
        }
    }

    #[track_caller]
    fn try_read(&self) -> bool {
        ops::learn(ops::READER_ORDER);
        self.0.try_read().is_some()
    }

    #[track_caller]
    fn read_unlock(&self) {
        if !(Self::commutes() && ops::read_unlock(self.0.0.at(), Label::RwLockReadUnlock)) {
            self.0.read_unlock();
        }
    }

    #[track_caller]
    fn write(&self) {
        if !(Self::commutes() && ops::write_lock(self.0.0.at(), Label::RwLockWrite)) {
            self.0.write();
        }
    }

    #[track_caller]
    fn try_write(&self) -> bool {
        ops::learn(ops::READER_ORDER);
        self.0.try_write()
    }
}

/// Joins the readers when there is no writer.
pub(in crate::checked) const READ: Guard =
    Guard { test: Test::Mask { mask: WRITER, want: 0 }, update: Update::KeepAdd { keep: !0, add: 1 } };

/// A reader-writer lock, as [`std::sync::RwLock`].
pub struct RwLock<T: ?Sized> {
    raw: Lock,
    poison: Flag,
    data: UnsafeCell<T>,
}

// SAFETY: moving the lock moves the data: `T: Send` is enough.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: a shared lock gives `&T` to several threads (`T: Sync`) and `&mut T` to one (`T: Send`).
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// A new, unlocked lock.
    #[inline]
    pub const fn new(t: T) -> Self {
        Self { raw: Lock(RawRwLock::new()), poison: Flag::new(), data: UnsafeCell::new(t) }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no writer holds the lock and joins the readers.
    ///
    /// # Errors
    /// When a writer panicked; the error holds the guard.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.touched();
        self.raw.read();
        RwLockReadGuard::new(self)
    }

    /// Joins the readers if no writer holds the lock.
    ///
    /// # Errors
    /// When a writer holds it, or it is poisoned.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        self.touched();
        if self.raw.try_read() { Ok(RwLockReadGuard::new(self)?) } else { Err(TryLockError::WouldBlock) }
    }

    /// Waits until nobody holds the lock and takes it.
    ///
    /// # Errors
    /// When a writer panicked; the error holds the guard.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.touched();
        self.raw.write();
        RwLockWriteGuard::new(self)
    }

    /// Takes the lock for writing if nobody holds it.
    ///
    /// # Errors
    /// When somebody holds it, or it is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        self.touched();
        if self.raw.try_write() { Ok(RwLockWriteGuard::new(self)?) } else { Err(TryLockError::WouldBlock) }
    }

    /// Did a writer panic?
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.poison.look()
    }

    /// Forgets that a writer panicked.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.touched();
        self.poison.clear();
    }

    /// The data.
    ///
    /// # Errors
    /// When the lock is poisoned; the error holds the data.
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
    /// When the lock is poisoned; the error holds the reference.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poison.wrap(self.data.get_mut())
    }

    fn touched(&self) {
        // SAFETY: `touched` runs the function when nobody has access any more and the data is not used again.
        statics::touched(self, |lock| unsafe { lock.data.get().drop_in_place() });
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(t: T) -> Self {
        Self::new(t)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => shown.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
        };
        shown.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

/// Shared access to the data of an [`RwLock`]; leaves the readers when dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'rwlock, T: ?Sized + 'rwlock> {
    // Not `&'rwlock RwLock<T>`: the guard is covariant in `T`, as std's is. The pointer also makes it `!Send`.
    data: NonNull<T>,
    raw: &'rwlock Lock,
}

// SAFETY: a shared guard gives `&T` only, so `T: Sync` is enough.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}

impl<'rwlock, T: ?Sized> RwLockReadGuard<'rwlock, T> {
    /// For a lock whose readers the calling thread has just joined.
    fn new(lock: &'rwlock RwLock<T>) -> LockResult<Self> {
        lock.poison.wrap(Self::without_poison(lock))
    }

    fn without_poison(lock: &'rwlock RwLock<T>) -> Self {
        Self { data: NonNull::new(lock.data.get()).expect("a cell is not at null"), raw: &lock.raw }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the pointer is to the data of a lock that is borrowed for the guard's lifetime and held by readers only.
        unsafe { self.data.as_ref() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.raw.read_unlock();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Exclusive access to the data of an [`RwLock`]; unlocks it when dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'rwlock, T: ?Sized + 'rwlock> {
    lock: &'rwlock RwLock<T>,
    entered: Entered,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives `&T` only, so `T: Sync` is enough.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'rwlock, T: ?Sized> RwLockWriteGuard<'rwlock, T> {
    /// For a lock that the calling thread has just taken for writing.
    fn new(lock: &'rwlock RwLock<T>) -> LockResult<Self> {
        lock.poison.wrap(Self { lock, entered: lock.poison.enter(), not_send: PhantomData })
    }

    /// From writer to reader, without a gap in which another writer could come.
    #[track_caller]
    pub fn downgrade(s: Self) -> RwLockReadGuard<'rwlock, T> {
        // As in std, a panic that has begun meanwhile poisons nothing.
        let s = ManuallyDrop::new(s);
        s.lock.raw.0.downgrade();
        RwLockReadGuard::without_poison(s.lock)
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard exists only while its thread is the writer, and it gives out nothing that outlives it.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` excludes other borrows through this guard.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.lock.poison.leave(self.entered);
        self.lock.raw.0.write_unlock();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
