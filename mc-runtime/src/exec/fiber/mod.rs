//! Threads of a test, each on a stack of its own: coroutines on one thread of the operating system, or threads of the operating system, of which one runs at a
//! time. Which of the two it is makes no difference to the exploration.

mod baton;
mod kept;
mod os;
mod stacks;

use super::Engine;
use super::arena::Heap;
use crate::ops;
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
pub(crate) use kept::Kept;
use os::OsThread;
pub(crate) use stacks::Stacks;
use std::fmt;
use std::io;

/// What a thread of the test suspends itself through.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Suspender {
    Coroutine(*const Yielder<(), ()>),
    Os(os::Handle),
}

impl Suspender {
    /// Switches to the scheduler, until the thread is resumed.
    ///
    /// # Safety
    /// By the thread that it was given to, which has not ended.
    pub(crate) unsafe fn suspend(self) {
        match self {
            // SAFETY: it lives as long as its coroutine, which is the caller.
            Suspender::Coroutine(yielder) => unsafe { (*yielder).suspend(()) },
            // SAFETY: our caller's promise.
            Suspender::Os(handle) => unsafe { handle.suspend() },
        }
    }
}

/// Where a thread is to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// On the stack of this slot.
    pub slot: usize,
    /// Of at least so many bytes.
    pub size: usize,
    /// Of which so many, the uppermost, are as new.
    pub clean: usize,
}

/// What a thread of the operating system is besides.
#[derive(Debug)]
pub(crate) struct Os {
    /// What debuggers call it.
    pub name: String,
    /// It runs code that was written for no checker.
    pub unmodified: bool,
}

/// The addresses of a stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    /// The lowest.
    pub limit: usize,
    /// Where the code of the test begins to use it, downwards.
    pub base: usize,
    /// The end. Above `base` are the thread-locals, where the thread has its own.
    pub top: usize,
}

/// A thread of the test on its own stack.
#[derive(Debug)]
pub(crate) struct Fiber {
    kind: Kind,
    /// Of its stack.
    pub bounds: Bounds,
}

enum Kind {
    Coroutine(Coroutine<(), (), (), DefaultStack>),
    Os(Box<OsThread>),
    /// None any more.
    Over,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Coroutine(_) => "Coroutine",
            Kind::Os(_) => "Os",
            Kind::Over => "Over",
        })
    }
}

impl Fiber {
    /// Memory for one.
    pub(crate) fn none() -> Self {
        Fiber { kind: Kind::Over, bounds: Bounds::default() }
    }

    /// Makes what is none yet a coroutine that will run `main`, and then `end`. Neither may unwind.
    #[inline(always)]
    pub(crate) fn begin_coroutine(
        &mut self,
        stacks: &mut Stacks,
        place: Place,
        main: impl FnOnce(Suspender) + 'static,
        end: fn(),
    ) -> io::Result<()> {
        let stack = stacks.take(place.slot, place.size)?;
        let (base, limit) = (stack.base().get(), stack.limit().get());
        let bounds = Bounds { limit, base, top: base };
        bounds.clean(place.clean);
        let run = move |yielder: &Yielder<(), ()>, ()| {
            main(Suspender::Coroutine(yielder));
            end();
        };
        self.begin(Fiber { kind: Kind::Coroutine(Coroutine::with_stack(stack, run)), bounds });
        Ok(())
    }

    /// The same as a thread of the operating system that will run `main`, then the destructors of its thread-locals, and then `end`. Neither may unwind.
    pub(crate) fn begin_os(
        &mut self,
        stacks: &mut Stacks,
        place: Place,
        os: Os,
        main: impl FnOnce(Suspender) + 'static,
        end: fn(),
    ) -> io::Result<()> {
        let (thread, bounds) = OsThread::new(stacks, place, os, main, end)?;
        self.begin(Fiber { kind: Kind::Os(Box::new(thread)), bounds });
        Ok(())
    }

    #[inline(always)]
    fn begin(&mut self, fiber: Fiber) {
        debug_assert!(matches!(self.kind, Kind::Over), "it was given back");
        // Nothing is to be dropped.
        std::mem::forget(std::mem::replace(self, fiber));
    }

    /// Runs it until it suspends itself or ends, with operations going to `engine` and allocations to `heap`; true when it has ended.
    #[inline(always)]
    pub(crate) fn resume(&mut self, engine: *mut Engine, heap: *mut Heap) -> bool {
        match &mut self.kind {
            Kind::Coroutine(coroutine) => {
                let before = ops::enter_engine(engine, heap);
                let ended = matches!(coroutine.resume(()), CoroutineResult::Return(()));
                ops::leave_engine(before);
                ended
            }
            Kind::Os(thread) => thread.resume(engine, heap),
            Kind::Over => is_over(),
        }
    }

    /// The thread-locals of the executable, if they are its own; once it has run.
    pub(crate) fn thread_locals(&self) -> Option<(usize, usize)> {
        match &self.kind {
            Kind::Coroutine(_) | Kind::Over => None,
            Kind::Os(thread) => Some(thread.thread_locals()),
        }
    }

    /// Gives the stack back. If the thread has not ended, what is on its stack is forgotten, without running destructors. It is no thread from here on, but memory for one.
    pub(crate) fn recycle(&mut self, stacks: &mut Stacks, slot: usize) {
        match std::mem::replace(&mut self.kind, Kind::Over) {
            Kind::Coroutine(mut coroutine) => {
                if !coroutine.done() {
                    // SAFETY: what is forgotten owned memory in the arenas (reset with the execution) or leaks; nobody resumes it again,
                    // and nobody holds a reference into its stack: all threads of the execution are given up together.
                    unsafe { coroutine.force_reset() };
                }
                stacks.give_back(slot, coroutine.into_stack());
            }
            Kind::Os(thread) => thread.recycle(stacks, slot),
            Kind::Over => {}
        }
    }
}

#[cold]
#[inline(never)]
fn is_over() -> ! {
    unreachable!("a thread that was recycled is not resumed")
}

impl Bounds {
    /// Makes the uppermost `size` bytes below the base as new. Nothing runs there.
    fn clean(self, size: usize) {
        let size = size.min(self.base - self.limit);
        if size == 0 {
            return; // the base may be the end of the mapping, where even a store of nothing is slow
        }
        // SAFETY: the upper part of a stack on which nothing runs.
        unsafe { std::ptr::write_bytes((self.base - size) as *mut u8, 0, size) };
    }

    /// Is the address on the stack, or in the thread-locals there?
    pub(crate) fn holds(self, at: usize) -> bool {
        (self.limit..self.top).contains(&at)
    }
}
