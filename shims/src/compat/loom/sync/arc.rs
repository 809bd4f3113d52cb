//! `loom::sync::Arc`: this crate's, with `from_std` for what is not sized, and without weak pointers.

use std::borrow::Borrow;
use std::ops::Deref;
use std::pin::Pin;

use mc_runtime::ops;

use crate::sync::Arc as Inner;

/// A shared pointer, as [`std::sync::Arc`].
#[derive(Debug)]
pub struct Arc<T: ?Sized>(Inner<T>);

impl<T> Arc<T> {
    /// A first owner of `value`.
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::tracked(Inner::new(value))
    }

    /// A first, pinned owner of `data`.
    #[track_caller]
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
        Inner::try_unwrap(this.0).map_err(Self)
    }
}

impl<T: ?Sized> Arc<T> {
    /// One that must not be leaked.
    fn tracked(inner: Inner<T>) -> Self {
        ops::track(Inner::as_ptr(&inner).cast::<()>().wrapping_byte_sub(1));
        Self(inner)
    }

    /// The owner of what std's `Arc` owns: the way to an `Arc<dyn Trait>`.
    ///
    /// # Panics
    /// When `std` has other owners.
    #[track_caller]
    pub fn from_std(std: std::sync::Arc<T>) -> Self {
        match Inner::of_std(std) {
            Some(inner) => Self::tracked(inner),
            None => panic!("Arc provided to `from_std` is not unique"),
        }
    }

    /// The number of owners.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        Inner::strong_count(&this.0)
    }

    /// Adds an owner.
    ///
    /// # Safety
    /// As std's.
    #[track_caller]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        // SAFETY: promised by the caller.
        unsafe { Inner::increment_strong_count(ptr) };
    }

    /// Takes an owner away.
    ///
    /// # Safety
    /// As std's.
    #[track_caller]
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: promised by the caller.
        unsafe { Inner::decrement_strong_count(ptr) };
    }

    /// The value, if this is its only owner.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        Inner::get_mut(&mut this.0)
    }

    /// Do both own the same value?
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        Inner::ptr_eq(&this.0, &other.0)
    }

    /// The pointer to the value; the count is kept until it is given to [`from_raw`](Self::from_raw).
    pub fn into_raw(this: Self) -> *const T {
        Inner::into_raw(this.0)
    }

    /// Where the value is.
    pub fn as_ptr(this: &Self) -> *const T {
        Inner::as_ptr(&this.0)
    }

    /// An owner from [`into_raw`](Self::into_raw).
    ///
    /// # Safety
    /// As std's.
    #[track_caller]
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // SAFETY: promised by the caller.
        Self(unsafe { Inner::from_raw(ptr) })
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[inline]
    #[track_caller]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}
