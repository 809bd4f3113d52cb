//! The tests of the shims that need `--cfg mc`: std's behaviour case by case, counts and misuses, programs that a checker gets wrong easily, and other crates' types.
#![cfg(not(mc))]

use mc_runtime::options::Threads;

fn pass(targets: &[&str], threads: Threads) {
    let features = ["--features", "parking_lot,parking_lot_arc_lock"];
    let tests = targets.iter().flat_map(|target| ["--test", target]);
    let arguments: Vec<&str> = features.into_iter().chain(["--lib"]).chain(tests).collect();
    let folder = env!("CARGO_TARGET_TMPDIR");
    if let Err(error) = mc_tests::checked::run_tests("mc-shims", &arguments, threads, folder, "mc") {
        panic!("{error}");
    }
}

#[test]
fn the_checked_types_pass_their_tests_when_compiled_with_cfg_mc() {
    let targets = [
        "beyond_std",
        "parity",
        "checked",
        "traps",
        "awaits",
        "retries",
        "random_loops",
        "random_polls",
        "random_retries",
        "symmetry",
        "loom",
        "loom_names",
        "parking_lot",
    ];
    pass(&targets, Threads::Coroutines);
}

#[test]
fn they_pass_them_on_threads_of_the_operating_system() {
    pass(&["checked", "traps", "awaits", "retries", "symmetry", "parking_lot"], Threads::Os);
}
