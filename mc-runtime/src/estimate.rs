//! How many executions there will be: random probes down the tree of choices.
//!
//! Source: Knuth, "Estimating the efficiency of backtrack programs", Math. Comp. 29 (1975): a probe counts an execution that it reaches as
//! many times as there were ways to go at each choice before it. Unbiased, and of great variance where the tree is uneven.

use crate::exec::run::{TestBody, execute};
use crate::exec::{Ending, Engine};
use crate::explore::Next;
use rand_pcg::Pcg64;
use std::time::{Duration, Instant};

const PROBES: u32 = 20;
/// All of them together take no longer, whatever one execution costs.
const PATIENCE: Duration = Duration::from_millis(200);

/// No more than that is told: nobody waits for so many, and it is a whole number wherever it is written.
const MOST: f64 = 1e18;

/// About how many executions the exploration of `body` has, at most 10^18. The engine must be a fresh one, exploring depth first.
pub(crate) fn estimate(engine: &mut Engine, body: &TestBody) -> Option<f64> {
    let mut rng = Pcg64::new(u128::from(engine.options.seed), 2);
    let end = Instant::now() + PATIENCE;
    let (mut sum, mut probes) = (0.0, 0);
    while probes < PROBES && Instant::now() < end {
        engine.explorer.restart();
        let Some(found) = probe(engine, body, &mut rng, end) else { break };
        sum += found;
        probes += 1;
    }
    (probes > 0).then(|| (sum / f64::from(probes)).min(MOST))
}

/// `None` if it could not be finished in time, or learned something.
fn probe(engine: &mut Engine, body: &TestBody, rng: &mut Pcg64, end: Instant) -> Option<f64> {
    let (mut weight, mut sum) = (1.0, 0.0);
    while Instant::now() < end {
        if execute(engine, body) == Ending::Restart {
            return None;
        }
        sum += weight;
        let ways = engine.explorer.keep_one(rng);
        if ways == 0 || engine.explorer.next() == Next::Done {
            return Some(sum);
        }
        weight *= ways as f64;
    }
    None
}
