//! lock_api 0.4, checked: its types over the checker's own locks, whatever raw lock they name.
//!
//! For crates that bring a raw lock of their own, on atomics that nobody controls. lock_api says what such a lock must do; here it is taken at its word:
//! the checker's lock, which does that, stands in its place, and its own code does not run. Readers do not wait for a writer that only waits.
//! The traits are lock_api's own, so raw locks fit both.
//!
//! # Where it differs
//! - `from_raw`, `const_new` and `raw` mean the lock that stands in, not the one that is named.
//! - Time-outs need std's `Duration` and `Instant`.
//! - In a `static`, as [`parking_lot`](super::parking_lot).

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use super::parking_lot::{RawMutex as OurMutex, RawRwLock as OurRwLock, RawThreadId};
pub use ::lock_api::{
    GetThreadId, GuardNoSend, GuardSend, RawMutex, RawMutexFair, RawMutexTimed, RawRwLock, RawRwLockDowngrade,
    RawRwLockFair, RawRwLockRecursive, RawRwLockRecursiveTimed, RawRwLockTimed, RawRwLockUpgrade,
    RawRwLockUpgradeDowngrade, RawRwLockUpgradeFair, RawRwLockUpgradeTimed,
};

macro_rules! aliases {
    ($($(#[$attribute:meta])* $name:ident<$($lifetime:lifetime,)? $raw:ident $(, $id:ident)?>,)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("[`lock_api::", stringify!($name), "`](::lock_api::", stringify!($name), ") over a checked lock.")]
        pub type $name<$($lifetime,)? R, $($id,)? T> = ::lock_api::$name<$($lifetime,)? $raw<R>, $(CheckedId<$id>,)? T>;
    )*};
}

aliases! {
    Mutex<CheckedMutex>,
    MutexGuard<'a, CheckedMutex>,
    MappedMutexGuard<'a, CheckedMutex>,
    RwLock<CheckedRwLock>,
    RwLockReadGuard<'a, CheckedRwLock>,
    RwLockWriteGuard<'a, CheckedRwLock>,
    RwLockUpgradableReadGuard<'a, CheckedRwLock>,
    MappedRwLockReadGuard<'a, CheckedRwLock>,
    MappedRwLockWriteGuard<'a, CheckedRwLock>,
    ReentrantMutex<CheckedMutex, G>,
    ReentrantMutexGuard<'a, CheckedMutex, G>,
    MappedReentrantMutexGuard<'a, CheckedMutex, G>,
    #[cfg(feature = "parking_lot_arc_lock")]
    ArcMutexGuard<CheckedMutex>,
    #[cfg(feature = "parking_lot_arc_lock")]
    ArcRwLockReadGuard<CheckedRwLock>,
    #[cfg(feature = "parking_lot_arc_lock")]
    ArcRwLockWriteGuard<CheckedRwLock>,
    #[cfg(feature = "parking_lot_arc_lock")]
    ArcRwLockUpgradableReadGuard<CheckedRwLock>,
    #[cfg(feature = "parking_lot_arc_lock")]
    ArcReentrantMutexGuard<CheckedMutex, G>,
}

/// [`lock_api::RawReentrantMutex`](::lock_api::RawReentrantMutex) over a checked lock.
pub type RawReentrantMutex<R, G> = ::lock_api::RawReentrantMutex<CheckedMutex<R>, CheckedId<G>>;

/// Stands in for the raw mutex `R`.
pub struct CheckedMutex<R>(OurMutex, PhantomData<R>);

/// Stands in for the raw reader-writer lock `R`.
pub struct CheckedRwLock<R>(OurRwLock, PhantomData<R>);

/// Stands in for `G`, to which the threads of a check, all on one thread of the operating system, would be the same.
pub struct CheckedId<G>(PhantomData<G>);

// SAFETY: `RawThreadId` promises it.
unsafe impl<G: GetThreadId> GetThreadId for CheckedId<G> {
    const INIT: Self = Self(PhantomData);

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        RawThreadId.nonzero_thread_id()
    }
}

/// Methods that do what the lock that stands in does.
macro_rules! forward {
    ($($(#[$attribute:meta])* fn $name:ident(&self $(, $argument:ident: $type:ty)?) $(-> $output:ty)? = $theirs:ident;)*) => {$(
        $(#[$attribute])*
        #[track_caller]
        fn $name(&self $(, $argument: $type)?) $(-> $output)? {
            self.0.$theirs($($argument)?)
        }
    )*};
    ($($(#[$attribute:meta])* unsafe fn $name:ident(&self $(, $argument:ident: $type:ty)?) $(-> $output:ty)?;)*) => {$(
        $(#[$attribute])*
        #[track_caller]
        unsafe fn $name(&self $(, $argument: $type)?) $(-> $output)? {
            // SAFETY: promised by the caller, to whom there is one lock.
            unsafe { self.0.$name($($argument)?) }
        }
    )*};
}

// SAFETY: of all below: `parking_lot`'s locks, which are in their place, promise it.
unsafe impl<R: RawMutex> RawMutex for CheckedMutex<R> {
    const INIT: Self = Self(OurMutex::INIT, PhantomData);
    type GuardMarker = R::GuardMarker;

    forward! {
        fn lock(&self) = lock;
        fn try_lock(&self) -> bool = try_lock;
        fn is_locked(&self) -> bool = is_locked;
    }
    forward! { unsafe fn unlock(&self); }
}

// SAFETY: as above.
unsafe impl<R: RawMutexFair> RawMutexFair for CheckedMutex<R> {
    forward! { unsafe fn unlock_fair(&self); }
}

// SAFETY: as above.
unsafe impl<R: RawMutexTimed<Duration = Duration, Instant = Instant>> RawMutexTimed for CheckedMutex<R> {
    type Duration = Duration;
    type Instant = Instant;

    forward! {
        fn try_lock_for(&self, timeout: Duration) -> bool = try_lock_for;
        fn try_lock_until(&self, timeout: Instant) -> bool = try_lock_until;
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLock> RawRwLock for CheckedRwLock<R> {
    const INIT: Self = Self(OurRwLock::INIT, PhantomData);
    type GuardMarker = R::GuardMarker;

    forward! {
        fn lock_shared(&self) = lock_shared_recursive;
        fn try_lock_shared(&self) -> bool = try_lock_shared_recursive;
        fn lock_exclusive(&self) = lock_exclusive;
        fn try_lock_exclusive(&self) -> bool = try_lock_exclusive;
        fn is_locked(&self) -> bool = is_locked;
        fn is_locked_exclusive(&self) -> bool = is_locked_exclusive;
    }
    forward! {
        unsafe fn unlock_shared(&self);
        unsafe fn unlock_exclusive(&self);
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockFair> RawRwLockFair for CheckedRwLock<R> {
    forward! {
        unsafe fn unlock_shared_fair(&self);
        unsafe fn unlock_exclusive_fair(&self);
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockDowngrade> RawRwLockDowngrade for CheckedRwLock<R> {
    forward! { unsafe fn downgrade(&self); }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockRecursive> RawRwLockRecursive for CheckedRwLock<R> {
    forward! {
        fn lock_shared_recursive(&self) = lock_shared_recursive;
        fn try_lock_shared_recursive(&self) -> bool = try_lock_shared_recursive;
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockTimed<Duration = Duration, Instant = Instant>> RawRwLockTimed for CheckedRwLock<R> {
    type Duration = Duration;
    type Instant = Instant;

    forward! {
        fn try_lock_shared_for(&self, timeout: Duration) -> bool = try_lock_shared_recursive_for;
        fn try_lock_shared_until(&self, timeout: Instant) -> bool = try_lock_shared_recursive_until;
        fn try_lock_exclusive_for(&self, timeout: Duration) -> bool = try_lock_exclusive_for;
        fn try_lock_exclusive_until(&self, timeout: Instant) -> bool = try_lock_exclusive_until;
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockRecursiveTimed<Duration = Duration, Instant = Instant>> RawRwLockRecursiveTimed
    for CheckedRwLock<R>
{
    forward! {
        fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool = try_lock_shared_recursive_for;
        fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool = try_lock_shared_recursive_until;
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgrade> RawRwLockUpgrade for CheckedRwLock<R> {
    forward! {
        fn lock_upgradable(&self) = lock_upgradable;
        fn try_lock_upgradable(&self) -> bool = try_lock_upgradable;
    }
    forward! {
        unsafe fn unlock_upgradable(&self);
        unsafe fn upgrade(&self);
        unsafe fn try_upgrade(&self) -> bool;
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeFair> RawRwLockUpgradeFair for CheckedRwLock<R> {
    forward! { unsafe fn unlock_upgradable_fair(&self); }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeDowngrade> RawRwLockUpgradeDowngrade for CheckedRwLock<R> {
    forward! {
        unsafe fn downgrade_upgradable(&self);
        unsafe fn downgrade_to_upgradable(&self);
    }
}

// SAFETY: as above.
unsafe impl<R: RawRwLockUpgradeTimed<Duration = Duration, Instant = Instant>> RawRwLockUpgradeTimed
    for CheckedRwLock<R>
{
    forward! {
        fn try_lock_upgradable_for(&self, timeout: Duration) -> bool = try_lock_upgradable_for;
        fn try_lock_upgradable_until(&self, timeout: Instant) -> bool = try_lock_upgradable_until;
    }
    forward! {
        unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool;
        unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool;
    }
}
