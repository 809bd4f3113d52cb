//! How soon mistakes are found: exhaustively by each tool, and by the samplers of ours and shuttle. Two tables, the second section of
//! `RESULTS.md`. Ends with status 1 if our exhaustive search does not find one; times are only printed.
//!
//! `--quick`: fewer seeds and short limits, and nothing is written.

use mc_benches::bugs::{BUGS, Bug, RATED, SAMPLED, Tool, samplers};
use mc_benches::child::{self, Request};
use mc_benches::machine;
use mc_benches::measurement::{End, Measurement};
use mc_benches::results::{self, Section};
use mc_benches::table::{ratio, time, whole};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const MC: &str = env!("CARGO_BIN_EXE_run-mc");
const LOOM: &str = env!("CARGO_BIN_EXE_run-loom");
const SHUTTLE: &str = env!("CARGO_BIN_EXE_run-shuttle");

/// How much is measured.
#[derive(Clone, Copy)]
struct Effort {
    /// Of an exhaustive search by a peer.
    search: Duration,
    /// Each search is made so often, and the median is shown.
    repetitions: usize,
    seeds: u64,
    /// Of the samples of one seed.
    sample: Duration,
}

const FULL: Effort =
    Effort { search: Duration::from_secs(2), repetitions: 5, seeds: 20, sample: Duration::from_millis(400) };
const QUICK: Effort =
    Effort { search: Duration::from_millis(200), repetitions: 1, seeds: 4, sample: Duration::from_millis(50) };

/// One search, and the time of the whole process.
fn search(program: &str, bug: &Bug, effort: Effort) -> (Measurement, f64) {
    let request = Request::new(bug.workload, bug.parameters, effort.search);
    let run = || child::run_timed(Path::new(program), &request);
    let first = run();
    if first.0.end != End::Failed {
        return first;
    }
    let mut all: Vec<_> = std::iter::once(first).chain((1..effort.repetitions).map(|_| run())).collect();
    all.sort_by(|one, other| one.1.total_cmp(&other.1));
    all.swap_remove(all.len() / 2)
}

fn is_found(bug: &Bug, measured: &Measurement) -> bool {
    measured.end == End::Failed && bug.says.iter().any(|words| measured.detail.contains(words))
}

/// Time and executions, or what came instead.
fn cells(bug: &Bug, measured: &Measurement, seconds: f64) -> String {
    let instead = match measured.end {
        End::Failed if is_found(bug, measured) => return format!("{} | {}", time(seconds), whole(measured.complete)),
        End::Complete => "not found".to_owned(),
        End::Truncated => format!("> {}", time(seconds)),
        End::Failed | End::Crashed => measured.detail.clone(),
    };
    format!("{instead} | {}", whole(measured.executions()))
}

/// The table of exhaustive searches, and which mistakes ours does not find.
fn searches(effort: Effort) -> (String, Vec<String>) {
    let mut text = "\
| workload | mc | executions | loom | executions | shuttle | executions |
|---|--:|--:|--:|--:|--:|--:|
"
    .to_owned();
    let mut missed = Vec::new();
    for bug in BUGS {
        let mut line = format!("| {} |", bug.title());
        for program in [MC, LOOM, SHUTTLE] {
            let (measured, seconds) = search(program, bug, effort);
            write!(line, " {} |", cells(bug, &measured, seconds)).expect("a string");
            if program == MC && !is_found(bug, &measured) {
                missed.push(format!("{}: {measured:?}", bug.title()));
            }
        }
        eprintln!("{line}");
        writeln!(text, "{line}").expect("a string");
    }
    (text, missed)
}

fn program(tool: Tool) -> (&'static str, &'static Path) {
    match tool {
        Tool::Mc => ("mc", Path::new(MC)),
        Tool::Shuttle => ("shuttle", Path::new(SHUTTLE)),
    }
}

/// What one sampler needed for one mistake, seed by seed.
struct Sampled {
    /// Executions and seconds to the first failure, `None` where the limit came first.
    runs: Vec<Option<(u64, f64)>>,
    executions: u64,
    seconds: f64,
}

fn sample(bug: &Bug, tool: Tool, mode: &str, effort: Effort) -> Sampled {
    let mut sampled = Sampled { runs: Vec::new(), executions: 0, seconds: 0.0 };
    let mut missed = 0;
    for seed in 1..=effort.seeds {
        // Where more than half have missed it, the median is known to be beyond the limit.
        if missed * 2 > effort.seeds {
            break;
        }
        let request =
            Request { mode: mode.to_owned(), seed, ..Request::new(bug.workload, bug.parameters, effort.sample) };
        let measured = child::run(program(tool).1, &request);
        let found = is_found(bug, &measured).then_some((measured.executions(), measured.seconds));
        missed += u64::from(found.is_none());
        sampled.runs.push(found);
        sampled.executions += measured.executions();
        sampled.seconds += measured.seconds;
    }
    sampled
}

/// The middle of the sorted values, those that are missing last.
fn median(mut values: Vec<Option<f64>>) -> Option<f64> {
    values.sort_by(|one, other| one.unwrap_or(f64::INFINITY).total_cmp(&other.unwrap_or(f64::INFINITY)));
    values[values.len() / 2]
}

fn samples(effort: Effort) -> String {
    let mut text = "\
| workload | sampler | seeds that found it | executions, median | time, median | executions/s |
|---|---|--:|--:|--:|--:|
"
    .to_owned();
    for (bug, depth) in SAMPLED {
        for (tool, mode) in samplers(*depth) {
            let Sampled { runs, executions, seconds } = sample(bug, tool, &mode, effort);
            let found = runs.iter().flatten().count();
            let each = |part: fn((u64, f64)) -> f64| median(runs.iter().map(|run| run.map(part)).collect());
            let until = match (each(|run| run.0 as f64), each(|run| run.1)) {
                (Some(executions), Some(seconds)) => format!("{} | {}", whole(executions as u64), time(seconds)),
                _ => format!("> {} | > {}", whole(executions / runs.len() as u64), time(effort.sample.as_secs_f64())),
            };
            // The start of a check counts for much where it makes few executions.
            let rate = if executions < 10_000 { "-".to_owned() } else { whole((executions as f64 / seconds) as u64) };
            let (name, of) = (program(tool).0, runs.len());
            let line = format!("| {} | {name} {mode} | {found} of {of} | {until} | {rate} |", bug.title());
            eprintln!("{line}");
            writeln!(text, "{line}").expect("a string");
        }
    }
    text
}

/// Executions per second on correct workloads, and how much faster ours is than shuttle's `random`.
fn rates(effort: Effort) -> String {
    let samplers = samplers(3);
    let names: Vec<String> = samplers.iter().map(|(tool, mode)| format!("{} {mode}", program(*tool).0)).collect();
    let ratio_of = "mc walk to shuttle random";
    let mut text =
        format!("| executions/s | {} | {ratio_of} |\n|---|{}--:|\n", names.join(" | "), "--:|".repeat(names.len()));
    for (workload, parameters) in RATED {
        let rate = |tool, mode: &str| {
            let request =
                Request { mode: mode.to_owned(), seed: 1, ..Request::new(workload, parameters, effort.sample) };
            child::run(program(tool).1, &request).rate()
        };
        let found: Vec<f64> = samplers.iter().map(|(tool, mode)| rate(*tool, mode)).collect();
        let of = |name: &str| names.iter().position(|other| other == name).map_or(f64::NAN, |index| found[index]);
        let shown: Vec<String> = found.iter().map(|rate| whole(*rate as u64)).collect();
        let title = mc_benches::cases::title(workload, parameters);
        let ratio = ratio(of("mc walk") / of("shuttle random"));
        writeln!(text, "| {title} | {} | {ratio} |", shown.join(" | ")).expect("a string");
    }
    text
}

const SEARCH_NOTES: &str = "\
Time from before the process is started until it has ended, median; executions include the one that fails. `not found`: the tool
explored all that it knows and reported nothing; `>`: the limit of time came first. The aim for ours is 50 ms. shuttle knows neither weak memory, which `racy_publish`
and `peterson_fence` need, nor equivalent schedules.
";

const SAMPLE_NOTES: &str = "\
One process for each seed, its limit of time as named; where more than half of the seeds missed it, no more are tried. `pct` is told the preemptions
that the mistake takes, and one; the others are told nothing. Time is inside the process. ";

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let effort = if quick { QUICK } else { FULL };
    let (searches, missed) = searches(effort);
    let mut text =
        format!("{}\n\n## Time to the first mistake, exhaustive search\n\n{searches}\n", machine::describe());
    let Effort { search, repetitions, seeds, sample } = effort;
    text += &format!("{SEARCH_NOTES}Limit {} ms, {repetitions} times.\n", search.as_millis());
    text += &format!("\n## Executions to the first mistake, samples\n\n{}\n{SAMPLE_NOTES}", samples(effort));
    text += &format!("{seeds} seeds, {} ms each.\n", sample.as_millis());
    text += &format!("\n## Rates of the samplers on correct workloads\n\n{}", rates(effort));
    if !quick {
        results::write(Section::Bugs, &text).expect("the tables can be written");
    }
    println!("{text}");
    missed.iter().for_each(|line| eprintln!("missed: {line}"));
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
