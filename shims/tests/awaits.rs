//! Loops that wait for a value: they block no execution, and nothing that they could read is lost.
//!
//! One test: rounds of a loop are told apart by all writable memory of the process, so nothing else may run in it.
#![cfg(mc)]

mod common;

use std::sync::atomic::AtomicUsize as Count;
use std::sync::atomic::Ordering::Relaxed as Plain;

use mc::cell::Cell;
use mc::hint::spin_loop;
use mc::sync::Arc;
use mc::sync::atomic::AtomicUsize;
use mc::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use mc::thread;
use mc::time::{Duration, Instant};
use mc_runtime::options::{Options, Reduction, Reductions};
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

/// Threads that are alike count one by one, as in the specification of awaits.
fn options() -> Options {
    Options { reductions: Reductions::default().without(Reduction::Symmetry), ..Options::default() }
}

fn check(body: fn()) -> Outcome {
    check_with(&options(), body)
}

fn check_with(options: &Options, body: fn()) -> Outcome {
    common::explore(options, body)
}

#[test]
fn awaits() {
    a_ticket_lock_has_one_execution_for_each_order();
    a_spin_lock_has_one_execution_for_each_order();
    whoever_waits_for_a_flag_sees_it_in_the_end();
    two_that_wait_for_each_other_take_turns();
    each_of_several_values_ends_the_wait();
    a_value_that_does_not_last_may_be_missed();
    a_value_that_lasts_is_seen_whatever_comes_before_it();
    a_compare_exchange_that_waits_may_read_what_it_was_too_late_for();
    a_compare_exchange_that_is_stuck_could_have_read_something_else();
    what_is_read_before_the_wait_is_not_lost();
    how_long_somebody_polled_matters_only_to_who_looks_at_a_clock();
    a_round_that_is_taken_back_dropped_nothing();
}

#[track_caller]
fn proved_without_blocked(executions: u64, body: fn()) {
    proved(executions, 0, body);
}

#[track_caller]
fn proved(executions: u64, blocked: u64, body: fn()) {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    assert_eq!((outcome.executions, outcome.blocked), (executions, blocked));
    // Without the reduction there are blocked ones, and no others.
    let reductions = options().reductions.without(Reduction::Await);
    let plain = check_with(&Options { reductions, ..options() }, body);
    assert_eq!((plain.verdict, plain.executions), (Verdict::Proved, executions));
    assert!(plain.blocked > 0);
}

fn ticket_lock(threads: usize) {
    let (next, serving, held) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let ticket = next.fetch_add(1, Relaxed);
                while serving.load(Acquire) != ticket {
                    spin_loop();
                }
                held.store(held.load(Relaxed) + 1, Relaxed);
                serving.store(ticket + 1, Release);
            });
        }
    });
    assert_eq!(held.load(Relaxed), threads);
}

fn a_ticket_lock_has_one_execution_for_each_order() {
    proved_without_blocked(2, || ticket_lock(2));
    proved_without_blocked(6, || ticket_lock(3));
    proved_without_blocked(120, || ticket_lock(5));
}

fn spin_lock(threads: usize) {
    let (locked, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while locked.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
                    spin_loop();
                }
                held.store(held.load(Relaxed) + 1, Relaxed);
                locked.store(0, Release);
            });
        }
    });
    assert_eq!(held.load(Relaxed), threads);
}

fn a_spin_lock_has_one_execution_for_each_order() {
    proved_without_blocked(2, || spin_lock(2));
    proved_without_blocked(6, || spin_lock(3));
    proved_without_blocked(24, || spin_lock(4));
}

fn whoever_waits_for_a_flag_sees_it_in_the_end() {
    // Who only looks reads the newest value first, and what else it could read in an execution of its own, which is cut when it comes back.
    proved(1, 3, || {
        let flag = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| while flag.load(Acquire) == 0 {});
            }
            flag.store(1, Release);
        });
    });
}

fn two_that_wait_for_each_other_take_turns() {
    for order in [Acquire, SeqCst] {
        let sc = order == SeqCst;
        let ping_pong = move || {
            let (load, store) = if sc { (SeqCst, SeqCst) } else { (Acquire, Release) };
            let turn = AtomicUsize::new(0);
            thread::scope(|scope| {
                for me in 0..2 {
                    let turn = &turn;
                    scope.spawn(move || {
                        for round in 0..3 {
                            while turn.load(load) != 2 * round + me {}
                            turn.store(2 * round + me + 1, store);
                        }
                    });
                }
            });
        };
        let outcome = common::explore(&Options::default(), ping_pong);
        assert_eq!((outcome.verdict, outcome.executions, outcome.blocked), (Verdict::Proved, 1, 0));
    }
}

fn each_of_several_values_ends_the_wait() {
    static SEEN: [Count; 3] = [const { Count::new(0) }; 3];
    let outcome = check(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.store(1, Relaxed));
            scope.spawn(|| x.store(2, Relaxed));
            let value = loop {
                match x.load(Relaxed) {
                    0 => spin_loop(),
                    value => break value,
                }
            };
            SEEN[value].fetch_add(1, Plain);
        });
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{outcome:?}");
    assert_eq!(SEEN.each_ref().map(|n| n.load(Plain) > 0), [false, true, true]);
}

fn a_value_that_does_not_last_may_be_missed() {
    let outcome = check(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| while x.load(Relaxed) != 1 {});
            x.store(1, Relaxed);
            x.store(2, Relaxed);
        });
    });
    assert!(matches!(&outcome.failures[..], [failure] if failure.kind == FailureKind::Livelock), "{outcome:?}");
}

fn a_value_that_lasts_is_seen_whatever_comes_before_it() {
    proved_without_blocked(1, || {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| while x.load(Relaxed) != 3 {});
            for value in 1..=3 {
                x.store(value, Relaxed);
            }
        });
    });
}

/// Ends with 5 or 9.
fn exchange_9_or_see_5(x: &AtomicUsize) -> usize {
    loop {
        match x.compare_exchange(9, 10, Relaxed, Relaxed) {
            Ok(_) => return 9,
            Err(5) => return 5,
            Err(_) => spin_loop(),
        }
    }
}

fn a_compare_exchange_that_waits_may_read_what_it_was_too_late_for() {
    static SEEN: [Count; 10] = [const { Count::new(0) }; 10];
    let outcome = check(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| [5, 7, 9].map(|value| x.store(value, Relaxed)));
            SEEN[exchange_9_or_see_5(&x)].fetch_add(1, Plain);
        });
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{outcome:?}");
    assert!(SEEN[5].load(Plain) > 0 && SEEN[9].load(Plain) > 0);
}

fn a_compare_exchange_that_is_stuck_could_have_read_something_else() {
    static SEEN: Count = Count::new(0);
    let body = || {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| [5, 7].map(|value| x.store(value, Relaxed)));
            if exchange_9_or_see_5(&x) == 5 {
                SEEN.fetch_add(1, Plain);
            }
        });
    };
    let outcome = check_with(&Options { max_failures: 100, ..Options::default() }, body);
    assert!(outcome.failures.iter().all(|f| f.kind == FailureKind::Livelock) && !outcome.failures.is_empty());
    assert!(SEEN.load(Plain) > 0, "{outcome:?}");
}

fn what_is_read_before_the_wait_is_not_lost() {
    static SEEN: [Count; 4] = [const { Count::new(0) }; 4];
    let outcome = check(|| {
        let (x, flag) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                x.store(1, Relaxed);
                flag.store(1, Relaxed);
            });
            let before = x.load(Relaxed);
            while flag.load(Relaxed) == 0 {}
            SEEN[2 * before + x.load(Relaxed)].fetch_add(1, Plain);
        });
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{outcome:?}");
    assert_eq!(SEEN.each_ref().map(|n| n.load(Plain) > 0), [true, true, false, true]);
}

fn polling(watch: bool) -> Outcome {
    let options = Options { max_events: 60, ..Options::default() };
    mc_runtime::check::check(&options, move || {
        let x = AtomicUsize::new(0);
        let start = watch.then(Instant::now);
        thread::scope(|scope| {
            scope.spawn(|| {
                while x.load(Relaxed) == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
                // Wrong, where the flag was not there at once.
                assert!(start.is_none_or(|start| start.elapsed() < Duration::from_millis(3)));
            });
            x.store(1, Relaxed);
        });
    })
}

fn how_long_somebody_polled_matters_only_to_who_looks_at_a_clock() {
    let outcome = polling(false);
    assert_eq!((outcome.verdict, outcome.executions, outcome.blocked), (Verdict::Proved, 1, 0));
    let outcome = polling(true);
    assert!(matches!(&outcome.failures[..], [failure] if failure.kind == FailureKind::Panic), "{outcome:?}");
}

struct Shared(Cell<usize>);

// SAFETY: not so: that is the mistake which must be found.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// What the owner who was dropped in a round knew, is not what its thread knows after the wait.
fn a_round_that_is_taken_back_dropped_nothing() {
    let outcome = check(|| {
        let (flag, done) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let shared = Arc::new(Shared(Cell::new(0)));
        let (waits, writes) = (shared.clone(), shared.clone());
        thread::scope(|scope| {
            scope.spawn(move || {
                loop {
                    let owner = waits.clone();
                    if flag.load(Acquire) == 1 {
                        std::mem::forget((owner, waits));
                        break;
                    }
                }
                done.store(1, Relaxed);
            });
            scope.spawn(move || {
                writes.0.set(1);
                flag.store(1, Release);
                std::mem::forget(writes);
            });
            while done.load(Relaxed) == 0 {}
            let shared = Arc::into_raw(shared);
            for _ in 0..4 {
                // SAFETY: one owner is here, three were forgotten. (That they were is not known here: that is the mistake.)
                unsafe { Arc::decrement_strong_count(shared) };
            }
        });
    });
    assert!(matches!(&outcome.failures[..], [failure] if failure.kind == FailureKind::UseAfterFree), "{outcome:?}");
}
