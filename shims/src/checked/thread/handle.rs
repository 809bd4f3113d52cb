//! `Thread` and `ThreadId`: of the engine's threads, or std's own.

use crate::checked::sync::Arc;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use mc_runtime::ops::{self, Label, Rmw, ThreadKey};

use crate::checked::word::Word32;

/// What a handle of an engine's thread shares with the thread.
pub(super) struct Shared {
    name: Option<String>,
    /// Its [`ThreadKey`]. Plain memory: set by the thread and by whoever spawned it, to the same.
    key: AtomicU32,
    /// 1 while there is a park token.
    pub(super) token: Word32,
    /// 1 once its result is there; written only if somebody asks [`is_finished`](super::JoinHandle::is_finished), or a scope waits for that.
    pub(super) done: Word32,
}

impl Shared {
    /// For a thread whose key is not known yet.
    pub(super) fn new(name: Option<String>) -> Self {
        Self { name, key: AtomicU32::new(u32::MAX), token: Word32::new(0), done: Word32::new(0) }
    }

    pub(super) fn identify(&self, key: ThreadKey) {
        self.key.store(key.0, Ordering::Relaxed);
    }
}

#[derive(Clone)]
enum Repr {
    Real(std::thread::Thread),
    Checked(Arc<Shared>),
}

/// A handle to a thread, as [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread(Repr);

impl Thread {
    pub(super) fn real(thread: std::thread::Thread) -> Self {
        Self(Repr::Real(thread))
    }

    pub(super) fn checked(shared: Arc<Shared>) -> Self {
        Self(Repr::Checked(shared))
    }

    pub(super) fn shared(&self) -> Option<&Shared> {
        match &self.0 {
            Repr::Real(_) => None,
            Repr::Checked(shared) => Some(shared),
        }
    }

    /// Gives the thread its token, which a [`park`](super::park) takes.
    #[inline]
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Repr::Real(thread) => thread.unpark(),
            Repr::Checked(shared) => {
                shared.token.rmw(Rmw::Or, 1, Ordering::Release, Label::Unpark);
            }
        }
    }

    /// Its identifier.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        match &self.0 {
            Repr::Real(thread) => ThreadId(IdRepr::Real(thread.id())),
            Repr::Checked(shared) => {
                let key = ThreadKey(shared.key.load(Ordering::Relaxed));
                ops::tell_apart(key);
                ThreadId(IdRepr::Checked(key.0))
            }
        }
    }

    /// Its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Repr::Real(thread) => thread.name(),
            Repr::Checked(shared) => shared.name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum IdRepr {
    Real(std::thread::ThreadId),
    Checked(u32),
}

/// Tells threads apart, as [`std::thread::ThreadId`]; under control, the threads of one execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(IdRepr);

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IdRepr::Real(id) => id.fmt(f),
            // std's count from 1.
            IdRepr::Checked(key) => f.debug_tuple("ThreadId").field(&(u64::from(key) + 1)).finish(),
        }
    }
}
