//! The tests of the shims that need `--cfg mc`: std's behaviour case by case, counts and misuses, and programs that a checker gets wrong easily.
#![cfg(not(mc))]

#[test]
fn the_checked_types_pass_their_tests_when_compiled_with_cfg_mc() {
    let targets = ["--lib", "--test", "beyond_std", "--test", "parity", "--test", "checked", "--test", "traps"];
    if let Err(error) =
        mc_tests::checked::run_tests("mc-shims", &targets, env!("CARGO_TARGET_TMPDIR"), "mc-conformance")
    {
        panic!("{error}");
    }
}

#[test]
fn parking_lots_types_pass_theirs() {
    let targets = ["--features", "parking_lot,parking_lot_arc_lock", "--test", "parking_lot"];
    if let Err(error) =
        mc_tests::checked::run_tests("mc-shims", &targets, env!("CARGO_TARGET_TMPDIR"), "mc-conformance")
    {
        panic!("{error}");
    }
}
