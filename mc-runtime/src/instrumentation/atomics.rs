//! Atomic operations and fences.
//!
//! Those of the crates under test come through the facade, so that what is left is in generic code of std: the counts of `Arc`. They are done on memory as long as nobody
//! looks at the count, and are events from then on. Where std is instrumented itself there is no facade, and all other operations are events.
//! LLVM does not tell of `fetch_max` and `fetch_min`, nor whether a compare-exchange is a weak one.

use super::{is_in_checker, is_on_in_std};
use crate::exec::{Engine, Frame};
use crate::operation::{Code, Operation, Order};
use crate::ops::{self, Label, Rmw, Width};
use crate::place::Place;
use crate::symbols;
use std::arch::naked_asm;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// An operation on an atomic, as the compiler tells of it.
struct Atomic<'a> {
    at: usize,
    width: Width,
    code: Code,
    operands: (u64, u64),
    /// Of C11; that of the failure last.
    orders: (i32, i32),
    caller: &'a Frame,
}

/// How it is done.
enum Way {
    /// On memory.
    Plain,
    /// On memory: an owner of an `Arc` has gone.
    Down,
    /// As an event.
    Event,
    /// As an event of a count.
    Count,
    /// Not in this execution.
    Stop,
}

impl Atomic<'_> {
    fn way(&self, e: &mut Engine) -> Way {
        if e.is_cutting() {
            return Way::Plain;
        }
        if is_on_in_std() {
            if !symbols::is_arcs(e.trace_of_calls(self.caller.code as usize)) {
                return Way::Event;
            }
            if e.rehearses() {
                return Way::Plain; // as if nobody looked at the count
            }
        }
        if self.width != Width::W64 || !e.is_count(self.at) {
            let writes = self.code != Code::Load;
            if !is_on_in_std() && e.is_count_of_freed(self.at, size_of::<u64>(), writes, self.caller.code as usize) {
                return Way::Stop;
            }
            return if is_on_in_std() { Way::Event } else { Way::Plain };
        }
        match self.code {
            _ if e.sees_count(self.at) => Way::Count,
            Code::Rmw(Rmw::Add) => Way::Plain,
            Code::Rmw(Rmw::Sub) if !symbols::is_into_inner(e.trace_of_calls(self.caller.code as usize)) => Way::Down,
            _ if e.learn_count(self.at) => Way::Stop,
            _ => Way::Count,
        }
    }

    /// Does it: by `plain` where it is no event. The old value.
    fn run(&self, plain: impl Fn() -> u64) -> u64 {
        if is_in_checker() {
            return plain();
        }
        match ops::with_engine(|e| self.way(e)) {
            None | Some(Way::Plain) => plain(),
            Some(Way::Down) => {
                let old = plain();
                if ops::with_engine(|e| e.count_down(self.at, old)) == Some(false) {
                    ops::stop_for_good();
                }
                old
            }
            Some(Way::Event) => self.event(Label::Atomic).unwrap_or_else(plain),
            Some(Way::Count) => {
                let old = self.event(match self.code {
                    Code::Rmw(Rmw::Add) => Label::ArcClone,
                    Code::Rmw(Rmw::Sub) => Label::ArcDrop,
                    _ => Label::ArcObserve,
                });
                ops::with_engine(Engine::note_count);
                old.unwrap_or_else(plain)
            }
            Some(Way::Stop) => ops::stop_for_good(),
        }
    }

    /// `None` where the caller is not under control any more.
    fn event(&self, label: Label) -> Option<u64> {
        let (order, failure) = (order(self.orders.0), order(self.orders.1));
        let ((a, b), code, width) = (self.operands, self.code, self.width);
        let operation = Operation { a, b, code, order, failure, width, label };
        let place = place(self.caller);
        ops::wait_or_stop(|e| e.access(self.at, &operation, place, self.caller)).map(|accessed| accessed.old)
    }
}

/// Where the call was made, for events that have no other place.
fn place(caller: &Frame) -> Option<Place> {
    let trace = |e: &mut Engine| Place::of_code(e.trace_of_calls(caller.code as usize));
    is_on_in_std().then(|| ops::with_engine(trace)).flatten()
}

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

extern "C" fn fenced(c11: i32, _: usize, _: usize, _: usize, _: usize, caller: &Frame) {
    if is_in_checker() {
        return;
    }
    let is_event = |e: &mut Engine| {
        // Those of an `Arc` go with its counts.
        let of_test = is_on_in_std() && !symbols::is_arcs(e.trace_of_calls(caller.code as usize));
        !e.is_cutting() && (of_test || e.has_seen_count())
    };
    if ops::with_engine(is_event) != Some(true) {
        return;
    }
    let fence = Operation { order: order(c11), failure: order(c11), ..Operation::plain(Code::Fence) };
    let place = place(caller);
    ops::wait_or_stop(|e| e.plain(fence, place));
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: i32) {}

/// Functions that pass on their own arguments, five at most, and what the caller has in its registers.
macro_rules! entries {
    ($($name:ident $to:path,)*) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                naked_asm!(
                    ".cfi_startproc",
                    "push r15",
                    "push r14",
                    "push r13",
                    "push r12",
                    "push rbp",
                    "push rbx",
                    "mov r9, rsp",
                    "sub rsp, 8",
                    ".cfi_adjust_cfa_offset 56",
                    "call {to}",
                    "add rsp, 56",
                    ".cfi_adjust_cfa_offset -56",
                    "ret",
                    ".cfi_endproc",
                    to = sym $to,
                )
            }
        )*
    };
}

entries! { __tsan_atomic_thread_fence fenced, }

macro_rules! atomics {
    ($width:ident $module:ident $int:ident $atomic:ident, $load:ident, $store:ident, $exchange:ident, $cas:ident,
        $($rmw:ident $what:ident $method:ident,)*) => {
        mod $module {
            use super::*;

            fn of(at: *mut $int, code: Code, operands: (u64, u64), orders: (i32, i32), caller: &Frame) -> Atomic<'_> {
                Atomic { at: at.addr(), width: Width::$width, code, operands, orders, caller }
            }

            pub(super) extern "C" fn load(at: *mut $int, order: i32, _: u64, _: u64, _: u64, caller: &Frame) -> $int {
                // SAFETY: the code under test does this operation on the address.
                let place = unsafe { $atomic::from_ptr(at) };
                let plain = || place.load(Ordering::SeqCst) as u64;
                of(at, Code::Load, (0, 0), (order, order), caller).run(plain) as $int
            }

            pub(super) extern "C" fn store(at: *mut $int, value: $int, order: i32, _: u64, _: u64, caller: &Frame) {
                // SAFETY: as above.
                let place = unsafe { $atomic::from_ptr(at) };
                let plain = || {
                    place.store(value, Ordering::SeqCst);
                    0
                };
                of(at, Code::Store, (value as u64, 0), (order, order), caller).run(plain);
            }

            pub(super) extern "C" fn swap(
                at: *mut $int,
                value: $int,
                order: i32,
                _: u64,
                _: u64,
                caller: &Frame,
            ) -> $int {
                // SAFETY: as above.
                let place = unsafe { $atomic::from_ptr(at) };
                let plain = || place.swap(value, Ordering::SeqCst) as u64;
                of(at, Code::Rmw(Rmw::Swap), (value as u64, 0), (order, order), caller).run(plain) as $int
            }

            pub(super) extern "C" fn compare_exchange(
                at: *mut $int,
                expected: $int,
                new: $int,
                success: i32,
                failure: i32,
                caller: &Frame,
            ) -> $int {
                // SAFETY: as above.
                let place = unsafe { $atomic::from_ptr(at) };
                let plain = || match place.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(old) | Err(old) => old as u64,
                };
                let operands = (expected as u64, new as u64);
                of(at, Code::CompareExchange, operands, (success, failure), caller).run(plain) as $int
            }

            $(
                pub(super) extern "C" fn $method(
                    at: *mut $int,
                    value: $int,
                    order: i32,
                    _: u64,
                    _: u64,
                    caller: &Frame,
                ) -> $int {
                    // SAFETY: as above.
                    let place = unsafe { $atomic::from_ptr(at) };
                    let plain = || place.$method(value, Ordering::SeqCst) as u64;
                    of(at, Code::Rmw(Rmw::$what), (value as u64, 0), (order, order), caller).run(plain) as $int
                }
            )*
        }

        entries! {
            $load $module::load, $store $module::store, $exchange $module::swap, $cas $module::compare_exchange,
            $($rmw $module::$method,)*
        }
    };
}

atomics! { W8 of_8 u8 AtomicU8, __tsan_atomic8_load, __tsan_atomic8_store, __tsan_atomic8_exchange, __tsan_atomic8_compare_exchange_val,
    __tsan_atomic8_fetch_add Add fetch_add,
    __tsan_atomic8_fetch_sub Sub fetch_sub,
    __tsan_atomic8_fetch_and And fetch_and,
    __tsan_atomic8_fetch_or Or fetch_or,
    __tsan_atomic8_fetch_xor Xor fetch_xor,
    __tsan_atomic8_fetch_nand Nand fetch_nand,
}
atomics! { W16 of_16 u16 AtomicU16, __tsan_atomic16_load, __tsan_atomic16_store, __tsan_atomic16_exchange, __tsan_atomic16_compare_exchange_val,
    __tsan_atomic16_fetch_add Add fetch_add,
    __tsan_atomic16_fetch_sub Sub fetch_sub,
    __tsan_atomic16_fetch_and And fetch_and,
    __tsan_atomic16_fetch_or Or fetch_or,
    __tsan_atomic16_fetch_xor Xor fetch_xor,
    __tsan_atomic16_fetch_nand Nand fetch_nand,
}
atomics! { W32 of_32 u32 AtomicU32, __tsan_atomic32_load, __tsan_atomic32_store, __tsan_atomic32_exchange, __tsan_atomic32_compare_exchange_val,
    __tsan_atomic32_fetch_add Add fetch_add,
    __tsan_atomic32_fetch_sub Sub fetch_sub,
    __tsan_atomic32_fetch_and And fetch_and,
    __tsan_atomic32_fetch_or Or fetch_or,
    __tsan_atomic32_fetch_xor Xor fetch_xor,
    __tsan_atomic32_fetch_nand Nand fetch_nand,
}
atomics! { W64 of_64 u64 AtomicU64, __tsan_atomic64_load, __tsan_atomic64_store, __tsan_atomic64_exchange, __tsan_atomic64_compare_exchange_val,
    __tsan_atomic64_fetch_add Add fetch_add,
    __tsan_atomic64_fetch_sub Sub fetch_sub,
    __tsan_atomic64_fetch_and And fetch_and,
    __tsan_atomic64_fetch_or Or fetch_or,
    __tsan_atomic64_fetch_xor Xor fetch_xor,
    __tsan_atomic64_fetch_nand Nand fetch_nand,
}
