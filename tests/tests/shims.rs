//! The tests of the shims that need `--cfg mc`: std's behaviour case by case, counts and misuses, programs that a checker gets wrong easily, and other crates' types.
#![cfg(not(mc))]

#[test]
fn the_checked_types_pass_their_tests_when_compiled_with_cfg_mc() {
    let features = ["--features", "parking_lot,parking_lot_arc_lock"];
    let targets = ["beyond_std", "parity", "checked", "traps", "awaits", "retries", "symmetry", "loom", "parking_lot"];
    let tests = targets.iter().flat_map(|target| ["--test", target]);
    let arguments: Vec<&str> = features.into_iter().chain(["--lib"]).chain(tests).collect();
    if let Err(error) =
        mc_tests::checked::run_tests("mc-shims", &arguments, env!("CARGO_TARGET_TMPDIR"), "mc-conformance")
    {
        panic!("{error}");
    }
}
