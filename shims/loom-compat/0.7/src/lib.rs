//! loom's names over `mc`'s types, so that a crate with a loom suite is checked as it was published.
//!
//! Everything is in `mc::compat::loom`; this package gives it loom's name and version 0.7.x, which a `[patch]` asks for.
#![forbid(unsafe_code)]

pub use mc::compat::loom::*;
