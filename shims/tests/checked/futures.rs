//! `block_on`, its wakers, and `AtomicWaker`.

use std::future::poll_fn;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use mc::future::{AtomicWaker, block_on};
use mc::sync::atomic::AtomicBool;
use mc::sync::{Arc, Mutex};
use mc::thread;
use mc_runtime::outcome::FailureKind;

use super::{check, fails, proved, results};

#[test]
fn a_future_that_is_ready_has_one_execution() {
    proved(1, || assert_eq!(block_on(async { 42 }), 42));
}

/// The future registers its waker and then looks; the other thread sets the flag and then wakes.
fn handed_over(polls: &'static [AtomicUsize; 4]) {
    let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            shared.0.store(true, Ordering::Release);
            shared.1.wake();
        }
    });
    let mut count = 0;
    block_on(poll_fn(|context| {
        count += 1;
        shared.1.register_by_ref(context.waker());
        if shared.0.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }));
    polls[count].fetch_add(1, Ordering::Relaxed);
    other.join().unwrap();
}

#[test]
fn a_future_is_polled_once_twice_or_with_a_spurious_poll_three_times() {
    static POLLS: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
    assert_eq!(results(&POLLS, || handed_over(&POLLS)), [false, true, true, true]);
}

#[test]
fn a_future_that_looks_before_it_registers_may_sleep_for_ever() {
    let outcome = check(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.0.store(true, Ordering::Release);
                shared.1.wake();
            }
        });
        block_on(poll_fn(|context| {
            if shared.0.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            shared.1.register_by_ref(context.waker());
            Poll::Pending
        }));
        other.join().unwrap();
    });
    assert_eq!(outcome.failures.len(), 1, "{outcome:?}");
    assert_eq!(outcome.failures[0].kind, FailureKind::Deadlock);
    assert!(outcome.failures[0].message.contains("block_on"), "{}", outcome.failures[0].message);
}

#[test]
fn a_future_that_nobody_can_wake_is_a_deadlock() {
    fails(FailureKind::Deadlock, || block_on(poll_fn(|_| Poll::<()>::Pending)));
}

#[test]
fn a_waker_outlives_its_future_and_wakes_nobody() {
    // Where the waker is given away is ordered by the join: nothing can differ.
    proved(1, || {
        let kept = Arc::new(Mutex::new(None::<Waker>));
        block_on(poll_fn(|context| {
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::Ready(())
        }));
        let waker = kept.lock().unwrap().take().unwrap();
        assert!(waker.will_wake(&waker.clone()));
        thread::spawn(move || waker.wake()).join().unwrap();
    });
}

#[test]
fn a_wake_before_the_wait_is_kept() {
    // Once woken spuriously and once by the wake.
    proved(2, || {
        let mut polled = false;
        block_on(poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
}

#[test]
fn outside_of_a_check_a_thread_sleeps_until_it_is_woken() {
    static WAKER: AtomicWaker = AtomicWaker::new();
    static READY: StdMutex<bool> = StdMutex::new(false);
    let other = std::thread::spawn(|| {
        *READY.lock().unwrap() = true;
        WAKER.wake();
    });
    block_on(poll_fn(|context| {
        WAKER.register_by_ref(context.waker());
        if *READY.lock().unwrap() { Poll::Ready(()) } else { Poll::Pending }
    }));
    other.join().unwrap();
}
