//! loom's names over `mc`'s types, so that a crate with a `cfg(loom)` switch is checked as it was published.
//!
//! It stands in for the package `loom` by `[patch.crates-io]`. What is here is what the crates in `../published` use, and it
//! differs from std in three things: cells have `with` and `with_mut` (so do `mc`'s), atomics have `with_mut`, and
//! [`model`] runs a body once, for the test around it is what explores.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod sync;

pub use mc::{hint, thread};

/// Memory, whose leaks and double frees the checker finds for every allocation.
pub mod alloc {
    pub use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
}

/// Cells, whose accesses are compared.
pub mod cell {
    pub use mc::cell::{Cell, UnsafeCell};
}

/// Runs the body, as part of the `#[mc::test]` that it is called from.
pub fn model<F: Fn() + Send + Sync + 'static>(body: F) {
    body();
}
