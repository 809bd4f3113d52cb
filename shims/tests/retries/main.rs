//! Rounds of loops that only read: those that leave nothing behind are left out, and nothing that a program can show is lost by it.
//!
//! A process of its own, in which one exploration is made at a time: what other threads of a process write makes rounds look different.
#![cfg(mc)]

#[path = "../common/mod.rs"]
mod common;
mod detected;
mod newer;
mod values;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicU64 as Plain;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Nobody else explores meanwhile.
fn one() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The outcomes are the same with and without the reduction; how many executions each has.
#[track_caller]
fn same(body: fn()) -> [u64; 2] {
    let _one = one();
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

/// A loop over a location that another thread counts up, and what it finds out.
type Loop = fn(&AtomicUsize) -> usize;

/// What such loops find out is the same with and without the reduction, and is all of `values`.
#[track_caller]
fn finds(values: &[usize], find: Loop) {
    static FIND: Mutex<Option<Loop>> = Mutex::new(None);
    static LAST: Mutex<()> = Mutex::new(());
    let _last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    *FIND.lock().unwrap() = Some(find);
    let body: fn() = || {
        let find = FIND.lock().unwrap().unwrap();
        let count = atomics([0]);
        let theirs = count.clone();
        let other = thread::spawn(move || {
            for _ in 0..4 {
                theirs[0].fetch_add(1, SeqCst);
            }
        });
        saw(&[find(&count[0])]);
        other.join().unwrap();
    };
    same(body);
    let _one = one();
    let (seen, _) = explored(Reductions::default(), body);
    let found: Vec<usize> = (0..8).filter(|value| seen[0] >> (8 + value) & 1 == 1).collect();
    assert_eq!(found, values);
}

fn exchange(count: &AtomicUsize, old: usize) -> bool {
    count.compare_exchange(old, old + 1, AcqRel, Relaxed).is_ok()
}

#[test]
fn a_bounded_number_of_retries_is_counted() {
    let gives_up: Loop = |count| {
        for round in 0..3 {
            let old = count.load(Relaxed);
            if exchange(count, old) {
                return round;
            }
        }
        7
    };
    finds(&[0, 1, 2, 7], gives_up);
    let in_a_byte: Loop = |count| {
        let mut rounds = 0_u8;
        while !exchange(count, count.load(Relaxed)) {
            rounds = rounds.wrapping_add(100);
            if rounds == 44 {
                return 7;
            }
        }
        usize::from(rounds / 100)
    };
    finds(&[0, 1, 2, 7], in_a_byte);
    let in_a_float: Loop = |count| {
        let mut rounds = 0.5_f64;
        while !exchange(count, count.load(Relaxed)) {
            rounds *= 2.0;
            if rounds > 3.0 {
                return 7;
            }
        }
        rounds as usize
    };
    finds(&[0, 1, 2, 7], in_a_float);
}

#[test]
fn a_back_off_that_gives_up_is_counted() {
    finds(&[0, 7], |count| {
        let mut step = 0_u32;
        while !exchange(count, count.load(Relaxed)) {
            (0..1_u32 << step).for_each(|_| mc::hint::spin_loop());
            step = (step + 1).min(2);
            if step == 2 {
                return 7;
            }
        }
        0
    });
}

#[test]
fn what_the_last_round_saw_may_decide() {
    // Returns what it saw in the round before the one that succeeded.
    finds(&[0, 1, 2, 3, 7], |count| {
        let mut last = 7;
        loop {
            let old = count.load(Relaxed);
            if exchange(count, old) {
                return last;
            }
            last = old;
        }
    });
    // Ends when two rounds saw the same.
    finds(&[0, 1, 2, 3, 4], |count| {
        let mut last = count.load(Relaxed);
        loop {
            let now = count.load(Relaxed);
            if now == last {
                return now;
            }
            last = now;
        }
    });
}

struct Tries {
    number: usize,
    last: usize,
}

#[inline(never)]
fn try_once(count: &AtomicUsize, tries: &mut Tries) -> bool {
    tries.number += 1;
    tries.last = count.load(Relaxed);
    exchange(count, tries.last)
}

#[test]
fn what_is_kept_behind_a_reference_counts() {
    finds(&[1, 2, 7], |count| {
        let mut tries = Tries { number: 0, last: 0 };
        while !try_once(count, &mut tries) {
            if tries.number == 2 {
                return 7;
            }
        }
        tries.number
    });
    finds(&[0, 2, 7], |count| {
        let (mut seen, mut rounds) = ([7_usize; 4], 0);
        loop {
            let old = std::hint::black_box(&mut seen)[rounds % 4].min(count.load(Relaxed));
            seen[(rounds + 1) % 4] = rounds;
            if exchange(count, old) {
                return rounds;
            }
            rounds += 1;
            if rounds == 3 {
                return 7;
            }
        }
    });
}

#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "more than there are registers for")]
fn last_of(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize, h: usize) -> usize {
    std::hint::black_box([a, b, c, d, e, f, g, h])[7]
}

#[test]
fn what_is_passed_on_the_stack_counts() {
    finds(&[0, 1, 2, 3, 7], |count| {
        let mut last = 7;
        loop {
            let old = count.load(Relaxed);
            if exchange(count, old) {
                return last_of(old, 1, 2, 3, 4, 5, 6, last);
            }
            last = old;
        }
    });
}

/// Says what it holds when it is dropped.
struct Says<'a>(usize, &'a Cell<usize>);

impl Drop for Says<'_> {
    fn drop(&mut self) {
        self.1.set(self.0);
    }
}

#[test]
fn what_only_a_destructor_reads_while_unwinding_counts() {
    finds(&[0, 1, 2, 3, 7], |count| {
        let said = Cell::new(0);
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let mut last = Says(7, &said);
            loop {
                let old = count.load(Relaxed);
                if exchange(count, old) {
                    resume_unwind(Box::new(()));
                }
                last.0 = old;
            }
        }));
        let _: Result<(), _> = unwound;
        said.get()
    });
}

#[test]
fn many_values_that_do_not_fit_in_registers_count() {
    finds(&[0, 1, 2, 3, 7], |count| {
        let mut kept = [7_usize, 11, 13, 17, 19, 23, 29, 31];
        loop {
            let old = count.load(Relaxed);
            let sum: usize = kept.iter().enumerate().map(|(n, value)| (n + 1) * value).sum();
            if exchange(count, old) {
                return if std::hint::black_box(sum) == 0 { 6 } else { kept[0] };
            }
            kept[0] = old;
            kept.swap(3, 4);
        }
    });
}
