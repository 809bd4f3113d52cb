//! The system itself, by ways that nobody takes the place of: what is called through the C library may be what the crates under test are meant to call.

use std::arch::asm;
use std::ffi::{CStr, c_long, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the C library.
pub type Function = NonNull<c_void>;

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

/// Has `end` called with `value` when the calling thread ends, after the destructors of all its thread-locals. One value for each thread, and one `end` for all;
/// false if the system has no room for that.
///
/// # Safety
/// `end` may be called with `value` then, by this thread.
pub unsafe fn at_end_of_thread(value: *mut c_void, end: unsafe extern "C" fn(*mut c_void)) -> bool {
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    let key = *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a place for a key.
        let made = unsafe { libc::pthread_key_create(&mut key, Some(end)) };
        (made == 0).then_some(key)
    });
    // SAFETY: the key was made above, and is never deleted.
    key.is_some_and(|key| unsafe { libc::pthread_setspecific(key, value) } == 0)
}

/// The C library's own function of a name that the executable has too.
#[derive(Debug)]
pub struct Original {
    name: &'static CStr,
    /// Null before it was looked for, and where there is none.
    at: AtomicPtr<c_void>,
}

impl Original {
    /// Looked for when it is needed.
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, at: AtomicPtr::new(ptr::null_mut()) }
    }

    /// What it is called.
    pub fn name(&self) -> &'static CStr {
        self.name
    }

    /// It, if the C library has it.
    pub fn find(&self) -> Option<Function> {
        let known = self.at.load(Ordering::Relaxed);
        if !known.is_null() {
            return NonNull::new(known);
        }
        // SAFETY: a string that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.at.store(found, Ordering::Relaxed);
        NonNull::new(found)
    }
}
