//! `shuttle::check_..`, `replay..`, and `Runner`: checks in the middle of a test.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mc_runtime::judge::Required;
use mc_runtime::models::{self, Bounds};
use mc_runtime::options::Strategy;

use super::rand;
use super::scheduler::{
    DfsScheduler, MODEL, PctScheduler, Plan, RandomScheduler, ReplayScheduler, RoundRobinScheduler, Scheduler,
    UncontrolledNondeterminismCheckScheduler, UrwRandomScheduler, What,
};
use crate::__private::run_body;

/// How a test is checked, as in shuttle. What each field means here stands beside it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Not used: every thread has 2 MiB.
    pub stack_size: usize,
    /// Where the schedule of a failure goes, besides the report.
    pub failure_persistence: FailurePersistence,
    /// How many events an execution may have, and what is done with a longer one.
    pub max_steps: MaxSteps,
    /// At most this long.
    pub max_time: Option<Duration>,
    /// Not used: there is nothing to warn of.
    pub silence_warnings: bool,
    /// Not used: no spans are recorded.
    pub record_steps_in_span: bool,
}

impl Config {
    /// shuttle's defaults.
    pub fn new() -> Self {
        Self {
            stack_size: 0x8000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
        }
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        let strategy = match plan.what {
            What::Make(strategy) => Some(strategy),
            What::Replay(_) => Some(Strategy::Walk),
        };
        let limited = plan.executions.is_some() || self.max_time.is_some();
        let require = match strategy {
            Some(Strategy::Dfs) if !limited => None,
            Some(Strategy::Dfs) => Some(Required::Bounded),
            _ => Some(Required::Sampled),
        };
        let require = match self.max_steps {
            MaxSteps::ContinueAfter(_) => Some(require.unwrap_or(Required::Bounded)),
            MaxSteps::None | MaxSteps::FailAfter(_) => require,
        };
        Bounds {
            max_executions: plan.executions,
            time_limit: self.max_time.map(|most| u64::try_from(most.as_millis()).unwrap_or(u64::MAX).max(1)),
            max_events: 0,
            most_events: Some(match self.max_steps {
                MaxSteps::None => u64::from(u32::MAX),
                MaxSteps::FailAfter(steps) | MaxSteps::ContinueAfter(steps) => steps as u64,
            }),
            strategy,
            seed: plan.seed,
            memory_model: Some(MODEL),
            require,
            replay: Some("shuttle::replay of"),
            unmodified: false,
            threads: None,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

/// Where the schedule of a failure goes, besides the report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    /// Nowhere.
    None,
    /// Nowhere: the report has it.
    Print,
    /// Into a new file `scheduleNNN.txt` in this directory, or the current one.
    File(Option<PathBuf>),
}

/// How many events an execution may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    /// As many as it makes.
    None,
    /// The test fails when there is a longer one.
    FailAfter(usize),
    /// A longer one is cut.
    ContinueAfter(usize),
}

/// Checks functions in the executions that a scheduler stands for.
#[derive(Debug)]
pub struct Runner<S: ?Sized + Scheduler> {
    config: Config,
    scheduler: Box<S>,
}

impl<S: Scheduler + 'static> Runner<S> {
    /// With these settings.
    pub fn new(scheduler: S, config: Config) -> Self {
        Self { config, scheduler: Box::new(scheduler) }
    }

    /// Checks `f`; how many executions that took.
    ///
    /// # Panics
    /// With the counterexample, when one fails.
    #[track_caller]
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        run(&self.scheduler.plan(), &self.config, f)
    }
}

#[track_caller]
fn run(plan: &Plan, config: &Config, f: impl Fn() + Send + Sync + 'static) -> usize {
    if plan.executions == Some(0) {
        return 0;
    }
    let bounds = config.bounds(plan);
    let data = plan.data;
    let body = move || {
        rand::begin(data);
        run_body(&f);
    };
    let checked = catch_unwind(AssertUnwindSafe(|| match &plan.what {
        What::Make(_) => Some(models::check(bounds, body)),
        What::Replay(schedule) => {
            models::replay(bounds, schedule, body);
            None
        }
    }));
    let outcome = match checked {
        Ok(None) => return 1,
        Ok(Some(outcome)) => outcome,
        Err(report) => {
            if let (FailurePersistence::File(directory), What::Make(_)) = (&config.failure_persistence, &plan.what) {
                persist(directory.as_deref(), &*report);
            }
            resume_unwind(report);
        }
    };
    if let MaxSteps::FailAfter(steps) = config.max_steps {
        let too_long = outcome.bounds.iter().find(|bound| bound.limit == "max_events");
        assert!(too_long.is_none(), "exceeded max_steps bound {steps}: an execution has more events than that");
    }
    (outcome.executions + outcome.blocked) as usize
}

/// Writes the schedule that `report` names into a new file.
fn persist(directory: Option<&Path>, report: &(dyn Any + Send)) {
    let Some(schedule) = report.downcast_ref::<String>().and_then(|text| schedule(text)) else { return };
    let directory = directory.unwrap_or(Path::new("."));
    for number in 0..1_000 {
        let path = directory.join(format!("schedule{number:03}.txt"));
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                let written = std::io::Write::write_all(&mut file, schedule.as_bytes());
                return written.unwrap_or_else(|error| panic!("cannot write `{}`: {error}", path.display()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => panic!("cannot write `{}`: {error}", path.display()),
        }
    }
    panic!("`{}` has a thousand schedules; remove some", directory.display());
}

fn schedule(report: &str) -> Option<&str> {
    report.split_whitespace().find(|word| word.starts_with("mc1."))
}

/// Several schedulers for one function, one after the other.
pub struct PortfolioRunner {
    schedulers: Vec<Box<dyn Scheduler + Send + 'static>>,
    stop_on_first_failure: bool,
    config: Config,
}

impl std::fmt::Debug for PortfolioRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortfolioRunner").finish_non_exhaustive()
    }
}

impl PortfolioRunner {
    /// With no scheduler yet.
    pub fn new(stop_on_first_failure: bool, config: Config) -> Self {
        Self { schedulers: Vec::new(), stop_on_first_failure, config }
    }

    /// Adds one.
    pub fn add(&mut self, scheduler: impl Scheduler + Send + 'static) {
        self.schedulers.push(Box::new(scheduler));
    }

    /// Checks `f` with each.
    ///
    /// # Panics
    /// With the first counterexample that was found.
    #[track_caller]
    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        let f = Arc::new(f);
        let mut first = None;
        for scheduler in self.schedulers {
            let f = f.clone();
            let checked = catch_unwind(AssertUnwindSafe(|| run(&scheduler.plan(), &self.config, move || f())));
            if let Err(report) = checked {
                first.get_or_insert(report);
                if self.stop_on_first_failure {
                    break;
                }
            }
        }
        if let Some(report) = first {
            resume_unwind(report);
        }
    }
}

/// Checks `f` in one execution.
#[doc(hidden)]
#[track_caller]
pub fn check<F: Fn() + Send + Sync + 'static>(f: F) {
    Runner::new(RoundRobinScheduler::new(1), Config::default()).run(f);
}

/// Checks `f` in so many random executions.
///
/// # Panics
/// With the counterexample, when one fails.
#[track_caller]
pub fn check_random<F: Fn() + Send + Sync + 'static>(f: F, executions: usize) {
    Runner::new(RandomScheduler::new(executions), Config::default()).run(f);
}

/// Checks `f` in so many random executions, always the same.
///
/// # Panics
/// With the counterexample, when one fails.
#[track_caller]
pub fn check_random_with_seed<F: Fn() + Send + Sync + 'static>(f: F, seed: u64, executions: usize) {
    Runner::new(RandomScheduler::new_from_seed(seed, executions), Config::default()).run(f);
}

/// Checks `f` in so many random executions with `depth` changes of priority.
///
/// # Panics
/// With the counterexample, when one fails.
#[track_caller]
pub fn check_pct<F: Fn() + Send + Sync + 'static>(f: F, executions: usize, depth: usize) {
    Runner::new(PctScheduler::new(depth, executions), Config::default()).run(f);
}

/// Checks `f` in so many random executions, in which orders of what conflicts come out evenly. Of shuttle 0.9.
///
/// # Panics
/// With the counterexample, when one fails.
#[track_caller]
pub fn check_urw<F: Fn() + Send + Sync + 'static>(f: F, executions: usize) {
    Runner::new(UrwRandomScheduler::new(executions), Config::default()).run(f);
}

/// Checks `f` in all executions, or at most so many.
///
/// # Panics
/// With the counterexample, when one fails.
#[track_caller]
pub fn check_dfs<F: Fn() + Send + Sync + 'static>(f: F, executions: Option<usize>) {
    Runner::new(DfsScheduler::new(executions, false), Config::default()).run(f);
}

/// Checks that `f` does the same wherever nothing is scheduled differently, in at most so many executions.
///
/// # Panics
/// When it does not, or fails.
#[track_caller]
pub fn check_uncontrolled_nondeterminism<F: Fn() + Send + Sync + 'static>(f: F, executions: usize) {
    let scheduler = UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(executions));
    Runner::new(scheduler, Config::default()).run(f);
}

/// Runs the execution of a schedule once more.
///
/// # Panics
/// With the counterexample if it fails, and when `f` does something else than what the schedule was made from.
#[track_caller]
pub fn replay<F: Fn() + Send + Sync + 'static>(f: F, encoded_schedule: &str) {
    Runner::new(ReplayScheduler::new_from_encoded(encoded_schedule), Config::default()).run(f);
}

/// As [`replay`]: its report has what shuttle would write into a file.
///
/// # Panics
/// As [`replay`].
#[track_caller]
pub fn annotate_replay<F: Fn() + Send + Sync + 'static>(f: F, encoded_schedule: &str) {
    replay(f, encoded_schedule);
}

/// As [`replay`], with the schedule that is in a file.
///
/// # Panics
/// As [`replay`], and when the file cannot be read.
#[track_caller]
pub fn replay_from_file<F: Fn() + Send + Sync + 'static, P: AsRef<Path>>(f: F, path: P) {
    let scheduler = ReplayScheduler::new_from_file(path).expect("the schedule can be read");
    Runner::new(scheduler, Config::default()).run(f);
}
