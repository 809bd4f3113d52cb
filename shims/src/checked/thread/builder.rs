//! `spawn` and `Builder`.

use std::io;

use super::handle::Name;
use super::join::JoinHandle;
use super::launch::launch;
use super::scoped::{Scope, ScopedJoinHandle};

/// Starts threads with a name and a stack size, as [`std::thread::Builder`].
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    pub(super) name: Option<String>,
    pub(super) stack_size: Option<usize>,
}

impl Builder {
    /// Without a name, with the usual stack size.
    #[expect(clippy::new_without_default, reason = "std has no `Default` either")]
    pub fn new() -> Self {
        Self { name: None, stack_size: None }
    }

    /// Names the thread.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// The size of its stack, in bytes.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Starts a thread.
    ///
    /// # Errors
    /// When the system cannot start one.
    ///
    /// # Panics
    /// When the name contains a byte 0.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: what is `'static` outlives every thread.
        unsafe { self.spawn_unchecked(f) }
    }

    /// Starts a thread that may borrow.
    ///
    /// # Safety
    /// The thread is joined before what `f` and `T` borrow ends.
    ///
    /// # Errors
    /// When the system cannot start one.
    ///
    /// # Panics
    /// When the name contains a byte 0.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: promised by the caller.
        Ok(JoinHandle(unsafe { launch(self, None, f) }?))
    }

    /// Starts a thread in a scope.
    ///
    /// # Errors
    /// When the system cannot start one.
    ///
    /// # Panics
    /// When the name contains a byte 0.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.spawn_with(self, f)
    }

    /// std's, with the same options.
    pub(super) fn real(self) -> std::thread::Builder {
        let mut real = std::thread::Builder::new();
        if let Some(name) = self.name {
            real = real.name(name);
        }
        if let Some(size) = self.stack_size {
            real = real.stack_size(size);
        }
        real
    }

    /// The name, which must be one that the system could take.
    #[track_caller]
    #[inline]
    pub(super) fn checked_name(&self) -> Name {
        match self.name.as_deref() {
            None => Name::None,
            Some(name) => Name::given(name),
        }
    }
}

/// Starts a thread.
///
/// # Panics
/// When the system cannot start one.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}
