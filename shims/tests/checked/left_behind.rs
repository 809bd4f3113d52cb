//! An address that was left behind, and is found by who compares it with that of something new: as in `reuse` and `handed_on`, with the roles exchanged.

use std::ptr::with_exposed_provenance_mut as at;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::sync::Arc;
use mc::sync::atomic::AtomicUsize;
use mc::thread;
use mc_runtime::outcome::Verdict;

use super::reuse::{boxed, free};
use super::{check, meets_what_is_there_again, proved};

/// Somebody's token: the address of something of its own.
fn token() -> usize {
    boxed(1_u64).expose_provenance()
}

fn give_up(token: usize) {
    free::<u64>(at(token));
}

/// Leaves its token behind, which is there no more.
fn leaves(owner: &AtomicUsize) {
    let mine = token();
    owner.store(mine, Release);
    give_up(mine);
}

/// Is what was left behind taken for its own token?
fn finds_its_own(owner: &AtomicUsize) -> bool {
    let mine = token();
    let found = owner.compare_exchange(mine, mine, AcqRel, Relaxed).is_ok();
    give_up(mine);
    found
}

#[test]
fn what_a_thread_has_left_behind_is_taken_for_its_own() {
    meets_what_is_there_again("it is not mine", || {
        let owner = Arc::new(AtomicUsize::new(0));
        let theirs = owner.clone();
        let looks = thread::spawn(move || theirs.load(Acquire));
        leaves(&owner);
        assert!(!finds_its_own(&owner), "it is not mine");
        looks.join().unwrap();
    });
}

#[test]
fn so_is_what_another_one_has_left_that_is_known_to_be_gone() {
    meets_what_is_there_again("it is not mine", || {
        let owner = Arc::new(AtomicUsize::new(0));
        let theirs = owner.clone();
        thread::spawn(move || leaves(&theirs)).join().unwrap();
        assert!(!finds_its_own(&owner), "it is not mine");
    });
}

#[test]
fn what_is_not_known_to_be_gone_is_no_proof() {
    let outcome = check(|| {
        let owner = Arc::new(AtomicUsize::new(0));
        let theirs = owner.clone();
        let other = thread::spawn(move || leaves(&theirs));
        assert!(!finds_its_own(&owner), "it is not mine");
        other.join().unwrap();
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Bounded, &[][..]));
    assert_eq!(outcome.bounds[0].limit, "address_reuse");
}

#[test]
fn both_may_be_gone() {
    meets_what_is_there_again("it is the first one", || {
        let left = Arc::new(AtomicUsize::new(0));
        let theirs = left.clone();
        let other = thread::spawn(move || {
            leaves(&theirs);
            let second = token();
            assert_ne!(theirs.load(Relaxed), 0);
            give_up(second);
            second
        });
        let second = other.join().unwrap();
        assert!(left.compare_exchange(second, 0, Relaxed, Relaxed).is_err(), "it is the first one");
    });
}

#[test]
fn an_owner_of_what_was_left_behind_may_have_been_the_last_one() {
    fn address(value: &Arc<u64>) -> usize {
        std::ptr::from_ref(&**value).addr()
    }
    meets_what_is_there_again("it is the old one", || {
        let old = Arc::new(1);
        let left = Arc::new(AtomicUsize::new(address(&old)));
        let (theirs, their_left) = (old.clone(), left.clone());
        let knows = thread::spawn(move || {
            thread::spawn(move || drop(theirs)).join().unwrap();
            let new = Arc::new(2);
            let found = their_left.compare_exchange(address(&new), 0, Acquire, Relaxed);
            assert!(found.is_err(), "it is the old one");
        });
        let goes_first = thread::spawn(move || drop(old));
        knows.join().unwrap();
        goes_first.join().unwrap();
    });
}

#[test]
fn an_end_is_an_address_too() {
    const LEN: usize = size_of::<u64>();
    meets_what_is_there_again("it is the first one", || {
        let first = token();
        let slot = Arc::new(AtomicUsize::new(first));
        let theirs = slot.clone();
        let replaces = thread::spawn(move || {
            give_up(theirs.swap(0, AcqRel));
            let new = token();
            theirs.store(new + LEN, Release);
            new
        });
        let found = slot.compare_exchange(first + LEN, 0, AcqRel, Relaxed).is_ok();
        give_up(replaces.join().unwrap());
        assert!(!found, "it is the first one");
    });
}

#[test]
fn what_an_exchange_writes_it_does_not_find() {
    // Whoever comes first; the other one tries again.
    proved(2, || {
        let top = Arc::new(AtomicUsize::new(0));
        let push = |top: Arc<AtomicUsize>| {
            let mine = token();
            let mut seen = top.load(Relaxed);
            while let Err(found) = top.compare_exchange(seen, mine, Release, Relaxed) {
                seen = found;
            }
            mine
        };
        let threads = [0, 1].map(|number| {
            let top = top.clone();
            thread::Builder::new().name(format!("{number}")).spawn(move || push(top)).unwrap()
        });
        for thread in threads {
            give_up(thread.join().unwrap());
        }
    });
}

#[test]
fn what_was_overwritten_before_is_not_found() {
    proved(1, || {
        let slot = AtomicUsize::new(0);
        let other = thread::spawn(token);
        let mine = token();
        slot.store(mine, Release);
        slot.store(0, Release);
        give_up(mine);
        let theirs = other.join().unwrap();
        assert!(slot.compare_exchange(theirs, 0, Relaxed, Relaxed).is_err());
        give_up(theirs);
    });
}
