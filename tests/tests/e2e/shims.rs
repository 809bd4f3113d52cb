//! The tests of the shims that need `--cfg mc`: std's behaviour case by case, counts and misuses, programs that a checker gets wrong easily, and other crates' types.

use mc_runtime::options::Threads;

use crate::pass_with_cfg_mc;

/// For cases by the hundred, which take ten times as long to compile otherwise. What counts the executions of loops is compiled as the library is for users: unoptimised code leaves
/// values on the stack that nobody uses any more, so that no round is like another.
const UNOPTIMISED: [&str; 2] = ["--config", "profile.dev.package.mc-shims.opt-level=0"];

fn pass(options: &[&str], targets: &[&str], threads: Threads) {
    let features = ["--features", "parking_lot,parking_lot_arc_lock"];
    let tests = targets.iter().flat_map(|target| ["--test", target]);
    let arguments: Vec<&str> = features.into_iter().chain(options.iter().copied()).chain(tests).collect();
    pass_with_cfg_mc("mc-shims", &arguments, threads);
}

#[test]
fn the_checked_types_pass_their_tests_when_compiled_with_cfg_mc() {
    let counting = ["checked", "traps", "awaits", "retries", "random_loops", "random_polls", "random_retries"];
    pass(&["--lib"], &counting, Threads::Coroutines);
    let cases = ["beyond_std", "parity", "symmetry", "loom", "loom_names", "parking_lot"];
    pass(&UNOPTIMISED, &cases, Threads::Coroutines);
}

#[test]
fn they_pass_them_on_threads_of_the_operating_system() {
    pass(&["--lib"], &["checked", "traps", "awaits", "retries"], Threads::Os);
    pass(&UNOPTIMISED, &["symmetry", "parking_lot"], Threads::Os);
}
