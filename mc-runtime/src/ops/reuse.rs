//! What the allocator asks.

use super::{ask_engine, wait_for};
use std::alloc::Layout;

/// The calling thread allocates: the memory that it has freed before, if there is a choice and that says so.
#[inline(never)]
pub(crate) fn reuse(layout: Layout) -> Option<*mut u8> {
    let among = ask_engine(|e| e.count_reusable(layout)).filter(|among| *among > 0)?;
    // A panic allocates its message while it holds locks of std's.
    if std::thread::panicking() {
        return None;
    }
    wait_for(|e| e.choose_reuse(layout, among)).flatten().map(|at| at as *mut u8)
}
