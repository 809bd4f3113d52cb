//! Memory that a thread has freed is handed out to it again, where somebody compares its address. (To another one that knows of it: `handed_on`.)

use std::hint::black_box;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

use mc::sync::Arc;
use mc::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use mc::thread;
use mc_runtime::options::{Options, Origin, Reduction, Reductions};
use mc_runtime::outcome::FailureKind::UseAfterFree;
use mc_runtime::outcome::Verdict;

use super::chance::Chance;
use super::{check_with, common, explored, fails, meets_what_is_there_again, outcomes, programs, proved, replayed};

/// What was allocated as `T` is there no more.
pub(super) fn free<T>(at: *mut ()) {
    // SAFETY: from `boxed`, and nobody frees it a second time.
    drop(unsafe { Box::from_raw(at.cast::<T>()) });
}

pub(super) fn boxed<T>(value: T) -> *mut () {
    Box::into_raw(Box::new(value)).cast()
}

/// A thread puts another object in the place of the first one, by way of `replace`. When it has, is the first one exchanged, whose address is known?
pub(super) fn finds_the_first(replace: fn(*mut ()) -> *mut (), free_new: fn(*mut ())) -> bool {
    let first = boxed(1_u64);
    let known = first.addr();
    let (slot, replaced) = (Arc::new(AtomicPtr::new(first)), Arc::new(AtomicBool::new(false)));
    let (theirs, done) = (slot.clone(), replaced.clone());
    let thread = thread::spawn(move || {
        let new = replace(theirs.swap(null_mut(), AcqRel));
        theirs.store(new, Release);
        done.store(true, Release);
    });
    let found = replaced.load(Acquire)
        && slot.compare_exchange(std::ptr::without_provenance_mut(known), null_mut(), AcqRel, Relaxed).is_ok();
    thread.join().unwrap();
    let last = slot.load(Relaxed);
    // Where the address was exchanged, what was there is lost to the slot, but not to us.
    free_new(if found { std::ptr::with_exposed_provenance_mut(known) } else { last });
    found
}

fn by_one_of_its_size(first: *mut ()) -> *mut () {
    first.expose_provenance();
    free::<u64>(first);
    boxed(2_u32)
}

fn aba() {
    assert!(!finds_the_first(by_one_of_its_size, free::<u32>), "it is the first one");
}

#[test]
fn a_new_object_at_an_old_address_is_taken_for_the_old_one() {
    meets_what_is_there_again("it is the first one", aba);
}

#[test]
fn both_are_explored() {
    // It was replaced or not, by one at the same address or at another.
    proved(4, || {
        finds_the_first(by_one_of_its_size, free::<u32>);
    });
}

#[test]
fn what_does_not_fit_or_comes_before_is_not_at_that_address() {
    fn larger(first: *mut ()) -> *mut () {
        free::<u64>(first);
        boxed([2_u64; 3])
    }
    // It was replaced or not.
    proved(2, || assert!(!finds_the_first(larger, free::<[u64; 3]>)));
    fn before(first: *mut ()) -> *mut () {
        let new = boxed(2_u64);
        free::<u64>(first);
        new
    }
    // Nor what has come before. But that may have been after, for all that is known between two events.
    proved(2, || assert!(!finds_the_first(before, free::<u64>)));
}

#[test]
fn it_is_another_object() {
    // Its own first value, and no access of the old one's races with those of the new.
    proved(4, || {
        let again = |first: *mut ()| {
            free::<u64>(first);
            let new = Box::new(AtomicUsize::new(7));
            assert_eq!(new.swap(8, Relaxed), 7);
            Box::into_raw(new).cast()
        };
        let _ = finds_the_first(again, |last| {
            // SAFETY: made above, if it is that one; the first one has 8 bytes too, and held 1.
            let last = unsafe { Box::from_raw(last.cast::<AtomicUsize>()) };
            let value = last.load(Relaxed);
            assert!(value == 8, "{value}");
        });
    });
}

/// From now on, what the calling thread allocates with as much room is a choice.
pub(super) fn compares_addresses<const WORDS: usize>() {
    let slot = AtomicUsize::new(0);
    let old = boxed([0_u64; WORDS]);
    slot.store(old.expose_provenance(), Relaxed);
    free::<[u64; WORDS]>(old);
    let new = boxed([0_u64; WORDS]);
    slot.store(new.expose_provenance(), Relaxed);
    let _ = slot.compare_exchange(old.addr(), 0, Relaxed, Relaxed);
    free::<[u64; WORDS]>(new);
}

#[test]
fn what_is_used_after_it_was_freed_is_found_although_it_may_be_there_again() {
    fails(UseAfterFree, || {
        compares_addresses::<1>();
        let old = boxed(AtomicUsize::new(1));
        free::<AtomicUsize>(old);
        let new = boxed(AtomicUsize::new(2));
        // SAFETY: on purpose not, where it is not there again.
        assert_eq!(unsafe { &*old.cast::<AtomicUsize>() }.load(Relaxed), 2);
        free::<AtomicUsize>(new);
    });
}

#[test]
fn nobody_waits_in_an_allocation_under_a_lock_of_stds() {
    static LOG: Mutex<u64> = Mutex::new(0);
    // The first thread gets new memory or not, twice; and the second one sees its store or not, and if so, is seen itself or not.
    proved(12, || {
        let (stored, locked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (store, see, tell) = (stored.clone(), stored, locked.clone());
        let first = thread::spawn(move || {
            compares_addresses::<3>();
            store.store(true, Release);
            let mut log = LOG.lock().unwrap();
            *log += black_box(Box::new([5_u64; 3]))[0];
        });
        let second = thread::spawn(move || {
            if see.load(Acquire) {
                *LOG.lock().unwrap() += 1;
                tell.store(true, Release);
            }
        });
        black_box(locked.load(Acquire));
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn blocks_are_the_same_wherever_earlier_executions_have_left_something() {
    #[repr(align(128))]
    struct Wide(u64);
    let options = Options { origin: Origin::Foreign, ..Options::default() };
    let outcome = check_with(&options, || {
        std::mem::forget(black_box(vec![1_u8; 16]));
        let wide = black_box(Box::new(Wide(1)));
        compares_addresses::<3>();
        assert_eq!(black_box(Box::new([1_u64; 3]))[0], wide.0);
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    // New memory or not, twice.
    assert_eq!(outcome.executions, 4, "{outcome:?}");
}

#[test]
fn what_has_another_size_makes_no_choice_and_gives_its_room_back() {
    proved(2, || {
        compares_addresses::<3>();
        for number in 0..10_000_u64 {
            black_box(Box::new([number; 8]));
        }
        for _ in 0..3_000 {
            black_box(Vec::<u8>::with_capacity(1 << 20));
        }
    });
}

/// How many operations threads have together, at most.
const OPS: usize = 10;
/// How many of them one of at least two has.
const EACH: usize = OPS / 2;
const PROGRAMS: u64 = 120;

/// What each thread does, and how.
#[derive(Debug)]
struct Program {
    threads: Vec<Vec<Op>>,
    /// Of loads, and of exchanges that fail.
    order: Ordering,
}

/// What a thread does with the slot that all share.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Remembers what is in it, as one of two.
    Look(usize),
    /// Empties it.
    Take,
    /// Puts something new in it if it holds what is remembered; that is freed then.
    Replace(usize),
    /// Empties it if it holds what is remembered.
    Drop(usize),
    /// Puts something new in it, whatever it holds; that is freed then.
    Insist,
}

/// Where objects come from.
trait Memory {
    /// That of a thread.
    fn of(thread: usize) -> Self;
    fn get(&mut self) -> usize;
    fn give_back(&mut self, at: usize);
}

/// The heap.
struct Heap;

impl Memory for Heap {
    fn of(_: usize) -> Self {
        Self
    }

    fn get(&mut self) -> usize {
        boxed(0_u64).expose_provenance()
    }

    fn give_back(&mut self, at: usize) {
        free::<u64>(std::ptr::with_exposed_provenance_mut(at));
    }
}

/// Where nothing is there again.
struct Fresh(usize);

impl Memory for Fresh {
    fn of(thread: usize) -> Self {
        Self(100 * thread)
    }

    fn get(&mut self) -> usize {
        self.0 += 1;
        self.0
    }

    fn give_back(&mut self, _: usize) {}
}

/// A pool of the thread's own: whoever may look, each choice is explored.
struct Pool {
    next: usize,
    freed: [usize; OPS],
    len: usize,
}

impl Memory for Pool {
    fn of(thread: usize) -> Self {
        Self { next: 100 * thread, freed: [0; OPS], len: 0 }
    }

    fn get(&mut self) -> usize {
        let Some(which) = mc::choose(0..self.len + 1).checked_sub(1) else {
            self.next += 1;
            return self.next;
        };
        self.len -= 1;
        self.freed.swap(which, self.len);
        self.freed[self.len]
    }

    fn give_back(&mut self, at: usize) {
        self.freed[self.len] = at;
        self.len += 1;
    }
}

/// What is free of all that threads have made. It orders who frees and who gets, as an allocator does.
static FREE: [AtomicUsize; 3 * EACH] = [const { AtomicUsize::new(0) }; 3 * EACH];

/// A pool that all share.
struct Shared {
    thread: usize,
    made: usize,
}

impl Memory for Shared {
    fn of(thread: usize) -> Self {
        Self { thread, made: 0 }
    }

    fn get(&mut self) -> usize {
        let Some(which) = mc::choose(0..FREE.len() + 1).checked_sub(1) else {
            self.made += 1;
            return (self.thread - 1) * EACH + self.made;
        };
        mc::assume(FREE[which].compare_exchange(1, 0, Acquire, Relaxed).is_ok());
        which + 1
    }

    fn give_back(&mut self, at: usize) {
        FREE[at - 1].swap(1, AcqRel);
    }
}

/// Which of its exchanges have done something, a bit each.
fn run<M: Memory>(slot: &AtomicUsize, order: Ordering, thread: usize, program: &[Op]) -> usize {
    let success = if order == Acquire { AcqRel } else { order };
    let (mut memory, mut known, mut done) = (M::of(thread + 1), [0; 2], 0);
    for (number, op) in program.iter().enumerate() {
        let exchange = |memory: &mut M, expected, new| {
            let exchanged = slot.compare_exchange(expected, new, success, order).is_ok();
            let old = if exchanged { expected } else { new };
            if old != 0 {
                memory.give_back(old);
            }
            exchanged
        };
        let does = match *op {
            Op::Look(which) => {
                known[which] = slot.load(order);
                false
            }
            Op::Take => {
                let old = slot.swap(0, success);
                if old != 0 {
                    memory.give_back(old);
                }
                old != 0
            }
            Op::Replace(which) => {
                let new = memory.get();
                exchange(&mut memory, known[which], new)
            }
            Op::Drop(which) => exchange(&mut memory, known[which], 0),
            Op::Insist => {
                let new = memory.get();
                let mut old = slot.load(order);
                while let Err(found) = slot.compare_exchange(old, new, success, order) {
                    old = found;
                }
                if old != 0 {
                    memory.give_back(old);
                }
                old != 0
            }
        };
        done |= usize::from(does) << number;
    }
    done
}

/// Runs a program once; its outcome.
fn outcome<M: Memory>(program: &'static Program) -> usize {
    let slot = Arc::new(AtomicUsize::new(0));
    let begin = |(number, ops): (usize, &'static Vec<Op>)| {
        let slot = slot.clone();
        thread::spawn(move || run::<M>(&slot, program.order, number, ops))
    };
    let threads: Vec<_> = program.threads.iter().enumerate().map(begin).collect();
    let ends = threads.into_iter().zip(&program.threads);
    let outcome = ends.fold(0, |seen, (thread, ops)| seen << ops.len() | thread.join().unwrap());
    let left = slot.load(Relaxed);
    if left != 0 {
        M::of(0).give_back(left);
    }
    outcome
}

fn program(chance: &mut Chance) -> Program {
    let threads = 2 + chance.below(2);
    let op = |chance: &mut Chance| match chance.below(8) {
        0 | 1 => Op::Look(chance.below(2)),
        2 => Op::Take,
        3 | 4 => Op::Replace(chance.below(2)),
        5 | 6 => Op::Drop(chance.below(2)),
        _ => Op::Insist,
    };
    let order = [SeqCst, Acquire, Relaxed][chance.below(3)];
    Program { threads: (0..threads).map(|_| (0..OPS / threads).map(|_| op(chance)).collect()).collect(), order }
}

/// Where threads know of each other, one may get what another one has freed, too.
#[test]
fn the_outcomes_are_those_of_a_pool_that_may_give_back_what_it_has() {
    let mut more = 0;
    for seed in 0..programs(PROGRAMS) {
        let program: &'static _ = Box::leak(Box::new(program(&mut Chance(seed))));
        let expected = outcomes(Reductions::default(), program, outcome::<Pool>);
        let (verdict, seen) = explored(Reductions::default(), program, outcome::<Heap>);
        let missing = expected.iter().zip(seen).any(|(expected, seen)| expected & !seen != 0);
        assert!(!missing, "{seed}: {program:?}: {expected:?}, but not {seen:?}");
        if program.order == Relaxed {
            assert_eq!(seen, expected, "{seed}: {program:?}");
        }
        let none = Reductions::default().without(Reduction::All);
        assert_eq!(explored(none, program, outcome::<Heap>), (verdict, seen), "{seed}: {program:?}");
        more += u64::from(outcomes(Reductions::default(), program, outcome::<Fresh>) != expected);
    }
    assert!(programs(PROGRAMS) < PROGRAMS || more >= 5, "it makes a difference in {more} only");
}

#[test]
fn what_a_shared_pool_could_show_besides_is_no_proof() {
    let mut more = 0;
    for seed in 0..programs(PROGRAMS) / 8 {
        let program: &'static _ = Box::leak(Box::new(program(&mut Chance(seed))));
        let (verdict, seen) = explored(Reductions::default(), program, outcome::<Heap>);
        if outcomes(Reductions::default(), program, outcome::<Shared>) != seen {
            assert_eq!(verdict, Verdict::Bounded, "{seed}: {program:?}");
            more += 1;
        }
    }
    assert!(programs(PROGRAMS) < PROGRAMS || more >= 2, "it makes a difference in {more} only");
}

#[test]
fn every_outcome_is_replayed_that_is_a_failure() {
    for seed in 0..programs(PROGRAMS) / 4 {
        let program: &'static _ = Box::leak(Box::new(program(&mut Chance(seed))));
        let (_, seen) = explored(Reductions::default(), program, outcome::<Heap>);
        for wrong in (0..1 << OPS).filter(|wrong| seen[wrong / 64] >> (wrong % 64) & 1 != 0) {
            let body = move || assert_ne!(outcome::<Heap>(program), wrong);
            let checked = common::explore(&Options::default(), body);
            let [failure] = &checked.failures[..] else { panic!("{seed}, {wrong}: {checked:?}") };
            let text = replayed(failure.schedule.clone(), body);
            assert!(text.contains(&format!("right: {wrong}")), "{seed}, {wrong}: {text}");
        }
    }
}
