//! The pool of stacks.

use corosensei::stack::{DefaultStack, Stack};
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stacks that wait for their thread: each slot has its own, so that addresses on it are the same in every execution.
#[derive(Default)]
pub(crate) struct Stacks {
    by_slot: Vec<Option<DefaultStack>>,
    /// Those of second threads in a slot, such as run the destructors of statics.
    others: Vec<DefaultStack>,
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

/// Those of checks that are over, for the next ones: to map a stack costs more than a short execution.
static SPARE: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());
const MOST_SPARE: usize = 16;

fn fits(stack: &DefaultStack, size: usize) -> bool {
    stack.base().get() - stack.limit().get() >= size
}

fn spare() -> MutexGuard<'static, Vec<DefaultStack>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Stacks {
    fn drop(&mut self) {
        let mut spare = spare();
        let room = MOST_SPARE - spare.len();
        // That of the first slot is taken first again.
        spare.extend(self.others.drain(..).chain(self.by_slot.drain(..).rev().flatten()).take(room));
    }
}

impl Stacks {
    #[inline]
    pub(super) fn take(&mut self, slot: usize, size: usize) -> io::Result<DefaultStack> {
        let size = size.max(DEFAULT_SIZE);
        let own = self.by_slot.get(slot).and_then(Option::as_ref);
        if !own.is_some_and(|stack| fits(stack, size)) {
            self.give_slot(slot, size)?;
        }
        Ok(self.by_slot[slot].take().expect("it was given one"))
    }

    /// The slot has no stack, or one that is too small.
    #[cold]
    fn give_slot(&mut self, slot: usize, size: usize) -> io::Result<()> {
        let fits = |stack: &mut DefaultStack| fits(stack, size);
        let known = self.others.pop_if(fits).or_else(|| spare().pop_if(fits));
        let stack = known.map_or_else(|| DefaultStack::new(size), Ok)?;
        self.give_back_another(slot, stack);
        Ok(())
    }

    /// Does the stack that ends at an address wait for its thread?
    pub(crate) fn has_at(&self, slot: usize, base: usize) -> bool {
        let own = self.by_slot.get(slot).and_then(Option::as_ref);
        own.into_iter().chain(&self.others).any(|stack| stack.base().get() == base)
    }

    /// That which ends at an address, if it waits for its thread.
    pub(super) fn take_at(&mut self, slot: usize, base: usize) -> Option<DefaultStack> {
        let own = self.by_slot.get_mut(slot).and_then(|own| own.take_if(|stack| stack.base().get() == base));
        own.or_else(|| {
            let index = self.others.iter().position(|stack| stack.base().get() == base)?;
            Some(self.others.remove(index))
        })
    }

    #[inline]
    pub(super) fn give_back(&mut self, slot: usize, stack: DefaultStack) {
        match self.by_slot.get_mut(slot) {
            Some(own @ None) => *own = Some(stack),
            _ => self.give_back_another(slot, stack),
        }
    }

    /// It is the first one of its slot, or none of it.
    #[cold]
    fn give_back_another(&mut self, slot: usize, stack: DefaultStack) {
        if self.by_slot.len() <= slot {
            self.by_slot.resize_with(slot + 1, || None);
        }
        self.others.extend(self.by_slot[slot].replace(stack));
    }

    /// One on which a signal is handled.
    pub(super) fn take_for_signals(&mut self, size: usize) -> io::Result<DefaultStack> {
        self.for_signals.pop().map_or_else(|| DefaultStack::new(size), Ok)
    }

    pub(super) fn give_back_for_signals(&mut self, stack: DefaultStack) {
        self.for_signals.push(stack);
    }
}
