//! A pointer that is read without waiting; who replaces it waits for those who may still read the old value.
//!
//! Source: P. McKenney and J. Slingwine, "Read-Copy Update", 1998; here with one counter for all readers, as in the first `arc-swap`.
//! Mistake: the load of the pointer is acquiring but not sequentially consistent, so it may come before the reader counts
//! (`arc-swap` pull request 203).

use std::marker::PhantomData;

use mc::cell::UnsafeCell;
use mc::hint;
use mc::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::Correct;

/// How a value is found.
pub trait Orders {
    /// Of a reader's load of the pointer.
    const FIND: Ordering;
}

impl Orders for Correct {
    const FIND: Ordering = Ordering::SeqCst;
}

/// A reader finds the old value after the writer has seen that nobody reads.
#[derive(Clone, Copy, Debug)]
pub struct AcquireFind;

impl Orders for AcquireFind {
    const FIND: Ordering = Ordering::Acquire;
}

/// A value that is replaced as a whole.
pub struct Rcu<T, O = Correct> {
    current: AtomicPtr<UnsafeCell<T>>,
    readers: AtomicUsize,
    orders: PhantomData<fn() -> O>,
}

// SAFETY: readers share the value (`Sync`); any thread may be given the old one (`Send`).
unsafe impl<T: Send + Sync, O> Sync for Rcu<T, O> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync, O> Send for Rcu<T, O> {}

fn boxed<T>(value: T) -> *mut UnsafeCell<T> {
    Box::into_raw(Box::new(UnsafeCell::new(value)))
}

impl<T, O: Orders> Rcu<T, O> {
    /// With this value.
    pub fn new(value: T) -> Self {
        Self { current: AtomicPtr::new(boxed(value)), readers: AtomicUsize::new(0), orders: PhantomData }
    }

    /// Looks at the value, without waiting for anybody.
    pub fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        let _counted = Counted::new(&self.readers);
        // SAFETY: the counter was raised before the pointer was loaded, in the one order of sequentially consistent operations.
        // So either a writer that takes this value away sees the counter raised and waits, or the load sees the writer's value.
        let cell = unsafe { &*self.current.load(O::FIND) };
        // SAFETY: shared values are only read.
        cell.with(|value| read(unsafe { &*value }))
    }

    /// Puts another value there, and gives back the old one as soon as nobody reads it.
    pub fn replace(&self, value: T) -> T {
        let old = self.current.swap(boxed(value), Ordering::SeqCst);
        while self.readers.load(Ordering::SeqCst) != 0 {
            hint::spin_loop();
        }
        // SAFETY: it came from `boxed`, only this thread took it away, and who could have found it has left.
        let old = unsafe { Box::from_raw(old) };
        old.into_inner()
    }
}

impl<T, O> Drop for Rcu<T, O> {
    fn drop(&mut self) {
        // SAFETY: it came from `boxed`, and nobody else is left.
        drop(unsafe { Box::from_raw(self.current.load(Ordering::Relaxed)) });
    }
}

/// A reader that counts.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(readers: &'a AtomicUsize) -> Self {
        readers.fetch_add(1, Ordering::SeqCst);
        Self(readers)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn read_while_replaced<O: Orders>() {
        let rcu = Rcu::<u32, O>::new(1);
        thread::scope(|scope| {
            scope.spawn(|| rcu.read(|value| assert!(matches!(value, 1 | 2))));
            assert_eq!(rcu.replace(2), 1);
        });
        rcu.read(|value| assert_eq!(*value, 2));
    }

    #[mc::test]
    fn the_old_value_is_given_back_when_nobody_reads_it() {
        read_while_replaced::<Correct>();
    }

    #[mc::test]
    fn two_readers_and_a_writer() {
        let rcu = Rcu::<u32>::new(1);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| rcu.read(|value| assert!(matches!(value, 1 | 2))));
            }
            assert_eq!(rcu.replace(2), 1);
        });
    }

    #[mc::test(expect = "use_after_free")]
    fn an_acquiring_load_finds_a_value_that_is_gone() {
        read_while_replaced::<AcquireFind>();
    }
}
