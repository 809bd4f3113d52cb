//! A run of one tool: what its process is asked to do, how the driver starts it, and how a tool that only returns is counted.

use crate::machine::peak_kib;
use crate::measurement::{End, Measurement};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What a process is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The name of the workload.
    pub workload: String,
    /// Its parameters.
    pub parameters: Vec<usize>,
    /// The exploration is cut off after this time.
    pub limit: Duration,
    /// The check is repeated until this much time has passed.
    pub repeat: Duration,
    /// At most this many executions, of one check.
    pub executions: Option<u64>,
    /// The body is explored this often in one check, by a choice before it (only `mc` can that). Above [`AT_ONCE`], a multiple of that.
    pub times: u64,
    /// How the tool searches: [`EXHAUSTIVE`], or a sampler of its own, such as `pct:3`.
    pub mode: String,
    /// The seed of a sampler.
    pub seed: u64,
}

/// So many alternatives of a choice wait at once.
pub const AT_ONCE: u64 = 5_000;

/// The mode in which every execution is looked for.
pub const EXHAUSTIVE: &str = "dfs";

impl Request {
    /// One exhaustive check of a workload.
    pub fn new(workload: &str, parameters: &[usize], limit: Duration) -> Self {
        Self {
            workload: workload.to_owned(),
            parameters: parameters.to_vec(),
            limit,
            repeat: Duration::ZERO,
            executions: None,
            times: 1,
            mode: EXHAUSTIVE.to_owned(),
            seed: 0,
        }
    }

    fn to_arguments(&self) -> Vec<String> {
        let milliseconds = |duration: Duration| duration.as_millis().to_string();
        let most = self.executions.map_or("-".to_owned(), |n| n.to_string());
        let (limit, repeat) = (milliseconds(self.limit), milliseconds(self.repeat));
        let (times, seed) = (self.times.to_string(), self.seed.to_string());
        let head = [limit, repeat, most, times, self.mode.clone(), seed, self.workload.clone()];
        head.into_iter().chain(self.parameters.iter().map(usize::to_string)).collect()
    }

    /// What the driver asked this process for.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut milliseconds = || Some(Duration::from_millis(arguments.next()?.parse().ok()?));
        let (limit, repeat) = (milliseconds()?, milliseconds()?);
        let executions = arguments.next()?.parse().ok();
        let times = arguments.next()?.parse().ok()?;
        let mode = arguments.next()?;
        let seed = arguments.next()?.parse().ok()?;
        let workload = arguments.next()?;
        let parameters = arguments.map(|p| p.parse().ok()).collect::<Option<_>>()?;
        Some(Self { workload, parameters, limit, repeat, executions, times, mode, seed })
    }

    /// [`Request::from_arguments`] of this process.
    ///
    /// # Panics
    /// If somebody else than the driver started it, and got them wrong.
    pub fn of_this_process() -> Self {
        let request = Self::from_arguments(std::env::args().skip(1));
        request.expect("usage: LIMIT_MS REPEAT_MS EXECUTIONS|- TIMES MODE SEED WORKLOAD PARAMETERS...")
    }
}

/// Has `program` carry out `request`.
pub fn run(program: &Path, request: &Request) -> Measurement {
    let output = match Command::new(program).args(request.to_arguments()).output() {
        Ok(output) => output,
        Err(error) => return Measurement::crashed(&error.to_string()),
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let measured = stdout.lines().find_map(Measurement::from_line);
    measured.unwrap_or_else(|| Measurement::crashed(&format!("{}", output.status)))
}

/// As [`run`], with the seconds from before the process was started until it has ended.
pub fn run_timed(program: &Path, request: &Request) -> (Measurement, f64) {
    let started = Instant::now();
    let measured = run(program, request);
    (measured, started.elapsed().as_secs_f64())
}

/// Says what was measured, and ends the process, whatever its other threads are about.
pub fn finish(mut measurement: Measurement) -> ! {
    // Whoever comes first (the end, a panic, the limit) keeps it.
    static SAID: Mutex<()> = Mutex::new(());
    let _said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    measurement.peak_kib = peak_kib();
    println!("{}", measurement.to_line());
    std::process::exit(0)
}

/// Executions, counted by the body, under tools that do not say how many they made.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
/// After how many it ends.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);
static STARTED: OnceLock<Instant> = OnceLock::new();

/// Called by the body at the start of each execution.
pub fn execution() {
    let before = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
    if before == MOST.load(Ordering::Relaxed) {
        finish(measured(End::Truncated, before, 1, String::new()));
    }
}

/// What a peer did since it was started.
fn measured(end: End, complete: u64, checks: u64, detail: String) -> Measurement {
    let seconds = STARTED.get().map_or(0.0, |started| started.elapsed().as_secs_f64());
    Measurement { end, complete, blocked: 0, checks, seconds, peak_kib: 0, detail }
}

/// Repeats the `check` of a peer, which returns when it has explored everything, and panics if something fails.
pub fn run_peer(request: &Request, check: impl Fn()) -> ! {
    let started = *STARTED.get_or_init(Instant::now);
    MOST.store(request.executions.unwrap_or(u64::MAX), Ordering::Relaxed);
    std::panic::set_hook(Box::new(|info| {
        let detail = info.payload_as_str().unwrap_or("a panic").to_owned();
        finish(measured(End::Failed, EXECUTIONS.load(Ordering::Relaxed), 1, detail));
    }));
    let limit = request.limit;
    std::thread::spawn(move || {
        std::thread::sleep(limit);
        finish(measured(End::Truncated, EXECUTIONS.load(Ordering::Relaxed), 1, String::new()));
    });
    let mut checks = 0;
    loop {
        check();
        checks += 1;
        if started.elapsed() >= request.repeat {
            finish(measured(End::Complete, EXECUTIONS.load(Ordering::Relaxed) / checks, checks, String::new()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back_as_what_it_was_written_from() {
        let repeat = Duration::from_millis(300);
        let request = Request { repeat, ..Request::new("mutex_inc", &[3, 1], Duration::from_secs(10)) };
        let again = Request::from_arguments(request.to_arguments().into_iter());
        assert_eq!(again, Some(request.clone()));
        let sampled = Request { executions: Some(7), mode: "pct:3".to_owned(), seed: 5, parameters: vec![], ..request };
        assert_eq!(Request::from_arguments(sampled.to_arguments().into_iter()), Some(sampled));
    }
}
