//! Whether our memory stays flat: the largest resident set of a check after few executions and after many. The third section of
//! `RESULTS.md`; ends with status 1 where a check took more than it may, or made fewer executions.

use mc_benches::cases::title;
use mc_benches::child::{self, Request};
use mc_benches::machine;
use mc_benches::results::{self, Section};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const MC: &str = env!("CARGO_BIN_EXE_run-mc");

/// No check here may take more.
const MOST_MIB: f64 = 32.0;

/// A workload, how often it is explored by a choice before it, and after how many executions it is looked at.
const CHECKS: [(&str, &[usize], u64, [u64; 2]); 3] = [
    ("philosophers", &[20], 1, [10_000, 1_000_000]),
    ("lastzero", &[20], 1, [10_000, 1_000_000]),
    ("lastzero", &[2], 2_000_000, [10_000, 10_000_000]),
];

fn main() -> ExitCode {
    let mut text = "| workload | executions | MiB | executions | MiB |\n|---|--:|--:|--:|--:|\n".to_owned();
    let mut wrong = Vec::new();
    for (workload, parameters, times, counts) in CHECKS {
        write!(text, "| {}", title(workload, parameters)).expect("a string");
        for most in counts {
            let limit = Duration::from_secs(300);
            let request = Request { executions: Some(most), times, ..Request::new(workload, parameters, limit) };
            let measured = child::run(Path::new(MC), &request);
            let (made, mib) = (measured.executions(), measured.peak_kib as f64 / 1024.0);
            write!(text, " | {made} | {mib:.1}").expect("a string");
            if made < most || mib > MOST_MIB {
                wrong.push(format!("{workload}: {made} of {most} executions, {mib:.1} MiB: {measured:?}"));
            }
        }
        text += " |\n";
    }
    let machine = machine::describe();
    text = format!("{machine}\n\nThe largest resident set; at most {MOST_MIB} MiB, or the command fails.\n\n{text}");
    results::write(Section::Memory, &text).expect("the table can be written");
    println!("{text}");
    wrong.iter().for_each(|line| eprintln!("wrong: {line}"));
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
