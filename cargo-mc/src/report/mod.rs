//! Everything that a user reads: lines for people, JSON lines, JUnit. All are made from the same data; none computes.

mod coverage;
mod doctor;
mod human;
mod json;
mod junit;
mod listing;
mod progress;
mod replay;
mod words;

use std::io::{self, Write};
use std::path::PathBuf;

use crate::args::MessageFormat;
use crate::discover::Case;
use crate::run::{Finished, Plan, Summary};

pub(crate) use coverage::coverage;
pub(crate) use doctor::diagnosis;
pub(crate) use junit::JUnitFile;
pub(crate) use listing::list;
pub(crate) use replay::{replayed, runs};

/// Told what happens in a run.
pub(crate) trait Reporter {
    /// Before the first test.
    fn begin(&mut self, cases: &[Case], plan: &Plan<'_>);
    /// A test begins.
    fn started(&mut self, case: &Case);
    /// How far a test is.
    fn progress(&mut self, case: &Case, executions: u64, blocked: u64, estimate: Option<f64>);
    /// A test ended.
    fn finished(&mut self, finished: &Finished);
    /// After the last test.
    fn end(&mut self, summary: &Summary) -> Result<(), ReportError>;
}

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
    #[error("cannot write the JUnit report `{}`: {source}", .path.display())]
    JUnit { path: PathBuf, source: io::Error },
}

/// The reporter that the user asked for.
pub(crate) fn reporter(format: MessageFormat) -> Box<dyn Reporter> {
    match format {
        MessageFormat::Human => Box::new(human::Human::new(anstream::stdout(), progress::Progress::on_terminal())),
        MessageFormat::Json => Box::new(json::Json::new(io::stdout())),
    }
}

/// Remembers the first error of a stream, so that a full disk or a closed pipe is told once, at the end.
#[derive(Debug)]
struct Sink<W> {
    out: W,
    broken: Option<io::Error>,
}

impl<W: Write> Sink<W> {
    fn new(out: W) -> Self {
        Self { out, broken: None }
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        if self.broken.is_none() {
            self.broken = self.out.write_fmt(text).and_then(|()| self.out.flush()).err();
        }
    }

    /// Nobody reading any more is the reader's wish, not an error.
    fn end(&mut self) -> Result<(), ReportError> {
        match self.broken.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Columns of the terminal.
fn width() -> usize {
    console::Term::stdout().size_checked().map_or(mc_protocol::report::WIDTH, |(_, columns)| usize::from(columns))
}

#[cfg(test)]
mod samples;
