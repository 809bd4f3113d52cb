//! `shuttle::lazy_static!`: made at the first use in each execution, and dropped at its end.

pub use crate::__shuttle_lazy_static as lazy_static;
pub use crate::compat::loom::lazy_static::Lazy;

/// What the macro declares.
pub trait LazyStatic {
    /// Makes the value now.
    fn initialize(lazy: &Self);
}

/// Makes the value of `lazy` now, if it was not made before.
pub fn initialize<T: LazyStatic>(lazy: &T) {
    T::initialize(lazy);
}

/// As `lazy_static::lazy_static!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __shuttle_lazy_static {
    () => {};
    ($(#[$attribute:meta])* static ref $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__shuttle_lazy_static! { @one [$(#[$attribute])*] [] $name: $type = $init; $($rest)* }
    };
    ($(#[$attribute:meta])* pub static ref $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__shuttle_lazy_static! { @one [$(#[$attribute])*] [pub] $name: $type = $init; $($rest)* }
    };
    ($(#[$attribute:meta])* pub ($($path:tt)+) static ref $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__shuttle_lazy_static! { @one [$(#[$attribute])*] [pub ($($path)+)] $name: $type = $init; $($rest)* }
    };
    (@one [$($attributes:tt)*] [$($visibility:tt)*] $name:ident: $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__loom_lazy_static! { $($attributes)* $($visibility)* static ref $name: $type = $init; }
        impl $crate::compat::shuttle::lazy_static::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
        $crate::__shuttle_lazy_static! { $($rest)* }
    };
}
