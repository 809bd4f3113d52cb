//! The way from the code of a test into the engine: everything goes in registers, and the registers that calls preserve are read on the way.
//!
//! So an access takes no address of the caller's stack, and its frame is known exactly: where it goes on, and what it then finds in its registers.
//! Not here: what these are compared for (`exec::spin`), and which of them matter (`exec::liveness`).

use super::context::wait_for;
use crate::exec::{Accessed, Frame};
use crate::operation::{Kind, Operation};
use std::arch::naked_asm;
use std::panic::Location;
#[cfg(feature = "axioms")]
use std::ptr;

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

/// What the caller is said never to read again gets other values: who reads it nevertheless is found out.
#[cfg(feature = "axioms")]
fn spoil(frame: &mut Frame) {
    const RUBBISH: u64 = 0xdead_dead_dead_dead;
    let Some(dead) = crate::ops::with_engine(|e| e.dead(frame.code)) else { return };
    for (which, register) in frame.registers.iter_mut().enumerate().filter(|(which, _)| dead.has_register(*which)) {
        *register = RUBBISH ^ which as u64;
    }
    for slot in dead.slots() {
        // SAFETY: a word of the caller's frame, which nothing but the caller's own instructions reach, and those write it first.
        unsafe { ptr::write_volatile((frame.stack() as *mut u64).add(slot), RUBBISH) };
    }
}

/// Calls [`accessed`] with its own arguments and the caller's [`Frame`], and goes on as that says then: the caller may have been put back.
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
        "add rsp, 8",
        "pop rbx",
        "pop rbp",
        "pop r12",
        "pop r13",
        "pop r14",
        "pop r15",
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
    frame: &mut Frame,
) -> Answer {
    let operation = kind.operation(a, b);
    let accessed = wait_for(|e| e.access_or_reread(at as usize, &operation, Some(site.into()), frame));
    #[cfg(feature = "axioms")]
    spoil(frame);
    match accessed {
        None => Answer { old: 0, done: Done::Nothing },
        Some(Accessed { old, wrote: false }) => Answer { old, done: Done::Read },
        Some(Accessed { old, wrote: true }) => Answer { old, done: Done::Wrote },
    }
}
