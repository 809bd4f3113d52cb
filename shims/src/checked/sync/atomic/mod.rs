//! `std::sync::atomic`, checked: one event per operation.

pub use std::sync::atomic::{Ordering, compiler_fence};

pub use boolean::AtomicBool;
pub use integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;

mod boolean;
mod integer;
mod pointer;

use mc_runtime::ops;

/// As [`std::sync::atomic::fence`].
///
/// # Panics
/// When `order` is `Relaxed`.
#[inline(always)]
#[track_caller]
pub fn fence(order: Ordering) {
    // The real fence, too, where the engine has none: it panics for `Relaxed`.
    if order == Ordering::Relaxed || !ops::fence(order) {
        std::sync::atomic::fence(order);
    }
}

/// As [`std::sync::atomic::spin_loop_hint`].
#[deprecated(since = "1.51.0", note = "use hint::spin_loop instead")]
#[inline(always)]
#[track_caller]
pub fn spin_loop_hint() {
    crate::checked::hint::spin_loop();
}

/// Start value of an [`AtomicBool`].
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it so")]
pub const ATOMIC_BOOL_INIT: AtomicBool = AtomicBool::new(false);

/// Start value of an [`AtomicIsize`].
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it so")]
pub const ATOMIC_ISIZE_INIT: AtomicIsize = AtomicIsize::new(0);

/// Start value of an [`AtomicUsize`].
#[deprecated(since = "1.34.0", note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it so")]
pub const ATOMIC_USIZE_INIT: AtomicUsize = AtomicUsize::new(0);

/// The orders that std refuses for a load, or for a failed compare-exchange: the operation then goes to std, which panics.
fn refused_for_load(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel)
}

/// The orders that std refuses for a store.
fn refused_for_store(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel)
}

/// The strongest order that a failed compare-exchange may have beside `success`, for the deprecated `compare_and_swap`.
fn strongest_failure(success: Ordering) -> Ordering {
    match success {
        Ordering::Release | Ordering::Relaxed => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        _ => Ordering::SeqCst,
    }
}

/// The operations that all atomics have, over `$bits: fn($value) -> u64` and `$value: fn(u64) -> $value`.
macro_rules! common {
    ($value:ty, $inner:ty, $width:expr, $to_bits:expr, $from_bits:expr) => {
        /// A reference to the atomic at `ptr`.
        ///
        /// # Safety
        /// As std's: `ptr` is aligned for the atomic and valid for reads and writes for the whole of `'a`, and accesses that are not atomic do not race with it.
        #[inline(always)]
        pub const unsafe fn from_ptr<'a>(ptr: *mut $value) -> &'a Self {
            // SAFETY: the caller promises what std's `from_ptr` asks for, and `Self` is `repr(transparent)` over std's atomic,
            // which has the layout of the value.
            unsafe { &*ptr.cast::<Self>() }
        }

        /// The value, through exclusive access.
        #[inline(always)]
        pub fn get_mut(&mut self) -> &mut $value {
            self.0.get_mut()
        }

        /// The value.
        #[inline(always)]
        pub const fn into_inner(self) -> $value {
            self.0.into_inner()
        }

        /// Where the value is.
        #[inline(always)]
        pub const fn as_ptr(&self) -> *mut $value {
            self.0.as_ptr()
        }

        #[inline(always)]
        fn at(&self) -> *mut () {
            self.0.as_ptr().cast()
        }

        /// Loads the value.
        ///
        /// # Panics
        /// When `order` is `Release` or `AcqRel`.
        #[inline(always)]
        #[track_caller]
        pub fn load(&self, order: Ordering) -> $value {
            if refused_for_load(order) {
                return self.0.load(order);
            }
            match ops::load(self.at(), $width, order, Label::Atomic) {
                Some(bits) => $from_bits(bits),
                None => self.0.load(order),
            }
        }

        /// Stores a value.
        ///
        /// # Panics
        /// When `order` is `Acquire` or `AcqRel`.
        #[inline(always)]
        #[track_caller]
        pub fn store(&self, val: $value, order: Ordering) {
            if refused_for_store(order) || !ops::store(self.at(), $width, $to_bits(val), order, Label::Atomic) {
                self.0.store(val, order);
            }
        }

        /// Stores a value and returns the previous one.
        #[inline(always)]
        #[track_caller]
        pub fn swap(&self, val: $value, order: Ordering) -> $value {
            match ops::rmw(self.at(), $width, Rmw::Swap, $to_bits(val), order, Label::Atomic) {
                Some(bits) => $from_bits(bits),
                None => self.0.swap(val, order),
            }
        }

        /// Stores `new` if the value is `current`, and returns the previous value.
        #[deprecated(since = "1.50.0", note = "use `compare_exchange` or `compare_exchange_weak` instead")]
        #[inline(always)]
        #[track_caller]
        pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
            match self.compare_exchange(current, new, order, strongest_failure(order)) {
                Ok(old) | Err(old) => old,
            }
        }

        /// Stores `new` if the value is `current`; the previous value, `Ok` if it was replaced.
        ///
        /// # Panics
        /// When `failure` is `Release` or `AcqRel`.
        #[inline(always)]
        #[track_caller]
        pub fn compare_exchange(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            match self.exchange(current, new, success, failure, false) {
                Some(done) => done,
                None => self.0.compare_exchange(current, new, success, failure),
            }
        }

        /// As [`compare_exchange`](Self::compare_exchange), but may fail though the value is `current`.
        ///
        /// # Panics
        /// When `failure` is `Release` or `AcqRel`.
        #[inline(always)]
        #[track_caller]
        pub fn compare_exchange_weak(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            match self.exchange(current, new, success, failure, true) {
                Some(done) => done,
                None => self.0.compare_exchange_weak(current, new, success, failure),
            }
        }

        #[inline(always)]
        #[track_caller]
        fn exchange(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
            weak: bool,
        ) -> Option<Result<$value, $value>> {
            if refused_for_load(failure) {
                return None;
            }
            let (current, new) = ($to_bits(current), $to_bits(new));
            match ops::compare_exchange(self.at(), $width, current, new, success, failure, weak, Label::Atomic)? {
                Ok(old) => Some(Ok($from_bits(old))),
                Err(old) => Some(Err($from_bits(old))),
            }
        }

        /// Replaces the value by what `f` makes of it, until it gives `None`.
        ///
        /// A failure that is only spurious would repeat `f` with the same value: the checker leaves those out.
        ///
        /// # Errors
        /// The value for which `f` gave `None`.
        ///
        /// # Panics
        /// When `fetch_order` is `Release` or `AcqRel`.
        #[inline(always)]
        #[track_caller]
        pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, mut f: F) -> Result<$value, $value>
        where
            F: FnMut($value) -> Option<$value>,
        {
            let mut old = self.load(fetch_order);
            while let Some(new) = f(old) {
                match self.compare_exchange(old, new, set_order, fetch_order) {
                    Ok(old) => return Ok(old),
                    Err(found) => old = found,
                }
            }
            Err(old)
        }

        /// As [`fetch_update`](Self::fetch_update).
        ///
        /// # Errors
        /// The value for which `f` gave `None`.
        ///
        /// # Panics
        /// When `fetch_order` is `Release` or `AcqRel`.
        #[inline(always)]
        #[track_caller]
        pub fn try_update(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            f: impl FnMut($value) -> Option<$value>,
        ) -> Result<$value, $value> {
            self.fetch_update(set_order, fetch_order, f)
        }

        /// Replaces the value by what `f` makes of it, and returns the previous one.
        ///
        /// # Panics
        /// When `fetch_order` is `Release` or `AcqRel`.
        #[inline(always)]
        #[track_caller]
        pub fn update(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            mut f: impl FnMut($value) -> $value,
        ) -> $value {
            let mut old = self.load(fetch_order);
            loop {
                match self.compare_exchange(old, f(old), set_order, fetch_order) {
                    Ok(old) => return old,
                    Err(found) => old = found,
                }
            }
        }
    };
}
use common;
