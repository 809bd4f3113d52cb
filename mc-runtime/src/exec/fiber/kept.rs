//! A suspended coroutine as it was: to go on from there again, as often as somebody likes, where its stack is what it was.
//!
//! Not here: what is on the stack, which who keeps it copies.

use super::{Bounds, Fiber, Kind, Stacks};
use corosensei::Coroutine;
use corosensei::stack::DefaultStack;
use std::fmt;
use std::mem::MaybeUninit;

type Whole = Coroutine<(), (), (), DefaultStack>;

/// A coroutine between two turns, or after its last one, byte by byte.
pub(crate) struct Kept {
    bytes: MaybeUninit<Whole>,
    bounds: Bounds,
    /// Where its stack is in use, and how many bytes of it.
    pub used: (usize, usize),
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({:#x}, {} bytes)", self.used.0, self.used.1)
    }
}

impl Kept {
    /// The lowest address of its stack.
    pub(crate) fn limit(&self) -> usize {
        self.bounds.limit
    }

    /// Where its stack ends.
    pub(crate) fn base(&self) -> usize {
        self.bounds.base
    }
}

impl Fiber {
    /// The coroutine as it is: `suspended_at` is some address below which it uses nothing but what suspending it has pushed there. `None` for a thread of the operating system.
    pub(crate) fn keep(&self, suspended_at: usize) -> Option<Kept> {
        let Kind::Coroutine(coroutine) = &self.kind else { return None };
        let mut bytes = MaybeUninit::<Whole>::uninit();
        // SAFETY: both are of that type; the copy is no coroutine until `Fiber::again` makes it one.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(coroutine, 1) };
        let Bounds { limit, base, .. } = self.bounds;
        let done = coroutine.done();
        let start = if done { base } else { stack_pointer(coroutine, limit..=suspended_at)? };
        Some(Kept { bytes, bounds: self.bounds, used: (start, base - start) })
    }

    /// The coroutine as it was kept, on its stack, which waits in `stacks`. `None` if that does not.
    ///
    /// # Safety
    /// The bytes of the stack that were in use then are made what they were, before it is resumed; so is all else that it has pointers to.
    pub(crate) unsafe fn again(kept: &Kept, stacks: &mut Stacks, slot: usize) -> Option<Fiber> {
        let stack = stacks.take_at(slot, kept.bounds.base)?;
        // SAFETY: the bytes are those of a coroutine on this very stack, which has been given back since: that one is over, and the stack is owned by
        // this one from here on.
        let coroutine = unsafe {
            std::mem::forget(stack);
            kept.bytes.as_ptr().read()
        };
        Some(Fiber { kind: Kind::Coroutine(coroutine), bounds: kept.bounds })
    }
}

/// Where a suspended coroutine goes on: of the words that it consists of, the only one that is an address in this part of its stack.
fn stack_pointer(coroutine: &Whole, part: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let start = std::ptr::from_ref(coroutine).cast::<MaybeUninit<usize>>();
    let words = (0..size_of::<Whole>() / size_of::<usize>()).map(|word| {
        // SAFETY: within the coroutine, which is aligned to words as its pointers are; all its fields are pointers and lengths.
        unsafe { start.add(word).read().assume_init() }
    });
    let mut found = words.filter(|word| part.contains(word));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
