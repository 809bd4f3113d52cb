//! `loom::model`: a check in the middle of a test.

use std::env;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mc_runtime::models::{self, Bounds};

use crate::__private::run_body;
use crate::checked::thread::current::NAMELESS;

/// As many branches as loom allows unless it is told otherwise.
const MAX_BRANCHES: usize = 1_000;

/// How a model is checked, as in loom. What each field means here stands beside it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Not used: an execution may have 256 threads.
    pub max_threads: usize,
    /// Above 10,000, executions may have this many events before they are cut, which the verdict then says. Not used below: what is too long
    /// for loom need not be too long here, and a loop without end is found as such.
    pub max_branches: usize,
    /// At most this many executions; the verdict is then `BOUNDED`.
    pub max_permutations: Option<usize>,
    /// At most this long; the verdict is then `BOUNDED`.
    pub max_duration: Option<Duration>,
    /// Not used: executions with more preemptions are explored too.
    pub preemption_bound: Option<usize>,
    /// Not used: a failure comes with a schedule, which is enough to see it again.
    pub checkpoint_file: Option<PathBuf>,
    /// Not used, see [`checkpoint_file`](field@Self::checkpoint_file).
    pub checkpoint_interval: usize,
    /// Not used: everything is explored, see [`stop_exploring`](super::stop_exploring).
    pub expect_explicit_explore: bool,
    /// Not used: places are always known.
    pub location: bool,
    /// Not used: the failing execution is shown event by event.
    pub log: bool,
}

impl Builder {
    /// As loom's variables say: `LOOM_MAX_BRANCHES`, `LOOM_MAX_PERMUTATIONS`, `LOOM_MAX_DURATION` and the others.
    ///
    /// # Panics
    /// When one of them is no number.
    pub fn new() -> Self {
        Self {
            max_threads: super::MAX_THREADS,
            max_branches: number("LOOM_MAX_BRANCHES").unwrap_or(MAX_BRANCHES),
            max_permutations: number("LOOM_MAX_PERMUTATIONS"),
            max_duration: number("LOOM_MAX_DURATION").map(|seconds| Duration::from_secs(seconds as u64)),
            preemption_bound: number("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: env::var_os("LOOM_CHECKPOINT_FILE").map(PathBuf::from),
            checkpoint_interval: number("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: env::var_os("LOOM_LOCATION").is_some(),
            log: env::var_os("LOOM_LOG").is_some(),
        }
    }

    /// Sets [`checkpoint_file`](field@Self::checkpoint_file).
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Checks `f` in every execution.
    ///
    /// # Panics
    /// With the counterexample, when one fails.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let bounds = Bounds {
            max_executions: self.max_permutations.map(|most| most.max(1) as u64),
            time_limit: self.max_duration.map(|most| u64::try_from(most.as_millis()).unwrap_or(u64::MAX).max(1)),
            max_events: self.max_branches as u64,
            ..Bounds::default()
        };
        NAMELESS.store(true, Ordering::Relaxed);
        models::check(bounds, move || run_body(&f));
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

fn number(variable: &str) -> Option<usize> {
    let text = env::var(variable).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("invalid value for `{variable}`: `{text}` is no number"),
    }
}

/// Checks `f` in every execution, with a [`Builder`] as loom's variables say.
///
/// # Panics
/// With the counterexample, when one fails.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
