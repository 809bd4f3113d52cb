//! What LLVM's `tsan` pass calls: the functions of ThreadSanitizer's runtime, in terms of the engine.
//!
//! They are called from code of the crates under test, and do nothing outside of a check. LLVM takes them for functions that do not unwind. The names and arguments
//! are those of `compiler-rt/lib/tsan/rtl/tsan_interface.h` and `tsan_interface_atomic.h`.

use crate::exec::{Calls, Engine, Frame, Step};
use crate::ids::EventId;
use crate::operation::{Code, Operation, Order};
use crate::ops::{self, Label, Rmw, Width};
use std::arch::naked_asm;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

static INSTRUMENTED: AtomicBool = AtomicBool::new(false);

/// Are the plain accesses of this process seen?
pub(crate) fn is_on() -> bool {
    INSTRUMENTED.load(Ordering::Relaxed)
}

/// Called before `main` by every instrumented module.
#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {
    INSTRUMENTED.store(true, Ordering::Relaxed);
}

/// A plain access, from the code at this address.
extern "C" fn touched(at: usize, code: usize, size: usize, writes: usize) {
    if ops::with_engine(|e| e.plain_access(at, size, writes != 0, code)) == Some(false) {
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

#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn __tsan_read_range(_at: usize, _size: usize) {
    naked_asm!("mov rdx, rsi", "mov rsi, [rsp]", "xor ecx, ecx", "jmp {}", sym touched)
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn __tsan_write_range(_at: usize, _size: usize) {
    naked_asm!("mov rdx, rsi", "mov rsi, [rsp]", "mov ecx, 1", "jmp {}", sym touched)
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
    ops::note_call(|calls| calls.enter(from));
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_exit() {
    ops::note_call(Calls::exit);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_vptr_update(_at: usize, _new: usize) {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_vptr_read(_at: usize) {}

/// Fences of the crates under test come through the facade; those of generic code of std go with counts, and are events where those are.
#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(c11: i32) {
    if ops::with_engine(|e| e.has_seen_count() && !e.is_cutting()) != Some(true) {
        return;
    }
    let fence = Operation { order: order(c11), failure: order(c11), ..Operation::plain(Code::Fence) };
    make(|e| e.plain(fence, EventId::INIT, None));
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: i32) {}

/// The orders of C11.
fn order(c11: i32) -> Order {
    match c11 {
        0 => Order::Relaxed,
        1 | 2 => Order::Acquire,
        3 => Order::Release,
        4 => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// An atomic operation of generic code of std. Those on counts of an `Arc` are done on memory as long as nobody looks at the count, and are events from then on; what else there
/// is belongs to std or to the checker.
fn atomic(
    at: usize,
    width: Width,
    code: Code,
    operands: (u64, u64),
    orders: (i32, i32),
    plain: impl Fn() -> u64,
) -> u64 {
    enum Way {
        Plain,
        Down,
        Event,
        Stop,
    }
    let way = ops::with_engine(|e| {
        if e.is_cutting() || width != Width::W64 || !e.is_count(at) {
            return Way::Plain;
        }
        match code {
            _ if e.sees_count(at) => Way::Event,
            Code::Rmw(Rmw::Add) => Way::Plain,
            Code::Rmw(Rmw::Sub) => Way::Down,
            _ if e.learn_count(at) => Way::Stop,
            _ => Way::Event,
        }
    });
    match way {
        None | Some(Way::Plain) => plain(),
        Some(Way::Down) => {
            let old = plain();
            if ops::with_engine(|e| e.count_down(at, old)) == Some(false) {
                ops::stop_for_good();
            }
            old
        }
        Some(Way::Event) => event(at, code, operands, orders).unwrap_or_else(plain),
        Some(Way::Stop) => ops::stop_for_good(),
    }
}

fn event(at: usize, code: Code, (a, b): (u64, u64), (success, failure): (i32, i32)) -> Option<u64> {
    let label = match code {
        Code::Rmw(Rmw::Add) => Label::ArcClone,
        Code::Rmw(Rmw::Sub) => Label::ArcDrop,
        _ => Label::ArcObserve,
    };
    let operation = Operation { a, b, code, order: order(success), failure: order(failure), width: Width::W64, label };
    let here = 0_u64;
    let accessed = make(|e| {
        // The registers are not known here, so that no round of a loop counts as like another.
        e.unlike += 1;
        let frame = Frame { stack: (&raw const here).addr(), registers: [e.unlike; 6], ..Frame::default() };
        e.access(at, operation, None, frame)
    });
    ops::with_engine(Engine::note_count);
    accessed.map(|accessed| accessed.old)
}

/// Makes an event, waiting as often as it must. `None` where the caller is not under control any more.
fn make<T>(mut event: impl FnMut(&mut Engine) -> Step<T>) -> Option<T> {
    loop {
        match ops::with_engine(&mut event)? {
            Step::Done(value) => return Some(value),
            Step::Wait => ops::suspend(),
            Step::Inert => return None,
            Step::Cut => ops::stop_for_good(),
        }
    }
}

macro_rules! atomics {
    ($atomic:ident, $int:ident, $width:ident, $load:ident, $store:ident, $exchange:ident, $cas:ident,
        $($rmw:ident $what:ident $method:ident,)*) => {
        #[unsafe(no_mangle)]
        extern "C" fn $load(at: *mut $int, order: i32) -> $int {
            // SAFETY: the code under test does this operation on the address.
            let place = unsafe { $atomic::from_ptr(at) };
            let plain = || place.load(Ordering::SeqCst) as u64;
            atomic(at.addr(), Width::$width, Code::Load, (0, 0), (order, order), plain) as $int
        }

        #[unsafe(no_mangle)]
        extern "C" fn $store(at: *mut $int, value: $int, order: i32) {
            // SAFETY: as above.
            let place = unsafe { $atomic::from_ptr(at) };
            let plain = || {
                place.store(value, Ordering::SeqCst);
                0
            };
            atomic(at.addr(), Width::$width, Code::Store, (value as u64, 0), (order, order), plain);
        }

        #[unsafe(no_mangle)]
        extern "C" fn $exchange(at: *mut $int, value: $int, order: i32) -> $int {
            // SAFETY: as above.
            let place = unsafe { $atomic::from_ptr(at) };
            let plain = || place.swap(value, Ordering::SeqCst) as u64;
            atomic(at.addr(), Width::$width, Code::Rmw(Rmw::Swap), (value as u64, 0), (order, order), plain) as $int
        }

        #[unsafe(no_mangle)]
        extern "C" fn $cas(at: *mut $int, expected: $int, new: $int, success: i32, failure: i32) -> $int {
            // SAFETY: as above.
            let place = unsafe { $atomic::from_ptr(at) };
            let plain = || match place.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(old) | Err(old) => old as u64,
            };
            let operands = (expected as u64, new as u64);
            atomic(at.addr(), Width::$width, Code::CompareExchange, operands, (success, failure), plain) as $int
        }

        $(
            #[unsafe(no_mangle)]
            extern "C" fn $rmw(at: *mut $int, value: $int, order: i32) -> $int {
                // SAFETY: as above.
                let place = unsafe { $atomic::from_ptr(at) };
                let plain = || place.$method(value, Ordering::SeqCst) as u64;
                atomic(at.addr(), Width::$width, Code::Rmw(Rmw::$what), (value as u64, 0), (order, order), plain) as $int
            }
        )*
    };
}

atomics! { AtomicU8, u8, W8, __tsan_atomic8_load, __tsan_atomic8_store, __tsan_atomic8_exchange, __tsan_atomic8_compare_exchange_val,
    __tsan_atomic8_fetch_add Add fetch_add, __tsan_atomic8_fetch_sub Sub fetch_sub, __tsan_atomic8_fetch_and And fetch_and,
    __tsan_atomic8_fetch_or Or fetch_or, __tsan_atomic8_fetch_xor Xor fetch_xor, __tsan_atomic8_fetch_nand Nand fetch_nand,
}
atomics! { AtomicU16, u16, W16, __tsan_atomic16_load, __tsan_atomic16_store, __tsan_atomic16_exchange, __tsan_atomic16_compare_exchange_val,
    __tsan_atomic16_fetch_add Add fetch_add, __tsan_atomic16_fetch_sub Sub fetch_sub, __tsan_atomic16_fetch_and And fetch_and,
    __tsan_atomic16_fetch_or Or fetch_or, __tsan_atomic16_fetch_xor Xor fetch_xor, __tsan_atomic16_fetch_nand Nand fetch_nand,
}
atomics! { AtomicU32, u32, W32, __tsan_atomic32_load, __tsan_atomic32_store, __tsan_atomic32_exchange, __tsan_atomic32_compare_exchange_val,
    __tsan_atomic32_fetch_add Add fetch_add, __tsan_atomic32_fetch_sub Sub fetch_sub, __tsan_atomic32_fetch_and And fetch_and,
    __tsan_atomic32_fetch_or Or fetch_or, __tsan_atomic32_fetch_xor Xor fetch_xor, __tsan_atomic32_fetch_nand Nand fetch_nand,
}
atomics! { AtomicU64, u64, W64, __tsan_atomic64_load, __tsan_atomic64_store, __tsan_atomic64_exchange, __tsan_atomic64_compare_exchange_val,
    __tsan_atomic64_fetch_add Add fetch_add, __tsan_atomic64_fetch_sub Sub fetch_sub, __tsan_atomic64_fetch_and And fetch_and,
    __tsan_atomic64_fetch_or Or fetch_or, __tsan_atomic64_fetch_xor Xor fetch_xor, __tsan_atomic64_fetch_nand Nand fetch_nand,
}
