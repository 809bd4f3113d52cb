//! System calls of the code under test: those that reach out of it are refused, with their place.
//!
//! By Linux's Syscall User Dispatch (5.11): a byte says for a thread of the operating system whether its system calls become a signal. They do while code of the test
//! runs, and not while the engine does. So C code and inline assembly are seen as well.

mod files;
mod permitted;

use crate::exec::Reached;
use crate::ops;
use libc::{c_int, c_void};
use permitted::permitted;
use std::arch::naked_asm;
use std::cell::Cell;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use syscalls::Sysno;

thread_local! {
    /// What the kernel looks at before each system call of this thread: 1, and it is a signal instead.
    static SELECTOR: Cell<u8> = const { Cell::new(0) };
}

/// Of the kernel's `prctl.h`.
const SET_SYSCALL_USER_DISPATCH: c_int = 59;

/// Some thread could not be watched.
static UNWATCHED: AtomicBool = AtomicBool::new(false);

/// Are the system calls of tests seen?
pub(crate) fn are_seen() -> bool {
    !UNWATCHED.load(Ordering::Relaxed)
}

/// From now on, those of the calling thread of the operating system are looked at where [`select`] says so.
pub(crate) fn watch() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // SAFETY: a zeroed `sigaction` is a valid one; the handler has the signature that `SA_SIGINFO` asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_system_call as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGSYS, &action, ptr::null_mut());
        }
    });
    const ON: usize = 1;
    let selector = SELECTOR.with(Cell::as_ptr);
    // SAFETY: the byte lives as long as the thread.
    let refused = unsafe { libc::prctl(SET_SYSCALL_USER_DISPATCH, ON, 0_usize, 0_usize, selector) };
    if refused != 0 {
        UNWATCHED.store(true, Ordering::Relaxed);
    }
}

/// Does code of a test run now?
#[inline]
pub(crate) fn select(test: bool) {
    SELECTOR.set(test.into());
}

/// A system call that is about to be made.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// `None` where this kernel's number is not known.
    what: Option<Sysno>,
    arguments: [usize; 6],
}

/// What becomes of it.
enum Fate {
    /// It is made.
    Made,
    /// This is its answer.
    Answered(isize),
    /// It reaches out of the test.
    Refused,
    /// It moves in a file in which others move, too: where is in no execution.
    Shared,
}

extern "C" fn on_system_call(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    select(false);
    // SAFETY: the kernel's, for the time of the handler.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let registers = &context.uc_mcontext.gregs;
    let order = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9];
    let arguments = order.map(|register| registers[register as usize] as usize);
    let call = Call { what: Sysno::new(registers[libc::REG_RAX as usize] as usize), arguments };
    // SAFETY: the calling thread's own variable. The interrupted code may be between a call and its look at it.
    let error = unsafe { *libc::__errno_location() };
    let fate = match call.what {
        Some(Sysno::rt_sigprocmask) => change_mask(context, call.arguments),
        _ => permitted(&call),
    };
    match fate {
        Fate::Made => go_on(context, made as *const (), None),
        Fate::Answered(answer) => go_on(context, answered as *const (), Some(answer)),
        Fate::Refused => refuse(context, &call, ""),
        Fate::Shared => refuse(context, &call, " of a file that others read, too,"),
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = error };
    select(false); // the engine may have been asked; and the way back is a system call
}

/// The interrupted code goes on through one of the ways below, which then lets system calls be signals again.
fn go_on(context: &mut libc::ucontext_t, through: *const (), answer: Option<isize>) {
    const RED_ZONE: usize = 128;
    let registers = &mut context.uc_mcontext.gregs;
    let stack = registers[libc::REG_RSP as usize] as usize - RED_ZONE - 2 * size_of::<usize>();
    let left = stack as *mut usize;
    // SAFETY: below the red zone, where the interrupted code keeps nothing.
    unsafe {
        left.write(SELECTOR.with(Cell::as_ptr).addr());
        left.add(1).write(registers[libc::REG_RIP as usize] as usize);
    }
    registers[libc::REG_RSP as usize] = stack as i64;
    registers[libc::REG_RIP as usize] = through as i64;
    if let Some(answer) = answer {
        registers[libc::REG_RAX as usize] = answer as i64;
    }
}

/// Makes the call, and goes on where [`go_on`] says. System calls change `rcx` anyway.
#[unsafe(naked)]
extern "C" fn made() {
    naked_asm!("syscall", "pop rcx", "mov byte ptr [rcx], 1", "ret 128")
}

#[unsafe(naked)]
extern "C" fn answered() {
    naked_asm!("pop rcx", "mov byte ptr [rcx], 1", "ret 128")
}

/// The thread ends here, unless it is the only one: then nothing that it does can be in an order that matters.
fn refuse(context: &mut libc::ucontext_t, call: &Call, of: &str) {
    const CALL: i64 = 2; // bytes of the instruction `syscall`
    let name = call.what.map_or("of a number that is not known", |what| what.name());
    let registers = &mut context.uc_mcontext.gregs;
    match ops::with_engine(|e| e.reach_out(&format!("system call `{name}`{of}"), makes_thread(call))) {
        Some(Reached::Alone) => registers[libc::REG_RIP as usize] -= CALL,
        Some(Reached::Refused) | None => {
            let stack = (registers[libc::REG_RSP as usize] - 128) & !15;
            registers[libc::REG_RSP as usize] = stack - size_of::<usize>() as i64;
            registers[libc::REG_RIP as usize] = stopped as *const () as i64;
        }
    }
}

extern "C" fn stopped() -> ! {
    ops::stop_for_good()
}

/// A thread, as against another process.
fn makes_thread(call: &Call) -> bool {
    match call.what {
        Some(Sysno::clone) => call.arguments[0] & libc::CLONE_THREAD as usize != 0,
        Some(Sysno::clone3) => {
            let flags = call.arguments[0] as *const u64;
            // SAFETY: the first field of the structure that the caller gives to the kernel.
            !flags.is_null() && unsafe { *flags } & libc::CLONE_THREAD as u64 != 0
        }
        _ => false,
    }
}

/// `rt_sigprocmask`, on the mask that holds when the handler returns. The signal by which calls are seen stays.
fn change_mask(context: &mut libc::ucontext_t, [how, set, old, size, ..]: [usize; 6]) -> Fate {
    const SIGSYS: u64 = 1 << (libc::SIGSYS - 1);
    if size != size_of::<u64>() {
        return Fate::Answered(-libc::EINVAL as isize);
    }
    let mask = (&raw mut context.uc_sigmask).cast::<u64>();
    // SAFETY: the kernel's mask has 64 signals; the pointers are null or the caller's, who gives them to the kernel.
    unsafe {
        let before = *mask;
        if let Some(set) = (set as *const u64).as_ref() {
            let now = match how as c_int {
                libc::SIG_BLOCK => before | set,
                libc::SIG_UNBLOCK => before & !set,
                _ => *set,
            };
            *mask = now & !SIGSYS;
        }
        if let Some(old) = (old as *mut u64).as_mut() {
            *old = before;
        }
    }
    Fate::Answered(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::arch::asm;

    /// Runs `f` on a thread whose system calls are looked at, unless this kernel cannot.
    fn watched(f: fn()) {
        let thread = std::thread::spawn(move || {
            watch();
            if are_seen() {
                f();
            }
        });
        thread.join().unwrap();
    }

    /// Makes a system call as a test would, and gives its answer. Nothing else may have changed.
    fn call(what: Sysno, [a, b, c, d]: [usize; 4]) -> isize {
        const KEPT: usize = 0x1234_5678_9abc_def0;
        let (mut answer, mut red_zone, mut eighth, mut twelfth) = (what as isize, KEPT, KEPT + 8, KEPT + 12);
        let (mut first, mut second, mut third, mut fourth) = (a, b, c, d);
        select(true);
        // SAFETY: the callers pass what these calls take; the words below the stack pointer are nobody's, as the stack may be used.
        unsafe {
            asm!(
                "mov qword ptr [rsp - 8], {red}", "mov qword ptr [rsp - 128], {red}",
                "syscall",
                "mov {red}, qword ptr [rsp - 8]", "and {red}, qword ptr [rsp - 128]",
                red = inout(reg) red_zone, inlateout("rax") answer,
                inout("rdi") first, inout("rsi") second, inout("rdx") third, inout("r10") fourth,
                inout("r8") eighth, inout("r12") twelfth, lateout("rcx") _, lateout("r11") _,
            );
        }
        let still = SELECTOR.get();
        select(false);
        assert_eq!(still, 1, "the next call is looked at, too");
        assert_eq!([first, second, third, fourth, red_zone, eighth, twelfth], [a, b, c, d, KEPT, KEPT + 8, KEPT + 12]);
        answer
    }

    #[test]
    fn a_call_that_is_permitted_is_made_where_it_was() {
        watched(|| {
            // SAFETY: the calling thread's own variable.
            unsafe { *libc::__errno_location() = 7 };
            assert_eq!(call(Sysno::getpid, [0; 4]), std::process::id() as isize);
            let nowhere = c"/no such file".as_ptr() as usize;
            assert_eq!(call(Sysno::access, [nowhere, 0, 0, 0]), -libc::ENOENT as isize);
            // SAFETY: as above.
            assert_eq!(unsafe { *libc::__errno_location() }, 7);
        });
    }

    #[test]
    fn the_mask_of_signals_changes_but_for_the_one_that_is_needed() {
        watched(|| {
            let bit = |signal: c_int| 1_u64 << (signal - 1);
            let (set, mut before, mut after) = (bit(libc::SIGUSR1) | bit(libc::SIGSYS), 0_u64, 0_u64);
            let mask = |how: c_int, set: *const u64, old: &mut u64| {
                call(Sysno::rt_sigprocmask, [how as usize, set as usize, ptr::from_mut(old) as usize, 8])
            };
            assert_eq!(mask(libc::SIG_BLOCK, &set, &mut before), 0);
            assert_eq!(mask(libc::SIG_BLOCK, ptr::null(), &mut after), 0);
            assert_eq!(after, before | bit(libc::SIGUSR1));
            assert_eq!(mask(libc::SIG_UNBLOCK, &set, &mut after), 0);
            assert_eq!(mask(libc::SIG_SETMASK, &before, &mut after), 0);
            assert_eq!(after, before & !bit(libc::SIGUSR1));
            assert_eq!(call(Sysno::rt_sigprocmask, [0, 0, 0, 4]), -libc::EINVAL as isize);
        });
    }

    #[test]
    fn a_thread_is_told_from_another_process() {
        let clone =
            |flags: c_int| makes_thread(&Call { what: Some(Sysno::clone), arguments: [flags as usize, 0, 0, 0, 0, 0] });
        assert!(clone(libc::CLONE_THREAD | libc::CLONE_VM));
        assert!(!clone(libc::CLONE_VFORK | libc::CLONE_VM));
        let clone3 = |flags: &u64| {
            makes_thread(&Call {
                what: Some(Sysno::clone3),
                arguments: [ptr::from_ref(flags) as usize, 88, 0, 0, 0, 0],
            })
        };
        assert!(clone3(&(libc::CLONE_THREAD as u64)));
        assert!(!clone3(&0));
        assert!(!makes_thread(&Call { what: Some(Sysno::clone3), arguments: [0; 6] }));
    }

    /// What would take the checker's eyes away.
    #[test]
    fn what_the_checker_needs_is_refused() {
        let refused = |what, first| {
            matches!(permitted(&Call { what: Some(what), arguments: [first, 0, 0, 0, 0, 0] }), Fate::Refused)
        };
        assert!(refused(Sysno::prctl, SET_SYSCALL_USER_DISPATCH as usize));
        assert!(!refused(Sysno::prctl, libc::PR_SET_NAME as usize));
        assert!(refused(Sysno::sigaltstack, 8));
        assert!(!refused(Sysno::sigaltstack, 0));
        assert!(matches!(permitted(&Call { what: None, arguments: [0; 6] }), Fate::Refused));
    }
}
