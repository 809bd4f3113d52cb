//! Checks the selected tests, several at once, each in a worker of its own, and says what came of each.
//!
//! Not here: what a worker does (`mc-runtime`), and every word that is printed (`report`).

mod interrupt;
mod pool;

use std::time::Duration;

use mc_protocol::client::{ClientError, Print};
use mc_protocol::judge::{Goal, Judgement, Required, judge};
use mc_protocol::message::{Message, Replayed, TraceEvent};
use mc_protocol::options::Options;
use mc_protocol::outcome::{Outcome, Verdict};
use mc_protocol::report::View;

use crate::args::CheckArgs;
use crate::build::Layers;
use crate::discover::{Case, LeftOut};
use crate::exit::ExitCode;
use crate::report::Reporter;
use crate::store::{Last, Store, StoreError};

pub(crate) use interrupt::Interrupt;

/// How a run is done.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) check: &'a CheckArgs,
    pub(crate) jobs: usize,
    pub(crate) fail_fast: bool,
    /// Replay each counterexample once, to show it.
    pub(crate) explain: bool,
    /// What the tests read of the heap must have been written.
    pub(crate) uninit: bool,
    /// What of `--std` is on, if it is asked for.
    pub(crate) layers: Option<Layers>,
    /// With `--std`, what cargo would run and is not checked.
    pub(crate) left_out: Vec<LeftOut>,
}

/// What came of one test.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) case: Case,
    pub(crate) options: Options,
    pub(crate) goal: Goal,
    pub(crate) outcome: Outcome,
    pub(crate) judgement: Judgement,
    /// Why it could not be checked, with the exit code that this asks for.
    pub(crate) error: Option<(String, ExitCode)>,
    /// One for each failure of the outcome.
    pub(crate) counterexamples: Vec<Counterexample>,
}

/// How a failure is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counterexample {
    /// Where it is recorded.
    pub(crate) file: Option<String>,
    /// What happened, if it was replayed.
    pub(crate) trace: Vec<TraceEvent>,
    /// What is to be said if the replay did not show it.
    pub(crate) remark: Option<String>,
}

/// What came of all.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) finished: Vec<Finished>,
    pub(crate) selected: usize,
    pub(crate) interrupted: bool,
    pub(crate) time: Duration,
}

impl Summary {
    /// How many tests have this verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.finished.iter().filter(|finished| finished.outcome.verdict == verdict).count()
    }

    /// Tests that were not started.
    pub(crate) fn not_run(&self) -> usize {
        self.selected - self.finished.len()
    }

    /// The worst of what came of the tests.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let codes: Vec<_> = self.finished.iter().map(Finished::exit_code).collect();
        let order =
            [ExitCode::Counterexample, ExitCode::Uncheckable, ExitCode::Usage, ExitCode::Setup, ExitCode::Diverged];
        let worst = order.into_iter().find(|code| codes.contains(code));
        match worst {
            _ if self.interrupted || codes.contains(&ExitCode::Interrupted) => ExitCode::Interrupted,
            Some(code) => code,
            None => codes.into_iter().find(|code| *code != ExitCode::Ok).unwrap_or(ExitCode::Ok),
        }
    }
}

impl Finished {
    fn exit_code(&self) -> ExitCode {
        match self.judgement {
            Judgement::Passed | Judgement::FailedAsExpected(_) => ExitCode::Ok,
            Judgement::Failed | Judgement::Unfulfilled(_) => ExitCode::Counterexample,
            Judgement::Uncheckable => ExitCode::Uncheckable,
            Judgement::Inconclusive(_) => ExitCode::Inconclusive,
            Judgement::Interrupted => ExitCode::Interrupted,
            Judgement::Error => self.error.as_ref().map_or(ExitCode::Setup, |(_, code)| *code),
        }
    }

    fn new(case: Case, options: Options, goal: Goal, result: Result<Outcome, ClientError>) -> Self {
        let (outcome, error) = match result {
            Ok(outcome) => (outcome, None),
            Err(error) => (Outcome::of(Verdict::Error), Some((error.to_string(), ExitCode::asked(error.exit_code())))),
        };
        let goal = goal.or_own(&outcome);
        let judgement = judge(&outcome, goal);
        Self { case, options, goal, outcome, judgement, error, counterexamples: Vec::new() }
    }
}

/// Runs all; tells `reporter` as things happen.
pub(crate) fn run(
    cases: Vec<Case>,
    plan: &Plan<'_>,
    store: &Store,
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Summary, StoreError> {
    let begun = std::time::Instant::now();
    let selected = cases.len();
    reporter.begin(&cases, plan);
    let mut finished = Vec::new();
    let mut broken = None;
    let tasks: Vec<_> = cases.into_iter().map(|case| prepare(case, plan)).collect();
    pool::work(tasks, plan, interrupt, &mut |event| match event {
        pool::Event::Started(task) => reporter.started(&task.case),
        pool::Event::Said(task, Message::Progress { executions, blocked, estimate, .. }) => {
            reporter.progress(&task.case, *executions, *blocked, *estimate);
        }
        pool::Event::Said(..) => {}
        pool::Event::Finished(task, result) => {
            let mut end = Finished::new(task.case.clone(), task.options.clone(), task.goal, result);
            match store.record(&end.case, &end.options, &end.outcome.failures) {
                Ok(files) => end.counterexamples = files.iter().map(|file| Counterexample::in_file(file)).collect(),
                Err(error) => broken = Some(error),
            }
            reporter.finished(&end);
            finished.push(end);
        }
    });
    if plan.explain {
        for end in finished.iter_mut().filter(|end| !end.judgement.passes()) {
            explain(end, interrupt);
        }
    }
    finished.sort_by(|a, b| a.case.label.cmp(&b.case.label));
    store.remember(finished.iter().map(|end| (Store::key(&end.case), last(end))))?;
    if let Some(error) = broken {
        return Err(error);
    }
    Ok(Summary { finished, selected, interrupted: interrupt.requested(), time: begun.elapsed() })
}

/// The options and the goal of a test: flags and environment over its attribute.
fn prepare(case: Case, plan: &Plan<'_>) -> pool::Task {
    let check = plan.check;
    let options = Options { uninit: plan.uninit, ..check.layer().or(case.attribute.clone()).options() };
    let goal = Goal::new(&case.attribute, &options, check.require, check.allow_weaker);
    let asked = check.require.or_else(|| check.allow_weaker.then_some(Required::Sampled));
    pool::Task { case, options, goal, asked }
}

fn explain(end: &mut Finished, interrupt: &Interrupt) {
    for (failure, counterexample) in end.outcome.failures.iter().zip(&mut end.counterexamples) {
        if failure.schedule.is_empty() {
            continue;
        }
        let binary = &end.case.binary;
        let control = &mut |_: Option<&Message>| interrupt.control();
        match binary.replay(&end.case.name, &end.options, &failure.schedule, Print::Hidden, control) {
            Ok((trace, Replayed::Failed(_))) => counterexample.trace = trace,
            Ok((trace, Replayed::Passed)) => {
                counterexample.trace = trace;
                counterexample.remark =
                    Some("the replay did not fail: the test depends on something uncontrolled".to_owned());
            }
            Ok((trace, Replayed::Diverged { message })) => {
                counterexample.trace = trace;
                counterexample.remark = Some(format!("the replay went another way: {message}"));
            }
            Err(error) => counterexample.remark = Some(format!("the replay did not work: {error}")),
        }
    }
}

fn last(end: &Finished) -> Last {
    let Outcome { verdict, executions, seconds, .. } = end.outcome;
    Last { verdict, passed: end.judgement.passes(), executions, seconds }
}

impl Counterexample {
    fn in_file(file: &std::path::Path) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let file = file.strip_prefix(&here).unwrap_or(file).display().to_string();
        Self { file: Some(file), ..Self::default() }
    }

    /// How this counterexample of `case` is shown.
    pub(crate) fn view(&self, case: &Case, width: usize, style: mc_protocol::report::Style) -> View {
        View {
            test: case.label.clone(),
            name: case.name.clone(),
            replay: case.replay(),
            recorded: self.file.clone(),
            roots: case.roots.clone(),
            width,
            style,
        }
    }
}
