//! parking_lot 0.12 in the place of the published package, so that a dependency that uses it is checked without edits:
//!
//! ```toml
//! [patch.crates-io]
//! parking_lot = { git = "https://github.com/cargo-mc/cargo-mc" }
//! ```
//!
//! These are the types of `mc::parking_lot`. They need `--cfg mc`, and so the line belongs into a package that only `cargo mc` builds:
//! cargo has no `[patch]` that depends on a `cfg`, and no way for this package to name the one that it stands in for.
#![forbid(unsafe_code)]

#[cfg(mc)]
pub use mc::parking_lot::*;

#[cfg(not(mc))]
compile_error!(
    "this package stands in for parking_lot under `cargo mc` only: build with `cargo mc test`, or leave out its `[patch.crates-io]` line"
);
