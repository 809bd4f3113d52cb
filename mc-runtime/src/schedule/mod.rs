//! A schedule: one execution as a short string, `mc1.` and base 32.
//!
//! It names the choices that differ from the default rule along one linear order of the execution's events: the thread of the last event goes on,
//! each read sees the newest write, each choice takes its first value. Threads are numbered in the order of their spawns along it.

mod encode;
mod linear;

pub use encode::ScheduleError;
pub(crate) use linear::{Digest, Run, Turns, of_run};

use crate::options::MemoryModel;

/// What a deviation from the default rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// This thread makes the next event; of several, the last does, and the others start before it without an event of theirs.
    /// After the last event: it runs then, and fails before it has made another.
    Thread(u32),
    /// The next read or store is so many writes before the newest; the next choice takes this value.
    Choice(u32),
    /// The thread stops here for good: its spin loop has no effect. Which one is said before, even if it is the default.
    Stop {
        /// How many reads its last round made.
        reads: u32,
    },
}

/// A deviation before the event number `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// How many events there are before.
    pub at: u32,
    /// What is different.
    pub change: Change,
}

/// One execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The memory model that it was found under.
    pub memory_model: MemoryModel,
    /// Panics of spawned threads were part of the test.
    pub allow_panics: bool,
    /// How many spurious failures and spurious wake-ups each thread could have.
    pub spurious: (u32, u32),
    /// Each read of the heap had to be one of what was written.
    pub uninit: bool,
    /// What the exploration had learned, by the low 16 bits of the keys.
    pub learned: Vec<u16>,
    /// In order of `at`; a change of thread comes before the others.
    pub deviations: Vec<Deviation>,
    /// How many events it has.
    pub events: u32,
    /// A digest of the kinds of its events.
    pub digest: u16,
}

impl Schedule {
    /// The deviations before the event number `at`.
    pub fn at(&self, at: usize) -> impl Iterator<Item = Change> + '_ {
        let from = self.deviations.partition_point(|d| (d.at as usize) < at);
        self.deviations[from..].iter().take_while(move |d| d.at as usize == at).map(|d| d.change)
    }

    /// Where the thread stops for good, if it does so at the event number `from` or later: after a round of so many reads.
    pub(crate) fn stop_of(&self, thread: u32, from: u32) -> Option<u32> {
        let mut named = None;
        self.deviations.iter().filter(|d| d.at >= from).find_map(|deviation| match deviation.change {
            Change::Thread(name) => {
                named = Some((deviation.at, name));
                None
            }
            Change::Stop { reads } => (named == Some((deviation.at, thread))).then_some(reads),
            Change::Choice(_) => None,
        })
    }
}
