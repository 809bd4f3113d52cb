//! A checked test that was started by plain `cargo test`, nextest or an editor: it checks itself.
//!
//! The binary starts itself once more as a worker, so that a crash is a report too, and panics if the test does not come to what
//! it should. Not here: running many tests, progress, files (`cargo-mc`).

use std::env;

use crate::client::{Binary, ClientError, Control, Print};
use crate::judge::{Goal, Judgement, judge};
use crate::message::{Message, TraceEvent};
use crate::meta::TestMeta;
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::report::{self, View};
use crate::settings::{Layer, SettingError};

/// Why a test could not be checked.
#[derive(Debug, thiserror::Error)]
enum PlainError {
    #[error("{0}")]
    Setting(#[from] SettingError),
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error("cannot find this test's own executable: {0}")]
    Executable(#[from] std::io::Error),
}

/// Checks the test in a worker of its own. Panics with a report unless it comes to what its attribute says.
pub fn check(meta: &TestMeta) {
    let verdict = match try_check(meta) {
        Ok(None) => return,
        Ok(Some(report)) => report,
        Err(error) => format!("cannot check `{}`: {error}", meta.name()),
    };
    // libtest shows a failed test's panic; where in this file it was raised helps nobody.
    panic!("\n{verdict}");
}

/// `None` if it passes.
fn try_check(meta: &TestMeta) -> Result<Option<String>, PlainError> {
    let attribute = Layer::from_attribute(meta.options.iter().copied())?;
    let environment = Layer::from_environment(|name| env::var(name).ok())?;
    let layer = environment.clone().or(attribute.clone());
    let options = layer.options();
    let goal = Goal::new(&attribute, &options, environment.require, false);
    let binary = Binary::new(env::current_exe()?);
    let outcome = binary.check(&meta.name(), &options, &mut |_| Control::Continue)?;
    let name = meta.name();
    Ok(match judge(&outcome, goal) {
        Judgement::Passed | Judgement::FailedAsExpected(_) => None,
        Judgement::Failed | Judgement::Uncheckable => Some(failures(&binary, meta, &options, &outcome)),
        Judgement::Unfulfilled(kind) => {
            let Outcome { verdict, executions, .. } = outcome;
            Some(format!(
                "{name} must show {}, but no execution does ({verdict}, {executions} executions)",
                kind.noun()
            ))
        }
        Judgement::Inconclusive(required) => {
            let bounds = outcome
                .bounds
                .iter()
                .map(|bound| format!(", {} executions cut at {} = {}", bound.cut, bound.limit, bound.given()));
            let (verdict, bounds) = (outcome.verdict, bounds.collect::<String>());
            Some(format!("{name} is {verdict}, {required} is required: {} executions{bounds}", outcome.executions))
        }
        Judgement::Interrupted => Some(format!("{name} was interrupted after {} executions", outcome.executions)),
        Judgement::Error => Some(format!("{name} could not be checked")),
    })
}

fn failures(binary: &Binary, meta: &TestMeta, options: &Options, outcome: &Outcome) -> String {
    let name = meta.name();
    let reports = outcome.failures.iter().map(|failure| {
        let trace = trace(binary, &name, options, failure);
        report::render(failure, &trace, &View::of_plain_test(name.clone(), name.clone(), "cargo mc replay"))
    });
    reports.collect::<Vec<_>>().join("\n")
}

/// The events of a failure: shown if it can be had, and the failure counts without it.
fn trace(binary: &Binary, name: &str, options: &Options, failure: &Failure) -> Vec<TraceEvent> {
    if failure.schedule.is_empty() {
        return Vec::new();
    }
    let control = &mut |_: Option<&Message>| Control::Continue;
    let replayed = binary.replay(name, options, &failure.schedule, Print::Hidden, control);
    replayed.map(|(events, _)| events).unwrap_or_default()
}
