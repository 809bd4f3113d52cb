//! Loops that take the value that a failed exchange has seen for the next round: `Err(newer) => old = newer`.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::sync::atomic::AtomicUsize;
use mc::thread;

use super::loops::finds;
use super::{atomics, run, same, same_in_fewer, saw};

/// As D. Vyukov's queue claims a position, and std's `fetch_update` does it.
#[test]
fn who_retries_with_what_the_exchange_saw_shows_the_same_in_fewer_executions() {
    alone!();
    same_in_fewer(|| {
        let counter = atomics([0]);
        let add = |by: usize| {
            let counter = counter.clone();
            let add = move || {
                let mut old = counter[0].load(Relaxed);
                loop {
                    match counter[0].compare_exchange(old, old + by, AcqRel, Relaxed) {
                        Ok(old) => return old,
                        Err(newer) => old = newer,
                    }
                }
            };
            Box::new(add) as Box<dyn FnOnce() -> usize + Send>
        };
        saw(&run([add(1), add(2)]));
    });
    same_in_fewer(|| {
        let counter = atomics([0]);
        let add = |by: usize| {
            let counter = counter.clone();
            let add =
                move || counter[0].fetch_update(AcqRel, Acquire, |old| (old < 2).then_some(old + by)).unwrap_or(7);
            Box::new(add) as Box<dyn FnOnce() -> usize + Send>
        };
        saw(&run([add(1), add(2), add(1)]));
    });
}

#[test]
fn a_weak_exchange_that_fails_for_no_reason_leads_nowhere() {
    alone!();
    same_in_fewer(|| {
        let counter = atomics([0]);
        let add = |by: usize| {
            let counter = counter.clone();
            let add = move || {
                let mut old = counter[0].load(Relaxed);
                while let Err(newer) = counter[0].compare_exchange_weak(old, old + by, AcqRel, Relaxed) {
                    old = newer;
                }
                old
            };
            Box::new(add) as Box<dyn FnOnce() -> usize + Send>
        };
        saw(&run([add(1), add(2)]));
    });
    // Nobody else comes: it fails for no reason once, and not for ever.
    same_in_fewer(|| {
        let counter = atomics([0]);
        let mut old = counter[0].load(Relaxed);
        while let Err(newer) = counter[0].compare_exchange_weak(old, 1, AcqRel, Relaxed) {
            old = newer;
        }
        saw(&[old]);
    });
    // How often it has failed is looked at.
    same(|| {
        let counter = atomics([0]);
        let mut rounds = 0;
        while counter[0].compare_exchange_weak(0, 1, AcqRel, Relaxed).is_err() {
            rounds += 1;
        }
        saw(&[rounds]);
    });
}

#[test]
fn a_retry_that_synchronises_with_less_is_another_round() {
    alone!();
    same(|| {
        let values = atomics([0, 0]);
        let theirs = values.clone();
        let other = thread::spawn(move || {
            theirs[1].store(1, Relaxed);
            theirs[0].store(1, Release);
        });
        let mut old = values[0].load(Acquire);
        loop {
            let seen = values[1].load(Relaxed);
            match values[0].compare_exchange(old, 2, Relaxed, Relaxed) {
                Ok(_) => break saw(&[old, seen]),
                Err(newer) => old = newer,
            }
        }
        other.join().unwrap();
    });
}

#[inline(never)]
fn add_and_count(count: &AtomicUsize, rounds: &Cell<usize>) {
    let mut old = count.load(Relaxed);
    while let Err(newer) = count.compare_exchange(old, old + 1, Relaxed, Relaxed) {
        rounds.set(1);
        old = newer;
    }
}

#[test]
fn a_retry_that_leaves_something_is_another_round() {
    alone!();
    finds(&[0, 1], |count| {
        let rounds = Box::new(Cell::new(0));
        add_and_count(count, &rounds);
        rounds.get()
    });
    // What the last round saw is only written.
    same(|| {
        let count = atomics([0]);
        let theirs = count.clone();
        let other = thread::spawn(move || [0; 2].map(|_| theirs[0].fetch_add(1, Relaxed)));
        let (mut old, mut before) = (count[0].load(Relaxed), 5);
        while let Err(newer) = count[0].compare_exchange(old, before, Relaxed, Relaxed) {
            (before, old) = (old, newer);
        }
        other.join().unwrap();
        saw(&[count[0].load(Relaxed)]);
    });
}

#[test]
fn a_retry_that_only_a_second_look_at_the_value_tells_from_the_first_is_another_round() {
    alone!();
    // The value decides whether the thread says anything.
    finds(&[0, 1, 2, 3, 7], |count| {
        let mut old = count.load(Relaxed);
        let first = old;
        loop {
            match count.compare_exchange(old, old + 1, Relaxed, Relaxed) {
                Ok(_) => return if old == first { 7 } else { first },
                Err(newer) => old = newer,
            }
        }
    });
    // It fails where the newer value is looked at for the first time, and not where it is looked at again.
    finds(&[0, 1, 2, 3, 4], |count| {
        let tried = |value| catch_unwind(AssertUnwindSafe(|| assert!(value != 2))).is_ok();
        let mut old = count.load(Relaxed);
        if !tried(old) {
            return 2;
        }
        loop {
            match count.compare_exchange(old, old + 4, Relaxed, Relaxed) {
                Ok(_) => return old,
                Err(newer) => old = newer,
            }
        }
    });
}
