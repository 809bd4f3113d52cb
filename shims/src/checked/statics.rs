//! Objects in a `static` start afresh in every execution: what they hold is dropped, their bytes are put back.
//!
//! Not here: atomics and state words, which the engine puts back by itself.

use mc_runtime::ops;

/// To be called before the first change of `object`; `drop` ends what the execution put into it.
///
/// `drop` is called at most once, at the end of the execution, when no thread runs and `object` has changed.
pub(crate) fn touched<T: ?Sized>(object: &T, drop: unsafe fn(&T)) {
    let at = std::ptr::from_ref(object);
    if !ops::is_static(at.cast()) {
        return;
    }
    let ended = move || {
        // SAFETY: `at` is in a `static`, so it is valid for ever; this runs at the end of the execution, when nobody else
        // has access and just before the engine overwrites the bytes, so what `drop` leaves behind is never used.
        unsafe { drop(&*at) }
    };
    // SAFETY: `object` is in a `static`, so the types that the closure names are `'static`.
    unsafe { ops::restore(at.cast_mut().cast(), size_of_val(object), ended) };
}

/// For a lock of which only the word is known, not what it guards: in a `static` it could not start afresh.
#[cfg(feature = "lock_api")]
#[track_caller]
pub(crate) fn refuse_unknown<T>(lock: &T) {
    if ops::is_static(std::ptr::from_ref(lock).cast()) {
        let message = "a lock of `parking_lot` in a `static` keeps what it guards from one execution to the next: a raw lock does not know how large \
             that is, nor how it is dropped\n\
             Use one of `mc::sync` there, or make the lock in the test."
            .to_owned();
        ops::fail(mc_runtime::outcome::FailureKind::Contract, message);
    }
}
