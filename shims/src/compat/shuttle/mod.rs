//! shuttle's names (0.8, and what 0.9 adds to them), over this crate's types: a suite that was written for shuttle runs unchanged, by plain `cargo test`.
//!
//! The packages in `shims/shuttle-compat` give these names to a crate that depends on shuttle, by a `[patch]`; `cargo mc test --shuttle`
//! does that without an edit.
//!
//! # What is checked
//! [`check_random`] makes samples by `walk`, [`check_pct`] by `pct`, [`check_dfs`] explores each class of executions once. As in shuttle, every atomic
//! access is sequentially consistent, which a suite may rely on. `MC_MEMORY_MODEL=rc20` checks the same suite under Rust's own memory model, and
//! `MC_STRATEGY=dfs MC_REQUIRE=proved` proves what the suite only samples.
//!
//! # Where it differs from shuttle
//! - A failure is shown event by event, and its schedule is one of cargo-mc (`mc1.…`): [`replay`] takes no other.
//! - Schedulers cannot be written: those of [`scheduler`] say what is to be done, and this crate's engine does it. [`scheduler::RoundRobinScheduler`] runs
//!   each thread until it must wait; [`check_uncontrolled_nondeterminism`] explores, which compares every execution with those before.
//! - [`check_dfs`] ends when all executions are known, and fails when a limit of the test is not the reason that it ends before that.
//! - Time-outs fire or do not fire; in shuttle they never do. `compare_exchange_weak` may fail spuriously.
//! - What [`rand`] gives is drawn for each execution; where all are explored it is refused, or one sequence for each thread, as
//!   [`scheduler::DfsScheduler::new`] was told.
//! - `Config` has no `ungraceful_shutdown_config`: an execution that is given up is given up where its threads stand.
//! - There are no labels, tags, clocks and counts of context switches ([`current`]), no annotations of schedules, and no `BatchSemaphore`.
//!   [`Config::stack_size`] is not used: every thread has 2 MiB.

pub mod current;
pub mod future;
pub mod lazy_static;
pub mod rand;
mod runner;
pub mod scheduler;
pub mod sync;

pub use crate::__shuttle_lazy_static as lazy_static;
pub use crate::__shuttle_thread_local as thread_local;
#[doc(inline)]
pub use runner::{
    Config, FailurePersistence, MaxSteps, PortfolioRunner, Runner, annotate_replay, check, check_dfs, check_pct,
    check_random, check_random_with_seed, check_uncontrolled_nondeterminism, check_urw, replay, replay_from_file,
};

/// `shuttle::hint`.
pub mod hint {
    pub use crate::hint::*;
}

/// `shuttle::thread`.
pub mod thread {
    pub use crate::thread::*;
}

/// `shuttle::thread_local!`: as std's.
#[doc(hidden)]
#[macro_export]
macro_rules! __shuttle_thread_local {
    ($($declarations:tt)*) => { $crate::thread_local! { $($declarations)* } };
}
