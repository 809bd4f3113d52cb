//! A run for people: a line for each test as it ends, the counterexamples, a summary.

use std::io::Write;

use mc_protocol::judge::Judgement;
use mc_protocol::report::{Style, render};

use super::progress::Progress;
use super::words::{counted, details, seconds, status};
use super::{ReportError, Reporter, Sink, width};
use crate::discover::Case;
use crate::exit::ExitCode;
use crate::run::{Finished, Plan, Summary};

/// Writes lines; escape sequences are taken out by the stream where nobody sees colours.
pub(super) struct Human<W> {
    sink: Sink<W>,
    progress: Progress,
    /// Where the names begin.
    status: usize,
    /// Where what follows the names begins.
    names: usize,
}

/// Longer names push the rest of their line to the right.
const LONGEST_NAME: usize = 48;
const S: Style = Style::ANSI;

impl<W: Write> Human<W> {
    pub(super) fn new(out: W, progress: Progress) -> Self {
        Self { sink: Sink::new(out), progress, status: 0, names: 0 }
    }

    fn line(&mut self, finished: &Finished) -> String {
        let colour = match finished.judgement {
            Judgement::Passed | Judgement::FailedAsExpected(_) => S.good,
            Judgement::Inconclusive(_) | Judgement::Interrupted => S.warn,
            Judgement::Failed | Judgement::Unfulfilled(_) | Judgement::Uncheckable | Judgement::Error => S.bad,
        };
        let (word, label) = (status(finished), &finished.case.label);
        let (before, after) =
            (self.status.saturating_sub(word.len()), self.names.saturating_sub(label.chars().count()));
        let (details, time) = (details(finished), seconds(finished.outcome.seconds));
        let (reset, dim) = (S.reset, S.dim);
        format!("{:before$}{colour}{word}{reset}  {label}{:after$}  {details}  {dim}{time}{reset}", "", "")
    }

    fn counterexamples(&mut self, finished: &Finished) {
        let failures = finished.outcome.failures.iter().zip(&finished.counterexamples);
        for (failure, counterexample) in failures {
            let view = counterexample.view(&finished.case, width(), S);
            let report = render(failure, &counterexample.trace, &view);
            self.sink.put(format_args!("\n{report}"));
            if let Some(remark) = &counterexample.remark {
                self.sink.put(format_args!("      {}note     {}{remark}\n", S.warn, S.reset));
            }
        }
    }

    fn error(&mut self, finished: &Finished) {
        if let Some((message, _)) = &finished.error {
            self.sink.put(format_args!("\n    {}ERROR{} {}\n", S.bad, S.reset, finished.case.label));
            for line in message.lines() {
                self.sink.put(format_args!("      {line}\n"));
            }
        }
    }
}

impl<W: Write> Reporter for Human<W> {
    fn begin(&mut self, cases: &[Case], _: &Plan<'_>) {
        let expects = cases.iter().any(|case| case.attribute.expect.is_some());
        self.status = if expects { "FAILED as expected".len() } else { "INTERRUPTED".len() };
        let names = cases.iter().map(|case| case.label.chars().count()).filter(|length| *length <= LONGEST_NAME);
        self.names = names.max().unwrap_or(LONGEST_NAME);
        self.progress.begin(cases.len());
    }

    fn started(&mut self, case: &Case) {
        self.progress.started(case);
    }

    fn progress(&mut self, case: &Case, executions: u64, blocked: u64, estimate: Option<f64>) {
        if let Some(line) = self.progress.said(case, executions, blocked, estimate) {
            let (status, names) = (self.status, self.names);
            self.sink.put(format_args!("{:>status$}  {:names$}  {line}\n", "SLOW", case.label));
        }
    }

    fn finished(&mut self, finished: &Finished) {
        let line = self.line(finished);
        self.progress.finished(&finished.case);
        let (progress, sink) = (&self.progress, &mut self.sink);
        progress.aside(|| sink.put(format_args!("{line}\n")));
    }

    fn end(&mut self, summary: &Summary) -> Result<(), ReportError> {
        self.progress.end();
        for finished in summary.finished.iter().filter(|finished| !finished.judgement.passes()) {
            self.counterexamples(finished);
            self.error(finished);
        }
        let code = summary.exit_code();
        let (colour, status) = (if code == ExitCode::Ok { S.good } else { S.bad }, self.status);
        let (counts, time) = (counts(summary), seconds(summary.time.as_secs_f64()));
        let (word, reset, selected) = ("Summary", S.reset, counted(summary.selected as u64, "test"));
        self.sink.put(format_args!("{}\n", "─".repeat(status)));
        let before = status.saturating_sub(word.len());
        self.sink.put(format_args!("{:before$}{colour}{word}{reset}  {selected}: {counts}  {time}\n", ""));
        if let Some(advice) = advice(summary, code) {
            self.sink.put(format_args!("{:status$}  {advice}\n", ""));
        }
        self.sink.end()
    }
}

/// Each test once, under what came of it.
fn counts(summary: &Summary) -> String {
    let word = |finished: &Finished| match finished.judgement {
        Judgement::Passed | Judgement::Inconclusive(_) => finished.outcome.verdict.name(),
        Judgement::FailedAsExpected(_) => "failed as expected",
        Judgement::Failed => "failed",
        Judgement::Unfulfilled(_) => "without the expected failure",
        Judgement::Uncheckable => "uncheckable",
        Judgement::Interrupted => "interrupted",
        Judgement::Error => "not checked",
    };
    let words: Vec<_> = summary.finished.iter().map(word).collect();
    let count = |word: &'static str| (words.iter().filter(|other| **other == word).count(), word);
    let mut parts: Vec<_> = COUNTED.into_iter().map(count).collect();
    parts.push((summary.not_run(), "not run"));
    let parts: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    parts.join(", ")
}

/// In this order.
const COUNTED: [&str; 10] = [
    "proved",
    "bounded",
    "sampled",
    "failed as expected",
    "failed",
    "without the expected failure",
    "uncheckable",
    "interrupted",
    "not checked",
    "ran",
];

/// What to do about it, where that is not plain.
fn advice(summary: &Summary, code: ExitCode) -> Option<&'static str> {
    let inconclusive = summary.finished.iter().any(|end| matches!(end.judgement, Judgement::Inconclusive(_)));
    match code {
        ExitCode::Ok => None,
        ExitCode::Uncheckable => Some("a test that uses what the checker does not control proves nothing either way"),
        _ if inconclusive => Some(
            "inconclusive: raise the limit, or accept less with `--require bounded`, `--require sampled` or, \
             where a test's attribute requires more, `--allow-weaker`",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_run_has_a_line_for_each_test_the_counterexamples_and_a_summary() {
        let mut out = Vec::new();
        let mut human = Human::new(anstream::StripStream::new(&mut out), Progress::none());
        samples::tell(&mut human);
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }
}
