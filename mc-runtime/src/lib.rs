//! The engine of cargo-mc: it proves, or refutes with a replayable counterexample, that a concurrent test holds under every
//! schedule and every weak-memory outcome, with one execution per equivalence class.
//!
//! What a test does to shared state is an event in an execution graph (`graph`). A memory model (`model`) says which graphs are
//! consistent, `explore` makes each of them once, and `exec` runs the real code along them. Shims enter through [`ops`].

pub mod check;
mod estimate;
mod exec;
mod explore;
mod graph;
mod hooks;
mod ids;
#[cfg(feature = "unmodified")]
mod instrumentation;
pub mod meta;
mod model;
pub mod models;
mod operation;
pub mod ops;
mod place;
pub mod plain;
pub mod schedule;
#[cfg(feature = "unmodified")]
mod symbols;
pub mod system;
#[cfg(feature = "unmodified")]
mod system_calls;
mod time_limit;
mod trace;
#[cfg(feature = "unmodified")]
pub mod unmodified;
pub mod worker;

pub use exec::arena::Allocator;
pub use mc_protocol::{client, judge, message, options, outcome, report, settings};
pub use worker::run_test;
