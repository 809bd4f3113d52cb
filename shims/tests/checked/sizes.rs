//! An atomic, and some of its bytes as another one: accesses of both sizes that are ordered, or that only read, are right, and show what those of one size do.

use std::hint::black_box;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::sync::Arc;
use mc::sync::atomic::{AtomicU8, AtomicUsize};
use mc::thread;
use mc_runtime::outcome::FailureKind;

use super::{fails, proved};

/// Its first byte.
fn part(whole: &AtomicUsize) -> &AtomicU8 {
    // SAFETY: it lives as long; that it is accessed by itself, too, is what is tested.
    unsafe { AtomicU8::from_ptr(ptr::from_ref(whole).cast_mut().cast()) }
}

/// A thread loads a part, and then stores to all of it.
fn look_and_store(whole: &Arc<AtomicUsize>) -> thread::JoinHandle<()> {
    let theirs = whole.clone();
    thread::spawn(move || {
        black_box(part(&theirs).load(Relaxed));
        theirs.store(1, Release);
    })
}

#[test]
fn a_store_after_a_look_at_a_part_may_be_seen_and_missed() {
    // Seen, or not.
    proved(2, || {
        let whole = Arc::new(AtomicUsize::new(0));
        let other = look_and_store(&whole);
        black_box(whole.load(Relaxed));
        other.join().unwrap();
    });
    fails(FailureKind::Panic, || {
        let whole = Arc::new(AtomicUsize::new(0));
        let other = look_and_store(&whole);
        assert_eq!(whole.load(Relaxed), 0);
        other.join().unwrap();
    });
}

#[test]
fn who_waits_for_a_store_after_a_look_at_a_part_sees_it() {
    proved(1, || {
        let whole = Arc::new(AtomicUsize::new(0));
        let other = look_and_store(&whole);
        while whole.load(Acquire) == 0 {}
        other.join().unwrap();
    });
}

#[test]
fn a_look_at_a_part_hides_no_store_from_others() {
    struct Shared {
        cell: UnsafeCell<usize>,
        whole: AtomicUsize,
    }
    // SAFETY: the checker says whether two threads have access at once, and only one of them runs at a time.
    unsafe impl Sync for Shared {}
    let outcome = super::check(|| {
        let shared = Arc::new(Shared { cell: UnsafeCell::new(0), whole: AtomicUsize::new(0) });
        let [writer, looker, reader] = [shared.clone(), shared.clone(), shared];
        let writer = thread::spawn(move || {
            // SAFETY: who reads it has seen the store that follows.
            writer.cell.with_mut(|at| unsafe { *at = 1 });
            writer.whole.store(7, Release);
        });
        let looker = thread::spawn(move || {
            if looker.whole.load(Acquire) == 7 {
                black_box(part(&looker.whole).load(Relaxed));
            }
        });
        let reader = thread::spawn(move || {
            if reader.whole.load(Acquire) == 7 {
                // SAFETY: as above.
                reader.cell.with(|at| assert_eq!(unsafe { *at }, 1));
            }
        });
        for thread in [writer, looker, reader] {
            thread.join().unwrap();
        }
    });
    assert_eq!(outcome.failures, []);
}

#[test]
fn a_destructor_comes_after_what_other_owners_did_with_a_part() {
    struct Whole(AtomicUsize);
    impl Drop for Whole {
        fn drop(&mut self) {
            self.0.store(1, Relaxed);
        }
    }
    let outcome = super::check(|| {
        let whole = Arc::new(Whole(AtomicUsize::new(0)));
        let theirs = whole.clone();
        let looker = thread::spawn(move || {
            black_box(part(&theirs.0).load(Relaxed));
        });
        let other = thread::spawn(move || drop(whole));
        looker.join().unwrap();
        other.join().unwrap();
    });
    assert_eq!(outcome.failures, []);
}
