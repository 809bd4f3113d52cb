//! `loom::cell::UnsafeCell`: accesses that last, those of `with` and `with_mut` for as long as their closure runs, those of `get` and
//! `get_mut` as long as the pointer that they give.

use std::fmt;

use mc_runtime::ops;

/// A cell whose accesses are checked for data races.
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A new cell.
    #[track_caller]
    pub fn new(data: T) -> Self {
        Self(std::cell::UnsafeCell::new(data))
    }

    /// The value.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads: `f` gets the pointer, and may read through it. A write that is not ordered with all of it is a data race.
    #[inline]
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.get().with(f)
    }

    /// Writes: `f` gets the pointer, and may write through it. An access that is not ordered with all of it is a data race.
    #[inline]
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.get_mut().with(f)
    }

    /// A pointer that reads, until it is dropped.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        let pointer = self.0.get();
        ConstPtr { _access: Access::begin(pointer.cast(), size_of_val(&self.0), false), pointer }
    }

    /// A pointer that writes, until it is dropped.
    #[inline]
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let pointer = self.0.get();
        MutPtr { _access: Access::begin(pointer.cast(), size_of_val(&self.0), true), pointer }
    }
}

/// An access that has begun: the engine's number of it.
#[derive(Debug)]
struct Access(Option<u64>);

impl Access {
    #[inline]
    #[track_caller]
    fn begin(at: *mut (), size: usize, writes: bool) -> Self {
        Self(ops::hold(at, size, writes))
    }
}

impl Drop for Access {
    #[inline]
    fn drop(&mut self) {
        if let Some(number) = self.0 {
            ops::let_go(number);
        }
    }
}

/// A pointer into a cell, which reads it until it is dropped.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    _access: Access,
    pointer: *const T,
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// As of a raw pointer: the cell is there, and nobody writes it meanwhile.
    #[inline]
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: promised by the caller.
        unsafe { &*self.pointer }
    }

    /// Calls `f` with the pointer, which must not be used after that.
    #[inline]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.pointer)
    }
}

/// A pointer into a cell, which writes it until it is dropped.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    _access: Access,
    pointer: *mut T,
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// As of a raw pointer: the cell is there, and nobody else accesses it meanwhile.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "loom's signature; the caller promises that nobody else has access")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: promised by the caller.
        unsafe { &mut *self.pointer }
    }

    /// Calls `f` with the pointer, which must not be used after that.
    #[inline]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.pointer)
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
