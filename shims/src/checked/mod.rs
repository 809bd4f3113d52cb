//! The checked types: std's names, each operation an event of the engine.

pub mod cell;
pub mod hint;
#[cfg(feature = "lock_api")]
pub mod parking_lot;
mod real;
pub(crate) mod signal;
mod statics;
pub mod sync;
pub mod thread;
pub mod time;
pub(crate) mod word;
