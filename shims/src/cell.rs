//! `std::cell`, and an `UnsafeCell` whose accesses can be checked.

pub use std::cell::*;

/// As [`std::cell::UnsafeCell`], and with [`with`](Self::with) and [`with_mut`](Self::with_mut), whose accesses a checker
/// can see. Without one they are calls of their closures.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A new cell.
    #[inline(always)]
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// The value.
    #[inline(always)]
    pub const fn into_inner(self) -> T {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `Self` is `repr(transparent)` over `T`, which is moved out of what is not dropped.
        unsafe { std::ptr::read((&raw const this).cast::<T>()) }
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A cell over exclusively borrowed memory.
    #[inline(always)]
    pub const fn from_mut(value: &mut T) -> &mut Self {
        let value = std::ptr::from_mut(value) as *mut Self;
        // SAFETY: `Self` is `repr(transparent)` over std's cell and so over `T`, and the borrow is exclusive for its whole life.
        unsafe { &mut *value }
    }

    /// Where the value is. A checker does not see what is done through the pointer.
    #[inline(always)]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }

    /// The value, through exclusive access.
    #[inline(always)]
    pub const fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// As [`get`](Self::get), from a raw pointer.
    #[inline(always)]
    pub const fn raw_get(this: *const Self) -> *mut T {
        std::cell::UnsafeCell::raw_get(this as *const std::cell::UnsafeCell<T>)
    }

    /// Reads: `f` gets the pointer, and may read through it.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Writes: `f` gets the pointer, and may write through it.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> std::fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
