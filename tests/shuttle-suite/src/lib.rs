//! A counter, right and wrong, and a gate, for the suite in `tests/`.

use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Condvar, Mutex};

/// Counts under a lock.
#[derive(Default)]
pub struct Counter(Mutex<usize>);

impl Counter {
    /// One more.
    pub fn add(&self) {
        *self.0.lock().unwrap() += 1;
    }

    /// How many.
    pub fn get(&self) -> usize {
        *self.0.lock().unwrap()
    }
}

/// Counts by a load and a store: an update in between is lost.
#[derive(Default)]
pub struct Lossy(AtomicUsize);

impl Lossy {
    /// One more, perhaps.
    pub fn add(&self) {
        let old = self.0.load(Ordering::SeqCst);
        self.0.store(old + 1, Ordering::SeqCst);
    }

    /// How many.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Threads wait until it is opened.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Lets all through.
    pub fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    /// Waits.
    pub fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }
}
