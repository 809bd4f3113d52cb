//! Objects of a `static` are as new in every execution.

use std::sync::atomic::Ordering::Relaxed;

use mc::sync::atomic::{AtomicU8, AtomicUsize};
use mc::sync::{LazyLock, Mutex, Once, OnceLock, RwLock};
use mc::thread;
use mc_runtime::outcome::FailureKind::Panic;

use super::{fails, holds, proved};

#[test]
fn atomics_have_their_first_value() {
    static NUMBER: AtomicUsize = AtomicUsize::new(5);
    static BYTES: [AtomicU8; 2] = [AtomicU8::new(1), AtomicU8::new(2)];
    proved(2, || {
        assert_eq!((NUMBER.load(Relaxed), BYTES[0].load(Relaxed), BYTES[1].swap(9, Relaxed)), (5, 1, 2));
        let threads = [0, 1].map(|_| thread::spawn(|| NUMBER.fetch_add(1, Relaxed)));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(NUMBER.load(Relaxed), 7);
    });
}

#[test]
fn what_locks_hold_is_dropped_and_made_anew() {
    static LIST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    static TEXT: RwLock<String> = RwLock::new(String::new());
    proved(2, || {
        assert!(LIST.lock().unwrap().is_empty() && TEXT.read().unwrap().is_empty());
        TEXT.write().unwrap().push_str("a text that is allocated");
        let threads = [0, 1].map(|n| thread::spawn(move || LIST.lock().unwrap().push(n)));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(LIST.lock().unwrap().len(), 2);
    });
}

#[test]
fn what_is_made_once_is_made_once_in_each_execution() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static LAZY: LazyLock<Vec<usize>> = LazyLock::new(|| vec![MADE.fetch_add(1, Relaxed)]);
    static ONCE: OnceLock<Box<u8>> = OnceLock::new();
    static CALLED: Once = Once::new();
    // Who makes it, and whether the other finds it untouched, being made, or made.
    proved(6, || {
        assert!(ONCE.get().is_none() && !CALLED.is_completed());
        ONCE.set(Box::new(1)).unwrap();
        CALLED.call_once(|| ());
        let threads = [0, 1].map(|_| thread::spawn(|| assert_eq!(LAZY[0], 0)));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(MADE.load(Relaxed), 1);
    });
}

#[test]
fn a_failed_execution_leaves_nothing_behind() {
    static LIST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let body = || {
        let mut list = LIST.lock().unwrap();
        assert!(list.is_empty());
        list.push(1);
        panic!("with the lock");
    };
    assert_eq!(fails(Panic, body).message, "with the lock");
    assert_eq!(fails(Panic, body).message, "with the lock");
    proved(1, || assert!(LIST.lock().unwrap().is_empty()));
}

/// A lock inside of what is made once: it goes, and comes back, with that.
#[test]
fn a_lock_in_a_lazy_static_is_dropped_once_and_made_again() {
    static DROPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
    static SHARED: LazyLock<(u64, Mutex<Vec<Counted>>)> = LazyLock::new(|| (7, Mutex::new(Vec::new())));
    let executions = holds(|| {
        let thread = thread::spawn(|| SHARED.1.lock().unwrap().push(Counted));
        SHARED.1.lock().unwrap().push(Counted);
        thread.join().unwrap();
        assert_eq!((SHARED.0, SHARED.1.lock().unwrap().len()), (7, 2));
    });
    // Two in each execution, and in the rehearsal.
    assert_eq!(DROPS.load(std::sync::atomic::Ordering::Relaxed) as u64, 2 * (executions + 1));
}
