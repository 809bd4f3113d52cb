//! The global allocator of a test binary.

use super::{BASE, HEAP, Heap, REGION, REGIONS, switch};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::OnceLock;

/// Is it in the arenas of some check?
pub(crate) fn in_region(at: *mut u8) -> bool {
    (BASE..BASE + REGIONS * REGION).contains(&(at as usize))
}

/// Runs `f` on the heap of the running execution with allocations of its own going to the system; `None` outside of one.
pub(super) fn with_heap<R>(f: impl FnOnce(&mut Heap) -> R) -> Option<R> {
    let heap = HEAP.replace(ptr::null_mut());
    // SAFETY: a pointer that is not null was set by `switch` from the engine that runs on this thread; the engine itself
    // does not use the heap while code of the test runs, and `HEAP` being null meanwhile keeps `f` from coming here again.
    let result = unsafe { heap.as_mut() }.map(f);
    HEAP.set(heap);
    result
}

/// A block of an arena that the calling thread knows to be free, if there is a choice and that says so.
pub(super) fn get_again(layout: Layout) -> Option<*mut u8> {
    // SAFETY: as in `with_heap`.
    let chooses = unsafe { HEAP.get().as_ref() }.is_some_and(|heap| heap.reuses);
    if chooses { crate::ops::reuse(layout) } else { None }
}

/// A block that is in no arena; or in one, for which something is to be allocated.
///
/// # Safety
/// As [`GlobalAlloc::alloc`].
#[inline(never)]
unsafe fn get(layout: Layout) -> *mut u8 {
    if let Some(again) = get_again(layout) {
        return again;
    }
    let own = with_heap(|heap| match heap.rehearsal {
        false => heap.allocate_with_room(layout),
        // SAFETY: our caller's promise.
        true => unsafe { heap.rehearse(layout) },
    });
    // SAFETY: our caller's promise.
    own.unwrap_or_else(|| unsafe { System.alloc(layout) })
}

/// Changes the size of a block that is in no arena.
///
/// # Safety
/// As [`GlobalAlloc::realloc`].
#[inline(never)]
unsafe fn enlarge(at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: our caller's promise.
    unsafe { System.realloc(at, layout, size) }
}

/// Frees a block that is in no arena.
///
/// # Safety
/// The system made it, with that layout, and it is not used again.
#[inline(never)]
unsafe fn give_back(at: *mut u8, layout: Layout) {
    if !with_heap(|heap| heap.rehearsal && heap.keep_back(at)).unwrap_or(false) {
        // SAFETY: our caller's promise.
        unsafe { System.dealloc(at, layout) };
    }
}

/// Is [`Allocator`] the global allocator of this process?
pub(crate) fn is_installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        let Some(mut heap) = Heap::new(1 << 20) else { return false };
        let before = switch(&mut heap);
        let probe = Box::new(0u64);
        switch(before);
        let own = in_region(ptr::from_ref(&*probe).cast_mut().cast());
        let after = switch(&mut heap);
        drop(probe);
        switch(after);
        own
    })
}

/// The global allocator of a test binary under `cfg(mc)`.
#[derive(Debug, Default)]
pub struct Allocator;

// SAFETY: blocks come from the system's allocator, or from `Heap::place`, which never hands out memory twice while it is in use;
// which of the two a block is from is told by its address. Nothing here unwinds.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `with_heap`; nothing is allocated for it, so nothing comes here again meanwhile.
        match unsafe { HEAP.get().as_mut() } {
            Some(heap) if heap.has_room() => heap.place(layout),
            // SAFETY: passed on from our caller.
            _ => unsafe { get(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if HEAP.get().is_null() {
            // SAFETY: passed on from our caller.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: passed on from our caller.
        let at = unsafe { self.alloc(layout) };
        if !at.is_null() {
            // SAFETY: `at` is a new block of that size.
            unsafe { at.write_bytes(0, layout.size()) };
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if in_region(at) {
            // Outside of an execution the arenas are about to be reset anyway.
            // SAFETY: as in `with_heap`; nothing is allocated for it but in `note_freed`, which sees to that.
            if let Some(heap) = unsafe { HEAP.get().as_mut() } {
                heap.free(at);
            }
        } else {
            // SAFETY: passed on from our caller.
            unsafe { give_back(at, layout) };
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let moves = in_region(at) || with_heap(|heap| heap.rehearsed.contains_key(&(at as usize))).unwrap_or(false);
        if !moves {
            // SAFETY: not in the region, so `System` made it; passed on from our caller.
            return unsafe { enlarge(at, layout, size) };
        }
        // SAFETY: our caller's promise: the alignment is valid, and `size`, rounded up to it, does not overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: as above.
        let new = unsafe { self.alloc(new_layout) };
        if !new.is_null() {
            // SAFETY: both blocks are at least that long, and a new block overlaps no other.
            unsafe { ptr::copy_nonoverlapping(at, new, layout.size().min(size)) };
            // SAFETY: passed on from our caller.
            unsafe { self.dealloc(at, layout) };
        }
        new
    }
}
