//! One run with a test of each kind, for the tests of all reports.

use std::time::Duration;

use mc_protocol::client::Binary;
use mc_protocol::judge::{Goal, Required, judge};
use mc_protocol::options::{Options, Strategy};
use mc_protocol::outcome::{Bound, Failure, FailureKind, Outcome, Site, Spot, Verdict};
use mc_protocol::settings::Layer;

use super::Reporter;
use crate::args::CheckArgs;
use crate::discover::Case;
use crate::exit::ExitCode;
use crate::run::{Counterexample, Finished, Plan, Summary};

pub(super) fn case(name: &str) -> Case {
    Case {
        label: name.to_owned(),
        name: name.to_owned(),
        package: "demo".to_owned(),
        target: "queue".to_owned(),
        binary_id: "demo::queue".to_owned(),
        ignored: false,
        models: None,
        attribute: Layer::default(),
        binary: Binary::new("queue"),
        roots: Vec::new(),
    }
}

pub(super) fn failure(kind: FailureKind, message: &str) -> Failure {
    Failure {
        kind,
        message: message.to_owned(),
        thread: "T2 reader".to_owned(),
        site: Some(Site { file: "src/cell.rs".to_owned(), line: 30 }),
        schedule: "mc1.7hq2".to_owned(),
        execution: 2,
    }
}

pub(super) fn finished(name: &str, verdict: Verdict, failures: Vec<Failure>, expect: Option<FailureKind>) -> Finished {
    let mut case = case(name);
    case.attribute.expect = expect;
    let (bounds, strategy) = match verdict {
        Verdict::Bounded => {
            let site = Some(Site { file: "src/pool.rs".to_owned(), line: 31 });
            let spot = Some(Spot { thread: "T1".to_owned(), site });
            (vec![Bound { spot, ..Bound::new("max_events", 5000, 12) }], Strategy::Dfs)
        }
        Verdict::Sampled => (Vec::new(), Strategy::Pct(3)),
        _ => (Vec::new(), Strategy::Dfs),
    };
    let options = Options { strategy, seed: 0x5eed, ..Options::default() };
    let goal = Goal { expect, require: if verdict == Verdict::Sampled { Required::Sampled } else { Required::Proved } };
    let counterexamples = failures.iter().map(|_| Counterexample {
        file: Some(format!("target/mc/failures/{}.json", name.replace("::", "__"))),
        ..Counterexample::default()
    });
    let counterexamples = counterexamples.collect();
    let outcome = Outcome {
        verdict,
        executions: 1284,
        blocked: 7,
        bounds,
        failures,
        frontier: 0,
        seconds: 0.41,
        wanted: false,
        required: None,
    };
    let error = (verdict == Verdict::Error).then(|| ("no such test\nsecond line".to_owned(), ExitCode::Setup));
    let judgement = judge(&outcome, goal);
    Finished { case, options, goal, outcome, judgement, error, counterexamples }
}

pub(super) fn summary() -> Summary {
    use FailureKind::{Deadlock, Nondeterminism, Panic};
    let race = failure(Panic, "assertion failed: left: 0, right: 42\nbecause it is so");
    let finished = vec![
        finished("queue::spsc", Verdict::Proved, Vec::new(), None),
        finished("pool::shutdown", Verdict::Bounded, Vec::new(), None),
        finished("rt::steal", Verdict::Sampled, Vec::new(), None),
        finished("cell::publish", Verdict::Failed, vec![race], None),
        finished("lock::abba", Verdict::Failed, vec![failure(Deadlock, "two threads wait")], Some(Deadlock)),
        finished("lock::fixed", Verdict::Proved, Vec::new(), Some(Deadlock)),
        finished("time::clock", Verdict::Failed, vec![failure(Nondeterminism, "reads the clock")], None),
        finished("rt::huge", Verdict::Interrupted, Vec::new(), None),
        finished("rt::gone", Verdict::Error, Vec::new(), None),
    ];
    Summary { selected: finished.len() + 1, finished, interrupted: false, time: Duration::from_millis(2340) }
}

/// Tells a reporter the whole run.
pub(super) fn tell(reporter: &mut dyn Reporter) {
    let summary = summary();
    let check = CheckArgs::default();
    let plan = Plan {
        check: &check,
        jobs: 2,
        fail_fast: false,
        explain: true,
        uninit: false,
        layers: None,
        left_out: Vec::new(),
    };
    let cases: Vec<_> = summary.finished.iter().map(|finished| finished.case.clone()).collect();
    reporter.begin(&cases, &plan);
    for finished in &summary.finished {
        reporter.started(&finished.case);
        reporter.finished(finished);
    }
    reporter.end(&summary).unwrap();
}
