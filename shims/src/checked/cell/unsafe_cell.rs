//! `UnsafeCell`, with the accesses that can be seen: those of `with` and `with_mut`, which last as long as the closures.
//!
//! Differs: `get` is not `const`, since a cell in a `static` has to be known before it is changed.

use std::fmt;

use mc_runtime::ops::{self, Until};

use crate::checked::statics;

/// As [`std::cell::UnsafeCell`], and with [`with`](Self::with) and [`with_mut`](Self::with_mut), whose accesses are checked
/// for data races. What is done through [`get`](Self::get) is not seen.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A new cell.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// The value.
    #[inline]
    pub const fn into_inner(self) -> T {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `Self` is `repr(transparent)` over `T`, which is moved out of what is not dropped.
        unsafe { std::ptr::read((&raw const this).cast::<T>()) }
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A cell over exclusively borrowed memory.
    #[inline]
    pub const fn from_mut(value: &mut T) -> &mut Self {
        let value = std::ptr::from_mut(value) as *mut Self;
        // SAFETY: `Self` is `repr(transparent)` over std's cell and so over `T`, and the borrow is exclusive for its whole life.
        unsafe { &mut *value }
    }

    /// Where the value is. What is done through the pointer is not checked.
    #[inline]
    pub fn get(&self) -> *mut T {
        self.touched();
        self.0.get()
    }

    /// The value, through exclusive access.
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// As [`get`](Self::get), from a raw pointer.
    #[inline]
    pub const fn raw_get(this: *const Self) -> *mut T {
        std::cell::UnsafeCell::raw_get(this as *const std::cell::UnsafeCell<T>)
    }

    /// Reads: `f` gets the pointer, and may read through it until it returns. A write of another thread that is not ordered with that is a data race.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let _access = self.begin(false);
        f(self.0.get())
    }

    /// Writes: `f` gets the pointer, and may write through it until it returns. An access of another thread that is not ordered with that is a data race.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let _access = self.begin(true);
        f(self.0.get())
    }

    #[track_caller]
    fn begin(&self, writes: bool) -> Access {
        self.touched();
        Access(ops::hold(self.0.get().cast(), size_of_val(self), writes, false))
    }

    fn touched(&self) {
        // SAFETY: this runs when nobody has access any more, and the value is not used again.
        statics::touched(self, |cell| unsafe { cell.0.get().drop_in_place() });
    }
}

/// One that lasts, by its number: until the closure returns, or unwinds.
struct Access(Option<u64>);

impl Drop for Access {
    #[inline]
    fn drop(&mut self) {
        if let Some(number) = self.0 {
            ops::let_go(number, Until::Now);
        }
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

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
