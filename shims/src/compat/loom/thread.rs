//! `loom::thread`: this crate's, but for `spawn`, which asks for no `Send`: threads of a model run one at a time.

use std::fmt;
use std::io;

use mc_runtime::ops;

use crate::thread as inner;

pub use crate::thread::{AccessError, LocalKey, Result, Thread, ThreadId, current, panicking, park, yield_now};

/// Lets something go to another thread of a model.
struct Movable<T>(T);

// SAFETY: only made in `Builder::spawn`, which makes sure that the calling thread is one of a check. All threads of a check are run by one thread of the
// operating system, one at a time, and the new one gets, and gives back, what the calling one had.
unsafe impl<T> Send for Movable<T> {}

impl<T> Movable<T> {
    /// A closure that calls this takes all of it along.
    fn into_inner(self) -> T {
        self.0
    }
}

/// How a thread is made, as [`std::thread::Builder`].
#[derive(Debug)]
pub struct Builder(inner::Builder);

impl Builder {
    /// Without a name.
    #[expect(clippy::new_without_default, reason = "neither std's nor loom's has it")]
    pub fn new() -> Self {
        Self(inner::Builder::new())
    }

    /// Names the thread.
    pub fn name(self, name: String) -> Self {
        Self(self.0.name(name))
    }

    /// Sets the size of its stack.
    pub fn stack_size(self, size: usize) -> Self {
        Self(self.0.stack_size(size))
    }

    /// Starts it.
    ///
    /// # Errors
    /// As std's.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T,
        F: 'static,
        T: 'static,
    {
        assert!(ops::controlled() || ops::inert(), "`loom::thread::spawn` is called outside of a model");
        let f = Movable(f);
        self.0.spawn(move || Movable((f.into_inner())())).map(JoinHandle)
    }
}

/// Starts a thread.
///
/// # Panics
/// Outside of a model.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T,
    F: 'static,
    T: 'static,
{
    Builder::new().spawn(f).expect("a thread")
}

/// Owns the right to wait for a thread's end.
pub struct JoinHandle<T>(inner::JoinHandle<Movable<T>>);

impl<T> JoinHandle<T> {
    /// Waits for the end of the thread.
    ///
    /// # Errors
    /// What it panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.0.join().map(Movable::into_inner)
    }

    /// A handle to the thread.
    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
