//! What LLVM's `tsan` pass calls: the functions of ThreadSanitizer's runtime, in terms of the engine. And what `asan` calls, for accesses that the other passes over.
//!
//! They are called from code of the crates under test, and do nothing outside of a check. LLVM takes them for functions that do not unwind. The names and arguments
//! are those of `compiler-rt/lib/tsan/rtl/tsan_interface.h` and `tsan_interface_atomic.h`.
//!
//! Where std itself is instrumented, its one copy serves the checker too: what that calls is not looked at.

mod atomics;

use crate::exec::Calls;
use crate::ops;
use std::arch::naked_asm;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

static INSTRUMENTED: AtomicBool = AtomicBool::new(false);
static STD: AtomicBool = AtomicBool::new(false);

/// Std is instrumented, and its atomics are those of the test.
pub(crate) fn set_std() {
    STD.store(true, Ordering::Relaxed);
}

/// Is it?
pub(crate) fn is_on_in_std() -> bool {
    STD.load(Ordering::Relaxed)
}

/// Does the checker run on the calling thread, in the middle of an execution? Its memory is the system's.
fn is_in_checker() -> bool {
    is_on_in_std() && !ops::is_called_by_test()
}

/// Are the plain accesses of this process seen?
pub(crate) fn is_on() -> bool {
    INSTRUMENTED.load(Ordering::Relaxed)
}

/// Called before `main` by every instrumented module.
#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {
    crate::worker::crash::come_before_std();
    INSTRUMENTED.store(true, Ordering::Relaxed);
}

/// A plain access, from the code at this address.
extern "C" fn touched(at: usize, code: usize, size: usize, writes: usize) {
    if !is_in_checker() && ops::ask_engine(|e| e.has_just_accessed(at, size, writes != 0)) == Some(false) {
        touch(at, code, size, writes != 0);
    }
}

#[inline(never)]
fn touch(at: usize, code: usize, size: usize, writes: bool) {
    if ops::access_plainly(|e| e.plain_access(at, size, writes, code)) == Some(false) {
        ops::stop_for_good();
    }
}

extern "C" fn touched_twice(at: usize, code: usize, size: usize) {
    touched(at, code, size, 0);
    touched(at, code, size, 1);
}

macro_rules! access {
    ($($name:ident $to:ident $size:literal $writes:literal,)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name(_at: usize) {
                naked_asm!(
                    "mov rsi, [rsp]",
                    concat!("mov edx, ", $size),
                    concat!("mov ecx, ", $writes),
                    "jmp {}",
                    sym $to,
                )
            }
        )*
    };
}

access! {
    __tsan_read1 touched 1 0, __tsan_read2 touched 2 0, __tsan_read4 touched 4 0,
    __tsan_read8 touched 8 0, __tsan_read16 touched 16 0,
    __tsan_write1 touched 1 1, __tsan_write2 touched 2 1, __tsan_write4 touched 4 1,
    __tsan_write8 touched 8 1, __tsan_write16 touched 16 1,
    __tsan_unaligned_read2 touched 2 0, __tsan_unaligned_read4 touched 4 0,
    __tsan_unaligned_read8 touched 8 0, __tsan_unaligned_read16 touched 16 0,
    __tsan_unaligned_write2 touched 2 1, __tsan_unaligned_write4 touched 4 1,
    __tsan_unaligned_write8 touched 8 1, __tsan_unaligned_write16 touched 16 1,
    __tsan_volatile_read1 touched 1 0, __tsan_volatile_read2 touched 2 0, __tsan_volatile_read4 touched 4 0,
    __tsan_volatile_read8 touched 8 0, __tsan_volatile_read16 touched 16 0,
    __tsan_volatile_write1 touched 1 1, __tsan_volatile_write2 touched 2 1, __tsan_volatile_write4 touched 4 1,
    __tsan_volatile_write8 touched 8 1, __tsan_volatile_write16 touched 16 1,
    __tsan_unaligned_volatile_read2 touched 2 0, __tsan_unaligned_volatile_read4 touched 4 0,
    __tsan_unaligned_volatile_read8 touched 8 0, __tsan_unaligned_volatile_read16 touched 16 0,
    __tsan_unaligned_volatile_write2 touched 2 1, __tsan_unaligned_volatile_write4 touched 4 1,
    __tsan_unaligned_volatile_write8 touched 8 1, __tsan_unaligned_volatile_write16 touched 16 1,
    __tsan_read_write1 touched_twice 1 0, __tsan_read_write2 touched_twice 2 0, __tsan_read_write4 touched_twice 4 0,
    __tsan_read_write8 touched_twice 8 0, __tsan_read_write16 touched_twice 16 0,
    __tsan_unaligned_read_write2 touched_twice 2 0, __tsan_unaligned_read_write4 touched_twice 4 0,
    __tsan_unaligned_read_write8 touched_twice 8 0, __tsan_unaligned_read_write16 touched_twice 16 0,
}

/// What AddressSanitizer's pass calls: of a size that the other pass knows, that has told already.
extern "C" fn touched_oddly(at: usize, code: usize, size: usize, writes: usize) {
    if !matches!(size, 1 | 2 | 4 | 8 | 16) {
        touched(at, code, size, writes);
    }
}

macro_rules! span {
    ($($name:ident $to:ident $writes:literal,)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name(_at: usize, _size: usize) {
                naked_asm!("mov rdx, rsi", "mov rsi, [rsp]", concat!("mov ecx, ", $writes), "jmp {}", sym $to)
            }
        )*
    };
}

span! {
    __tsan_read_range touched 0, __tsan_write_range touched 1,
    __asan_loadN touched_oddly 0, __asan_storeN touched_oddly 1,
}

// The other pass has told of these.
macro_rules! nothing {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() {}
        )*
    };
}

nothing! {
    __asan_load1 __asan_load2 __asan_load4 __asan_load8 __asan_load16
    __asan_store1 __asan_store2 __asan_store4 __asan_store8 __asan_store16
    __asan_handle_no_return
}

extern "C" fn copied(to: *mut u8, from: *const u8, size: usize, code: usize) -> *mut u8 {
    touched(from.addr(), code, size, 0);
    touched(to.addr(), code, size, 1);
    // SAFETY: the code under test calls `memmove`, or `memcpy`, which asks for more, with these arguments.
    unsafe { ptr::copy(from, to, size) };
    to
}

extern "C" fn filled(to: *mut u8, byte: i32, size: usize, code: usize) -> *mut u8 {
    touched(to.addr(), code, size, 1);
    // SAFETY: the code under test calls `memset` with these arguments.
    unsafe { ptr::write_bytes(to, byte as u8, size) };
    to
}

macro_rules! range {
    ($($name:ident $to:ident,)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name(_to: usize, _from: usize, _size: usize) -> usize {
                naked_asm!("mov rcx, [rsp]", "jmp {}", sym $to)
            }
        )*
    };
}

range! { __tsan_memcpy copied, __tsan_memmove copied, __tsan_memset filled, }

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_entry(from: usize) {
    if !is_in_checker() {
        ops::note_call(|calls| calls.enter(from));
    }
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_exit() {
    if !is_in_checker() {
        ops::note_call(Calls::exit);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_vptr_update(_at: usize, _new: usize) {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_vptr_read(_at: usize) {}
