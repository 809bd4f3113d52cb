//! The clock that goes on by itself, and sleep, as the real std has them from the C library: virtual, as in our `time` and `thread`. The time of day is the system's.

use std::ffi::c_int;
use std::mem::transmute;
use std::time::Duration;

use libc::{clockid_t, timespec};
use mc_runtime::ops;
use mc_runtime::system::{Function, Original};
use mc_runtime::unmodified::{self, Std};

/// So that the linker takes them.
#[used]
static GETTIME: unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int = clock_gettime;
#[used]
static NANOSLEEP: unsafe extern "C" fn(*const timespec, *mut timespec) -> c_int = nanosleep;
#[used]
static CLOCK_NANOSLEEP: unsafe extern "C" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int =
    clock_nanosleep;

/// What the clock shows when an execution begins: some time after the machine was started.
const START: Duration = Duration::from_secs(1_000_000);

/// Does a test call what the real std is made from?
fn is_called_by_std() -> bool {
    unmodified::std() == Std::Real && ops::is_called_by_test()
}

fn is_virtual(clock: clockid_t) -> bool {
    [libc::CLOCK_MONOTONIC, libc::CLOCK_MONOTONIC_RAW, libc::CLOCK_MONOTONIC_COARSE, libc::CLOCK_BOOTTIME]
        .contains(&clock)
}

/// # Safety
/// As the C library's `clock_gettime`.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if is_virtual(clock)
        && is_called_by_std()
        && let Some(now) = ops::now()
    {
        // SAFETY: our caller's promise: a place for it.
        unsafe { time.write(to_timespec(START + now)) };
        return 0;
    }
    type GetTime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;
    static REAL: Original = Original::new(c"clock_gettime");
    let Some(real) = REAL.find() else { return -1 };
    // SAFETY: the C library's function of this name has this signature; passed on from our caller.
    unsafe { transmute::<Function, GetTime>(real)(clock, time) }
}

/// # Safety
/// As the C library's `nanosleep`.
#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
    if is_called_by_std() {
        // SAFETY: our caller's promise.
        ops::sleep(of_timespec(unsafe { &*time }));
        return 0;
    }
    type Sleep = unsafe extern "C" fn(*const timespec, *mut timespec) -> c_int;
    static REAL: Original = Original::new(c"nanosleep");
    let Some(real) = REAL.find() else { return -1 };
    // SAFETY: the C library's function of this name has this signature; passed on from our caller.
    unsafe { transmute::<Function, Sleep>(real)(time, left) }
}

/// # Safety
/// As the C library's `clock_nanosleep`.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    if is_called_by_std() {
        // SAFETY: our caller's promise.
        let time = of_timespec(unsafe { &*time });
        ops::sleep(if flags & libc::TIMER_ABSTIME == 0 { time } else { until(clock, time) });
        return 0;
    }
    type Sleep = unsafe extern "C" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int;
    static REAL: Original = Original::new(c"clock_nanosleep");
    let Some(real) = REAL.find() else { return libc::ENOSYS };
    // SAFETY: the C library's function of this name has this signature; passed on from our caller.
    unsafe { transmute::<Function, Sleep>(real)(clock, flags, time, left) }
}

/// How long it is until the clock shows this. (Who names a time has looked at the clock.)
pub(super) fn until(clock: clockid_t, time: Duration) -> Duration {
    if !is_virtual(clock) || unmodified::std() != Std::Real {
        return Duration::ZERO; // the real one does not stand still for a test
    }
    time.saturating_sub(START + ops::now().unwrap_or_default())
}

pub(super) fn of_timespec(time: &timespec) -> Duration {
    Duration::new(time.tv_sec.max(0) as u64, 0) + Duration::from_nanos(time.tv_nsec.max(0) as u64)
}

fn to_timespec(time: Duration) -> timespec {
    timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() }
}
