//! What a check found, as data: verdict, bounds, failures. Everything that is printed anywhere is made from these.

use serde::{Deserialize, Serialize};

use crate::judge::Required;
use crate::settings;

/// What is known about a test after its exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every execution was explored, nothing was cut.
    Proved,
    /// A counterexample was found.
    Failed,
    /// Explored up to the bounds that are named.
    Bounded,
    /// Independent random executions.
    Sampled,
    /// Run once, without a check: a plain test beside those that are checked.
    Ran,
    /// Stopped from outside; what was learned so far holds.
    Interrupted,
    /// The tool could not check it (not the code's fault, or not known to be).
    Error,
}

/// A limit that cut the exploration, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The option's name, as in `max_events`.
    pub limit: String,
    /// Its value, in the option's unit (milliseconds for times, bytes for memory).
    pub value: u64,
    /// How many executions (or frontier items) it cut.
    pub cut: u64,
    /// Of `max_events`: who made the most of them, in the first execution that it cut. Of `address_reuse`: who compares.
    #[serde(default)]
    pub spot: Option<Spot>,
}

/// A thread, and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// As in [`Failure::thread`].
    pub thread: String,
    /// Where it does that, last if it does so often.
    pub site: Option<Site>,
}

impl Bound {
    /// A limit of this name and value that cut so many.
    #[must_use]
    pub fn new(limit: &str, value: u64, cut: u64) -> Self {
        Self { limit: limit.to_owned(), value, cut, spot: None }
    }

    /// Is its value a time?
    #[must_use]
    pub fn is_time(&self) -> bool {
        self.limit == "time_limit"
    }

    /// Its value as the option takes it: `5ms`, `1000`.
    #[must_use]
    pub fn given(&self) -> String {
        if self.is_time() { settings::of_duration(self.value) } else { self.value.to_string() }
    }
}

/// The kinds of failure; the names in JSON are those of `expect = "..."`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "described in the README's table of failure kinds")]
pub enum FailureKind {
    Panic,
    Deadlock,
    LostWakeup,
    Livelock,
    DataRace,
    Leak,
    UseAfterFree,
    DoubleFree,
    OutOfBounds,
    Uninit,
    Crash,
    StackOverflow,
    Hang,
    Nondeterminism,
    Uncontrolled,
    Contract,
    Monitor,
}

/// One line of the user's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// As the compiler names it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// A counterexample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// One line, then (after a line break) details.
    pub message: String,
    /// The thread that failed, as `T2` or `T2 name`; `main` is the body.
    pub thread: String,
    /// Where.
    pub site: Option<Site>,
    /// Replays it.
    pub schedule: String,
    /// The number of the execution that found it, from 1.
    pub execution: u64,
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What is known.
    pub verdict: Verdict,
    /// Executions in which every thread ended.
    pub executions: u64,
    /// Executions that ended with a thread that waits, without being a failure of their own.
    pub blocked: u64,
    /// The limits that cut it.
    pub bounds: Vec<Bound>,
    /// The counterexamples.
    pub failures: Vec<Failure>,
    /// Frontier items not explored.
    pub frontier: u64,
    /// Wall time, seconds.
    pub seconds: f64,
    /// The test itself asks for a failure, by `#[should_panic]`, and is content with this one.
    #[serde(default)]
    pub wanted: bool,
    /// What the models of the test must come to, if it says so itself: where one came to less, what was missed.
    #[serde(default)]
    pub required: Option<Required>,
}

impl Outcome {
    /// Of which nothing is known yet but the verdict.
    pub fn of(verdict: Verdict) -> Self {
        let (bounds, failures) = (Vec::new(), Vec::new());
        Self {
            verdict,
            executions: 0,
            blocked: 0,
            bounds,
            failures,
            frontier: 0,
            seconds: 0.0,
            wanted: false,
            required: None,
        }
    }

    /// Adds what came of another check of the same test: the worse verdict counts.
    pub fn add(&mut self, other: Outcome) {
        let badness = |verdict| match verdict {
            Verdict::Ran => 0,
            Verdict::Proved => 1,
            Verdict::Bounded => 2,
            Verdict::Sampled => 3,
            Verdict::Interrupted => 4,
            Verdict::Error => 5,
            Verdict::Failed => 6,
        };
        if badness(other.verdict) > badness(self.verdict) {
            self.verdict = other.verdict;
        }
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.bounds.extend(other.bounds);
        self.failures.extend(other.failures);
        self.frontier += other.frontier;
        self.seconds += other.seconds;
    }
}
