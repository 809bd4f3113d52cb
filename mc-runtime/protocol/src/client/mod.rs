//! The side that starts workers: lists, checks and replays tests of a binary, and makes an outcome even of a worker that died.
//!
//! Not here: what a worker does (`worker::server`), whether an outcome is good (`judge`), and how it is shown.

mod died;
mod models;
mod process;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::message::{Message, Replayed, Task, TestInfo, TraceEvent};
use crate::options::Options;
use crate::outcome::{Bound, Failure, Outcome, Verdict};
pub use models::Listed;
use process::{Next, Output, Process};

/// A test binary and how to start it.
#[derive(Clone, Debug)]
pub struct Binary {
    /// The executable.
    pub executable: PathBuf,
    /// Where it runs (cargo runs tests in their package's directory); here if `None`.
    pub directory: Option<PathBuf>,
    /// Variables that it gets on top of this process's own.
    pub environment: Vec<(String, String)>,
}

/// How a worker is started, see [`Binary::replayed_by_hand`].
#[derive(Clone, Debug)]
pub struct ByHand {
    /// Of the executable.
    pub arguments: Vec<String>,
    /// Variables that it gets on top of this process's own.
    pub environment: Vec<(String, String)>,
}

/// What is to become of a running worker. Asked at each message, and about 20 times a second without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// Let it work.
    Continue,
    /// Let it say what it knows, then end. It has two seconds.
    Stop,
    /// End it now.
    Kill,
}

/// Why a worker could not do its task.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The executable did not start.
    #[error("cannot start `{}`: {source}", .executable.display())]
    Start {
        /// Which one.
        executable: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The worker says so itself.
    #[error("{message}")]
    Refused {
        /// Why.
        message: String,
        /// The exit code that it asks for.
        exit_code: u8,
    },
    /// It answers in a form that this version does not know.
    #[error(
        "`{}` speaks another version of the protocol (use the same version of `cargo-mc` and `mc-shims`): {line}",
        .executable.display()
    )]
    Protocol {
        /// Which one.
        executable: PathBuf,
        /// The line that cannot be read.
        line: String,
    },
    /// It ended without a word.
    #[error("`{}` ran `{test}` without checking it ({status}); is it built with `--cfg mc`?", .executable.display())]
    Silent {
        /// Which one.
        executable: PathBuf,
        /// The test.
        test: String,
        /// How it ended.
        status: String,
    },
    /// It does not answer.
    #[error("`{}` did not list its tests within {seconds} seconds", .executable.display())]
    ListTimeout {
        /// Which one.
        executable: PathBuf,
        /// How long.
        seconds: u64,
    },
    /// It was ended by [`Control`].
    #[error("stopped")]
    Stopped,
}

impl ClientError {
    /// The exit code that fits, of the README's table.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Refused { exit_code, .. } => *exit_code,
            Self::Stopped => 130,
            Self::Start { .. } | Self::Protocol { .. } | Self::Silent { .. } | Self::ListTimeout { .. } => 96,
        }
    }
}

/// How often [`Control`] is asked for when nothing is heard.
const TICK: Duration = Duration::from_millis(50);
/// What a worker has to say what it knows.
const GRACE: Duration = Duration::from_secs(2);
/// How long a worker may be silent beyond its own hang limit before it counts as hanging.
const SILENCE: Duration = Duration::from_secs(10);
/// How long a listing may take.
const LIST: Duration = Duration::from_secs(30);

/// Asked what to do, with the message that was just read (`None`: nothing new).
pub type Attention<'a> = &'a mut dyn FnMut(Option<&Message>) -> Control;

impl Binary {
    /// A binary that runs here, with this process's environment.
    pub fn new(executable: impl Into<PathBuf>) -> Self {
        Self { executable: executable.into(), directory: None, environment: Vec::new() }
    }

    /// The checked tests of the binary; `None` if it knows nothing of cargo-mc.
    pub fn list(&self) -> Result<Option<Vec<TestInfo>>, ClientError> {
        let arguments = ["--list", "--format", "terse"];
        let mut process = self.start(&Task::List, &arguments, Output::Hidden)?;
        let started = Instant::now();
        let mut tests = None;
        loop {
            match process.next(TICK) {
                Next::Line(line) => match self.parse(&line)? {
                    Some(Message::Tests { tests: found }) => tests = Some(found),
                    Some(Message::Error { message, exit_code }) => {
                        return Err(ClientError::Refused { message, exit_code });
                    }
                    _ => {}
                },
                Next::Nothing if started.elapsed() > LIST => {
                    let executable = self.executable.clone();
                    return Err(ClientError::ListTimeout { executable, seconds: LIST.as_secs() });
                }
                Next::Nothing => {}
                Next::Ended(_) => return Ok(tests),
            }
        }
    }

    /// Explores a test. A worker that dies or hangs is an outcome too; an error is only what says nothing about the test.
    pub fn check(&self, test: &str, options: &Options, control: Attention<'_>) -> Result<Outcome, ClientError> {
        let task = Task::Check { options: options.clone() };
        let mut heard = Heard::new(options);
        let end = self.attend(test, &task, options, Output::Hidden, control, &mut |message| {
            heard.listen(message);
            matches!(message, Message::Done(_))
        })?;
        if let Some(outcome) = heard.done.take() {
            return Ok(outcome);
        }
        match end {
            End::Answered | End::Stopped if heard.failures.is_empty() => Ok(heard.outcome(Verdict::Interrupted)),
            End::Answered | End::Stopped => Ok(heard.outcome(Verdict::Failed)),
            End::Hung if heard.failures.is_empty() => Ok(heard.failed(died::hung(options))),
            End::Died(status) if heard.failures.is_empty() => {
                // Even a crash says nothing about a check that had not begun.
                if !heard.started {
                    return Err(self.silent(test, &status));
                }
                Ok(heard.failed(died::died(&status)))
            }
            End::Hung | End::Died(_) => Ok(heard.outcome(Verdict::Failed)),
        }
    }

    /// Runs exactly one execution. With `print` the body's output goes to this process's standard error.
    pub fn replay(
        &self,
        test: &str,
        options: &Options,
        schedule: &str,
        print: Print,
        control: Attention<'_>,
    ) -> Result<(Vec<TraceEvent>, Replayed), ClientError> {
        let task = Task::Replay { options: options.clone(), schedule: schedule.to_owned() };
        let output = match print {
            Print::Shown => Output::Shown,
            Print::Hidden => Output::Hidden,
        };
        let (mut events, mut now) = (Vec::new(), Vec::new());
        let mut failure = None;
        let mut replayed: Option<Replayed> = None;
        let mut started = false;
        let end = self.attend(test, &task, options, output, control, &mut |message| {
            started = true;
            match message {
                Message::Trace(event) => {
                    now.push(event.clone());
                }
                Message::Failure(found) => failure = Some(found.clone()),
                Message::Replayed(end) => {
                    // A test has several models, and it is not known which of them the schedule is of: the one that it says most of.
                    let events_of_this = std::mem::take(&mut now);
                    if replayed.as_ref().is_none_or(|before| before.says() < end.says()) {
                        (events, replayed) = (events_of_this, Some(end.clone()));
                    }
                }
                _ => {}
            }
            matches!(replayed, Some(Replayed::Failed(_)))
        })?;
        let unfinished = !now.is_empty() || failure.is_some();
        if let Some(replayed) = replayed.filter(|_| !unfinished) {
            return Ok((events, replayed));
        }
        let with_schedule = |failure| Failure { schedule: schedule.to_owned(), ..failure };
        let failure = match (end, failure) {
            (_, Some(failure)) => failure,
            (End::Hung, None) => with_schedule(died::hung(options)),
            (End::Died(status), None) if !started && status.success() => {
                return Err(self.silent(test, &status));
            }
            (End::Died(status), None) => with_schedule(died::died(&status)),
            (End::Answered | End::Stopped, None) => return Err(ClientError::Stopped),
        };
        Ok((now, Replayed::Failed(failure)))
    }

    /// How a worker for [`Binary::replay`] is started, for somebody who does that himself, such as a debugger. Its messages go to its standard output.
    pub fn replayed_by_hand(&self, test: &str, options: &Options, schedule: &str) -> ByHand {
        let task = Task::Replay { options: options.clone(), schedule: schedule.to_owned() };
        let environment = process::environment(self, &task);
        ByHand { arguments: arguments(test).map(str::to_owned).to_vec(), environment }
    }

    /// Reads a worker's messages until `last` says that one was the last, or the worker ends otherwise.
    fn attend(
        &self,
        test: &str,
        task: &Task,
        options: &Options,
        output: Output,
        control: Attention<'_>,
        last: &mut dyn FnMut(&Message) -> bool,
    ) -> Result<End, ClientError> {
        let mut process = self.start(task, &arguments(test), output)?;
        let patience = Duration::from_millis(options.hang_limit) + SILENCE;
        let mut spoke = Instant::now();
        let mut stopping: Option<Instant> = None;
        loop {
            let wish = match process.next(TICK) {
                Next::Line(line) => {
                    spoke = Instant::now();
                    let Some(message) = self.parse(&line)? else { continue };
                    if let Message::Error { message, exit_code } = message {
                        return Err(ClientError::Refused { message, exit_code });
                    }
                    let wish = control(Some(&message));
                    if last(&message) {
                        process.finish();
                        return Ok(End::Answered);
                    }
                    wish
                }
                Next::Nothing => control(None),
                Next::Ended(status) if stopping.is_some() && !status.success() => return Ok(End::Stopped),
                Next::Ended(status) => return Ok(End::Died(status)),
            };
            if wish == Control::Kill || stopping.is_some_and(|since| since.elapsed() > GRACE) {
                return Ok(End::Stopped);
            }
            if wish == Control::Stop && stopping.is_none() {
                stopping = Some(Instant::now());
                process.interrupt();
            }
            if spoke.elapsed() > patience {
                return Ok(End::Hung);
            }
        }
    }

    fn start(&self, task: &Task, arguments: &[&str], output: Output) -> Result<Process, ClientError> {
        Process::start(self, task, arguments, output).map_err(|source| self.cannot_start(source))
    }

    fn cannot_start(&self, source: io::Error) -> ClientError {
        ClientError::Start { executable: self.executable.clone(), source }
    }

    /// `None` for a line that is none of ours: what libtest says of a binary that knows nothing of us.
    fn parse(&self, line: &str) -> Result<Option<Message>, ClientError> {
        if !line.starts_with(['{', '"']) {
            return Ok(None);
        }
        Message::from_text(line).map(Some).map_err(|_| {
            let line = line.chars().take(200).collect();
            ClientError::Protocol { executable: self.executable.clone(), line }
        })
    }

    fn silent(&self, test: &str, status: &std::process::ExitStatus) -> ClientError {
        let status = status.to_string();
        ClientError::Silent { executable: self.executable.clone(), test: test.to_owned(), status }
    }
}

/// What makes libtest run one test.
fn arguments(test: &str) -> [&str; 6] {
    [test, "--exact", "--nocapture", "--test-threads=1", "--include-ignored", "--quiet"]
}

/// What happens to what the body of a replayed test prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// It goes to standard error.
    Shown,
    /// Nobody sees it.
    Hidden,
}

enum End {
    /// With the message that was waited for.
    Answered,
    /// By us.
    Stopped,
    Hung,
    Died(std::process::ExitStatus),
}

/// What a worker has said so far, in case that it does not come to say `Done`.
struct Heard {
    begun: Instant,
    options: Options,
    started: bool,
    executions: u64,
    blocked: u64,
    frontier: u64,
    failures: Vec<Failure>,
    done: Option<Outcome>,
}

impl Heard {
    fn new(options: &Options) -> Self {
        let options = options.clone();
        Self {
            begun: Instant::now(),
            options,
            started: false,
            executions: 0,
            blocked: 0,
            frontier: 0,
            failures: Vec::new(),
            done: None,
        }
    }

    fn listen(&mut self, message: &Message) {
        self.started = true;
        match message {
            Message::Progress { executions, blocked, frontier, .. } => {
                (self.executions, self.blocked, self.frontier) = (*executions, *blocked, *frontier);
            }
            Message::Again => {
                (self.executions, self.blocked, self.frontier) = (0, 0, 0);
                self.failures.clear();
            }
            Message::Failure(failure) => self.failures.push(failure.clone()),
            Message::Done(outcome) => self.done = Some(outcome.clone()),
            _ => {}
        }
    }

    fn failed(mut self, mut failure: Failure) -> Outcome {
        failure.execution = self.executions + self.blocked + 1;
        self.failures.push(failure);
        self.outcome(Verdict::Failed)
    }

    fn outcome(self, verdict: Verdict) -> Outcome {
        let seconds = self.begun.elapsed().as_secs_f64();
        let (executions, blocked, frontier, failures) = (self.executions, self.blocked, self.frontier, self.failures);
        let limit = self.options.max_failures;
        // As the engine does: the limit counts as a bound only where it ended an exploration that could have gone on.
        let bounds = match verdict {
            Verdict::Failed if failures.len() as u64 >= limit && frontier > 0 => {
                vec![Bound::new("max_failures", limit, frontier)]
            }
            _ => Vec::new(),
        };
        Outcome { verdict, executions, blocked, bounds, failures, frontier, seconds, wanted: false, required: None }
    }
}

#[cfg(test)]
mod tests;
