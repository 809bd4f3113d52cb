//! `std::sync`, checked.

pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
#[cfg(feature = "lock_api")]
pub(in crate::checked) use condvar::Queued;
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
#[cfg(feature = "lock_api")]
pub(in crate::checked) use mutex::RawMutex;
pub use mutex::{Mutex, MutexGuard};
#[expect(deprecated, reason = "std still has it")]
pub use once::ONCE_INIT;
#[cfg(feature = "lock_api")]
pub(in crate::checked) use once::Stage;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
#[cfg(feature = "lock_api")]
pub(in crate::checked) use rwlock::{READ, RawRwLock, WRITER};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

mod arc;
pub mod atomic;
mod barrier;
mod condvar;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod poison;
mod rwlock;
