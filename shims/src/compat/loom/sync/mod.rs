//! `loom::sync`.

pub use std::sync::{LockResult, TryLockResult};

pub use crate::sync::{
    Barrier, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult, mpsc,
};
pub use arc::Arc;
pub use notify::Notify;

mod arc;
pub mod atomic;
mod notify;
