//! `LocalKey`: a value per thread, made at its first use.

use std::error::Error;
use std::fmt;

use mc_runtime::ops;

use super::locals::{self, Found};

/// A value of its own for each thread, as [`std::thread::LocalKey`]; made by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    make: fn() -> T,
    /// The address of a word that only this key has.
    id: fn() -> usize,
}

/// The value was destroyed with its thread.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

impl<T: 'static> LocalKey<T> {
    /// For [`thread_local!`](crate::thread_local).
    #[doc(hidden)]
    pub const fn __new(make: fn() -> T, id: fn() -> usize) -> Self {
        Self { make, id }
    }

    /// Runs `f` on the calling thread's value, which is made first if there is none.
    ///
    /// # Panics
    /// When the value has been destroyed, or is being.
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.try_with(f).unwrap_or_else(|error| refused(error))
    }

    /// As [`with`](Self::with).
    ///
    /// # Errors
    /// When the value has been destroyed, or is being.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        self.access(None, |_, value| f(value))
    }

    /// Runs `f` on the value. `start` is what a new one is made of; it is handed to `f` when there is a value already.
    pub(super) fn with_start<R>(&'static self, start: T, f: impl FnOnce(Option<T>, &T) -> R) -> R {
        self.access(Some(start), f).unwrap_or_else(|error| refused(error))
    }

    fn access<R>(&'static self, start: Option<T>, f: impl FnOnce(Option<T>, &T) -> R) -> Result<R, AccessError> {
        ops::asks_who_it_is();
        let id = (self.id)();
        let (start, place) = match locals::find(id) {
            Found::Destroyed => return Err(AccessError),
            Found::Value(value) => (start, value.cast::<T>()),
            Found::Missing => {
                let value = start.unwrap_or_else(self.make);
                (None, locals::insert(id, value, std::mem::needs_drop::<T>()))
            }
            // A value for this access alone: nothing may outlive the execution.
            Found::Inert => return Ok(f(None, &start.unwrap_or_else(self.make))),
        };
        // SAFETY: a value stays where it is until its thread's destructors run, on this thread; they first mark it as destroyed.
        // Only a `make` that uses its own key replaces one, as in std, and then nobody is inside of `f`.
        Ok(f(start, unsafe { &*place }))
    }
}

#[cold]
#[track_caller]
fn refused(error: AccessError) -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: {error:?}")
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}
