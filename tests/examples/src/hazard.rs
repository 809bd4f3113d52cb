//! A shared pointer whose readers say what they look at, so that writers do not free it.
//!
//! Source: M. Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects", TPDS 2004.
//! Mistakes: no full fence between the announcement and the second look (urcs-sync/Interval-Based-Reclamation issue 2, which
//! was answered "release and acquire are enough"); no second look at all (the paper says why it is needed).

use std::marker::PhantomData;
use std::ptr;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicPtr, Ordering, fence};
use mc::sync::{Mutex, PoisonError};

use crate::Correct;

/// What a reader does after its announcement.
pub trait Protocol {
    /// Look again whether the pointer is still the shared one?
    const LOOKS_AGAIN: bool = true;

    /// Between the announcement and the second look; and between a writer's exchange and its look at the announcements.
    fn barrier() {
        fence(Ordering::SeqCst);
    }
}

impl Protocol for Correct {}

/// A reader's second look may come before its announcement.
#[derive(Clone, Copy, Debug)]
pub struct NoFence;

impl Protocol for NoFence {
    fn barrier() {}
}

/// The value may be gone before the announcement.
#[derive(Clone, Copy, Debug)]
pub struct NoSecondLook;

impl Protocol for NoSecondLook {
    const LOOKS_AGAIN: bool = false;
}

/// A value that is replaced as a whole, with one hazard pointer for each of `N` readers.
pub struct Shared<T, const N: usize, P: Protocol = Correct> {
    current: AtomicPtr<UnsafeCell<T>>,
    hazards: [AtomicPtr<UnsafeCell<T>>; N],
    retired: Mutex<Vec<*mut UnsafeCell<T>>>,
    protocol: PhantomData<fn() -> P>,
}

// SAFETY: readers share the value (`Sync`); any thread may drop it (`Send`). The raw pointers own what they point to.
unsafe impl<T: Send + Sync, const N: usize, P: Protocol> Sync for Shared<T, N, P> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync, const N: usize, P: Protocol> Send for Shared<T, N, P> {}

/// One of the readers.
pub struct Reader<'a, T, const N: usize, P: Protocol> {
    shared: &'a Shared<T, N, P>,
    hazard: &'a AtomicPtr<UnsafeCell<T>>,
}

fn boxed<T>(value: T) -> *mut UnsafeCell<T> {
    Box::into_raw(Box::new(UnsafeCell::new(value)))
}

impl<T, const N: usize, P: Protocol> Shared<T, N, P> {
    /// With this value.
    pub fn new(value: T) -> Self {
        let hazards = std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()));
        Self { current: AtomicPtr::new(boxed(value)), hazards, retired: Mutex::new(Vec::new()), protocol: PhantomData }
    }

    /// The readers, for as many threads.
    pub fn readers(&mut self) -> (&Self, [Reader<'_, T, N, P>; N]) {
        let shared = &*self;
        (shared, shared.hazards.each_ref().map(|hazard| Reader { shared, hazard }))
    }

    /// Replaces the value. The old one, and others before it, are dropped once nobody looks at them.
    pub fn store(&self, value: T) {
        let old = self.current.swap(boxed(value), Ordering::AcqRel);
        P::barrier();
        let mut retired = self.retired.lock().unwrap();
        retired.push(old);
        retired.retain(|value| {
            let wanted = self.hazards.iter().any(|hazard| hazard.load(Ordering::Acquire) == *value);
            if !wanted {
                // SAFETY: it is not the shared value any more, and no reader announces it: who announces it later looks again.
                unsafe { free(*value) };
            }
            wanted
        });
    }
}

impl<T, const N: usize, P: Protocol> Reader<'_, T, N, P> {
    /// Looks at the value.
    pub fn with<R>(&mut self, read: impl FnOnce(&T) -> R) -> R {
        let mut value = self.shared.current.load(Ordering::Acquire);
        loop {
            self.hazard.store(value, Ordering::Release);
            P::barrier();
            let newer = self.shared.current.load(Ordering::Acquire);
            if newer == value || !P::LOOKS_AGAIN {
                break;
            }
            value = newer;
        }
        // SAFETY: the value was still shared after it had been announced, so it is not freed before the announcement ends.
        let cell = unsafe { &*value };
        // SAFETY: shared values are only read.
        let result = cell.with(|value| read(unsafe { &*value }));
        self.hazard.store(ptr::null_mut(), Ordering::Release);
        result
    }
}

/// Drops a value.
///
/// # Safety
/// It came from [`boxed`], and nobody uses it now or later.
unsafe fn free<T>(value: *mut UnsafeCell<T>) {
    // SAFETY: the caller knows that the value is its own.
    drop(unsafe { Box::from_raw(value) });
}

impl<T, const N: usize, P: Protocol> Drop for Shared<T, N, P> {
    fn drop(&mut self) {
        let retired = self.retired.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..);
        for value in retired.chain([self.current.load(Ordering::Relaxed)]) {
            // SAFETY: nobody else is left, and each value is in one of the two places.
            unsafe { free(value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn read_while_replaced<P: Protocol>() {
        let mut shared = Shared::<u32, 1, P>::new(1);
        let (writer, [mut reader]) = shared.readers();
        thread::scope(|scope| {
            scope.spawn(move || reader.with(|value| assert!(matches!(value, 1 | 2))));
            writer.store(2);
        });
    }

    #[mc::test]
    fn a_value_is_not_freed_under_its_reader() {
        read_while_replaced::<Correct>();
    }

    #[mc::test]
    fn two_readers_see_some_value() {
        let mut shared = Shared::<u32, 2>::new(1);
        let (writer, readers) = shared.readers();
        thread::scope(|scope| {
            for mut reader in readers {
                scope.spawn(move || reader.with(|value| assert!(matches!(value, 1 | 2))));
            }
            writer.store(2);
        });
    }

    #[mc::test(expect = "use_after_free")]
    fn without_the_fence_the_announcement_comes_too_late() {
        read_while_replaced::<NoFence>();
    }

    #[mc::test(expect = "use_after_free")]
    fn without_the_second_look_the_value_is_gone() {
        read_while_replaced::<NoSecondLook>();
    }
}
