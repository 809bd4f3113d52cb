//! What client and worker say to each other: `{"progress":{"executions":3,…}}`. (With the tag beside the fields, a seventh of the time that the whole checker takes to compile would go into reading them.)

use serde::{Deserialize, Serialize};

use crate::json;
use crate::judge::Required;
use crate::options::Options;
use crate::outcome::{Failure, Outcome, Site};

/// The environment variable that makes a test binary a worker: a [`Task`] as JSON.
///
/// The client starts the binary as `BINARY TEST --exact --nocapture --test-threads=1 --include-ignored --quiet` for a check or replay, and
/// as `BINARY --list --format terse` for a listing (a binary that knows nothing of cargo-mc then only lists, in libtest's form).
pub const ENVIRONMENT: &str = "MC_WORKER";

/// What a worker is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Say which checked tests the binary has: one [`Message::Tests`].
    List,
    /// Explore the test that libtest is about to run: [`Message::Started`], [`Message::Progress`] now and then,
    /// perhaps [`Message::Again`], [`Message::Failure`] as found, at last [`Message::Done`]. On SIGINT or SIGTERM `Done` follows at once, with `interrupted`.
    Check {
        /// Everything that was decided about it.
        options: Options,
    },
    /// Run exactly one execution: [`Message::Trace`] for each event, at last [`Message::Replayed`].
    Replay {
        /// Everything that was decided about it (limits count here too).
        options: Options,
        /// As in [`Failure::schedule`].
        schedule: String,
    },
}

impl Task {
    /// As the environment holds it.
    #[must_use]
    pub fn to_text(&self) -> String {
        json::to_text(self)
    }

    /// # Errors
    /// Why the text is no task.
    pub fn from_text(text: &str) -> Result<Self, String> {
        json::from_text(text)
    }
}

/// A checked test of a binary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestInfo {
    /// Its libtest name.
    pub name: String,
    /// As the compiler names the file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// Marked `#[ignore]`.
    pub ignored: bool,
    /// The options of its attribute, as written: `[["expect", "deadlock"], ["max_executions", "10000"]]`.
    pub options: Vec<(String, String)>,
}

/// One line of a worker's output.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The answer to [`Task::List`].
    Tests {
        /// In the order of the binary's link section.
        tests: Vec<TestInfo>,
    },
    /// The test exists and its exploration begins.
    Started,
    /// At most every 100 ms.
    Progress {
        /// Complete executions so far.
        executions: u64,
        /// Blocked executions so far.
        blocked: u64,
        /// About how many executions there are, if known; at most 10^18.
        estimate: Option<f64>,
        /// Items in the frontier.
        frontier: u64,
    },
    /// The check goes on, although no execution has ended for a while: a long one may take longer than the client waits.
    Working,
    /// The process crashed or hung in an execution that went on from a snapshot. Another begins in its place, without any: what was said so far does not count.
    Again,
    /// A counterexample.
    Failure(Failure),
    /// The end of a check.
    Done(Outcome),
    /// The end of the check of one model, of which a test may have several (see `mc_runtime::models`). The test goes on.
    Model {
        /// What came of it.
        outcome: Outcome,
        /// What it must come to if nobody asks for something else.
        require: Required,
    },
    /// The test panicked outside of a check, after its first.
    Panicked {
        /// What it said.
        message: String,
        /// Where.
        site: Option<Site>,
    },
    /// An event of a replay, in the order of execution.
    Trace(TraceEvent),
    /// The end of a replay.
    Replayed(Replayed),
    /// The task could not be done; nothing follows. (For example a schedule string that is damaged.)
    Error {
        /// For people.
        message: String,
        /// The exit code that fits, of the README's table.
        exit_code: u8,
    },
}

impl Message {
    /// As a line, without its end.
    #[must_use]
    pub fn to_text(&self) -> String {
        json::to_text(self)
    }

    /// # Errors
    /// Why the line is no message.
    pub fn from_text(line: &str) -> Result<Self, String> {
        json::from_text(line)
    }
}

/// How a replay ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replayed {
    /// The same failure.
    Failed(Failure),
    /// The execution ran along the schedule and nothing failed.
    Passed,
    /// The program did something else than the schedule says.
    Diverged {
        /// What was expected and what was found, both with their places.
        message: String,
    },
}

impl Replayed {
    /// How much it says of the execution that was asked for, where a schedule was tried on several models.
    pub(crate) fn says(&self) -> u8 {
        match self {
            Self::Diverged { .. } => 0,
            Self::Passed => 1,
            Self::Failed(_) => 2,
        }
    }
}

/// One event, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// 0 is the body of the test.
    pub thread: u32,
    /// The thread's name, if it has one.
    pub name: Option<String>,
    /// The operation in words, with values: `load(Acquire) = 1`, `Mutex::lock`, `spawn T1`.
    pub text: String,
    /// Where the user's code made it.
    pub site: Option<Site>,
    /// The column of the called method on that line, in characters, from 1; 0 if it is not known.
    #[serde(default)]
    pub column: u32,
    /// For a load: the newest value that it could have seen but did not (`stale: 42 exists`); for a wait: what it waits for.
    pub note: Option<String>,
    /// The event takes part in the failure (the two accesses of a race, the waits of a deadlock, the panic).
    pub culprit: bool,
    /// For a lock that is given back: how and where it was taken.
    pub taken: Option<Taken>,
}

/// See [`TraceEvent::taken`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The name of the method.
    pub method: String,
    /// Where it was called.
    pub site: Site,
    /// As of an event.
    pub column: u32,
}
