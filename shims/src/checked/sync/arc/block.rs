//! The heap block of an `Arc`: the counts, then the value.

use std::alloc::{Layout, alloc, handle_alloc_error};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use super::counts::Counts;

#[repr(C)]
pub(super) struct Block<T: ?Sized> {
    pub(super) counts: Counts,
    pub(super) data: T,
}

impl<T> Block<T> {
    /// A new block, with `strong` strong counts and a weak one.
    pub(super) fn new(strong: u32, data: T) -> NonNull<Self> {
        let block = Self { counts: Counts::new::<T>(strong), data };
        NonNull::from(Box::leak(Box::new(block)))
    }
}

impl<T: ?Sized> Block<T> {
    /// A new block with a strong and a weak count, to which the value of `data` is moved.
    pub(super) fn of_boxed(data: Box<T>) -> NonNull<Self> {
        let old = Box::into_raw(data);
        // SAFETY: `old` holds a value, which moves.
        let block = unsafe { Self::of_moved(old) };
        // SAFETY: `old` is from `into_raw`. Its value has moved, and `ManuallyDrop` leaves it alone: only the memory is freed.
        drop(unsafe { Box::from_raw(old as *mut ManuallyDrop<T>) });
        block
    }

    /// As [`of_boxed`](Self::of_boxed), for an owner of std's. `None` when it is not the only one.
    pub(super) fn of_std(mut data: std::sync::Arc<T>) -> Option<NonNull<Self>> {
        std::sync::Arc::get_mut(&mut data)?;
        let old = std::sync::Arc::into_raw(data);
        // SAFETY: `old` holds a value, which moves: nobody else owns it (checked above).
        let block = unsafe { Self::of_moved(old.cast_mut()) };
        // SAFETY: `old` is from `into_raw`, and `ManuallyDrop<T>` has the layout of `T`. The value has moved: only the memory is freed.
        drop(unsafe { std::sync::Arc::from_raw(old as *const ManuallyDrop<T>) });
        Some(block)
    }

    /// A new block with a strong and a weak count, to which the value at `old` is moved.
    ///
    /// # Safety
    /// `old` points to a value, which the caller does not use again.
    unsafe fn of_moved(old: *mut T) -> NonNull<Self> {
        // SAFETY: there is a value (promised by the caller).
        let value = Layout::for_value(unsafe { &*old });
        let (layout, offset) =
            Layout::new::<Counts>().extend(value).expect("the value is in memory, so it is not too large");
        let layout = layout.pad_to_align();
        // SAFETY: the counts alone make the layout's size greater than 0.
        let memory = unsafe { alloc(layout) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
        // SAFETY: the memory is new and aligned for the counts, which are at its start.
        unsafe { memory.cast::<Counts>().write(Counts::new::<T>(1)) };
        // SAFETY: `offset` lies within the layout.
        let place = unsafe { memory.add(offset) };
        // SAFETY: both are valid for the size of the value, and the new one overlaps nothing.
        unsafe { ptr::copy_nonoverlapping(old.cast::<u8>(), place.as_ptr(), value.size()) };
        with_address(old, memory)
    }

    /// The place of the value.
    ///
    /// # Safety
    /// The block is allocated.
    pub(super) unsafe fn value(block: NonNull<Self>) -> *mut T {
        // SAFETY: the place is in bounds of the block, which is allocated (promised by the caller); no reference is made.
        unsafe { &raw mut (*block.as_ptr()).data }
    }

    /// The layout of the block; its value may have been dropped already.
    ///
    /// # Safety
    /// The block is allocated.
    pub(super) unsafe fn layout(block: NonNull<Self>) -> Layout {
        // SAFETY: the block is allocated (promised by the caller), and only the pointer's metadata is looked at.
        Layout::for_value(unsafe { block.as_ref() })
    }
}

/// A pointer to the block at `memory`, with the metadata of `value`.
fn with_address<T: ?Sized>(value: *mut T, memory: NonNull<u8>) -> NonNull<Block<T>> {
    // The cast keeps the metadata: the last field of a block is a `T`.
    let mut block = value as *mut Block<T>;
    // SAFETY: a pointer, thin or wide, starts with its address (checked below).
    unsafe { (&raw mut block).cast::<*mut u8>().write(memory.as_ptr()) };
    assert!(ptr::addr_eq(block, memory.as_ptr()), "a wide pointer starts with its address");
    NonNull::new(block).expect("allocated")
}

/// The block of the value at `ptr`.
///
/// # Safety
/// `ptr` is to the value of a block that is allocated.
pub(super) unsafe fn of_value<T: ?Sized>(ptr: *const T) -> NonNull<Block<T>> {
    // SAFETY: the block is allocated (promised by the caller), and only the pointer's metadata is looked at.
    let align = align_of_val(unsafe { &*ptr });
    let offset = size_of::<Counts>().next_multiple_of(align);
    // SAFETY: the value lies `offset` bytes after the start of its block.
    let block = unsafe { ptr.byte_sub(offset) } as *mut Block<T>;
    // SAFETY: a block is not at null.
    unsafe { NonNull::new_unchecked(block) }
}
