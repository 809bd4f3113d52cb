//! The threads of the execution, and which of them runs.

use super::thread::{State, Thread};
use crate::ids::ThreadId;
use std::ops::{Deref, DerefMut};

/// By slot.
#[derive(Debug)]
pub(crate) struct ThreadTable {
    all: Vec<Thread>,
    /// One of them: there is always one that runs, and none is ever taken away.
    running: ThreadId,
    /// How many ranks behind that of the body are known to have ended, with none between them that has not.
    ended: usize,
}

impl Default for ThreadTable {
    /// The thread of the body.
    fn default() -> Self {
        ThreadTable { all: vec![Thread::default()], running: ThreadId::MAIN, ended: 0 }
    }
}

impl ThreadTable {
    /// The one that runs.
    #[inline(always)]
    pub(crate) fn running(&self) -> ThreadId {
        self.running
    }

    /// An execution begins, with the thread of the body.
    pub(super) fn begin(&mut self) {
        self.all.iter_mut().for_each(Thread::reset);
        self.all[0].state = State::Unstarted;
        (self.running, self.ended) = (ThreadId::MAIN, 0);
    }

    /// The rank to be asked after that of `thread`, where all are, one after the other. Those of threads that come and go have ended as a rule, and stay so: they are passed over.
    /// (Who is spawned has its rank behind that of the thread that spawns it, or behind all.)
    #[inline(always)]
    pub(super) fn next_rank(&mut self, rank: usize, thread: ThreadId) -> usize {
        if rank == 0 {
            return 1 + self.ended;
        }
        let has_ended = rank == 1 + self.ended && self.all.get(thread.slot()).is_some_and(|t| t.state == State::Ended);
        self.ended += usize::from(has_ended);
        rank + 1
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
    fn ranks_of_threads_that_have_ended_are_passed_over() {
        let mut threads = ThreadTable::default();
        threads.begin();
        threads.ensure(ThreadId(4));
        let asked = |threads: &mut ThreadTable| {
            let (mut asked, mut rank) = (Vec::new(), 0);
            while rank < 5 {
                asked.push(rank);
                rank = threads.next_rank(rank, ThreadId(rank as u32));
            }
            asked
        };
        for ended in [1, 3] {
            threads[ended].state = State::Ended;
        }
        assert_eq!(asked(&mut threads), [0, 1, 2, 3, 4]);
        threads[2].state = State::Ended;
        assert_eq!(asked(&mut threads), [0, 2, 3, 4]);
        assert_eq!(asked(&mut threads), [0, 4]);
        threads.begin();
        assert_eq!(asked(&mut threads), [0, 1, 2, 3, 4]);
    }

    #[test]
    #[should_panic(expected = "no thread of the execution")]
    fn one_that_was_never_made_does_not_run() {
        ThreadTable::default().run(ThreadId(1));
    }
}
