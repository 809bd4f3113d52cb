//! Which registers and stack slots of a caller hold values that its code will never read: what a failed retry leaves behind.
//!
//! Asked for the address where a thread goes on after a load, this decodes the machine code of the function around it (`function`, `image`), says what
//! each instruction reads and overwrites (`effects`), where it leads (`flow`), which calls do not return (`returns`), and follows every path from there (`walk`). A value
//! is dead only if it is overwritten as a whole, before it is read, on all of them. Whatever is not understood reads everything.
//! The same for the result of an operation, through the callers that it is handed on to (`result`).
//! Not here: what a dead value is left out of (`spin`), and what is not done for a result that is never read (`unused`).

mod arguments;
mod effects;
mod flow;
mod function;
mod image;
mod landing;
mod result;
mod returns;
#[cfg(test)]
mod tests;
mod walk;

use function::Function;
use image::Image;
use result::Fate;
use returns::Returns;
use rustc_hash::FxHashMap;
use std::mem;
use std::sync::{Mutex, PoisonError};

/// A set of registers that calls preserve and of stack slots, as bits: first `rbx`, `rbp`, `r12` to `r15`, then the words from the stack pointer on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places(u64);

impl Places {
    /// How many registers there are.
    const REGISTERS: u32 = 6;
    const ALL_REGISTERS: Places = Places((1 << Self::REGISTERS) - 1);
    const NONE: Places = Places(0);

    /// One register.
    pub(crate) fn has_register(self, which: usize) -> bool {
        self.0 >> which & 1 == 1
    }

    /// The words above the stack pointer, lowest first.
    pub(crate) fn slots(self) -> impl Iterator<Item = usize> {
        let mut bits = self.0 >> Self::REGISTERS;
        std::iter::from_fn(move || {
            let lowest = bits.trailing_zeros();
            bits &= bits.checked_sub(1)?;
            Some(lowest as usize)
        })
    }

    /// The registers and the first `slots` words.
    fn with_slots(slots: u32) -> Self {
        let bits = (Self::REGISTERS + slots).min(u64::BITS);
        Places(u64::MAX >> (u64::BITS - bits))
    }

    fn register(which: u32) -> Self {
        Places(1 << which)
    }

    /// The words that `[from, to)` bytes from the stack pointer overlap, or with `whole`, cover.
    fn words(from: i64, to: i64, whole: bool) -> Self {
        let limit = i64::from(u64::BITS - Self::REGISTERS);
        let (first, last) = if whole { ((from + 7) >> 3, to >> 3) } else { (from >> 3, (to + 7) >> 3) };
        (first.clamp(0, limit)..last.clamp(0, limit))
            .fold(Self::NONE, |all, word| all | Places(1 << (word as u32 + Self::REGISTERS)))
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn without(self, other: Self) -> Self {
        Places(self.0 & !other.0)
    }
}

impl std::ops::BitOr for Places {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Places(self.0 | other.0)
    }
}

impl std::ops::BitAnd for Places {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Places(self.0 & other.0)
    }
}

/// What was found out so far, by the address where a thread goes on. The next check of the process begins with it: code stays what it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Liveness {
    known: FxHashMap<u64, Places>,
    fates: FxHashMap<u64, Fate>,
}

/// What is handed on: of checks that run at the same time, it is what the one knew that knew most.
static KEPT: Mutex<Option<Liveness>> = Mutex::new(None);

impl Drop for Liveness {
    fn drop(&mut self) {
        if self.len() == 0 {
            return;
        }
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|kept| kept.len() < self.len()) {
            let less = kept.replace(mem::take(self));
            drop(kept); // `less` comes here, too
            drop(less);
        }
    }
}

/// A result may be handed on so often.
const CALLERS: usize = 8;

impl Liveness {
    /// What an earlier check of the process has found out.
    pub(super) fn handed_on() -> Self {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }

    fn len(&self) -> usize {
        self.known.len() + self.fates.len()
    }

    /// What is dead where a call returns to `code`.
    pub(super) fn dead(&mut self, code: u64) -> Places {
        self.known.get(&code).copied().unwrap_or_else(|| self.find_dead(code))
    }

    #[cold]
    fn find_dead(&mut self, code: u64) -> Places {
        *self.known.entry(code).or_insert_with(|| dead(code).unwrap_or(Places::NONE))
    }

    /// Does nobody read the result of an operation that returns to `code`, with this stack pointer? The running stack ends at `base`.
    #[inline]
    pub(super) fn is_unused(&mut self, code: u64, stack: usize, base: usize) -> bool {
        match self.fate(code) {
            Fate::Unused => true,
            Fate::Used => false,
            Fate::Returned { frame } => self.is_unused_by_callers(frame, stack, base),
        }
    }

    /// Likewise, of an operation whose result the function hands on that has this frame.
    #[inline(never)]
    fn is_unused_by_callers(&mut self, mut frame: u64, mut stack: usize, base: usize) -> bool {
        for _ in 1..CALLERS {
            stack += frame as usize;
            if stack > base {
                return false;
            }
            // SAFETY: a word of the running stack, below its base: where the frame that ends there returns to.
            let code = unsafe { *((stack - size_of::<u64>()) as *const u64) };
            match self.fate(code) {
                Fate::Unused => return true,
                Fate::Used => return false,
                Fate::Returned { frame: next } => frame = next,
            }
        }
        false
    }

    #[inline]
    fn fate(&mut self, code: u64) -> Fate {
        self.fates.get(&code).copied().unwrap_or_else(|| self.find_fate(code))
    }

    #[cold]
    fn find_fate(&mut self, code: u64) -> Fate {
        *self.fates.entry(code).or_insert_with(|| fate(code).unwrap_or(Fate::Used))
    }
}

fn fate(code: u64) -> Option<Fate> {
    Some(result::fate(&Function::around(Image::of_this_process()?, code)?, code))
}

fn dead(code: u64) -> Option<Places> {
    let image = Image::of_this_process()?;
    let function = Function::around(image, code)?;
    Some(walk::dead(&function, code, &mut Returns::new(image)))
}

/// Of the first five arguments of the function at `start`, which has the C calling convention and returns nothing, those that it never reads, as bits.
pub(super) fn unused_arguments(start: usize) -> u8 {
    let function = Image::of_this_process().and_then(|image| Function::around(image, start as u64));
    function.filter(|f| f.range.start == start as u64).map_or(0, |f| arguments::unused(&f))
}
