//! The calling thread.

use std::sync::atomic::{AtomicBool, Ordering};

use mc_runtime::ops::{self, ThreadKey};

use super::handle::{Name, Thread};
use super::locals;

/// Names the entry of the thread's name among its thread-locals.
static KEY: usize = 0;

/// The body of the test, which no shim has spawned.
const BODY: ThreadKey = ThreadKey(0);

/// The bodies that are checked from now on have no name: they are called by a test of another name than `main`.
pub(crate) static NAMELESS: AtomicBool = AtomicBool::new(false);

/// A handle to the calling thread.
#[must_use]
pub fn current() -> Thread {
    let Some(key) = ops::current().filter(|_| ops::controlled()) else {
        return Thread::real(std::thread::current());
    };
    ops::asks_who_it_is();
    Thread::checked(key, name(key))
}

/// The name of the calling thread, which the engine runs.
fn name(key: ThreadKey) -> Name {
    if key == BODY {
        return if NAMELESS.load(Ordering::Relaxed) { Name::None } else { Name::Main };
    }
    match locals::find(id()) {
        // SAFETY: what is under this key is a name (see `enter`).
        locals::Found::Value(name) => unsafe { (*name.cast::<Name>()).clone() },
        _ => Name::None,
    }
}

/// Names the calling thread, which the engine runs.
pub(super) fn enter(name: Name) {
    if name.as_str().is_some() {
        locals::insert(id(), name, false);
    }
}

pub(super) fn id() -> usize {
    (&raw const KEY).addr()
}

/// Is the calling thread unwinding?
#[inline]
#[must_use]
pub fn panicking() -> bool {
    ops::asks_who_it_is();
    ops::panicking()
}
