//! The calling thread.

use std::sync::atomic::{AtomicBool, Ordering};

use mc_runtime::ops;

use crate::checked::sync::Arc;

use super::handle::{Shared, Thread};
use super::locals;

/// Names the entry of the thread's own handle among its thread-locals.
static KEY: usize = 0;

/// The bodies that are checked from now on have no name: they are called by a test of another name than `main`.
pub(crate) static NAMELESS: AtomicBool = AtomicBool::new(false);

/// A handle to the calling thread.
#[must_use]
pub fn current() -> Thread {
    if !ops::controlled() {
        return Thread::real(std::thread::current());
    }
    ops::asks_who_it_is();
    Thread::checked(own().unwrap_or_else(|| {
        // The body of the test has no shim that spawned it. After the end of the thread's locals the handle is a new one, too.
        let name = (!NAMELESS.load(Ordering::Relaxed)).then(|| "main".to_owned());
        let own = Arc::new(Shared::new(name));
        enter(own.clone());
        own
    }))
}

/// What the calling thread, which the engine runs, shares with its handles.
pub(super) fn own() -> Option<Arc<Shared>> {
    let locals::Found::Value(own) = locals::find(id()) else { return None };
    let own = own.cast_const().cast::<Shared>();
    // SAFETY: the entry under this key is an owner (see `enter`), which is given up when the thread has ended and not before.
    unsafe { Arc::increment_strong_count(own) };
    // SAFETY: the owner that was just added.
    Some(unsafe { Arc::from_raw(own) })
}

/// Makes `own` that of the calling thread, which the engine runs.
pub(super) fn enter(own: Arc<Shared>) {
    if let Some(key) = ops::current() {
        own.identify(key);
    }
    // SAFETY: `leave` takes back the owner that `into_raw` leaves behind.
    unsafe { locals::put(id(), Arc::into_raw(own).cast_mut().cast(), leave, false) };
}

/// # Safety
/// `own` is from [`enter`], and not used again.
unsafe fn leave(own: *mut ()) {
    if !own.is_null() {
        // SAFETY: promised by the caller.
        drop(unsafe { Arc::from_raw(own.cast_const().cast::<Shared>()) });
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
