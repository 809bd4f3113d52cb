//! `cargo mc replay`: one execution, as it went.

use std::io::Write as _;

use mc_protocol::message::{Replayed, TraceEvent};
use mc_protocol::outcome::Failure;
use mc_protocol::report::{Style, events, render};

use super::{ReportError, Sink, width};
use crate::discover::Case;
use crate::run::Counterexample;

/// Prints what a replay did. `recorded` is the failure that it was to show, if it is known.
pub(crate) fn replayed(
    case: &Case,
    trace: &[TraceEvent],
    end: &Replayed,
    recorded: Option<&Failure>,
) -> Result<(), ReportError> {
    let style = Style::ANSI;
    let view = Counterexample::default().view(case, width(), style);
    let mut sink = Sink::new(anstream::stdout());
    let Style { good, bad, warn, reset, .. } = style;
    match end {
        Replayed::Failed(failure) => {
            sink.put(format_args!("{}", render(failure, trace, &view)));
            if let Some(other) = recorded.filter(|recorded| recorded.kind != failure.kind) {
                sink.put(format_args!("      {warn}note     {reset}recorded was {}\n", other.kind.noun()));
            }
        }
        Replayed::Passed => {
            sink.put(format_args!("{}", events(trace, &view)));
            sink.put(format_args!("    {good}PASSED{reset} {}   this execution no longer fails\n", case.label));
        }
        Replayed::Diverged { message } => {
            sink.put(format_args!("{}", events(trace, &view)));
            sink.put(format_args!(
                "    {bad}DIVERGED{reset} {}   the schedule does not fit the test any more\n",
                case.label
            ));
            for line in message.lines() {
                sink.put(format_args!("      {line}\n"));
            }
        }
    }
    sink.end()
}

/// Says which command runs now. Where that cannot be written, it runs all the same.
pub(crate) fn runs(command: &str) {
    let Style { good, reset, .. } = Style::ANSI;
    let _ = writeln!(anstream::stderr(), "     {good}Running{reset} {command}");
}
