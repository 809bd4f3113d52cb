//! The tests of the shims that need `--cfg mc`: std's behaviour case by case, counts and misuses, programs that a checker gets wrong easily, and other crates' types.
#![cfg(not(mc))]

use mc_runtime::options::Threads;

/// Those that count the executions of loops, which values on the stack that nobody uses any more make many.
const COUNTED: [&str; 7] = ["checked", "traps", "awaits", "retries", "random_loops", "random_polls", "random_retries"];
/// Cases by the hundred: compiled without optimisation they take a fifth of the time.
const CASES: [&str; 6] = ["beyond_std", "parity", "symmetry", "loom", "loom_names", "parking_lot"];

fn pass(targets: &[&str], threads: Threads, unoptimised: bool) {
    let features = ["--features", "parking_lot,parking_lot_arc_lock"];
    let profile = ["--config", "profile.dev.package.mc-shims.opt-level=0"];
    let tests = targets.iter().flat_map(|target| ["--test", target]);
    let arguments: Vec<&str> =
        features.into_iter().chain(profile.into_iter().filter(|_| unoptimised)).chain(tests).collect();
    let folder = env!("CARGO_TARGET_TMPDIR");
    if let Err(error) = mc_tests::checked::run_tests("mc-shims", &arguments, threads, folder, "mc") {
        panic!("{error}");
    }
}

#[test]
fn the_checked_types_pass_their_tests_when_compiled_with_cfg_mc() {
    pass(&COUNTED, Threads::Coroutines, false);
    pass(&CASES, Threads::Coroutines, true);
}

#[test]
fn they_pass_them_on_threads_of_the_operating_system() {
    pass(&["checked", "traps", "awaits", "retries"], Threads::Os, false);
    pass(&["symmetry", "parking_lot"], Threads::Os, true);
}
