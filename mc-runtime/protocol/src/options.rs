//! What a check is told: the limits and strategies of one test, already merged from flags, attributes and defaults.

use serde::{Deserialize, Serialize};

/// The memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryModel {
    /// The C++20 rules, which Rust promises, without load buffering.
    Rc20,
    /// Sequential consistency: every atomic is `SeqCst`.
    Sc,
    /// x86-TSO: what an x86 processor does with the usual translation, not what a compiler may do before.
    Tso,
}

/// In which order executions are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Last in, first out: the smallest memory.
    Dfs,
    /// Fewest events first: the smallest counterexample.
    Bfs,
    /// A random item of the frontier next.
    Random,
    /// Independent executions: random thread, random consistent write.
    Walk,
    /// Independent executions: random priorities with `d - 1` changes, each before an access that another event could come before.
    Pct(u32),
    /// Independent executions: random priorities of what threads do next, drawn again for what races with the event that is made.
    Pos,
}

/// Which items a full frontier loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drop {
    /// The one that would be added.
    Newest,
    /// The one that waits longest.
    Oldest,
    /// A random one.
    Random,
}

/// Executions that are left out because another one shows the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// See [`Reductions::awaits`].
    Await,
    /// See [`Reductions::barriers`].
    Barrier,
    /// See [`Reductions::observers`].
    Observer,
    /// See [`Reductions::poll`].
    Poll,
    /// See [`Reductions::readers`].
    Readers,
    /// See [`Reductions::retry`].
    Retry,
    /// See [`Reductions::symmetry`].
    Symmetry,
    /// See [`Reductions::unused`].
    Unused,
    /// See [`Reductions::value`].
    Value,
    /// All of them.
    All,
}

/// Which of them are. Each can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reductions {
    /// A read in a loop that comes back to it with nothing changed: it is as if the thread had not come there yet.
    pub awaits: bool,
    /// The order in which threads come to a `Barrier`, where nobody asks for it.
    pub barriers: bool,
    /// What threads that only read see, beside what others of them do.
    pub observers: bool,
    /// A round of a loop that has undone what it did, such as a look at what a lock protects.
    pub poll: bool,
    /// The order of the readers of an `RwLock` that no writer separates.
    pub readers: bool,
    /// A round of a loop that only read, such as a failed compare-exchange, and left nothing behind that is ever read.
    pub retry: bool,
    /// Which of several threads that are like each other does what.
    pub symmetry: bool,
    /// The order of updates that commute, and what loads read, where nobody reads the result.
    pub unused: bool,
    /// Which of several writes of one value a thread reads, where it then reads another of them.
    pub value: bool,
}

impl Reductions {
    const NONE: Self = Self {
        awaits: false,
        barriers: false,
        observers: false,
        poll: false,
        readers: false,
        retry: false,
        symmetry: false,
        unused: false,
        value: false,
    };
}

impl Default for Reductions {
    fn default() -> Self {
        Self {
            awaits: true,
            barriers: true,
            observers: true,
            poll: true,
            readers: true,
            retry: true,
            symmetry: true,
            unused: true,
            value: true,
        }
    }
}

impl Reductions {
    /// These but for one.
    #[must_use]
    pub fn without(self, off: Reduction) -> Self {
        match off {
            Reduction::Await => Self { awaits: false, ..self },
            Reduction::Barrier => Self { barriers: false, ..self },
            Reduction::Observer => Self { observers: false, ..self },
            Reduction::Poll => Self { poll: false, ..self },
            Reduction::Readers => Self { readers: false, ..self },
            Reduction::Retry => Self { retry: false, ..self },
            Reduction::Symmetry => Self { symmetry: false, ..self },
            Reduction::Unused => Self { unused: false, ..self },
            Reduction::Value => Self { value: false, ..self },
            Reduction::All => Self::NONE,
        }
    }

    /// Those that both have.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            awaits: self.awaits && other.awaits,
            barriers: self.barriers && other.barriers,
            observers: self.observers && other.observers,
            poll: self.poll && other.poll,
            readers: self.readers && other.readers,
            retry: self.retry && other.retry,
            symmetry: self.symmetry && other.symmetry,
            unused: self.unused && other.unused,
            value: self.value && other.value,
        }
    }
}

/// For whom a test was written, and so what of it is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// For this checker: all that it shares is of the checker's types.
    #[default]
    Own,
    /// For another checker of this kind, which does not see all memory, see `mc_runtime::models`.
    Foreign,
    /// For none: std's types are replaced, memory and reference counts are not seen. What its crates keep in statics starts afresh in each execution.
    Unmodified,
}

/// What runs a thread of the test. It makes no difference to what is explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threads {
    /// A coroutine: all of them share one thread of the operating system, and its thread-locals.
    #[default]
    Coroutines,
    /// A thread of the operating system, made for it in each execution, of which one runs at a time.
    Os,
}

/// All options of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The memory model.
    pub memory_model: MemoryModel,
    /// The strategy.
    pub strategy: Strategy,
    /// The seed of everything random.
    pub seed: u64,
    /// At most this many executions (complete and blocked). `walk`, `pct` and `pos` need it or a time limit; without either they make 10,000.
    pub max_executions: Option<u64>,
    /// At most this many events in one execution.
    pub max_events: u64,
    /// Wall time, milliseconds.
    pub time_limit: Option<u64>,
    /// Bytes for the process, the engine included; the exploration ends there. An execution whose own heap grows beyond it (by default beyond
    /// 2 GiB) is a crash, out of memory.
    pub max_memory: Option<u64>,
    /// Stop after this many failures.
    pub max_failures: u64,
    /// At most this many items in the frontier (`bfs`, `random`).
    pub queue_limit: Option<(u64, Drop)>,
    /// Milliseconds without an operation after which an execution counts as a hang; ten times as many where the thread still accesses plain memory that the checker is told of, or gives hints.
    pub hang_limit: u64,
    /// Panics of spawned threads are part of the test (they are given to `join`), not a failure.
    pub allow_panics: bool,
    /// What is still allocated at the end is no failure.
    pub allow_leaks: bool,
    /// How many weak compare-exchanges of each thread may fail spuriously in an execution.
    pub spurious_failures: u32,
    /// How often each thread may be woken from a `Condvar` or a `park` for no reason in an execution.
    pub spurious_wakeups: u32,
    /// What runs its threads.
    pub threads: Threads,
    /// After how many events of an execution it is copied, so that another that begins with the same events goes on from there; 0: each execution runs from its start. If nobody says,
    /// that is so for tests of one's own, and others have a copy after 32 events.
    pub snapshots: Option<u32>,
    /// What is left out.
    pub reductions: Reductions,
    /// For whom it was written.
    pub origin: Origin,
    /// What it reads of the heap must have been written, where that makes a difference. Of tests that were written for no checker, whose plain accesses are seen.
    pub uninit: bool,
    /// What is not there by default.
    pub asked: Asked,
}

/// Which options somebody asked for, of those that a test may set itself (see `mc_runtime::models`): a value counts over the test's own even where it is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields of `Options`, which are described there")]
pub struct Asked {
    pub memory_model: bool,
    pub strategy: bool,
    pub seed: bool,
    pub max_events: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            memory_model: MemoryModel::Rc20,
            strategy: Strategy::Dfs,
            seed: 0,
            max_executions: None,
            max_events: 10_000,
            time_limit: None,
            max_memory: None,
            max_failures: 1,
            queue_limit: None,
            hang_limit: 10_000,
            allow_panics: false,
            allow_leaks: false,
            spurious_failures: 1,
            spurious_wakeups: 1,
            threads: Threads::default(),
            snapshots: None,
            reductions: Reductions::default(),
            origin: Origin::Own,
            uninit: false,
            asked: Asked::default(),
        }
    }
}
