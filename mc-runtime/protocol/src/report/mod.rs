//! A counterexample as text: one column per thread, program order down, with places, values and how to see it again.
//!
//! Pure: [`render`] makes a `String` from data and reads nothing but source files. Both ways to run a test print it.
//! Not here: the line of a test in a run, summaries, JSON and JUnit (`cargo-mc`).

mod cells;
mod columns;
mod source;
mod style;

use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::message::TraceEvent;
use crate::outcome::{Failure, FailureKind, Site};

pub use source::Sources;
pub use style::Style;

/// How and for whom a counterexample is shown.
#[derive(Clone, Debug)]
pub struct View {
    /// The test, as the user knows it.
    pub test: String,
    /// The test, as it is named after a schedule: another machine has no record of which test that belongs to. Empty if it is not.
    pub name: String,
    /// The command that shows this execution again, without the schedule: `cargo mc replay`.
    pub replay: String,
    /// Where the failure is recorded too.
    pub recorded: Option<String>,
    /// Where source files may be: the package's and the workspace's directories.
    pub roots: Vec<PathBuf>,
    /// Columns of the terminal.
    pub width: usize,
    /// Colours, or none.
    pub style: Style,
}

impl View {
    /// For the panic of a test that is run by plain `cargo test`.
    #[must_use]
    pub fn of_plain_test(test: String, name: String, replay: &str) -> Self {
        let roots = env::current_dir().into_iter().chain(env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from));
        let (replay, roots) = (replay.to_owned(), roots.collect());
        View { test, name, replay, recorded: None, roots, width: WIDTH, style: Style::PLAIN }
    }
}

/// The width when nobody knows better.
pub const WIDTH: usize = 120;
const MARGIN: &str = "      ";

/// The whole report of one counterexample, with a line break at the end.
pub fn render(failure: &Failure, trace: &[TraceEvent], view: &View) -> String {
    let mut sources = Sources::new(&view.roots);
    let (headline, details) = failure.message.split_once('\n').unwrap_or((&failure.message, ""));
    let mut out = String::new();
    header(&mut out, failure, headline, view);
    table(&mut out, trace, &mut sources, view);
    if let Some(site) = &failure.site {
        place(&mut out, failure, site, &mut sources, view);
    }
    why(&mut out, failure, details, view);
    replay(&mut out, failure, view);
    out
}

/// The events alone.
pub fn events(trace: &[TraceEvent], view: &View) -> String {
    let mut out = String::new();
    table(&mut out, trace, &mut Sources::new(&view.roots), view);
    out
}

fn table(out: &mut String, trace: &[TraceEvent], sources: &mut Sources, view: &View) {
    let rows = cells::rows(trace, sources);
    if !rows.is_empty() {
        columns::write(out, &cells::threads(trace), &rows, view);
    }
}

fn header(out: &mut String, failure: &Failure, headline: &str, view: &View) {
    let Style { bad, strong, reset, .. } = view.style;
    let kind = failure.kind.noun();
    let kind = kind.strip_prefix("a ").unwrap_or(kind);
    // Some messages begin with what they are.
    let said = headline.starts_with(kind);
    let (kind, colon) = if said { ("", "") } else { (kind, ": ") };
    put(out, format_args!("    {bad}FAILED{reset} {strong}{}{reset}   {kind}{colon}{headline}\n", view.test));
}

/// The failing line itself.
fn place(out: &mut String, failure: &Failure, site: &Site, sources: &mut Sources, view: &View) {
    let Style { dim, reset, .. } = view.style;
    let text = sources.line(site).map(|line| format!("   {}", line.trim())).unwrap_or_default();
    let (file, line, thread) = (&site.file, site.line, &failure.thread);
    put(out, format_args!("{MARGIN}at       {dim}{file}:{line}{reset} in {thread}{text}\n"));
}

/// The rest of the message: what was compared, for a panic; otherwise the reason.
fn why(out: &mut String, failure: &Failure, details: &str, view: &View) {
    let Style { strong, reset, .. } = view.style;
    for (index, line) in details.lines().enumerate() {
        let label = if index == 0 && failure.kind != FailureKind::Panic { "why      " } else { "         " };
        put(out, format_args!("{MARGIN}{strong}{label}{reset}{}\n", line.trim_end()));
    }
}

fn replay(out: &mut String, failure: &Failure, view: &View) {
    let Style { strong, dim, reset, .. } = view.style;
    if failure.schedule.is_empty() {
        put(
            out,
            format_args!("{MARGIN}{strong}replay   {reset}not possible: the schedule was lost with the process\n"),
        );
        return;
    }
    let recorded = view.recorded.as_ref();
    let recorded = recorded.map(|file| format!("   {dim}(also in {file}){reset}")).unwrap_or_default();
    let name = if view.name.is_empty() { String::new() } else { format!(" {}", view.name) };
    put(out, format_args!("{MARGIN}{strong}replay   {reset}{} {}{name}{recorded}\n", view.replay, failure.schedule));
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a `String` has no way to fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests;
