//! What the tests of the self-test must come to, and what follows from what they do come to.

use mc_protocol::outcome::{FailureKind, Outcome, Verdict};
use serde::{Deserialize, Serialize};

/// A part of what makes `--std` see into crates as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Layer {
    Harness,
    Facade,
    Instrumentation,
    SystemCalls,
}

impl Layer {
    /// In JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Harness => "harness",
            Self::Facade => "facade",
            Self::Instrumentation => "instrumentation",
            Self::SystemCalls => "system_calls",
        }
    }

    /// For people.
    pub(crate) fn words(self) -> String {
        self.name().replace('_', " ")
    }
}

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) layer: Layer,
    pub(crate) message: String,
}

/// A build of the self-test, and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    /// How it was compiled, in words.
    pub(super) how: String,
    /// The names that the harness lists, and whether each is ignored.
    pub(super) listed: Vec<(String, bool)>,
    /// Of each test of [`TESTS`], in that order.
    pub(super) outcomes: Vec<Result<Outcome, String>>,
}

pub(super) struct Expected {
    pub(super) name: &'static str,
    layer: Layer,
    comes_to: ComesTo,
}

#[derive(Clone, Copy)]
enum ComesTo {
    /// It has one thread.
    Ran,
    /// With so many executions.
    Proved(u64),
    /// With these words.
    Fails(FailureKind, &'static str),
}

const fn test(layer: Layer, name: &'static str, comes_to: ComesTo) -> Expected {
    Expected { name, layer, comes_to }
}

/// The one that is not run unless it is asked for.
const IGNORED: &str = "tests::is_ignored";

pub(super) const TESTS: [Expected; 24] = {
    use ComesTo::{Fails, Proved, Ran};
    use FailureKind::{DataRace, Panic, Uncontrolled, UseAfterFree};
    use Layer::{Facade, Harness, Instrumentation, SystemCalls};
    [
        test(Harness, "tests::named::is_run", Ran),
        test(Harness, IGNORED, Ran),
        test(Harness, "tests::panics", Ran),
        test(Harness, "tests::panics_otherwise", Fails(Panic, "expected = \"boo\"")),
        test(Harness, "tests::does_not_panic", Fails(Panic, "does not panic")),
        test(Harness, "tests::returns", Ran),
        test(Harness, "tests::returns_an_error", Fails(Panic, "termination value")),
        test(Facade, "tests::counts", Proved(2)),
        test(Facade, "tests::reads_what_is_old", Fails(Panic, "assertion failed")),
        test(Facade, "tests::locks", Proved(2)),
        test(Facade, "tests::reads_and_writes", Proved(2)),
        test(Facade, "tests::initialises", Proved(6)),
        test(Facade, "tests::waits", Proved(4)),
        test(Facade, "tests::sends", Proved(1)),
        test(Facade, "tests::has_values_of_its_own", Proved(6)),
        test(Facade, "tests::sleeps_for_an_hour", Ran),
        test(Instrumentation, "tests::races", Fails(DataRace, "data race")),
        test(Instrumentation, "tests::races_with_three_bytes", Fails(DataRace, "data race")),
        test(Instrumentation, "tests::races_with_many_at_once", Fails(DataRace, "data race")),
        test(Instrumentation, "tests::reads_what_is_freed", Fails(UseAfterFree, "memory that was freed")),
        test(Instrumentation, "tests::shares", Proved(1)),
        test(Instrumentation, "tests::counts_owners", Proved(4)),
        test(SystemCalls, "tests::waits_for_a_futex", Proved(6)),
        test(SystemCalls, "tests::reaches_out", Fails(Uncontrolled, "clock_nanosleep")),
    ]
};

/// What the engine says of a test that is explored while one of these is off.
const NO_INSTRUMENTATION: &str = "instrument";
const NO_SYSTEM_CALLS: &str = "system_calls";

/// Whether system calls are seen, if all is well otherwise. A layer that is off must be known to be: then no test with threads is proved.
pub(super) fn judge(runs: &[Ran], instrumented: bool) -> Result<bool, Fault> {
    let outcomes = runs.iter().flat_map(|run| &run.outcomes).flatten();
    let bounds = outcomes.flat_map(|outcome| &outcome.bounds);
    let on = On { instrumentation: instrumented, system_calls: !bounds.clone().any(|b| b.limit == NO_SYSTEM_CALLS) };
    match runs.iter().flat_map(|run| faults(run, on)).min_by_key(|fault| fault.layer) {
        Some(fault) => Err(fault),
        None => Ok(on.system_calls),
    }
}

#[derive(Clone, Copy)]
struct On {
    instrumentation: bool,
    system_calls: bool,
}

impl On {
    /// Is what the layer finds to be found?
    fn finds(self, layer: Layer) -> bool {
        match layer {
            Layer::Harness | Layer::Facade => true,
            Layer::Instrumentation => self.instrumentation,
            Layer::SystemCalls => self.system_calls,
        }
    }

    /// What must be said of a test with threads that does not fail.
    fn bounds(self) -> Vec<&'static str> {
        let bounds = [(NO_INSTRUMENTATION, self.instrumentation), (NO_SYSTEM_CALLS, self.system_calls)];
        bounds.into_iter().filter(|(_, on)| !on).map(|(bound, _)| bound).collect()
    }
}

fn faults(run: &Ran, on: On) -> Vec<Fault> {
    let how = &run.how;
    let mut listed: Vec<_> = run.listed.iter().map(|(name, ignored)| (name.as_str(), *ignored)).collect();
    let mut expected: Vec<_> = TESTS.iter().map(|test| (test.name, test.name == IGNORED)).collect();
    listed.sort_unstable();
    expected.sort_unstable();
    if listed != expected {
        let message = format!("({how}) it lists {listed:?}, instead of {expected:?}");
        return vec![Fault { layer: Layer::Harness, message }];
    }
    let mut faults = Vec::new();
    for (test, outcome) in TESTS.iter().zip(&run.outcomes) {
        let found = match outcome {
            Ok(outcome) if test.fits(outcome, on) => continue,
            Ok(outcome) => words(outcome),
            Err(message) => message.clone(),
        };
        let message = format!("`{}` ({how}) comes to `{found}`, instead of `{}`", test.name, test.words(on));
        faults.push(Fault { layer: test.layer, message });
    }
    faults
}

impl Expected {
    fn fits(&self, outcome: &Outcome, on: On) -> bool {
        let bounds: Vec<_> = outcome.bounds.iter().map(|bound| bound.limit.as_str()).collect();
        let explored = |verdict| outcome.verdict == verdict && bounds == on.bounds();
        let as_bounded = if on.bounds().is_empty() { Verdict::Proved } else { Verdict::Bounded };
        match self.comes_to {
            ComesTo::Ran => outcome.verdict == Verdict::Ran && outcome.executions == 1 && bounds.is_empty(),
            _ if !on.finds(self.layer) && self.layer == Layer::Instrumentation => explored(Verdict::Bounded),
            ComesTo::Proved(executions) => explored(as_bounded) && outcome.executions == executions,
            ComesTo::Fails(..) if !on.finds(self.layer) => explored(Verdict::Bounded),
            ComesTo::Fails(kind, words) => match outcome.failures.as_slice() {
                [failure] => {
                    outcome.verdict == Verdict::Failed && failure.kind == kind && failure.message.contains(words)
                }
                _ => false,
            },
        }
    }

    fn words(&self, on: On) -> String {
        let bounds = on.bounds();
        let explored = if bounds.is_empty() { "proved".to_owned() } else { format!("bounded ({})", bounds.join(", ")) };
        match self.comes_to {
            ComesTo::Ran => "ran, 1 execution".to_owned(),
            _ if !on.finds(self.layer) => explored,
            ComesTo::Proved(executions) => format!("{explored}, executions: {executions}"),
            ComesTo::Fails(kind, words) => format!("failed: {kind}: .. {words} .."),
        }
    }
}

fn words(outcome: &Outcome) -> String {
    let bounds: Vec<_> = outcome.bounds.iter().map(|bound| bound.limit.as_str()).collect();
    let bounds = if bounds.is_empty() { String::new() } else { format!(" ({})", bounds.join(", ")) };
    match outcome.failures.first() {
        Some(failure) => {
            let line = failure.message.lines().next().unwrap_or_default();
            format!("{}: {}: {line}", outcome.verdict.name(), failure.kind)
        }
        None => format!("{}{bounds}, executions: {}", outcome.verdict.name(), outcome.executions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mc_protocol::outcome::{Bound, Failure};

    const ALL: On = On { instrumentation: true, system_calls: true };

    fn outcome(test: &Expected, on: On) -> Outcome {
        let bound = |limit: &str| Bound::new(limit, 0, 1);
        let bounds: Vec<_> = on.bounds().into_iter().map(bound).collect();
        let explored = Outcome::of(if bounds.is_empty() { Verdict::Proved } else { Verdict::Bounded });
        match test.comes_to {
            ComesTo::Ran => Outcome { executions: 1, ..Outcome::of(Verdict::Ran) },
            ComesTo::Proved(executions) => Outcome { executions, bounds, ..explored },
            ComesTo::Fails(..) if !on.finds(test.layer) => Outcome { bounds, ..explored },
            ComesTo::Fails(kind, words) => {
                let (thread, schedule) = ("main".to_owned(), String::new());
                let failure = Failure { kind, message: words.to_owned(), thread, site: None, schedule, execution: 1 };
                Outcome { failures: vec![failure], ..Outcome::of(Verdict::Failed) }
            }
        }
    }

    fn ran(on: On) -> Ran {
        let listed = TESTS.iter().map(|test| (test.name.to_owned(), test.name == IGNORED)).collect();
        let outcomes = TESTS.iter().map(|test| Ok(outcome(test, on))).collect();
        Ran { how: "edition 2021".to_owned(), listed, outcomes }
    }

    /// With one outcome replaced.
    fn but(on: On, name: &str, other: Result<Outcome, String>) -> Ran {
        let mut ran = ran(on);
        let index = TESTS.iter().position(|test| test.name == name).unwrap();
        ran.outcomes[index] = other;
        ran
    }

    fn fault(run: Ran, instrumented: bool) -> Fault {
        judge(&[ran(ALL), run], instrumented).unwrap_err()
    }

    #[test]
    fn what_is_as_expected_says_whether_system_calls_are_seen() {
        assert_eq!(judge(&[ran(ALL)], true), Ok(true));
        assert_eq!(judge(&[ran(On { system_calls: false, ..ALL })], true), Ok(false));
        assert_eq!(judge(&[ran(On { instrumentation: false, ..ALL })], false), Ok(true));
        assert_eq!(judge(&[ran(On { instrumentation: false, system_calls: false })], false), Ok(false));
    }

    #[test]
    fn a_race_that_is_not_found_is_a_fault_even_if_it_is_only_bounded() {
        let proved = Outcome { executions: 1, ..Outcome::of(Verdict::Proved) };
        let found = fault(but(ALL, "tests::races", Ok(proved)), true);
        assert_eq!(found.layer, Layer::Instrumentation);
        let expected = "`tests::races` (edition 2021) comes to `proved, executions: 1`, instead of `failed: data_race: .. data race ..`";
        assert_eq!(found.message, expected);
        let off = On { instrumentation: false, ..ALL };
        assert_eq!(judge(&[ran(off)], true).unwrap_err().layer, Layer::Facade);
    }

    #[test]
    fn what_is_off_must_be_known_to_be_off() {
        let proved = Outcome { executions: 1, ..Outcome::of(Verdict::Proved) };
        let off = On { instrumentation: false, ..ALL };
        assert_eq!(
            judge(&[but(off, "tests::races", Ok(proved.clone()))], false).unwrap_err().layer,
            Layer::Instrumentation
        );
        let off = On { system_calls: false, ..ALL };
        assert_eq!(
            judge(&[but(off, "tests::reaches_out", Ok(proved.clone()))], true).unwrap_err().layer,
            Layer::SystemCalls
        );
        assert_eq!(fault(but(ALL, "tests::reaches_out", Ok(proved)), true).layer, Layer::SystemCalls);
    }

    #[test]
    fn what_lies_deepest_is_told_first() {
        let ran_once = || Ok(Outcome { executions: 1, ..Outcome::of(Verdict::Ran) });
        let mut run = but(ALL, "tests::locks", ran_once());
        assert_eq!(fault(run.clone(), true).layer, Layer::Facade);
        run.outcomes[0] = Err("it does not answer".to_owned());
        let found = fault(run.clone(), true);
        assert_eq!(found.layer, Layer::Harness);
        assert!(found.message.contains("comes to `it does not answer`"), "{}", found.message);
        run.listed.pop();
        assert!(fault(run, true).message.contains("it lists"));
    }

    #[test]
    fn the_number_of_executions_counts_and_so_does_the_kind_of_failure() {
        let more = Outcome { executions: 3, ..Outcome::of(Verdict::Proved) };
        assert_eq!(fault(but(ALL, "tests::counts", Ok(more)), true).layer, Layer::Facade);
        let panics = outcome(&TESTS[3], ALL);
        assert_eq!(fault(but(ALL, "tests::races", Ok(panics)), true).layer, Layer::Instrumentation);
    }
}
