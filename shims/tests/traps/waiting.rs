//! Loops that wait by what shims offer, instead of a flag.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use mc::sync::atomic::{AtomicBool, AtomicUsize};
use mc::sync::{Arc, Mutex, Once, RwLock};
use mc::thread;
use mc_runtime::options::Options;
use mc_runtime::outcome::FailureKind::{Deadlock, Livelock};
use mc_runtime::outcome::Verdict;

use super::{check_with, fails, holds};

#[test]
fn a_lock_may_be_tried_until_it_is_free() {
    holds(|| {
        let lock = Arc::new(Mutex::new(0));
        let threads = [0, 1].map(|_| {
            let lock = lock.clone();
            thread::spawn(move || {
                loop {
                    if let Ok(mut guard) = lock.try_lock() {
                        *guard += 1;
                        break;
                    }
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*lock.lock().unwrap(), 2);
    });
    fails(Livelock, || {
        let lock = RwLock::new(0);
        let _reads = lock.read();
        while lock.try_write().is_err() {}
    });
}

#[test]
fn the_end_of_a_thread_may_be_polled() {
    holds(|| {
        let thread = thread::spawn(|| 7);
        while !thread.is_finished() {}
        assert_eq!(thread.join().unwrap(), 7);
    });
}

#[test]
fn counts_of_owners_may_be_polled() {
    holds(|| {
        let number = Arc::new(7);
        let theirs = number.clone();
        let thread = thread::spawn(move || drop(theirs));
        while Arc::strong_count(&number) > 1 {}
        assert_eq!(Arc::into_inner(number), Some(7));
        thread.join().unwrap();
    });
}

#[test]
fn what_is_made_once_may_be_polled() {
    holds(|| {
        let once = Arc::new(Once::new());
        let theirs = once.clone();
        let thread = thread::spawn(move || theirs.call_once(|| ()));
        while !once.is_completed() {
            thread::yield_now();
        }
        thread.join().unwrap();
    });
}

#[test]
fn an_update_that_changes_nothing_waits_too() {
    holds(|| {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = number.clone();
        let thread = thread::spawn(move || theirs.fetch_add(1, Release));
        while number.fetch_add(0, AcqRel) == 0 {}
        while number.fetch_max(1, Acquire) == 0 {}
        thread.join().unwrap();
    });
    fails(Livelock, || {
        let number = AtomicUsize::new(0);
        while number.fetch_or(0, AcqRel) == 0 {}
    });
}

#[test]
fn a_thread_that_waits_for_one_that_spins_for_ever_is_no_deadlock_of_its_own() {
    fails(Livelock, || {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        let held = lock.lock();
        let thread = thread::spawn(move || drop(theirs.lock()));
        let never = AtomicBool::new(false);
        while !never.load(Relaxed) {}
        drop(held);
        thread.join().unwrap();
    });
    fails(Deadlock, || {
        let lock = Mutex::new(());
        let _held = lock.lock();
        drop(lock.lock());
    });
}

/// Nothing is proved of what has executions without end, and nothing is refuted.
#[track_caller]
fn is_cut(body: fn()) {
    let options = Options { max_events: 60, max_executions: Some(500), ..Options::default() };
    let outcome = check_with(&options, body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Bounded, &[][..]));
}

#[test]
fn threads_that_give_way_to_each_other_for_ever_are_cut() {
    is_cut(|| {
        let wants = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let threads = [0, 1].map(|n| {
            let wants = wants.clone();
            thread::spawn(move || {
                loop {
                    wants[n].store(true, SeqCst);
                    if !wants[1 - n].load(SeqCst) {
                        break;
                    }
                    wants[n].store(false, SeqCst);
                }
                wants[n].store(false, SeqCst);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
