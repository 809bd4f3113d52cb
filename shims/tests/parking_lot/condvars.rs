//! `Condvar`: as `checked`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mc::parking_lot::{Condvar, Mutex};
use mc::thread;
use mc_runtime::outcome::{FailureKind, Verdict};

use super::checked::{check, fails, proved};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn who_is_said_to_have_been_notified_was() {
    // Both may stop waiting between the look for them and the notification.
    let outcome = check(|| {
        let (mutex, condvar, notified) = (Mutex::new(()), Condvar::new(), AtomicUsize::new(0));
        let mut said = false;
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    if !condvar.wait_for(&mut mutex.lock(), SECOND).timed_out() {
                        notified.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            said = condvar.notify_one();
        });
        assert_eq!(notified.load(Ordering::Relaxed), usize::from(said));
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}

#[test]
fn a_notification_comes_before_the_wait_or_wakes_it() {
    // The other thread takes the mutex first or second; a flag tells.
    proved(2, || {
        let (mutex, condvar) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                *mutex.lock() = true;
                condvar.notify_one();
            });
            condvar.wait_while(&mut mutex.lock(), |ready| !*ready);
        });
    });
}

#[test]
fn a_wait_without_a_condition_is_a_lost_wake_up() {
    fails(FailureKind::LostWakeup, || {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| condvar.notify_one());
            condvar.wait(&mut mutex.lock());
        });
    });
}

#[test]
fn a_wait_with_a_time_out_ends_by_either() {
    static WAYS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let outcome = check(|| {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            let mut guard = mutex.lock();
            scope.spawn(|| {
                drop(mutex.lock());
                condvar.notify_one();
            });
            let over = condvar.wait_for(&mut guard, SECOND).timed_out();
            WAYS[usize::from(over)].fetch_add(1, Ordering::Relaxed);
        });
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{outcome:?}");
    assert!(WAYS.iter().all(|seen| seen.load(Ordering::Relaxed) > 0));
}

#[test]
fn two_mutexes_for_one_condition_variable_are_refused_when_both_wait() {
    let message = fails(FailureKind::Panic, || {
        let (first, second, condvar) = (Mutex::new(()), Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| condvar.wait(&mut first.lock()));
            scope.spawn(|| condvar.wait(&mut second.lock()));
            condvar.notify_all();
        });
    });
    assert!(message.contains("more than one mutex"), "{message}");
}
