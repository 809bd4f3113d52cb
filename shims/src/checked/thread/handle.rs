//! `Thread` and `ThreadId`: of the engine's threads, or std's own.

use std::fmt;
use std::sync::atomic::Ordering;

use mc_runtime::ops::{self, HandleWords, Label, Rmw, ThreadKey};

use crate::checked::word::Word32;

/// The name of an engine's thread.
#[derive(Clone)]
pub(super) enum Name {
    None,
    /// The body of the test is called as std calls the thread of `main`.
    Main,
    Given(Box<str>),
}

impl Name {
    /// One that was given, which must be one that the system could take.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(super) fn given(name: &str) -> Self {
        assert!(!name.as_bytes().contains(&0), "thread name may not contain interior null bytes");
        Self::Given(name.into())
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Main => Some("main"),
            Self::Given(name) => Some(name),
        }
    }
}

#[derive(Clone)]
enum Repr {
    Real(std::thread::Thread),
    Checked(ThreadKey, Name),
}

/// A handle to a thread, as [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread(Repr);

impl Thread {
    pub(super) fn real(thread: std::thread::Thread) -> Self {
        Self(Repr::Real(thread))
    }

    pub(super) fn checked(key: ThreadKey, name: Name) -> Self {
        Self(Repr::Checked(key, name))
    }

    /// Drops a handle. As a rule it is of a thread without a name, which has nothing to be dropped.
    #[inline]
    pub(super) fn end(self) {
        if let Repr::Checked(_, Name::None) = self.0 {
            std::mem::forget(self);
        } else {
            drop_named(self);
        }
    }

    /// The park token, if it is a thread of the running execution.
    pub(super) fn token(&self) -> Option<&Word32> {
        self.words().map(|words| Word32::of(&words.token))
    }

    /// 1 once its result is there; written only if somebody asks [`is_finished`](super::JoinHandle::is_finished), or a scope waits for that.
    pub(super) fn done(&self) -> Option<&Word32> {
        self.words().map(|words| Word32::of(&words.done))
    }

    fn words(&self) -> Option<&HandleWords> {
        match &self.0 {
            Repr::Real(_) => None,
            // SAFETY: they stay until the check ends, of which the caller is a thread.
            Repr::Checked(key, _) => ops::handle_words(*key).map(|words| unsafe { words.as_ref() }),
        }
    }

    /// Gives the thread its token, which a [`park`](super::park) takes.
    #[inline]
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Repr::Real(thread) => thread.unpark(),
            Repr::Checked(..) => {
                // What is left of another execution has nobody to wake.
                if let Some(token) = self.token() {
                    token.rmw(Rmw::Or, 1, Ordering::Release, Label::Unpark);
                }
            }
        }
    }

    /// Its identifier.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        match &self.0 {
            Repr::Real(thread) => ThreadId(IdRepr::Real(thread.id())),
            Repr::Checked(key, _) => {
                ops::tell_apart(*key);
                ThreadId(IdRepr::Checked(key.0))
            }
        }
    }

    /// Its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Repr::Real(thread) => thread.name(),
            Repr::Checked(_, name) => name.as_str(),
        }
    }
}

#[cold]
#[inline(never)]
fn drop_named(thread: Thread) {
    drop(thread);
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
