//! Rounds of loops that only read: those that leave nothing behind are left out, and nothing that a program can show is lost by it.
//!
//! Each test is alone in a process: what other threads of a process write, libtest's among them, makes rounds look different.
#![cfg(mc)]

/// Lets the test go on in a process of its own.
macro_rules! alone {
    () => {
        if !crate::is_alone() {
            return;
        }
    };
}

#[path = "../common/mod.rs"]
mod common;
mod detected;
mod loops;
mod newer;
mod older;
mod values;

use std::env;
use std::process::Command;
use std::sync::atomic::AtomicU64 as Plain;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::sync::Arc;
use mc::sync::atomic::{AtomicUsize, fence};
use mc::thread;
use mc_runtime::options::{Options, Reduction, Reductions};
use mc_runtime::outcome::Verdict;

/// Which outcomes an exploration has shown.
static SEEN: [Plain; 256] = [const { Plain::new(0) }; 256];

/// An execution ends with these values, each below 8.
fn saw(values: &[usize]) {
    let outcome = values.iter().fold(1, |all, value| all * 8 + value);
    SEEN[outcome / 64].fetch_or(1 << (outcome % 64), Relaxed);
}

fn explored(reductions: Reductions, body: fn()) -> (Vec<u64>, u64) {
    SEEN.iter().for_each(|word| word.store(0, Relaxed));
    let options = Options { reductions, allow_panics: true, ..Options::default() };
    let outcome = common::explore(&options, body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    (SEEN.iter().map(|word| word.load(Relaxed)).collect(), outcome.executions)
}

/// Is the running test the only one of its process? If not, another process runs it now.
fn is_alone() -> bool {
    const ALONE: &str = "MC_TEST_ALONE";
    // With one thread, libtest runs tests on its own.
    let name = std::thread::current().name().filter(|name| *name != "main").map(str::to_owned);
    let Some(name) = name.filter(|_| env::var_os(ALONE).is_none()) else { return true };
    let mut test = Command::new(env::current_exe().unwrap());
    let output = test.args([&name, "--exact", "--test-threads=1"]).env(ALONE, "1").output().unwrap();
    let [said, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success() && said.contains("1 passed"), "{said}{errors}");
    false
}

/// The outcomes are the same with and without the reduction; how many executions each has.
#[track_caller]
fn same(body: fn()) -> [u64; 2] {
    let ((reduced, fewer), (full, all)) =
        (explored(Reductions::default(), body), explored(Reductions::default().without(Reduction::All), body));
    assert!(full.iter().any(|word| *word != 0), "no outcome");
    assert_eq!(reduced, full);
    [fewer, all]
}

#[track_caller]
fn same_in_fewer(body: fn()) {
    let [fewer, all] = same(body);
    assert!(fewer < all, "{fewer} executions, without the reduction {all}");
}

fn atomics<const N: usize>(values: [usize; N]) -> Arc<[AtomicUsize; N]> {
    Arc::new(values.map(AtomicUsize::new))
}

/// Runs each in a thread of its own; what they return.
fn run<const N: usize>(threads: [Box<dyn FnOnce() -> usize + Send>; N]) -> [usize; N] {
    threads.map(thread::spawn).map(|thread| thread.join().unwrap())
}

const NIL: usize = 7;

/// A stack of numbered nodes.
struct Stack {
    next: [AtomicUsize; 3],
    top: AtomicUsize,
}

impl Stack {
    fn new() -> Arc<Self> {
        Arc::new(Self { next: [0; 3].map(|_| AtomicUsize::new(NIL)), top: AtomicUsize::new(NIL) })
    }

    fn push(&self, node: usize) {
        loop {
            let top = self.top.load(Relaxed);
            self.next[node].store(top, Relaxed);
            if self.top.compare_exchange(top, node, Release, Relaxed).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> usize {
        loop {
            let top = self.top.load(Acquire);
            if top == NIL {
                return NIL;
            }
            let next = self.next[top].load(Relaxed);
            if self.top.compare_exchange(top, next, AcqRel, Relaxed).is_ok() {
                return top;
            }
        }
    }
}

#[test]
fn a_weak_compare_exchange_whose_value_has_not_come_ends_its_round() {
    alone!();
    // The first thread comes to the loop before the other one has moved, and may fail for no reason in every round.
    same(|| {
        let value = atomics([0]);
        let theirs = value.clone();
        let other = thread::spawn(move || theirs[0].store(1, Release));
        while value[0].load(Relaxed) == 7 || value[0].compare_exchange_weak(1, 2, Acquire, Relaxed).is_err() {}
        other.join().unwrap();
        saw(&[value[0].load(Relaxed)]);
    });
}

#[test]
fn a_stack_shows_the_same_in_fewer_executions() {
    alone!();
    same_in_fewer(|| {
        let stack = Stack::new();
        let both = |node| {
            let stack = stack.clone();
            let both = move || {
                stack.push(node);
                stack.pop()
            };
            Box::new(both) as Box<dyn FnOnce() -> usize + Send>
        };
        saw(&run([both(0), both(1)]));
    });
    same_in_fewer(|| {
        let stack = Stack::new();
        (0..3).for_each(|node| stack.push(node));
        let pop = || {
            let stack = stack.clone();
            Box::new(move || stack.pop()) as Box<dyn FnOnce() -> usize + Send>
        };
        saw(&run([pop(), pop(), pop()]));
    });
}

/// The queue of Michael and Scott, of numbered nodes; node 0 is the first dummy.
struct Queue {
    next: [AtomicUsize; 3],
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl Queue {
    fn push(&self, node: usize) {
        loop {
            let tail = self.tail.load(Acquire);
            let next = self.next[tail].load(Acquire);
            if next != NIL {
                let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
            } else if self.next[tail].compare_exchange(NIL, node, Release, Relaxed).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, Release, Relaxed);
                return;
            }
        }
    }

    fn pop(&self) -> usize {
        loop {
            let head = self.head.load(Acquire);
            let tail = self.tail.load(Acquire);
            let next = self.next[head].load(Acquire);
            if next == NIL {
                return NIL;
            }
            if head == tail {
                let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
            } else if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                return next;
            }
        }
    }
}

#[test]
fn a_queue_shows_the_same_in_fewer_executions() {
    alone!();
    same_in_fewer(|| {
        let next = [0; 3].map(|_| AtomicUsize::new(NIL));
        let queue = Arc::new(Queue { next, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) });
        let both = |node| {
            let queue = queue.clone();
            let both = move || {
                queue.push(node);
                queue.pop()
            };
            Box::new(both) as Box<dyn FnOnce() -> usize + Send>
        };
        saw(&run([both(1), both(2)]));
    });
}

#[test]
fn a_bounded_queue_of_many_shows_the_same_in_fewer_executions() {
    alone!();
    same_in_fewer(|| {
        // D. Vyukov's, with two cells: sequence numbers, then the positions of writers and readers.
        let queue = atomics([0, 1, 0, 0]);
        let values = atomics([0, 0]);
        let claim = |which: usize, ready: usize| {
            let queue = queue.clone();
            move || loop {
                let at = queue[which].load(Relaxed);
                let sequence = queue[at % 2].load(Acquire);
                if sequence < at + ready {
                    return None;
                }
                if sequence == at + ready && queue[which].compare_exchange(at, at + 1, Relaxed, Relaxed).is_ok() {
                    return Some(at);
                }
            }
        };
        let push = |value: usize| {
            let (queue, values, claim) = (queue.clone(), values.clone(), claim(2, 0));
            let push = move || {
                let Some(at) = claim() else { return 0 };
                values[at % 2].store(value, Relaxed);
                queue[at % 2].store(at + 1, Release);
                1_usize
            };
            Box::new(push) as Box<dyn FnOnce() -> usize + Send>
        };
        let pop = || {
            let (queue, values, claim) = (queue.clone(), values.clone(), claim(3, 1));
            let pop = move || {
                let Some(at) = claim() else { return NIL };
                let value = values[at % 2].load(Relaxed);
                queue[at % 2].store(at + 2, Release);
                value
            };
            Box::new(pop) as Box<dyn FnOnce() -> usize + Send>
        };
        let [one, other, popped] = run([push(3), push(4), pop()]);
        saw(&[one, other, popped]);
    });
}

#[test]
fn a_counter_and_a_snapshot_show_the_same_in_fewer_executions() {
    alone!();
    same_in_fewer(|| {
        let counter = atomics([0]);
        let add = || {
            let counter = counter.clone();
            let add = move || loop {
                let old = counter[0].load(Relaxed);
                if counter[0].compare_exchange(old, old + 1, Relaxed, Relaxed).is_ok() {
                    return old;
                }
            };
            Box::new(add) as Box<dyn FnOnce() -> usize + Send>
        };
        saw(&run([add(), add(), add()]));
    });
    same_in_fewer(|| {
        let pair = atomics([0, 0, 0]);
        let theirs = pair.clone();
        let writer = thread::spawn(move || {
            for value in 1..3 {
                theirs[0].store(2 * value - 1, Relaxed);
                fence(Release);
                theirs[1].store(value, Relaxed);
                theirs[2].store(value, Relaxed);
                theirs[0].store(2 * value, Release);
            }
        });
        let read = loop {
            let before = pair[0].load(Acquire);
            let values = [pair[1].load(Relaxed), pair[2].load(Relaxed)];
            fence(Acquire);
            if before % 2 == 0 && pair[0].load(Relaxed) == before {
                break values;
            }
        };
        assert_eq!(read[0], read[1]);
        saw(&read);
        writer.join().unwrap();
    });
}
