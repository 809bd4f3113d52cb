//! Whose turn it is: the engine's, or that of a thread of the operating system which runs for it.
//!
//! A futex, by the kernel itself: the C library's `syscall` may be what the crates under test are meant to call.

use crate::system;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// The turn is the engine's.
const ENGINE: u32 = 0;
/// The turn is the thread's.
const THREAD: u32 = 1;
/// The thread has ended.
const ENDED: u32 = 2;
/// The thread is to go, where it is.
const GIVEN_UP: u32 = 3;

/// What the two wait for. The turn is the engine's at first.
#[derive(Debug, Default)]
pub(super) struct Baton(AtomicU32);

/// How a wait of the thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It runs.
    Run,
    /// It is given up.
    GivenUp,
}

impl Baton {
    /// By the engine: lets the thread run until it gives the turn back; true when it has ended.
    pub(super) fn run(&self) -> bool {
        self.pass(THREAD);
        self.wait_while(THREAD) == ENDED
    }

    /// By the engine: the thread, whose turn it is not, will never run again.
    pub(super) fn give_up(&self) {
        self.pass(GIVEN_UP);
    }

    /// By the thread: waits for its turn.
    pub(super) fn wait(&self) -> Turn {
        if self.wait_while(ENGINE) == GIVEN_UP { Turn::GivenUp } else { Turn::Run }
    }

    /// By the thread: gives the turn back and waits for the next.
    pub(super) fn give_back(&self) -> Turn {
        self.pass(ENGINE);
        self.wait()
    }

    /// By the thread: it has ended.
    pub(super) fn end(&self) {
        self.pass(ENDED);
    }

    fn pass(&self, to: u32) {
        self.0.store(to, Ordering::Release);
        self.futex(libc::FUTEX_WAKE, 1);
    }

    fn wait_while(&self, turn: u32) -> u32 {
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now != turn {
                return now;
            }
            self.futex(libc::FUTEX_WAIT, turn);
        }
    }

    /// What the kernel answers makes no difference: who waits looks again, and nobody need be there to be woken.
    fn futex(&self, operation: libc::c_int, value: u32) {
        let operation = (operation | libc::FUTEX_PRIVATE_FLAG) as usize;
        let arguments = [ptr::from_ref(&self.0).addr(), operation, value as usize, 0, 0, 0];
        // SAFETY: a valid address of 32 bits, and no time-out.
        unsafe { system::call(libc::SYS_futex, arguments) };
    }
}
