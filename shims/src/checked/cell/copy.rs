//! `Cell`: std's, and each access reported. It is `!Sync`, so races need unsafe code around it.
//!
//! Differs: `get` and `replace` are not `const`, since they report.

use std::cmp::Ordering;
use std::fmt;

use mc_runtime::ops;

use crate::checked::statics;

/// As [`std::cell::Cell`].
#[repr(transparent)]
pub struct Cell<T: ?Sized>(std::cell::Cell<T>);

impl<T> Cell<T> {
    /// A new cell.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(std::cell::Cell::new(value))
    }

    /// Puts a value in and drops the previous one.
    #[inline]
    #[track_caller]
    pub fn set(&self, val: T) {
        self.writes();
        self.0.set(val);
    }

    /// Exchanges the values of two cells.
    ///
    /// # Panics
    /// When the cells overlap without being the same.
    #[inline]
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        self.writes();
        other.writes();
        self.0.swap(&other.0);
    }

    /// Puts a value in and returns the previous one.
    #[inline]
    #[track_caller]
    pub fn replace(&self, val: T) -> T {
        self.writes();
        self.0.replace(val)
    }

    /// The value.
    #[inline]
    pub const fn into_inner(self) -> T {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: `Self` is `repr(transparent)` over `T`, which is moved out of what is not dropped.
        unsafe { std::ptr::read((&raw const this).cast::<T>()) }
    }
}

impl<T: Copy> Cell<T> {
    /// A copy of the value.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> T {
        ops::cell_read(self.0.as_ptr().cast(), size_of::<T>());
        self.0.get()
    }

    /// Replaces the value by what `f` makes of it.
    #[inline]
    #[track_caller]
    pub fn update(&self, f: impl FnOnce(T) -> T) {
        let old = self.get();
        self.set(f(old));
    }
}

impl<T: Default> Cell<T> {
    /// Takes the value and leaves the default.
    #[inline]
    #[track_caller]
    pub fn take(&self) -> T {
        self.replace(T::default())
    }
}

impl<T: ?Sized> Cell<T> {
    /// Where the value is. What is done through the pointer is not checked.
    #[inline]
    pub const fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    /// The value, through exclusive access.
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// A cell over exclusively borrowed memory.
    #[inline]
    pub const fn from_mut(t: &mut T) -> &Self {
        let t = std::ptr::from_mut(t) as *const Self;
        // SAFETY: `Self` is `repr(transparent)` over std's cell and so over `T`, and nobody else reaches the memory while it is borrowed.
        unsafe { &*t }
    }

    #[inline]
    #[track_caller]
    fn writes(&self) {
        // SAFETY: this runs when nobody has access any more, and the value is not used again.
        statics::touched(self, |cell| unsafe { cell.as_ptr().drop_in_place() });
        ops::cell_write(self.0.as_ptr().cast(), size_of_val(self));
    }
}

impl<T> Cell<[T]> {
    /// A cell for each element.
    #[inline]
    pub const fn as_slice_of_cells(&self) -> &[Cell<T>] {
        let cells = std::ptr::from_ref(self) as *const [Cell<T>];
        // SAFETY: `Cell` is `repr(transparent)`: a cell of a slice and a slice of cells have one layout, and both allow shared changes.
        unsafe { &*cells }
    }
}

impl<T, const N: usize> Cell<[T; N]> {
    /// A cell for each element.
    #[inline]
    pub const fn as_array_of_cells(&self) -> &[Cell<T>; N] {
        let cells = std::ptr::from_ref(self) as *const [Cell<T>; N];
        // SAFETY: as for slices.
        unsafe { &*cells }
    }
}

impl<T> AsRef<[Cell<T>]> for Cell<[T]> {
    fn as_ref(&self) -> &[Cell<T>] {
        self.as_slice_of_cells()
    }
}

impl<T, const N: usize> AsRef<[Cell<T>; N]> for Cell<[T; N]> {
    fn as_ref(&self) -> &[Cell<T>; N] {
        self.as_array_of_cells()
    }
}

impl<T, const N: usize> AsRef<[Cell<T>]> for Cell<[T; N]> {
    fn as_ref(&self) -> &[Cell<T>] {
        self.as_array_of_cells()
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::new(self.get())
    }
}

impl<T: Default> Default for Cell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("value", &self.get()).finish()
    }
}
