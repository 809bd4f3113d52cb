//! Panics, and executions that are cut while destructors have something to do.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicBool, AtomicUsize};
use mc::sync::{Arc, Condvar, Mutex};
use mc::thread::{self, JoinHandle};
use mc::time::{Duration, Instant};
use mc_runtime::options::Options;
use mc_runtime::outcome::FailureKind::{DataRace, Deadlock, Panic};
use mc_runtime::outcome::Verdict;

use super::{allowing_panics, check_with, fails, fails_with, holds_with, proved};

/// Runs code when it is dropped.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_destructor_that_locks_does_not_keep_a_deadlock_from_being_cut() {
    fails(Deadlock, || {
        let (a, b) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _locks = AtEnd(|| drop(b.lock()));
                let _a = a.lock();
                let _b = b.lock();
            });
            let _locks = AtEnd(|| drop(a.lock()));
            let _b = b.lock();
            let _a = a.lock();
        });
    });
}

#[test]
fn a_destructor_that_joins_does_not_keep_a_deadlock_from_being_cut() {
    struct Joins(Option<JoinHandle<()>>);
    impl Drop for Joins {
        fn drop(&mut self) {
            if let Some(thread) = self.0.take() {
                let _ = thread.join();
            }
        }
    }
    fails(Deadlock, || {
        let _joins = Joins(Some(thread::spawn(thread::park)));
        thread::park();
    });
}

#[test]
fn a_destructor_that_spins_does_not_keep_a_deadlock_from_being_cut() {
    fails(Deadlock, || {
        let flag = AtomicBool::new(false);
        let _spins = AtEnd(|| while !flag.load(Relaxed) {});
        thread::park();
    });
}

#[test]
fn a_destructor_that_panics_when_an_execution_is_cut_is_not_the_failure() {
    fails(Deadlock, || {
        let thread = thread::spawn(|| {
            let _panics = AtEnd(|| {
                let _ = catch_unwind(|| panic!("in a destructor"));
            });
            thread::park();
        });
        thread.join().unwrap();
    });
}

#[test]
fn a_destructor_that_spawns_does_not_keep_a_deadlock_from_being_cut() {
    fails(Deadlock, || {
        let _spawns = AtEnd(|| drop(thread::spawn(thread::park).join()));
        thread::park();
    });
}

#[test]
fn a_thread_that_unwinds_may_wait_for_another() {
    // The destructor takes the lock before the other thread, or after it.
    let executions = holds_with(&allowing_panics(), || {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let thread = thread::spawn(move || {
            let _counts = AtEnd(|| *theirs.lock().unwrap() += 1);
            panic!("wrong");
        });
        let mut guard = mutex.lock().unwrap();
        assert!(!thread::panicking());
        *guard += 1;
        drop(guard);
        assert!(thread.join().is_err());
        // A guard that was taken while its thread unwound poisons nothing.
        assert_eq!(*mutex.lock().unwrap(), 2);
    });
    assert_eq!(executions, 2);
}

#[test]
fn who_has_caught_a_panic_does_not_unwind_because_another_thread_does() {
    holds_with(&allowing_panics(), || {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let thread = thread::spawn(move || {
            let _counts = AtEnd(|| *theirs.lock().unwrap() += 1);
            panic!("wrong");
        });
        assert!(catch_unwind(|| panic!("caught")).is_err());
        let mut guard = mutex.lock().unwrap();
        assert!(!thread::panicking());
        *guard += 1;
        drop(guard);
        assert!(thread.join().is_err());
        assert_eq!(*mutex.lock().unwrap(), 2);
    });
}

#[test]
fn a_thread_that_unwinds_may_spin_until_another_ends_it() {
    holds_with(&allowing_panics(), || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            let _spins = AtEnd(|| while !theirs.load(Acquire) {});
            panic!("wrong");
        });
        flag.store(true, Release);
        assert!(thread.join().is_err());
    });
}

#[test]
fn two_threads_may_unwind_at_once() {
    fails(Panic, || {
        let threads = [0, 1].map(|n| thread::spawn(move || panic!("{n}")));
        threads.into_iter().for_each(|thread| drop(thread.join()));
    });
    // Which destructor takes the lock first.
    let executions = holds_with(&allowing_panics(), || {
        let mutex = Arc::new(Mutex::new(0));
        let threads = [0, 1].map(|n| {
            let mutex = mutex.clone();
            thread::spawn(move || {
                let _counts = AtEnd(|| *mutex.lock().unwrap() += 1);
                panic!("{n}");
            })
        });
        for (n, thread) in threads.into_iter().enumerate() {
            assert_eq!(thread.join().unwrap_err().downcast_ref(), Some(&n.to_string()));
        }
        assert_eq!(*mutex.lock().unwrap(), 2);
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_payload_may_be_anything() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in the destructor of a payload");
        }
    }
    fails(Panic, || panic_any(7));
    fails(Panic, || resume_unwind(Box::new("silent")));
    fails(Panic, || panic_any(Bomb));
    fails(Panic, || drop(thread::spawn(|| panic_any(vec![1, 2])).join()));
}

#[test]
fn a_panic_that_the_test_catches_is_no_failure() {
    proved(1, || {
        assert!(catch_unwind(|| panic!("caught")).is_err());
        let thread = thread::spawn(|| catch_unwind(|| panic!("caught {}", 1)).is_err());
        assert!(thread.join().unwrap());
        assert!(!thread::panicking());
    });
}

#[test]
fn a_thread_that_catches_everything_for_ever_is_given_up() {
    fails(Deadlock, || {
        let mutex = Mutex::new(());
        let _held = mutex.lock();
        while catch_unwind(AssertUnwindSafe(|| drop(mutex.lock()))).is_err() {}
    });
}

#[test]
fn a_lock_is_poisoned_by_whom_panics_with_it() {
    let executions = holds_with(&allowing_panics(), || {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let thread = thread::spawn(move || {
            *theirs.lock().unwrap() = 1;
            let _guard = theirs.lock().unwrap();
            panic!("with the lock");
        });
        assert!(thread.join().is_err());
        assert!(mutex.is_poisoned());
        assert_eq!(*mutex.lock().unwrap_err().into_inner(), 1);
        mutex.clear_poison();
        assert_eq!(*mutex.lock().unwrap(), 1);
    });
    assert_eq!(executions, 1);
}

#[test]
fn a_scope_panics_when_a_thread_of_it_did_that_nobody_joined() {
    let body = || thread::scope(|scope| drop(scope.spawn(|| panic!("wrong"))));
    fails(Panic, body);
    fails_with(&allowing_panics(), Panic, body);
    holds_with(&allowing_panics(), || {
        let body = || thread::scope(|scope| drop(scope.spawn(|| panic!("wrong"))));
        assert!(catch_unwind(body).is_err());
        thread::scope(|scope| drop(scope.spawn(|| panic!("wrong")).join()));
    });
}

#[test]
fn a_destructor_that_waits_again_and_again_does_not_keep_an_execution_from_being_cut() {
    let options = Options { max_events: 60, max_executions: Some(100), ..Options::default() };
    let outcome = check_with(&options, || {
        let _looks_at_the_clock = Instant::now();
        let (lock, condvar) = (Mutex::new(false), Condvar::new());
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _waits = AtEnd(|| {
                let mut there = lock.lock().unwrap();
                while !*there {
                    there = condvar.wait_timeout(there, Duration::from_secs(1)).unwrap().0;
                }
            });
            resume_unwind(Box::new(()));
        }));
        assert!(unwound.is_err());
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Bounded, &[][..]));
    assert!(outcome.bounds.iter().any(|bound| bound.limit == "max_events"), "{outcome:?}");
}

#[test]
fn a_guard_that_is_forgotten_keeps_its_lock() {
    proved(1, || {
        let mutex = Mutex::new(());
        std::mem::forget(mutex.lock());
        assert!(mutex.try_lock().is_err());
    });
    fails(Deadlock, || {
        let mutex = Mutex::new(());
        std::mem::forget(mutex.lock());
        drop(mutex.lock());
    });
}

#[test]
fn a_detached_thread_has_to_end() {
    proved(2, || {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        drop(thread::spawn(move || theirs.store(1, Relaxed)));
        assert!(count.load(Relaxed) <= 1);
    });
    fails(Deadlock, || drop(thread::spawn(thread::park)));
    fails(Deadlock, || std::mem::forget(thread::spawn(thread::park).thread().clone()));
}

/// Reads until it sees that `set` is set, three times at most: a loop, which is learned when it goes round.
fn look(set: &AtomicUsize) {
    for _ in 0..3 {
        if set.load(Relaxed) == 1 {
            break;
        }
    }
}

#[test]
fn what_is_cut_beside_a_thread_that_unwinds_changes_no_static_for_the_next_execution() {
    static SET: AtomicUsize = AtomicUsize::new(0);
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    proved(4, || {
        let unwinds = thread::spawn(|| {
            let mut other = Some(thread::spawn(|| {
                look(&SET);
                COUNT.fetch_add(1, AcqRel);
            }));
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _joins = AtEnd(|| other.take().unwrap().join().unwrap());
                resume_unwind(Box::new(()));
            }));
            assert!(unwound.is_err());
        });
        SET.store(1, Relaxed);
        unwinds.join().unwrap();
        assert_eq!(COUNT.load(Acquire), 1);
    });
}

#[test]
fn what_is_cut_while_it_unwinds_changes_no_static_for_the_next_execution() {
    static SET: AtomicUsize = AtomicUsize::new(0);
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    proved(4, || {
        let unwinds = thread::spawn(|| {
            let unwound = catch_unwind(|| {
                let _counts = AtEnd(|| {
                    look(&SET);
                    COUNT.fetch_add(1, AcqRel);
                });
                resume_unwind(Box::new(()));
            });
            assert!(unwound.is_err());
        });
        SET.store(1, Relaxed);
        unwinds.join().unwrap();
        assert_eq!(COUNT.load(Acquire), 1);
    });
}

#[test]
fn a_lock_is_poisoned_by_whoever_unwinds_without_a_hook_beside_another_that_waits_for_it() {
    holds_with(&allowing_panics(), || {
        let (mutex, turn) = (Mutex::new(()), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let unwound = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = mutex.lock();
                    let _waits = AtEnd(|| {
                        turn.store(1, Release);
                        while turn.load(Acquire) == 1 {}
                    });
                    resume_unwind(Box::new(()));
                }));
                assert!(unwound.is_err());
            });
            while turn.load(Acquire) == 0 {}
            turn.store(2, Release);
            assert!(mutex.lock().is_err());
        });
    });
}

#[test]
fn a_lock_is_not_poisoned_because_another_thread_unwinds_after_one_has_caught_a_panic() {
    holds_with(&allowing_panics(), || {
        let (mutex, unwinds) = (Mutex::new(()), AtomicBool::new(false));
        thread::scope(|scope| {
            assert!(catch_unwind(|| panic!("caught")).is_err());
            let guard = mutex.lock().unwrap();
            let other = scope.spawn(|| {
                let _locks = AtEnd(|| {
                    unwinds.store(true, Release);
                    assert!(mutex.lock().is_ok());
                });
                panic!("wrong");
            });
            while !unwinds.load(Acquire) {}
            assert!(!thread::panicking());
            drop(guard);
            assert!(other.join().is_err() && !mutex.is_poisoned());
        });
    });
}

#[test]
fn two_threads_may_unwind_at_once_without_a_hook() {
    holds_with(&allowing_panics(), || {
        let (mutex, turn) = (Mutex::new(()), AtomicUsize::new(0));
        let unwinds = |in_between: &dyn Fn()| {
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _then = AtEnd(in_between);
                resume_unwind(Box::new(()));
            }));
            assert!(unwound.is_err());
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                unwinds(&|| {
                    turn.store(1, Release);
                    while turn.load(Acquire) == 1 {}
                });
                turn.store(3, Release);
            });
            while turn.load(Acquire) == 0 {}
            unwinds(&|| {
                assert!(thread::panicking());
                let _guard = mutex.lock();
                turn.store(2, Release);
                while turn.load(Acquire) == 2 {}
            });
            assert!(!thread::panicking() && mutex.lock().is_ok());
        });
    });
}

/// `NOT`: who is said not to be the last owner, 1 for main.
fn unwinds_as_an_owner<const NOT: usize>() {
    mc::thread_local! { static WHO: Cell<usize> = const { Cell::new(0) }; }
    static LAST: AtomicUsize = AtomicUsize::new(0);
    struct Says;
    impl Drop for Says {
        fn drop(&mut self) {
            LAST.store(WHO.get(), Relaxed);
        }
    }
    let mine = Arc::new(Says);
    let theirs = mine.clone();
    WHO.set(1);
    let thread = thread::spawn(move || {
        let _theirs = theirs;
        WHO.set(2);
        panic!("as it does");
    });
    drop(mine);
    assert!(thread.join().is_err());
    assert_ne!(LAST.load(Relaxed), NOT);
}

#[test]
fn who_unwinds_may_be_the_last_owner_or_not() {
    fails_with(&allowing_panics(), Panic, unwinds_as_an_owner::<1>);
    fails_with(&allowing_panics(), Panic, unwinds_as_an_owner::<2>);
}

#[test]
fn a_result_that_nobody_takes_and_that_panics_is_a_failure() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in the destructor of a result");
        }
    }
    // Whoever drops it last, it is no panic of the thread's own code: the process would end.
    fails_with(&allowing_panics(), Panic, || drop(thread::spawn(|| Panics)));
    fails_with(&allowing_panics(), Panic, || drop(thread::spawn(|| panic_any(Panics))));
}

#[test]
fn an_access_lasts_until_its_closure_unwinds() {
    struct Shared(UnsafeCell<u32>, AtomicUsize);
    // SAFETY: none: the writes race, which must be found.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    fails(DataRace, || {
        let shared = Arc::new(Shared(UnsafeCell::new(0), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            if theirs.1.load(Acquire) == 1 {
                // SAFETY: none, as above.
                theirs.0.with_mut(|number| unsafe { *number = 2 });
            }
        });
        let panics = || {
            shared.0.with_mut(|number| {
                shared.1.store(1, Release);
                // SAFETY: none, as above.
                unsafe { *number = 1 };
                resume_unwind(Box::new(1));
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        thread.join().unwrap();
    });
}
