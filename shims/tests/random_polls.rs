//! Random programs of loops that look at something under a lock until they see what they wait for have the outcomes that they have without the reduction.
//!
//! One test: rounds of a loop are told apart by all writable memory of the process, so nothing else may run in it.
#![cfg(mc)]

#[path = "common/chance.rs"]
mod chance;
mod common;

use std::sync::atomic::AtomicU64 as Bits;
use std::sync::atomic::Ordering::Relaxed as Plain;

use chance::Chance;
use mc::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use mc::sync::atomic::{AtomicUsize, Ordering};
use mc::sync::{Condvar, Mutex, RwLock};
use mc::thread;
use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions, Strategy};
use mc_runtime::outcome::{FailureKind, Outcome};

/// How many are looked at, under each memory model.
const PROGRAMS: u64 = 150;

/// How a loop takes what it looks under, and gives it back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lock {
    Mutex,
    Readers,
    /// A compare-exchange from 0 to 1 and a store of 0.
    Spin(Ordering, Ordering),
    /// The same, but for a swap of 0.
    Swap(Ordering, Ordering),
    /// Adds 2 and subtracts it.
    Count(Ordering, Ordering),
}

/// What a thread does.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Makes the data this.
    Set(Lock, usize),
    /// Looks until it sees one of these values, as bits.
    Poll(Lock, u32),
    /// Once.
    Look(Lock),
    /// Adds one, and says what it was.
    Bump(Lock),
    Store(usize),
    Load,
    /// Looks at the word of the lock of updates, or changes it.
    Peek,
    Meddle(usize),
    TryLock,
}

type Program = Vec<Vec<Step>>;

impl Chance {
    /// One of a kind, with any orderings.
    fn lock(&mut self, kind: usize) -> Lock {
        let acquire = [Acquire, Acquire, Relaxed][self.below(3)];
        let release = [Release, Release, Relaxed][self.below(3)];
        match kind {
            0 | 1 => Lock::Mutex,
            2 => Lock::Readers,
            3 => Lock::Spin(acquire, release),
            4 => Lock::Swap(acquire, release),
            _ => Lock::Count(acquire, release),
        }
    }

    fn step(&mut self, kind: usize) -> Step {
        let lock = self.lock(kind);
        match self.below(16) {
            0..3 => Step::Set(lock, 1 + self.below(2)),
            3..6 => Step::Bump(lock),
            6..9 => Step::Poll(lock, self.below(8) as u32),
            9 => Step::Look(lock),
            10 | 11 => Step::Store(self.below(3)),
            12 => Step::Load,
            13 => Step::Peek,
            14 => Step::Meddle(self.below(3)),
            _ => Step::TryLock,
        }
    }

    fn program(&mut self) -> Program {
        let kind = self.below(6);
        let poll = Step::Poll(self.lock(kind), self.below(8) as u32 & !1);
        let mut other = |steps: usize| (0..steps).map(|_| self.step(kind)).collect::<Vec<_>>();
        let [first, second, third] = [other(2), other(2), other(1)];
        let mut polls = vec![poll];
        polls.extend(&third[..self.below(2)]);
        match self.below(3) {
            0 => vec![polls, first],
            1 => vec![polls, first[..1].to_vec(), second[..1].to_vec()],
            _ => vec![polls, vec![first[0], Step::Poll(self.lock(kind), self.below(8) as u32)]],
        }
    }
}

#[derive(Default)]
struct Shared {
    mutex: Mutex<usize>,
    changed: Condvar,
    readers: RwLock<usize>,
    word: AtomicUsize,
    data: AtomicUsize,
}

/// Which form a loop has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Loop,
    /// It gives up after so many rounds, and so does its thread.
    Rounds(u32),
    /// Of a mutex: it waits for a condition variable.
    Wait,
}

impl Shared {
    fn under<T>(&self, lock: Lock, look: impl FnOnce(&AtomicUsize) -> T) -> T {
        match lock {
            Lock::Mutex | Lock::Readers => unreachable!("they have data of their own"),
            Lock::Spin(acquire, _) | Lock::Swap(acquire, _) => {
                while self.word.compare_exchange(0, 1, acquire, Relaxed).is_err() {}
            }
            Lock::Count(acquire, _) => {
                self.word.fetch_add(2, acquire);
            }
        }
        let seen = look(&self.data);
        match lock {
            Lock::Spin(_, release) => self.word.store(0, release),
            Lock::Swap(_, release) => {
                self.word.swap(0, release);
            }
            Lock::Mutex | Lock::Readers => {}
            Lock::Count(_, release) => {
                self.word.fetch_sub(2, release);
            }
        }
        seen
    }

    fn look(&self, lock: Lock) -> usize {
        match lock {
            Lock::Mutex => *self.mutex.lock().unwrap(),
            Lock::Readers => *self.readers.read().unwrap(),
            _ => self.under(lock, |data| data.load(Relaxed)),
        }
    }

    fn set(&self, lock: Lock, value: usize) {
        match lock {
            Lock::Mutex => {
                *self.mutex.lock().unwrap() = value;
                self.changed.notify_all();
            }
            Lock::Readers => *self.readers.write().unwrap() = value,
            _ => self.under(lock, |data| data.store(value, Relaxed)),
        }
    }

    fn bump(&self, lock: Lock) -> usize {
        let bump = |data: &mut usize| std::mem::replace(data, (*data + 1).min(4));
        match lock {
            Lock::Mutex => {
                let old = bump(&mut self.mutex.lock().unwrap());
                self.changed.notify_all();
                old
            }
            Lock::Readers => bump(&mut self.readers.write().unwrap()),
            _ => self.under(lock, |data| {
                let mut value = data.load(Relaxed);
                let old = bump(&mut value);
                data.store(value, Relaxed);
                old
            }),
        }
    }

    /// `None`: it has given up.
    fn poll(&self, lock: Lock, values: u32, form: Form) -> Option<usize> {
        let look = || Some(self.look(lock)).filter(|value| is_in(values, *value));
        match form {
            Form::Loop => loop {
                let seen = look();
                if seen.is_some() {
                    return seen;
                }
            },
            Form::Rounds(rounds) => (0..rounds).find_map(|_| look()),
            Form::Wait => {
                let found = self.changed.wait_while(self.mutex.lock().unwrap(), |value| !is_in(values, *value));
                Some(*found.unwrap())
            }
        }
    }

    /// What a thread sees, by fives, and how often it looks. Or what it waits for in the end.
    fn run(&self, steps: &[Step], form: Form) -> Result<(usize, u32), (Lock, u32)> {
        let mut all = (0, 0);
        for step in steps {
            let seen = match *step {
                Step::Set(lock, value) => {
                    self.set(lock, value);
                    continue;
                }
                Step::Store(value) => {
                    self.data.store(value, Release);
                    continue;
                }
                Step::Meddle(value) => {
                    self.word.store(value, Release);
                    continue;
                }
                Step::Poll(lock, values) => self.poll(lock, values, form).ok_or((lock, values))?,
                Step::Look(lock) => self.look(lock),
                Step::Bump(lock) => self.bump(lock),
                Step::Load => self.data.load(Acquire),
                Step::Peek => self.word.load(Acquire).min(4),
                Step::TryLock => self.mutex.try_lock().map_or(4, |value| *value),
            };
            all = (all.0 * 5 + seen, all.1 + 1);
        }
        Ok(all)
    }

    /// What is under the lock, when nobody is there any more.
    fn last(&mut self, lock: Lock) -> usize {
        match lock {
            Lock::Mutex => *self.mutex.get_mut().unwrap(),
            Lock::Readers => *self.readers.get_mut().unwrap(),
            _ => *self.data.get_mut(),
        }
    }
}

fn is_in(values: u32, value: usize) -> bool {
    values >> value & 1 == 1
}

static SEEN: [Bits; 1024] = [const { Bits::new(0) }; 1024];
static STUCK: Bits = Bits::new(0);

/// Those of the complete executions, as bits, and whether an execution ends where those that have given up would wait for ever.
fn outcomes(program: &'static Program, form: Form, options: &Options) -> (Vec<u64>, bool, Outcome) {
    SEEN.iter().chain([&STUCK]).for_each(|word| word.store(0, Plain));
    let outcome = common::explore(options, move || {
        let mut shared = Shared::default();
        let ended: Vec<_> = thread::scope(|scope| {
            let shared = &shared;
            let handles: Vec<_> = program.iter().map(|steps| scope.spawn(move || shared.run(steps, form))).collect();
            handles.into_iter().map(|handle| handle.join().expect("it does not panic")).collect()
        });
        let waits: Vec<_> = ended.iter().filter_map(|ended| ended.err()).collect();
        if waits.is_empty() {
            let seen = ended.into_iter().flatten().fold(0, |all, (seen, looks)| all * 5_usize.pow(looks) + seen);
            SEEN[seen / 64].fetch_or(1 << (seen % 64), Plain);
        } else if waits.into_iter().all(|(lock, values)| !is_in(values, shared.last(lock))) {
            STUCK.store(1, Plain);
        }
    });
    let seen = SEEN.iter().map(|word| word.load(Plain)).collect();
    let stuck = is_stuck(&outcome) || STUCK.load(Plain) > 0;
    (seen, stuck, outcome)
}

fn is_stuck(outcome: &Outcome) -> bool {
    use FailureKind::{Deadlock, Livelock, LostWakeup};
    assert!(outcome.failures.iter().all(|f| matches!(f.kind, Deadlock | Livelock | LostWakeup)), "{outcome:?}");
    !outcome.failures.is_empty()
}

#[test]
fn loops_that_look_under_a_lock_have_the_outcomes_that_they_have_without_the_reduction() {
    let alone = Reductions::default().without(Reduction::Symmetry);
    let (mut proved, mut stuck, mut waited) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let program: &'static Program = Box::leak(Box::new(Chance(seed).program()));
        for memory_model in [MemoryModel::Rc20, MemoryModel::Sc, MemoryModel::Tso] {
            let strategy = [Strategy::Dfs, Strategy::Bfs, Strategy::Random][seed as usize % 3];
            let snapshots = (seed % 2 == 1).then_some(4);
            let of = |reductions| Options {
                reductions,
                memory_model,
                max_failures: u64::MAX,
                strategy,
                snapshots,
                ..Options::default()
            };
            let limited = Options { max_executions: Some(500), max_events: 300, ..of(alone) };
            let (found, is_stuck, outcome) = outcomes(program, Form::Loop, &limited);
            if !outcome.bounds.is_empty() {
                continue;
            }
            proved += 1;
            stuck += u32::from(is_stuck);
            for rounds in [1, 2, 3] {
                let form = Form::Rounds(rounds);
                let (expected, waits, bounded) = outcomes(program, form, &of(alone.without(Reduction::Poll)));
                let is_missed = |(found, expected): (&u64, &u64)| expected & !found != 0;
                let misses = found.iter().zip(&expected).any(is_missed);
                assert!(!misses, "{rounds} rounds: {seed} {memory_model:?}: {program:?}");
                assert!(bounded.bounds.is_empty(), "{seed} {memory_model:?}: {program:?}");
                assert_eq!(is_stuck, waits, "{rounds} rounds: {seed} {memory_model:?}: {program:?}");
            }
            let (_, waits, all) =
                outcomes(program, Form::Loop, &Options { max_events: 300, ..of(Reductions::default()) });
            assert!(!all.bounds.is_empty() || waits == is_stuck, "{seed} {memory_model:?}: {program:?}");
            let is_mutex = |step: &Step| match step {
                Step::Set(lock, _) | Step::Poll(lock, _) | Step::Look(lock) | Step::Bump(lock) => *lock == Lock::Mutex,
                _ => true,
            };
            if program.iter().flatten().all(is_mutex) {
                let (expected, waits, _) = outcomes(program, Form::Wait, &of(alone));
                assert_eq!((&found, is_stuck), (&expected, waits), "{seed} {memory_model:?}: {program:?}");
                waited += 1;
            }
        }
    }
    assert!(proved > 200 && stuck > 100 && waited > 60, "{proved} {stuck} {waited}");
}
