//! Loops that wait for a value: they block no execution, and nothing that they could read is lost.

use std::sync::atomic::AtomicUsize as Count;
use std::sync::atomic::Ordering::Relaxed as Plain;

use mc::hint::spin_loop;
use mc::sync::atomic::AtomicUsize;
use mc::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use mc::thread;
use mc_runtime::options::Options;
use mc_runtime::outcome::{FailureKind, Verdict};

use super::{check, check_with, fails, results};

#[track_caller]
fn proved_without_blocked(executions: u64, body: fn()) {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    assert_eq!((outcome.executions, outcome.blocked), (executions, 0));
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

#[test]
fn a_ticket_lock_has_one_execution_for_each_order() {
    proved_without_blocked(2, || ticket_lock(2));
    proved_without_blocked(6, || ticket_lock(3));
    proved_without_blocked(120, || ticket_lock(5));
}

#[test]
fn whoever_waits_for_a_flag_sees_it_in_the_end() {
    proved_without_blocked(1, || {
        let flag = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| while flag.load(Acquire) == 0 {});
            }
            flag.store(1, Release);
        });
    });
}

#[test]
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
        let outcome = mc_runtime::check::check(&Options::default(), ping_pong);
        assert_eq!((outcome.verdict, outcome.executions, outcome.blocked), (Verdict::Proved, 1, 0));
    }
}

#[test]
fn each_of_several_values_ends_the_wait() {
    static SEEN: [Count; 3] = [const { Count::new(0) }; 3];
    let seen = results(&SEEN, || {
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
    assert_eq!(seen, [false, true, true]);
}

#[test]
fn a_value_that_does_not_last_may_be_missed() {
    fails(FailureKind::Livelock, || {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| while x.load(Relaxed) != 1 {});
            x.store(1, Relaxed);
            x.store(2, Relaxed);
        });
    });
}

#[test]
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

#[test]
fn a_compare_exchange_that_waits_may_read_what_it_was_too_late_for() {
    static SEEN: [Count; 10] = [const { Count::new(0) }; 10];
    let seen = results(&SEEN, || {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| [5, 7, 9].map(|value| x.store(value, Relaxed)));
            SEEN[exchange_9_or_see_5(&x)].fetch_add(1, Plain);
        });
    });
    assert!(seen[5] && seen[9], "{seen:?}");
}

#[test]
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

#[test]
fn what_is_read_before_the_wait_is_not_lost() {
    static SEEN: [Count; 4] = [const { Count::new(0) }; 4];
    let seen = results(&SEEN, || {
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
    assert_eq!(seen, [true, true, false, true]);
}
