//! The readers of an `RwLock`, whose order is left out as long as nobody can tell it.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::sync::atomic::AtomicUsize;
use mc::sync::{Arc, RwLock};
use mc::thread;
use mc_runtime::options::{Options, Reduction, Reductions, Strategy};
use mc_runtime::outcome::{FailureKind, Verdict};

use super::{check_with, fails, proved};

/// Memory that threads access as they like.
struct Plain(UnsafeCell<usize>);
// SAFETY: the checker says whether two threads have access at once, and only one of them runs at a time.
unsafe impl Sync for Plain {}

impl Plain {
    fn add(&self, more: usize) -> usize {
        // SAFETY: as above.
        self.0.with_mut(|number| unsafe {
            *number += more;
            *number
        })
    }
}

/// A lock, and a thread that reads under it, for each of `numbers`: what they capture tells them apart.
fn readers(lock: &RwLock<usize>, numbers: &[usize]) {
    thread::scope(|scope| {
        for number in numbers {
            scope.spawn(move || assert!(*lock.read().unwrap() < *number));
        }
    });
}

/// How many executions `body` has.
fn counted(reductions: Reductions, strategy: Strategy, body: fn()) -> u64 {
    let outcome = check_with(&Options { reductions, strategy, ..Options::default() }, body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    outcome.executions
}

#[test]
fn readers_alone_have_one_execution() {
    proved(1, || readers(&RwLock::new(0), &[1, 2, 3, 4]));
    let full = Reductions::default().without(Reduction::Readers);
    // Two pairs of an increment and a decrement: an interleaving of them, 6 in all.
    assert_eq!(counted(full, Strategy::Dfs, || readers(&RwLock::new(0), &[1, 2])), 6);
}

#[test]
fn each_reader_comes_before_a_writer_or_after_it() {
    fn body() {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write().unwrap() = 1);
            scope.spawn(|| readers(&lock, &[2, 3, 4]));
        });
    }
    for strategy in [Strategy::Dfs, Strategy::Bfs, Strategy::Random] {
        assert_eq!(counted(Reductions::default(), strategy, body), 2 * 2 * 2);
    }
}

#[test]
fn two_readers_and_two_writers_have_eighteen_executions() {
    // Two orders of the writers, and for each reader three places in either.
    proved(18, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for number in 1..3 {
                let lock = &lock;
                scope.spawn(move || *lock.write().unwrap() = number);
                scope.spawn(move || assert!(*lock.read().unwrap() < 2 + number));
            }
        });
    });
}

#[test]
fn a_reader_that_reads_twice_may_do_so_before_between_and_after() {
    proved(3 * 3, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let writer = scope.spawn(|| *lock.write().unwrap() = 1);
            for reader in 2..4 {
                let lock = &lock;
                scope.spawn(move || [0, 1].map(|_| assert!(*lock.read().unwrap() < reader)));
            }
            writer.join().unwrap();
        });
    });
}

#[test]
fn who_tries_to_write_sees_readers() {
    fails(FailureKind::Panic, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(*lock.read().unwrap(), 0));
            assert!(lock.try_write().is_ok(), "a reader is there");
        });
    });
}

#[test]
fn what_readers_write_is_no_race_with_a_writer_and_is_one_among_them() {
    fn write(lock: &RwLock<Plain>) {
        lock.read().unwrap().add(1);
    }
    // A reader before the writer or after it.
    proved(2, || {
        let lock = Arc::new(RwLock::new(Plain(UnsafeCell::new(0))));
        let other = lock.clone();
        let reader = thread::spawn(move || write(&other));
        lock.write().unwrap().add(1);
        reader.join().unwrap();
    });
    fails(FailureKind::DataRace, || {
        let lock = Arc::new(RwLock::new(Plain(UnsafeCell::new(0))));
        let other = lock.clone();
        let reader = thread::spawn(move || write(&other));
        write(&lock);
        reader.join().unwrap();
    });
}

#[test]
fn a_reader_comes_after_the_readers_on_which_it_depends() {
    // The flag orders the two sections without synchronising them. The word of a lock does: the second reader reads what the first has left there.
    proved(2, || {
        let shared = Arc::new((RwLock::new(()), AtomicUsize::new(0), Plain(UnsafeCell::new(0))));
        let other = shared.clone();
        let first = thread::spawn(move || {
            let (lock, flag, cell) = &*other;
            cell.add(1);
            drop(lock.read().unwrap());
            flag.store(1, Relaxed);
        });
        let (lock, flag, cell) = &*shared;
        if flag.load(Relaxed) == 1 {
            drop(lock.read().unwrap());
            assert_eq!(cell.add(1), 2);
        }
        first.join().unwrap();
    });
}

#[test]
fn a_writer_and_a_reader_that_wait_for_each_other_are_a_deadlock_and_the_reader_is_named() {
    let outcome = check_with(&Options::default(), || {
        let lock = RwLock::new(0);
        let other = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _reader = lock.read().unwrap();
                drop(other.write().unwrap());
            });
            let _reader = other.read().unwrap();
            drop(lock.write().unwrap());
        });
    });
    let [failure] = &outcome.failures[..] else { panic!("{outcome:?}") };
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert!(
        failure.message.starts_with("deadlock: a cycle of threads that wait for each other: main -> T1 -> main"),
        "{failure:?}"
    );
    assert!(failure.message.contains("for what T1 holds since"), "{failure:?}");
}

#[test]
fn a_reader_that_never_ends_stops_writers_and_only_these() {
    proved(1, || {
        let lock = RwLock::new(0);
        std::mem::forget(lock.read().unwrap());
        assert_eq!(*lock.read().unwrap(), 0);
    });
    fails(FailureKind::Deadlock, || {
        let lock = RwLock::new(0);
        std::mem::forget(lock.read().unwrap());
        thread::scope(|scope| {
            scope.spawn(|| *lock.write().unwrap() = 1);
        });
    });
}

#[test]
fn more_sections_than_a_set_can_have_are_put_in_order() {
    const TIMES: usize = 70;
    // The writer comes before all of them, or after one of them.
    proved(TIMES as u64 + 1, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write().unwrap() = 1);
            for _ in 0..TIMES {
                assert!(*lock.read().unwrap() < 2);
            }
        });
    });
}

#[test]
fn a_section_that_a_revisit_brings_to_the_others_is_counted_too() {
    fn lost(others: usize) {
        let (lock, late) = (RwLock::new(0), RwLock::new(0));
        thread::scope(|scope| {
            scope.spawn(|| *lock.write().unwrap() = 1);
            let first = scope.spawn(|| *lock.read().unwrap());
            let second = scope.spawn(|| {
                drop(late.write());
                *lock.read().unwrap()
            });
            let first = first.join().unwrap();
            if first == 0 {
                (0..others).for_each(|_| drop(lock.read()));
            }
            assert!((first, second.join().unwrap()) != (1, 0), "the writer came between");
        });
    }
    fails(FailureKind::Panic, || lost(61));
    fails(FailureKind::Panic, || lost(62));
    fails(FailureKind::Panic, || lost(63));
    fails(FailureKind::Panic, || lost(64));
}

#[test]
fn a_section_before_a_loop_that_waits_does_not_wait_for_what_the_loop_reads() {
    for threads in [1, 2] {
        let outcome = check_with(&Options::default(), if threads == 1 { || waits(1) } else { || waits(2) });
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    }
    fn waits(threads: usize) {
        let shared = Arc::new((RwLock::new(0), AtomicUsize::new(0)));
        let waiting: Vec<_> = (0..threads)
            .map(|_| {
                let theirs = shared.clone();
                thread::spawn(move || {
                    drop(theirs.0.read());
                    while theirs.1.load(Acquire) == 0 {
                        mc::hint::spin_loop();
                    }
                    assert_eq!(*theirs.0.read().unwrap(), 1);
                })
            })
            .collect();
        *shared.0.write().unwrap() = 1;
        shared.1.store(1, Release);
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn readers_do_not_synchronise_with_each_other() {
    // With the counter, the word of the lock orders an end of one thread's sections with a beginning of the other's; std does not promise it.
    fails(FailureKind::Panic, || {
        let shared = Arc::new((RwLock::new(()), AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.1.store(1, Relaxed);
            drop(theirs.0.read());
            drop(theirs.0.read());
            theirs.2.load(Relaxed)
        });
        shared.2.store(1, Relaxed);
        drop(shared.0.read());
        drop(shared.0.read());
        assert!(shared.1.load(Relaxed) + thread.join().unwrap() > 0, "both saw nothing");
    });
}

#[test]
fn a_panic_while_an_execution_is_torn_down_finds_the_readers_counted() {
    struct Writes<'a>(&'a RwLock<usize>);
    impl Drop for Writes<'_> {
        fn drop(&mut self) {
            *self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
        }
    }
    fails(FailureKind::Panic, || {
        let lock = RwLock::new(0);
        let _writes = Writes(&lock);
        let _reader = lock.read().unwrap();
        panic!("with a reader");
    });
}
