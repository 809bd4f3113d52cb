//! Random programs of loops that retry with the value that a failed exchange has seen have the outcomes that they have without the reduction.
//!
//! One test: rounds of a loop are told apart by all writable memory of the process, so nothing else may run in it.
#![cfg(mc)]

#[path = "common/chance.rs"]
mod chance;
mod common;

use std::cell::Cell;
use std::sync::atomic::AtomicU64 as Bits;
use std::sync::atomic::Ordering::Relaxed as Plain;

use chance::Chance;
use mc::sync::Arc;
use mc::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use mc::sync::atomic::{AtomicUsize, fence};
use mc::thread;
use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions};

/// How a loop retries.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Plain,
    Weak,
    /// It loads the other location in each round.
    LooksAround,
    /// It loads again after a failure, the first time elsewhere in the code.
    LoadsAgain,
    /// It says how many rounds there were, ...
    Counts,
    /// ... and has that number elsewhere.
    CountsElsewhere,
    /// It says what it saw in the round before, ...
    Remembers,
    /// ... or only writes it.
    WritesWhatItRemembers,
    /// There is a fence in each round.
    Fences,
    /// It gives up after some rounds.
    GivesUp,
    /// It loads twice before, ...
    LoadsTwice,
    /// ... and says whether it saw the same.
    LoadsTheSame,
    /// Where there is nothing to do, it looks once more elsewhere in the code, ...
    LooksAgain,
    /// ... and says that it did.
    SaysThatItLooks,
    /// It loads in each round, and does not look at what a failed exchange has seen, ...
    LoadsFirst,
    /// ... and loads the other location too.
    LoadsBoth,
    /// std's own.
    Std,
}

#[derive(Clone, Copy, Debug)]
struct Update {
    at: usize,
    /// What each value becomes; some end the loop.
    becomes: [Option<usize>; 4],
    shape: Shape,
    /// Which of [`ORDERS`].
    orders: usize,
}

type Retry = fn(&Update, &[AtomicUsize; 2], &Cell<usize>) -> usize;

/// Of the load, of the exchange, and of one that fails: as constants, so that the code is what it is in a program.
macro_rules! orders {
    ($([$load:ident, $success:ident, $failure:ident])*) => {
        const ORDERS: &[Retry] =
            &[$(|update, locations, rounds| retry!(update, locations, rounds, $load, $success, $failure)),*];
    };
}

/// Retries until it is done; what it saw, below 32.
macro_rules! retry {
    ($update:expr, $locations:expr, $rounds:expr, $load:ident, $success:ident, $failure:ident) => {{
        let Update { at, becomes, shape, .. } = *$update;
        let (location, other) = (&$locations[at], &$locations[1 - at]);
        let mut old = location.load($load);
        match shape {
            Shape::Plain => loop {
                let Some(new) = becomes[old] else { return 16 + old };
                match location.compare_exchange(old, new, $success, $failure) {
                    Ok(old) => return old,
                    Err(newer) => old = newer,
                }
            },
            Shape::Weak => loop {
                let Some(new) = becomes[old] else { return 16 + old };
                match location.compare_exchange_weak(old, new, $success, $failure) {
                    Ok(old) => return old,
                    Err(newer) => old = newer,
                }
            },
            Shape::LooksAround => loop {
                let seen = other.load($load);
                let Some(new) = becomes[(old + seen) % 4] else { return 16 + old };
                match location.compare_exchange(old, new, $success, $failure) {
                    Ok(old) => return old * 4 + seen,
                    Err(newer) => old = newer,
                }
            },
            Shape::LoadsAgain => loop {
                let Some(new) = becomes[old] else { return 16 + old };
                if location.compare_exchange(old, new, $success, $failure).is_ok() {
                    return old;
                }
                old = location.load($failure);
            },
            Shape::Counts => {
                let mut rounds = 0;
                loop {
                    let Some(new) = becomes[old] else { return 16 + old + 4 * rounds };
                    match location.compare_exchange(old, new, $success, $failure) {
                        Ok(old) => return old + 4 * rounds,
                        Err(newer) => (old, rounds) = (newer, 3.min(rounds + 1)),
                    }
                }
            }
            Shape::CountsElsewhere => {
                $rounds.set(0);
                loop {
                    let Some(new) = becomes[old] else { return 16 + old + 4 * $rounds.get() };
                    match location.compare_exchange(old, new, $success, $failure) {
                        Ok(old) => return old + 4 * $rounds.get(),
                        Err(newer) => (old, _) = (newer, $rounds.set(1)),
                    }
                }
            }
            Shape::Remembers => {
                let mut before = 0;
                loop {
                    let Some(new) = becomes[old] else { return 16 + old };
                    match location.compare_exchange(old, new, $success, $failure) {
                        Ok(old) => return old * 4 + before,
                        Err(newer) => (before, old) = (old, newer),
                    }
                }
            }
            Shape::WritesWhatItRemembers => {
                let mut before = 0;
                loop {
                    match location.compare_exchange(old, before, $success, $failure) {
                        Ok(old) => return old,
                        Err(newer) => (before, old) = (old, newer),
                    }
                }
            }
            Shape::Fences => loop {
                let Some(new) = becomes[old] else { return 16 + old };
                match location.compare_exchange(old, new, $success, Relaxed) {
                    Ok(old) => return old,
                    Err(newer) => old = newer,
                }
                fence(Acquire);
            },
            Shape::GivesUp => {
                for _ in 0..2 {
                    let Some(new) = becomes[old] else { return 16 + old };
                    match location.compare_exchange(old, new, $success, $failure) {
                        Ok(old) => return old,
                        Err(newer) => old = newer,
                    }
                }
                24 + old
            }
            Shape::LoadsTwice => {
                old = location.load($load);
                loop {
                    let Some(new) = becomes[old] else { return 16 + old };
                    match location.compare_exchange(old, new, $success, $failure) {
                        Ok(old) => return old,
                        Err(newer) => old = newer,
                    }
                }
            }
            Shape::LoadsTheSame => {
                let before = old;
                old = location.load($load);
                let same = 4 * usize::from(old == before);
                let Some(new) = becomes[old] else { return 16 + same + old };
                location
                    .compare_exchange(old, new, $success, $failure)
                    .map_or_else(|newer| 24 + newer, |old| same + old)
            }
            Shape::LooksAgain => {
                if becomes[old].is_none() {
                    old = location.load($load);
                }
                loop {
                    let Some(new) = becomes[old] else { return 16 + old };
                    match location.compare_exchange(old, new, $success, $failure) {
                        Ok(old) => return old,
                        Err(newer) => old = newer,
                    }
                }
            }
            Shape::SaysThatItLooks => {
                let looks = becomes[old].is_none();
                if looks {
                    old = location.load($load);
                }
                loop {
                    let Some(new) = becomes[old] else { return 16 + 4 * usize::from(looks) + old };
                    match location.compare_exchange(old, new, $success, $failure) {
                        Ok(old) => return 4 * usize::from(looks) + old,
                        Err(newer) => old = newer,
                    }
                }
            }
            Shape::LoadsFirst => loop {
                let old = location.load($load);
                let Some(new) = becomes[old] else { return 16 + old };
                if location.compare_exchange(old, new, $success, $failure).is_ok() {
                    return old;
                }
            },
            Shape::LoadsBoth => loop {
                let old = location.load($load);
                let seen = other.load($load);
                let Some(new) = becomes[(old + seen) % 4] else { return 16 + old };
                if location.compare_exchange(old, new, $success, $failure).is_ok() {
                    return old * 4 + seen;
                }
            },
            Shape::Std => match location.fetch_update($success, $failure, |old| becomes[old]) {
                Ok(old) => old,
                Err(old) => 16 + old,
            },
        }
    }};
}

orders! {
    [Relaxed, Relaxed, Relaxed]
    [Relaxed, Release, Acquire]
    [Acquire, AcqRel, Relaxed]
    [Acquire, AcqRel, Acquire]
    [Relaxed, SeqCst, Acquire]
    [SeqCst, SeqCst, Relaxed]
    [SeqCst, SeqCst, SeqCst]
}

/// What a thread does, on one of two locations.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize, Ordering),
    Store(usize, usize, Ordering),
    Swap(usize, usize),
    Update(Update),
}

type Program = Vec<Vec<Step>>;

impl Chance {
    fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len() as u64)]
    }

    fn update(&mut self) -> Step {
        use Shape::{
            Counts, CountsElsewhere, Fences, GivesUp, LoadsAgain, LoadsBoth, LoadsFirst, LoadsTheSame, LoadsTwice,
            LooksAgain, LooksAround, Plain, Remembers, SaysThatItLooks, Std, Weak, WritesWhatItRemembers,
        };
        const SHAPES: [Shape; 21] = [
            Plain,
            Plain,
            Plain,
            Weak,
            LooksAround,
            LooksAround,
            LoadsAgain,
            Counts,
            CountsElsewhere,
            Remembers,
            WritesWhatItRemembers,
            Fences,
            GivesUp,
            LoadsTwice,
            LoadsTheSame,
            LooksAgain,
            SaysThatItLooks,
            LoadsFirst,
            LoadsFirst,
            LoadsBoth,
            Std,
        ];
        let add = 1 + self.below(3);
        let ends = self.below(8);
        let becomes = [0, 1, 2, 3].map(|value| (value != ends).then_some((value + add) % 4));
        let orders = self.below(ORDERS.len() as u64);
        Step::Update(Update { at: self.below(3) / 2, becomes, shape: self.of(&SHAPES), orders })
    }

    fn step(&mut self) -> Step {
        let at = self.below(2);
        match self.below(8) {
            0 => Step::Store(at, self.below(4), self.of(&[Relaxed, Release, SeqCst])),
            1 => Step::Swap(at, self.below(4)),
            2 => Step::Load(at, self.of(&[Relaxed, Acquire, SeqCst])),
            _ => self.update(),
        }
    }

    fn program(&mut self) -> Program {
        let lengths: &[usize] = self.of(&[&[1, 1], &[2, 1], &[2, 2], &[1, 1, 1], &[1, 2, 1], &[3, 1]]);
        let mut program: Program = lengths.iter().map(|steps| (0..*steps).map(|_| self.step()).collect()).collect();
        if self.below(3) == 0 {
            // A message, and that it is there.
            program[1] = vec![Step::Store(1, 1, Relaxed), Step::Store(0, 1 + self.below(3), Release)];
        }
        program[0].push(self.update());
        program
    }
}

/// What the step sees, if it looks, below 32.
fn take(step: &Step, locations: &[AtomicUsize; 2], rounds: &Cell<usize>) -> Option<usize> {
    match step {
        Step::Load(at, order) => Some(locations[*at].load(*order)),
        Step::Store(at, value, order) => {
            locations[*at].store(*value, *order);
            None
        }
        Step::Swap(at, value) => Some(locations[*at].swap(*value, AcqRel)),
        Step::Update(of) => Some(ORDERS[of.orders](of, locations, rounds)),
    }
}

fn combine(a: u64, b: u64) -> u64 {
    (a.wrapping_mul(37) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Of the complete executions of a program.
struct Outcomes {
    /// As bits of a hash.
    seen: Vec<u64>,
    executions: u64,
}

/// `None` where there are too many.
fn outcomes(
    program: &'static Program,
    reductions: Reductions,
    memory_model: MemoryModel,
    lend: bool,
) -> Option<Outcomes> {
    static SEEN: [Bits; 1024] = [const { Bits::new(0) }; 1024];
    SEEN.iter().for_each(|word| word.store(0, Plain));
    let options = Options { reductions, memory_model, max_executions: Some(20_000), ..Options::default() };
    let outcome = common::explore(&options, move || {
        let add = |seen: u64, value| combine(seen, value as u64 + 1);
        let run = move |steps: &[Step], locations: &_| {
            let rounds = Box::new(Cell::new(0));
            steps.iter().filter_map(|step| take(step, locations, &rounds)).fold(0, add)
        };
        let locations = || [const { AtomicUsize::new(0) }; 2];
        let (seen, end) = if lend {
            let locations = locations();
            let seen = thread::scope(|scope| {
                let spawn = |steps: &'static Vec<Step>| {
                    let locations = &locations;
                    scope.spawn(move || run(steps, locations))
                };
                // The first are the scope's own, on whose stack the locations are.
                let handles: Vec<_> = program[1..].iter().map(spawn).collect();
                let own = run(&program[0], &locations);
                handles.into_iter().map(|handle| handle.join().expect("it does not panic")).fold(own, combine)
            });
            (seen, locations.map(AtomicUsize::into_inner))
        } else {
            let locations = Arc::new(locations());
            let spawn = |steps: &'static Vec<Step>| {
                let locations = locations.clone();
                thread::spawn(move || run(steps, &locations))
            };
            let handles: Vec<_> = program.iter().map(spawn).collect();
            let seen = handles.into_iter().map(|handle| handle.join().expect("it does not panic"));
            (seen.fold(0_u64, combine), [0, 1].map(|at| locations[at].load(Relaxed)))
        };
        let seen = end.into_iter().fold(seen, add) >> 48;
        SEEN[seen as usize / 64].fetch_or(1 << (seen % 64), Plain);
    });
    assert!(outcome.failures.is_empty(), "{outcome:?}");
    let seen = SEEN.iter().map(|word| word.load(Plain)).collect();
    outcome.bounds.is_empty().then_some(Outcomes { seen, executions: outcome.executions })
}

#[test]
fn random_retries_have_the_outcomes_that_they_have_without_the_reduction() {
    let (mut fewer, mut compared, mut saved) = (0, 0, 0);
    for seed in 0..600 {
        let program: &'static Program = Box::leak(Box::new(Chance(seed).program()));
        let lend = seed % 3 == 0;
        for model in [MemoryModel::Rc20, MemoryModel::Sc, MemoryModel::Tso] {
            let Some(expected) = outcomes(program, Reductions::default().without(Reduction::All), model, lend) else {
                continue;
            };
            let found = outcomes(program, Reductions::default(), model, lend).expect("they are fewer");
            assert_eq!(
                found.seen, expected.seen,
                "{seed} {model:?} {lend}: {program:?} {} {}",
                found.executions, expected.executions
            );
            compared += 1;
            fewer += u32::from(found.executions < expected.executions);
            saved += expected.executions - found.executions.min(expected.executions);
        }
    }
    assert!(compared > 1000 && fewer > 300 && saved > 5_000, "{compared} {fewer} {saved}");
}
