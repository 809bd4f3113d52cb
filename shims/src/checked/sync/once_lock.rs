//! `OnceLock`: a [`Once`] beside an optional value.
//!
//! It has no `Drop` of its own: std's tells the compiler that it only drops the value (`may_dangle`), and so a cell that
//! borrows from something dropped before it is accepted. The same follows here from the fields.

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::once::Once;
use crate::checked::statics;

/// A cell that is written once, as [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    once: Once,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: a shared cell gives `&T` to several threads (`T: Sync`), and one thread may put a value in that another drops or takes (`T: Send`).
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// An empty cell.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self { once: Once::new(), value: UnsafeCell::new(None) }
    }

    /// The value, if there is one yet.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if !self.once.is_completed() {
            return None;
        }
        // SAFETY: the load of the completed state happens after the only write; from then on the value changes by `&mut` alone.
        unsafe { &*self.value.get() }.as_ref()
    }

    /// The value, through exclusive access.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Waits until there is a value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait_force();
        self.completed()
    }

    /// Puts `value` in, if the cell is empty; waits when somebody is at it.
    ///
    /// # Errors
    /// When there is a value already; the error is the new one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.initialize(&mut || value.take());
        value.map_or(Ok(()), Err)
    }

    /// The value; makes it by `f` if there is none. Waits when somebody is at it.
    ///
    /// # Panics
    /// When `f` does; the cell then stays empty.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        let mut f = Some(f);
        self.initialize(&mut || f.take().map(|f| f()));
        self.completed()
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value out; the cell is empty then.
    pub fn take(&mut self) -> Option<T> {
        self.once = Once::new();
        self.value.get_mut().take()
    }

    #[track_caller]
    fn initialize(&self, make: &mut dyn FnMut() -> Option<T>) {
        // SAFETY: `touched` runs the function when nobody has access any more and the value is not used again.
        statics::touched(self, |cell| unsafe { cell.value.get().drop_in_place() });
        self.once.call_once_force(|_| {
            let made = make();
            // SAFETY: `Once` runs one closure at a time and none after the first that returns; readers come after that.
            unsafe { *self.value.get() = made };
        });
    }

    /// The value of a cell whose `Once` this thread has seen completed.
    fn completed(&self) -> &T {
        // SAFETY: as in `get`.
        unsafe { &*self.value.get() }.as_ref().expect("its initialisation is complete")
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.get().map_or_else(Self::new, |value| Self::from(value.clone()))
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        let mut cell = Self::new();
        cell.once.complete_mut();
        *cell.value.get_mut() = Some(value);
        cell
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
