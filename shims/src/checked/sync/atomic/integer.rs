//! The atomic integers. Values go to the engine extended with zeros.

use std::fmt;
use std::panic::RefUnwindSafe;

use mc_runtime::ops::{self, Label, Rmw, Width};

use super::{Ordering, common, refused_for_load, refused_for_store, strongest_failure};

macro_rules! rmw {
    ($(#[$doc:meta])* $name:ident, $what:expr, $int:ident, $bits:ident, $width:expr) => {
        $(#[$doc])*
        // In code that is not optimised a call shows more of what becomes of the result.
        #[cfg_attr(not(debug_assertions), inline)]
        #[track_caller]
        pub fn $name(&self, val: $int, order: Ordering) -> $int {
            match ops::rmw(self.at(), $width, $what, u64::from(val as $bits), order, Label::Atomic) {
                Some(bits) => bits as $int,
                None => self.0.$name(val, order),
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $int:ident, $bits:ident, $width:expr, $max:ident, $min:ident) => {
        #[doc = concat!("An atomic `", stringify!($int), "`, as [`std::sync::atomic::", stringify!($name), "`].")]
        #[repr(transparent)]
        pub struct $name(std::sync::atomic::$name);

        impl RefUnwindSafe for $name {}

        impl $name {
            /// A new atomic.
            #[must_use]
            #[inline]
            pub const fn new(v: $int) -> Self {
                Self(std::sync::atomic::$name::new(v))
            }

            common!($int, std::sync::atomic::$name, $width, |value: $int| u64::from(value as $bits), |bits: u64| {
                bits as $int
            });

            rmw!(
                /// Adds, wrapping, and returns the previous value.
                fetch_add, Rmw::Add, $int, $bits, $width
            );
            rmw!(
                /// Subtracts, wrapping, and returns the previous value.
                fetch_sub, Rmw::Sub, $int, $bits, $width
            );
            rmw!(
                /// Bitwise "and"; returns the previous value.
                fetch_and, Rmw::And, $int, $bits, $width
            );
            rmw!(
                /// Bitwise "not and"; returns the previous value.
                fetch_nand, Rmw::Nand, $int, $bits, $width
            );
            rmw!(
                /// Bitwise "or"; returns the previous value.
                fetch_or, Rmw::Or, $int, $bits, $width
            );
            rmw!(
                /// Bitwise "exclusive or"; returns the previous value.
                fetch_xor, Rmw::Xor, $int, $bits, $width
            );
            rmw!(
                /// Stores the greater of both and returns the previous value.
                fetch_max, Rmw::$max, $int, $bits, $width
            );
            rmw!(
                /// Stores the lesser of both and returns the previous value.
                fetch_min, Rmw::$min, $int, $bits, $width
            );
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }

        impl From<$int> for $name {
            fn from(v: $int) -> Self {
                Self::new(v)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.load(Ordering::Relaxed).fmt(f)
            }
        }
    };
}

#[cfg(target_pointer_width = "64")]
mod pointer_sized {
    pub(super) const WIDTH: mc_runtime::ops::Width = mc_runtime::ops::Width::W64;
    /// The bits of a pointer-sized integer; a fixed width, so that they convert to `u64` without a cast.
    #[expect(non_camel_case_types, reason = "stands where a primitive type stands")]
    pub(super) type usize_bits = u64;
}
#[cfg(target_pointer_width = "32")]
mod pointer_sized {
    pub(super) const WIDTH: mc_runtime::ops::Width = mc_runtime::ops::Width::W32;
    /// The bits of a pointer-sized integer; a fixed width, so that they convert to `u64` without a cast.
    #[expect(non_camel_case_types, reason = "stands where a primitive type stands")]
    pub(super) type usize_bits = u32;
}
use pointer_sized::usize_bits;

integer!(AtomicI8, i8, u8, Width::W8, MaxSigned, MinSigned);
integer!(AtomicI16, i16, u16, Width::W16, MaxSigned, MinSigned);
integer!(AtomicI32, i32, u32, Width::W32, MaxSigned, MinSigned);
integer!(AtomicI64, i64, u64, Width::W64, MaxSigned, MinSigned);
integer!(AtomicIsize, isize, usize_bits, pointer_sized::WIDTH, MaxSigned, MinSigned);
integer!(AtomicU8, u8, u8, Width::W8, MaxUnsigned, MinUnsigned);
integer!(AtomicU16, u16, u16, Width::W16, MaxUnsigned, MinUnsigned);
integer!(AtomicU32, u32, u32, Width::W32, MaxUnsigned, MinUnsigned);
integer!(AtomicU64, u64, u64, Width::W64, MaxUnsigned, MinUnsigned);
integer!(AtomicUsize, usize, usize_bits, pointer_sized::WIDTH, MaxUnsigned, MinUnsigned);
