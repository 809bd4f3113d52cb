//! Locks of the C library, which order nothing that the checker would see, and wait where it would not know: a test with threads must not use them.

use std::arch::naked_asm;
use std::ffi::CStr;

use mc_runtime::system::{Function, Original};
use mc_runtime::unmodified::reach_out;

/// What the call from this address of the function goes on with, if it does.
extern "C" fn passed_on(function: &'static Original, from: usize) -> Function {
    reach_out(function.name(), from);
    // Where there is none, nobody can have called it.
    function.find().unwrap_or_else(|| std::process::abort())
}

macro_rules! in_place_of {
    ($($name:ident)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                static FUNCTION: Original =
                    Original::new(match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => unreachable!(),
                    });
                naked_asm!(
                    ".cfi_startproc",
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "push rcx",
                    "push r8",
                    ".cfi_adjust_cfa_offset 40",
                    "lea rdi, [rip + {function}]",
                    "mov rsi, [rsp + 40]",
                    "call {passed_on}",
                    "pop r8",
                    "pop rcx",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    ".cfi_adjust_cfa_offset -40",
                    "jmp rax",
                    ".cfi_endproc",
                    function = sym FUNCTION,
                    passed_on = sym passed_on,
                )
            }
        )*

        /// So that the linker takes them.
        #[used]
        static ALL: &[extern "C" fn()] = &[$($name),*];
    };
}

in_place_of! {
    pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_clocklock
    pthread_rwlock_rdlock pthread_rwlock_tryrdlock pthread_rwlock_timedrdlock
    pthread_rwlock_wrlock pthread_rwlock_trywrlock pthread_rwlock_timedwrlock
    pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock
    pthread_spin_lock pthread_spin_trylock
    pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_cond_signal pthread_cond_broadcast
    pthread_barrier_wait pthread_once
    sem_wait sem_trywait sem_timedwait sem_clockwait sem_post
    mtx_lock mtx_trylock mtx_timedlock cnd_wait cnd_timedwait cnd_signal cnd_broadcast call_once
}
