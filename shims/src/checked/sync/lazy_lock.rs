//! `LazyLock`: a [`Once`] beside the function, which its value replaces. No `Drop` of its own, see `once_lock`.

use std::cell::UnsafeCell;
use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::once::Once;
use crate::checked::statics;

enum State<T, F> {
    /// Not forced yet.
    Function(F),
    /// Being forced, or the function panicked.
    Taken,
    /// Forced.
    Value(T),
}

/// A value that is made at its first use, as [`std::sync::LazyLock`].
pub struct LazyLock<T, F = fn() -> T> {
    once: Once,
    state: UnsafeCell<State<T, F>>,
}

// SAFETY: a shared one gives `&T` (`T: Sync`), may make the value in another thread than the one that drops it (`T: Send`),
// and runs the function in any thread (`F: Send`), once, so `F` is never shared.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that `f` will make.
    #[inline]
    pub const fn new(f: F) -> Self {
        Self { once: Once::new(), state: UnsafeCell::new(State::Function(f)) }
    }

    /// The value, made now if it was not before; through exclusive access.
    ///
    /// # Panics
    /// When the function panics, or did before.
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        if this.once.is_poisoned_mut() {
            poisoned();
        }
        let state = this.state.get_mut();
        if let State::Function(_) = state
            && let State::Function(f) = mem::replace(state, State::Taken)
        {
            // Stays poisoned if the function panics.
            this.once.poison_mut();
            *this.state.get_mut() = State::Value(f());
            this.once.complete_mut();
        }
        match this.state.get_mut() {
            State::Value(value) => value,
            State::Function(_) | State::Taken => poisoned(),
        }
    }

    /// The value, made now if it was not before. Waits when somebody is at it.
    ///
    /// # Panics
    /// When the function panics, or did before.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        // SAFETY: `touched` runs the function when nobody has access any more and the state is not used again.
        statics::touched(this, |lazy| unsafe { lazy.state.get().drop_in_place() });
        this.once.call_once_force(|once| {
            if once.is_poisoned() {
                poisoned();
            }
            let state = this.state.get();
            // SAFETY: `Once` runs one closure at a time and none after the first that returns; readers come after that.
            let State::Function(f) = (unsafe { mem::replace(&mut *state, State::Taken) }) else { poisoned() };
            let value = f();
            // SAFETY: as above.
            unsafe { *state = State::Value(value) };
        });
        this.completed()
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it was made; through exclusive access.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if this.once.is_completed_mut() {
            match this.state.get_mut() {
                State::Value(value) => return Some(value),
                State::Function(_) | State::Taken => {}
            }
        }
        None
    }

    /// The value, if it was made.
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        this.once.is_completed().then(|| this.completed())
    }

    /// The value, once this thread has seen the `Once` completed.
    #[track_caller]
    fn completed(&self) -> &T {
        // SAFETY: the only writes happen before the completed state was seen; from then on the value changes by `&mut` alone.
        match unsafe { &*self.state.get() } {
            State::Value(value) => value,
            State::Function(_) | State::Taken => poisoned(),
        }
    }
}

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("LazyLock instance has previously been poisoned")
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;
    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("LazyLock");
        match Self::get(self) {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
