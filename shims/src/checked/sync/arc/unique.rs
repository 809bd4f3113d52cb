//! Access to change the value of an `Arc` that has one owner.

use std::ffi::{CStr, OsStr};
use std::mem::ManuallyDrop;
use std::path::Path;

use super::block::Block;
use super::counts::Claimed;
use super::{Arc, Weak};

impl<T: ?Sized> Arc<T> {
    /// The value, if this is its only owner and there is no [`Weak`].
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        // SAFETY: no other pointer to the block exists, and none can be made while `this` is borrowed.
        this.counts().is_unique().then(|| unsafe { this.value_mut() })
    }

    /// # Safety
    /// There is no other pointer to the block.
    unsafe fn value_mut(&mut self) -> &mut T {
        // SAFETY: this owner keeps the block.
        let value = unsafe { Block::value(self.block) };
        // SAFETY: nobody else reaches the value (promised by the caller), and `self` is borrowed as long as the result.
        unsafe { &mut *value }
    }
}

/// What [`Arc::make_mut`] can clone: the types that std's `CloneToUninit`, which is unstable, is implemented for.
pub trait CloneToArc {
    /// A first owner of a clone.
    #[doc(hidden)]
    fn clone_to_arc(&self) -> Arc<Self>;
}

impl<T: Clone> CloneToArc for T {
    fn clone_to_arc(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }
}

impl<T: Clone> CloneToArc for [T] {
    fn clone_to_arc(&self) -> Arc<Self> {
        Arc::from(self)
    }
}

macro_rules! clone_to_arc {
    ($($unsized:ty),*) => {$(
        impl CloneToArc for $unsized {
            fn clone_to_arc(&self) -> Arc<Self> {
                Arc::from(self)
            }
        }
    )*};
}
clone_to_arc!(str, CStr, OsStr, Path);

impl<T: ?Sized + CloneToArc> Arc<T> {
    /// The value, after making this its only owner: by a clone if there are others, by a move if there are only [`Weak`]s.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T {
        match this.counts().claim_for_change() {
            Some(Claimed::Unique) => {}
            None => {
                let own = T::clone_to_arc(this);
                *this = own;
            }
            Some(Claimed::WithWeak) => {
                // SAFETY: the owners' common weak count keeps the block.
                let place = unsafe { Block::value(this.block) };
                // SAFETY: the strong count is 0, so nobody else reaches the value, and nobody drops it in the old block.
                let moved = unsafe { Block::of_moved(place) };
                // SAFETY: the block is new, holds a value, and its one strong count becomes this owner.
                let own = unsafe { Self::from_block(moved) };
                let old = ManuallyDrop::new(std::mem::replace(this, own));
                // SAFETY: the weak count that the strong owners held together passes to this pointer, which gives it up.
                drop(unsafe { Weak::from_block(old.block) });
            }
        }
        // SAFETY: this is the only owner, and there is no `Weak`: found so, or a block that was just made.
        unsafe { this.value_mut() }
    }
}

impl<T: Clone> Arc<T> {
    /// The value; a clone of it if there are other owners.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T {
        Self::try_unwrap(this).unwrap_or_else(|shared| T::clone(&shared))
    }
}
