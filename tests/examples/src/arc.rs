//! Shared ownership by an atomic count.
//!
//! Source: the standard library's `Arc`, without weak references.
//! Mistakes: `get_mut` looks at the count with a relaxed load (rust-lang/rust issue 51780, found by a proof); the decrement
//! is relaxed (`stabby`, pull request 139).

use std::marker::PhantomData;
use std::ops::Deref;
use std::process::abort;
use std::ptr::NonNull;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicUsize, Ordering, fence};

use crate::Correct;

/// How owners learn of each other.
pub trait Orders {
    /// Of the load that finds a single owner.
    const UNIQUE: Ordering = Ordering::Acquire;
    /// Of the decrement.
    const RELEASE: Ordering = Ordering::Release;

    /// Before the last owner drops the value.
    fn acquire() {
        fence(Ordering::Acquire);
    }
}

impl Orders for Correct {}

/// The last owner may change the value before others have finished reading it.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedUnique;

impl Orders for RelaxedUnique {
    const UNIQUE: Ordering = Ordering::Relaxed;
}

/// The last owner drops the value while others may read it.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedDrop;

impl Orders for RelaxedDrop {
    const RELEASE: Ordering = Ordering::Relaxed;
}

struct Inner<T> {
    count: AtomicUsize,
    value: UnsafeCell<T>,
}

/// One of the owners of a value.
pub struct Arc<T, O: Orders = Correct> {
    inner: NonNull<Inner<T>>,
    owns: PhantomData<Inner<T>>,
    orders: PhantomData<fn() -> O>,
}

// SAFETY: owners share the value (`Sync`), and any of them may be the one that drops it (`Send`).
unsafe impl<T: Send + Sync, O: Orders> Send for Arc<T, O> {}
// SAFETY: a shared owner can be cloned, so the same holds.
unsafe impl<T: Send + Sync, O: Orders> Sync for Arc<T, O> {}

impl<T, O: Orders> Arc<T, O> {
    /// The first owner.
    pub fn new(value: T) -> Self {
        let inner = Box::new(Inner { count: AtomicUsize::new(1), value: UnsafeCell::new(value) });
        Self { inner: NonNull::from(Box::leak(inner)), owns: PhantomData, orders: PhantomData }
    }

    /// Changes the value if there is no other owner.
    pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.inner().count.load(O::UNIQUE) != 1 {
            return None;
        }
        // SAFETY: this is the only owner, and it is borrowed mutably, so nobody has a reference to the value or can get one.
        Some(self.inner().value.with_mut(|value| change(unsafe { &mut *value })))
    }

    fn inner(&self) -> &Inner<T> {
        // SAFETY: this owner is counted, so the memory is not freed.
        unsafe { self.inner.as_ref() }
    }
}

impl<T, O: Orders> Clone for Arc<T, O> {
    fn clone(&self) -> Self {
        // A new owner needs no order: it can only be made from one that is there.
        let before = self.inner().count.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            abort();
        }
        Self { inner: self.inner, owns: PhantomData, orders: PhantomData }
    }
}

impl<T, O: Orders> Deref for Arc<T, O> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: while there is an owner that is borrowed, `with_mut` of another owner finds more than one.
        self.inner().value.with(|value| unsafe { &*value })
    }
}

impl<T, O: Orders> Drop for Arc<T, O> {
    fn drop(&mut self) {
        if self.inner().count.fetch_sub(1, O::RELEASE) != 1 {
            return;
        }
        O::acquire();
        // A write to the value, for whoever watches.
        self.inner().value.with_mut(|_| ());
        // SAFETY: it came from `Box::leak`, and this was the last owner.
        drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use mc::hint;
    use mc::thread;

    use super::*;

    fn read_and_drop<O: Orders + 'static>() {
        let first = Arc::<u32, O>::new(1);
        let second = first.clone();
        let other = thread::spawn(move || assert_eq!(*second, 1));
        assert_eq!(*first, 1);
        drop(first);
        other.join().unwrap();
    }

    fn read_then_change<O: Orders + 'static>() {
        let mut first = Arc::<u32, O>::new(1);
        let second = first.clone();
        let other = thread::spawn(move || assert_eq!(*second, 1));
        while first.with_mut(|value| *value += 1).is_none() {
            hint::spin_loop();
        }
        assert_eq!(*first, 2);
        other.join().unwrap();
    }

    #[mc::test]
    fn the_last_owner_drops_the_value() {
        read_and_drop::<Correct>();
    }

    #[mc::test]
    fn three_owners_in_three_threads() {
        let first = Arc::<u32>::new(1);
        let others = [first.clone(), first.clone()].map(|owner| thread::spawn(move || *owner.clone()));
        drop(first);
        assert_eq!(others.map(|other| other.join().unwrap()), [1, 1]);
    }

    #[mc::test]
    fn a_single_owner_may_change_the_value() {
        read_then_change::<Correct>();
    }

    #[mc::test(expect = "data_race")]
    fn a_relaxed_look_at_the_count_races_with_a_reader() {
        read_then_change::<RelaxedUnique>();
    }

    #[mc::test(expect = "data_race")]
    fn a_relaxed_decrement_races_with_a_reader() {
        read_and_drop::<RelaxedDrop>();
    }
}
