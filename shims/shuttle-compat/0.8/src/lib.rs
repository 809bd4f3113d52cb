//! shuttle's names over `mc`'s types, so that a crate with a shuttle suite is checked as it is.
//!
//! Everything is in `mc::compat::shuttle`; this package gives it shuttle's name and version 0.8.x, which a `[patch]` asks for.
#![forbid(unsafe_code)]

pub use mc::compat::shuttle::*;
