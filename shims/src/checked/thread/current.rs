//! The calling thread.

use crate::checked::sync::Arc;

use mc_runtime::ops;

use super::handle::{Shared, Thread};
use super::locals;

/// Names the entry of the thread's own handle among its thread-locals.
static KEY: usize = 0;

/// A handle to the calling thread.
#[must_use]
pub fn current() -> Thread {
    if !ops::controlled() {
        return Thread::real(std::thread::current());
    }
    match locals::find(id()) {
        locals::Found::Value(handle) => {
            // SAFETY: the entry under this key is a boxed `Thread`, freed when the thread has ended and not before.
            unsafe { &*handle.cast::<Thread>().cast_const() }.clone()
        }
        // The body of the test has no shim that spawned it. After the end of the thread's locals the handle is a new one, too.
        locals::Found::Missing | locals::Found::Destroyed | locals::Found::Inert => {
            let thread = Thread::checked(Arc::new(Shared::new(Some("main".to_owned()))));
            enter(&thread);
            thread
        }
    }
}

/// Makes `thread` the handle of the calling thread, which the engine runs.
pub(super) fn enter(thread: &Thread) {
    if let (Some(shared), Some(key)) = (thread.shared(), ops::current()) {
        shared.identify(key);
    }
    locals::insert(id(), thread.clone());
}

pub(super) fn id() -> usize {
    (&raw const KEY).addr()
}

/// Is the calling thread unwinding?
#[inline]
#[must_use]
pub fn panicking() -> bool {
    ops::panicking()
}
