//! parking_lot 0.12, checked: its names and types, through `lock_api`, over the locks that `mc::sync` is made of.
//!
//! Source: the documentation of parking_lot 0.12 and lock_api 0.4. Types are lock_api's over other raw locks, so all of its methods are here.
//! A lock does not poison. Who gets a lock next is open: fair unlocking is one of the orders that are explored. A wait with a time-out
//! ends by either, which is a choice. Where parking_lot promises more than std it is so here: a writer that waits keeps new readers away
//! (see [`RawRwLock`]), and a [`Condvar`] has no spurious wake-ups.
//!
//! # Where it differs
//! - In a `static`, such a lock cannot start afresh in every execution, for a raw lock does not know what it guards: a check that meets one fails
//!   with `contract`. `mc::sync` has locks that can.
//! - [`Condvar`] has room for 32 waiters under control. `wait_until` also takes `mc::time::Instant`; for the `..._until` of locks,
//!   turn it into std's with `.into()`.
//! - `lock_arc` and its like take std's `Arc`, which is not checked.
//! - `try_write` of a lock that is free succeeds. parking_lot's may fail while several threads wait for their turn, one of them to write, and its `is_locked` be false just then.
//! - Giving back an upgradable guard orders what was read before whoever writes next; parking_lot orders only whom it wakes. `bump` gives a lock away also where nobody waits.
//! - Types are larger than parking_lot's.

pub use ::lock_api;
#[cfg(feature = "lock_api_arc_lock")]
pub use ::lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard,
};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use fair_mutex::{FairMutex, FairMutexGuard, MappedFairMutexGuard, RawFairMutex, const_fair_mutex};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, RawMutex, const_mutex};
pub use once::{Once, OnceState};
pub use remutex::{MappedReentrantMutexGuard, RawThreadId, ReentrantMutex, ReentrantMutexGuard, const_reentrant_mutex};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RawRwLock, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard, const_rwlock,
};

mod asked;
mod condvar;
#[cfg(feature = "lock_api_deadlock_detection")]
pub mod deadlock;
mod fair_mutex;
mod mutex;
mod once;
mod remutex;
mod rwlock;
mod rwlock_timed;
mod timed;

#[cfg(all(feature = "lock_api_send_guard", feature = "lock_api_deadlock_detection"))]
compile_error!("parking_lot's features `send_guard` and `deadlock_detection` exclude each other");

#[cfg(feature = "lock_api_send_guard")]
type GuardMarker = lock_api::GuardSend;
#[cfg(not(feature = "lock_api_send_guard"))]
type GuardMarker = lock_api::GuardNoSend;
