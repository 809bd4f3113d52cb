//! Functions of the C library that the crates under test call by themselves: these take their place in the executable.
//!
//! Outside of a check, and for threads that are not under control, they do what the system does.

use std::ffi::{c_int, c_long, c_uint, c_void};

use mc_runtime::ops;
use mc_runtime::outcome::FailureKind;
use mc_runtime::system;

use super::clock;
use super::futex::{self, Waited};

/// So that the linker takes them.
#[used]
static SYSCALL: unsafe extern "C" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long = syscall;
#[used]
static YIELD: unsafe extern "C" fn() -> c_int = sched_yield;
#[used]
static GETRANDOM: unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize = getrandom;

fn fails(error: c_int) -> c_long {
    // SAFETY: the C library gives a valid pointer to the calling thread's own variable.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// # Safety
/// As the C library's `syscall`.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    if ops::is_called_by_test() {
        match number {
            libc::SYS_futex => {
                let timeout = d as *const libc::timespec;
                return ops::as_system(|| controlled_futex(a as *mut u32, b as c_int, c as u32, timeout));
            }
            // SAFETY: passed on from our caller: a buffer of that many bytes.
            libc::SYS_getrandom => return unsafe { getrandom(a as *mut c_void, b, c as c_uint) } as c_long,
            _ => {}
        }
    }
    // SAFETY: passed on from our caller.
    let answer = unsafe { system::call(number, [a, b, c, d, e, f]) };
    if answer < 0 { fails(-answer as c_int) } else { answer }
}

#[track_caller]
fn controlled_futex(futex: *mut u32, operation: c_int, value: u32, timeout: *const libc::timespec) -> c_long {
    if ops::inert() {
        return 0; // nobody waits any more
    }
    let what = operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    match what {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => match futex::wait(futex, value, !timeout.is_null()) {
            Waited::Woken => 0,
            Waited::Changed => fails(libc::EAGAIN),
            Waited::Late => {
                // SAFETY: the caller of the system call passes a time that lives as long as the call, and it is not null here.
                let time = clock::of_timespec(unsafe { &*timeout });
                let of_day = operation & libc::FUTEX_CLOCK_REALTIME != 0;
                let clock = if of_day { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
                ops::sleep(if what == libc::FUTEX_WAIT { time } else { clock::until(clock, time) });
                fails(libc::ETIMEDOUT)
            }
        },
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => futex::wake(futex, value as usize) as c_long,
        other => {
            let message = format!("a futex is used in a way that is not controlled (operation {other})");
            ops::fail(FailureKind::Uncontrolled, message)
        }
    }
}

/// # Safety
/// As the C library's `sched_yield`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_yield() -> c_int {
    if ops::is_called_by_test() {
        ops::yield_now();
        return 0;
    }
    // SAFETY: it has no conditions.
    unsafe { system::call(libc::SYS_sched_yield, [0; 6]) as c_int }
}

/// The same bytes for the same call of the same thread in every execution.
///
/// # Safety
/// As the C library's `getrandom`.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, flags: c_uint) -> isize {
    if !(ops::controlled() && ops::is_called_by_test()) {
        // SAFETY: passed on from our caller.
        let answer = unsafe { system::call(libc::SYS_getrandom, [buffer as usize, length, flags as usize, 0, 0, 0]) };
        return if answer < 0 { fails(-answer as c_int) as isize } else { answer as isize };
    }
    // SAFETY: passed on from our caller.
    unsafe { ops::fill_random(buffer.cast(), length) as isize }
}
