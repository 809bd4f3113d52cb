//! Memory that one thread has freed is handed out to another one that knows of it, where somebody compares its address.

use std::ptr::with_exposed_provenance_mut as at;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::sync::Arc;
use mc::sync::atomic::{AtomicBool, AtomicUsize};
use mc::thread;
use mc_runtime::options::{Reduction, Reductions};
use mc_runtime::outcome::{Bound, Verdict};

use super::chance::Chance;
use super::reuse::{boxed, compares_addresses, finds_the_first, free};
use super::{check, explored, meets_what_is_there_again, outcomes, programs, proved};

/// Frees it in a thread of its own.
fn frees_elsewhere(first: *mut ()) -> thread::JoinHandle<()> {
    let address = first.expose_provenance();
    thread::spawn(move || free::<u64>(at(address)))
}

#[test]
fn who_knows_that_another_thread_has_freed_it_gets_it() {
    fn by_one_that_is_joined(first: *mut ()) -> *mut () {
        frees_elsewhere(first).join().unwrap();
        boxed(2_u64)
    }
    let aba = || assert!(!finds_the_first(by_one_that_is_joined, free::<u64>), "it is the first one");
    meets_what_is_there_again("it is the first one", aba);
    // It was replaced or not, by one at the same address or at another.
    proved(4, || {
        finds_the_first(by_one_that_is_joined, free::<u64>);
    });
}

#[test]
fn who_does_not_know_gets_new_memory_and_nothing_is_proved() {
    fn by_one_that_runs(first: *mut ()) -> *mut () {
        let thread = frees_elsewhere(first);
        let new = boxed(2_u64);
        thread.join().unwrap();
        new
    }
    let outcome = check(|| assert!(!finds_the_first(by_one_that_runs, free::<u64>)));
    assert_eq!((outcome.verdict, outcome.executions, &outcome.failures[..]), (Verdict::Bounded, 2, &[][..]));
    let [Bound { limit, spot: Some(spot), .. }] = &outcome.bounds[..] else { panic!("{outcome:?}") };
    assert_eq!((limit.as_str(), spot.thread.as_str()), ("address_reuse", "main"));
    let site = spot.site.as_ref().map(|site| site.file.as_str());
    assert!(site.is_some_and(|file| file.ends_with("reuse.rs")), "{spot:?}");
}

/// A thread frees what is in a slot, and tells of it. Another one, if it is told, puts something new there. Is that the first one?
fn is_told() -> bool {
    let first = boxed(1_u64).expose_provenance();
    let (slot, told) = (Arc::new(AtomicUsize::new(first)), Arc::new(AtomicBool::new(false)));
    let (theirs, tells) = (slot.clone(), told.clone());
    let frees = thread::spawn(move || {
        free::<u64>(at(theirs.swap(0, Relaxed)));
        tells.store(true, Release);
    });
    let theirs = slot.clone();
    let replaces = thread::spawn(move || {
        if told.load(Acquire) {
            theirs.store(boxed(2_u64).expose_provenance(), Relaxed);
        }
    });
    frees.join().unwrap();
    replaces.join().unwrap();
    let last = slot.load(Relaxed);
    let found = slot.compare_exchange(first, 0, Relaxed, Relaxed).is_ok();
    if last != 0 {
        free::<u64>(at(last));
    }
    found
}

#[test]
fn a_message_says_that_it_is_free() {
    meets_what_is_there_again("it is the first one", || assert!(!is_told(), "it is the first one"));
    // It was not told, or it was and got new memory or that.
    proved(3, || {
        is_told();
    });
}

#[test]
fn who_looks_may_come_first_as_the_exploration_goes() {
    meets_what_is_there_again("it is the first one", || {
        let first = boxed(1_u64).expose_provenance();
        let (slot, told) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (theirs, is_told) = (slot.clone(), told.clone());
        let puts = thread::spawn(move || {
            let new = if is_told.load(Acquire) { boxed(2_u64).expose_provenance() } else { 0 };
            theirs.store(new, Relaxed);
            new
        });
        free::<u64>(at(first));
        told.store(true, Release);
        let found = slot.compare_exchange(first, 0, Relaxed, Relaxed).is_ok();
        let new = puts.join().unwrap();
        if new != 0 {
            free::<u64>(at(new));
        }
        assert!(!found, "it is the first one");
    });
}

#[test]
fn two_threads_that_do_not_know_of_each_other_get_different_memory() {
    // What is compared there is new memory or not. Then neither gets it, or one of the two; or both, which is cut.
    proved(2 * 4, || {
        compares_addresses::<3>();
        let other = thread::spawn(|| boxed([1_u64; 3]).expose_provenance());
        let mine = boxed([2_u64; 3]);
        let theirs = other.join().unwrap();
        assert_ne!(mine.addr(), theirs);
        free::<[u64; 3]>(mine);
        free::<[u64; 3]>(at(theirs));
    });
}

#[test]
fn an_owner_that_went_before_may_have_been_the_last_one() {
    fn address(value: &Arc<u64>) -> usize {
        std::ptr::from_ref(&**value).addr()
    }
    meets_what_is_there_again("it is the old one", || {
        let old = Arc::new(1);
        let known = address(&old);
        let (slot, theirs) = (Arc::new(AtomicUsize::new(0)), old.clone());
        let their_slot = slot.clone();
        let knows = thread::spawn(move || {
            thread::spawn(move || drop(theirs)).join().unwrap();
            let new = Arc::new(2);
            their_slot.store(address(&new), Release);
            new
        });
        let goes_first = thread::spawn(move || drop(old));
        let found = slot.compare_exchange(known, 0, Acquire, Relaxed);
        assert!(found.is_err(), "it is the old one");
        drop(knows.join().unwrap());
        goes_first.join().unwrap();
    });
}

#[test]
fn others_may_have_been_there_in_between() {
    // The first thread frees the first object, and hands the second one on, which the second thread frees. It knows that it may, but not of the first one.
    meets_what_is_there_again("it is the first one", || {
        let first = boxed(1_u64).expose_provenance();
        let [slot, pass] = [first, 0].map(|address| Arc::new(AtomicUsize::new(address)));
        let (theirs, hands_on) = (slot.clone(), pass.clone());
        let one = thread::spawn(move || {
            free::<u64>(at(theirs.swap(0, Relaxed)));
            hands_on.store(boxed(2_u64).expose_provenance(), Relaxed);
        });
        let (theirs, gets) = (slot.clone(), pass.clone());
        let other = thread::spawn(move || {
            let second = gets.swap(0, Relaxed);
            if second != 0 {
                free::<u64>(at(second));
                theirs.store(boxed(3_u64).expose_provenance(), Relaxed);
            }
        });
        one.join().unwrap();
        other.join().unwrap();
        let found = slot.compare_exchange(first, 0, Relaxed, Relaxed).is_ok();
        let left = if found { first } else { slot.load(Relaxed) };
        for left in [left, pass.load(Relaxed)].into_iter().filter(|left| *left != 0) {
            free::<u64>(at(left));
        }
        assert!(!found, "it is the first one");
    });
}

/// How many operations threads have together.
const OPS: usize = 8;
/// How many of them each has, of the two that run at once.
const EACH: usize = OPS / 4;
const PROGRAMS: u64 = 300;

/// Two threads run at once, and when they have ended two others. They know of each other by nothing else.
type Program = [[[Op; EACH]; 2]; 2];

/// What a thread does with the slot that all share.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Remembers what is in it.
    Look,
    /// Empties it. What was there is freed then.
    Take,
    /// Puts something new in it if it holds what is remembered; that is freed then.
    Replace,
    /// Empties it if it holds what is remembered, likewise.
    Drop,
    /// Leaves in another slot where something was.
    Leave,
    /// Looks there for something new.
    Claim,
}

/// Where objects come from.
trait Memory: Clone + Send + 'static {
    fn new(claims: Arc<Claims>) -> Self;
    fn get(&mut self) -> usize;
    fn give_back(&mut self, at: usize);
    /// That of a thread, which is spawned now.
    fn of(&self, thread: usize) -> Self;
    /// Threads are joined that had these.
    fn join(&mut self, threads: [Self; 2]);
}

/// The heap.
#[derive(Clone)]
struct Heap;

impl Memory for Heap {
    fn new(_: Arc<Claims>) -> Self {
        Self
    }

    fn get(&mut self) -> usize {
        boxed(0_u64).expose_provenance()
    }

    fn give_back(&mut self, address: usize) {
        free::<u64>(at(address));
    }

    fn of(&self, _: usize) -> Self {
        Self
    }

    fn join(&mut self, _: [Self; 2]) {}
}

/// Of each object, since when it is free, or that it is not.
type Claims = [AtomicUsize; 5 * OPS];
const IN_USE: usize = 0;
/// Where it does not matter since when.
const FREE: usize = usize::MAX;
/// How many objects there are at most: one for each operation, and the first.
const OBJECTS: usize = OPS + 1;

/// What a pool gives again.
type Again = u8;
const NOTHING: Again = 0;
/// What the thread knows to be free.
const KNOWN: Again = 1;
/// What is free. The pool orders who frees it and who gets it.
const ALL: Again = 2;

/// Whoever may look, each choice is explored.
#[derive(Clone)]
struct Pool<const AGAIN: Again> {
    claims: Arc<Claims>,
    thread: usize,
    made: usize,
    freed: usize,
    /// Objects that are free, and since when.
    known: [(usize, usize); OBJECTS],
    len: usize,
}

impl<const AGAIN: Again> Pool<AGAIN> {
    /// One of all that there are.
    fn of_all(which: usize) -> usize {
        which.checked_sub(1).map_or(1, |which| (1 + which / EACH) * OPS + 1 + which % EACH)
    }

    fn knows(&self, free: (usize, usize)) -> bool {
        self.known[..self.len].contains(&free)
    }

    fn learn(&mut self, free: (usize, usize)) {
        self.known[self.len] = free;
        self.len += 1;
    }
}

impl<const AGAIN: Again> Memory for Pool<AGAIN> {
    fn new(claims: Arc<Claims>) -> Self {
        Self { claims, thread: 0, made: 0, freed: 0, known: [(0, 0); OBJECTS], len: 0 }
    }

    fn get(&mut self) -> usize {
        let among = [0, self.len, OBJECTS][usize::from(AGAIN)];
        let which = if among > 0 { mc::choose(0..among + 1) } else { 0 };
        let Some(which) = which.checked_sub(1) else {
            self.made += 1;
            return self.thread * OPS + self.made;
        };
        let (object, since) = if AGAIN == ALL { (Self::of_all(which), FREE) } else { self.known[which] };
        if AGAIN == KNOWN {
            self.len -= 1;
            self.known[which] = self.known[self.len];
        }
        // Another one may have it.
        let order = if AGAIN == ALL { Acquire } else { Relaxed };
        mc::assume(self.claims[object - 1].compare_exchange(since, IN_USE, order, Relaxed).is_ok());
        object
    }

    fn give_back(&mut self, object: usize) {
        if AGAIN == ALL {
            self.claims[object - 1].swap(FREE, AcqRel);
            return;
        }
        self.freed += 1;
        let since = self.thread * 100 + self.freed;
        self.claims[object - 1].store(since, Relaxed);
        self.learn((object, since));
    }

    fn of(&self, thread: usize) -> Self {
        Self { thread, made: 0, freed: 0, ..self.clone() }
    }

    fn join(&mut self, threads: [Self; 2]) {
        let before = self.clone();
        self.len = 0;
        for free in before.known[..before.len].iter().filter(|free| threads.iter().all(|thread| thread.knows(**free))) {
            self.learn(*free);
        }
        for thread in &threads {
            for free in thread.known[..thread.len].iter().filter(|free| !before.knows(**free)) {
                self.learn(*free);
            }
        }
    }
}

/// Which of its exchanges have done something, a bit each; and what it remembers then.
fn run<M: Memory>([slot, left]: &[AtomicUsize; 2], memory: &mut M, mut known: usize, ops: &[Op]) -> (usize, usize) {
    let mut done = 0;
    for (number, op) in ops.iter().enumerate() {
        let new = match op {
            Op::Look => {
                known = slot.load(Relaxed);
                continue;
            }
            Op::Leave | Op::Claim => {
                let new = memory.get();
                let found = match op {
                    Op::Leave => left.swap(new, Relaxed) == 0,
                    _ => left.compare_exchange(new, new, Relaxed, Relaxed).is_ok(),
                };
                memory.give_back(new);
                done |= usize::from(found) << number;
                continue;
            }
            Op::Replace => memory.get(),
            Op::Take | Op::Drop => 0,
        };
        let old = match op {
            Op::Take => Ok(slot.swap(0, Relaxed)),
            _ => slot.compare_exchange(known, new, Relaxed, Relaxed),
        };
        let unused = old.unwrap_or(new);
        if unused != 0 {
            memory.give_back(unused);
        }
        done |= usize::from(old.is_ok_and(|old| old != 0)) << number;
    }
    (done, known)
}

/// Runs a program once; its outcome.
fn outcome<M: Memory>(program: &'static Program) -> usize {
    let slots = Arc::new([0; 2].map(AtomicUsize::new));
    let slot = &slots[0];
    let mut memory = M::new(Arc::new([const { AtomicUsize::new(IN_USE) }; 5 * OPS]));
    slot.store(memory.get(), Relaxed);
    let (mut known, mut seen) = (slot.load(Relaxed), 0);
    for (phase, threads) in program.iter().enumerate() {
        let threads = [0, 1].map(|number| {
            let (slots, mut memory) = (slots.clone(), memory.of(1 + 2 * phase + number));
            thread::spawn(move || (run(&slots, &mut memory, known, &threads[number]), memory))
        });
        let [one, other] = threads.map(|thread| thread.join().unwrap());
        seen = (seen << EACH | one.0.0) << EACH | other.0.0;
        known = one.0.1;
        memory.join([one.1, other.1]);
    }
    let left = slot.load(Relaxed);
    if left != 0 {
        memory.give_back(left);
    }
    seen
}

fn program(chance: &mut Chance) -> Program {
    let mut op = || match chance.below(11) {
        0 => Op::Look,
        1 | 2 => Op::Take,
        3..6 => Op::Replace,
        6 | 7 => Op::Leave,
        8 | 9 => Op::Claim,
        _ => Op::Drop,
    };
    std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| op())))
}

#[test]
fn the_outcomes_are_those_of_a_pool_of_what_is_known_to_be_free() {
    let mut more = 0;
    for seed in 0..programs(PROGRAMS) {
        let program: &'static _ = Box::leak(Box::new(program(&mut Chance(seed))));
        let expected = outcomes(Reductions::default(), program, outcome::<Pool<KNOWN>>);
        let (verdict, seen) = explored(Reductions::default(), program, outcome::<Heap>);
        assert_eq!(seen, expected, "{seed}: {program:?}");
        let none = Reductions::default().without(Reduction::All);
        assert_eq!(explored(none, program, outcome::<Heap>), (verdict, expected), "{seed}: {program:?}");
        more += u64::from(outcomes(Reductions::default(), program, outcome::<Pool<NOTHING>>) != expected);
    }
    assert!(programs(PROGRAMS) < PROGRAMS || more >= 5, "it makes a difference in {more} only");
}

#[test]
fn what_a_pool_of_all_that_is_free_could_show_besides_is_no_proof() {
    let (mut more, mut bounded) = (0, 0);
    for seed in 0..programs(PROGRAMS) / 2 {
        let program: &'static _ = Box::leak(Box::new(program(&mut Chance(seed))));
        let (verdict, seen) = explored(Reductions::default(), program, outcome::<Heap>);
        bounded += u64::from(verdict == Verdict::Bounded);
        if outcomes(Reductions::default(), program, outcome::<Pool<ALL>>) != seen {
            assert_eq!(verdict, Verdict::Bounded, "{seed}: {program:?}");
            more += 1;
        }
    }
    assert!(programs(PROGRAMS) < PROGRAMS || (5..bounded + 1).contains(&more), "it makes a difference in {more} only");
    assert!(bounded <= 2 * more, "{bounded} are not proved, and {more} would be none");
}
