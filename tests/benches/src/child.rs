//! A run of one tool: what its process is asked to do, how the driver starts it, and how a tool that only returns is counted.

use crate::machine::peak_kib;
use crate::measurement::{End, Measurement};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
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
    /// At most this many executions (only `mc` is asked for that).
    pub executions: Option<u64>,
    /// The body is explored this often in one check, by a choice before it (only `mc` can that).
    pub times: u64,
}

impl Request {
    fn to_arguments(&self) -> Vec<String> {
        let milliseconds = |duration: Duration| duration.as_millis().to_string();
        let most = self.executions.map_or("-".to_owned(), |n| n.to_string());
        let (limit, repeat) = (milliseconds(self.limit), milliseconds(self.repeat));
        let head = [limit, repeat, most, self.times.to_string(), self.workload.clone()];
        head.into_iter().chain(self.parameters.iter().map(usize::to_string)).collect()
    }

    /// What the driver asked this process for.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut milliseconds = || Some(Duration::from_millis(arguments.next()?.parse().ok()?));
        let (limit, repeat) = (milliseconds()?, milliseconds()?);
        let executions = arguments.next()?.parse().ok();
        let times = arguments.next()?.parse().ok()?;
        let workload = arguments.next()?;
        let parameters = arguments.map(|p| p.parse().ok()).collect::<Option<_>>()?;
        Some(Self { workload, parameters, limit, repeat, executions, times })
    }

    /// [`Request::from_arguments`] of this process.
    ///
    /// # Panics
    /// If somebody else than the driver started it, and got them wrong.
    pub fn of_this_process() -> Self {
        let request = Self::from_arguments(std::env::args().skip(1));
        request.expect("usage: LIMIT_MS REPEAT_MS EXECUTIONS|- TIMES WORKLOAD PARAMETERS...")
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

/// Called by the body at the start of each execution.
pub fn execution() {
    EXECUTIONS.fetch_add(1, Ordering::Relaxed);
}

/// Repeats the `check` of a peer, which returns when it has explored everything, and panics if something fails.
pub fn run_peer(request: &Request, check: impl Fn()) -> ! {
    let started = Instant::now();
    let measured = move |end, complete, checks, detail| {
        let seconds = started.elapsed().as_secs_f64();
        Measurement { end, complete, blocked: 0, checks, seconds, peak_kib: 0, detail }
    };
    std::panic::set_hook(Box::new(move |info| {
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
        let (limit, repeat) = (Duration::from_secs(10), Duration::from_millis(300));
        let request = Request {
            workload: "mutex_inc".to_owned(),
            parameters: vec![3, 1],
            limit,
            repeat,
            executions: None,
            times: 1,
        };
        let again = Request::from_arguments(request.to_arguments().into_iter());
        assert_eq!(again, Some(request.clone()));
        let few = Request { executions: Some(7), parameters: Vec::new(), ..request };
        assert_eq!(Request::from_arguments(few.to_arguments().into_iter()), Some(few));
    }
}
