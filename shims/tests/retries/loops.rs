//! Loops that find out in which round they are: what they find is the same.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, SeqCst};

use mc::sync::atomic::AtomicUsize;
use mc::thread;
use mc_runtime::options::Reductions;

use super::{atomics, explored, same, saw};

/// A loop over a location that another thread counts up, and what it finds out.
pub(super) type Loop = fn(&AtomicUsize) -> usize;

/// What such loops find out is the same with and without the reduction, and is all of `values`.
#[track_caller]
pub(super) fn finds(values: &[usize], find: Loop) {
    static FIND: Mutex<Option<Loop>> = Mutex::new(None);
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
    let (seen, _) = explored(Reductions::default(), body);
    let found: Vec<usize> = (0..8).filter(|value| seen[0] >> (8 + value) & 1 == 1).collect();
    assert_eq!(found, values);
}

fn exchange(count: &AtomicUsize, old: usize) -> bool {
    count.compare_exchange(old, old + 1, AcqRel, Relaxed).is_ok()
}

#[test]
fn a_bounded_number_of_retries_is_counted() {
    alone!();
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
    alone!();
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
    alone!();
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
    alone!();
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
    alone!();
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
    alone!();
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
    alone!();
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
