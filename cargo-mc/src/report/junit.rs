//! JUnit, for machines that show tests: `failure` is a bug in the user's code, `error` is what the tool did not reach.
//!
//! `junit-report` writes ill-formed XML for control characters and for `]]>` in what becomes CDATA. So everything is cleaned of
//! escape sequences and of characters that XML forbids, and `]]>` is split where CDATA is written (a message is an attribute).

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use junit_report::{Duration, ReportBuilder, TestCase, TestCaseBuilder, TestSuite, TestSuiteBuilder};
use mc_protocol::judge::Judgement;
use mc_protocol::outcome::Bound;
use mc_protocol::report::{Style, WIDTH, render};

use super::ReportError;
use super::words::{details, spot};
use crate::run::{Finished, Summary};

/// A report's file, made before the run so that a run is not lost to a directory that is not there.
#[derive(Debug)]
pub(crate) struct JUnitFile {
    path: PathBuf,
}

impl JUnitFile {
    /// Makes sure that the file can be written. What it holds stays until the report is complete.
    pub(crate) fn create(path: &Path) -> Result<Self, ReportError> {
        let file = File::options().append(true).create(true).open(path);
        file.map_err(|source| ReportError::JUnit { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned() })
    }

    /// Writes the report.
    pub(crate) fn write(&self, summary: &Summary) -> Result<(), ReportError> {
        let at = |source| ReportError::JUnit { path: self.path.clone(), source };
        let xml = xml(summary).map_err(at)?;
        let mut file = File::create(&self.path).map_err(at)?;
        file.write_all(&xml).and_then(|()| file.flush()).map_err(at)
    }
}

fn xml(summary: &Summary) -> io::Result<Vec<u8>> {
    let mut suites: Vec<TestSuite> = Vec::new();
    let mut rest = summary.finished.as_slice();
    while let Some(first) = rest.first() {
        let same = |finished: &&Finished| finished.case.binary_id == first.case.binary_id;
        let (suite, after) = rest.split_at(rest.iter().take_while(same).count());
        rest = after;
        let cases = suite.iter().map(case).collect::<Vec<_>>();
        suites.push(TestSuiteBuilder::new(&clean(&first.case.binary_id)).add_testcases(cases).build());
    }
    let mut out = Vec::new();
    ReportBuilder::new().add_testsuites(suites).build().write_xml(&mut out).map_err(io::Error::other)?;
    Ok(out)
}

fn case(finished: &Finished) -> TestCase {
    let name = clean(&finished.case.name);
    let time = Duration::milliseconds((finished.outcome.seconds * 1000.0) as i64);
    let message = clean(&details(finished));
    let mut case = match finished.judgement {
        Judgement::Passed | Judgement::FailedAsExpected(_) => TestCaseBuilder::success(&name, time),
        Judgement::Failed | Judgement::Unfulfilled(_) => {
            let kind = finished.outcome.failures.first().map_or("unfulfilled", |failure| failure.kind.name());
            let message =
                finished.outcome.failures.first().map_or(message, |failure| clean(first_line(&failure.message)));
            TestCaseBuilder::failure(&name, time, kind, &message)
        }
        Judgement::Uncheckable => TestCaseBuilder::error(&name, time, "uncheckable", &message),
        Judgement::Inconclusive(_) => TestCaseBuilder::error(&name, time, "inconclusive", &message),
        Judgement::Interrupted => TestCaseBuilder::error(&name, time, "interrupted", &message),
        Judgement::Error => TestCaseBuilder::error(&name, time, "error", &message),
    };
    case.set_classname(&clean(&finished.case.binary_id));
    let trace = trace(finished);
    if !trace.is_empty() {
        case.set_trace(&cdata(&trace));
    }
    case.set_system_out(&cdata(&properties(finished)));
    case.build()
}

/// The reports of all counterexamples.
fn trace(finished: &Finished) -> String {
    let failures = finished.outcome.failures.iter().zip(&finished.counterexamples);
    let reports = failures.map(|(failure, counterexample)| {
        let view = counterexample.view(&finished.case, WIDTH, Style::PLAIN);
        render(failure, &counterexample.trace, &view)
    });
    reports.chain(finished.error.iter().map(|(message, _)| message.clone())).collect::<Vec<_>>().join("\n")
}

/// One `key: value` a line, because the format has no properties for a test.
fn properties(finished: &Finished) -> String {
    let (outcome, options) = (&finished.outcome, &finished.options);
    let mut lines = vec![
        format!("verdict: {}", outcome.verdict),
        format!("required: {}", finished.goal.require),
        format!("strategy: {}", options.strategy),
        format!("memory_model: {}", options.memory_model),
        format!("seed: {}", options.seed),
        format!("executions: {}", outcome.executions),
        format!("blocked: {}", outcome.blocked),
    ];
    lines.extend(finished.goal.expect.map(|kind| format!("expected: {kind}")));
    lines.extend(outcome.bounds.iter().map(bound));
    for failure in outcome.failures.iter().filter(|failure| !failure.schedule.is_empty()) {
        lines.push(format!("schedule: {}", failure.schedule));
        lines.push(format!("replay: {} {} {}", finished.case.replay(), failure.schedule, finished.case.name));
    }
    lines.join("\n")
}

fn bound(bound: &Bound) -> String {
    let what = if bound.limit == "max_events" { ", most events by" } else { "," };
    let by = bound.spot.as_ref().map(|it| format!("{what} {}", spot(it)));
    format!("bound: {} = {}, cut {}{}", bound.limit, bound.given(), bound.cut, by.unwrap_or_default())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Without escape sequences and characters that XML cannot hold.
fn clean(text: &str) -> String {
    let forbidden = |character: char| match character {
        '\t' | '\n' | '\r' => false,
        '\u{0}'..='\u{1f}' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    };
    anstream::adapter::strip_str(text).to_string().replace(forbidden, "")
}

/// As [`clean`], and without the end of a CDATA section.
fn cdata(text: &str) -> String {
    clean(text).replace("]]>", "]]]]><![CDATA[>")
}

#[cfg(test)]
mod tests {
    use mc_protocol::outcome::{FailureKind, Verdict};
    use quick_xml::Reader;
    use quick_xml::events::Event;
    use rand::RngExt;
    use rand_pcg::Pcg64;

    use super::*;
    use crate::report::samples;

    fn report(finished: Vec<Finished>) -> String {
        let summary =
            Summary { selected: finished.len(), finished, interrupted: false, time: std::time::Duration::ZERO };
        String::from_utf8(xml(&summary).unwrap()).unwrap()
    }

    /// All text of the elements, or what is wrong with the XML.
    fn parse(xml: &str) -> Result<String, String> {
        let mut reader = Reader::from_str(xml);
        reader.config_mut().check_end_names = true;
        let mut text = String::new();
        loop {
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Eof => return Ok(text),
                Event::CData(data) => text.push_str(std::str::from_utf8(&data).map_err(|error| error.to_string())?),
                Event::Start(start) | Event::Empty(start) => {
                    for attribute in start.attributes() {
                        let attribute = attribute.map_err(|error| error.to_string())?;
                        attribute.unescape_value().map_err(|error| error.to_string())?;
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn every_judgement_has_its_element() {
        let xml = report(samples::summary().finished);
        parse(&xml).unwrap();
        let start = xml.find("<testsuite ").unwrap();
        let stamp = xml.find("timestamp=\"").unwrap() + "timestamp=\"".len();
        let end = stamp + xml[stamp..].find('"').unwrap();
        let xml = format!("{}TIME{}", &xml[start..stamp], &xml[end..]);
        insta::assert_snapshot!(xml.replace('>', ">\n"));
    }

    /// Text, what means something in XML or to a terminal, and what XML has no way to say.
    fn message(rng: &mut Pcg64) -> String {
        const PIECES: [&str; 6] = ["]]>", "\u{1b}[31m", "<", "&", "\"", "\u{fffe}"];
        let piece = |rng: &mut Pcg64| match rng.random_range(0..4) {
            0 => PIECES[rng.random_range(0..PIECES.len())].to_owned(),
            1 => char::from(rng.random_range(0..0x80u8)).to_string(),
            _ => char::from_u32(rng.random_range(0..0x11_0000)).unwrap_or_default().to_string(),
        };
        (0..rng.random_range(0..=20)).map(|_| piece(rng)).collect()
    }

    #[test]
    fn any_message_makes_well_formed_xml() {
        let mut rng = Pcg64::new(1, 2);
        for _ in 0..500 {
            let failure = samples::failure(FailureKind::Panic, &message(&mut rng));
            let xml = report(vec![samples::finished("a::b", Verdict::Failed, vec![failure], None)]);
            let parsed = parse(&xml);
            assert!(parsed.is_ok(), "{parsed:?} {xml:?}");
            let allowed = |c: char| !matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
            assert!(xml.chars().all(allowed), "{xml:?}");
        }
    }
}
