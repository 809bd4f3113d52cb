//! lock_api 0.4 in the place of the published package, for dependencies that bring a raw lock of their own, such as dashmap:
//!
//! ```toml
//! [patch.crates-io]
//! lock_api = { git = "https://github.com/cargo-mc/cargo-mc" }
//! ```
//!
//! Without `--cfg mc` it is the published package. With it, its types are made of the checker's locks, whatever raw lock they name: what is checked is
//! the code that uses the lock, not the lock. See `mc::lock_api`.
#![forbid(unsafe_code)]

pub use mc::lock_api::*;
