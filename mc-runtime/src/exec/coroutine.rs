//! Threads of a test as stackful coroutines on one thread of the operating system, on pooled stacks.

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::fmt;
use std::io;

/// What a coroutine suspends itself through.
pub(super) type Suspender = Yielder<(), ()>;

/// Stacks that wait for their thread: each slot has its own, so that addresses on it are the same in every execution.
#[derive(Default)]
pub(crate) struct Stacks {
    by_slot: Vec<Option<DefaultStack>>,
}

impl fmt::Debug for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stacks({})", self.by_slot.len())
    }
}

/// The size of a stack unless more is asked for: std's default for threads. Only touched pages count.
const DEFAULT_SIZE: usize = 2 << 20;

impl Stacks {
    fn take(&mut self, slot: usize, size: usize) -> io::Result<DefaultStack> {
        let size = size.max(DEFAULT_SIZE);
        let fits = |s: &DefaultStack| s.base().get() - s.limit().get() >= size;
        match self.by_slot.get_mut(slot).and_then(Option::take).filter(fits) {
            Some(stack) => Ok(stack),
            None => DefaultStack::new(size),
        }
    }

    fn give_back(&mut self, slot: usize, stack: DefaultStack) {
        if self.by_slot.len() <= slot {
            self.by_slot.resize_with(slot + 1, || None);
        }
        self.by_slot[slot] = Some(stack);
    }
}

/// A thread of the test on its own stack.
pub(crate) struct Fiber {
    coroutine: Coroutine<(), (), (), DefaultStack>,
    /// The highest address of its stack.
    pub base: usize,
    /// The lowest usable address of its stack.
    pub limit: usize,
}

impl fmt::Debug for Fiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fiber({:#x}..{:#x})", self.limit, self.base)
    }
}

impl Fiber {
    /// A coroutine that will run `main` on the stack of `slot`, of at least `size` bytes, its upper `clean` bytes as new. `main` must not unwind.
    pub(crate) fn new(
        stacks: &mut Stacks,
        slot: usize,
        size: usize,
        clean: usize,
        main: impl FnOnce(&Suspender) + 'static,
    ) -> io::Result<Self> {
        let stack = stacks.take(slot, size)?;
        let (base, limit) = (stack.base().get(), stack.limit().get());
        let clean = clean.min(base - limit);
        // SAFETY: the upper part of a stack on which nothing runs.
        unsafe { std::ptr::write_bytes((base - clean) as *mut u8, 0, clean) };
        let coroutine = Coroutine::with_stack(stack, move |suspender: &Suspender, ()| main(suspender));
        Ok(Fiber { coroutine, base, limit })
    }

    /// Runs it until it suspends itself or ends; true when it has ended.
    pub(crate) fn resume(&mut self) -> bool {
        matches!(self.coroutine.resume(()), CoroutineResult::Return(()))
    }

    /// Gives the stack back. If the coroutine has not ended, what is on its stack is forgotten, without running destructors.
    pub(crate) fn recycle(mut self, stacks: &mut Stacks, slot: usize) {
        if !self.coroutine.done() {
            // SAFETY: what is forgotten owned memory in the arenas (reset with the execution) or leaks; nobody resumes it again,
            // and nobody holds a reference into its stack: all threads of the execution are given up together.
            unsafe { self.coroutine.force_reset() };
        }
        stacks.give_back(slot, self.coroutine.into_stack());
    }
}
