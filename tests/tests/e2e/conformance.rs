//! The native engine against the executable specification: `tests/conformance.rs`, compiled with `--cfg mc`.

use mc_runtime::options::Threads;

use crate::pass_with_cfg_mc;

#[test]
fn the_engine_agrees_with_the_specification() {
    pass_with_cfg_mc("mc-tests", &["--test", "conformance"], Threads::Coroutines);
}
