//! `Wake`, and the waker that is made of it: std's, for this crate's `Arc`.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::sync::Arc;

/// What to do to wake a task, as [`std::task::Wake`], for owners that can be checked. (A method cannot take `self: mc::sync::Arc<Self>`.)
///
/// ```
/// use mc::future::{Wake, waker};
/// use mc::sync::Arc;
/// use mc::sync::atomic::{AtomicUsize, Ordering};
///
/// struct Count(AtomicUsize);
/// impl Wake for Count {
///     fn wake(this: Arc<Self>) {
///         this.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let count = Arc::new(Count(AtomicUsize::new(0)));
/// waker(count.clone()).wake();
/// assert_eq!(count.0.load(Ordering::Relaxed), 1);
/// ```
pub trait Wake {
    /// Wakes the task.
    fn wake(this: Arc<Self>);

    /// Wakes the task, and keeps the owner.
    fn wake_by_ref(this: &Arc<Self>) {
        Self::wake(Arc::clone(this));
    }
}

/// A waker that owns `wake`: its clone, wake and drop are those of the `Arc`.
pub fn waker<W: Wake + Send + Sync + 'static>(wake: Arc<W>) -> Waker {
    // SAFETY: the functions of the table fit a pointer that is an owner of a `W`, which may be used and dropped in any thread.
    unsafe { Waker::from_raw(raw(wake)) }
}

/// The pointer of each waker is an owner, from `Arc::into_raw`.
fn raw<W: Wake + Send + Sync + 'static>(wake: Arc<W>) -> RawWaker {
    RawWaker::new(Arc::into_raw(wake).cast(), table::<W>())
}

/// Not inlined: wakers of one task are known by the address of their table, and each copy of this code could have a table of its own.
#[inline(never)]
fn table<W: Wake + Send + Sync + 'static>() -> &'static RawWakerVTable {
    const { &RawWakerVTable::new(clone::<W>, wake_owned::<W>, wake_by_ref::<W>, drop_waker::<W>) }
}

/// # Safety
/// `data` is the pointer of a waker of a `W`; its owner passes on.
unsafe fn owner<W>(data: *const ()) -> Arc<W> {
    // SAFETY: `raw` made the pointer, with `into_raw` (promised by the caller).
    unsafe { Arc::from_raw(data.cast::<W>()) }
}

#[track_caller]
unsafe fn clone<W: Wake + Send + Sync + 'static>(data: *const ()) -> RawWaker {
    // SAFETY: called by a `Waker`, which keeps its owner: nothing is dropped here.
    let wake = ManuallyDrop::new(unsafe { owner::<W>(data) });
    raw(Arc::clone(&wake))
}

#[track_caller]
unsafe fn wake_owned<W: Wake>(data: *const ()) {
    // SAFETY: called by a `Waker` that is consumed.
    W::wake(unsafe { owner::<W>(data) });
}

#[track_caller]
unsafe fn wake_by_ref<W: Wake>(data: *const ()) {
    // SAFETY: called by a `Waker`, which keeps its owner: nothing is dropped here.
    W::wake_by_ref(&ManuallyDrop::new(unsafe { owner::<W>(data) }));
}

#[track_caller]
unsafe fn drop_waker<W>(data: *const ()) {
    // SAFETY: called by a `Waker` that is dropped.
    drop(unsafe { owner::<W>(data) });
}
