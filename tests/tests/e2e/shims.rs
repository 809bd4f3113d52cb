//! The tests of the shims that need `--cfg mc`: std's behaviour case by case, counts and misuses, programs that a checker gets wrong easily, and other crates' types.

use mc_runtime::options::Threads;

/// What counts the executions of loops is compiled as the library is for users: unoptimised code leaves values on the stack that nobody uses any more, so that no round is like another.
const OPTIMISED: &str = "profile.dev.package.mc-shims.opt-level=3";
/// Cases by the hundred, which take ten times as long to compile so.
const UNOPTIMISED: &str = "profile.dev.package.mc-shims.opt-level=0";

fn pass(profile: &str, targets: &[&str], threads: Threads) {
    let options = ["--config", profile, "--features", "parking_lot,parking_lot_arc_lock", "--lib"];
    let tests = targets.iter().flat_map(|target| ["--test", target]);
    let arguments: Vec<&str> = options.into_iter().chain(tests).collect();
    let folder = env!("CARGO_TARGET_TMPDIR");
    if let Err(error) = mc_tests::checked::run_tests("mc-shims", &arguments, threads, folder, "mc") {
        panic!("{error}");
    }
}

#[test]
fn the_checked_types_pass_their_tests_when_compiled_with_cfg_mc() {
    let counting = ["checked", "traps", "awaits", "retries", "random_loops", "random_polls", "random_retries"];
    pass(OPTIMISED, &counting, Threads::Coroutines);
    pass(UNOPTIMISED, &["beyond_std", "parity", "symmetry", "loom", "loom_names", "parking_lot"], Threads::Coroutines);
}

#[test]
fn they_pass_them_on_threads_of_the_operating_system() {
    pass(OPTIMISED, &["checked", "traps", "awaits", "retries"], Threads::Os);
    pass(UNOPTIMISED, &["symmetry", "parking_lot"], Threads::Os);
}
