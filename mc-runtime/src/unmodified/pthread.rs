//! Threads that the code under test starts through the C library, as the real std does: they are threads of the test.
//!
//! What stands for such a thread in the program is no pointer of the C library, so that its other functions must not be asked about it by others.

use crate::hooks::Start;
use crate::ops::{self, ThreadKey};
use crate::system::{Function, Original};
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use std::mem::transmute;

/// So that the linker takes them.
#[used]
static JOIN: unsafe extern "C" fn(pthread_t, *mut *mut c_void) -> c_int = pthread_join;
#[used]
static DETACH: unsafe extern "C" fn(pthread_t) -> c_int = pthread_detach;

/// In the upper bits of what stands for a thread of the test: no address of a process has them.
const OURS: pthread_t = 0x6d63 << 48;

fn of_key(key: ThreadKey) -> pthread_t {
    OURS | pthread_t::from(key.0)
}

fn key(thread: pthread_t) -> Option<ThreadKey> {
    (thread & !0xffff_ffff == OURS).then_some(ThreadKey(thread as u32))
}

/// Starts a thread of the test.
///
/// # Safety
/// As `pthread_create(3)`, by a thread of a test.
pub(crate) unsafe fn create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let mut size = 0;
    if !attributes.is_null() {
        // SAFETY: our caller's promise.
        unsafe { libc::pthread_attr_getstacksize(attributes, &mut size) };
    }
    let run = move || ops::set_returned(start(argument).addr());
    match ops::spawn(None, Some(size), Box::new(run)) {
        Some(key) => {
            // SAFETY: our caller's promise: a place for it.
            unsafe { thread.write(of_key(key)) };
            0
        }
        None => libc::EAGAIN,
    }
}

/// # Safety
/// As `pthread_join(3)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int {
    let Some(key) = key(thread) else {
        type Join = unsafe extern "C" fn(pthread_t, *mut *mut c_void) -> c_int;
        static REAL: Original = Original::new(c"pthread_join");
        let Some(real) = REAL.find() else { return libc::ENOSYS };
        // SAFETY: the C library's function of this name has this signature; passed on from our caller.
        return unsafe { transmute::<Function, Join>(real)(thread, value) };
    };
    if !ops::join(key) {
        return libc::ESRCH;
    }
    if !value.is_null() {
        // SAFETY: our caller's promise: a place for it.
        unsafe { value.write(ops::returned(key) as *mut c_void) };
    }
    0
}

/// # Safety
/// As `pthread_detach(3)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_detach(thread: pthread_t) -> c_int {
    if key(thread).is_some() {
        return 0; // nobody waits for it any more
    }
    type Detach = unsafe extern "C" fn(pthread_t) -> c_int;
    static REAL: Original = Original::new(c"pthread_detach");
    let Some(real) = REAL.find() else { return libc::ENOSYS };
    // SAFETY: the C library's function of this name has this signature; passed on from our caller.
    unsafe { transmute::<Function, Detach>(real)(thread) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_test_are_told_from_those_of_the_c_library() {
        assert_eq!(key(of_key(ThreadKey(7))), Some(ThreadKey(7)));
        // SAFETY: it has no conditions.
        assert_eq!(key(unsafe { libc::pthread_self() }), None);
        assert_eq!(std::thread::spawn(|| 5).join().unwrap(), 5);
    }
}
