//! Whose memory it is that an `Arc` frees: any owner may have been the last, and then its thread has the address to use again.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::sync::Arc;
use mc::sync::atomic::{AtomicUsize, fence};
use mc::thread;
use mc_runtime::options::{Reduction, Reductions};

use super::chance::Chance;
use super::{explored, meets_what_is_there_again, programs, proved};

/// Two owners go, and the first of them puts something new of the same size in a slot. Another thread looks there for the old one.
fn looks_for_what_is_gone<T: Send + Sync + 'static>(value: fn() -> T, address: fn(&T) -> usize) {
    let old = Arc::new(value());
    let known = address(&old);
    let (slot, theirs) = (Arc::new(AtomicUsize::new(0)), old.clone());
    let their_slot = slot.clone();
    let first = thread::spawn(move || {
        drop(theirs);
        let new = Arc::new(value());
        their_slot.store(address(&new), Release);
        new
    });
    let second = thread::spawn(move || drop(old));
    let found = slot.compare_exchange(known, 0, Acquire, Relaxed);
    assert!(found.is_err(), "it is the old one");
    drop(first.join().unwrap());
    second.join().unwrap();
}

#[test]
fn each_owner_may_have_freed_what_is_there_again() {
    fn here<T>(value: &T) -> usize {
        std::ptr::from_ref(value).addr()
    }
    let shared = || looks_for_what_is_gone(|| 7_u64, here);
    // What the value owns is freed with it.
    let owned = || looks_for_what_is_gone(|| Box::new([7_u64; 9]), |value| here(&**value));
    for body in [shared as fn(), owned] {
        meets_what_is_there_again("it is the old one", body);
    }
}

type Old = Arc<[u64; 3]>;

/// One of two owners does this, with a slot where the other one looks for what they own, before it goes.
fn looks_beside_an_owner(act: fn(Old, &AtomicUsize) -> Box<[u64]>) {
    let old = Old::new([0; 3]);
    let (slot, theirs) = (Arc::new(AtomicUsize::new(0)), old.clone());
    let their_slot = slot.clone();
    let first = thread::spawn(move || act(theirs, &their_slot));
    let _ = slot.compare_exchange(Arc::as_ptr(&old).addr(), 0, Acquire, Relaxed);
    drop(old);
    let _ = first.join().unwrap();
}

#[test]
fn what_cannot_be_there_again_does_not_have_owners_ordered() {
    // One that has not gone yet, or something of another size: the compare-exchange sees the new address or not.
    proved(2, || {
        looks_beside_an_owner(|owner, slot| {
            let new = Box::new([0_u64; 5]);
            slot.store(new.as_ptr().addr(), Release);
            drop(owner);
            new
        });
    });
    proved(2, || {
        looks_beside_an_owner(|owner, slot| {
            drop(owner);
            let new = Box::new([0_u64; 9]);
            slot.store(new.as_ptr().addr(), Release);
            new
        });
    });
}

/// How many operations threads have together, at most.
const OPS: usize = 8;
const PROGRAMS: u64 = 250;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Gives up the first object, of which every thread is an owner.
    Drop,
    /// Puts a new one in the slot. What is there goes.
    Put,
    /// Puts the first one in the slot, if it is still owned. What is there goes.
    Share,
    /// Empties the slot if it holds the address that the first one had.
    Expect,
}

/// A shared pointer whose word is that of its object.
trait Owner: Clone + Send + Sync + 'static {
    fn new() -> Self;
    fn into_word(self) -> usize;
    /// # Safety
    /// The word is of `into_word`, whose owner this is then.
    unsafe fn from_word(word: usize) -> Self;
}

impl Owner for Arc<u64> {
    fn new() -> Self {
        Arc::new(0)
    }

    fn into_word(self) -> usize {
        Arc::into_raw(self).expose_provenance()
    }

    unsafe fn from_word(word: usize) -> Self {
        // SAFETY: promised by the caller.
        unsafe { Arc::from_raw(std::ptr::with_exposed_provenance(word)) }
    }
}

/// One that is written out: each count is an event.
struct Counted(*const AtomicUsize);

// SAFETY: it only holds an atomic.
unsafe impl Send for Counted {}
// SAFETY: as above.
unsafe impl Sync for Counted {}

impl Clone for Counted {
    fn clone(&self) -> Self {
        // SAFETY: this owner keeps it.
        unsafe { &*self.0 }.fetch_add(1, Relaxed);
        Self(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // SAFETY: this owner has kept it.
        if unsafe { &*self.0 }.fetch_sub(1, Release) == 1 {
            fence(Acquire);
            // SAFETY: from a box, and that was the last owner.
            drop(unsafe { Box::from_raw(self.0.cast_mut()) });
        }
    }
}

impl Owner for Counted {
    fn new() -> Self {
        Self(Box::into_raw(Box::new(AtomicUsize::new(1))))
    }

    fn into_word(self) -> usize {
        std::mem::ManuallyDrop::new(self).0.expose_provenance()
    }

    unsafe fn from_word(word: usize) -> Self {
        Self(std::ptr::with_exposed_provenance(word))
    }
}

/// What comes from the slot goes.
fn end<T: Owner>(word: usize) {
    if word != 0 {
        // SAFETY: the slot owns what it holds, and whoever takes it does then.
        drop(unsafe { T::from_word(word) });
    }
}

/// Which of its exchanges have done something, a bit each.
fn run<T: Owner>(slot: &AtomicUsize, first: T, known: usize, program: &[Op]) -> usize {
    let (mut owned, mut done) = (Some(first), 0);
    for (number, op) in program.iter().enumerate() {
        match *op {
            Op::Drop => drop(owned.take()),
            Op::Put => end::<T>(slot.swap(T::new().into_word(), AcqRel)),
            Op::Share => {
                if let Some(owner) = owned.take() {
                    end::<T>(slot.swap(owner.into_word(), AcqRel));
                }
            }
            Op::Expect => {
                if let Ok(word) = slot.compare_exchange(known, 0, AcqRel, Relaxed) {
                    end::<T>(word);
                    done |= 1 << number;
                }
            }
        }
    }
    done
}

/// Runs a program once; its outcome.
fn outcome<T: Owner>(program: &'static Vec<Vec<Op>>) -> usize {
    let (slot, first) = (Arc::new(AtomicUsize::new(0)), T::new());
    let known = first.clone().into_word();
    end::<T>(known);
    let begin = |ops: &'static Vec<Op>| {
        let (slot, first) = (slot.clone(), first.clone());
        thread::spawn(move || run(&slot, first, known, ops))
    };
    let threads: Vec<_> = program.iter().map(begin).collect();
    drop(first);
    let ends = threads.into_iter().zip(program);
    let outcome = ends.fold(0, |seen, (thread, ops)| seen << ops.len() | thread.join().unwrap());
    end::<T>(slot.swap(0, AcqRel));
    outcome
}

fn program(chance: &mut Chance) -> Vec<Vec<Op>> {
    let threads = 2 + chance.below(2);
    let op = |chance: &mut Chance| [Op::Drop, Op::Drop, Op::Put, Op::Put, Op::Share, Op::Expect][chance.below(6)];
    (0..threads).map(|_| (0..OPS / threads).map(|_| op(chance)).collect()).collect()
}

#[test]
fn the_outcomes_are_those_of_owners_that_count_in_events() {
    let mut more = 0;
    for seed in 0..programs(PROGRAMS) {
        let program: &'static _ = Box::leak(Box::new(program(&mut Chance(seed))));
        let expected = explored(Reductions::default(), program, outcome::<Counted>);
        assert_eq!(explored(Reductions::default(), program, outcome::<Arc<u64>>), expected, "{seed}: {program:?}");
        let none = Reductions::default().without(Reduction::All);
        assert_eq!(explored(none, program, outcome::<Arc<u64>>), expected, "{seed}: {program:?}");
        more += u64::from(expected.1.iter().map(|word| word.count_ones()).sum::<u32>() > 1);
    }
    assert!(more > programs(PROGRAMS) / 4, "{more}");
}
