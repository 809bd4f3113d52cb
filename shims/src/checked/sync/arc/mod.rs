//! `Arc` and `Weak`. A count is an event only if somebody can see it, see [`counts`].
//!
//! Differs from std where stable Rust leaves no way: no unsizing coercion (use [`unsize!`](crate::unsize), or
//! `Arc::from(Box<dyn Trait>)`, which works with std's too), no `self: Arc<Self>` methods, no `may_dangle`, no allocator
//! parameter, and at most 2^31 owners.

mod block;
mod convert;
mod counts;
mod traits;
mod unique;
mod weak;

pub use weak::Weak;

use std::alloc::{Layout, dealloc};
use std::any::Any;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::{self, NonNull};

use block::Block;
use counts::Last;

/// A shared pointer, as [`std::sync::Arc`].
pub struct Arc<T: ?Sized> {
    block: NonNull<Block<T>>,
    owns: PhantomData<Block<T>>,
}

// SAFETY: an owner in another thread may share the value (`T: Sync`) and, as the last one, drop it there (`T: Send`).
unsafe impl<T: ?Sized + Sync + Send> Send for Arc<T> {}
// SAFETY: as above: a shared `Arc` can be cloned.
unsafe impl<T: ?Sized + Sync + Send> Sync for Arc<T> {}
impl<T: ?Sized + RefUnwindSafe> UnwindSafe for Arc<T> {}
impl<T: ?Sized> Unpin for Arc<T> {}

impl<T> Arc<T> {
    /// A first owner of `data`.
    #[inline]
    pub fn new(data: T) -> Self {
        // SAFETY: the block is new, holds a value, and its one strong count becomes this owner.
        unsafe { Self::from_block(Block::new(1, data)) }
    }

    /// A first owner of what `data_fn` makes, which may keep the given pointer to it.
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(data_fn: F) -> Self {
        let block = Block::new(0, MaybeUninit::<T>::uninit()).cast::<Block<T>>();
        // SAFETY: the block is new and its one weak count becomes this pointer; with a strong count of 0 nobody reaches the value.
        let weak = unsafe { Weak::from_block(block) };
        let data = data_fn(&weak);
        // SAFETY: `weak` keeps the block.
        let place = unsafe { Block::value(block) };
        // SAFETY: nobody reaches the place of the value before the strong count is 1.
        unsafe { place.write(data) };
        // SAFETY: `weak` keeps the block alive.
        unsafe { block.as_ref() }.counts.begin();
        // The strong owners together hold the weak count that `weak` held.
        mem::forget(weak);
        // SAFETY: the block now holds a value and one strong count.
        unsafe { Self::from_block(block) }
    }

    /// A first owner of memory without a value.
    #[must_use]
    pub fn new_uninit() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::uninit())
    }

    /// A first owner of zeroed memory.
    #[must_use]
    pub fn new_zeroed() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::zeroed())
    }

    /// A first, pinned owner of `data`.
    #[must_use]
    pub fn pin(data: T) -> Pin<Self> {
        // SAFETY: the value stays in its block until it is dropped.
        unsafe { Pin::new_unchecked(Self::new(data)) }
    }

    /// The value, if this is its only owner.
    ///
    /// # Errors
    /// This owner, when there are others.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        if this.counts().claim_sole() { Ok(this.into_value()) } else { Err(this) }
    }

    /// Gives this owner up; the value, if it was the last one.
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        let this = ManuallyDrop::new(this);
        if !this.counts().release_observed() {
            return None;
        }
        Some(ManuallyDrop::into_inner(this).into_value())
    }

    /// The value, of the last owner. The counts are not asked.
    ///
    /// # Safety
    /// There is no other owner, and no `Weak`, and their ends happen before this.
    pub(crate) unsafe fn into_inner_of_last(this: Self) -> T {
        let this = ManuallyDrop::new(this);
        // SAFETY: this owner keeps the block.
        let place = unsafe { Block::value(this.block) };
        // SAFETY: the last owner reaches the value, and it is not dropped here.
        let value = unsafe { ptr::read(place) };
        // SAFETY: blocks are allocated with this layout, and no pointer to this one is left.
        unsafe { dealloc(this.block.as_ptr().cast(), Layout::new::<Block<T>>()) };
        value
    }

    /// Takes the value out of a block whose strong count has just become 0.
    fn into_value(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: the owners' common weak count keeps the block.
        let place = unsafe { Block::value(this.block) };
        // SAFETY: the strong count is 0, so nobody else reaches the value, and it is not dropped here.
        let value = unsafe { ptr::read(place) };
        // SAFETY: the weak count that the strong owners held together passes to this pointer, which gives it up.
        drop(unsafe { Weak::from_block(this.block) });
        value
    }
}

impl<T> Arc<[T]> {
    /// A first owner of a slice of memory without values.
    #[must_use]
    pub fn new_uninit_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        Arc::from(Box::new_uninit_slice(len))
    }

    /// A first owner of a slice of zeroed memory.
    #[must_use]
    pub fn new_zeroed_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        Arc::from(Box::new_zeroed_slice(len))
    }
}

impl<T> Arc<MaybeUninit<T>> {
    /// The same owner, of a value.
    ///
    /// # Safety
    /// The memory holds a valid `T`.
    #[must_use]
    pub unsafe fn assume_init(self) -> Arc<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `MaybeUninit<T>` has the layout of `T`, whose value the caller promises; the count passes on.
        unsafe { Arc::from_block(this.block.cast()) }
    }
}

impl<T> Arc<[MaybeUninit<T>]> {
    /// The same owner, of values.
    ///
    /// # Safety
    /// The memory holds valid values.
    #[must_use]
    pub unsafe fn assume_init(self) -> Arc<[T]> {
        let this = ManuallyDrop::new(self);
        let block = this.block.as_ptr() as *mut Block<[T]>;
        // SAFETY: `MaybeUninit<T>` has the layout of `T`, whose values the caller promises; the count passes on.
        unsafe { Arc::from_block(NonNull::new_unchecked(block)) }
    }
}

impl<T: ?Sized> Arc<T> {
    /// An owner from [`into_raw`](Self::into_raw).
    ///
    /// # Safety
    /// As std's: `ptr` came from `into_raw` of an `Arc` of a compatible type, whose count passes on.
    #[must_use]
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // SAFETY: the caller promises that `ptr` is to the value in a block, and that a count passes on.
        unsafe { Self::from_block(block::of_value(ptr)) }
    }

    /// The pointer to the value; the count is kept until it is given to [`from_raw`](Self::from_raw).
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(this: Self) -> *const T {
        Self::as_ptr(&*ManuallyDrop::new(this))
    }

    /// Adds an owner.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw), with at least one owner; no count passes on.
    #[track_caller]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        // SAFETY: promised by the caller; `ManuallyDrop` leaves the count that it stands for alone.
        let this = ManuallyDrop::new(unsafe { Self::from_raw(ptr) });
        mem::forget(Self::clone(&this));
    }

    /// Takes an owner away.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw).
    #[track_caller]
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: promised by the caller, whose count is given up.
        drop(unsafe { Self::from_raw(ptr) });
    }

    /// Where the value is.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        // SAFETY: this owner keeps the block.
        unsafe { Block::value(this.block) }
    }

    /// A pointer that does not keep the value.
    #[must_use = "this returns a new `Weak` pointer, without modifying the original `Arc`"]
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.counts().add_weak_of_strong();
        // SAFETY: the count that was just added becomes this pointer.
        unsafe { Weak::from_block(this.block) }
    }

    /// The number of [`Weak`] pointers.
    #[must_use]
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        this.counts().weak_count()
    }

    /// The number of owners.
    #[must_use]
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.counts().strong_count()
    }

    /// Do both own the same value?
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::addr_eq(this.block.as_ptr(), other.block.as_ptr())
    }

    /// What [`unsize!`](crate::unsize) does.
    ///
    /// # Safety
    /// `cast` returns its argument, unsized.
    #[doc(hidden)]
    pub unsafe fn __unsize<U: ?Sized>(this: Self, cast: impl FnOnce(*const T) -> *const U) -> Arc<U> {
        let raw = Self::into_raw(this);
        let unsized_raw = cast(raw);
        assert!(ptr::addr_eq(raw, unsized_raw), "the pointer stays the same");
        // SAFETY: the pointer is to the same value, the caller promises its type, and the count passes on.
        unsafe { Arc::from_raw(unsized_raw) }
    }

    /// # Safety
    /// The block holds a value, and a strong count that no other owner stands for.
    unsafe fn from_block(block: NonNull<Block<T>>) -> Self {
        Self { block, owns: PhantomData }
    }

    fn counts(&self) -> &counts::Counts {
        // SAFETY: this owner keeps the block alive; the counts are only reached through shared references.
        unsafe { &(*self.block.as_ptr()).counts }
    }
}

impl Arc<dyn Any + Sync + Send> {
    /// The same owner, if the value is a `T`.
    ///
    /// # Errors
    /// This owner, when it is something else.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Self> {
        if !(*self).is::<T>() {
            return Err(self);
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: the value is a `T`, so this is a block of one; the count passes on.
        Ok(unsafe { Arc::from_block(this.block.cast()) })
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[inline]
    #[track_caller]
    fn clone(&self) -> Self {
        self.counts().add_strong();
        // SAFETY: the count that was just added becomes the new owner; the value lives because `self` owns it, too.
        unsafe { Self::from_block(self.block) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[inline]
    #[track_caller]
    fn drop(&mut self) {
        if let Last::Yes = self.counts().release_strong() {
            // SAFETY: that was the last owner.
            unsafe { end_value(self.block) };
        }
    }
}

/// Ends the value, and gives up the weak count that the owners held together. Not given the owner itself, whose address would be seen then: what the code of a thread
/// never looks at of all that it has captured is found in its registers.
///
/// # Safety
/// The strong count has just become 0.
#[track_caller]
#[inline(never)]
unsafe fn end_value<T: ?Sized>(block: NonNull<Block<T>>) {
    // After the value is dropped, and also when that panics.
    // SAFETY: no owner is left, so nobody else stands for that count.
    let _weak = unsafe { Weak::from_block(block) };
    if mem::needs_drop::<T>() {
        // SAFETY: `_weak` keeps the block.
        let value = unsafe { Block::value(block) };
        // SAFETY: as above; the counts are only reached through shared references.
        let counts = unsafe { &(*block.as_ptr()).counts };
        // SAFETY: this was the last owner, so the value is dropped once and nobody reaches it afterwards.
        counts.drop_value(&mut || unsafe { value.drop_in_place() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boxed_trait_object_moves_into_a_block_and_is_dropped_once() {
        struct Counted<'a>(&'a std::sync::atomic::AtomicUsize);
        trait Touch {}
        impl Touch for Counted<'_> {}
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
        let drops = std::sync::atomic::AtomicUsize::new(0);
        let boxed: Box<dyn Touch + '_> = Box::new(Counted(&drops));
        let arc: Arc<dyn Touch + '_> = Arc::from(boxed);
        let weak = Arc::downgrade(&arc);
        drop(arc.clone());
        assert_eq!(drops.load(std::sync::atomic::Ordering::Relaxed), 0);
        drop(arc);
        assert_eq!(drops.load(std::sync::atomic::Ordering::Relaxed), 1);
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn an_aligned_value_keeps_its_alignment_through_raw_pointers() {
        #[repr(align(64))]
        struct Aligned(u8);
        let arc = Arc::new(Aligned(7));
        let raw = Arc::into_raw(arc);
        assert_eq!(raw.addr() % 64, 0);
        // SAFETY: `raw` is from `into_raw`.
        assert_eq!(unsafe { Arc::from_raw(raw) }.0, 7);
    }

    #[test]
    fn a_panic_in_the_constructor_of_a_cycle_frees_the_block_only() {
        let caught =
            std::panic::catch_unwind(|| Arc::<String>::new_cyclic(|_| std::panic::resume_unwind(Box::new(()))));
        assert!(caught.is_err());
    }
}
