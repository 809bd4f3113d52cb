//! The native engine against the executable specification: `tests/conformance.rs`, compiled with `--cfg mc`.

use mc_runtime::options::Threads;

use crate::{AS_FOR_USERS, pass_with_cfg_mc};

#[test]
fn the_engine_agrees_with_the_specification() {
    pass_with_cfg_mc("mc-tests", &[AS_FOR_USERS, "--test", "conformance"], Threads::Coroutines);
}
