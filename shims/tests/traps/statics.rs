//! Objects of a `static` are as new in every execution.

use std::cell::RefCell;
use std::sync::atomic::AtomicUsize as Counter;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize};
use mc::sync::{LazyLock, Mutex, Once, OnceLock, RwLock};
use mc::thread;
use mc_runtime::outcome::FailureKind::{Panic, UseAfterFree};

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
    // Whether the one who does not make it finds it untouched, being made, or made.
    proved(3, || {
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

#[test]
fn what_statics_and_thread_locals_hold_is_dropped_once_in_each_execution() {
    static MADE: Counter = Counter::new(0);
    static DROPPED: Counter = Counter::new(0);
    struct Held(Box<u8>);
    impl Held {
        fn new() -> Self {
            MADE.fetch_add(1, Relaxed);
            Held(Box::new(1))
        }
    }
    impl Drop for Held {
        fn drop(&mut self) {
            DROPPED.fetch_add(usize::from(*self.0), Relaxed);
        }
    }
    static LIST: Mutex<Vec<Held>> = Mutex::new(Vec::new());
    static PAIR: RwLock<Option<[Held; 2]>> = RwLock::new(None);
    static ONCE: OnceLock<Held> = OnceLock::new();
    static LAZY: LazyLock<Held> = LazyLock::new(Held::new);
    static COUNT: AtomicUsize = AtomicUsize::new(3);
    mc::thread_local! {
        static LOCAL: Held = Held::new();
        static CELL: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
    }
    fn uses() {
        LIST.lock().unwrap().push(Held::new());
        PAIR.write().unwrap().replace([Held::new(), Held::new()]);
        ONCE.get_or_init(Held::new);
        LOCAL.with(|held| assert_eq!(*held.0, 1));
        CELL.with_borrow_mut(|cell| cell.push(Held::new()));
        COUNT.fetch_add(usize::from(*LAZY.0), Relaxed);
    }
    // Leaks are looked for in each execution, too.
    let executions = holds(|| {
        assert!(LIST.lock().unwrap().is_empty() && PAIR.read().unwrap().is_none() && ONCE.get().is_none());
        assert_eq!((COUNT.load(Relaxed), LazyLock::get(&LAZY).is_none()), (3, true));
        let thread = thread::spawn(uses);
        uses();
        thread.join().unwrap();
        assert_eq!((LIST.lock().unwrap().len(), COUNT.load(Relaxed)), (2, 5));
    });
    // Two threads: each pushes one, replaces a pair, has two locals; and there are two that are made once.
    assert!(executions > 1 && MADE.load(Relaxed) as u64 >= executions * 12);
    assert_eq!(MADE.load(Relaxed), DROPPED.load(Relaxed));
}

#[test]
fn an_execution_that_is_cut_leaves_nothing_in_statics() {
    static LIST: Mutex<Vec<String>> = Mutex::new(Vec::new());
    static LAZY: LazyLock<Box<u8>> = LazyLock::new(|| Box::new(1));
    // Some executions are dropped in the middle, with the list changed and the lock held.
    holds(|| {
        assert!(LIST.lock().unwrap().is_empty());
        let mut list = LIST.lock().unwrap();
        list.push(LAZY.to_string());
        mc::assume(mc::choose(0..3_u8) == 1);
        drop(list);
        assert_eq!(LIST.lock().unwrap().len(), 1);
    });
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

/// A lock as one writes it.
struct SpinLock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: whoever has set `locked` is alone with the value.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    const fn new(value: T) -> Self {
        Self { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    fn with<const POINTER: bool, R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        while self.locked.compare_exchange(false, true, Acquire, Relaxed).is_err() {}
        // SAFETY: the lock is held.
        let result =
            unsafe { if POINTER { f(&mut *self.value.get()) } else { self.value.with_mut(|value| f(&mut *value)) } };
        self.locked.store(false, Release);
        result
    }
}

/// With `get`, or with `with_mut`.
fn cells_begin_anew<const POINTER: bool>() {
    static LOCK: SpinLock<(u64, Vec<u64>)> = SpinLock::new((5, Vec::new()));
    fn add<const POINTER: bool>() -> (u64, usize) {
        LOCK.with::<POINTER, _>(|(n, list)| {
            *n += 1;
            list.push(*n);
            (*n, list.len())
        })
    }
    holds(|| {
        let thread = thread::spawn(add::<POINTER>);
        let first = add::<POINTER>();
        let second = thread.join().unwrap();
        assert!([(first, second), (second, first)].contains(&((6, 1), (7, 2))), "{first:?} {second:?}");
    });
    fails(Panic, || {
        let thread = thread::spawn(add::<POINTER>);
        let seen = LOCK.with::<POINTER, _>(|(n, _)| *n);
        thread.join().unwrap();
        assert_eq!(seen, 6, "main may be first");
    });
}

#[test]
fn cells_have_their_first_value() {
    cells_begin_anew::<false>();
    cells_begin_anew::<true>();
}

#[test]
fn an_estimate_of_how_many_executions_there_are_leaves_nothing_in_them() {
    static TURN: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];
    static FAILED: Counter = Counter::new(0);
    static SLOW: std::sync::Once = std::sync::Once::new();
    proved(1024, || {
        // It is made when a second is over.
        SLOW.call_once(|| std::thread::sleep(std::time::Duration::from_millis(1050)));
        // Each execution leaves a mark in one of them, not the same one as the execution before.
        let mark = TURN[mc::choose(0..1024) % 8].swap(1, Relaxed);
        FAILED.fetch_add(mark, Relaxed);
        assert_eq!(mark, 0);
    });
    assert_eq!(FAILED.load(Relaxed), 0, "in an execution that was made for the estimate");
}

/// Nobody drops it who would have to know of that thread.
#[test]
fn what_a_thread_that_nobody_joins_has_left_is_dropped() {
    static LIST: Mutex<Vec<AtomicUsize>> = Mutex::new(Vec::new());
    proved(1, || {
        thread::spawn(|| {
            let mut list = LIST.lock().unwrap();
            list.push(AtomicUsize::new(0));
            list[0].store(1, Relaxed);
        });
    });
}

/// That is known before they are dropped.
#[test]
fn what_the_test_frees_last_is_looked_at_before_statics_are_dropped() {
    static LIST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    fails(UseAfterFree, || {
        LIST.lock().unwrap().push(1);
        let number = Box::into_raw(Box::new(AtomicUsize::new(0)));
        let at = number.expose_provenance();
        // SAFETY: none: nobody waits for the thread, which must be found.
        thread::spawn(move || unsafe { &*std::ptr::with_exposed_provenance::<AtomicUsize>(at) }.store(1, Relaxed));
        // SAFETY: it came from `into_raw`.
        drop(unsafe { Box::from_raw(number) });
    });
}
