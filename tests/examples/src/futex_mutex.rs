//! A mutex of one word, whose waiters sleep in a futex.
//!
//! Source: U. Drepper, "Futexes Are Tricky", 2011, section 5 ("Mutex, Take 2").
//! Mistakes: who was woken takes the lock as if nobody else slept, so that one of two sleepers is never woken (the same paper
//! says why it must not); a futex that goes to sleep without looking at the word once more.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicU32, Ordering};
use mc::sync::{Condvar, Mutex as Gate};

use crate::Correct;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep.
const CONTENDED: u32 = 2;

/// What sleepers do.
pub trait Sleepers {
    /// What the word becomes when one that was woken takes the lock.
    const AFTER_SLEEP: u32 = CONTENDED;
    /// Does the futex compare the word before it puts a thread to sleep?
    const COMPARES: bool = true;
}

impl Sleepers for Correct {}

/// Forgets the others that sleep.
#[derive(Clone, Copy, Debug)]
pub struct Forgetful;

impl Sleepers for Forgetful {
    const AFTER_SLEEP: u32 = HELD;
}

/// Sleeps whatever has happened since.
#[derive(Clone, Copy, Debug)]
pub struct NoCompare;

impl Sleepers for NoCompare {
    const COMPARES: bool = false;
}

/// A word that threads can sleep on: the system call, made from std's parts.
struct Futex<S> {
    word: AtomicU32,
    gate: Gate<()>,
    wake: Condvar,
    sleepers: PhantomData<fn() -> S>,
}

impl<S: Sleepers> Futex<S> {
    const fn new(word: u32) -> Self {
        Self { word: AtomicU32::new(word), gate: Gate::new(()), wake: Condvar::new(), sleepers: PhantomData }
    }

    /// Sleeps, if the word is still `expected`, until somebody wakes it (or for no reason).
    fn wait(&self, expected: u32) {
        let gate = self.gate.lock().unwrap();
        if !S::COMPARES || self.word.load(Ordering::Relaxed) == expected {
            drop(self.wake.wait(gate).unwrap());
        }
    }

    /// Wakes one sleeper. Who compared the word before it was changed is asleep by now: it had the gate.
    fn wake_one(&self) {
        drop(self.gate.lock().unwrap());
        self.wake.notify_one();
    }
}

/// A value behind a mutex.
pub struct Mutex<T, S = Correct> {
    futex: Futex<S>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is only reached through guards, of which there is one at a time: it changed the word from `FREE`.
unsafe impl<T: Send, S> Sync for Mutex<T, S> {}

/// Unlocks when dropped.
pub struct Guard<'a, T, S: Sleepers>(&'a Mutex<T, S>);

impl<T, S: Sleepers> Mutex<T, S> {
    /// An unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self { futex: Futex::new(FREE), value: UnsafeCell::new(value) }
    }

    /// Sleeps until the lock is free.
    pub fn lock(&self) -> Guard<'_, T, S> {
        let word = &self.futex.word;
        if word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
            let mut next = CONTENDED;
            while word.swap(next, Ordering::Acquire) != FREE {
                if next != CONTENDED {
                    // It is held by somebody else after all: say that this thread sleeps.
                    next = CONTENDED;
                    continue;
                }
                self.futex.wait(CONTENDED);
                next = S::AFTER_SLEEP;
            }
        }
        Guard(self)
    }
}

impl<T, S: Sleepers> Deref for Guard<'_, T, S> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one, and is borrowed shared as long as the reference lives.
        self.0.value.with(|value| unsafe { &*value })
    }
}

impl<T, S: Sleepers> DerefMut for Guard<'_, T, S> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one, and is borrowed mutably as long as the reference lives.
        self.0.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T, S: Sleepers> Drop for Guard<'_, T, S> {
    fn drop(&mut self) {
        if self.0.futex.word.swap(FREE, Ordering::Release) == CONTENDED {
            self.0.futex.wake_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn count<S: Sleepers>(threads: usize) {
        let mutex = Mutex::<usize, S>::new(0);
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| *mutex.lock() += 1);
            }
            *mutex.lock() += 1;
        });
        assert_eq!(*mutex.lock(), threads);
    }

    #[mc::test]
    fn no_increment_is_lost_and_nobody_sleeps_for_ever() {
        count::<Correct>(2);
    }

    #[mc::test]
    fn three_threads_wake_each_other() {
        count::<Correct>(3);
    }

    #[mc::test(expect = "lost_wakeup")]
    fn who_forgets_other_sleepers_leaves_them_asleep() {
        count::<Forgetful>(3);
    }

    #[mc::test(expect = "lost_wakeup")]
    fn who_sleeps_without_comparing_misses_the_wake() {
        count::<NoCompare>(2);
    }
}
