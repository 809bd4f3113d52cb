//! The names of kinds, verdicts and options as people write and read them. They are those of the JSON forms (tested).

use std::fmt;
use std::str::FromStr;

use super::Expected;
use crate::judge::Required;
use crate::options::{MemoryModel, Reduction, Strategy, Threads};
use crate::outcome::{FailureKind, Verdict};

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 17] = [
        Self::Panic,
        Self::Deadlock,
        Self::LostWakeup,
        Self::Livelock,
        Self::DataRace,
        Self::Leak,
        Self::UseAfterFree,
        Self::DoubleFree,
        Self::OutOfBounds,
        Self::Uninit,
        Self::Crash,
        Self::StackOverflow,
        Self::Hang,
        Self::Nondeterminism,
        Self::Uncontrolled,
        Self::Contract,
        Self::Monitor,
    ];

    /// As in `expect = "..."` and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::Deadlock => "deadlock",
            Self::LostWakeup => "lost_wakeup",
            Self::Livelock => "livelock",
            Self::DataRace => "data_race",
            Self::Leak => "leak",
            Self::UseAfterFree => "use_after_free",
            Self::DoubleFree => "double_free",
            Self::OutOfBounds => "out_of_bounds",
            Self::Uninit => "uninit",
            Self::Crash => "crash",
            Self::StackOverflow => "stack_overflow",
            Self::Hang => "hang",
            Self::Nondeterminism => "nondeterminism",
            Self::Uncontrolled => "uncontrolled",
            Self::Contract => "contract",
            Self::Monitor => "monitor",
        }
    }

    /// In a sentence: "a deadlock".
    pub fn noun(self) -> &'static str {
        match self {
            Self::Panic => "a panic",
            Self::Deadlock => "a deadlock",
            Self::LostWakeup => "a lost wake-up",
            Self::Livelock => "a livelock",
            Self::DataRace => "a data race",
            Self::Leak => "a leak",
            Self::UseAfterFree => "a use after free",
            Self::DoubleFree => "a double free",
            Self::OutOfBounds => "an access out of bounds",
            Self::Uninit => "a use of memory that was never written",
            Self::Crash => "a crash",
            Self::StackOverflow => "a stack overflow",
            Self::Hang => "a hang",
            Self::Nondeterminism => "uncontrolled nondeterminism",
            Self::Uncontrolled => "something outside of control",
            Self::Contract => "a broken contract",
            Self::Monitor => "a monitor's failure",
        }
    }

    /// The test cannot be checked as it is: the failure says nothing about its correctness.
    pub fn is_uncheckable(self) -> bool {
        matches!(self, Self::Nondeterminism | Self::Uncontrolled)
    }

    /// Threads wait for ever.
    #[must_use]
    pub fn is_of_waiting(self) -> bool {
        matches!(self, Self::Deadlock | Self::LostWakeup | Self::Livelock)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for FailureKind {
    type Err = Expected;

    fn from_str(text: &str) -> Result<Self, Expected> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(Expected(
            "the kind of a failure: `panic`, `deadlock`, `lost_wakeup`, `livelock`, `data_race`, `leak`, `use_after_free`, \
             `double_free`, `out_of_bounds`, `uninit`, `crash`, `stack_overflow`, `hang`, `nondeterminism`, `uncontrolled`, `contract` or `monitor`",
        ))
    }
}

impl Verdict {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Failed => "failed",
            Self::Bounded => "bounded",
            Self::Sampled => "sampled",
            Self::Ran => "ran",
            Self::Interrupted => "interrupted",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Rc20 => "rc20",
            Self::Sc => "sc",
            Self::Tso => "tso",
        })
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dfs => out.pad("dfs"),
            Self::Bfs => out.pad("bfs"),
            Self::Random => out.pad("random"),
            Self::Walk => out.pad("walk"),
            Self::Pos => out.pad("pos"),
            Self::Pct(depth) => write!(out, "pct:{depth}"),
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Await => "await",
            Self::Barrier => "barrier",
            Self::Observer => "observer",
            Self::Poll => "poll",
            Self::Readers => "readers",
            Self::Retry => "retry",
            Self::Symmetry => "symmetry",
            Self::Unused => "unused",
            Self::Value => "value",
            Self::All => "all",
        })
    }
}

impl FromStr for Reduction {
    type Err = Expected;

    fn from_str(text: &str) -> Result<Self, Expected> {
        match text {
            "await" => Ok(Self::Await),
            "barrier" => Ok(Self::Barrier),
            "observer" => Ok(Self::Observer),
            "poll" => Ok(Self::Poll),
            "readers" => Ok(Self::Readers),
            "retry" => Ok(Self::Retry),
            "symmetry" => Ok(Self::Symmetry),
            "unused" => Ok(Self::Unused),
            "value" => Ok(Self::Value),
            "all" => Ok(Self::All),
            _ => Err(Expected(
                "`await`, `barrier`, `observer`, `poll`, `readers`, `retry`, `symmetry`, `unused`, `value` or `all`, or several with commas between",
            )),
        }
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Coroutines => "coroutines",
            Self::Os => "os",
        })
    }
}

impl FromStr for Threads {
    type Err = Expected;

    fn from_str(text: &str) -> Result<Self, Expected> {
        match text {
            "coroutines" => Ok(Self::Coroutines),
            "os" => Ok(Self::Os),
            _ => Err(Expected("`coroutines` or `os`")),
        }
    }
}

impl fmt::Display for Required {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Proved => "proved",
            Self::Bounded => "bounded",
            Self::Sampled => "sampled",
        })
    }
}

impl FromStr for Required {
    type Err = Expected;

    fn from_str(text: &str) -> Result<Self, Expected> {
        match text {
            "proved" => Ok(Self::Proved),
            "bounded" => Ok(Self::Bounded),
            "sampled" => Ok(Self::Sampled),
            _ => Err(Expected("`proved`, `bounded` or `sampled`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json_form() {
        for kind in FailureKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        for verdict in [Verdict::Proved, Verdict::Failed, Verdict::Interrupted, Verdict::Error] {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        }
        for model in [MemoryModel::Rc20, MemoryModel::Sc, MemoryModel::Tso] {
            assert_eq!(serde_json::to_value(model).unwrap(), model.to_string());
            assert_eq!(crate::settings::memory_model(&model.to_string()), Ok(model));
        }
        for reduction in [Reduction::Await, Reduction::Barrier, Reduction::Readers, Reduction::Retry, Reduction::All] {
            assert_eq!(serde_json::to_value(reduction).unwrap(), reduction.to_string());
            assert_eq!(reduction.to_string().parse(), Ok(reduction));
        }
        for threads in [Threads::Coroutines, Threads::Os] {
            assert_eq!(serde_json::to_value(threads).unwrap(), threads.to_string());
            assert_eq!(threads.to_string().parse(), Ok(threads));
        }
    }
}
