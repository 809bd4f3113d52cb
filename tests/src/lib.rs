//! Conformance and end-to-end tests of cargo-mc.
//!
//! What is here serves the tests in `tests/`: litmus programs and what is expected of them ([`program`], [`corpus`]), running
//! them as real code (`interpret`, `conformance`, `shims`, under `cfg(mc)` only), and starting cargo again with `--cfg mc` ([`checked`]).

pub mod checked;
#[cfg(mc)]
pub mod conformance;
pub mod corpus;
pub mod fixture;
#[cfg(mc)]
pub mod interpret;
pub mod parity;
pub mod program;
#[cfg(mc)]
pub mod reductions;
#[cfg(mc)]
pub mod shims;
pub mod standard;
