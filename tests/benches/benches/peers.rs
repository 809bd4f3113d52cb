//! The same programs under cargo-mc's engine, loom and shuttle, one after the other on one core each: one table.
//!
//! `--quick`: only the small cases, and a second for each. Without it the table is also written to `RESULTS.md`. Times are only
//! printed; the executions of ours must be exactly as many as `cases` says, or this ends with status 1.

use mc_benches::cases::{CASES, Case};
use mc_benches::child::{self, Request};
use mc_benches::machine;
use mc_benches::measurement::{End, Measurement};
use mc_benches::table::{self, Row};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const MC: &str = env!("CARGO_BIN_EXE_run-mc");
const LOOM: &str = env!("CARGO_BIN_EXE_run-loom");
const SHUTTLE: &str = env!("CARGO_BIN_EXE_run-shuttle");

/// How long is measured.
#[derive(Clone, Copy)]
struct Times {
    limit: Duration,
    repeat: Duration,
}

fn request(case: &Case, times: Times) -> Request {
    let (workload, parameters) = (case.workload.to_owned(), case.parameters.to_vec());
    let Times { limit, repeat } = times;
    Request { workload, parameters, limit, repeat, executions: None, times: 1 }
}

fn row(case: &Case, times: Times) -> Row {
    let run = |program: &str, request: &Request| child::run(Path::new(program), request);
    let patient = request(case, Times { limit: Duration::from_secs(60), ..times });
    let mc = run(MC, &patient);
    // A few thousand executions in one check, so that what a check costs once is not in the time of an execution.
    let often = 4_000 / mc.executions().max(1);
    let steady = if often > 1 { run(MC, &Request { times: often, ..patient }) } else { mc.clone() };
    let theirs = request(case, times);
    Row { title: case.title(), mc, steady, loom: run(LOOM, &theirs), shuttle: run(SHUTTLE, &theirs) }
}

/// What is wrong with the counts of ours, one a line.
fn wrong_counts(case: &Case, mc: &Measurement) -> Option<String> {
    let counted = (mc.end, mc.complete, mc.blocked);
    let expected = (End::Complete, case.complete, case.blocked);
    let title = case.title();
    (counted != expected).then(|| format!("{title}: {counted:?}, expected {expected:?} {}", mc.detail))
}

/// The peak of memory after a few executions and after many, of one check.
fn memory(few: u64, many: u64, limit: Duration) -> String {
    let mut text = format!("| workload | MiB after {few} executions | after {many} |\n|---|--:|--:|\n");
    for (workload, parameter) in [("inc", 10), ("readers", 20)] {
        let peak = |executions| {
            let (workload, parameters) = (workload.to_owned(), vec![parameter]);
            let repeat = Duration::ZERO;
            let request = Request { workload, parameters, limit, repeat, executions: Some(executions), times: 1 };
            let measured = child::run(Path::new(MC), &request);
            let reached = if measured.executions() < executions { " (time limit)" } else { "" };
            format!("{:.1}{reached}", measured.peak_kib as f64 / 1024.0)
        };
        writeln!(text, "| {workload}({parameter}) | {} | {} |", peak(few), peak(many)).expect("a string");
    }
    text
}

const NOTES: &str = "\
Executions are complete + blocked ones; the peers do not tell them apart. `>`: cut off by the limit of time. A check that takes
less than the shortest time is repeated; time is that of one check, with all that it costs once (`nothing` shows how much).
Executions per second of ours are those of a check with some thousand, by a choice before the body; of the peers, executions by time.
MiB: the largest resident set of the tool's process. loom runs without a bound on preemptions; shuttle with its exhaustive
scheduler, which knows neither weak memory nor equivalent schedules. `mpsc` is left out: there is no checked channel yet.
";

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let (limit, repeat) = if quick { (1_000, 50) } else { (2_000, 200) };
    let times = Times { limit: Duration::from_millis(limit), repeat: Duration::from_millis(repeat) };
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(|case| case.quick || !quick) {
        let row = row(case, times);
        eprintln!("{}: {:.0}/s", row.title, row.steady.rate());
        wrong.extend(wrong_counts(case, &row.mc));
        rows.push(row);
    }
    let mut text = format!("# Ours and the peers'\n\n{}, limit {limit} ms\n\n", machine::describe());
    text += &table::render(&rows);
    text += &format!("\n{NOTES}\nReported against correct programs:\n\n{}", table::false_alarms(&rows));
    if !quick {
        let memory = memory(10_000, 1_000_000, Duration::from_secs(60));
        text += &format!("\n## Memory of ours, the largest resident set\n\n{memory}");
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/RESULTS.md"), &text).expect("the table can be written");
    }
    println!("{text}");
    for line in &wrong {
        eprintln!("wrong: {line}");
    }
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
