//! A compare-exchange that fails may see an older value than the newest one. Where nobody can tell that, it is not tried.

use std::cell::Cell;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, SeqCst};

use mc::sync::atomic::AtomicUsize;
use mc::thread;
use mc_runtime::options::Options;
use mc_runtime::outcome::Verdict;

use super::{NIL, Stack, common, same, saw};

/// Runs this on a location that another thread counts up.
fn counting<T: Send + 'static>(find: fn(&AtomicUsize) -> T) -> T {
    changing([1, 2, 3, 4], find)
}

/// ... or to which it writes these.
fn changing<T: Send + 'static>(values: [usize; 4], find: fn(&AtomicUsize) -> T) -> T {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        // It comes first, so that all values are there when the other one loads.
        scope.spawn(|| values.into_iter().for_each(|value| count.store(value, SeqCst)));
        scope.spawn(|| find(&count)).join().unwrap()
    })
}

/// How many executions, complete and blocked ones, a loop has.
#[track_caller]
fn counted(count_up: fn(&AtomicUsize)) -> [u64; 2] {
    counted_with([1, 2, 3, 4], count_up)
}

#[track_caller]
fn counted_with(values: [usize; 4], count_up: fn(&AtomicUsize)) -> [u64; 2] {
    let outcome = common::explore(&Options::default(), move || changing(values, count_up));
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    [outcome.executions, outcome.blocked]
}

fn count_up<const FAILURE: usize>(count: &AtomicUsize) {
    const ORDERS: [Ordering; 2] = [Relaxed, Acquire];
    loop {
        let old = count.load(Relaxed);
        if count.compare_exchange(old, old + 8, Relaxed, const { ORDERS[FAILURE] }).is_ok() {
            return;
        }
    }
}

#[test]
fn older_values_are_not_tried_that_nobody_looks_at_and_nobody_acquires() {
    alone!();
    let [executions, blocked] = counted(count_up::<0>);
    let [as_many, acquired] = counted(count_up::<1>);
    assert_eq!(executions, as_many);
    assert!(blocked < acquired, "{blocked} {acquired}");
}

#[test]
fn an_older_value_that_somebody_looks_at_is_seen() {
    alone!();
    same(|| {
        let found = counting(|count| {
            loop {
                let old = count.load(Relaxed);
                match count.compare_exchange(old, old + 8, Relaxed, Relaxed) {
                    Ok(_) => return old,
                    Err(2) if old == 0 => return 7,
                    Err(_) => {}
                }
            }
        });
        saw(&[found]);
    });
}

/// The first value comes back, so that an exchange that wants it may succeed at the newest write, and fail at three older ones.
const BACK: [usize; 4] = [1, 2, 3, 0];

#[test]
fn an_exchange_that_would_succeed_does_not_fail_where_its_round_would_begin_again() {
    alone!();
    // A push puts back the top that was there before a pop, so that an exchange may succeed after others.
    let outcome = common::explore(&Options::default(), || {
        let stack = Stack::new();
        let threads = [0, 1].map(|node| {
            let stack = stack.clone();
            thread::spawn(move || {
                stack.push(node);
                stack.pop()
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        while stack.pop() != NIL {}
    });
    assert_eq!(outcome.verdict, Verdict::Proved);
    assert_eq!([outcome.executions, outcome.blocked], [22, 10]);
}

#[test]
fn an_exchange_whose_round_goes_on_from_what_it_saw_does_not_see_an_older_value() {
    alone!();
    let seen = counted_with(BACK, |count| {
        let mut old = count.load(Relaxed);
        while let Err(newer) = count.compare_exchange(old, old + 8, Relaxed, Relaxed) {
            old = newer;
        }
    });
    // Blocked: where the load has seen 1, 2 or 3, which has been overwritten; and where it saw another 0 than the exchange.
    assert_eq!(seen, [5, 4]);
}

/// Adds 8, and tells of each failure what it saw; what it replaced.
fn add(count: &AtomicUsize, mut failed: impl FnMut(usize)) -> usize {
    loop {
        let old = count.load(Relaxed);
        match count.compare_exchange(old, old + 8, Relaxed, Relaxed) {
            Ok(_) => return old,
            Err(seen) => failed(seen),
        }
    }
}

#[test]
fn what_a_failed_exchange_leaves_behind_is_seen() {
    alone!();
    same(|| {
        saw(&changing(BACK, |count| {
            let mut failures = 0;
            let old = add(count, |_| failures += 1);
            [old, failures.min(3)]
        }));
    });
    same(|| {
        saw(&changing(BACK, |count| {
            let last = Box::new(Cell::new(0));
            let old = add(count, |seen| last.set(seen));
            [old, last.get()]
        }));
    });
    same(|| {
        saw(&changing(BACK, |count| {
            let mut times = Box::new([0; 4]);
            let old = add(count, |seen| times[seen] += 1);
            [old, times.iter().filter(|times| **times > 1).count()]
        }));
    });
    same(|| {
        saw(&changing(BACK, |count| {
            let mut nodes = vec![Box::new(0)];
            let old = add(count, |seen| {
                nodes.pop();
                nodes.push(Box::new(seen));
            });
            [old, *nodes[0]]
        }));
    });
}

/// It takes no memory, so only that it is dropped shows that there was one.
struct Local;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Local {
    fn drop(&mut self) {
        DROPPED.store(1, SeqCst);
    }
}

mc::thread_local! {
    static LOCAL: Local = Local;
}

#[test]
fn a_thread_local_that_a_failure_makes_is_seen() {
    alone!();
    same(|| {
        let seen = changing([1, 2, 3, 4], |count| {
            let mut old = count.load(Relaxed);
            loop {
                match count.compare_exchange(old, 9, Relaxed, Relaxed) {
                    Ok(_) => return 7,
                    Err(4) => return old,
                    Err(newer) => {
                        LOCAL.with(|_| ());
                        old = newer;
                    }
                }
            }
        });
        saw(&[seen, DROPPED.load(SeqCst)]);
    });
}

#[test]
fn how_a_weak_exchange_failed_is_not_told_by_a_failure_that_was_taken_back() {
    alone!();
    fn tick(location: &AtomicUsize) -> bool {
        location.compare_exchange_weak(0, 1, Relaxed, Relaxed).is_ok()
    }
    same(|| {
        let seen = changing([1, 2, 3, 4], |count| {
            let other = AtomicUsize::new(0);
            let first = tick(&other);
            let mut old = count.load(Relaxed);
            if old == 0 {
                match count.compare_exchange(0, 9, Relaxed, Relaxed) {
                    Ok(_) => return [6, 0],
                    Err(seen) => old = seen,
                }
            }
            if !first && old == 4 {
                return [5, usize::from(tick(&other))];
            }
            match count.compare_exchange_weak(old, old + 8, Relaxed, Relaxed) {
                Ok(old) => [old, 1],
                Err(old) => [old, 2],
            }
        });
        saw(&seen);
    });
}
