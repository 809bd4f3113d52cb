//! `cargo mc list`: the tests and what is known of them.

use std::io::{self, Write};

use comfy_table::{Table, presets};

use super::json::{Json, Line, ListedLine};
use super::words::{grouped, seconds};
use super::{ReportError, Sink};
use crate::args::MessageFormat;
use crate::discover::Case;
use crate::store::Last;

/// Prints the tests, each with its last verdict.
pub(crate) fn list(cases: &[(Case, Option<Last>)], format: MessageFormat) -> Result<(), ReportError> {
    match format {
        MessageFormat::Human => table(cases, anstream::stdout()),
        MessageFormat::Json => lines(cases, io::stdout()),
    }
}

fn table(cases: &[(Case, Option<Last>)], out: impl Write) -> Result<(), ReportError> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["TEST", "PACKAGE", "TARGET", "LAST VERDICT", "EXECUTIONS", "TIME"]);
    for (case, last) in cases {
        let ignored = if case.ignored { " (ignored)" } else { "" };
        let verdict = match last {
            Some(last) if last.passed || last.verdict.name() == "failed" => last.verdict.to_string(),
            Some(last) => format!("{} (not enough)", last.verdict),
            None => "-".to_owned(),
        };
        let executions = last.as_ref().map_or("-".to_owned(), |last| grouped(last.executions));
        let time = last.as_ref().map_or("-".to_owned(), |last| seconds(last.seconds));
        table.add_row([
            format!("{}{ignored}", case.name),
            case.package.clone(),
            case.target.clone(),
            verdict,
            executions,
            time,
        ]);
    }
    let mut sink = Sink::new(out);
    for line in table.lines() {
        sink.put(format_args!("{}\n", line.trim()));
    }
    sink.end()
}

fn lines(cases: &[(Case, Option<Last>)], out: impl Write) -> Result<(), ReportError> {
    let mut json = Json::new(out);
    for (case, last) in cases {
        json.put(&Line::Listed(ListedLine {
            name: &case.name,
            package: &case.package,
            target: &case.target,
            ignored: case.ignored,
            verdict: last.as_ref().map(|last| last.verdict.name()),
            passed: last.as_ref().map(|last| last.passed),
            executions: last.as_ref().map(|last| last.executions),
            seconds: last.as_ref().map(|last| last.seconds),
        }));
    }
    json.done()
}

#[cfg(test)]
mod tests {
    use mc_protocol::outcome::Verdict;

    use super::*;
    use crate::report::samples;

    fn cases() -> Vec<(Case, Option<Last>)> {
        let last = Last { verdict: Verdict::Proved, passed: true, executions: 1284, seconds: 0.4 };
        vec![(samples::case("queue::spsc"), Some(last)), (samples::case("pool::shutdown"), None)]
    }

    #[test]
    fn people_get_a_table_and_programs_lines() {
        let (mut people, mut programs) = (Vec::new(), Vec::new());
        table(&cases(), &mut people).unwrap();
        lines(&cases(), &mut programs).unwrap();
        insta::assert_snapshot!(String::from_utf8(people).unwrap() + &String::from_utf8(programs).unwrap());
    }
}
