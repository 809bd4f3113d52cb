//! `Mutex` and `RwLock`.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use mc::cell::UnsafeCell;
use mc::sync::{Arc, Mutex, RwLock, RwLockWriteGuard, TryLockError};
use mc::thread;
use mc_runtime::outcome::FailureKind;

use super::{counterexample, fails, proved, results};

#[test]
fn two_threads_take_a_mutex_in_two_orders() {
    proved(2, || {
        let mutex = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *mutex.lock().unwrap() += 1);
            scope.spawn(|| *mutex.lock().unwrap() += 1);
        });
        assert_eq!(mutex.into_inner().unwrap(), 2);
    });
}

#[test]
fn locks_in_opposite_orders_are_a_deadlock() {
    fails(FailureKind::Deadlock, || {
        let (a, b) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _first = a.lock().unwrap();
                drop(b.lock().unwrap());
            });
            scope.spawn(|| {
                let _first = b.lock().unwrap();
                drop(a.lock().unwrap());
            });
        });
    });
}

#[test]
fn a_mutex_that_is_locked_twice_is_a_deadlock() {
    fails(FailureKind::Deadlock, || {
        let mutex = Mutex::new(());
        let _first = mutex.lock().unwrap();
        let _second = mutex.lock();
    });
}

#[test]
fn a_mutex_taken_by_try_lock_may_be_seen_held() {
    // Held: by the first or by the second; each may fail.
    fails(FailureKind::Panic, || {
        let mutex = Mutex::new(());
        thread::scope(|scope| {
            scope.spawn(|| drop(mutex.lock().unwrap()));
            assert!(mutex.try_lock().is_ok(), "held");
        });
    });
}

#[test]
fn a_static_mutex_starts_afresh_in_every_execution() {
    static VALUES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    proved(2, || {
        let thread = thread::spawn(|| VALUES.lock().unwrap().push(1));
        VALUES.lock().unwrap().push(2);
        thread.join().unwrap();
        assert_eq!(VALUES.lock().unwrap().len(), 2);
    });
}

#[test]
fn a_downgraded_writer_lets_no_writer_in() {
    proved(2, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = lock.write().unwrap();
                *writer = 1;
                let reader = RwLockWriteGuard::downgrade(writer);
                assert_eq!(*reader, 1);
            });
            scope.spawn(|| *lock.write().unwrap() = 2);
        });
    });
}

#[test]
fn a_reader_that_wants_to_write_is_a_deadlock() {
    fails(FailureKind::Deadlock, || {
        let lock = RwLock::new(0);
        let _reader = lock.read().unwrap();
        *lock.write().unwrap() = 1;
    });
}

struct Shared(UnsafeCell<u8>);
// SAFETY: none, which is what the tests show.
unsafe impl Sync for Shared {}

#[test]
fn an_access_beside_the_lock_is_a_data_race() {
    fails(FailureKind::DataRace, || {
        let shared = Arc::new((Mutex::new(()), Shared(UnsafeCell::new(0))));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            let _guard = theirs.0.lock().unwrap();
            // SAFETY: while an execution runs, one thread at a time does.
            theirs.1.0.with_mut(|value| unsafe { *value = 1 });
        });
        // SAFETY: as above.
        shared.1.0.with(|value| unsafe { *value });
        thread.join().unwrap();
    });
}

#[test]
fn a_value_without_size_at_the_end_of_its_block_is_accessed_nowhere() {
    proved(1, || {
        let block = Box::new((1_u64, UnsafeCell::new([0_u64; 0])));
        block.1.with_mut(|_| ());
        assert_eq!(block.0, 1);
    });
}

#[test]
fn poison_is_seen_before_the_lock_is_free_and_after() {
    static SEEN: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
    let seen = results(&SEEN, || {
        let mutex = Mutex::new(());
        thread::scope(|scope| {
            scope.spawn(|| {
                let panics = || {
                    let _guard = mutex.lock().unwrap();
                    panic!("poisons");
                };
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
            });
            let poisoned = mutex.is_poisoned();
            let held = matches!(mutex.try_lock(), Err(TryLockError::WouldBlock));
            SEEN[usize::from(poisoned) * 2 + usize::from(held)].fetch_add(1, Relaxed);
        });
    });
    assert_eq!(seen, [true; 4], "as of the real one: tests/tests/e2e/real_std.rs");
}

#[test]
fn a_counterexample_says_which_attempts_failed() {
    fn tells(body: fn(), rows: &[&str]) {
        let text = counterexample(body);
        let attempts = text.lines().map(str::trim).filter(|row| row.starts_with("lock.try_"));
        // The place is the last word.
        let told: Vec<&str> = attempts.filter_map(|row| Some(row.rsplit_once(' ')?.0.trim())).collect();
        assert_eq!(told, rows, "{text}");
    }
    tells(
        || {
            let lock = Mutex::new(0);
            let _taken = lock.try_lock();
            drop(lock.try_lock().unwrap());
        },
        &["lock.try_lock()", "lock.try_lock() fails"],
    );
    tells(
        || {
            let lock = RwLock::new(0);
            let _reads = lock.try_read();
            drop(lock.try_write().unwrap());
        },
        &["lock.try_read()", "lock.try_read()", "lock.try_write() fails"],
    );
    tells(
        || {
            let lock = RwLock::new(0);
            let _writes = lock.try_write();
            drop(lock.try_read().unwrap());
        },
        &["lock.try_write()", "lock.try_read() fails"],
    );
}
