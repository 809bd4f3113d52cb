//! What the allocator asks.

use super::{ask_engine, with_engine};
use std::alloc::Layout;

/// The calling thread allocates: the memory that it has freed before, if there is a choice and that says so.
#[inline(never)]
pub(crate) fn reuse(layout: Layout) -> Option<*mut u8> {
    ask_engine(|e| e.may_reuse(layout)).filter(|may| *may)?;
    with_engine(|e| e.reuses(layout)).flatten().map(|at| at as *mut u8)
}
