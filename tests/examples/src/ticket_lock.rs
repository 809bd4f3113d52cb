//! A fair spin lock: take a number, wait until it is called.
//!
//! Source: J. Mellor-Crummey and M. Scott, "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors", TOCS 1991.
//! Mistake: a relaxed unlock, as in `spin` 0.5.1 (RUSTSEC-2019-0013).

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use mc::cell::UnsafeCell;
use mc::hint;
use mc::sync::atomic::{AtomicUsize, Ordering};

use crate::Correct;

/// How the lock is handed over.
pub trait Orders {
    /// Of the store that calls the next number.
    const UNLOCK: Ordering;
}

impl Orders for Correct {
    const UNLOCK: Ordering = Ordering::Release;
}

/// The next thread comes in before what this one wrote.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedUnlock;

impl Orders for RelaxedUnlock {
    const UNLOCK: Ordering = Ordering::Relaxed;
}

/// A value behind a ticket lock.
pub struct TicketLock<T, O = Correct> {
    next: AtomicUsize,
    serving: AtomicUsize,
    value: UnsafeCell<T>,
    orders: PhantomData<fn() -> O>,
}

// SAFETY: the value is only reached through guards, of which there is one at a time: `serving` equals one ticket.
unsafe impl<T: Send, O> Sync for TicketLock<T, O> {}

/// Unlocks when dropped.
pub struct Guard<'a, T, O: Orders> {
    lock: &'a TicketLock<T, O>,
    ticket: usize,
}

impl<T, O: Orders> TicketLock<T, O> {
    /// An unlocked lock.
    pub const fn new(value: T) -> Self {
        Self {
            next: AtomicUsize::new(0),
            serving: AtomicUsize::new(0),
            value: UnsafeCell::new(value),
            orders: PhantomData,
        }
    }

    /// Waits for its turn.
    pub fn lock(&self) -> Guard<'_, T, O> {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        while self.serving.load(Ordering::Acquire) != ticket {
            hint::spin_loop();
        }
        Guard { lock: self, ticket }
    }

    /// Locks if nobody holds the lock or waits for it.
    pub fn try_lock(&self) -> Option<Guard<'_, T, O>> {
        let ticket = self.serving.load(Ordering::Acquire);
        let taken = self.next.compare_exchange(ticket, ticket.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed);
        // Not `then_some`: a guard that is made and thrown away unlocks.
        taken.is_ok().then(|| Guard { lock: self, ticket })
    }
}

impl<T, O: Orders> Guard<'_, T, O> {
    /// Reads the value where it is.
    pub fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        // SAFETY: this guard is the only one, and is borrowed shared.
        self.lock.value.with(|value| read(unsafe { &*value }))
    }

    /// Changes the value where it is.
    pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: this guard is the only one, and is borrowed mutably.
        self.lock.value.with_mut(|value| change(unsafe { &mut *value }))
    }
}

impl<T, O: Orders> Deref for Guard<'_, T, O> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: as in `with`; the reference lives as long as the borrow of the guard.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T, O: Orders> DerefMut for Guard<'_, T, O> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `with_mut`; the reference lives as long as the borrow of the guard.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T, O: Orders> Drop for Guard<'_, T, O> {
    fn drop(&mut self) {
        self.lock.serving.store(self.ticket.wrapping_add(1), O::UNLOCK);
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn count<O: Orders>(threads: usize) {
        let lock = TicketLock::<usize, O>::new(0);
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| *lock.lock() += 1);
            }
            *lock.lock() += 1;
        });
        assert_eq!(*lock.lock(), threads);
    }

    #[mc::test]
    fn no_increment_is_lost() {
        count::<Correct>(3);
    }

    #[mc::test]
    fn try_lock_holds_the_lock_or_nothing() {
        let lock = TicketLock::<usize>::new(0);
        let added = thread::scope(|scope| {
            let other = scope.spawn(|| lock.try_lock().map(|mut value| *value += 1).is_some());
            *lock.lock() += 1;
            usize::from(other.join().unwrap())
        });
        assert_eq!(*lock.lock(), 1 + added);
    }

    #[mc::test(expect = "data_race")]
    fn a_relaxed_unlock_lets_two_threads_at_the_value() {
        count::<RelaxedUnlock>(2);
    }
}
