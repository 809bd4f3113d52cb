//! Access to change the value of an `Arc` that has one owner.

use std::mem::ManuallyDrop;
use std::ptr;

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

impl<T: Clone> Arc<T> {
    /// The value, after making this its only owner: by a clone if there are others, by a move if there are only [`Weak`]s.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T {
        match this.counts().claim_for_change() {
            Some(Claimed::Unique) => {}
            None => {
                let own = T::clone(this);
                *this = Self::new(own);
            }
            Some(Claimed::WithWeak) => {
                // SAFETY: the owners' common weak count keeps the block.
                let place = unsafe { Block::value(this.block) };
                // SAFETY: the strong count is 0, so nobody else reaches the value, and nobody drops it in the old block.
                let moved = unsafe { ptr::read(place) };
                let old = ManuallyDrop::new(std::mem::replace(this, Self::new(moved)));
                // SAFETY: the weak count that the strong owners held together passes to this pointer, which gives it up.
                drop(unsafe { Weak::from_block(old.block) });
            }
        }
        // SAFETY: this is the only owner, and there is no `Weak`: found so, or a block that was just made.
        unsafe { this.value_mut() }
    }

    /// The value; a clone of it if there are other owners.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T {
        Self::try_unwrap(this).unwrap_or_else(|shared| T::clone(&shared))
    }
}
