//! Threads that are woken for no reason.

use std::sync::atomic::AtomicUsize as Counter;

use mc::sync::atomic::{AtomicUsize, Ordering::*};
use mc::sync::{Arc, Condvar, Mutex};
use mc::thread;
use mc::time::Duration;
use mc_runtime::options::{MemoryModel, Options};
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

use super::{check_with, fails, proved};

/// Explores `body`, whose threads may be woken so often.
fn woken(spurious_wakeups: u32, body: fn()) -> Outcome {
    check_with(&Options { spurious_wakeups, ..Options::default() }, body)
}

fn signals(pair: &(Mutex<bool>, Condvar)) {
    *pair.0.lock().unwrap() = true;
    pair.1.notify_one();
}

fn looks_once() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let thread = thread::spawn(move || signals(&theirs));
    let mut ready = pair.0.lock().unwrap();
    if !*ready {
        ready = pair.1.wait(ready).unwrap();
    }
    assert!(*ready, "woken for no reason");
    drop(ready);
    thread.join().unwrap();
}

fn looks_again() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let thread = thread::spawn(move || signals(&theirs));
    let mut ready = pair.0.lock().unwrap();
    while !*ready {
        ready = pair.1.wait(ready).unwrap();
    }
    drop(ready);
    thread.join().unwrap();
}

#[test]
fn who_does_not_look_again_is_found() {
    fails(FailureKind::Panic, looks_once);
    assert_eq!(woken(0, looks_once).verdict, Verdict::Proved);
    for memory_model in [MemoryModel::Sc, MemoryModel::Tso] {
        let outcome = check_with(&Options { memory_model, ..Options::default() }, looks_once);
        assert_eq!(outcome.failures[0].message, "woken for no reason", "{memory_model:?}");
    }
}

#[test]
fn who_looks_again_is_proved_however_often_it_may_be_woken() {
    // It comes second, or is notified. And for each wake-up more: it comes then and finds the value, or waits on.
    for (wakeups, executions) in [(0, 2), (1, 4), (2, 6)] {
        let outcome = woken(wakeups, looks_again);
        assert_eq!((outcome.verdict, outcome.executions, &outcome.bounds[..]), (Verdict::Proved, executions, &[][..]));
    }
}

#[test]
fn two_that_wait_for_their_condition_are_proved() {
    let body = || {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let threads = [0, 1].map(|_| {
            let pair = pair.clone();
            thread::spawn(move || *pair.1.wait_while(pair.0.lock().unwrap(), |n| *n == 0).unwrap() -= 1)
        });
        for _ in 0..2 {
            *pair.0.lock().unwrap() += 1;
            pair.1.notify_one();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let counts = [1, 2].map(|wakeups| {
        let outcome = woken(wakeups, body);
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
        outcome.executions
    });
    // A wake-up after which the condition still holds is no execution of its own, so a second one adds nothing.
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn a_wait_with_a_time_out_may_end_without_one_and_without_a_notification() {
    fails(FailureKind::Panic, || {
        let (ready, condvar) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                *ready.lock().unwrap() = true;
                condvar.notify_one();
            });
            let ready = ready.lock().unwrap();
            if !*ready {
                let (ready, result) = condvar.wait_timeout(ready, Duration::from_secs(1)).unwrap();
                assert!(*ready || result.timed_out());
            }
        });
    });
}

#[test]
fn a_park_may_return_for_no_reason() {
    fails(FailureKind::Panic, || {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let main = thread::current();
        thread::spawn(move || {
            theirs.store(1, Relaxed);
            main.unpark();
        });
        thread::park();
        assert_eq!(flag.load(Relaxed), 1);
    });
    // The store is seen at once; or after a wake-up for no reason; or with the token, at first or then.
    proved(4, || {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let main = thread::current();
        let thread = thread::spawn(move || {
            theirs.store(1, Relaxed);
            main.unpark();
        });
        while flag.load(Relaxed) == 0 {
            thread::park();
        }
        thread.join().unwrap();
    });
}

#[test]
fn that_more_wake_ups_could_matter_is_said() {
    // It goes on without looking: who knows what two wake-ups would do.
    let body = || {
        let steps = AtomicUsize::new(0);
        for step in 0..2 {
            thread::current().unpark();
            thread::park();
            steps.store(step, Relaxed);
        }
    };
    let outcome = woken(1, body);
    assert_eq!(outcome.verdict, Verdict::Bounded);
    let bounds: Vec<_> = outcome.bounds.iter().map(|bound| (bound.limit.as_str(), bound.value)).collect();
    assert_eq!(bounds, [("spurious_wakeups", 1)]);
    // Two parks, so with two nothing is left. With none, nobody asked.
    assert_eq!((woken(2, body).verdict, woken(0, body).verdict), (Verdict::Proved, Verdict::Proved));
}

#[test]
fn a_lost_wake_up_is_still_found() {
    let outcome = super::check(|| {
        let (flag, lock, wake) = (AtomicUsize::new(0), Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                flag.store(1, Relaxed);
                wake.notify_one();
            });
            let mut guard = lock.lock().unwrap();
            while flag.load(Relaxed) == 0 {
                guard = wake.wait(guard).unwrap();
            }
        });
    });
    let found = [FailureKind::Deadlock, FailureKind::LostWakeup];
    assert!(outcome.failures.len() == 1 && found.contains(&outcome.failures[0].kind), "{outcome:?}");
}

/// What a waiter sees that goes on when the state is not 0: the state, and whether it was announced. The other one waits until it is waited for, and
/// changes the state twice before it announces anything.
fn gap(wait: impl FnOnce(&Mutex<u8>, &Condvar, &AtomicUsize) -> u8, seen: &[Counter; 6]) {
    let shared = Arc::new((Mutex::new(0), Condvar::new(), AtomicUsize::new(0), AtomicUsize::new(0)));
    let theirs = shared.clone();
    let thread = thread::spawn(move || {
        let (state, changed, here, announced) = &*theirs;
        while here.load(SeqCst) == 0 {
            thread::yield_now();
        }
        *state.lock().unwrap() = 1;
        *state.lock().unwrap() = 2;
        announced.store(1, SeqCst);
        changed.notify_all();
    });
    let state = wait(&shared.0, &shared.1, &shared.2);
    let announced = shared.3.load(SeqCst);
    seen[usize::from(state) * 2 + announced].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    thread.join().unwrap();
}

#[test]
fn wait_while_shows_what_a_loop_shows() {
    static SEEN: [Counter; 6] = [const { Counter::new(0) }; 6];
    let with_a_loop = || {
        gap(
            |state, changed, here| {
                let mut state = state.lock().unwrap();
                here.store(1, SeqCst);
                while *state == 0 {
                    state = changed.wait(state).unwrap();
                }
                *state
            },
            &SEEN,
        );
    };
    let with_wait_while = || {
        gap(
            |state, changed, here| {
                let state = state.lock().unwrap();
                here.store(1, SeqCst);
                *changed.wait_while(state, |state| *state == 0).unwrap()
            },
            &SEEN,
        );
    };
    let shown = |wakeups, body: fn()| {
        SEEN.iter().for_each(|seen| seen.store(0, std::sync::atomic::Ordering::Relaxed));
        let outcome = woken(wakeups, body);
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
        SEEN.each_ref().map(|seen| seen.load(std::sync::atomic::Ordering::Relaxed) > 0)
    };
    // States 0, 1, 2, each with the announcement seen or not. Only the notification ends the wait, which does not order that it is seen ...
    let announced = [false, false, false, false, true, true];
    assert_eq!([shown(0, with_a_loop), shown(0, with_wait_while)], [announced; 2]);
    // ... unless it ends for no reason, at any of the three times at which the state is not 0.
    let early = [false, false, true, true, true, true];
    assert_eq!(shown(1, with_a_loop), shown(1, with_wait_while));
    assert_eq!([shown(1, with_wait_while), shown(2, with_wait_while)], [early; 2]);
}
