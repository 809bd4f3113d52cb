//! `Arc`: its counts are events only where somebody can see them.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use mc::sync::atomic::{AtomicU8, Ordering::SeqCst};
use mc::sync::{Arc, Mutex};
use mc::thread;
use mc_runtime::outcome::{FailureKind, Verdict};

use super::{check, fails, proved, results};

#[test]
fn drops_that_nobody_sees_have_one_execution() {
    proved(1, || {
        let arc = Arc::new([1, 2, 3]);
        let threads = [0, 1, 2].map(|_| {
            let arc = arc.clone();
            thread::spawn(move || drop(arc))
        });
        drop(arc);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn drops_that_only_free_memory_have_one_execution() {
    proved(1, || {
        let arc = Arc::new(vec![Box::new(1)]);
        let theirs = arc.clone();
        let thread = thread::spawn(move || theirs.len());
        drop(arc);
        thread.join().unwrap();
    });
}

#[test]
fn a_drop_that_is_seen_is_explored_for_each_last_owner() {
    struct Notes(Arc<AtomicU8>, u8);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.0.store(self.1, SeqCst);
        }
    }
    static LAST: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let last = results(&LAST, || {
        let last = Arc::new(AtomicU8::new(9));
        let owner = Arc::new(Mutex::new(Notes(last.clone(), 0)));
        let theirs = owner.clone();
        let thread = thread::spawn(move || {
            theirs.lock().unwrap().1 = 1;
            drop(theirs);
        });
        drop(owner);
        let before_join = last.load(SeqCst);
        LAST[usize::from(before_join == 9)].fetch_add(1, Relaxed);
        thread.join().unwrap();
        assert_eq!(last.load(SeqCst), 1);
    });
    assert_eq!(last, [true, true], "dropped here or there");
}

#[test]
fn a_count_that_is_asked_for_has_all_its_values() {
    static COUNTS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    let counts = results(&COUNTS, || {
        let arc = Arc::new(());
        let theirs = arc.clone();
        let thread = thread::spawn(move || drop(theirs));
        COUNTS[Arc::strong_count(&arc)].fetch_add(1, Relaxed);
        thread.join().unwrap();
    });
    assert_eq!(counts, [false, true, true]);
}

#[test]
fn upgrades_succeed_or_come_too_late() {
    static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let seen = results(&SEEN, || {
        let arc = Arc::new(5);
        let weak = Arc::downgrade(&arc);
        let thread = thread::spawn(move || drop(arc));
        let upgraded = weak.upgrade();
        assert!(upgraded.as_deref().is_none_or(|value| *value == 5));
        SEEN[usize::from(upgraded.is_some())].fetch_add(1, Relaxed);
        thread.join().unwrap();
    });
    assert_eq!(seen, [true, true]);
}

#[test]
fn one_of_two_owners_gets_the_value_by_into_inner() {
    let outcome = check(|| {
        let arc = Arc::new(String::from("value"));
        let theirs = arc.clone();
        let thread = thread::spawn(move || Arc::into_inner(theirs).is_some());
        let here = Arc::into_inner(arc).is_some();
        assert!(thread.join().unwrap() != here);
    });
    assert_eq!(outcome.failures, []);
}

#[test]
fn try_unwrap_by_both_owners_may_lose_the_value() {
    fails(FailureKind::Panic, || {
        let arc = Arc::new(String::from("value"));
        let theirs = arc.clone();
        let thread = thread::spawn(move || Arc::try_unwrap(theirs).is_ok());
        let here = Arc::try_unwrap(arc).is_ok();
        assert!(thread.join().unwrap() || here, "nobody got it");
    });
}

/// Whoever is the last owner of the outer one drops the inner one for the others too.
#[test]
fn what_an_owner_did_happens_before_what_its_value_owned_is_freed() {
    static GONE: AtomicU8 = AtomicU8::new(0);
    let outcome = check(|| {
        let inner = Arc::new(AtomicU8::new(0));
        let outer = Arc::new(inner.clone());
        let theirs = outer.clone();
        let thread = thread::spawn(move || {
            theirs.store(1, Relaxed);
            drop(theirs);
            GONE.store(1, Relaxed);
        });
        while GONE.load(Relaxed) == 0 {}
        drop(outer);
        drop(inner);
        thread.join().unwrap();
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}
