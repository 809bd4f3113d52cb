//! A compare-exchange that fails may see an older value than the newest one. Where nobody can tell that, it is not tried.

use std::sync::atomic::Ordering::{self, Acquire, Relaxed, SeqCst};

use mc::sync::atomic::AtomicUsize;
use mc::thread;
use mc_runtime::options::Options;
use mc_runtime::outcome::Verdict;

use super::{common, same, saw};

/// Runs this on a location that another thread counts up.
fn counting<T: Send + 'static>(find: fn(&AtomicUsize) -> T) -> T {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        // It comes first, so that all values are there when the other one loads.
        scope.spawn(|| (1..5).for_each(|value| count.store(value, SeqCst)));
        scope.spawn(|| find(&count)).join().unwrap()
    })
}

/// How many executions, complete and blocked ones, a loop has.
#[track_caller]
fn counted(count_up: fn(&AtomicUsize)) -> [u64; 2] {
    let outcome = common::explore(&Options::default(), move || counting(count_up));
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
