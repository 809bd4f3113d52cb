//! The threads of a graph: their slots and ranks, how each starts, and whether it has ended. Neither is an event.

use super::Graph;
use super::event::{Event, Known};
use crate::ids::{EventId, ThreadId};

/// What a thread does.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// In program order.
    pub(super) events: Vec<Event>,
    /// How many events there were at most, of all threads, when it ended after its own: of one that was joined, no more than before the join. It may not end, where what comes before is
    /// not all there any more: which thread is the last owner of a value, and so runs its destructor, does not follow from its own events.
    pub(super) ended: u32,
}

/// In [`Line::ended`]: it has not.
const NOT_ENDED: u32 = u32::MAX;

impl Line {
    /// Of what has done nothing yet.
    pub(super) const EMPTY: Line = Line { events: Vec::new(), ended: NOT_ENDED };

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.ended = NOT_ENDED;
    }
}

/// How a thread starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Its spawn; `INIT` for the body of the test, and for slots that are free.
    pub(super) spawn: EventId,
    /// Its twin, as its spawn says (see `graph::symmetry`).
    pub(super) twin: Option<ThreadId>,
    /// What it knows before its first event: what its spawn does, and the spawn itself.
    pub(super) known: Known,
}

impl Start {
    /// Of what nobody has spawned.
    pub(super) const UNSPAWNED: Start = Start { spawn: EventId::INIT, twin: None, known: Known::NOTHING };
}

impl Graph {
    /// Has the thread ended, after the events of its own that there are? It may have been in another execution that has begun with these.
    pub(crate) fn has_ended(&self, thread: ThreadId) -> bool {
        self.threads[thread.slot()].ended != NOT_ENDED
    }

    /// Has the thread no more than `count` events, and then, [has it ended](Graph::has_ended)?
    pub(crate) fn is_at_end(&self, thread: ThreadId, count: usize) -> (bool, bool) {
        let line = &self.threads[thread.slot()];
        (line.events.len() <= count, line.ended != NOT_ENDED)
    }

    /// The thread has ended.
    pub(crate) fn end_thread(&mut self, thread: ThreadId) {
        self.threads[thread.slot()].ended = self.order.len() as u32;
    }

    /// Whoever has ended after so many events of all, or more, has not.
    pub(crate) fn forget_ends(&mut self, len: usize) {
        for thread in self.threads[..self.starts.len()].iter_mut().filter(|thread| thread.ended as usize >= len) {
            thread.ended = NOT_ENDED;
        }
    }

    pub(super) fn remove_thread(&mut self, thread: ThreadId) {
        self.starts[thread.slot()] = Start::UNSPAWNED;
        // As a rule it is the last of them.
        if self.ranks.pop_if(|t| *t == thread).is_none() {
            std::hint::cold_path();
            let rank = self.ranks.iter().rposition(|t| *t == thread).expect("a thread that was spawned has its rank");
            self.ranks.remove(rank);
        }
        // Nobody has the last slots, but for that of the body.
        while self.starts.len() > 1 && self.starts.pop_if(|start| start.spawn.is_init()).is_some() {}
    }

    /// A slot for a new thread: the lowest that is free.
    pub(crate) fn free_slot(&self) -> ThreadId {
        if self.ranks.len() == self.starts.len() {
            return ThreadId(self.starts.len() as u32);
        }
        self.slot_between()
    }

    #[cold]
    fn slot_between(&self) -> ThreadId {
        (1..).map(ThreadId).find(|t| !self.ranks.contains(t)).expect("there is no end of numbers")
    }

    #[inline(always)]
    pub(super) fn insert_thread(&mut self, thread: ThreadId, start: Start) {
        match self.threads.get_mut(thread.slot()) {
            Some(line) => line.ended = NOT_ENDED,
            None => self.make_threads(thread.slot() + 1),
        }
        if self.starts.len() == thread.slot() {
            self.starts.push(start);
        } else {
            self.start_between(thread, start);
        }
        if start.spawn.thread == ThreadId::MAIN {
            return self.ranks.push(thread); // no thread is right of it
        }
        self.insert_rank(thread);
    }

    #[inline(never)]
    fn insert_rank(&mut self, thread: ThreadId) {
        let at = self.ranks.iter().position(|t| self.is_left_of(thread, *t)).unwrap_or(self.ranks.len());
        self.ranks.insert(at, thread);
    }

    /// Makes slots for threads, up to so many.
    #[cold]
    fn make_threads(&mut self, needed: usize) {
        self.threads.resize_with(needed, || Line::EMPTY);
    }

    /// A thread starts whose slot is not the next one.
    #[cold]
    fn start_between(&mut self, thread: ThreadId, start: Start) {
        let slots = self.starts.len().max(thread.slot() + 1);
        self.starts.resize(slots, Start::UNSPAWNED);
        self.starts[thread.slot()] = start;
    }

    /// Is thread `a` left of `b`? By the path of their spawns: a parent is left of its children.
    fn is_left_of(&self, a: ThreadId, b: ThreadId) -> bool {
        let depth = |mut t: ThreadId| {
            let mut depth = 0usize;
            while t != ThreadId::MAIN {
                t = self.parent(t).thread;
                depth += 1;
            }
            depth
        };
        let (da, db) = (depth(a), depth(b));
        let lift = |t: ThreadId, by: usize| (0..by).fold(t, |t, _| self.parent(t).thread);
        let (mut x, mut y) = (lift(a, da.saturating_sub(db)), lift(b, db.saturating_sub(da)));
        if x == y {
            return da < db;
        }
        while self.parent(x).thread != self.parent(y).thread {
            (x, y) = (self.parent(x).thread, self.parent(y).thread);
        }
        self.parent(x).index < self.parent(y).index
    }
}
