//! `loom::sync`: std's names, but for the atomics that have another method.

pub use mc::sync::{
    Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError, TryLockResult, WaitTimeoutResult,
};

/// `loom::sync::atomic`.
pub mod atomic {
    use std::ops::{Deref, DerefMut};

    pub use mc::sync::atomic::{Ordering, compiler_fence, fence};

    macro_rules! atomics {
        ($($name:ident: $value:ty,)*) => {$(
            /// As in std, and with `with_mut`.
            #[derive(Debug, Default)]
            pub struct $name(mc::sync::atomic::$name);

            impl $name {
                /// With this value.
                pub const fn new(value: $value) -> Self {
                    Self(mc::sync::atomic::$name::new(value))
                }

                /// The value.
                pub fn into_inner(self) -> $value {
                    self.0.into_inner()
                }

                /// The value in place, which the exclusive borrow allows.
                pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut $value) -> R) -> R {
                    change(self.0.get_mut())
                }
            }

            impl Deref for $name {
                type Target = mc::sync::atomic::$name;

                fn deref(&self) -> &Self::Target {
                    &self.0
                }
            }

            impl DerefMut for $name {
                fn deref_mut(&mut self) -> &mut Self::Target {
                    &mut self.0
                }
            }
        )*};
    }

    atomics! {
        AtomicBool: bool,
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

    /// As in std, and with `with_mut`.
    #[derive(Debug)]
    pub struct AtomicPtr<T>(mc::sync::atomic::AtomicPtr<T>);

    impl<T> AtomicPtr<T> {
        /// With this pointer.
        pub const fn new(pointer: *mut T) -> Self {
            Self(mc::sync::atomic::AtomicPtr::new(pointer))
        }

        /// The pointer.
        pub fn into_inner(self) -> *mut T {
            self.0.into_inner()
        }

        /// The pointer in place, which the exclusive borrow allows.
        pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut *mut T) -> R) -> R {
            change(self.0.get_mut())
        }
    }

    impl<T> Default for AtomicPtr<T> {
        fn default() -> Self {
            Self::new(std::ptr::null_mut())
        }
    }

    impl<T> Deref for AtomicPtr<T> {
        type Target = mc::sync::atomic::AtomicPtr<T>;

        fn deref(&self) -> &Self::Target {
            &self.0
        }
    }

    impl<T> DerefMut for AtomicPtr<T> {
        fn deref_mut(&mut self) -> &mut Self::Target {
            &mut self.0
        }
    }
}
