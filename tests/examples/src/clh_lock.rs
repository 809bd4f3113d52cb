//! A fair spin lock whose waiters spin on the flag of the thread before them.
//!
//! Source: T. Craig, "Building FIFO and Priority-Queuing Spin Locks from Atomic Swap", 1993; P. Magnusson, A. Landin and E.
//! Hagersten, "Queue Locks on Cache Coherent Multiprocessors", IPPS 1994.
//! Mistake: the wait does not acquire (Linux's first queued MCS locks waited with a plain load: linux-mm, September 2013).

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use mc::cell::UnsafeCell;
use mc::hint;
use mc::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::Correct;

/// How a thread waits.
pub trait Orders {
    /// Of the load of the flag of the thread before.
    const WAIT: Ordering;
}

impl Orders for Correct {
    const WAIT: Ordering = Ordering::Acquire;
}

/// Sees that the lock is free, but not what was done under it; so the node of the thread before is freed too early as well.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedWait;

impl Orders for RelaxedWait {
    const WAIT: Ordering = Ordering::Relaxed;
}

/// A thread that holds the lock or waits for it. Its successor frees it.
struct Node {
    busy: AtomicBool,
}

impl Node {
    fn boxed(busy: bool) -> *mut Self {
        Box::into_raw(Box::new(Self { busy: AtomicBool::new(busy) }))
    }
}

/// A value behind a CLH lock.
pub struct ClhLock<T, O = Correct> {
    tail: AtomicPtr<Node>,
    value: UnsafeCell<T>,
    orders: PhantomData<fn() -> O>,
}

// SAFETY: the value is only reached through guards, of which there is one at a time: each waits for the one before it.
unsafe impl<T: Send, O> Sync for ClhLock<T, O> {}

/// Unlocks when dropped.
pub struct Guard<'a, T, O: Orders> {
    lock: &'a ClhLock<T, O>,
    node: *mut Node,
}

impl<T, O: Orders> ClhLock<T, O> {
    /// An unlocked lock: the thread "before the first" has left.
    pub fn new(value: T) -> Self {
        Self { tail: AtomicPtr::new(Node::boxed(false)), value: UnsafeCell::new(value), orders: PhantomData }
    }

    /// Waits for the thread before.
    pub fn lock(&self) -> Guard<'_, T, O> {
        let node = Node::boxed(true);
        let before = self.tail.swap(node, Ordering::AcqRel);
        // SAFETY: only this thread got `before` from `tail`, so nobody else frees it; its owner only stores to it once more,
        // which the loop waits for.
        while unsafe { &*before }.busy.load(O::WAIT) {
            hint::spin_loop();
        }
        // SAFETY: as above; it came from `Node::boxed`, and its owner does not touch it after the store that was seen.
        drop(unsafe { Box::from_raw(before) });
        Guard { lock: self, node }
    }
}

impl<T, O> Drop for ClhLock<T, O> {
    fn drop(&mut self) {
        // SAFETY: nobody holds the lock, so the last node has no successor that frees it.
        drop(unsafe { Box::from_raw(self.tail.load(Ordering::Relaxed)) });
    }
}

impl<T, O: Orders> Deref for Guard<'_, T, O> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one, and is borrowed shared as long as the reference lives.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T, O: Orders> DerefMut for Guard<'_, T, O> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one, and is borrowed mutably as long as the reference lives.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T, O: Orders> Drop for Guard<'_, T, O> {
    fn drop(&mut self) {
        // SAFETY: the successor frees the node only after this store, and there is none after the drop of the lock, which
        // this guard borrows.
        unsafe { &*self.node }.busy.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn count<O: Orders>(threads: usize) {
        let lock = ClhLock::<usize, O>::new(0);
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

    #[mc::test(expect = "use_after_free")]
    fn a_relaxed_wait_frees_the_node_of_the_thread_before_too_early() {
        count::<RelaxedWait>(2);
    }
}
