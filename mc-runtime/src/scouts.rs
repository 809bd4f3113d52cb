//! Random probes down the tree of choices, now and then between the executions of an exploration: what there is to learn is learned early, before
//! much was explored without it, and about how many executions there are is told.
//!
//! Source: Knuth, "Estimating the efficiency of backtrack programs", Math. Comp. 29 (1975): a probe counts an execution that it reaches as
//! many times as there were ways to go at each choice before it. Unbiased, and of great variance where the tree is uneven.

use crate::exec::run::{TestBody, execute};
use crate::exec::{Ending, Engine};
use crate::explore::Next;
use rand_pcg::Pcg64;

/// After how many events of an exploration scouts are sent first. Those that are proved before need none.
const FIRST: u64 = 1 << 14;
/// They are sent again each time the exploration has become so many times as long.
const GROWTH: u64 = 4;
/// What part of the events is theirs.
const SHARE: u64 = 16;

/// No more than that is told: nobody waits for so many, and it is a whole number wherever it is written.
const MOST: f64 = 1e18;

/// When scouts are sent, and what they have found. In events, not by a clock: each run of a test learns the same.
#[derive(Debug)]
pub(crate) struct Scouts {
    rng: Pcg64,
    /// How many events the exploration has made since it began.
    events: u64,
    due: u64,
    /// Of the probes that came to an end.
    sum: f64,
    probes: u32,
}

impl Scouts {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Pcg64::new(u128::from(seed), 2), events: 0, due: FIRST, sum: 0.0, probes: 0 }
    }

    /// An execution with so many events was explored: whether it is time, and for how many events.
    pub(crate) fn budget(&mut self, events: usize) -> Option<u64> {
        self.events += events as u64;
        if self.events < self.due {
            return None;
        }
        self.due = self.events * GROWTH;
        Some(self.events / SHARE)
    }

    /// The exploration starts again.
    pub(crate) fn start_again(&mut self) {
        (self.events, self.due, self.sum, self.probes) = (0, FIRST, 0.0, 0);
    }

    /// About how many executions the exploration has, at most 10^18, if that is known.
    pub(crate) fn estimate(&self) -> Option<f64> {
        (self.probes > 0).then(|| (self.sum / f64::from(self.probes)).min(MOST))
    }

    /// One probe, by an engine whose explorer has nothing else to do. Takes from the budget what it makes.
    pub(crate) fn probe(&mut self, engine: &mut Engine, body: &TestBody, budget: &mut u64) -> Probe {
        engine.explorer.restart();
        let (mut weight, mut sum) = (1.0, 0.0);
        loop {
            let ending = execute(engine, body);
            *budget = budget.saturating_sub(engine.explorer.graph.len() as u64 + 1);
            match ending {
                Ending::Restart => return Probe::Learned,
                Ending::Failed => return Probe::Failed,
                Ending::Complete | Ending::Blocked | Ending::TooLong | Ending::Dropped => sum += weight,
            }
            let ways = engine.explorer.keep_one(&mut self.rng);
            if ways == 0 || engine.explorer.next() == Next::Done {
                (self.sum, self.probes) = (self.sum + sum, self.probes + 1);
                return Probe::Ended;
            }
            if *budget == 0 || engine.tainted {
                return Probe::Ended;
            }
            weight *= ways as f64;
        }
    }
}

/// How a probe went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// To the end, or until the budget was used up.
    Ended,
    /// It has learned something: the exploration starts again.
    Learned,
    /// It has found a failure, which the engine has.
    Failed,
}
