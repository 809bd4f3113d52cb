//! The check of one test: executions until the frontier is empty or a limit is reached, and the verdict.

mod verdict;

use crate::estimate::estimate;
use crate::exec::run::{TestBody, execute};
use crate::exec::{Ending, Engine, Found, Guide, Sampler, arena};
use crate::explore::Next;
use crate::ops;
use crate::options::{Options, Origin, Strategy};
use crate::outcome::{Bound, Failure, FailureKind, Outcome, Site, Spot, Verdict};
use crate::schedule::{Digest, Run, of_run};
use crate::time_limit::TimeLimit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What goes on during a check.
#[derive(Debug)]
pub enum Event<'a> {
    /// Now and then, at most every 100 ms.
    Progress {
        /// Complete executions so far.
        executions: u64,
        /// Blocked ones.
        blocked: u64,
        /// About how many executions there are in all, if the exploration takes longer than a second.
        estimate: Option<f64>,
        /// Items in the frontier.
        frontier: u64,
    },
    /// A counterexample.
    Failure(&'a Failure),
}

/// Explores `body` under `options` in this process, and says what is known then.
///
/// Spin loops are proved by comparing the writable memory of the process, so keep its other threads quiet meanwhile: what they write only makes
/// rounds look different, which costs executions. A crash of the body is one of the process; `cargo mc` runs each test in a process of its own.
///
/// ```
/// use mc_runtime::{check, options::Options, outcome::Verdict};
///
/// let outcome = check::check(&Options::default(), || ());
/// assert_eq!((outcome.verdict, outcome.executions), (Verdict::Proved, 1));
/// ```
///
/// Called by a checked test, it is a failure of that test.
#[track_caller]
pub fn check(options: &Options, body: impl Fn() + Send + Sync + 'static) -> Outcome {
    refuse_within_another();
    static NEVER: AtomicBool = AtomicBool::new(false);
    run(engine(options), Arc::new(body), &NEVER, |_| ())
}

/// Fails the running execution, if there is one.
#[track_caller]
pub(crate) fn refuse_within_another() {
    if ops::controlled() {
        let message =
            "a check within another one: a checked test cannot check something, nor call another checked test\n\
             Put what both do into a function of its own, and call that."
                .to_owned();
        ops::fail(FailureKind::Contract, message);
    }
}

/// An engine for a check under these options.
pub(crate) fn engine(options: &Options) -> Engine {
    let guide = Sampler::new(options.strategy, options.seed).map_or(Guide::Explore, Guide::Sample);
    Engine::new(options.clone(), guide, arena::is_installed())
}

/// Lets something go to another thread of the operating system.
struct Movable<T>(T);

// SAFETY: the engine's raw pointers point to its own coroutines, which run only while `execute` does, and to the body, which the check owns;
// it is moved between executions, and the thread that gave it away is joined before anything else is done with it.
unsafe impl<T> Send for Movable<T> {}

/// Explores until `stop` is set, at the latest.
pub(crate) fn run(
    mut engine: Engine,
    body: TestBody,
    stop: &'static AtomicBool,
    observe: impl FnMut(Event<'_>),
) -> Outcome {
    crate::hooks::install();
    let started = Instant::now();
    let time_limit = TimeLimit::new(started, engine.options.time_limit);
    engine.deadline = time_limit.end();
    let check = Check {
        is_to_be_rehearsed: engine.options.origin != Origin::Foreign,
        engine,
        body,
        stop,
        observe,
        started,
        time_limit,
        reported: Instant::now(),
        executions: 0,
        blocked: 0,
        too_long: 0,
        busiest: None,
        cut: Vec::new(),
        failures: Vec::new(),
        expected: None,
        estimate: None,
    };
    let mut check = Movable(check);
    loop {
        // A thread of its own: where a coroutine had to be given up in the middle of unwinding, the next thread takes over.
        let (back, done) = std::thread::scope(|scope| {
            let work = move || {
                let mut check = check;
                let Movable(inner) = &mut check; // all of it goes along
                crate::worker::prepare_thread(&inner.engine.options);
                let done = inner.explore();
                // Here, not later: std's own locks are among the statics. The end of this thread takes them, and one that was given up may hold them.
                inner.engine.put_back();
                (check, done)
            };
            let worker = std::thread::Builder::new().name("mc".to_owned()).spawn_scoped(scope, work);
            worker.expect("a thread for the check").join().expect("the engine does not panic")
        });
        check = back;
        if let Some(verdict) = done {
            return check.0.outcome(verdict);
        }
    }
}

struct Check<F> {
    engine: Engine,
    body: TestBody,
    stop: &'static AtomicBool,
    observe: F,
    started: Instant,
    time_limit: TimeLimit,
    reported: Instant,
    executions: u64,
    blocked: u64,
    too_long: u64,
    /// Who made the most events of the first of these.
    busiest: Option<Spot>,
    cut: Vec<Bound>,
    failures: Vec<Failure>,
    /// An execution on the system's heap comes first, and again where something was learned.
    is_to_be_rehearsed: bool,
    /// What the rehearsal did, for the first execution to be compared with.
    expected: Option<u16>,
    /// About how many executions there are; `Some(None)` if that cannot be told.
    estimate: Option<Option<f64>>,
}

impl<F: FnMut(Event<'_>)> Check<F> {
    /// Explores to the end. `None`: to be continued on another thread of the operating system.
    fn explore(&mut self) -> Option<Verdict> {
        self.engine.forget_snapshots();
        loop {
            if std::mem::take(&mut self.engine.tainted) {
                std::hint::cold_path();
                return None;
            }
            if self.is_to_be_rehearsed {
                std::hint::cold_path();
                if self.rehearse() {
                    return Some(Verdict::Failed);
                }
                continue;
            }
            if let Some(verdict) = self.limit() {
                return Some(verdict);
            }
            let ending = self.execute();
            let ending = if self.is_first() { self.compare_with_rehearsal(ending) } else { ending };
            if ending == Ending::Restart {
                self.start_again();
                continue;
            }
            if ending == Ending::TooLong && self.engine.late {
                continue; // to the limit, which is reached
            }
            if self.count(ending) {
                return Some(Verdict::Failed);
            }
            if !self.next() {
                return Some(self.end());
            }
        }
    }

    /// One execution on the system's heap, which makes everything that is made once per process, and is then forgotten; whether it counts nevertheless, for none can follow it.
    #[cold]
    #[inline(never)]
    fn rehearse(&mut self) -> bool {
        let ending = self.execute_rehearsal();
        self.end_rehearsals();
        if self.engine.has_reached_outside() {
            return self.count(ending);
        }
        self.engine.explorer.restart();
        self.is_to_be_rehearsed = ending == Ending::Restart;
        false
    }

    fn execute_rehearsal(&mut self) -> Ending {
        if let Some(heap) = &mut self.engine.heap {
            heap.rehearsal = true;
        }
        let ending = execute(&mut self.engine, &self.body);
        self.expected = Some(self.digest());
        let outlives = self.engine.heap.as_mut().is_some_and(|heap| heap.end_rehearsal());
        self.engine.was_rehearsed(outlives);
        ending
    }

    fn digest(&self) -> u16 {
        let graph = &self.engine.explorer.graph;
        let mut digest = Digest::default();
        for id in graph.order() {
            digest.add(id.thread.0, graph.event(*id).operation.code);
        }
        digest.value()
    }

    fn execute(&mut self) -> Ending {
        let ending = execute(&mut self.engine, &self.body);
        let ending = self.engine.confirm(ending, &self.body);
        #[cfg(feature = "unmodified")]
        let ending = crate::exec::look_twice(&mut self.engine, &self.body, ending);
        ending
    }

    /// The first execution must do what the rehearsal did, if nothing but the exploration decides. How it ended, or the one that took its place.
    #[cold]
    #[inline(never)]
    fn compare_with_rehearsal(&mut self, ending: Ending) -> Ending {
        if !self.differs_from_rehearsal(ending) {
            return ending;
        }
        if let Some(ending) = self.depends_on_addresses((self.digest(), ending)) {
            return ending;
        }
        let message =
            "the test does not do the same each time: its first execution has other events than a rehearsal of it, \
             although nothing was scheduled differently\n\
             The usual suspects: the time, random numbers, the order of a hash map, addresses, state that is left over."
                .to_owned();
        let thread = crate::ids::ThreadId::MAIN;
        self.engine.record(Found { kind: FailureKind::Nondeterminism, message, thread, site: None });
        ending
    }

    /// Does the test, whose first execution came to this, do something else on another heap only, and the same each time on the same one? A table of locks by their addresses is such a test. Then how the
    /// execution ended, or that something was learned. What is made once per process is not made again, so it makes no difference between a second rehearsal and an execution.
    fn depends_on_addresses(&mut self, first: (u16, Ending)) -> Option<Ending> {
        /// Another address may be as good as the one of the execution.
        const REHEARSALS: usize = 16;
        /// Chance may come to the same.
        const EXECUTIONS: usize = 3;
        let again = (0..REHEARSALS).find_map(|_| {
            self.engine.explorer.restart();
            let ending = self.execute_rehearsal();
            (ending == Ending::Restart || self.expected != Some(first.0)).then_some(ending)
        });
        self.end_rehearsals();
        let mut depends = again.is_some() && !self.engine.has_reached_outside();
        if again == Some(Ending::Restart) {
            return again;
        }
        for _ in 0..EXECUTIONS {
            self.engine.explorer.restart();
            let ending = self.execute();
            if ending == Ending::Restart {
                return Some(ending);
            }
            depends &= (self.digest(), ending) == first;
        }
        depends.then_some(first.1)
    }

    /// None of them is compared with another one any more.
    fn end_rehearsals(&mut self) {
        if let Some(heap) = &mut self.engine.heap {
            heap.end_rehearsals();
        }
    }

    fn is_first(&self) -> bool {
        self.executions + self.blocked + self.too_long == 0
    }

    fn differs_from_rehearsal(&self, ending: Ending) -> bool {
        // What a loop does to the system's heap is not seen in a rehearsal, nobody has a twin there, whose turn comes first, and no memory is handed out again.
        let loops = self.engine.compares_states() || self.engine.sees_counts();
        let differs = loops || self.engine.twins_took_turns() || self.engine.reuses_addresses();
        let comparable =
            !differs && !self.engine.guide.decides() && !matches!(ending, Ending::Failed | Ending::Restart);
        comparable && !self.engine.late && self.expected.is_some_and(|e| e != self.digest())
    }

    /// Something was learned.
    #[cold]
    #[inline(never)]
    fn start_again(&mut self) {
        (self.executions, self.blocked, self.too_long) = (0, 0, 0);
        self.failures.clear();
        self.busiest = None;
        (self.engine.spurious, self.engine.handed_over) = Default::default();
        self.engine.explorer.restart();
        self.is_to_be_rehearsed = self.engine.options.origin != Origin::Foreign;
    }

    /// Counts an execution; whether that was the last failure to look for.
    fn count(&mut self, ending: Ending) -> bool {
        if let Some(found) = self.engine.failure.take() {
            std::hint::cold_path();
            return self.count_failure(found);
        }
        match ending {
            Ending::Complete => self.executions += 1,
            Ending::Blocked => self.blocked += 1,
            Ending::TooLong => {
                self.too_long += 1;
                self.busiest.get_or_insert_with(|| self.engine.busiest());
            }
            Ending::Failed | Ending::Restart => unreachable!("a failure is there, and restarts are not counted"),
        }
        self.report_progress();
        false
    }

    #[cold]
    #[inline(never)]
    fn count_failure(&mut self, found: Found) -> bool {
        let waits = found.kind.is_of_waiting();
        let failure = self.failure(found);
        (self.observe)(Event::Failure(&failure));
        let last = failure.kind.is_uncheckable() || failure.kind == FailureKind::Uninit;
        self.failures.push(failure);
        let last = last || self.failures.len() as u64 >= self.engine.options.max_failures;
        if waits && !last {
            self.blocked += 1
        } else {
            self.executions += 1
        }
        last
    }

    fn failure(&self, found: Found) -> Failure {
        let execution = self.executions + self.blocked + self.too_long + 1;
        make_failure(&self.engine, found, execution)
    }

    fn report_progress(&mut self) {
        let seen = self.executions + self.blocked + self.too_long;
        if seen.is_multiple_of(64) && self.reported.elapsed() >= Duration::from_millis(100) {
            self.reported = Instant::now();
            let frontier = self.engine.explorer.frontier.len() as u64;
            if self.estimate.is_none() && self.started.elapsed() >= Duration::from_secs(1) {
                self.estimate = Some(self.probe());
            }
            let (executions, blocked, estimate) = (self.executions, self.blocked, self.estimate.flatten());
            (self.observe)(Event::Progress { executions, blocked, estimate, frontier });
        }
    }

    /// About how many executions there are, by probes with an engine of their own.
    fn probe(&mut self) -> Option<f64> {
        if self.engine.guide.decides() {
            return None;
        }
        // Each engine knows only what its own last execution has left in statics.
        self.engine.put_back();
        let options =
            Options { strategy: Strategy::Dfs, queue_limit: None, snapshots: Some(0), ..self.engine.options.clone() };
        let mut prober = engine(&options);
        prober.take_knowledge(&self.engine);
        let estimate = estimate(&mut prober, &self.body);
        prober.put_back();
        estimate
    }

    /// Goes to the next execution, if there is one.
    fn next(&mut self) -> bool {
        if matches!(self.engine.guide, Guide::Sample(_)) {
            self.engine.explorer.restart();
            return true;
        }
        self.engine.explorer.next() == Next::Prefix
    }

    fn outcome(mut self, verdict: Verdict) -> Outcome {
        Outcome {
            verdict,
            executions: self.executions,
            blocked: self.blocked,
            bounds: std::mem::take(&mut self.cut),
            failures: std::mem::take(&mut self.failures),
            frontier: self.engine.explorer.frontier.len() as u64,
            seconds: self.started.elapsed().as_secs_f64(),
            wanted: false,
            required: None,
        }
    }
}

/// Does std's own code run in this process? Not all that it does is seen, so that nothing is proved.
pub(crate) fn sees_real_std() -> bool {
    #[cfg(feature = "unmodified")]
    return crate::instrumentation::is_on_in_std();
    #[cfg(not(feature = "unmodified"))]
    false
}

/// A failure as data, with the schedule of the engine's present graph.
pub(crate) fn make_failure(engine: &Engine, found: Found, execution: u64) -> Failure {
    let mut learned: Vec<u16> = engine.learned.iter().map(|key| *key as u16).collect();
    learned.sort_unstable();
    let options = &engine.options;
    let nobody_ran = found.kind.is_of_waiting() || found.kind == FailureKind::Leak;
    let run = Run {
        graph: &engine.explorer.graph,
        order: &engine.order,
        left_out: engine.left_out.made(),
        lives: &engine.lives,
        failed: (!nobody_ran).then_some(found.thread),
    };
    let schedule = of_run(&run, options, learned);
    Failure {
        kind: found.kind,
        message: found.message,
        thread: engine.thread_name(found.thread),
        site: found.site.map(|(file, line)| Site { file, line }),
        schedule: schedule.to_string(),
        execution,
    }
}
