//! `AtomicPtr`. The engine knows addresses: a pointer's provenance is exposed when it is stored and found again when it is loaded.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::ptr;

use mc_runtime::ops::{self, Label, Rmw, Width};

use super::{Ordering, common, refused_for_load, refused_for_store, strongest_failure};

const WIDTH: Width = if size_of::<usize>() == 8 { Width::W64 } else { Width::W32 };

/// An atomic pointer, as [`std::sync::atomic::AtomicPtr`].
#[repr(transparent)]
pub struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);

impl<T> RefUnwindSafe for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// A new atomic.
    #[inline]
    pub const fn new(p: *mut T) -> Self {
        Self(std::sync::atomic::AtomicPtr::new(p))
    }

    common!(
        *mut T,
        std::sync::atomic::AtomicPtr<T>,
        WIDTH,
        |value: *mut T| value.expose_provenance() as u64,
        |bits: u64| ptr::with_exposed_provenance_mut(bits as usize)
    );

    /// Adds `val` times the size of `T` and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_add(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch_byte_add(val.wrapping_mul(size_of::<T>()), order)
    }

    /// Subtracts `val` times the size of `T` and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_ptr_sub(&self, val: usize, order: Ordering) -> *mut T {
        self.fetch_byte_sub(val.wrapping_mul(size_of::<T>()), order)
    }

    /// Adds to the address and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_add(&self, val: usize, order: Ordering) -> *mut T {
        match self.rmw(Rmw::Add, val, order) {
            Some(old) => old,
            None => self.0.fetch_byte_add(val, order),
        }
    }

    /// Subtracts from the address and returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_byte_sub(&self, val: usize, order: Ordering) -> *mut T {
        match self.rmw(Rmw::Sub, val, order) {
            Some(old) => old,
            None => self.0.fetch_byte_sub(val, order),
        }
    }

    /// Bitwise "or" on the address; returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_or(&self, val: usize, order: Ordering) -> *mut T {
        match self.rmw(Rmw::Or, val, order) {
            Some(old) => old,
            None => self.0.fetch_or(val, order),
        }
    }

    /// Bitwise "and" on the address; returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_and(&self, val: usize, order: Ordering) -> *mut T {
        match self.rmw(Rmw::And, val, order) {
            Some(old) => old,
            None => self.0.fetch_and(val, order),
        }
    }

    /// Bitwise "exclusive or" on the address; returns the previous pointer.
    #[inline]
    #[track_caller]
    pub fn fetch_xor(&self, val: usize, order: Ordering) -> *mut T {
        match self.rmw(Rmw::Xor, val, order) {
            Some(old) => old,
            None => self.0.fetch_xor(val, order),
        }
    }

    #[inline]
    #[track_caller]
    fn rmw(&self, what: Rmw, val: usize, order: Ordering) -> Option<*mut T> {
        let old = ops::rmw(self.at(), WIDTH, what, val as u64, order, Label::Atomic)?;
        Some(ptr::with_exposed_provenance_mut(old as usize))
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    fn from(p: *mut T) -> Self {
        Self::new(p)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.load(Ordering::Relaxed), f)
    }
}
