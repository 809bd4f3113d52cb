//! Loops that give up after a time, on the virtual clock.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::sync::atomic::AtomicBool;
use mc::sync::{Arc, Condvar, Mutex, RwLock};
use mc::thread;
use mc::time::{Duration, Instant};
use mc_runtime::options::Options;
use mc_runtime::outcome::FailureKind::{Deadlock, Leak, Livelock, Panic};
use mc_runtime::outcome::Verdict;

use super::{check_with, fails, holds};

#[test]
fn a_loop_that_sleeps_until_a_deadline_reaches_it() {
    fails(Panic, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Release));
        let deadline = Instant::now() + Duration::from_secs(1);
        while !flag.load(Acquire) {
            assert!(Instant::now() < deadline, "too late");
            thread::sleep(Duration::from_millis(300));
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_reader_that_waits_for_itself_to_leave_is_a_deadlock_although_others_look_at_the_time() {
    fails(Deadlock, || {
        let shared = Arc::new((RwLock::new(()), Mutex::new(false), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            let mut done = theirs.1.lock().unwrap();
            while !*done {
                done = theirs.2.wait_timeout(done, Duration::from_secs(1)).unwrap().0;
            }
        });
        let _reader = shared.0.read().unwrap();
        drop(shared.0.write().unwrap());
        *shared.1.lock().unwrap() = true;
        thread.join().unwrap();
    });
}

#[test]
fn a_wait_that_has_a_time_ends_although_nobody_ends_it() {
    holds(|| {
        let (lock, condvar) = (Mutex::new(()), Condvar::new());
        let _late = condvar.wait_timeout(lock.lock().unwrap(), Duration::from_secs(1)).unwrap();
        thread::park_timeout(Duration::from_secs(1));
    });
    // Its end does not help the others.
    fails(Deadlock, || {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        thread::spawn(move || {
            let guard = theirs.lock().unwrap();
            thread::park_timeout(Duration::from_secs(1));
            std::mem::forget(guard);
        });
        drop(lock.lock().unwrap());
    });
}

#[test]
fn a_loop_that_counts_its_sleeps_ends() {
    holds(|| {
        let flag = AtomicBool::new(false);
        let start = Instant::now();
        while !flag.load(Acquire) && start.elapsed() < Duration::from_secs(1) {
            thread::sleep(Duration::from_millis(300));
        }
        assert!(start.elapsed() >= Duration::from_secs(1));
    });
}

#[test]
fn a_loop_that_sleeps_and_looks_at_no_clock_waits() {
    fails(Livelock, || {
        let flag = AtomicBool::new(false);
        while !flag.load(Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
    });
    holds(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_loop_that_only_looks_at_the_clock_is_not_proved_to_end() {
    let options = Options { max_events: 60, ..Options::default() };
    let outcome = check_with(&options, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Release));
        let deadline = Instant::now() + Duration::from_secs(1);
        while !flag.load(Acquire) {
            assert!(Instant::now() < deadline, "real time passes");
        }
        thread.join().unwrap();
    });
    assert_ne!(outcome.verdict, Verdict::Proved);
}

/// Whatever the thread that slept has done since is seen after the sleep.
#[test]
fn what_is_seen_of_a_thread_that_slept_is_seen_after_it() {
    const SECOND: Duration = Duration::from_secs(1);
    holds(|| {
        let start = Instant::now();
        let parked = thread::current();
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            thread::sleep(SECOND);
            theirs.store(true, Relaxed);
            parked.unpark();
        });
        if flag.load(Relaxed) {
            assert!(start.elapsed() >= SECOND);
        }
        thread::park();
        if flag.load(Relaxed) {
            thread::sleep(SECOND);
            assert!(start.elapsed() >= 2 * SECOND);
        }
        thread.join().unwrap();
    });
}

/// In the execution in which its time is over.
#[test]
fn a_leak_beside_whoever_waits_with_a_time_out_is_found() {
    fails(Leak, || {
        std::mem::forget(std::hint::black_box(Box::new(1_u8)));
        thread::park_timeout(Duration::from_secs(1));
    });
}
