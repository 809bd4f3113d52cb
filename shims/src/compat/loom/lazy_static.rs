//! `loom::lazy_static!`: made at the first use in each execution, and dropped at its end.

use std::fmt;

use crate::sync::LazyLock;

pub use crate::thread::{AccessError, panicking, yield_now};

/// What a static of the macro is behind its name.
pub struct Lazy<T>(LazyLock<T>);

impl<T> Lazy<T> {
    /// What `init` will make.
    #[doc(hidden)]
    pub const fn __new(init: fn() -> T) -> Self {
        Self(LazyLock::new(init))
    }

    /// The value, made now if it was not before.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        LazyLock::force(&self.0)
    }
}

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

/// As `lazy_static::lazy_static!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __loom_lazy_static {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static ref $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        #[allow(non_camel_case_types, missing_copy_implementations, dead_code)]
        $(#[$attribute])*
        $visibility struct $name {
            __private_field: (),
        }
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        $visibility static $name: $name = $name { __private_field: () };
        impl ::core::ops::Deref for $name {
            type Target = $type;
            #[track_caller]
            fn deref(&self) -> &$type {
                static LAZY: $crate::compat::loom::lazy_static::Lazy<$type> =
                    $crate::compat::loom::lazy_static::Lazy::__new(|| $init);
                LAZY.get()
            }
        }
        $crate::__loom_lazy_static! { $($rest)* }
    };
}
