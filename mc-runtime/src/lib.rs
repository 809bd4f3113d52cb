//! The engine of cargo-mc.

pub mod meta;
pub mod ops;
pub mod options;
pub mod outcome;
pub mod worker;
