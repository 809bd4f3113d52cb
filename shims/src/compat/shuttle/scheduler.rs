//! `shuttle::scheduler`: which executions are made. What each stands for here is beside it.

use std::io;
use std::path::Path;

use mc_runtime::options::{MemoryModel, Strategy};

use super::rand::Data;

mod sealed {
    pub trait Sealed {}
}

/// What a scheduler asks of the engine.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) what: What,
    pub(super) executions: Option<u64>,
    pub(super) seed: Option<u64>,
    pub(super) data: Data,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Make(Strategy),
    Replay(String),
}

/// shuttle is sequentially consistent, and so is what its suites rely on.
pub(super) const MODEL: MemoryModel = MemoryModel::Sc;

impl Plan {
    fn samples(strategy: Strategy, executions: usize, seed: Option<u64>) -> Self {
        Self { what: What::Make(strategy), executions: Some(executions as u64), seed, data: Data::Drawn }
    }

    fn explores(executions: Option<usize>, data: Data) -> Self {
        let executions = executions.map(|most| most as u64);
        Self { what: What::Make(Strategy::Dfs), executions, seed: None, data }
    }
}

/// What [`Runner`](super::Runner) takes. The schedulers below are all that there are.
pub trait Scheduler: sealed::Sealed {
    #[doc(hidden)]
    fn plan(&self) -> Plan;
}

impl<S: Scheduler + ?Sized> sealed::Sealed for Box<S> {}
impl<S: Scheduler + ?Sized> Scheduler for Box<S> {
    fn plan(&self) -> Plan {
        (**self).plan()
    }
}

macro_rules! schedulers {
    ($($(#[$attribute:meta])* $name:ident,)*) => {$(
        $(#[$attribute])*
        #[derive(Debug)]
        pub struct $name(Plan);

        impl sealed::Sealed for $name {}
        impl Scheduler for $name {
            fn plan(&self) -> Plan {
                self.0.clone()
            }
        }
    )*};
}

schedulers! {
    /// Any thread next: samples by `walk`.
    RandomScheduler,
    /// Priorities with so many changes: samples by `pct`.
    PctScheduler,
    /// Of 0.9: orders of what conflicts come out evenly: samples by `pos`.
    UrwRandomScheduler,
    /// Each class of executions once: `dfs`.
    DfsScheduler,
    /// One execution, in which each thread runs until it must wait.
    RoundRobinScheduler,
    /// The execution of a schedule.
    ReplayScheduler,
}

impl RandomScheduler {
    /// So many samples. `SHUTTLE_RANDOM_SEED` is the seed, if it is set.
    ///
    /// # Panics
    /// When that is no number.
    pub fn new(executions: usize) -> Self {
        let seed = std::env::var("SHUTTLE_RANDOM_SEED").ok().map(|text| match text.parse() {
            Ok(seed) => seed,
            Err(_) => panic!("invalid value for `SHUTTLE_RANDOM_SEED`: `{text}` is no number"),
        });
        Self(Plan::samples(Strategy::Walk, executions, seed))
    }

    /// So many samples.
    pub fn new_from_seed(seed: u64, executions: usize) -> Self {
        Self(Plan::samples(Strategy::Walk, executions, Some(seed)))
    }
}

impl UrwRandomScheduler {
    /// So many samples.
    pub fn new(executions: usize) -> Self {
        Self(Plan::samples(Strategy::Pos, executions, None))
    }

    /// So many samples.
    pub fn new_from_seed(seed: u64, executions: usize) -> Self {
        Self(Plan::samples(Strategy::Pos, executions, Some(seed)))
    }
}

impl PctScheduler {
    /// So many samples with `max_depth` changes of priority.
    pub fn new(max_depth: usize, executions: usize) -> Self {
        Self(Plan::samples(pct(max_depth), executions, None))
    }

    /// So many samples with `max_depth` changes of priority.
    pub fn new_from_seed(seed: u64, max_depth: usize, executions: usize) -> Self {
        Self(Plan::samples(pct(max_depth), executions, Some(seed)))
    }
}

fn pct(depth: usize) -> Strategy {
    Strategy::Pct(u32::try_from(depth).unwrap_or(u32::MAX))
}

impl DfsScheduler {
    /// All executions, or at most so many. Data of [`rand`](super::rand) is refused, or the same in each execution.
    pub fn new(executions: Option<usize>, allow_random_data: bool) -> Self {
        let data = if allow_random_data { Data::Fixed } else { Data::Refused };
        Self(Plan::explores(executions, data))
    }
}

impl RoundRobinScheduler {
    /// In shuttle so many equal executions; here one.
    pub fn new(_executions: usize) -> Self {
        Self(Plan::explores(Some(1), Data::Fixed))
    }
}

impl ReplayScheduler {
    /// A schedule from the report of a failure.
    pub fn new_from_encoded(encoded_schedule: &str) -> Self {
        let what = What::Replay(encoded_schedule.to_owned());
        Self(Plan { what, executions: None, seed: None, data: Data::Drawn })
    }

    /// A schedule from a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn new_from_file<P: AsRef<Path>>(path: P) -> Result<Self, io::Error> {
        Ok(Self::new_from_encoded(&std::fs::read_to_string(path)?))
    }

    /// Has no effect: a schedule is always followed to the end of its execution.
    pub fn set_allow_incomplete(&mut self) {}
}

/// Explores, for every execution is then compared with those before: what differs although nothing was chosen otherwise is a failure.
#[derive(Debug)]
pub struct UncontrolledNondeterminismCheckScheduler<S: Scheduler>(S);

impl<S: Scheduler> UncontrolledNondeterminismCheckScheduler<S> {
    /// At most as many executions as `scheduler` makes.
    pub fn new(scheduler: S) -> Self {
        Self(scheduler)
    }
}

impl<S: Scheduler> sealed::Sealed for UncontrolledNondeterminismCheckScheduler<S> {}
impl<S: Scheduler> Scheduler for UncontrolledNondeterminismCheckScheduler<S> {
    fn plan(&self) -> Plan {
        Plan { what: What::Make(Strategy::Dfs), data: Data::Fixed, ..self.0.plan() }
    }
}

/// In shuttle it writes down what a schedule does, which the report of a failure here has anyway.
#[derive(Debug)]
pub struct AnnotationScheduler<S: Scheduler>(S);

impl<S: Scheduler> AnnotationScheduler<S> {
    /// As `scheduler`.
    pub fn new(scheduler: S) -> Self {
        Self(scheduler)
    }
}

impl<S: Scheduler> sealed::Sealed for AnnotationScheduler<S> {}
impl<S: Scheduler> Scheduler for AnnotationScheduler<S> {
    fn plan(&self) -> Plan {
        self.0.plan()
    }
}
