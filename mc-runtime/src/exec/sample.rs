//! Chance: which thread makes the next event of an execution that is one of many independent ones.
//!
//! Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010, for PCT; Yuan, Yang, Gu, CAV 2018, for POS.
//! Differs: what waits in POS is compared by address, and an update or compare-exchange counts as a write whether or not it will be one. PCT changes
//! priorities only where a thread comes to an access and another could run instead, never twice at the same access, and not in the first few executions, which show how
//! long they are, and what goes wrong by priorities alone. How long an execution could be is not known then either, where most of them end early: it is the most accesses at which another thread could run, or all.
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
    /// What each thread does next, where that is an access. By slot.
    pending: Vec<Option<Pending>>,
    /// Of PCT: before which accesses priorities still change.
    points: Vec<usize>,
    /// How many accesses were made, and the most in an execution so far: where another thread could have run instead, and all.
    accesses: [usize; 2],
    most_accesses: [usize; 2],
    /// How many executions have begun.
    begun: u64,
    lowest: u64,
}

/// How the next thread is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Any, with the same probability.
    Walk,
    /// Each thread has a priority. Of one less than so many accesses, the thread that comes to it gets the lowest one.
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

/// So many executions of PCT keep their priorities.
const FIRST: u64 = 4;

/// Priorities that were drawn; those that were given later, to be the lowest, are below.
const DRAWN: u64 = 1 << 32;

impl Sampler {
    /// A sampler with its own stream of random numbers; `None` for a strategy that explores.
    pub(crate) fn new(strategy: Strategy, seed: u64) -> Option<Self> {
        let kind = match strategy {
            Strategy::Walk => Kind::Walk,
            Strategy::Pct(depth) => Kind::Pct(depth),
            Strategy::Pos => Kind::Pos,
            Strategy::Dfs | Strategy::Bfs | Strategy::Random => return None,
        };
        let rng = Pcg64::new(u128::from(seed), 1);
        let (priorities, pending, points) = Default::default();
        Some(Sampler {
            rng,
            kind,
            priorities,
            pending,
            points,
            accesses: [0; 2],
            most_accesses: [0; 2],
            begun: 0,
            lowest: 0,
        })
    }

    /// An execution begins.
    pub(super) fn begin(&mut self) {
        self.priorities.clear();
        self.pending.clear();
        self.points.clear();
        self.lowest = DRAWN;
        for (most, accesses) in self.most_accesses.iter_mut().zip(&mut self.accesses) {
            *most = std::mem::take(accesses).max(*most);
        }
        self.begun += 1;
        if let Kind::Pct(depth) = self.kind
            && self.begun > FIRST
        {
            let length = self.most_accesses[self.below(2) as usize];
            self.draw_points(depth.saturating_sub(1) as usize, length);
        }
    }

    /// So many different ones, or as many as there are (Floyd's algorithm: Bentley, Floyd, CACM 30(9), 1987).
    fn draw_points(&mut self, count: usize, length: usize) {
        for last in length.saturating_sub(count)..length {
            let point = self.below(last as u64 + 1) as usize;
            self.points.push(if self.points.contains(&point) { last } else { point });
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
        if self.kind != Kind::Walk {
            if self.pending.len() <= thread.slot() {
                self.pending.resize(thread.slot() + 1, None);
            }
            self.pending[thread.slot()] = Some(pending);
        }
    }

    /// The thread that makes the next event.
    pub(super) fn pick(&mut self, runnable: &[ThreadId]) -> Option<ThreadId> {
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
        let mut picked = self.first_of(runnable);
        let decided = runnable.len() > 1 && self.comes_to_access(picked);
        let point = self.points.iter().position(|point| *point == self.accesses[0]);
        if let Some(point) = point.filter(|_| decided) {
            self.points.swap_remove(point);
            self.demote(picked);
            picked = self.first_of(runnable);
        }
        if self.comes_to_access(picked) {
            self.accesses[0] += usize::from(runnable.len() > 1);
            self.accesses[1] += 1;
        }
        self.made(picked);
        Some(picked)
    }

    /// Who has the highest priority.
    fn first_of(&self, runnable: &[ThreadId]) -> ThreadId {
        let priority = |t: &ThreadId| self.priorities[t.slot()];
        runnable.iter().copied().max_by_key(priority).expect("somebody can run")
    }

    fn comes_to_access(&self, thread: ThreadId) -> bool {
        self.pending.get(thread.slot()).is_some_and(Option::is_some)
    }

    /// The thread makes what it waits with. In POS, its next event has another priority, and so has everything that races with this one.
    fn made(&mut self, thread: ThreadId) {
        let made = self.pending.get_mut(thread.slot()).and_then(Option::take);
        if self.kind != Kind::Pos {
            return;
        }
        self.priorities[thread.slot()] = self.draw();
        let Some(made) = made else { return };
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
        self.progress.count_other();
        if let Guide::Sample(sampler) = &mut self.guide {
            sampler.demote(self.threads.running());
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
                (0..40).map(|_| sampler.pick(&ALL).expect("somebody can run").0).collect::<Vec<_>>()
            };
            assert_eq!(picks(1), picks(1), "{strategy}");
            assert!((2..9).any(|seed| picks(seed) != picks(1)), "{strategy}");
        }
    }

    #[test]
    fn pct_changes_before_accesses_that_another_event_could_come_before() {
        let mut sampler = sampler(Strategy::Pct(4), 7);
        sampler.pick(&ALL);
        assert_eq!(sampler.accesses, [0, 0], "nobody came to an access");
        let announce = |sampler: &mut Sampler| {
            ALL.iter().for_each(|t| sampler.announce(*t, Pending { at: 8, writes: false }));
        };
        announce(&mut sampler);
        sampler.pick(&ALL[..1]);
        assert_eq!(sampler.accesses, [0, 1], "nobody else could run");
        for _ in 0..3 {
            announce(&mut sampler);
            sampler.pick(&ALL);
        }
        sampler.begin();
        assert_eq!(sampler.most_accesses, [3, 4]);
        sampler.points.clear();
        sampler.draw_points(3, 3);
        sampler.points.sort_unstable();
        assert_eq!(sampler.points, [0, 1, 2], "three changes among three accesses");
        let mut picked: Vec<_> = (0..3).filter_map(|_| (announce(&mut sampler), sampler.pick(&ALL)).1).collect();
        picked.sort_unstable_by_key(|t| t.0);
        assert_eq!(picked, ALL, "each of them was demoted once");
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
            sampler.pick(&ALL);
            let first = sampler.pick(&ALL).expect("somebody can run");
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
