//! What the allocator asks, and who frees.

use super::{ask_engine, with_engine};
use std::alloc::Layout;

/// [Learned](super::learn) when it matters which owner frees what is shared: who may use the memory again follows from that. From then on the counts of all owners must be events.
pub const OWNER_ORDER: u64 = u64::from_le_bytes(*b"owners_s") | 1;

/// The calling thread allocates: memory that it knows to be free, if there is a choice and that says so.
#[inline(never)]
pub(crate) fn reuse(layout: Layout) -> Option<*mut u8> {
    ask_engine(|e| e.may_reuse(layout)).filter(|may| *may)?;
    with_engine(|e| e.reuses(layout)).flatten().map(|at| at as *mut u8)
}
