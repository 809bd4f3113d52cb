//! The pool of stacks.

use corosensei::stack::{DefaultStack, Stack};
use std::fmt;
use std::io;

/// Stacks that wait for their thread: each slot has its own, so that addresses on it are the same in every execution.
#[derive(Default)]
pub(crate) struct Stacks {
    by_slot: Vec<Option<DefaultStack>>,
    /// Of threads of the operating system: where their signals are handled.
    for_signals: Vec<DefaultStack>,
}

impl fmt::Debug for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stacks({})", self.by_slot.len())
    }
}

/// The size of a stack unless more is asked for: std's default for threads. Only touched pages count.
pub(super) const DEFAULT_SIZE: usize = 2 << 20;

impl Stacks {
    pub(super) fn take(&mut self, slot: usize, size: usize) -> io::Result<DefaultStack> {
        let size = size.max(DEFAULT_SIZE);
        let fits = |s: &DefaultStack| s.base().get() - s.limit().get() >= size;
        match self.by_slot.get_mut(slot).and_then(Option::take).filter(fits) {
            Some(stack) => Ok(stack),
            None => DefaultStack::new(size),
        }
    }

    pub(super) fn give_back(&mut self, slot: usize, stack: DefaultStack) {
        if self.by_slot.len() <= slot {
            self.by_slot.resize_with(slot + 1, || None);
        }
        self.by_slot[slot] = Some(stack);
    }

    /// One on which a signal is handled.
    pub(super) fn take_for_signals(&mut self, size: usize) -> io::Result<DefaultStack> {
        self.for_signals.pop().map_or_else(|| DefaultStack::new(size), Ok)
    }

    pub(super) fn give_back_for_signals(&mut self, stack: DefaultStack) {
        self.for_signals.push(stack);
    }
}
