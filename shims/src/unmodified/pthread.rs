//! Locks of the C library, which order nothing that the checker would see, and wait where it would not know: a test with threads must not use them.

use std::arch::naked_asm;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use mc_runtime::unmodified::reach_out;

/// A function of the C library.
struct Function {
    name: &'static CStr,
    real: AtomicPtr<c_void>,
}

/// What the call from this address of the function goes on with, if it does.
extern "C" fn passed_on(function: &'static Function, from: usize) -> *mut c_void {
    reach_out(function.name, from);
    let mut real = function.real.load(Relaxed);
    if real.is_null() {
        // SAFETY: a name that ends with zero.
        real = unsafe { libc::dlsym(libc::RTLD_NEXT, function.name.as_ptr()) };
        if real.is_null() {
            std::process::abort(); // nobody can have called it, then
        }
        function.real.store(real, Relaxed);
    }
    real
}

macro_rules! in_place_of {
    ($($name:ident)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                static FUNCTION: Function = Function {
                    name: match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => unreachable!(),
                    },
                    real: AtomicPtr::new(ptr::null_mut()),
                };
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
