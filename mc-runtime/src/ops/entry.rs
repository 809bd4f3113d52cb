//! The way from the code of a test into the engine: everything goes in registers, and the registers that calls preserve are read on the way.
//!
//! So an access takes no address of the caller's stack, and its frame is known exactly: where it goes on, and what it then finds in its registers.
//! Not here: what these are compared for (`exec::spin`), and which of them matter (`exec::liveness`).

use super::context::wait_for;
use crate::exec::{Accessed, Frame};
use crate::operation::{Code, Operation, Order, TestCode, UpdateCode};
use crate::ops::{Label, Rmw, Width};
use std::arch::naked_asm;
use std::panic::Location;
use std::ptr;

/// An operation without its operands: eight bytes that all have a value, so that it is a constant in a register.
#[derive(Clone, Copy)]
#[repr(C)]
struct Kind {
    access: Access,
    rmw: Rmw,
    test: TestCode,
    update: UpdateCode,
    order: Order,
    failure: Order,
    width: Width,
    label: Label,
}
const _: () = assert!(size_of::<Kind>() == 8, "passed in a register");

/// The codes that come this way, without what they carry.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Access {
    Load,
    Store,
    Rmw,
    CompareExchange,
    Guarded,
    Arrive,
    Pass,
    ReadLock,
    ReadUnlock,
    WriteLock,
}

impl Kind {
    #[inline(always)]
    fn of(operation: &Operation) -> Self {
        let (mut rmw, mut test, mut update) = (Rmw::Add, TestCode::Bit, UpdateCode::KeepAdd);
        let access = match operation.code {
            Code::Load => Access::Load,
            Code::Store => Access::Store,
            Code::Rmw(what) => {
                rmw = what;
                Access::Rmw
            }
            Code::CompareExchange => Access::CompareExchange,
            Code::Guarded(what, then) => {
                (test, update) = (what, then);
                Access::Guarded
            }
            Code::Arrive => Access::Arrive,
            Code::Pass => Access::Pass,
            Code::ReadLock => Access::ReadLock,
            Code::ReadUnlock => Access::ReadUnlock,
            Code::WriteLock => Access::WriteLock,
            _ => unreachable!("no access of a location"),
        };
        let Operation { order, failure, width, label, .. } = *operation;
        Kind { access, rmw, test, update, order, failure, width, label }
    }

    fn word(self) -> u64 {
        // SAFETY: eight bytes, all of which have a value.
        unsafe { std::mem::transmute::<Self, u64>(self) }
    }

    #[inline(always)]
    fn operation(self, a: u64, b: u64) -> Operation {
        let code = match self.access {
            Access::Load => Code::Load,
            Access::Store => Code::Store,
            Access::Rmw => Code::Rmw(self.rmw),
            Access::CompareExchange => Code::CompareExchange,
            Access::Guarded => Code::Guarded(self.test, self.update),
            Access::Arrive => Code::Arrive,
            Access::Pass => Code::Pass,
            Access::ReadLock => Code::ReadLock,
            Access::ReadUnlock => Code::ReadUnlock,
            Access::WriteLock => Code::WriteLock,
        };
        Operation { a, b, code, order: self.order, failure: self.failure, width: self.width, label: self.label }
    }
}

/// What an access gives, in two registers.
#[repr(C)]
struct Answer {
    old: u64,
    done: Done,
}

#[derive(Clone, Copy)]
#[repr(u64)]
enum Done {
    Nothing,
    Read,
    Wrote,
}

/// What [`enter`] leaves on the stack.
#[repr(C)]
pub(crate) struct Saved {
    /// `rbx`, `rbp`, `r12` to `r15`.
    registers: [u64; 6],
    /// Where the caller goes on.
    code: u64,
}

impl Saved {
    /// The caller's frame, of which it has asked this.
    pub(crate) fn frame(&self, asked: [u64; 4]) -> Frame {
        let stack = ptr::from_ref(self).addr() + size_of::<Self>();
        Frame { stack, registers: self.registers, code: self.code, asked }
    }

    /// Where the caller goes on.
    #[cfg(feature = "unmodified")]
    pub(crate) fn code(&self) -> usize {
        self.code as usize
    }
}

/// An access by the calling thread.
#[track_caller]
#[inline(always)]
pub(super) fn access(at: *mut (), operation: Operation) -> Option<Accessed> {
    let answer = enter(at, operation.a, operation.b, Kind::of(&operation), Location::caller());
    match answer.done {
        Done::Nothing => None,
        Done::Read => Some(Accessed { old: answer.old, wrote: false }),
        Done::Wrote => Some(Accessed { old: answer.old, wrote: true }),
    }
}

#[cfg(not(feature = "axioms"))]
macro_rules! leave {
    () => {
        "add rsp, 56"
    };
}

/// With what [`spoil`] has put there.
#[cfg(feature = "axioms")]
macro_rules! leave {
    () => {
        "add rsp, 8; pop rbx; pop rbp; pop r12; pop r13; pop r14; pop r15"
    };
}

/// What the caller is said never to read again gets other values: who reads it nevertheless is found out.
#[cfg(feature = "axioms")]
fn spoil(saved: &mut Saved, frame: &Frame) {
    const RUBBISH: u64 = 0xdead_dead_dead_dead;
    let Some(dead) = crate::ops::with_engine(|e| e.dead(frame.code)) else { return };
    for (which, register) in saved.registers.iter_mut().enumerate().filter(|(which, _)| dead.has_register(*which)) {
        *register = RUBBISH ^ which as u64;
    }
    for slot in dead.slots() {
        // SAFETY: a word of the caller's frame, which nothing but the caller's own instructions reach, and those write it first.
        unsafe { ptr::write_volatile((frame.stack as *mut u64).add(slot), RUBBISH) };
    }
}

/// Calls [`accessed`] with its own arguments and what it saved.
#[unsafe(naked)]
extern "C-unwind" fn enter(at: *mut (), a: u64, b: u64, kind: Kind, site: &'static Location<'static>) -> Answer {
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
        "call {accessed}",
        leave!(),
        ".cfi_adjust_cfa_offset -56",
        "ret",
        ".cfi_endproc",
        accessed = sym accessed,
    )
}

extern "C-unwind" fn accessed(
    at: *mut (),
    a: u64,
    b: u64,
    kind: Kind,
    site: &'static Location<'static>,
    saved: &mut Saved,
) -> Answer {
    let operation = kind.operation(a, b);
    let frame = saved.frame([at as u64, a, b, kind.word()]);
    let accessed = wait_for(|e| e.access(at as usize, operation, Some(site.into()), frame));
    #[cfg(feature = "axioms")]
    spoil(saved, &frame);
    match accessed {
        None => Answer { old: 0, done: Done::Nothing },
        Some(Accessed { old, wrote: false }) => Answer { old, done: Done::Read },
        Some(Accessed { old, wrote: true }) => Answer { old, done: Done::Wrote },
    }
}
