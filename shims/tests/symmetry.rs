//! Threads that are alike: executions that differ only in which of them does what are one, unless something tells the threads apart. Then what only one of the orders shows
//! must be found.
#![cfg(mc)]

mod common;

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::sync::atomic::AtomicUsize;
use mc::sync::{Arc, Barrier, Condvar, Mutex, RwLock};
use mc::thread::{self, JoinHandle};
use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions};
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

fn explore(options: &Options, body: fn()) -> Outcome {
    common::explore(options, body)
}

/// Executions with and without the reduction. Without it, they are those of the specification.
#[track_caller]
fn proved([one_of_each, all]: [u64; 2], body: fn()) {
    for memory_model in [MemoryModel::Rc20, MemoryModel::Sc, MemoryModel::Tso] {
        let whole = Reductions::default().without(Reduction::Symmetry);
        for (reductions, executions) in [(Reductions::default(), one_of_each), (whole, all)] {
            let options = Options { memory_model, reductions, spurious_wakeups: 0, ..Options::default() };
            let outcome = explore(&options, body);
            assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]), "{memory_model}");
            assert_eq!(outcome.executions, executions, "{memory_model} {reductions:?}");
        }
    }
}

/// Something tells the threads apart: all executions are explored.
#[track_caller]
fn told_apart(executions: u64, body: fn()) {
    proved([executions; 2], body);
}

#[track_caller]
fn fails(kind: FailureKind, body: fn()) {
    let outcome = explore(&Options::default(), body);
    let kinds: Vec<FailureKind> = outcome.failures.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [kind]);
}

fn join_all<T>(threads: impl IntoIterator<Item = JoinHandle<T>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

/// `N` threads that each do `f` to one counter.
fn count<const N: usize>(f: fn(&AtomicUsize)) -> (Arc<AtomicUsize>, [JoinHandle<()>; N]) {
    let counter = Arc::new(AtomicUsize::new(0));
    let threads = [(); N].map(|()| {
        let counter = counter.clone();
        thread::spawn(move || f(&counter))
    });
    (counter, threads)
}

fn add(counter: &AtomicUsize) {
    counter.fetch_add(1, AcqRel);
}

#[test]
fn orders_of_additions_are_one() {
    proved([1, 24], || {
        let (counter, threads) = count::<4>(add);
        join_all(threads);
        assert_eq!(counter.load(Relaxed), 4);
    });
}

#[test]
fn three_threads_that_lock_twice_have_a_sixth_of_all_orders() {
    // 6! / (2! 2! 2!), and 3! of these are alike.
    proved([15, 90], || {
        let total = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    *total.lock().unwrap() += 1;
                    *total.lock().unwrap() += 1;
                });
            }
        });
        assert_eq!(total.into_inner().unwrap(), 6);
    });
}

#[test]
fn writers_that_are_alike_have_one_order() {
    proved([1, 6], || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| *lock.write().unwrap() += 1);
            }
        });
        assert_eq!(lock.into_inner().unwrap(), 3);
    });
    proved([15, 90], || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    *lock.write().unwrap() += 1;
                    *lock.write().unwrap() += 1;
                });
            }
        });
        assert_eq!(lock.into_inner().unwrap(), 6);
    });
}

#[test]
fn readers_that_are_alike_come_at_any_two_of_three_places_among_writers_that_are() {
    // Whatever each of two readers sees: nothing, one of the writers, or both.
    proved([6, 18], || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| *lock.write().unwrap() += 1);
            }
            for _ in 0..2 {
                scope.spawn(|| assert!(*lock.read().unwrap() <= 2));
            }
        });
        assert_eq!(lock.into_inner().unwrap(), 2);
    });
}

#[test]
fn who_writes_after_reading_is_alike_too() {
    proved([2, 4], || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let seen = *lock.read().unwrap();
                    *lock.write().unwrap() += 1 + seen;
                });
            }
        });
        assert!([2, 3].contains(&lock.into_inner().unwrap()));
    });
}

#[test]
fn the_last_to_come_to_a_barrier_is_one_of_three() {
    proved([1, 6], || {
        let (barrier, leaders) = (Barrier::new(3), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, Relaxed);
                    }
                });
            }
        });
        assert_eq!(leaders.into_inner(), 1);
    });
}

#[test]
fn of_choices_each_combination_is_made_once() {
    // Of three values twice, in any order: 3 * 4 / 2.
    proved([6, 9], || {
        let choices = [(); 2].map(|()| thread::spawn(|| assert!(mc::choose(0..3) < 3)));
        join_all(choices);
    });
}

#[test]
fn waiters_for_one_flag_are_alike() {
    proved([1, 6], || {
        let (ready, turn) = (Mutex::new(false), Condvar::new());
        let passed = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| passed.fetch_add(1, Relaxed));
            }
            *ready.lock().unwrap() = true;
            turn.notify_all();
        });
        assert_eq!(passed.into_inner(), 3);
    });
}

#[test]
fn two_kinds_of_threads_are_two_classes() {
    // 2 + 2 additions to one counter: 4! / (2! 2!).
    proved([6, 24], || {
        let counter = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| counter.fetch_add(1, Relaxed));
                scope.spawn(|| counter.fetch_add(16, Relaxed));
            }
        });
        assert_eq!(counter.into_inner(), 34);
    });
}

#[test]
fn what_is_private_to_each_does_not_tell_them_apart() {
    proved([1, 2], || {
        let (counter, threads) = count::<2>(|counter| {
            let own = Box::new(AtomicUsize::new(7));
            own.store(own.load(Relaxed) + 1, Relaxed);
            counter.fetch_add(own.load(Relaxed), AcqRel); // not left out, whatever becomes of the result
        });
        join_all(threads);
        assert_eq!(counter.load(Relaxed), 16);
    });
}

#[test]
fn different_captured_state_is_seen() {
    fails(FailureKind::Panic, || {
        let counter = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1].map(|n| {
            let counter = counter.clone();
            thread::spawn(move || assert!(counter.fetch_add(1, Relaxed) <= n))
        });
        join_all(threads);
    });
}

#[test]
fn state_that_is_captured_in_many_words_is_seen() {
    fails(FailureKind::Panic, || {
        let counter = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1].map(|n| {
            let (counter, many) = (counter.clone(), [1, 2, 3, 4, 5, 6, n]);
            thread::spawn(move || assert!(counter.fetch_add(1, Relaxed) <= many[6]))
        });
        join_all(threads);
    });
}

#[test]
fn results_are_seen() {
    fails(FailureKind::Panic, || {
        let counter = Arc::new(AtomicUsize::new(0));
        let threads = [(); 2].map(|()| {
            let counter = counter.clone();
            thread::spawn(move || counter.fetch_add(1, Relaxed))
        });
        let [first, second] = threads.map(|thread| thread.join().unwrap());
        assert!(first < second);
    });
}

#[test]
fn equal_results_tell_nothing() {
    proved([1, 2], || {
        let counter = Arc::new(AtomicUsize::new(0));
        let threads = [(); 2].map(|()| {
            let counter = counter.clone();
            thread::spawn(move || counter.fetch_add(1, Relaxed) < 2)
        });
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [true; 2]);
    });
}

#[test]
fn what_is_done_between_joins_is_seen() {
    fails(FailureKind::Panic, || {
        let pair = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let [first, second] = [(); 2].map(|()| {
            let pair = pair.clone();
            thread::spawn(move || {
                if pair[0].fetch_add(1, AcqRel) == 0 {
                    pair[1].store(1, Relaxed);
                }
            })
        });
        first.join().unwrap();
        assert_eq!(pair[1].load(Relaxed), 1);
        second.join().unwrap();
    });
}

#[test]
fn plain_memory_between_joins_is_seen() {
    fails(FailureKind::DataRace, || {
        let shared = Arc::new((AtomicUsize::new(0), UnsafeCell::new(0)));
        let [first, second] = [(); 2].map(|()| {
            let shared = Shared(shared.clone());
            thread::spawn(move || {
                let Shared(shared) = { shared };
                if shared.0.fetch_add(1, AcqRel) == 0 {
                    // SAFETY: the first only writes; that the body does not wait for it is what is tested.
                    shared.1.with_mut(|at| unsafe { *at = 1 });
                }
            })
        });
        first.join().unwrap();
        // SAFETY: as above.
        shared.1.with(|at| unsafe { assert!(*at <= 1) });
        second.join().unwrap();
    });
}

struct Shared(Arc<(AtomicUsize, UnsafeCell<usize>)>);

// SAFETY: the cell is checked for data races.
unsafe impl Send for Shared {}

#[test]
fn a_thread_that_nobody_joins_is_not_like_one_that_is_joined() {
    fails(FailureKind::Panic, || {
        let pair = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let [first, second] = [(); 2].map(|()| {
            let pair = pair.clone();
            thread::spawn(move || {
                if pair[0].fetch_add(1, AcqRel) == 0 {
                    pair[1].store(1, Relaxed);
                }
            })
        });
        drop(second);
        first.join().unwrap();
        assert_eq!(pair[1].load(Relaxed), 1);
    });
}

#[test]
fn what_happens_between_spawns_is_seen() {
    fails(FailureKind::Panic, || {
        let pair = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let spawn = || {
            let pair = pair.clone();
            thread::spawn(move || {
                if pair[0].fetch_add(1, Relaxed) == 1 {
                    assert_eq!(pair[1].load(Relaxed), 1);
                }
            })
        };
        let first = spawn();
        pair[1].store(1, Relaxed);
        join_all([first, spawn()]);
    });
}

#[test]
fn plain_memory_between_spawns_is_seen() {
    fails(FailureKind::DataRace, || {
        let shared = Arc::new((AtomicUsize::new(0), UnsafeCell::new(0)));
        let spawn = || {
            let shared = Shared(shared.clone());
            thread::spawn(move || {
                let Shared(shared) = { shared };
                if shared.0.fetch_add(1, Relaxed) == 1 {
                    // SAFETY: the second only reads; whether it was spawned after the write is what is tested.
                    shared.1.with(|at| unsafe { assert!(*at <= 1) });
                }
            })
        };
        let first = spawn();
        // SAFETY: as above.
        shared.1.with_mut(|at| unsafe { *at = 1 });
        join_all([first, spawn()]);
    });
}

#[test]
fn whoever_asks_for_identifiers_sees_all_orders() {
    fails(FailureKind::Panic, || {
        let first = Arc::new(Mutex::new(None));
        let threads = [(); 2].map(|()| {
            let first = first.clone();
            thread::spawn(move || {
                first.lock().unwrap().get_or_insert(thread::current().id());
            })
        });
        let expected = threads[0].thread().id();
        join_all(threads);
        assert_eq!(*first.lock().unwrap(), Some(expected));
    });
}

#[test]
fn whoever_unparks_one_thread_sees_all_orders() {
    // The first goes on when it is unparked, the second has a token already, or gets it in time.
    told_apart(2, || {
        let (counter, [first, second]) = count::<2>(|counter| {
            counter.fetch_add(1, AcqRel);
            thread::park();
        });
        first.thread().unpark();
        second.thread().unpark();
        join_all([first, second]);
        assert_eq!(counter.load(Relaxed), 2);
    });
}

#[test]
fn names_tell_threads_apart() {
    fails(FailureKind::Panic, || {
        let counter = Arc::new(AtomicUsize::new(0));
        let threads = ["a", "b"].map(|name| {
            let counter = counter.clone();
            let builder = thread::Builder::new().name(name.to_owned());
            let late = move || assert!(counter.fetch_add(1, Relaxed) == 0 || thread::current().name() == Some("b"));
            builder.spawn(late).unwrap()
        });
        join_all(threads);
    });
}

#[test]
fn whoever_asks_whether_one_has_finished_sees_all_orders() {
    fails(FailureKind::Panic, || {
        let (counter, [first, second]) = count::<2>(add);
        let finished = first.is_finished();
        let early = counter.load(Acquire);
        join_all([first, second]);
        assert!(!finished || early == 2, "the first may have finished before the second began");
    });
}

#[test]
fn relaxed_stores_that_cross_are_all_seen() {
    // Two pairs of threads that are alike, and stores to two locations in opposite orders: modification order may go round in a circle.
    fails(FailureKind::Panic, || {
        let pair = [const { AtomicUsize::new(0) }; 2];
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    pair[0].store(1, Relaxed);
                    pair[1].store(2, Relaxed);
                });
                scope.spawn(|| {
                    pair[1].store(1, Relaxed);
                    pair[0].store(2, Relaxed);
                });
            }
        });
        assert_ne!([pair[0].load(Relaxed), pair[1].load(Relaxed)], [1, 1]);
    });
}

#[test]
fn a_bug_that_either_may_have_is_found() {
    fails(FailureKind::Panic, || {
        let (counter, threads) = count::<3>(|counter| {
            let seen = counter.load(Relaxed);
            counter.store(seen + 1, Release);
        });
        join_all(threads);
        assert_eq!(counter.load(Relaxed), 3);
    });
}

#[cfg(not(debug_assertions))]
#[test]
fn what_is_captured_and_never_looked_at_does_not_tell_threads_apart() {
    proved([1, 24], || {
        let counter = Arc::new(AtomicUsize::new(0));
        let add = std::sync::Arc::new(move |_: usize| drop(counter.fetch_add(1, Relaxed)));
        let threads = [0, 1, 2, 3].map(|n| {
            let add = add.clone();
            thread::spawn(move || add(n))
        });
        join_all(threads);
    });
}
