//! JSON lines, for programs. `schema/messages.json` describes them; fields are only added.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use mc_protocol::judge::Judgement;
use mc_protocol::outcome::{Bound, Failure, FailureKind, Verdict};
use serde::Serialize;

use super::{ReportError, Reporter, Sink};
use crate::discover::{Case, LeftOut};
use crate::run::{Finished, Plan, Summary};

/// The version of the lines.
const FORMAT: u32 = 1;
/// How often a running test is reported.
const PERIOD: Duration = Duration::from_secs(1);

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum Line<'a> {
    /// The first line of a run.
    Run {
        /// The version of these lines.
        format: u32,
        /// Of cargo-mc.
        version: &'a str,
        seed: u64,
        strategy: String,
        memory_model: String,
        /// Tests that are checked at once.
        jobs: usize,
        /// How many tests are selected.
        tests: usize,
        /// With `--std`: what of it is on.
        #[cfg_attr(test, schemars(extend("items" = serde_json::json!({"enum": ["facade", "harness", "instrumentation", "system_calls"]}))))]
        layers: Option<Vec<&'a str>>,
        /// With `--std`: what cargo would run and is not checked.
        left_out: Vec<LeftOutLine<'a>>,
    },
    /// How far a test is.
    Progress {
        name: &'a str,
        package: &'a str,
        target: &'a str,
        executions: u64,
        blocked: u64,
        /// Executions per second.
        rate: f64,
        /// About how many there are.
        estimate: Option<f64>,
    },
    /// A test ended.
    Test(TestLine<'a>),
    /// The last line of a run.
    Summary {
        selected: usize,
        proved: usize,
        failed: usize,
        bounded: usize,
        sampled: usize,
        interrupted: usize,
        /// Plain tests in a suite, run once.
        ran: usize,
        /// Tests that could not be checked.
        error: usize,
        /// Tests that were not started.
        not_run: usize,
        /// Of the failed: those that were to fail, and did so.
        failed_as_expected: usize,
        seconds: f64,
        exit_code: u8,
    },
    /// A line of `cargo mc list`.
    Listed(ListedLine<'a>),
    /// The first line of `cargo mc doctor`.
    Doctor {
        /// The version of these lines.
        format: u32,
        /// Of cargo-mc.
        version: &'a str,
        /// The packages whose tests are meant.
        packages: Vec<&'a str>,
        /// How many crates their tests have; a line of each follows.
        crates: usize,
        /// Of the workspace as a whole.
        findings: Vec<FindingLine<'a>>,
    },
    /// A crate, as `cargo mc doctor` sees it.
    Crate(CrateLine<'a>),
}

impl<'a> Line<'a> {
    pub(super) fn doctor(packages: Vec<&'a str>, crates: usize, findings: Vec<FindingLine<'a>>) -> Self {
        Self::Doctor { format: FORMAT, version: env!("CARGO_PKG_VERSION"), packages, crates, findings }
    }
}

/// A test that ended.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TestLine<'a> {
    name: &'a str,
    package: &'a str,
    target: &'a str,
    #[cfg_attr(test, schemars(extend("enum" = ["proved", "failed", "bounded", "sampled", "ran", "interrupted", "error"])))]
    verdict: &'a str,
    /// Whether it came to what it was to come to.
    passed: bool,
    /// The kind of failure that its attribute expects.
    expected: Option<&'a str>,
    #[cfg_attr(test, schemars(extend("enum" = ["proved", "bounded", "sampled"])))]
    required: String,
    /// Complete executions.
    executions: u64,
    /// Executions that ended with a thread that waits.
    blocked: u64,
    seconds: f64,
    bounds: Vec<BoundLine<'a>>,
    failures: Vec<FailureLine<'a>>,
    /// Why it could not be checked.
    error: Option<&'a str>,
}

/// A test executable that is not checked.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct LeftOutLine<'a> {
    package: &'a str,
    target: &'a str,
    /// It is compiled for the host, as the tests of procedural macros are; or it has a `main` of its own.
    #[cfg_attr(test, schemars(extend("enum" = ["on_host", "no_harness"])))]
    because: &'a str,
}

/// A limit that cut the exploration.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BoundLine<'a> {
    limit: &'a str,
    /// In seconds for times, rounded up, and in bytes for memory.
    value: u64,
    cut: u64,
    /// Of `max_events`: the thread that made the most of them in the first execution that was cut, and where it made the last one. Of `address_reuse`: the thread that compares, and where.
    thread: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
}

/// A counterexample.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FailureLine<'a> {
    #[cfg_attr(test, schemars(extend("enum" = kinds())))]
    kind: &'a str,
    message: &'a str,
    thread: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    /// Empty if it was lost with the process.
    schedule: &'a str,
    execution: u64,
}

/// A test of the workspace.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ListedLine<'a> {
    pub(super) name: &'a str,
    pub(super) package: &'a str,
    pub(super) target: &'a str,
    pub(super) ignored: bool,
    /// The last verdict, if it was checked before.
    pub(super) verdict: Option<&'a str>,
    pub(super) passed: Option<bool>,
    pub(super) executions: Option<u64>,
    pub(super) seconds: Option<f64>,
}

/// What is under control of a crate in the tests.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CrateLine<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) manifest: &'a str,
    /// Its own tests are meant.
    pub(super) selected: bool,
    /// With the types of `mc`.
    #[cfg_attr(test, schemars(extend("enum" = ["controlled", "nothing", "not_seen", "uncontrolled", "refused"])))]
    pub(super) shims: &'a str,
    /// With `--std`.
    #[cfg_attr(test, schemars(extend("enum" = ["facade", "memory", "uncontrolled", "refused"])))]
    pub(super) std: &'a str,
    /// What of std it uses that `--std` replaces.
    #[cfg_attr(test, schemars(extend("items" = serde_json::json!({"enum": ["atomics", "locks", "threads", "thread_locals", "instant"]}))))]
    pub(super) uses: Vec<&'a str>,
    pub(super) findings: Vec<FindingLine<'a>>,
}

/// A kind of thing that is not under control, or worth a note.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FindingLine<'a> {
    /// `docs/doctor.md` lists them.
    pub(super) kind: &'a str,
    pub(super) title: &'a str,
    /// How many places there are.
    pub(super) count: usize,
    /// The first of them.
    pub(super) places: Vec<PlaceLine<'a>>,
    /// How bad it is with the types of `mc`.
    #[cfg_attr(test, schemars(extend("enum" = LEVELS)))]
    pub(super) shims_level: &'a str,
    /// What it means there.
    pub(super) shims: &'a str,
    /// How bad it is with `--std`.
    #[cfg_attr(test, schemars(extend("enum" = LEVELS)))]
    pub(super) std_level: &'a str,
    /// What it means there.
    pub(super) std: &'a str,
    /// What can be done.
    pub(super) remedy: &'a str,
}

/// Where something is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PlaceLine<'a> {
    /// From the directory of the package.
    pub(super) file: &'a str,
    pub(super) line: usize,
    pub(super) what: &'a str,
    /// Only tests have it.
    pub(super) test: bool,
    /// It is there in one of the two ways only, by a `cfg(mc)`.
    #[cfg_attr(test, schemars(extend("enum" = ["shims", "std", null])))]
    pub(super) only: Option<&'a str>,
}

#[cfg(test)]
const LEVELS: [&str; 5] = ["controlled", "note", "unknown", "uncontrolled", "refused"];

#[cfg(test)]
fn kinds() -> Vec<&'static str> {
    FailureKind::ALL.into_iter().map(FailureKind::name).collect()
}

/// Writes lines to `out`.
pub(super) struct Json<W> {
    sink: Sink<W>,
    /// Since when each test runs, and when it was last mentioned.
    running: BTreeMap<String, (Instant, Instant)>,
}

impl<W: Write> Json<W> {
    pub(super) fn new(out: W) -> Self {
        Self { sink: Sink::new(out), running: BTreeMap::new() }
    }

    pub(super) fn put(&mut self, line: &Line<'_>) {
        match serde_json::to_string(line) {
            Ok(text) => self.sink.put(format_args!("{text}\n")),
            Err(error) => self.sink.broken = Some(error.into()),
        }
    }

    pub(super) fn done(&mut self) -> Result<(), ReportError> {
        self.sink.end()
    }
}

impl<W: Write> Reporter for Json<W> {
    fn begin(&mut self, cases: &[Case], plan: &Plan<'_>) {
        let options = plan.check.layer().options();
        self.put(&Line::Run {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            seed: options.seed,
            strategy: options.strategy.to_string(),
            memory_model: options.memory_model.to_string(),
            jobs: plan.jobs,
            tests: cases.len(),
            layers: plan.layers.as_ref().map(|layers| layers.on.iter().map(|layer| layer.name()).collect()),
            left_out: plan.left_out.iter().map(left_out).collect(),
        });
    }

    fn started(&mut self, case: &Case) {
        let now = Instant::now();
        self.running.insert(case.label.clone(), (now, now));
    }

    fn progress(&mut self, case: &Case, executions: u64, blocked: u64, estimate: Option<f64>) {
        let Some((since, mentioned)) = self.running.get_mut(&case.label) else { return };
        if mentioned.elapsed() < PERIOD {
            return;
        }
        *mentioned = Instant::now();
        let rate = (executions + blocked) as f64 / since.elapsed().as_secs_f64();
        let (name, package, target) = (case.name.as_str(), case.package.as_str(), case.target.as_str());
        self.put(&Line::Progress { name, package, target, executions, blocked, rate, estimate });
    }

    fn finished(&mut self, finished: &Finished) {
        self.running.remove(&finished.case.label);
        self.put(&Line::Test(test(finished)));
    }

    fn end(&mut self, summary: &Summary) -> Result<(), ReportError> {
        let expected = summary.finished.iter().filter(|end| matches!(end.judgement, Judgement::FailedAsExpected(_)));
        self.put(&Line::Summary {
            selected: summary.selected,
            proved: summary.count(Verdict::Proved),
            failed: summary.count(Verdict::Failed),
            bounded: summary.count(Verdict::Bounded),
            sampled: summary.count(Verdict::Sampled),
            interrupted: summary.count(Verdict::Interrupted),
            ran: summary.count(Verdict::Ran),
            error: summary.count(Verdict::Error),
            not_run: summary.not_run(),
            failed_as_expected: expected.count(),
            seconds: summary.time.as_secs_f64(),
            exit_code: summary.exit_code().code(),
        });
        self.done()
    }
}

fn test(finished: &Finished) -> TestLine<'_> {
    let (case, outcome) = (&finished.case, &finished.outcome);
    let bounds = outcome.bounds.iter().map(bound);
    TestLine {
        name: &case.name,
        package: &case.package,
        target: &case.target,
        verdict: outcome.verdict.name(),
        passed: finished.judgement.passes(),
        expected: finished.goal.expect.map(FailureKind::name),
        required: finished.goal.require.to_string(),
        executions: outcome.executions,
        blocked: outcome.blocked,
        seconds: outcome.seconds,
        bounds: bounds.collect(),
        failures: outcome.failures.iter().map(failure).collect(),
        error: finished.error.as_ref().map(|(message, _)| message.as_str()),
    }
}

fn bound(bound: &Bound) -> BoundLine<'_> {
    let value = if bound.is_time() { bound.value.div_ceil(1000) } else { bound.value };
    let site = bound.spot.as_ref().and_then(|spot| spot.site.as_ref());
    BoundLine {
        limit: &bound.limit,
        value,
        cut: bound.cut,
        thread: bound.spot.as_ref().map(|spot| spot.thread.as_str()),
        file: site.map(|site| site.file.as_str()),
        line: site.map(|site| site.line),
    }
}

fn left_out(LeftOut { package, target, because }: &LeftOut) -> LeftOutLine<'_> {
    LeftOutLine { package, target, because: because.name() }
}

fn failure(failure: &Failure) -> FailureLine<'_> {
    FailureLine {
        kind: failure.kind.name(),
        message: &failure.message,
        thread: &failure.thread,
        file: failure.site.as_ref().map(|site| site.file.as_str()),
        line: failure.site.as_ref().map(|site| site.line),
        schedule: &failure.schedule,
        execution: failure.execution,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_run_is_a_first_line_the_tests_and_a_summary() {
        let mut out = Vec::new();
        samples::tell(&mut Json::new(&mut out));
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }

    /// `INSTA_UPDATE=always` writes the file anew.
    #[test]
    fn the_schema_in_the_repository_is_that_of_the_code() {
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(Line<'_>)).unwrap() + "\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/messages.json");
        if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
            std::fs::write(path, &schema).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), schema);
    }
}
