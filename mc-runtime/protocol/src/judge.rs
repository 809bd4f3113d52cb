//! Whether an outcome is what was asked for: `expect = "..."` and `require = "..."` of a test, against what was found.
//!
//! Not here: exit codes and words on a terminal (`cargo-mc`); both ways to run a test ask [`judge`].

use serde::{Deserialize, Serialize};

use crate::options::{Options, Strategy};
use crate::outcome::{FailureKind, Outcome, Verdict};
use crate::settings::Layer;

/// The weakest verdict that passes. Ordered from weak to strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Required {
    /// Random executions without a failure will do.
    Sampled,
    /// Everything up to the limits.
    Bounded,
    /// Every execution.
    Proved,
}

/// What a test must come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// It must fail, in this way.
    pub expect: Option<FailureKind>,
    /// Otherwise it must be known at least this well.
    pub require: Required,
}

/// What is wrong with an outcome, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The goal is reached.
    Passed,
    /// It failed, in the way that was expected.
    FailedAsExpected(FailureKind),
    /// A failure that was not expected.
    Failed,
    /// The expected failure was not found.
    Unfulfilled(FailureKind),
    /// The test does something that cannot be controlled, so that nothing is known about it.
    Uncheckable,
    /// No failure, but less is known than was required.
    Inconclusive(Required),
    /// Stopped before it was finished.
    Interrupted,
    /// The tool could not do it.
    Error,
}

impl Judgement {
    /// The test passes.
    pub fn passes(self) -> bool {
        matches!(self, Self::Passed | Self::FailedAsExpected(_))
    }
}

impl Goal {
    /// The goal of a test with this attribute, run with these options.
    ///
    /// Where nothing is required, an exploration must prove and a sampler must sample. What the attribute requires is only
    /// lowered by `asked` (or, without it, dropped) if `allow_weaker`.
    pub fn new(attribute: &Layer, options: &Options, asked: Option<Required>, allow_weaker: bool) -> Self {
        let usual = match options.strategy {
            Strategy::Dfs | Strategy::Bfs | Strategy::Random => Required::Proved,
            Strategy::Walk | Strategy::Pct(_) | Strategy::Pos => Required::Sampled,
        };
        let require = match (attribute.require, asked) {
            (_, Some(asked)) if allow_weaker => asked,
            (_, None) if allow_weaker => Required::Sampled,
            (Some(attribute), Some(asked)) => attribute.max(asked),
            (attribute, asked) => attribute.or(asked).unwrap_or(usual),
        };
        Self { expect: attribute.expect, require }
    }

    /// This goal, where a test does not say itself what its models must come to.
    #[must_use]
    pub fn or_own(self, outcome: &Outcome) -> Self {
        Self { require: outcome.required.unwrap_or(self.require), ..self }
    }
}

/// Holds `outcome` against `goal`.
pub fn judge(outcome: &Outcome, goal: Goal) -> Judgement {
    if outcome.verdict == Verdict::Error {
        return Judgement::Error;
    }
    if outcome.wanted
        && let Some(first) = outcome.failures.first()
    {
        let uncheckable = outcome.failures.iter().any(|failure| failure.kind.is_uncheckable());
        return if uncheckable { Judgement::Uncheckable } else { Judgement::FailedAsExpected(first.kind) };
    }
    if let Some(failure) = outcome.failures.iter().find(|failure| Some(failure.kind) != goal.expect) {
        return if failure.kind.is_uncheckable() { Judgement::Uncheckable } else { Judgement::Failed };
    }
    match (goal.expect, outcome.verdict) {
        (Some(kind), _) if !outcome.failures.is_empty() => Judgement::FailedAsExpected(kind),
        (_, Verdict::Interrupted) => Judgement::Interrupted,
        (Some(kind), _) => Judgement::Unfulfilled(kind),
        // A failed outcome names its failures; one that does not is still no pass.
        (None, Verdict::Failed) => Judgement::Failed,
        (None, Verdict::Error) => Judgement::Error,
        (None, Verdict::Proved | Verdict::Ran) => Judgement::Passed,
        (None, Verdict::Bounded | Verdict::Sampled) if is_in_vain(outcome) => Judgement::Inconclusive(goal.require),
        (None, Verdict::Bounded) => at_least(goal.require, Required::Bounded),
        (None, Verdict::Sampled) => at_least(goal.require, Required::Sampled),
    }
}

/// The limits have left nothing of the test: no execution came to its end, nor as far as it may go.
fn is_in_vain(outcome: &Outcome) -> bool {
    outcome.executions == 0 && outcome.bounds.iter().all(|bound| bound.limit != "max_events")
}

fn at_least(required: Required, reached: Required) -> Judgement {
    if reached >= required { Judgement::Passed } else { Judgement::Inconclusive(required) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Bound, Failure};

    fn outcome(verdict: Verdict, kinds: &[FailureKind]) -> Outcome {
        let failure = |kind: &FailureKind| Failure {
            kind: *kind,
            message: String::new(),
            thread: "main".to_owned(),
            site: None,
            schedule: String::new(),
            execution: 1,
        };
        let failures = kinds.iter().map(failure).collect();
        Outcome {
            verdict,
            executions: 1,
            blocked: 0,
            bounds: Vec::new(),
            failures,
            frontier: 0,
            seconds: 0.0,
            wanted: false,
            required: None,
        }
    }

    const PROVE: Goal = Goal { expect: None, require: Required::Proved };
    const DEADLOCK: Goal = Goal { expect: Some(FailureKind::Deadlock), require: Required::Proved };

    #[test]
    fn a_weaker_verdict_than_required_is_inconclusive() {
        assert_eq!(judge(&outcome(Verdict::Proved, &[]), PROVE), Judgement::Passed);
        assert_eq!(judge(&outcome(Verdict::Bounded, &[]), PROVE), Judgement::Inconclusive(Required::Proved));
        let bounded = Goal { require: Required::Bounded, ..PROVE };
        assert_eq!(judge(&outcome(Verdict::Bounded, &[]), bounded), Judgement::Passed);
        assert_eq!(judge(&outcome(Verdict::Sampled, &[]), bounded), Judgement::Inconclusive(Required::Bounded));
        assert_eq!(judge(&outcome(Verdict::Interrupted, &[]), PROVE), Judgement::Interrupted);
        for verdict in [Verdict::Bounded, Verdict::Sampled] {
            let in_vain = Outcome { executions: 0, blocked: 3, ..outcome(verdict, &[]) };
            let goal = Goal { require: Required::Sampled, ..PROVE };
            assert_eq!(judge(&in_vain, goal), Judgement::Inconclusive(Required::Sampled));
            let cut = Bound::new("max_events", 500, 3);
            assert_eq!(
                judge(&Outcome { bounds: vec![cut], ..in_vain }, goal),
                Judgement::Passed,
                "as far as was asked for"
            );
        }
    }

    #[test]
    fn an_expected_failure_passes_only_if_it_alone_is_found() {
        use FailureKind::{Deadlock, Panic};
        assert_eq!(judge(&outcome(Verdict::Failed, &[Deadlock]), DEADLOCK), Judgement::FailedAsExpected(Deadlock));
        assert_eq!(judge(&outcome(Verdict::Failed, &[Panic]), DEADLOCK), Judgement::Failed);
        assert_eq!(judge(&outcome(Verdict::Failed, &[Deadlock, Panic]), DEADLOCK), Judgement::Failed);
        assert_eq!(judge(&outcome(Verdict::Proved, &[]), DEADLOCK), Judgement::Unfulfilled(Deadlock));
        assert_eq!(judge(&outcome(Verdict::Bounded, &[]), DEADLOCK), Judgement::Unfulfilled(Deadlock));
        assert_eq!(judge(&outcome(Verdict::Interrupted, &[]), DEADLOCK), Judgement::Interrupted);
    }

    #[test]
    fn uncontrolled_code_is_not_a_failure_of_the_test_unless_expected() {
        let clock = outcome(Verdict::Failed, &[FailureKind::Nondeterminism]);
        assert_eq!(judge(&clock, PROVE), Judgement::Uncheckable);
        let expected = Goal { expect: Some(FailureKind::Nondeterminism), ..PROVE };
        assert_eq!(judge(&clock, expected), Judgement::FailedAsExpected(FailureKind::Nondeterminism));
    }

    #[test]
    fn a_requirement_is_lowered_only_when_allowed() {
        let options = Options::default();
        let attribute = Layer { require: Some(Required::Proved), ..Layer::default() };
        let require = |attribute: &Layer, asked, weaker| Goal::new(attribute, &options, asked, weaker).require;
        assert_eq!(require(&attribute, Some(Required::Bounded), false), Required::Proved);
        assert_eq!(require(&attribute, Some(Required::Bounded), true), Required::Bounded);
        assert_eq!(require(&attribute, None, true), Required::Sampled);
        assert_eq!(require(&Layer::default(), None, false), Required::Proved);
        assert_eq!(require(&Layer::default(), Some(Required::Bounded), false), Required::Bounded);
        let walk = Options { strategy: Strategy::Walk, ..options.clone() };
        assert_eq!(Goal::new(&Layer::default(), &walk, None, false).require, Required::Sampled);
    }
}
