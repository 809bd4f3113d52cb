//! Loops that look at something under a lock until it is there: they wait, too, although each round takes the lock and gives it back.

use std::sync::atomic::AtomicUsize as Plain;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::sync::atomic::{AtomicBool, AtomicUsize};
use mc::sync::{Arc, Mutex, RwLock};
use mc::thread;
use mc_runtime::options::{Options, Reduction, Reductions, Strategy};
use mc_runtime::outcome::FailureKind::Livelock;
use mc_runtime::outcome::Verdict;

use super::{check_with, fails, holds};

/// One thread waits until all others have added something.
fn looks(under: impl Fn(&Mutex<u32>) -> u32, adders: u32) {
    let number = Arc::new(Mutex::new(0));
    let add = |number: Arc<Mutex<u32>>| move || *number.lock().unwrap() += 1;
    let threads: Vec<_> = (0..adders).map(|_| thread::spawn(add(number.clone()))).collect();
    while under(&number) < adders {
        thread::yield_now();
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_loop_that_looks_under_a_mutex_waits() {
    holds(|| looks(|number| *number.lock().unwrap(), 1));
    holds(|| looks(|number| *number.lock().unwrap(), 2));
    holds(|| {
        looks(
            |number| {
                let first = *number.lock().unwrap();
                first.min(*number.lock().unwrap())
            },
            1,
        );
    });
}

#[test]
fn without_the_reduction_it_goes_on_for_ever() {
    let reductions = Reductions::default().without(Reduction::Poll);
    let options = Options { reductions, max_executions: Some(100), ..Options::default() };
    let outcome = check_with(&options, || looks(|number| *number.lock().unwrap(), 1));
    assert_eq!(outcome.verdict, Verdict::Bounded, "{outcome:?}");
}

#[test]
fn a_loop_that_looks_as_a_reader_waits() {
    holds(|| {
        let ready = Arc::new(RwLock::new(false));
        let theirs = ready.clone();
        let thread = thread::spawn(move || *theirs.write().unwrap() = true);
        while !*ready.read().unwrap() {}
        thread.join().unwrap();
    });
}

/// A lock whose word says who has it: nobody waits at it.
#[derive(Default)]
struct Turns {
    word: AtomicUsize,
    ready: AtomicBool,
}

impl Turns {
    fn look(&self) -> bool {
        let before = self.word.swap(1, Acquire);
        let ready = self.ready.load(Relaxed);
        self.word.store(before, Release);
        ready
    }
}

#[test]
fn a_loop_that_swaps_and_stores_what_was_there_waits() {
    holds(|| {
        let turns = Arc::new(Turns::default());
        let theirs = turns.clone();
        let thread = thread::spawn(move || theirs.ready.store(true, Release));
        while !turns.look() {}
        thread.join().unwrap();
    });
}

#[test]
fn two_threads_that_look_for_each_other_take_turns() {
    holds(|| {
        let turn = Arc::new(Mutex::new(0));
        let theirs = turn.clone();
        let wait = |turn: &Mutex<u32>, own: u32| while *turn.lock().unwrap() != own {};
        let thread = thread::spawn(move || {
            wait(&theirs, 1);
            *theirs.lock().unwrap() = 2;
        });
        *turn.lock().unwrap() = 1;
        wait(&turn, 2);
        thread.join().unwrap();
    });
}

#[test]
fn who_looks_for_what_never_comes_is_stuck() {
    let one = fails(Livelock, || {
        let number = Arc::new(Mutex::new(0));
        let theirs = number.clone();
        let thread = thread::spawn(move || *theirs.lock().unwrap() += 2);
        while *number.lock().unwrap() != 1 {}
        thread.join().unwrap();
    });
    assert!(one.message.contains("main spins for ever, and nobody"), "{one:?}");
    let two = fails(Livelock, || {
        let number = Arc::new(Mutex::new(0));
        let theirs = number.clone();
        let thread = thread::spawn(move || while *theirs.lock().unwrap() != 1 {});
        while *number.lock().unwrap() != 2 {}
        thread.join().unwrap();
    });
    assert!(two.message.contains("main spins for ever (so do T1)"), "{two:?}");
    let holder = fails(Livelock, || {
        let (outer, number) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(0)));
        let theirs = (outer.clone(), number.clone());
        let held = outer.lock().unwrap();
        let thread = thread::spawn(move || {
            let _held = theirs.0.lock().unwrap();
            *theirs.1.lock().unwrap() = 1;
        });
        while *number.lock().unwrap() == 0 {}
        drop(held);
        thread.join().unwrap();
    });
    assert!(holder.message.contains("main spins for ever"), "{holder:?}");
}

#[test]
fn who_gives_the_lock_back_by_an_update_is_stuck_too() {
    fails(Livelock, || {
        let (word, ready) = (AtomicUsize::new(0), AtomicBool::new(false));
        loop {
            while word.swap(1, Acquire) == 1 {}
            let is_ready = ready.load(Relaxed);
            word.swap(0, Release);
            if is_ready {
                break;
            }
        }
    });
}

/// Depth first, the loop would be gone through first.
#[track_caller]
fn holds_as_far_as_that_is_known(body: fn()) -> u64 {
    let options = Options { strategy: Strategy::Bfs, max_executions: Some(500), ..Options::default() };
    let outcome = check_with(&options, body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Bounded, &[][..]));
    outcome.executions
}

/// The lock is where the round begins; somebody waits for what it does under it.
#[test]
fn what_a_round_does_besides_is_seen() {
    let executions = holds_as_far_as_that_is_known(|| {
        let shared = Arc::new((Mutex::new(false), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            for flag in [1, 0, 1, 0] {
                while theirs.1.load(Acquire) != flag {}
            }
            *theirs.0.lock().unwrap() = true;
        });
        loop {
            let ready = shared.0.lock().unwrap();
            shared.1.swap(1, AcqRel);
            let is_ready = *ready;
            shared.1.swap(0, AcqRel);
            if is_ready {
                break;
            }
        }
        thread.join().unwrap();
    });
    assert!(executions > 0, "the round was seen twice");
}

/// Plain memory, which is what it was when the round is over, and not in between.
#[test]
fn what_a_round_does_between_two_locks_is_seen() {
    holds_as_far_as_that_is_known(|| {
        let shared = Arc::new((Mutex::new(0), AtomicBool::new(false)));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            while *theirs.0.lock().unwrap() == 0 {}
            theirs.1.store(true, Release);
        });
        loop {
            *shared.0.lock().unwrap() += 1;
            let is_ready = shared.1.load(Acquire);
            *shared.0.lock().unwrap() -= 1;
            if is_ready {
                break;
            }
        }
        thread.join().unwrap();
    });
}

#[test]
fn who_finds_the_lock_taken_by_a_look_is_seen() {
    static BUSY: [Plain; 2] = [const { Plain::new(0) }; 2];
    holds_as_far_as_that_is_known(|| {
        let ready = Arc::new(Mutex::new(false));
        let theirs = ready.clone();
        let thread = thread::spawn(move || {
            let busy = theirs.try_lock().is_err();
            *theirs.lock().unwrap() = true;
            busy
        });
        while !*ready.lock().unwrap() {}
        BUSY[usize::from(thread.join().unwrap())].fetch_add(1, Relaxed);
    });
    assert!(BUSY.iter().all(|busy| busy.load(Relaxed) > 0), "it was free, and it was taken: {BUSY:?}");
}

#[test]
fn a_look_that_leaves_something_behind_is_none() {
    static MOST: Plain = Plain::new(0);
    holds_as_far_as_that_is_known(|| {
        let ready = Arc::new(Mutex::new((false, 0)));
        let theirs = ready.clone();
        let thread = thread::spawn(move || theirs.lock().unwrap().0 = true);
        while !ready
            .lock()
            .map(|mut ready| {
                ready.1 += 1;
                ready.0
            })
            .unwrap()
        {}
        thread.join().unwrap();
        MOST.fetch_max(ready.lock().unwrap().1, Relaxed);
    });
    assert!(MOST.load(Relaxed) > 3, "rounds are counted: {MOST:?}");
}
