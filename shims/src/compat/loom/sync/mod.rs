//! `loom::sync`.

pub use std::sync::{LockResult, TryLockResult};

pub use crate::sync::{
    Barrier, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};
pub use arc::Arc;
pub use notify::Notify;

mod arc;
pub mod atomic;
pub mod mpsc;
mod notify;
