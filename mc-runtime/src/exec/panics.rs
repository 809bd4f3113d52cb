//! The panics that a coroutine is unwinding by are its own: std counts them once for each thread of the operating system, which coroutines share.
//!
//! The count is found by what it holds. Where it is not found, a coroutine that was left in the middle of unwinding is mistaken for those that run meanwhile.

use super::state;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::OnceLock;

/// How far into the executable's thread-locals the count is.
static COUNT: OnceLock<Option<usize>> = OnceLock::new();

/// Looks where std counts, once: from then on each coroutine has its own count.
pub(crate) fn tell_apart() {
    COUNT.get_or_init(find);
}

/// Has each coroutine its own?
pub(crate) fn are_told_apart() -> bool {
    matches!(COUNT.get(), Some(Some(_)))
}

/// The running coroutine is left: who runs next does not unwind. How many panics it has.
pub(crate) fn take() -> usize {
    count().map_or(0, |at| {
        // SAFETY: see `count`.
        unsafe { at.replace(0) }
    })
}

/// It runs again.
pub(crate) fn give_back(panics: usize) {
    if let Some(at) = count() {
        // SAFETY: see `count`.
        unsafe { at.write(panics) };
    }
}

/// The count of this thread of the operating system: a word of its thread-locals, which stay while it lives, and which nobody has a reference to.
fn count() -> Option<*mut usize> {
    let offset = (*COUNT.get()?)?;
    Some((state::thread_locals().0 + offset) as *mut usize)
}

/// The one word that is 0 before a panic, 1 while it unwinds, 2 while another one does so in a destructor, and 0 afterwards.
fn find() -> Option<usize> {
    if cfg!(not(panic = "unwind")) || std::thread::panicking() {
        return None;
    }
    let before = words();
    let (one, two) = while_unwinding(|| (words(), while_unwinding(words)));
    let after = words();
    let is_count = |n: &usize| [before[*n], one[*n], two[*n], after[*n]] == [0, 1, 2, 0];
    let mut found = (0..before.len()).filter(is_count);
    let offset = found.next()? * size_of::<usize>() + padding();
    found.next().is_none().then_some(offset)
}

/// What `look` sees in a destructor that a panic runs.
fn while_unwinding<T>(look: impl FnOnce() -> T) -> T {
    struct Looks<F: FnMut()>(F);
    impl<F: FnMut()> Drop for Looks<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let (mut look, mut seen) = (Some(look), None);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _looks = Looks(|| seen = look.take().map(|look| look()));
        // Without the hook, which would print it.
        resume_unwind(Box::new(()));
    }));
    debug_assert!(unwound.is_err());
    seen.expect("it unwinds")
}

/// The bytes before the first word.
fn padding() -> usize {
    let start = state::thread_locals().0;
    start.next_multiple_of(size_of::<usize>()) - start
}

/// What the thread-locals of the executable hold.
fn words() -> Vec<usize> {
    let (start, size) = state::thread_locals();
    let words = (size - padding().min(size)) / size_of::<usize>();
    let first = (start + padding()) as *const usize;
    // SAFETY: the executable's block of thread-locals of this thread, mapped and readable; whatever the words hold is only compared.
    (0..words).map(|n| unsafe { ptr::read_volatile(first.add(n)) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_in_the_middle_of_unwinding_is_not_what_runs_meanwhile() {
        tell_apart();
        assert!(are_told_apart());
        while_unwinding(|| {
            let panics = take();
            assert!(panics == 1 && !std::thread::panicking());
            while_unwinding(|| {
                let others = take();
                assert_eq!(others, 1);
                give_back(others);
            });
            give_back(panics);
            assert!(std::thread::panicking());
        });
        assert!(!std::thread::panicking());
    }
}
