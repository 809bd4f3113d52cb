//! The same programs under cargo-mc's engine, loom and shuttle, one after the other on one core each: one table.
//!
//! `--quick`: only the small cases, and a fifth of a second for each peer. Without it the table is also the first section of
//! `RESULTS.md`. Times are only printed; the executions of ours must be exactly as many as `cases` says, or this ends with status 1.
//! Not here: workloads with a mistake (`bugs`), and memory over many executions (`memory`).

use mc_benches::cases::{CASES, Case};
use mc_benches::child::{self, AT_ONCE, Request};
use mc_benches::machine;
use mc_benches::measurement::{End, Measurement};
use mc_benches::optimum::optimum;
use mc_benches::results::{self, Section};
use mc_benches::table::{self, Row};
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
    Request { repeat: times.repeat, ..Request::new(case.workload, case.parameters, times.limit) }
}

fn row(case: &Case, times: Times) -> Row {
    let run = |program: &str, request: &Request| child::run(Path::new(program), request);
    let patient = request(case, Times { limit: Duration::from_secs(60), ..times });
    let mc = run(MC, &patient);
    let in_one_check = |often: u64| {
        let often = if often > AT_ONCE { often.next_multiple_of(AT_ONCE) } else { often };
        let again = Request { times: often, repeat: Duration::ZERO, ..patient.clone() };
        let measured = if often > 1 { run(MC, &again) } else { mc.clone() };
        assert_eq!(measured.end, mc.end, "{} {often} times: {}", case.title(), measured.detail);
        measured
    };
    // As long as a peer has for a quarter of its executions: what a check costs once, the first look at memory and code
    // among it, is not in the time of an execution. Before the peers and after them, for a machine that is not as fast all the time.
    let trial = in_one_check(1_000 / mc.executions().max(1));
    let often = (times.limit.as_secs_f64() / 8.0 * trial.rate()) as u64 / mc.executions().max(1);
    let before = in_one_check(often);
    let theirs = request(case, times);
    let (loom, shuttle) = (run(LOOM, &theirs), run(SHUTTLE, &theirs));
    let steady = before.and(&in_one_check(often));
    Row { title: case.title(), optimum: optimum(case.workload, case.parameters), mc, steady, loom, shuttle }
}

/// What is wrong with the counts of ours, and the line of `cases` that would say what they are.
fn wrong_counts(case: &Case, mc: &Measurement) -> Option<String> {
    let counted = (mc.end, mc.complete, mc.blocked);
    let expected = (End::Complete, case.complete, case.blocked);
    let title = case.title();
    let line = case.line(mc.complete, mc.blocked);
    (counted != expected).then(|| format!("{title}: {counted:?}, expected {expected:?} {}\n    {line}", mc.detail))
}

const NOTES: &str = "\
Needed: executions of an optimal checker, where that is known (`src/optimum.rs`). Executions are complete + blocked ones; the
peers do not tell them apart. `>`: cut off by the limit of time. A check that takes
less than the shortest time is repeated; time is that of one check, with all that it costs once (`nothing` shows how much).
Executions per second of ours are those of a check that goes on for as long as a quarter of a peer's, by a choice before the body, half of it before
the peers and half after them; of the peers, executions by time.
MiB: the largest resident set of the tool's process. loom runs without a bound on preemptions; shuttle with its exhaustive
scheduler, which knows neither weak memory nor equivalent schedules: where it makes fewer than are needed, it misses outcomes.
";

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let (limit, repeat) = if quick { (200, 20) } else { (2_000, 100) };
    let times = Times { limit: Duration::from_millis(limit), repeat: Duration::from_millis(repeat) };
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(|case| case.quick || !quick) {
        let row = row(case, times);
        eprintln!("{}: {:.0}/s", row.title, row.steady.rate());
        wrong.extend(wrong_counts(case, &row.mc));
        rows.push(row);
    }
    let mut text = format!("{}, limit {limit} ms\n\n{}\n{NOTES}", machine::describe(), table::render(&rows));
    text += &format!("\nReported against correct programs:\n\n{}", table::false_alarms(&rows));
    if !quick {
        results::write(Section::Peers, &text).expect("the table can be written");
    }
    println!("{text}");
    for line in &wrong {
        eprintln!("wrong: {line}");
    }
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
