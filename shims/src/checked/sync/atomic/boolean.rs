//! `AtomicBool`: one byte that holds 0 or 1 and nothing else, so "not" and "not and" are written with operations that keep it so.

use std::fmt;
use std::panic::RefUnwindSafe;

use mc_runtime::ops::{self, Label, Rmw, Width};

use super::{Ordering, common, refused_for_load, refused_for_store, strongest_failure};

/// An atomic `bool`, as [`std::sync::atomic::AtomicBool`].
#[repr(transparent)]
pub struct AtomicBool(std::sync::atomic::AtomicBool);

impl RefUnwindSafe for AtomicBool {}

impl AtomicBool {
    /// A new atomic.
    #[must_use]
    #[inline]
    pub const fn new(v: bool) -> Self {
        Self(std::sync::atomic::AtomicBool::new(v))
    }

    common!(bool, std::sync::atomic::AtomicBool, Width::W8, u64::from, |bits: u64| bits != 0);

    /// Logical "and"; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_and(&self, val: bool, order: Ordering) -> bool {
        match self.rmw(Rmw::And, val, order) {
            Some(old) => old,
            None => self.0.fetch_and(val, order),
        }
    }

    /// Logical "not and"; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_nand(&self, val: bool, order: Ordering) -> bool {
        if val { self.fetch_xor(true, order) } else { self.swap(true, order) }
    }

    /// Logical "or"; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_or(&self, val: bool, order: Ordering) -> bool {
        match self.rmw(Rmw::Or, val, order) {
            Some(old) => old,
            None => self.0.fetch_or(val, order),
        }
    }

    /// Logical "exclusive or"; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_xor(&self, val: bool, order: Ordering) -> bool {
        match self.rmw(Rmw::Xor, val, order) {
            Some(old) => old,
            None => self.0.fetch_xor(val, order),
        }
    }

    /// Logical "not"; returns the previous value.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }

    #[inline]
    #[track_caller]
    fn rmw(&self, what: Rmw, val: bool, order: Ordering) -> Option<bool> {
        ops::rmw(self.at(), Width::W8, what, u64::from(val), order, Label::Atomic).map(|bits| bits != 0)
    }
}

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

impl From<bool> for AtomicBool {
    fn from(v: bool) -> Self {
        Self::new(v)
    }
}

impl fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load(Ordering::Relaxed).fmt(f)
    }
}
