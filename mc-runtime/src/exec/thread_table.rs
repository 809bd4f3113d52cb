//! The threads of the execution, and which of them runs.

use super::thread::Thread;
use crate::ids::ThreadId;
use std::ops::{Deref, DerefMut};

/// By slot.
#[derive(Debug)]
pub(crate) struct ThreadTable {
    all: Vec<Thread>,
    /// One of them: there is always one that runs, and none is ever taken away.
    running: ThreadId,
}

impl Default for ThreadTable {
    /// The thread of the body.
    fn default() -> Self {
        ThreadTable { all: vec![Thread::default()], running: ThreadId::MAIN }
    }
}

impl ThreadTable {
    /// The one that runs.
    #[inline(always)]
    pub(crate) fn running(&self) -> ThreadId {
        self.running
    }

    /// Another one runs. Panics if it was never [made](ThreadTable::ensure).
    pub(super) fn run(&mut self, thread: ThreadId) {
        assert!(thread.slot() < self.all.len(), "no thread of the execution: {thread:?}");
        self.running = thread;
    }

    /// Makes a thread, if it is new.
    pub(super) fn ensure(&mut self, thread: ThreadId) {
        let needed = thread.slot() + 1;
        if self.all.len() < needed {
            self.all.resize_with(needed, Thread::default);
        }
    }

    /// The one that runs. Each operation asks this some ten times, so nothing is compared: 2 % of the time of all executions.
    #[inline(always)]
    pub(crate) fn me(&self) -> &Thread {
        // SAFETY: in bounds by `run`, the only place that sets it, and `all` never shrinks.
        unsafe { self.all.get_unchecked(self.running.slot()) }
    }

    /// As [`ThreadTable::me`].
    #[inline(always)]
    pub(crate) fn me_mut(&mut self) -> &mut Thread {
        // SAFETY: as in `me`.
        unsafe { self.all.get_unchecked_mut(self.running.slot()) }
    }
}

impl Deref for ThreadTable {
    type Target = [Thread];

    fn deref(&self) -> &[Thread] {
        &self.all
    }
}

impl DerefMut for ThreadTable {
    fn deref_mut(&mut self) -> &mut [Thread] {
        &mut self.all
    }
}
