//! `Weak`: keeps the block, not the value.

use std::alloc::dealloc;
use std::fmt;
use std::mem::ManuallyDrop;
use std::num::NonZero;
use std::ptr::{self, NonNull};

use super::Arc;
use super::block::{self, Block};
use super::counts::{Counts, Last};

/// A pointer that does not keep its value, as [`std::sync::Weak`].
pub struct Weak<T: ?Sized> {
    /// At the highest address when there is no block.
    block: NonNull<Block<T>>,
}

// SAFETY: it can become an owner in another thread, see `Arc`.
unsafe impl<T: ?Sized + Sync + Send> Send for Weak<T> {}
// SAFETY: as above: a shared one can be upgraded.
unsafe impl<T: ?Sized + Sync + Send> Sync for Weak<T> {}

impl<T> Weak<T> {
    /// A pointer to nothing.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { block: NonNull::without_provenance(NonZero::<usize>::MAX) }
    }
}

impl<T: ?Sized> Weak<T> {
    /// A pointer from [`into_raw`](Self::into_raw).
    ///
    /// # Safety
    /// As std's: `ptr` came from `into_raw`, whose count passes on.
    #[must_use]
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        if is_dangling(ptr) {
            // SAFETY: the highest address is not null.
            return Self { block: unsafe { NonNull::new_unchecked(ptr as *mut Block<T>) } };
        }
        // SAFETY: the caller promises that `ptr` is to the place of a value in a block that is allocated, and the count.
        unsafe { Self::from_block(block::of_value(ptr)) }
    }

    /// The pointer to the value; the count is kept until it is given to [`from_raw`](Self::from_raw).
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(self) -> *const T {
        ManuallyDrop::new(self).as_ptr()
    }

    /// Where the value is, or was.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        let block = self.block.as_ptr();
        if is_dangling(block) {
            return block as *const T;
        }
        // SAFETY: this pointer's count keeps the block.
        unsafe { Block::value(self.block) }
    }

    /// An owner, if there still is one.
    #[must_use = "this returns a new `Arc`, without modifying the original weak pointer"]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let upgraded = self.counts()?.upgrade();
        // SAFETY: the strong count was not 0, so the value is there, and the count that was added becomes the owner.
        upgraded.then(|| unsafe { Arc::from_block(self.block) })
    }

    /// The number of owners.
    #[must_use]
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.counts().map_or(0, Counts::strong_count)
    }

    /// The number of `Weak`s; 0 when no owner is left.
    #[must_use]
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.counts().map_or(0, Counts::weak_count_of_weak)
    }

    /// Do both point to the same block, or both to nothing?
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self.block.as_ptr(), other.block.as_ptr())
    }

    /// # Safety
    /// The block is allocated, and has a weak count that nobody else stands for.
    pub(super) unsafe fn from_block(block: NonNull<Block<T>>) -> Self {
        Self { block }
    }

    fn counts(&self) -> Option<&Counts> {
        let block = self.block.as_ptr();
        // SAFETY: where there is a block, this pointer's count keeps it; no reference is made to its value.
        (!is_dangling(block)).then(|| unsafe { &(*block).counts })
    }
}

/// Is that the address of a pointer to nothing?
fn is_dangling<T: ?Sized>(ptr: *const T) -> bool {
    ptr.cast::<()>().addr() == usize::MAX
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        if let Some(counts) = self.counts() {
            counts.add_weak();
        }
        Self { block: self.block }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(counts) = self.counts()
            && let Last::Yes = counts.release_weak()
        {
            // SAFETY: the block is allocated: its last count was this pointer's.
            let layout = unsafe { Block::layout(self.block) };
            // SAFETY: blocks are allocated with this layout, the value was dropped or moved with the last owner, and no pointer is left.
            counts.free(|| unsafe { dealloc(self.block.as_ptr().cast(), layout) });
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
