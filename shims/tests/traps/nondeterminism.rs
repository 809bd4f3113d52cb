//! Bodies that decide by what no schedule says are never proved.

use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize as Plain};

use mc::sync::Arc;
use mc::sync::atomic::{AtomicU32, AtomicUsize};
use mc::thread;
use mc_runtime::options::Options;
use mc_runtime::outcome::FailureKind::Nondeterminism;

use super::{check_with, fails, proved};

/// Three threads that add: six executions.
fn six() {
    let count = Arc::new(AtomicUsize::new(0));
    let threads = [0, 1, 2].map(|_| {
        let count = count.clone();
        thread::spawn(move || count.fetch_add(1, Relaxed))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_body_that_does_something_else_in_its_first_execution() {
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        let number = AtomicUsize::new(0);
        if RUNS.fetch_add(1, Relaxed) == 1 {
            number.store(1, Relaxed);
        }
    });
}

/// What is made once would be explored by nobody.
#[test]
fn a_body_that_does_something_else_in_its_rehearsal() {
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        let number = AtomicUsize::new(0);
        if RUNS.fetch_add(1, Relaxed) == 0 {
            number.store(1, Relaxed);
        }
    });
}

/// As a table of locks by their addresses: the heap of a rehearsal is another one, and the same one each time.
#[test]
fn a_body_that_does_something_else_on_another_heap() {
    proved(1, || {
        let block = Box::new(0_u8);
        let is_in_an_arena = std::ptr::from_ref(&*block).addr() >> 44 == 2;
        let number = AtomicUsize::new(0);
        if is_in_an_arena {
            number.store(1, Relaxed);
        }
        assert_eq!(number.load(Relaxed), usize::from(is_in_an_arena));
    });
}

/// As two locks that by chance have one place in such a table: not on each heap.
#[test]
fn a_body_that_does_something_else_on_some_heaps() {
    static REHEARSALS: Plain = Plain::new(0);
    proved(1, || {
        let block = Box::new(0_u8);
        let is_in_an_arena = std::ptr::from_ref(&*block).addr() >> 44 == 2;
        let number = AtomicUsize::new(0);
        if is_in_an_arena || REHEARSALS.fetch_add(1, Relaxed) == 1 {
            number.store(1, Relaxed);
        }
    });
}

#[test]
fn a_body_that_does_something_else_in_its_fifth_execution() {
    // The rehearsal is number 0.
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        let number = AtomicUsize::new(0);
        if RUNS.fetch_add(1, Relaxed) == 5 {
            number.store(1, Relaxed);
        }
        six();
    });
}

#[test]
fn a_body_that_does_less_in_its_fifth_execution() {
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        if RUNS.fetch_add(1, Relaxed) != 5 {
            six();
        }
    });
}

#[test]
fn a_thread_that_does_more_or_less_in_its_fifth_execution() {
    for often in [false, true] {
        static OFTEN: AtomicBool = AtomicBool::new(false);
        static RUNS: Plain = Plain::new(0);
        OFTEN.store(often, Relaxed);
        RUNS.store(0, Relaxed);
        let outcome = check_with(&Options::default(), || {
            let number = Arc::new(AtomicUsize::new(0));
            let theirs = number.clone();
            let is_fifth = RUNS.fetch_add(1, Relaxed) == 5;
            let thread = thread::spawn(move || {
                theirs.store(1, Relaxed);
                if is_fifth != OFTEN.load(Relaxed) {
                    theirs.store(1, Relaxed);
                }
            });
            six();
            thread.join().unwrap();
        });
        let failure = &outcome.failures[0];
        let words = if often { "does `nothing more`" } else { "ended here before, and does `store(1, Relaxed)` now" };
        assert!(failure.kind == Nondeterminism && failure.message.contains(words), "{}", failure.message);
    }
}

#[test]
fn a_body_that_uses_another_object() {
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let _ = x.load(Relaxed) + y.load(Relaxed);
        if RUNS.fetch_add(1, Relaxed).is_multiple_of(2) { &x } else { &y }.store(1, Relaxed);
        six();
    });
}

#[test]
fn a_body_that_stores_another_value() {
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        AtomicU32::new(0).store(RUNS.fetch_add(1, Relaxed) as u32, Relaxed);
        six();
    });
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        AtomicUsize::new(0).store(RUNS.fetch_add(1, Relaxed), Relaxed);
        six();
    });
}

#[test]
fn a_body_that_adds_or_expects_another_value() {
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        black_box(AtomicU32::new(0).fetch_add(RUNS.fetch_add(1, Relaxed) as u32, Relaxed));
        six();
    });
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        let _ = AtomicUsize::new(0).compare_exchange(7, RUNS.fetch_add(1, Relaxed), Relaxed, Relaxed);
        six();
    });
}

#[test]
fn a_body_that_chooses_among_another_number_of_values() {
    fails(Nondeterminism, || {
        static RUNS: Plain = Plain::new(0);
        mc::choose(0..2 + RUNS.fetch_add(1, Relaxed));
        six();
    });
}

#[test]
fn a_body_that_reads_the_real_clock() {
    fails(Nondeterminism, || {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        let nanos = START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u32;
        AtomicU32::new(0).store(nanos, Relaxed);
        six();
    });
}
