//! Random programs over all of the shims: all that a machine of small steps can do is shown, and nothing else; how they are explored makes no difference.
//!
//! One test: rounds of a loop are told apart by all writable memory of the process, so nothing else may run in it.
#![cfg(mc)]

#[path = "../common/chance.rs"]
mod chance;
#[path = "../common/mod.rs"]
mod common;
mod machine;
mod moves;
mod program;
mod run;
mod steps;

use std::cell::UnsafeCell;
use std::collections::BTreeSet;

use chance::Chance;
use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions, Strategy, Threads};
use mc_runtime::outcome::FailureKind;
use program::Program;
use run::Said;

/// How many are compared with the machine, and with each other.
const PROGRAMS: u64 = 200;

/// A waiter who is notified before the lock is free again, which `try_lock` sees.
const NOTIFIED_EARLY: u64 = 7_001_085;

/// Those with more executions are not looked at.
const MOST: u64 = 600;

const ROOM: usize = 4096;

/// Those outcomes that were seen. It allocates nothing: what a test allocates is gone with its execution.
struct Seen(UnsafeCell<[Said; ROOM]>);

// SAFETY: one thread of one check runs at a time.
unsafe impl Sync for Seen {}

static SEEN: Seen = Seen(UnsafeCell::new([[0; 5]; ROOM]));

impl Seen {
    #[expect(clippy::mut_from_ref, reason = "it stands for a global")]
    fn all(&self) -> &mut [Said; ROOM] {
        // SAFETY: as above, and nobody keeps it.
        unsafe { &mut *self.0.get() }
    }

    fn add(&self, said: Said) {
        let mix = |hash: u64, word: &u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        let mut at = said.iter().fold(0, mix) as usize % ROOM;
        let all = self.all();
        while all[at] != [0; 5] && all[at] != said {
            at = (at + 1) % ROOM;
        }
        all[at] = said;
    }
}

/// What an exploration shows.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// Hexadecimal digits: what each thread has said, and what is left in the end.
    outcomes: BTreeSet<String>,
    failures: BTreeSet<String>,
}

fn digits(said: &Said) -> String {
    format!("{said:x?}")
}

/// What it shows, and in how many executions; `None`: there are too many.
fn shown(program: &'static Program, options: &Options) -> Option<(Shown, u64)> {
    SEEN.all().fill([0; 5]);
    let limits = Options { max_failures: u64::MAX, allow_panics: true, max_events: 300, ..options.clone() };
    let limits = Options { max_executions: Some(MOST), ..limits };
    let outcome = common::explore(&limits, move || SEEN.add(run::run(program)));
    if outcome.bounds.iter().any(|bound| bound.limit.starts_with("max_")) {
        return None;
    }
    let outcomes = SEEN.all().iter().filter(|said| **said != [0; 5]).map(digits).collect();
    let failures = outcome.failures.iter().map(|failure| match failure.kind {
        FailureKind::Deadlock | FailureKind::Livelock | FailureKind::LostWakeup => "stuck".to_owned(),
        FailureKind::DataRace => "race".to_owned(),
        // Of a destructor of a thread-local.
        FailureKind::Panic => "panic".to_owned(),
        kind => panic!("{kind:?}: {}: {program:?}", failure.message),
    });
    Some((Shown { outcomes, failures: failures.collect() }, outcome.executions + outcome.blocked))
}

impl Shown {
    /// An execution that fails is cut: what depends on how it would have gone on is not explored.
    fn is_cut_short(&self) -> bool {
        self.failures.iter().any(|failure| failure != "stuck")
    }
}

/// Ways to explore that must not make a difference, of which a program is explored in some.
fn other_ways(seed: u64, executions: u64, base: &Options) -> Vec<Options> {
    use Reduction::{Await, Barrier, Observer, Poll, Readers, Retry, Symmetry, Unused, Value};
    const EACH: [Reduction; 9] = [Await, Barrier, Observer, Poll, Readers, Retry, Symmetry, Unused, Value];
    let without = |one| Options { reductions: Reductions::default().without(one), ..base.clone() };
    let mut others = vec![without(Reduction::All), without(EACH[seed as usize % EACH.len()])];
    let strategy = [Strategy::Bfs, Strategy::Random][seed as usize % 2];
    others.push(Options { strategy, ..base.clone() });
    others.push(Options { snapshots: Some(1 + (seed % 5) as u32), ..base.clone() });
    if executions < 20 {
        others.push(Options { threads: Threads::Os, ..base.clone() });
    }
    others
}

#[derive(Debug, Default)]
struct Counts {
    /// Programs that the machine knows.
    known: u64,
    several: u64,
    stuck: u64,
    /// Explorations that were compared.
    compared: u64,
    failed: u64,
}

/// All that the machine says is shown, and no more.
fn compare_with_machine(seed: u64, program: &'static Program, counts: &mut Counts) {
    let spurious = (seed % 3) as u8;
    let known = machine::knows(program).then(|| machine::Machine::new(program, spurious).outcomes(10_000));
    let Some((outcomes, stuck)) = known.flatten() else { return };
    let spurious_wakeups = u32::from(spurious);
    let options = Options { memory_model: MemoryModel::Sc, spurious_wakeups, ..Options::default() };
    let Some((found, _)) = shown(program, &options) else { return };
    counts.known += 1;
    counts.several += u64::from(outcomes.len() > 1);
    counts.stuck += u64::from(stuck);
    let failures = stuck.then(|| "stuck".to_owned()).into_iter().collect();
    let expected = Shown { outcomes: outcomes.iter().map(digits).collect(), failures };
    assert_eq!(found, expected, "{seed}: {program:?}");
}

/// It shows the same in whatever way it is explored.
fn compare_ways(seed: u64, program: &'static Program, counts: &mut Counts) {
    let memory_model = [MemoryModel::Rc20, MemoryModel::Rc20, MemoryModel::Sc, MemoryModel::Tso][seed as usize % 4];
    let base = Options { memory_model, ..Options::default() };
    let Some((first, executions)) = shown(program, &base) else { return };
    for options in other_ways(seed, executions, &base) {
        let Some((other, _)) = shown(program, &options) else { continue };
        counts.compared += 1;
        counts.failed += u64::from(!other.failures.is_empty());
        if first.is_cut_short() {
            assert!(other.is_cut_short(), "{seed}: {program:?}: {options:?}");
        } else {
            assert_eq!(other, first, "{seed}: {program:?}: {options:?}");
        }
    }
}

#[test]
fn programs_show_what_a_machine_says_in_whatever_way_they_are_explored() {
    let mut counts = Counts::default();
    for seed in (0..PROGRAMS).chain([NOTIFIED_EARLY]) {
        let program: &'static Program = Box::leak(Box::new(Chance(seed).program()));
        compare_with_machine(seed, program, &mut counts);
        compare_ways(seed, program, &mut counts);
    }
    let Counts { known, several, stuck, compared, failed } = counts;
    assert!(known > 90 && several > 45 && stuck > 20 && compared > 600 && failed > 150, "{counts:?}");
}
