//! `loom::alloc`: memory that must be freed. (What is allocated otherwise need not be, in a suite for loom.)

pub use std::alloc::{Layout, dealloc};

use mc_runtime::ops;

/// As [`std::alloc::alloc`].
///
/// # Safety
/// As std's.
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: promised by the caller.
    let memory = unsafe { std::alloc::alloc(layout) };
    ops::track(memory.cast());
    memory
}

/// As [`std::alloc::alloc_zeroed`].
///
/// # Safety
/// As std's.
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: promised by the caller.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) };
    ops::track(memory.cast());
    memory
}

/// A value that must be dropped: one that is forgotten is a leak.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    /// A block of its own, so that a value that is not on the heap is missed, too.
    _block: Box<u8>,
}

impl<T> Track<T> {
    /// Tracks `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let block = Box::new(0);
        ops::track((&raw const *block).cast());
        Self { value, _block: block }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value, to be changed.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value, not tracked any more.
    pub fn into_inner(self) -> T {
        self.value
    }
}
