//! What std's `System` calls where std is instrumented, in place of `malloc` and so on (the linker renames its calls): std keeps its `Thread`s there, past any global
//! allocator. In the code of a test these are memory of the test like any other.

use super::allocator::{get_again, in_region, with_heap};
use super::{HEADER, Heap};
use libc::{c_int, c_void};
use std::alloc::Layout;
use std::ptr;

/// As aligned as what the C library gives.
fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, HEADER).ok()
}

fn allocate(layout: Layout, from_system: impl Fn() -> *mut c_void) -> *mut c_void {
    if let Some(again) = get_again(layout) {
        return again.cast();
    }
    let own = with_heap(|heap| {
        if !heap.rehearsal {
            return heap.allocate_with_room(layout).cast();
        }
        let at = from_system();
        heap.rehearsed.insert(at as usize, (layout, false));
        at
    });
    own.unwrap_or_else(from_system)
}

/// How large a block is that the test may have got from here.
fn size(at: *mut c_void) -> Option<usize> {
    let known = |heap: &mut Heap| match in_region(at.cast()) {
        true => heap.block(at as usize).map(|block| block.size),
        false => heap.rehearsed.get(&(at as usize)).map(|(layout, _)| layout.size()),
    };
    with_heap(known).flatten()
}

/// # Safety
/// As `malloc(3)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_malloc(size: usize) -> *mut c_void {
    // SAFETY: it has no conditions.
    let from_system = || unsafe { libc::malloc(size) };
    layout(size).map_or_else(from_system, |layout| allocate(layout, from_system))
}

/// # Safety
/// As `calloc(3)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_calloc(count: usize, each: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(each) else { return ptr::null_mut() };
    // SAFETY: it has no conditions.
    let at = unsafe { __wrap_malloc(size) };
    if !at.is_null() {
        // SAFETY: a new block of that size.
        unsafe { at.write_bytes(0, size) };
    }
    at
}

/// # Safety
/// As `posix_memalign(3)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> c_int {
    let Ok(layout) = Layout::from_size_align(size, align) else { return libc::EINVAL };
    let from_system = || {
        let mut at = ptr::null_mut();
        // SAFETY: a place for the address; what else is wrong with the arguments it says itself.
        if unsafe { libc::posix_memalign(&mut at, align, size) } == 0 { at } else { ptr::null_mut() }
    };
    let at = allocate(layout, from_system);
    if at.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: our caller's promise: a place for the address.
    unsafe { to.write(at) };
    0
}

/// # Safety
/// As `realloc(3)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_realloc(at: *mut c_void, new: usize) -> *mut c_void {
    let Some(old) = size(at) else {
        // SAFETY: the C library's; passed on from our caller.
        return unsafe { libc::realloc(at, new) };
    };
    // SAFETY: it has no conditions.
    let to = unsafe { __wrap_malloc(new) };
    if !to.is_null() {
        // SAFETY: both blocks are at least that long, and a new block overlaps no other.
        unsafe { ptr::copy_nonoverlapping(at.cast::<u8>(), to.cast::<u8>(), old.min(new)) };
        // SAFETY: passed on from our caller.
        unsafe { __wrap_free(at) };
    }
    to
}

/// # Safety
/// As `free(3)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_free(at: *mut c_void) {
    if in_region(at.cast()) {
        // Outside of an execution the arenas are about to be reset anyway.
        with_heap(|heap| heap.free(at.cast()));
    } else if with_heap(|heap| heap.rehearsal && heap.keep_back(at.cast())) != Some(true) {
        // SAFETY: the C library's; passed on from our caller.
        unsafe { libc::free(at) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::switch;
    use super::*;

    #[test]
    fn a_test_has_memory_of_its_own_and_the_checker_that_of_the_c_library() {
        let mut heap = Heap::new(1 << 20).unwrap();
        heap.enter(0, 0);
        let before = switch(&mut heap);
        // SAFETY: as a program of C would do it.
        let (at, larger) = unsafe {
            let at = __wrap_calloc(3, 8);
            at.cast::<u64>().write(7);
            (at, __wrap_realloc(at, 64))
        };
        switch(before);
        assert!(in_region(at.cast()) && in_region(larger.cast()));
        assert!(heap.block(at as usize).is_none_or(|block| block.freed));
        // SAFETY: written above, and copied.
        assert_eq!(unsafe { larger.cast::<[u64; 2]>().read() }, [7, 0]);
        let mut aligned = ptr::null_mut();
        // SAFETY: as a program of C would do it; outside of an execution.
        unsafe {
            assert_eq!(__wrap_posix_memalign(&mut aligned, 64, 100), 0);
            assert!(!in_region(aligned.cast()) && aligned.addr() % 64 == 0);
            __wrap_free(__wrap_realloc(aligned, 200));
        }
    }
}
