//! The native engine against the executable specification: `tests/conformance.rs`, compiled with `--cfg mc`.

use mc_runtime::options::Threads;

#[test]
fn the_engine_agrees_with_the_specification() {
    let targets = ["--test", "conformance"];
    let folder = env!("CARGO_TARGET_TMPDIR");
    if let Err(error) = mc_tests::checked::run_tests("mc-tests", &targets, Threads::Coroutines, folder, "mc") {
        panic!("{error}");
    }
}
