//! A cell that is initialised once, by whoever comes first; who comes meanwhile waits.
//!
//! Source: the standard library's `OnceLock` and `spin::Once`.
//! Mistake: who waited for an initialisation that failed goes on as if it had succeeded (RUSTSEC-2023-0031, `spin` 0.9.7).

use std::convert::Infallible;
use std::marker::PhantomData;

use mc::cell::UnsafeCell;
use mc::hint;
use mc::sync::atomic::{AtomicU8, Ordering};

use crate::Correct;

const EMPTY: u8 = 0;
const RUNNING: u8 = 1;
const READY: u8 = 2;

/// What a thread does that has waited for another one.
pub trait Waiter {
    /// Look at the state again?
    const LOOKS_AGAIN: bool;
}

impl Waiter for Correct {
    const LOOKS_AGAIN: bool = true;
}

/// Takes the end of an initialisation for its success.
#[derive(Clone, Copy, Debug)]
pub struct TrustingWaiter;

impl Waiter for TrustingWaiter {
    const LOOKS_AGAIN: bool = false;
}

/// The cell.
pub struct OnceCell<T, W = Correct> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
    waiter: PhantomData<fn() -> W>,
}

// SAFETY: the value is written by the one thread that changed the state to `RUNNING` (so `Send`), and shared after `READY` (so `Sync`).
unsafe impl<T: Send + Sync, W> Sync for OnceCell<T, W> {}

impl<T, W: Waiter> OnceCell<T, W> {
    /// An empty cell.
    pub const fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None), waiter: PhantomData }
    }

    /// The value, if it is there.
    pub fn get(&self) -> Option<&T> {
        (self.state.load(Ordering::Acquire) == READY).then(|| self.value())
    }

    /// The value; `init` makes it unless it is there.
    pub fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
        match self.get_or_try_init(|| Ok::<T, Infallible>(init())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// The value; `init` makes it unless it is there. If it fails, the next thread tries.
    pub fn get_or_try_init<E>(&self, init: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        loop {
            match self.state.compare_exchange(EMPTY, RUNNING, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return self.run(init),
                Err(READY) => return Ok(self.value()),
                Err(_) => self.wait(),
            }
            if !W::LOOKS_AGAIN {
                return Ok(self.value());
            }
        }
    }

    fn run<E>(&self, init: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let mut outcome = Outcome { state: &self.state, next: EMPTY };
        let made = init()?;
        // SAFETY: this thread changed the state to `RUNNING`, which nobody else reads the value in.
        self.value.with_mut(|value| unsafe { *value = Some(made) });
        outcome.next = READY;
        drop(outcome);
        Ok(self.value())
    }

    fn wait(&self) {
        while self.state.load(Ordering::Acquire) == RUNNING {
            hint::spin_loop();
        }
    }

    fn value(&self) -> &T {
        // SAFETY: nobody writes to the value once the state is `READY`.
        let value = self.value.with(|value| unsafe { &*value });
        value.as_ref().expect("the cell is initialised")
    }
}

impl<T, W: Waiter> Default for OnceCell<T, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Says what came of an initialisation, also if it panics.
struct Outcome<'a> {
    state: &'a AtomicU8,
    next: u8,
}

impl Drop for Outcome<'_> {
    fn drop(&mut self) {
        self.state.store(self.next, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn one_fails_and_one_succeeds<W: Waiter>() {
        let cell = OnceCell::<u32, W>::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                let made = cell.get_or_try_init(|| Err(()));
                assert!(matches!(made, Err(()) | Ok(7)));
            });
            assert_eq!(*cell.get_or_init(|| 7), 7);
        });
    }

    #[mc::test]
    fn a_failed_initialisation_leaves_the_cell_to_the_next() {
        one_fails_and_one_succeeds::<Correct>();
    }

    #[mc::test]
    fn all_threads_get_one_value() {
        let cell = OnceCell::<usize>::new();
        let values = thread::scope(|scope| {
            let others = [1, 2].map(|value| {
                scope.spawn({
                    let cell = &cell;
                    move || *cell.get_or_init(|| value)
                })
            });
            others.map(|other| other.join().unwrap())
        });
        assert_eq!(values[0], values[1]);
        assert_eq!(cell.get(), Some(&values[0]));
    }

    #[mc::test(expect = "panic")]
    fn a_waiter_that_does_not_look_again_finds_nothing() {
        one_fails_and_one_succeeds::<TrustingWaiter>();
    }
}
