//! Of two reads in a row that get the same value from two writes, the first may as well have read what the second does: unless that would have led elsewhere.

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::panic::catch_unwind;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};

use mc::__private::run_body;
use mc::sync::Arc;
use mc::sync::atomic::AtomicUsize;
use mc::thread;
use mc_runtime::models::{Bounds, replay};
use mc_runtime::options::{Options, Reduction, Reductions};
use mc_runtime::outcome::Verdict;

use super::{atomics, common};

/// Complete executions with the reduction and without; there are no more of all.
#[track_caller]
fn counted(body: fn()) -> [u64; 2] {
    let [with, without] = [Reductions::default(), Reductions::default().without(Reduction::Value)].map(|reductions| {
        let outcome = common::explore(&Options { reductions, ..Options::default() }, body);
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
        [outcome.executions, outcome.executions + outcome.blocked]
    });
    assert!(with[1] <= without[1], "{with:?} {without:?}");
    [with[0], without[0]]
}

/// Three threads that do something to the first location, and then add their numbers to the second.
fn three(value: usize, enter: fn(&AtomicUsize), leave: fn(&AtomicUsize)) {
    let shared = atomics([value, 0]);
    let threads = [1, 2, 4].map(|number| {
        let shared = shared.clone();
        thread::spawn(move || {
            enter(&shared[0]);
            shared[1].fetch_add(number, Relaxed);
            leave(&shared[0]);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    black_box(shared[1].load(Relaxed));
}

#[test]
fn a_lock_is_taken_where_it_was_seen_to_be_free() {
    alone!();
    let counts = counted(|| {
        three(
            0,
            |lock| loop {
                while lock.load(Relaxed) != 0 {}
                if lock.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                    return;
                }
            },
            |lock| lock.store(0, Release),
        );
    });
    assert_eq!(counts, [6, 36]);
}

/// Takes one of the permits.
fn acquire(permits: &AtomicUsize, load: Ordering, success: Ordering, failure: Ordering) {
    let mut seen = permits.load(load);
    loop {
        if seen == 0 {
            seen = permits.load(load);
            continue;
        }
        match permits.compare_exchange(seen, seen - 1, success, failure) {
            Ok(_) => return,
            Err(newer) => seen = newer,
        }
    }
}

fn release(permits: &AtomicUsize) {
    permits.fetch_add(1, Release);
}

#[test]
fn permits_are_taken_where_they_were_seen() {
    alone!();
    assert_eq!(counted(|| three(2, |permits| acquire(permits, Relaxed, Acquire, Relaxed), release)), [54, 156]);
    assert_eq!(counted(|| three(2, |permits| acquire(permits, Acquire, Acquire, Acquire), release)), [54, 156]);
    assert_eq!(counted(|| three(2, |permits| acquire(permits, SeqCst, SeqCst, SeqCst), release)), [54, 156]);
}

#[test]
fn what_was_read_by_an_acquire_is_not_what_a_relaxed_exchange_reads() {
    alone!();
    let [with, without] = counted(|| three(2, |permits| acquire(permits, Acquire, Relaxed, Acquire), release));
    assert_eq!(with, without);
}

/// It fails with the reduction and without.
#[track_caller]
fn both_fail(body: fn()) {
    for reductions in [Reductions::default(), Reductions::default().without(Reduction::Value)] {
        let outcome = common::explore(&Options { reductions, ..Options::default() }, body);
        assert_eq!(outcome.verdict, Verdict::Failed, "{outcome:?}");
    }
}

/// What stands below the top of a stack, in memory that the checker does not see.
struct Below(UnsafeCell<usize>);
// SAFETY: only one thread runs at a time.
unsafe impl Sync for Below {}

/// Another thread takes both numbers from a stack of 1 and 2, and puts 1 back.
#[test]
fn a_top_that_is_the_same_again_does_not_hide_what_is_below_it() {
    alone!();
    both_fail(|| {
        let stack = atomics([1, 2]);
        let theirs = stack.clone();
        let other = thread::spawn(move || {
            theirs[0].store(2, Relaxed);
            theirs[1].store(0, Relaxed);
            theirs[0].store(1, Relaxed);
        });
        let top = stack[0].load(Relaxed);
        let below = stack[1].load(Relaxed);
        let _: Result<usize, usize> = stack[0].compare_exchange(top, below, Acquire, Acquire);
        other.join().unwrap();
        assert_ne!(stack[0].load(Relaxed), 2, "it was taken");
    });
    both_fail(|| {
        let stack = Arc::new((AtomicUsize::new(1), Below(UnsafeCell::new(2))));
        let theirs = stack.clone();
        let other = thread::spawn(move || {
            theirs.0.store(2, Relaxed);
            // SAFETY: only one thread runs at a time.
            unsafe { *theirs.1.0.get() = 0 };
            theirs.0.store(1, Relaxed);
        });
        let top = stack.0.load(Relaxed);
        // SAFETY: as above.
        let below = unsafe { *stack.1.0.get() };
        let _: Result<usize, usize> = stack.0.compare_exchange(top, below, Acquire, Acquire);
        other.join().unwrap();
        assert_ne!(stack.0.load(Relaxed), 2, "it was taken");
    });
}

#[test]
fn a_failure_beside_a_thread_that_is_not_followed_is_replayed() {
    alone!();
    fn body() {
        let shared = atomics([0, 0]);
        let [writer, reader] = [shared.clone(), shared.clone()];
        let writer = thread::spawn(move || {
            writer[0].store(1, Relaxed);
            writer[0].store(0, Relaxed);
        });
        let reader = thread::spawn(move || {
            let seen = reader[0].load(Relaxed);
            if reader[0].compare_exchange(seen, 2, Relaxed, Relaxed).is_ok() {
                reader[1].store(1, Relaxed);
            }
        });
        let last = thread::spawn(move || assert_ne!(shared[0].load(Relaxed), 2));
        for thread in [writer, reader, last] {
            thread.join().unwrap();
        }
    }
    let outcome = common::explore(&Options { max_failures: u64::MAX, ..Options::default() }, body);
    assert!(outcome.failures.len() > 1, "{outcome:?}");
    let mut stopped = 0;
    for failure in outcome.failures {
        let replayed = catch_unwind(move || replay(Bounds::default(), &failure.schedule, || run_body(body)));
        let text = *replayed.unwrap_err().downcast::<String>().expect("a counterexample is a text");
        assert!(text.contains("assertion `left != right` failed"), "{text}");
        stopped += usize::from(text.contains("not followed: another execution shows the same"));
    }
    assert!(stopped > 0);
}
