//! Which value of an option counts when flags, the environment and the attribute of a test each say something.
//!
//! Each source is a [`Layer`]; [`Layer::or`] puts one over another, [`Layer::options`] fills the rest with defaults.
//! Not here: what the options mean (`options`), and which verdict passes (`judge`).

mod names;
mod units;

use crate::judge::Required;
use crate::options::{Asked, Drop, MemoryModel, Options, Reductions, Strategy, Threads};
use crate::outcome::FailureKind;

pub use units::{
    Expected, all_reductions_but, count, duration, memory_model, of_duration, queue_limit, seed, size, strategy, times,
};

/// What one source says. Fields that it leaves out are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields of `Options`, which are described there")]
pub struct Layer {
    pub memory_model: Option<MemoryModel>,
    pub strategy: Option<Strategy>,
    pub seed: Option<u64>,
    pub max_executions: Option<u64>,
    pub max_events: Option<u64>,
    pub time_limit: Option<u64>,
    pub max_memory: Option<u64>,
    pub max_failures: Option<u64>,
    pub queue_limit: Option<(u64, Drop)>,
    pub hang_limit: Option<u64>,
    pub allow_panics: Option<bool>,
    /// [`Options::allow_leaks`]
    pub allow_leaks: Option<bool>,
    pub spurious_failures: Option<u32>,
    pub spurious_wakeups: Option<u32>,
    pub threads: Option<Threads>,
    pub snapshots: Option<u32>,
    /// What is left out still, where `no_reduction` says what is not.
    pub reductions: Option<Reductions>,
    /// The kind of failure that the test must show.
    pub expect: Option<FailureKind>,
    /// The weakest verdict that passes.
    pub require: Option<Required>,
}

/// An option that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such option.
    #[error("there is no option `{name}`; there are {}", NAMES.map(|name| format!("`{name}`")).join(", "))]
    Unknown {
        /// As written.
        name: String,
    },
    /// Its value has the wrong form.
    #[error("`{name}` is `{value}`, expected {expected}")]
    Value {
        /// The option.
        name: String,
        /// As written.
        value: String,
        /// What it must look like.
        expected: Expected,
    },
}

/// Every option, as written in an attribute. As an environment variable it is in capitals, with `MC_` before it.
pub const NAMES: [&str; 19] = [
    "memory_model",
    "strategy",
    "seed",
    "max_executions",
    "max_events",
    "time_limit",
    "max_memory",
    "max_failures",
    "queue_limit",
    "hang_limit",
    "allow_panics",
    "allow_leaks",
    "spurious_failures",
    "spurious_wakeups",
    "threads",
    "snapshots",
    "no_reduction",
    "expect",
    "require",
];

impl Layer {
    /// What an attribute says, as in [`crate::message::TestInfo::options`].
    pub fn from_attribute<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, SettingError> {
        let mut layer = Self::default();
        for (name, value) in pairs {
            layer.set(name, value)?;
        }
        Ok(layer)
    }

    /// What `MC_*` variables say; `get` reads one. An expected failure belongs to one test, so `MC_EXPECT` does not exist.
    pub fn from_environment(get: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let mut layer = Self::default();
        for name in NAMES.iter().filter(|name| **name != "expect") {
            if let Some(value) = get(&format!("MC_{}", name.to_ascii_uppercase())) {
                layer.set(name, &value)?;
            }
        }
        Ok(layer)
    }

    /// Sets one option from its text.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        self.assign(name, value).map_err(|problem| match problem {
            None => SettingError::Unknown { name: name.to_owned() },
            Some(expected) => SettingError::Value { name: name.to_owned(), value: value.to_owned(), expected },
        })
    }

    /// `Err(None)`: no such name.
    fn assign(&mut self, name: &str, value: &str) -> Result<(), Option<Expected>> {
        match name {
            "memory_model" => self.memory_model = Some(memory_model(value)?),
            "strategy" => self.strategy = Some(strategy(value)?),
            "seed" => self.seed = Some(seed(value)?),
            "max_executions" => self.max_executions = Some(count(value)?),
            "max_events" => self.max_events = Some(count(value)?),
            "time_limit" => self.time_limit = Some(duration(value)?),
            "max_memory" => self.max_memory = Some(size(value)?),
            "max_failures" => self.max_failures = Some(count(value)?),
            "queue_limit" => self.queue_limit = Some(queue_limit(value)?),
            "hang_limit" => self.hang_limit = Some(duration(value)?),
            "allow_panics" => self.allow_panics = Some(switch(value)?),
            "allow_leaks" => self.allow_leaks = Some(switch(value)?),
            "spurious_failures" => self.spurious_failures = Some(times(value)?),
            "spurious_wakeups" => self.spurious_wakeups = Some(times(value)?),
            "threads" => self.threads = Some(value.parse()?),
            "snapshots" => self.snapshots = Some(times(value)?),
            "no_reduction" => self.reductions = Some(all_reductions_but(value)?),
            "expect" => self.expect = Some(value.parse()?),
            "require" => self.require = Some(value.parse()?),
            _ => return Err(None),
        }
        Ok(())
    }

    /// This layer over `lower`: what this one leaves out is taken from there.
    #[must_use]
    pub fn or(self, lower: Self) -> Self {
        Self {
            memory_model: self.memory_model.or(lower.memory_model),
            strategy: self.strategy.or(lower.strategy),
            seed: self.seed.or(lower.seed),
            max_executions: self.max_executions.or(lower.max_executions),
            max_events: self.max_events.or(lower.max_events),
            time_limit: self.time_limit.or(lower.time_limit),
            max_memory: self.max_memory.or(lower.max_memory),
            max_failures: self.max_failures.or(lower.max_failures),
            queue_limit: self.queue_limit.or(lower.queue_limit),
            hang_limit: self.hang_limit.or(lower.hang_limit),
            allow_panics: self.allow_panics.or(lower.allow_panics),
            allow_leaks: self.allow_leaks.or(lower.allow_leaks),
            spurious_failures: self.spurious_failures.or(lower.spurious_failures),
            spurious_wakeups: self.spurious_wakeups.or(lower.spurious_wakeups),
            threads: self.threads.or(lower.threads),
            snapshots: self.snapshots.or(lower.snapshots),
            reductions: self.reductions.or(lower.reductions),
            expect: self.expect.or(lower.expect),
            require: self.require.or(lower.require),
        }
    }

    /// The options, with defaults for what nobody said.
    pub fn options(&self) -> Options {
        self.over(Options::default())
    }

    /// `lower`, with what this layer says in place of its own.
    pub fn over(&self, lower: Options) -> Options {
        Options {
            memory_model: self.memory_model.unwrap_or(lower.memory_model),
            strategy: self.strategy.unwrap_or(lower.strategy),
            seed: self.seed.unwrap_or(lower.seed),
            max_executions: self.max_executions.or(lower.max_executions),
            max_events: self.max_events.unwrap_or(lower.max_events),
            time_limit: self.time_limit.or(lower.time_limit),
            max_memory: self.max_memory.or(lower.max_memory),
            max_failures: self.max_failures.unwrap_or(lower.max_failures),
            queue_limit: self.queue_limit.or(lower.queue_limit),
            hang_limit: self.hang_limit.unwrap_or(lower.hang_limit),
            allow_panics: self.allow_panics.unwrap_or(lower.allow_panics),
            allow_leaks: self.allow_leaks.unwrap_or(lower.allow_leaks),
            spurious_failures: self.spurious_failures.unwrap_or(lower.spurious_failures),
            spurious_wakeups: self.spurious_wakeups.unwrap_or(lower.spurious_wakeups),
            threads: self.threads.unwrap_or(lower.threads),
            snapshots: self.snapshots.or(lower.snapshots),
            reductions: self.reductions.map_or(lower.reductions, |some| lower.reductions.and(some)),
            origin: lower.origin,
            uninit: lower.uninit,
            asked: Asked {
                memory_model: self.memory_model.is_some() || lower.asked.memory_model,
                strategy: self.strategy.is_some() || lower.asked.strategy,
                seed: self.seed.is_some() || lower.asked.seed,
                max_events: self.max_events.is_some() || lower.asked.max_events,
            },
        }
    }
}

fn switch(value: &str) -> Result<bool, Expected> {
    value.parse().map_err(|_| Expected("`true` or `false`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Reduction;

    #[test]
    fn every_name_can_be_set() {
        let values = [
            "sc",
            "pct:3",
            "0x5eed",
            "10_000",
            "500",
            "1h30m",
            "4G",
            "2",
            "8:oldest",
            "5s",
            "true",
            "true",
            "0",
            "2",
            "os",
            "7",
            "retry, unused",
            "leak",
            "bounded",
        ];
        let layer = Layer::from_attribute(NAMES.into_iter().zip(values)).unwrap();
        let options = layer.options();
        assert_eq!(options.strategy, Strategy::Pct(3));
        assert_eq!(options.seed, 0x5eed);
        assert_eq!(options.max_executions, Some(10_000));
        assert_eq!(options.time_limit, Some(5_400_000));
        assert_eq!(options.max_memory, Some(4 << 30));
        assert_eq!(options.queue_limit, Some((8, Drop::Oldest)));
        assert_eq!((options.spurious_failures, options.spurious_wakeups), (0, 2));
        assert_eq!((options.threads, options.snapshots), (Threads::Os, Some(7)));
        let reductions = Reductions::default().without(Reduction::Retry).without(Reduction::Unused);
        assert_eq!(options.reductions, reductions);
        assert_eq!(layer.expect, Some(FailureKind::Leak));
        assert_eq!(layer.require, Some(Required::Bounded));
    }

    #[test]
    fn the_upper_layer_wins_and_defaults_fill_the_rest() {
        let flags = Layer { seed: Some(1), ..Layer::default() };
        let attribute = Layer { seed: Some(2), max_events: Some(3), ..Layer::default() };
        let options = flags.or(attribute).options();
        assert_eq!((options.seed, options.max_events, options.max_failures), (1, 3, 1));
    }

    #[test]
    fn messages_name_the_option_the_value_and_what_is_right() {
        let mut layer = Layer::default();
        assert_eq!(
            layer.set("max_executions", "0").unwrap_err().to_string(),
            "`max_executions` is `0`, expected a whole number above 0"
        );
        assert!(
            layer.set("max_execution", "1").unwrap_err().to_string().starts_with("there is no option `max_execution`;")
        );
    }

    #[test]
    fn the_environment_sets_all_but_the_expected_failure() {
        let get = |name: &str| match name {
            "MC_MAX_EVENTS" => Some("7".to_owned()),
            "MC_EXPECT" => Some("leak".to_owned()),
            _ => None,
        };
        let layer = Layer::from_environment(get).unwrap();
        assert_eq!(layer, Layer { max_events: Some(7), ..Layer::default() });
    }
}
