//! The flags (and environment variables) that say how a test is checked.

use clap::Args;
use mc_protocol::judge::Required;
use mc_protocol::options::{Drop, MemoryModel, Reductions, Strategy, Threads};
use mc_protocol::settings::{self, Expected, Layer};

/// What flags and the environment say about every selected test.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Check")]
pub(crate) struct CheckArgs {
    /// In which order executions are explored: dfs, bfs, random; or sampled: walk, pos, pct:N [default: dfs]
    #[arg(long, value_name = "STRATEGY", env = "MC_STRATEGY", value_parser = settings::strategy)]
    strategy: Option<Strategy>,
    /// What loads may see: rc20 (Rust's model), sc, or tso (an x86 processor) [default: rc20]
    #[arg(long, value_name = "MODEL", env = "MC_MEMORY_MODEL", value_parser = settings::memory_model)]
    memory_model: Option<MemoryModel>,
    /// The seed of everything random [default: 0]
    #[arg(long, value_name = "SEED", env = "MC_SEED", value_parser = settings::seed)]
    seed: Option<u64>,
    /// Stop a test after this many executions
    #[arg(long, value_name = "N", env = "MC_MAX_EXECUTIONS", value_parser = settings::count)]
    max_executions: Option<u64>,
    /// Cut executions after this many events [default: 10000]
    #[arg(long, value_name = "N", env = "MC_MAX_EVENTS", value_parser = settings::count)]
    max_events: Option<u64>,
    /// Stop a test after this time (90s, 10m, 1h30m)
    #[arg(long, value_name = "TIME", env = "MC_TIME_LIMIT", value_parser = settings::duration)]
    time_limit: Option<u64>,
    /// Memory of one test, with the checker's own (512M, 4G)
    #[arg(long, value_name = "SIZE", env = "MC_MAX_MEMORY", value_parser = settings::size)]
    max_memory: Option<u64>,
    /// Stop a test after this many counterexamples [default: 1]
    #[arg(long, value_name = "N", env = "MC_MAX_FAILURES", value_parser = settings::count)]
    max_failures: Option<u64>,
    /// Keep at most this many open items, and say which a full queue loses: N[:newest|oldest|random]
    #[arg(long, value_name = "N[:WHICH]", env = "MC_QUEUE_LIMIT", value_parser = settings::queue_limit)]
    queue_limit: Option<(u64, Drop)>,
    /// An execution that makes no operation for this long hangs [default: 10s]
    #[arg(long, value_name = "TIME", env = "MC_HANG_LIMIT", value_parser = settings::duration)]
    hang_limit: Option<u64>,
    /// Let this many weak compare-exchanges of each thread fail for no reason in an execution [default: 1]
    #[arg(long, value_name = "N", env = "MC_SPURIOUS_FAILURES", value_parser = settings::times)]
    spurious_failures: Option<u32>,
    /// Wake each thread this often from a Condvar or a park for no reason in an execution [default: 1]
    #[arg(long, value_name = "N", env = "MC_SPURIOUS_WAKEUPS", value_parser = settings::times)]
    spurious_wakeups: Option<u32>,
    /// What runs the threads of a test: coroutines, or os, threads of the operating system, one at a time [default: coroutines]
    #[arg(long, value_name = "KIND", env = "MC_THREADS", value_parser = str::parse::<Threads>)]
    threads: Option<Threads>,
    /// Copy an execution after every so many events, for others to go on from there; 0: each runs from its start [default: 32 for tests
    /// that were written for loom or shuttle, 0 for others]
    #[arg(long, value_name = "N", env = "MC_SNAPSHOTS", value_parser = settings::times)]
    snapshots: Option<u32>,
    /// Explore what is otherwise left out because another execution shows the same: await, barrier, observer, readers, retry, symmetry, unused, value, or all; several
    /// with commas between
    #[arg(long, value_name = "NAMES", env = "MC_NO_REDUCTION", value_parser = settings::all_reductions_but)]
    no_reduction: Option<Reductions>,
    /// What is still allocated at the end of an execution is no failure
    #[arg(long)]
    allow_leaks: bool,
    /// The weakest verdict that passes: proved, bounded, sampled [default: proved; for samplers sampled]
    #[arg(long, value_name = "VERDICT", env = "MC_REQUIRE", value_parser = str::parse::<Required>)]
    pub(crate) require: Option<Required>,
    /// Accept a weaker verdict than a test's attribute requires: that of --require, or else any
    #[arg(long)]
    pub(crate) allow_weaker: bool,
}

impl CheckArgs {
    /// As a layer to be put over a test's attribute.
    pub(crate) fn layer(&self) -> Layer {
        Layer {
            memory_model: self.memory_model,
            strategy: self.strategy,
            seed: self.seed,
            max_executions: self.max_executions,
            max_events: self.max_events,
            time_limit: self.time_limit,
            max_memory: self.max_memory,
            max_failures: self.max_failures,
            queue_limit: self.queue_limit,
            hang_limit: self.hang_limit,
            allow_panics: None,
            allow_leaks: self.allow_leaks.then_some(true),
            spurious_failures: self.spurious_failures,
            spurious_wakeups: self.spurious_wakeups,
            threads: self.threads,
            snapshots: self.snapshots,
            reductions: self.no_reduction,
            expect: None,
            require: self.require,
        }
    }
}

// `Expected` is what clap prints after the value that is wrong.
const _: fn(&Expected) -> &dyn std::error::Error = |expected| expected;
