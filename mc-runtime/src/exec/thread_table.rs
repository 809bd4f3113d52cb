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
        if thread.slot() >= self.all.len() {
            none_such(thread);
        }
        self.running = thread;
    }

    /// Makes a thread, if it is new.
    #[inline(always)]
    pub(super) fn ensure(&mut self, thread: ThreadId) {
        if self.all.len() <= thread.slot() {
            self.make(thread.slot() + 1);
        }
    }

    #[cold]
    fn make(&mut self, needed: usize) {
        self.all.resize_with(needed, Thread::default);
    }

    /// The one that runs. Each operation asks this some ten times, so nothing is compared: 2 % of the time of all executions.
    #[inline(always)]
    pub(crate) fn me_ref(&self) -> &Thread {
        // SAFETY: in bounds by `run`, the only place that sets it, and `all` never shrinks.
        unsafe { self.all.get_unchecked(self.running.slot()) }
    }

    /// As [`ThreadTable::me_ref`].
    #[inline(always)]
    pub(crate) fn me(&mut self) -> &mut Thread {
        // SAFETY: as in `me_ref`.
        unsafe { self.all.get_unchecked_mut(self.running.slot()) }
    }
}

#[cold]
#[inline(never)]
fn none_such(thread: ThreadId) -> ! {
    panic!("no thread of the execution: {thread:?}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_runs_is_the_one_that_was_said_to() {
        let mut threads = ThreadTable::default();
        threads.ensure(ThreadId(2));
        threads.run(ThreadId(2));
        threads.me().spurious = 7;
        assert_eq!((threads.running(), threads.me_ref().spurious, threads[2].spurious), (ThreadId(2), 7, 7));
        assert_eq!((threads.len(), threads[0].spurious), (3, 0));
    }

    #[test]
    #[should_panic(expected = "no thread of the execution")]
    fn one_that_was_never_made_does_not_run() {
        ThreadTable::default().run(ThreadId(1));
    }
}
