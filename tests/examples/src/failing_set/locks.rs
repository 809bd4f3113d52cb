//! Locks, condition variables, and cells that are initialised once.

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicBool, Ordering};
use mc::sync::{Condvar, Mutex};
use mc::thread;

#[mc::test(expect = "deadlock")]
fn two_locks_in_opposite_order_deadlock() {
    let (a, b) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let first = a.lock().unwrap();
            *b.lock().unwrap() += *first;
        });
        let first = b.lock().unwrap();
        *a.lock().unwrap() += *first;
    });
}

#[mc::test]
fn two_locks_in_one_order_do_not() {
    let (a, b) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let first = a.lock().unwrap();
            *b.lock().unwrap() += *first;
        });
        let first = a.lock().unwrap();
        *b.lock().unwrap() += *first;
    });
}

/// The flag is looked at before the lock is taken, so the notification may come in between.
#[mc::test(expect = "lost_wakeup")]
fn a_flag_outside_of_the_lock_loses_the_wake_up() {
    let (flag, lock, wake) = (AtomicBool::new(false), Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            flag.store(true, Ordering::SeqCst);
            wake.notify_one();
        });
        if !flag.load(Ordering::SeqCst) {
            drop(wake.wait(lock.lock().unwrap()).unwrap());
        }
    });
}

#[mc::test]
fn a_flag_under_the_lock_does_not() {
    let (flag, wake) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *flag.lock().unwrap() = true;
            wake.notify_one();
        });
        let mut seen = flag.lock().unwrap();
        while !*seen {
            seen = wake.wait(seen).unwrap();
        }
    });
}

/// A value that the first thread makes under a lock, and that others find by a flag without it.
struct Lazy {
    ready: AtomicBool,
    making: Mutex<()>,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is written under the lock while `ready` is false, and only read afterwards. (This is so with `see` =
// `Acquire` only; the other case is what must be found.)
unsafe impl Sync for Lazy {}

impl Lazy {
    fn get(&self, see: Ordering) -> u32 {
        if !self.ready.load(see) {
            let _making = self.making.lock().unwrap();
            if !self.ready.load(Ordering::Relaxed) {
                // SAFETY: under the lock, and not ready, so nobody else looks at the value.
                self.value.with_mut(|value| unsafe { *value = 7 });
                self.ready.store(true, Ordering::Release);
            }
        }
        // SAFETY: the value is ready, so nobody writes to it.
        self.value.with(|value| unsafe { *value })
    }
}

fn double_checked_locking(see: Ordering) {
    let lazy = Lazy { ready: AtomicBool::new(false), making: Mutex::new(()), value: UnsafeCell::new(0) };
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(lazy.get(see), 7));
        assert_eq!(lazy.get(see), 7);
    });
}

#[mc::test]
fn double_checked_locking_with_acquire_is_right() {
    double_checked_locking(Ordering::Acquire);
}

#[mc::test(expect = "data_race")]
fn double_checked_locking_without_acquire_races() {
    double_checked_locking(Ordering::Relaxed);
}
