//! Random programs of loops that wait for a value have the outcomes, and the livelocks, that they have without the reduction.
//!
//! One test: rounds of a loop are told apart by all writable memory of the process, so nothing else may run in it.
#![cfg(mc)]

#[path = "common/chance.rs"]
mod chance;
mod common;

use std::sync::atomic::AtomicU64 as Bits;
use std::sync::atomic::Ordering::Relaxed as Plain;

use chance::Chance;
use mc::hint::spin_loop;
use mc::sync::atomic::AtomicUsize;
use mc::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use mc::thread;
use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions};
use mc_runtime::outcome::FailureKind;

/// What a thread does, on one of two locations.
#[derive(Clone, Copy, Debug)]
enum Step {
    Store(usize, usize),
    Swap(usize, usize),
    /// Loads until it sees one of these values, as bits.
    Await(usize, u32),
    /// Exchanges this value for that, until that succeeds or it sees one of these.
    Exchange(usize, [usize; 2], u32),
}

type Program = Vec<Vec<Step>>;

impl Chance {
    fn step(&mut self) -> Step {
        let (at, values, seen) = (self.below(2), [self.below(4), self.below(4)], self.below(16) as u32);
        match self.below(5) {
            0 => Step::Store(at, values[0]),
            1 => Step::Swap(at, values[0]),
            2 => Step::Await(at, seen | 1 << values[0]),
            _ => Step::Exchange(at, values, seen),
        }
    }

    /// Locks, does something, and most of the time unlocks.
    fn section(&mut self) -> Vec<Step> {
        let give_up = if self.below(4) == 0 { 1 << self.below(4) } else { 0 };
        let mut steps = vec![Step::Exchange(0, [0, 1], give_up)];
        match self.below(4) {
            0 => {}
            1 => steps.push(self.step()),
            _ => steps.push(Step::Swap(1, self.below(4))),
        }
        if self.below(8) > 0 {
            steps.push(Step::Store(0, 0));
        }
        steps
    }

    fn program(&mut self) -> Program {
        let threads = 2 + self.below(2);
        match self.below(3) {
            0 => (0..threads).map(|_| self.section()).collect(),
            1 => {
                let mut program: Program = (1..threads).map(|_| self.section()).collect();
                program.push((0..=self.below(2)).map(|_| self.step()).collect());
                program
            }
            _ if threads == 2 => [2, 3].map(|steps| (0..steps).map(|_| self.step()).collect()).to_vec(),
            _ => [1, 2, 2].map(|steps| (0..steps).map(|_| self.step()).collect()).to_vec(),
        }
    }
}

/// What the step sees, if it looks: 4 for an exchange.
fn take(step: Step, locations: &[AtomicUsize; 2]) -> Option<usize> {
    let is_in = |values: u32, value: usize| values >> value & 1 == 1;
    match step {
        Step::Store(at, value) => {
            locations[at].store(value, Release);
            None
        }
        Step::Swap(at, value) => Some(locations[at].swap(value, Relaxed)),
        Step::Await(at, values) => loop {
            let value = locations[at].load(Acquire);
            if is_in(values, value) {
                return Some(value);
            }
        },
        Step::Exchange(at, [expected, new], values) => loop {
            match locations[at].compare_exchange(expected, new, AcqRel, Relaxed) {
                Ok(_) => return Some(4),
                Err(value) if is_in(values, value) => return Some(value),
                Err(_) => spin_loop(),
            }
        },
    }
}

/// Of the complete executions of a program.
#[derive(Debug, PartialEq)]
struct Outcomes {
    /// As bits.
    seen: Vec<u64>,
    /// How many there are.
    executions: u64,
    /// Whether there is a livelock.
    stuck: bool,
}

fn outcomes(program: &'static Program, reductions: Reductions, memory_model: MemoryModel) -> Outcomes {
    static SEEN: [Bits; 1024] = [const { Bits::new(0) }; 1024];
    SEEN.iter().for_each(|word| word.store(0, Plain));
    let options = Options { reductions, memory_model, max_failures: u64::MAX, ..Options::default() };
    let outcome = common::explore(&options, move || {
        let locations = [const { AtomicUsize::new(0) }; 2];
        let seen = thread::scope(|scope| {
            let spawn = |steps: &'static Vec<Step>| {
                let locations = &locations;
                let add = |seen: (usize, u32), value| (seen.0 * 5 + value, seen.1 + 1);
                scope.spawn(move || steps.iter().filter_map(|step| take(*step, locations)).fold((0, 0), add))
            };
            let handles: Vec<_> = program.iter().map(spawn).collect();
            let seen = handles.into_iter().map(|handle| handle.join().expect("it does not panic"));
            seen.fold(0, |all, (seen, steps)| all * 5_usize.pow(steps) + seen)
        });
        SEEN[seen / 64].fetch_or(1 << (seen % 64), Plain);
    });
    assert!(outcome.bounds.is_empty(), "{outcome:?}");
    assert!(outcome.failures.iter().all(|f| f.kind == FailureKind::Livelock), "{outcome:?}");
    let seen = SEEN.iter().map(|word| word.load(Plain)).collect();
    Outcomes { seen, executions: outcome.executions, stuck: !outcome.failures.is_empty() }
}

#[test]
fn random_loops_have_the_outcomes_that_they_have_without_the_reduction() {
    let alone = Reductions::default().without(Reduction::Symmetry);
    let (mut stuck, mut several) = (0, 0);
    for seed in 0..1000 {
        let program: &'static Program = Box::leak(Box::new(Chance(seed).program()));
        // Where a failed exchange ends its loop, a few executions are explored twice.
        let gives_up = program.iter().flatten().any(|step| matches!(step, Step::Exchange(_, _, seen) if *seen > 0));
        for model in [MemoryModel::Rc20, MemoryModel::Sc, MemoryModel::Tso] {
            let expected = outcomes(program, alone.without(Reduction::Await), model);
            let found = outcomes(program, alone, model);
            assert_eq!((&found.seen, found.stuck), (&expected.seen, expected.stuck), "{seed} {model:?}: {program:?}");
            let as_many = if gives_up {
                found.executions >= expected.executions
            } else {
                found.executions == expected.executions
            };
            assert!(as_many, "{} instead of {}: {seed} {model:?}: {program:?}", found.executions, expected.executions);
            // Threads that are alike: which of them sees what is not told apart.
            let reduced = outcomes(program, Reductions::default(), model);
            assert_eq!(reduced.stuck, expected.stuck, "{seed} {model:?}: {program:?}");
            stuck += u32::from(expected.stuck);
            several += u32::from(expected.executions > 2);
        }
    }
    assert!(stuck > 400 && several > 400, "{stuck} {several}");
}
