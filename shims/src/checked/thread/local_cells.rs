//! `LocalKey` of a cell: access without a closure.

use std::cell::RefCell;

use super::local::LocalKey;

/// The methods of a key of a `Cell`, std's or the checked one.
macro_rules! of_cell {
    ($path:ty) => {
        impl<T: 'static> LocalKey<$path> {
            /// Sets the calling thread's value; none is made first.
            ///
            /// # Panics
            /// When the value has been destroyed, or is being.
            pub fn set(&'static self, value: T) {
                self.with_start(<$path>::new(value), |start, cell| {
                    if let Some(start) = start {
                        cell.set(start.into_inner());
                    }
                });
            }

            /// A copy of the calling thread's value.
            ///
            /// # Panics
            /// When the value has been destroyed, or is being.
            pub fn get(&'static self) -> T
            where
                T: Copy,
            {
                self.with(|cell| cell.get())
            }

            /// Takes the calling thread's value and leaves the default.
            ///
            /// # Panics
            /// When the value has been destroyed, or is being.
            pub fn take(&'static self) -> T
            where
                T: Default,
            {
                self.with(|cell| cell.take())
            }

            /// Sets the calling thread's value and returns the previous one.
            ///
            /// # Panics
            /// When the value has been destroyed, or is being.
            pub fn replace(&'static self, value: T) -> T {
                self.with(|cell| cell.replace(value))
            }
        }
    };
}
of_cell!(std::cell::Cell<T>);
of_cell!(crate::checked::cell::Cell<T>);

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Runs `f` on the borrowed value of the calling thread.
    ///
    /// # Panics
    /// When it is mutably borrowed, or has been destroyed, or is being.
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Runs `f` on the mutably borrowed value of the calling thread.
    ///
    /// # Panics
    /// When it is borrowed, or has been destroyed, or is being.
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Sets the calling thread's value; none is made first.
    ///
    /// # Panics
    /// When it is borrowed, or has been destroyed, or is being.
    pub fn set(&'static self, value: T) {
        self.with_start(RefCell::new(value), |start, cell| {
            if let Some(start) = start {
                *cell.borrow_mut() = start.into_inner();
            }
        });
    }

    /// Takes the calling thread's value and leaves the default.
    ///
    /// # Panics
    /// When it is borrowed, or has been destroyed, or is being.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Sets the calling thread's value and returns the previous one.
    ///
    /// # Panics
    /// When it is borrowed, or has been destroyed, or is being.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}
