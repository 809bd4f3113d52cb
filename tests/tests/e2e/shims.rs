//! The tests of the shims that need `--cfg mc`: std's behaviour case by case, counts and misuses, programs that a checker gets wrong easily, and other crates' types.

use mc_runtime::options::Threads;

use crate::{AS_FOR_USERS, pass_with_cfg_mc};

fn pass(options: &[&str], targets: &[&str], threads: Threads) {
    let features = ["--features", "parking_lot,parking_lot_arc_lock"];
    let tests = targets.iter().flat_map(|target| ["--test", target]);
    let arguments: Vec<&str> = features.into_iter().chain(options.iter().copied()).chain(tests).collect();
    pass_with_cfg_mc("mc-shims", &arguments, threads);
}

/// For what counts the executions of loops. Cases by the hundred would take ten times as long to compile with them.
const COUNTING: [&str; 2] = [AS_FOR_USERS, "--lib"];

#[test]
fn the_checked_types_pass_their_tests_when_compiled_with_cfg_mc() {
    let counting = ["checked", "traps", "awaits", "retries", "random_loops", "random_polls", "random_retries"];
    pass(&COUNTING, &counting, Threads::Coroutines);
    let cases = ["beyond_std", "parity", "random_shims", "symmetry", "loom", "loom_names", "parking_lot"];
    pass(&[], &cases, Threads::Coroutines);
}

#[test]
fn they_pass_them_on_threads_of_the_operating_system() {
    pass(&COUNTING, &["checked", "traps", "awaits", "retries"], Threads::Os);
    pass(&[], &["symmetry", "parking_lot"], Threads::Os);
}
