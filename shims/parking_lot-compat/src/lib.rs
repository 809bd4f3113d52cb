//! parking_lot 0.12 in the place of the published package, so that a dependency that uses it is checked without edits:
//!
//! ```toml
//! [patch.crates-io]
//! parking_lot = { git = "https://github.com/cargo-mc/cargo-mc" }
//! ```
//!
//! Without `--cfg mc` it is the published package. With it, these are the types of `mc::parking_lot`.
#![forbid(unsafe_code)]

pub use mc::parking_lot::*;
