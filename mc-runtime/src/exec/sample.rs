//! Chance: which thread makes the next event of an execution that is one of many independent ones.
//!
//! Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010, for PCT; Yuan, Yang, Gu, CAV 2018, for POS.
//! Differs: what waits in POS is compared by address, and an update or compare-exchange counts as a write whether or not it will be one.
//! A read sees the newest write most of the time: where each read is as likely to see any, compare-exchanges fail, threads give up, and what takes
//! some steps to go wrong hardly ever does.

use super::{Engine, Guide};
use crate::ids::ThreadId;
use crate::options::Strategy;
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

/// Random choices.
#[derive(Debug)]
pub(crate) struct Sampler {
    rng: Pcg64,
    kind: Kind,
    /// The greatest runs. By slot.
    priorities: Vec<u64>,
    /// Of POS: what each thread does next, where that is an access. By slot.
    pending: Vec<Option<Pending>>,
    /// Of PCT.
    points: Vec<usize>,
    lowest: u64,
    /// The longest execution so far.
    length: usize,
}

/// How the next thread is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Any, with the same probability.
    Walk,
    /// Each thread has a priority. At so many points the running thread gets the lowest one.
    Pct(u32),
    /// Each event that waits has a priority. One that races with the event that is made gets a new one.
    Pos,
}

/// An access that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// The address.
    pub at: usize,
    /// May it write?
    pub writes: bool,
}

impl Pending {
    fn races(self, other: Pending) -> bool {
        self.at == other.at && (self.writes || other.writes)
    }
}

/// Priorities that were drawn; those that were given later, to be the lowest, are below.
const DRAWN: u64 = 1 << 32;

impl Sampler {
    /// A sampler with its own stream of random numbers; `None` for a strategy that explores.
    pub(crate) fn new(strategy: Strategy, seed: u64) -> Option<Self> {
        let kind = match strategy {
            Strategy::Walk => Kind::Walk,
            Strategy::Pct(changes) => Kind::Pct(changes),
            Strategy::Pos => Kind::Pos,
            Strategy::Dfs | Strategy::Bfs | Strategy::Random => return None,
        };
        let rng = Pcg64::new(u128::from(seed), 1);
        let (priorities, pending, points) = Default::default();
        Some(Sampler { rng, kind, priorities, pending, points, lowest: 0, length: 1 })
    }

    /// An execution begins.
    pub(super) fn begin(&mut self) {
        self.priorities.clear();
        self.pending.clear();
        self.points.clear();
        self.lowest = DRAWN;
        if let Kind::Pct(changes) = self.kind {
            for _ in 1..changes.max(1) {
                let point = self.below(self.length as u64) as usize;
                self.points.push(point);
            }
        }
    }

    /// May a read see an older write than the newest?
    pub(super) fn looks_back(&mut self) -> bool {
        const RARELY: u64 = 8;
        self.below(RARELY) == 0
    }

    /// A random number below `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.rng.random_range(0..n)
    }

    fn draw(&mut self) -> u64 {
        DRAWN + u64::from(self.rng.next_u32())
    }

    /// A thread has come to an access, and waits before it.
    pub(super) fn announce(&mut self, thread: ThreadId, pending: Pending) {
        if self.kind == Kind::Pos {
            if self.pending.len() <= thread.slot() {
                self.pending.resize(thread.slot() + 1, None);
            }
            self.pending[thread.slot()] = Some(pending);
        }
    }

    /// The thread that makes the next event, of which there are so many.
    pub(super) fn pick(&mut self, runnable: &[ThreadId], events: usize) -> Option<ThreadId> {
        self.length = self.length.max(events);
        if runnable.is_empty() {
            return None;
        }
        if self.kind == Kind::Walk {
            return Some(runnable[self.below(runnable.len() as u64) as usize]);
        }
        let most = runnable.iter().map(|t| t.slot()).max().unwrap_or(0);
        while self.priorities.len() <= most {
            let priority = self.draw();
            self.priorities.push(priority);
        }
        if self.points.contains(&events) {
            self.demote(*runnable.iter().max_by_key(|t| self.priorities[t.slot()])?);
        }
        let picked = runnable.iter().copied().max_by_key(|t| self.priorities[t.slot()])?;
        if self.kind == Kind::Pos {
            self.made(picked);
        }
        Some(picked)
    }

    /// The thread makes what it waits with: its next event has another priority, and so has everything that races with this one.
    fn made(&mut self, thread: ThreadId) {
        self.priorities[thread.slot()] = self.draw();
        let Some(made) = self.pending.get_mut(thread.slot()).and_then(Option::take) else { return };
        for slot in 0..self.pending.len().min(self.priorities.len()) {
            if self.pending[slot].is_some_and(|other| made.races(other)) {
                self.priorities[slot] = self.draw();
            }
        }
    }

    /// The thread gets the lowest priority.
    pub(crate) fn demote(&mut self, thread: ThreadId) {
        if let Some(priority) = self.priorities.get_mut(thread.slot()) {
            self.lowest -= 1;
            *priority = self.lowest;
        }
    }
}

impl Engine {
    /// The running thread cannot get on.
    pub(crate) fn hint(&mut self) {
        self.made_progress();
        if let Guide::Sample(sampler) = &mut self.guide {
            sampler.demote(self.current);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ThreadId; 3] = [ThreadId(0), ThreadId(1), ThreadId(2)];

    fn sampler(strategy: Strategy, seed: u64) -> Sampler {
        let mut sampler = Sampler::new(strategy, seed).expect("it samples");
        sampler.begin();
        sampler
    }

    #[test]
    fn a_seed_gives_the_same_threads_again() {
        for strategy in [Strategy::Walk, Strategy::Pct(3), Strategy::Pos] {
            let picks = |seed| {
                let mut sampler = sampler(strategy, seed);
                (0..40).map(|event| sampler.pick(&ALL, event).expect("somebody can run").0).collect::<Vec<_>>()
            };
            assert_eq!(picks(1), picks(1), "{strategy}");
            assert!((2..9).any(|seed| picks(seed) != picks(1)), "{strategy}");
        }
    }

    #[test]
    fn only_what_races_with_the_event_that_is_made_gets_a_new_priority() {
        let write = |at| Pending { at, writes: true };
        let read = |at| Pending { at, writes: false };
        for (made, other, races) in [
            (write(8), read(8), true),
            (read(8), write(8), true),
            (read(8), read(8), false),
            (write(8), write(16), false),
        ] {
            let mut sampler = sampler(Strategy::Pos, 7);
            sampler.pick(&ALL, 0);
            let first = sampler.pick(&ALL, 1).expect("somebody can run");
            ALL.iter().for_each(|t| sampler.announce(*t, if *t == first { made } else { other }));
            let before = sampler.priorities.clone();
            sampler.made(first);
            for thread in ALL {
                let changed = sampler.priorities[thread.slot()] != before[thread.slot()];
                assert_eq!(changed, thread == first || races, "{made:?} {other:?} {thread}");
            }
        }
    }
}
