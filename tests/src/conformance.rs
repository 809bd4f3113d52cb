//! Compares what the engine explores with what the executable specification says of the same program.
//!
//! Source: "Revisits, cheaply" of the engine's design. Complete executions and outcomes are the same. Blocked executions are the
//! same too, but where a program awaits a value there may be fewer: the engine ends an execution as soon as nothing can come of it.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions, Threads};
use mc_runtime::outcome::{FailureKind, Outcome};

use crate::corpus::{Entry, Expected};
use crate::interpret::{Finals, explore, explore_symmetric};
use crate::program::ProgramError;

/// How the engine differs from the specification on one program. Shown with the program.
#[derive(Debug)]
pub struct Difference {
    entry: Box<Entry>,
    model: MemoryModel,
    complaints: Vec<Complaint>,
}

/// One difference.
#[derive(Debug, thiserror::Error)]
enum Complaint {
    #[error("cannot be run: {0}")]
    Program(#[from] ProgramError),
    #[error("{what} executions: expected {expected}, got {got}")]
    Count { what: &'static str, expected: u64, got: u64 },
    #[error("the outcome {0:?} is missing")]
    Missing(Vec<i64>),
    #[error("the outcome {0:?} is not one of the specification's")]
    Invented(Vec<i64>),
    #[error("many more outcomes than the specification's {0}")]
    TooMany(usize),
    #[error("unexpected failure {0:?}: {1}")]
    Failure(FailureKind, String),
    #[error("it was cut by `{0}`")]
    Cut(String),
}

/// Explores the program of `entry` and compares.
///
/// Whether symmetric executions were explored although they are taken as one: see [`Tally::whole`].
///
/// # Errors
/// If there is a difference.
pub fn compare(entry: &Entry, model: MemoryModel, threads: Threads) -> Result<bool, Difference> {
    let complaints = match complaints(entry, model, threads) {
        Ok((whole, complaints)) if complaints.is_empty() => return Ok(whole),
        Ok((_, complaints)) => complaints,
        Err(error) => vec![error.into()],
    };
    Err(Difference { entry: Box::new(entry.clone()), model, complaints })
}

fn expected(entry: &Entry, model: MemoryModel) -> &Expected {
    match model {
        MemoryModel::Sc => &entry.expect.sc,
        MemoryModel::Rc20 => &entry.expect.rc20,
        MemoryModel::Tso => entry.expect.tso.as_ref().expect("the programs of the repository have it"),
    }
}

fn complaints(entry: &Entry, model: MemoryModel, threads: Threads) -> Result<(bool, Vec<Complaint>), ProgramError> {
    let expected = expected(entry, model);
    let program = entry.program.resolve(&entry.columns)?;
    let room = expected.finals.as_ref().map_or(0, |rows| rows.len() + 16);
    let explore = if entry.whole.is_some() { explore_symmetric } else { explore };
    // With the axioms, executions go on from snapshots. What symmetric threads have seen so far is kept where those do not hold it.
    let snapshots = entry.whole.is_none().then_some(2);
    let options = Options { snapshots, ..options(model, threads) };
    let (outcome, finals) = explore(&program, &options, room);
    let mut complaints = Vec::new();
    let whole = explored_whole(entry, model, &outcome);
    if !whole {
        compare_counts(entry, expected, &outcome, &mut complaints);
    }
    if let Some(rows) = &expected.finals {
        compare_finals(rows, finals, &mut complaints);
    }
    Ok((whole, complaints))
}

/// The specification has an event for each operation, and goes on after a failure.
fn options(memory_model: MemoryModel, threads: Threads) -> Options {
    let none = [Reduction::Unused, Reduction::Value, Reduction::Observer];
    let reductions = none.into_iter().fold(Reductions::default(), Reductions::without);
    Options { memory_model, threads, reductions, max_failures: u64::MAX, ..Options::default() }
}

/// Where RC20 allows (program order, reads-from or modification order) to be cyclic, or may do so, the engine explores all of the symmetric executions.
fn explored_whole(entry: &Entry, model: MemoryModel, outcome: &Outcome) -> bool {
    let whole = entry.whole.is_some_and(|whole| model == MemoryModel::Rc20 && outcome.executions == whole.rc20);
    let expected = expected(entry, model);
    whole && (outcome.executions, outcome.blocked) != (expected.complete, expected.blocked)
}

fn compare_counts(entry: &Entry, expected: &Expected, outcome: &Outcome, complaints: &mut Vec<Complaint>) {
    if outcome.executions != expected.complete {
        complaints.push(Complaint::Count { what: "complete", expected: expected.complete, got: outcome.executions });
    }
    let fewer = entry.program.awaits() && outcome.blocked < expected.blocked;
    if outcome.blocked != expected.blocked && !fewer {
        complaints.push(Complaint::Count { what: "blocked", expected: expected.blocked, got: outcome.blocked });
    }
    // Threads that wait for ever are part of these programs; everything else that is reported is a mistake.
    let waits = [FailureKind::Deadlock, FailureKind::LostWakeup, FailureKind::Livelock];
    if let Some(failure) = outcome.failures.iter().find(|failure| !waits.contains(&failure.kind)) {
        complaints.push(Complaint::Failure(failure.kind, failure.message.clone()));
    }
    complaints.extend(outcome.bounds.iter().map(|bound| Complaint::Cut(bound.limit.clone())));
}

fn compare_finals(rows: &[Vec<i64>], finals: Finals, complaints: &mut Vec<Complaint>) {
    let got = match finals {
        Finals::All(got) => got,
        Finals::TooMany(got) => {
            complaints.push(Complaint::TooMany(rows.len()));
            got
        }
    };
    let expected: BTreeSet<Vec<i64>> = rows.iter().cloned().collect();
    complaints.extend(expected.difference(&got).cloned().map(Complaint::Missing));
    complaints.extend(got.difference(&expected).cloned().map(Complaint::Invented));
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = expected(&self.entry, self.model);
        let (title, name) = (self.entry.title(), self.model);
        writeln!(f, "{title} under {name} ({} complete, {} blocked):", expected.complete, expected.blocked)?;
        write!(f, "{}", self.entry.program)?;
        if !self.entry.columns.is_empty() {
            writeln!(f, "  outcomes are of {}", self.entry.columns.join(" "))?;
        }
        for complaint in self.complaints.iter().take(8) {
            writeln!(f, "  - {complaint}")?;
        }
        Ok(())
    }
}

/// Counts programs and keeps the first differences.
#[derive(Debug, Default)]
pub struct Tally {
    threads: Threads,
    /// How many programs were compared, once for each memory model.
    pub compared: u64,
    /// How many of these comparisons found a difference.
    pub wrong: u64,
    /// How many programs of symmetric threads were explored whole, since RC20 allows (program order, reads-from or modification order) to be cyclic in them, or may do so.
    pub whole: u64,
    first: Vec<Difference>,
}

impl Tally {
    /// Nothing is compared yet; the threads of programs are run by `threads`.
    pub fn on(threads: Threads) -> Self {
        Self { threads, ..Self::default() }
    }

    /// Compares one more program.
    pub fn add(&mut self, entry: &Entry, model: MemoryModel) {
        self.compared += 1;
        match compare(entry, model, self.threads) {
            Ok(whole) => self.whole += u64::from(whole),
            Err(difference) => {
                self.wrong += 1;
                if self.first.len() < 5 {
                    self.first.push(difference);
                }
            }
        }
    }

    /// # Errors
    /// If a program differs, or none was compared. The message has the first ones.
    pub fn verdict(&self) -> Result<(), String> {
        if self.compared > 0 && self.wrong == 0 && self.whole * 10 < self.compared {
            return Ok(());
        }
        let Self { compared, wrong, whole, .. } = self;
        let mut text =
            format!("{wrong} of {compared} comparisons differ from the specification, {whole} without symmetry\n");
        for difference in &self.first {
            write!(text, "\n{difference}").expect("writing to a string succeeds");
        }
        Err(text)
    }
}
