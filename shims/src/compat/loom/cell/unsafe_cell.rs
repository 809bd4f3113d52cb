//! `loom::cell::UnsafeCell`: accesses that last, those of `with` and `with_mut` for as long as their closure runs, those of `get` and
//! `get_mut` as long as the pointer that they give.
//!
//! As in loom, who hands a value on by an atomic operation may drop its pointer right after that, before the next operation: a destructor that ends with
//! a store drops the fields of its object only then. What is done through the pointer is seen by itself.

use std::{fmt, ptr};

use mc_runtime::ops::{self, Until};

/// A cell whose accesses are checked for data races.
pub struct UnsafeCell<T: ?Sized> {
    /// So that each cell has a place of its own, that of a zero-sized value too.
    _place: u8,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A new cell.
    #[track_caller]
    pub fn new(data: T) -> Self {
        Self { _place: 0, value: std::cell::UnsafeCell::new(data) }
    }

    /// The value.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
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
        let _access = self.begin(false, Until::Now);
        f(self.value.get())
    }

    /// Writes: `f` gets the pointer, and may write through it. An access that is not ordered with all of it is a data race.
    #[inline]
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        let _access = self.begin(true, Until::Now);
        f(self.value.get())
    }

    /// A pointer that reads, until it is dropped.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr { access: self.begin(false, Until::LastEvent), pointer: self.value.get() }
    }

    /// A pointer that writes, until it is dropped.
    #[inline]
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr { access: self.begin(true, Until::LastEvent), pointer: self.value.get() }
    }

    #[inline]
    #[track_caller]
    fn begin(&self, writes: bool, until: Until) -> Access {
        let at = ptr::from_ref(self).cast_mut().cast();
        Access { number: ops::hold(at, size_of_val(self), writes, true), at, size: size_of_val(self), writes, until }
    }
}

/// An access that has begun.
#[derive(Debug)]
struct Access {
    /// The engine's, if there is one.
    number: Option<u64>,
    at: *mut (),
    size: usize,
    writes: bool,
    until: Until,
}

impl Access {
    /// It accesses now.
    #[track_caller]
    fn now(&self) {
        match (self.number, self.writes) {
            (None, _) => {}
            (Some(_), true) => ops::cell_write(self.at, self.size),
            (Some(_), false) => ops::cell_read(self.at, self.size),
        }
    }
}

impl Drop for Access {
    #[inline]
    fn drop(&mut self) {
        if let Some(number) = self.number {
            ops::let_go(number, self.until);
        }
    }
}

/// A pointer into a cell, which reads it until it is dropped.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    access: Access,
    pointer: *const T,
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// As of a raw pointer: the cell is there, and nobody writes it meanwhile.
    #[inline]
    #[track_caller]
    pub unsafe fn deref(&self) -> &T {
        self.access.now();
        // SAFETY: promised by the caller.
        unsafe { &*self.pointer }
    }

    /// Calls `f` with the pointer, which must not be used after that.
    #[inline]
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.access.now();
        let result = f(self.pointer);
        self.access.now();
        result
    }
}

/// A pointer into a cell, which writes it until it is dropped.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    access: Access,
    pointer: *mut T,
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    /// As of a raw pointer: the cell is there, and nobody else accesses it meanwhile.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "loom's signature; the caller promises that nobody else has access")]
    #[track_caller]
    pub unsafe fn deref(&self) -> &mut T {
        self.access.now();
        // SAFETY: promised by the caller.
        unsafe { &mut *self.pointer }
    }

    /// Calls `f` with the pointer, which must not be used after that.
    #[inline]
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.access.now();
        let result = f(self.pointer);
        self.access.now();
        result
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
