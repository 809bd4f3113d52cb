//! System calls that nobody takes the place of: what is called through the C library may be what the crates under test are meant to call.

use std::arch::asm;
use std::ffi::c_long;

/// Calls the kernel, and gives its answer: a negative number is an error.
///
/// # Safety
/// As the system call.
pub unsafe fn call(number: c_long, arguments: [usize; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    let answer;
    // SAFETY: passed on from our caller; the kernel changes `rax`, `rcx`, `r11` and what the arguments point to.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    answer
}
