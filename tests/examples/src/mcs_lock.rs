//! A fair spin lock whose waiters form a list, each spinning on a flag of its own.
//!
//! Source: J. Mellor-Crummey and M. Scott, "Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors", TOCS 1991.
//! Mistake: the fast path does not acquire, as in Concurrency Kit before "fixing acquire semantics on mcs_lock fast path".

use std::marker::PhantomData;
use std::ptr;

use mc::cell::UnsafeCell;
use mc::hint;
use mc::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::Correct;

/// How a thread comes in.
pub trait Orders {
    /// Of the exchange that puts a thread at the end of the list.
    const ENQUEUE: Ordering;
}

impl Orders for Correct {
    const ENQUEUE: Ordering = Ordering::AcqRel;
}

/// Who finds the lock free does not see what its last holder wrote. Who waits does.
#[derive(Clone, Copy, Debug)]
pub struct FastPathWithoutAcquire;

impl Orders for FastPathWithoutAcquire {
    const ENQUEUE: Ordering = Ordering::Release;
}

/// A thread in the list; it lies in that thread's stack.
struct Node {
    next: AtomicPtr<Node>,
    waiting: AtomicBool,
}

/// A value behind an MCS lock.
pub struct McsLock<T, O = Correct> {
    tail: AtomicPtr<Node>,
    value: UnsafeCell<T>,
    orders: PhantomData<fn() -> O>,
}

// SAFETY: the value is only reached in `with`, by one thread at a time: the one at the head of the list.
unsafe impl<T: Send, O> Sync for McsLock<T, O> {}
// SAFETY: the raw pointer is null when no thread is in `with`, so when the lock can be moved.
unsafe impl<T: Send, O> Send for McsLock<T, O> {}

impl<T, O: Orders> McsLock<T, O> {
    /// An unlocked lock.
    pub const fn new(value: T) -> Self {
        Self { tail: AtomicPtr::new(ptr::null_mut()), value: UnsafeCell::new(value), orders: PhantomData }
    }

    /// Calls `section` alone. A lock whose node lies in the stack cannot give out guards: one could be leaked.
    pub fn with<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        let node = Node { next: AtomicPtr::new(ptr::null_mut()), waiting: AtomicBool::new(true) };
        self.enqueue(&node);
        let _held = Held { lock: self, node: &node };
        // SAFETY: this thread is at the head of the list until `_held` is dropped.
        self.value.with_mut(|value| section(unsafe { &mut *value }))
    }

    fn enqueue(&self, node: &Node) {
        let before = self.tail.swap(ptr::from_ref(node).cast_mut(), O::ENQUEUE);
        if before.is_null() {
            return;
        }
        // SAFETY: `release` does not return before the successor, for which `tail` shows that there is one, is known to it.
        unsafe { &*before }.next.store(ptr::from_ref(node).cast_mut(), Ordering::Release);
        while node.waiting.load(Ordering::Acquire) {
            hint::spin_loop();
        }
    }

    fn release(&self, node: &Node) {
        let this = ptr::from_ref(node).cast_mut();
        let mut next = node.next.load(Ordering::Acquire);
        if next.is_null() {
            if self.tail.compare_exchange(this, ptr::null_mut(), Ordering::Release, Ordering::Relaxed).is_ok() {
                return;
            }
            // Somebody has taken this node for its predecessor, and is about to say so.
            while next.is_null() {
                hint::spin_loop();
                next = node.next.load(Ordering::Acquire);
            }
        }
        // SAFETY: the successor's node lives until that thread leaves `with`, for which it waits for this very store.
        unsafe { &*next }.waiting.store(false, Ordering::Release);
    }
}

/// Releases the lock, also when the section panics.
struct Held<'a, T, O: Orders> {
    lock: &'a McsLock<T, O>,
    node: &'a Node,
}

impl<T, O: Orders> Drop for Held<'_, T, O> {
    fn drop(&mut self) {
        self.lock.release(self.node);
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn count<O: Orders>(threads: usize) {
        let lock = McsLock::<usize, O>::new(0);
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| lock.with(|count| *count += 1));
            }
            lock.with(|count| *count += 1);
        });
        assert_eq!(lock.with(|count| *count), threads);
    }

    #[mc::test]
    fn no_increment_is_lost() {
        count::<Correct>(3);
    }

    #[mc::test(expect = "data_race")]
    fn a_fast_path_without_acquire_races_with_the_last_holder() {
        count::<FastPathWithoutAcquire>(2);
    }
}
