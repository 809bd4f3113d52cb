//! `loom::sync::atomic`: this crate's atomics, with the accesses that are not atomic: `with_mut`, `unsync_load`.

pub use std::sync::atomic::Ordering;

use mc_runtime::ops;

use crate::sync::atomic as inner;

/// An atomic fence.
#[inline]
#[track_caller]
pub fn fence(order: Ordering) {
    inner::fence(order);
}

/// A hint that this thread waits for another one.
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

/// What every atomic has, over a value of `$value`.
macro_rules! common {
    ($name:ident $(<$parameter:ident>)?, $value:ty) => {
        /// A new atomic.
        #[inline]
        #[track_caller]
        pub fn new(v: $value) -> Self {
            Self(inner::$name::new(v))
        }

        /// The value in place, which the exclusive borrow allows. An atomic access of another thread that is not ordered with it is a data race.
        #[inline]
        #[track_caller]
        pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
            ops::unsync(self.0.as_ptr().cast(), size_of::<$value>(), true);
            f(self.0.get_mut())
        }

        /// The value, without an atomic operation. An atomic write of another thread that is not ordered with it is a data race.
        ///
        /// # Safety
        /// No thread writes meanwhile.
        #[inline]
        #[track_caller]
        pub unsafe fn unsync_load(&self) -> $value {
            ops::unsync(self.0.as_ptr().cast(), size_of::<$value>(), false);
            // SAFETY: the place of the atomic's value, which nobody writes meanwhile (promised by the caller).
            unsafe { self.0.as_ptr().read() }
        }

        /// The value.
        #[inline]
        #[track_caller]
        pub fn into_inner(self) -> $value {
            ops::unsync(self.0.as_ptr().cast(), size_of::<$value>(), false);
            self.0.into_inner()
        }

        /// Loads the value.
        #[inline(always)]
        #[track_caller]
        pub fn load(&self, order: Ordering) -> $value {
            self.0.load(order)
        }

        /// Stores a value.
        #[inline(always)]
        #[track_caller]
        pub fn store(&self, val: $value, order: Ordering) {
            self.0.store(val, order);
        }

        /// Stores a value and returns the previous one.
        #[inline(always)]
        #[track_caller]
        pub fn swap(&self, val: $value, order: Ordering) -> $value {
            self.0.swap(val, order)
        }

        /// Stores `new` if the value is `current`; returns the previous one.
        #[inline(always)]
        #[track_caller]
        pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
            #[expect(deprecated, reason = "loom still has it")]
            self.0.compare_and_swap(current, new, order)
        }

        /// Stores `new` if the value is `current`.
        ///
        /// # Errors
        /// The value, when it is another one.
        #[inline(always)]
        #[track_caller]
        pub fn compare_exchange(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            self.0.compare_exchange(current, new, success, failure)
        }

        /// As [`compare_exchange`](Self::compare_exchange), and may fail for no reason.
        ///
        /// # Errors
        /// The value.
        #[inline(always)]
        #[track_caller]
        pub fn compare_exchange_weak(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            self.0.compare_exchange_weak(current, new, success, failure)
        }

        /// Stores what `f` makes of the value, again and again until nobody came between.
        ///
        /// # Errors
        /// The value, when `f` makes nothing of it.
        #[inline]
        #[track_caller]
        pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, f: F) -> Result<$value, $value>
        where
            F: FnMut($value) -> Option<$value>,
        {
            self.0.fetch_update(set_order, fetch_order, f)
        }
    };
}

/// Read-modify-writes with one operand.
macro_rules! fetches {
    ($value:ty: $($fetch:ident $doc:literal,)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        #[track_caller]
        pub fn $fetch(&self, val: $value, order: Ordering) -> $value {
            self.0.$fetch(val, order)
        }
    )*};
}

macro_rules! integers {
    ($($name:ident: $value:ty,)*) => {$(
        #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub struct $name(inner::$name);

        impl $name {
            common!($name, $value);
            fetches!($value:
                fetch_add "Adds, wrapping; returns the previous value.",
                fetch_sub "Subtracts, wrapping; returns the previous value.",
                fetch_and "Bitwise \"and\"; returns the previous value.",
                fetch_nand "Bitwise \"not and\"; returns the previous value.",
                fetch_or "Bitwise \"or\"; returns the previous value.",
                fetch_xor "Bitwise \"exclusive or\"; returns the previous value.",
                fetch_max "The greater; returns the previous value.",
                fetch_min "The lesser; returns the previous value.",
            );
        }

        impl From<$value> for $name {
            fn from(v: $value) -> Self {
                Self::new(v)
            }
        }
    )*};
}

integers! {
    AtomicU8: u8,
    AtomicU16: u16,
    AtomicU32: u32,
    AtomicU64: u64,
    AtomicUsize: usize,
    AtomicI8: i8,
    AtomicI16: i16,
    AtomicI32: i32,
    AtomicI64: i64,
    AtomicIsize: isize,
}

/// As [`std::sync::atomic::AtomicBool`].
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct AtomicBool(inner::AtomicBool);

impl AtomicBool {
    common!(AtomicBool, bool);
    fetches!(bool:
        fetch_and "Logical \"and\"; returns the previous value.",
        fetch_nand "Logical \"not and\"; returns the previous value.",
        fetch_or "Logical \"or\"; returns the previous value.",
        fetch_xor "Logical \"exclusive or\"; returns the previous value.",
    );
}

impl From<bool> for AtomicBool {
    fn from(v: bool) -> Self {
        Self::new(v)
    }
}

/// As [`std::sync::atomic::AtomicPtr`].
#[repr(transparent)]
pub struct AtomicPtr<T>(inner::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    common!(AtomicPtr<T>, *mut T);
}

impl<T> std::fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    fn from(v: *mut T) -> Self {
        Self::new(v)
    }
}
