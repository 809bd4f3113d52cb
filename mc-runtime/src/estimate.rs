//! How many executions there will be: random probes down the tree of choices.
//!
//! Source: Knuth, "Estimating the efficiency of backtrack programs", Math. Comp. 29 (1975): a probe counts an execution that it reaches as
//! many times as there were ways to go at each choice before it. Unbiased, and of great variance where the tree is uneven.

use crate::exec::run::{TestBody, execute};
use crate::exec::{Ending, Engine};
use crate::explore::Next;
use rand_pcg::Pcg64;

const PROBES: u32 = 20;
/// A probe goes no deeper than this many executions.
const DEEPEST: u32 = 1_000;

/// About how many executions the exploration of `body` has. The engine must be a fresh one, exploring depth first.
pub(crate) fn estimate(engine: &mut Engine, body: &TestBody) -> Option<f64> {
    let mut rng = Pcg64::new(u128::from(engine.options.seed), 2);
    let mut sum = 0.0;
    for _ in 0..PROBES {
        engine.explorer.restart();
        sum += probe(engine, body, &mut rng)?;
    }
    engine.explorer.restart();
    Some(sum / f64::from(PROBES))
}

fn probe(engine: &mut Engine, body: &TestBody, rng: &mut Pcg64) -> Option<f64> {
    let (mut weight, mut sum) = (1.0, 0.0);
    for _ in 0..DEEPEST {
        if execute(engine, body) == Ending::Restart {
            return None;
        }
        sum += weight;
        let ways = engine.explorer.keep_one(rng);
        if ways == 0 || engine.explorer.next() == Next::Done {
            break;
        }
        weight *= ways as f64;
    }
    Some(sum)
}
