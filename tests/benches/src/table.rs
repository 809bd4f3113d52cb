//! The figures as a Markdown table: one row for each workload, ours first, then the peers, then the ratios.

use crate::measurement::{End, Measurement};
use std::fmt::Write;

/// One workload under each tool.
#[derive(Clone, Debug)]
pub struct Row {
    /// As in `inc(2)`.
    pub title: String,
    /// Executions that an optimal checker needs, where that is known.
    pub optimum: Option<u64>,
    /// Ours.
    pub mc: Measurement,
    /// Ours, with so many executions that what a check costs once does not count.
    pub steady: Measurement,
    /// loom's.
    pub loom: Measurement,
    /// shuttle's.
    pub shuttle: Measurement,
}

const HEAD: &str = "\
| workload | needed | mc: executions | time | /s | MiB | loom: executions | time | /s | MiB | shuttle: executions | time | /s | MiB | faster than loom: per execution | to the end | than shuttle: per execution | to the end |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

/// The whole table.
pub fn render(rows: &[Row]) -> String {
    let mut text = HEAD.to_owned();
    for row in rows {
        let cells = [
            row.title.clone(),
            row.optimum.map_or("-".to_owned(), whole),
            cells(&row.mc, &row.steady),
            cells(&row.loom, &row.loom),
            cells(&row.shuttle, &row.shuttle),
            ratios(row, &row.loom),
            ratios(row, &row.shuttle),
        ];
        writeln!(text, "| {} |", cells.join(" | ")).expect("a string takes everything");
    }
    text
}

/// What was reported against correct programs, one a line.
pub fn false_alarms(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        for (tool, measurement) in [("mc", &row.mc), ("loom", &row.loom), ("shuttle", &row.shuttle)] {
            if matches!(measurement.end, End::Failed | End::Crashed) {
                let (end, detail) = (measurement.end.name(), &measurement.detail);
                writeln!(text, "- {} under {tool} {end}: {detail}", row.title).expect("a string takes everything");
            }
        }
    }
    text
}

/// Executions, time, executions per second and memory of one tool.
fn cells(m: &Measurement, steady: &Measurement) -> String {
    let executions = match (m.end, m.blocked) {
        (End::Complete, 0) => whole(m.complete),
        (End::Complete, _) => format!("{} + {}", whole(m.complete), whole(m.blocked)),
        (End::Truncated, _) => format!("> {}", whole(m.executions())),
        (End::Failed | End::Crashed, _) => m.end.name().to_owned(),
    };
    let counts = matches!(m.end, End::Complete | End::Truncated);
    let time = if m.end == End::Truncated { format!("> {}", time(m.seconds)) } else { time(m.seconds_per_check()) };
    let (time, rate) = if counts { (time, whole(steady.rate() as u64)) } else { ("-".to_owned(), "-".to_owned()) };
    format!("{executions} | {time} | {rate} | {:.1}", m.peak_kib as f64 / 1024.0)
}

/// How much faster ours is than a peer: per execution, and to the end of the exploration.
fn ratios(row: &Row, theirs: &Measurement) -> String {
    let ours = &row.mc;
    let per_execution = row.steady.rate() / theirs.rate();
    let in_all = theirs.seconds_per_check() / ours.seconds_per_check().max(1e-9);
    match (ours.end, theirs.end) {
        (End::Complete, End::Complete) => format!("{} | {}", ratio(per_execution), ratio(in_all)),
        (End::Complete, End::Truncated) => format!("{} | > {}", ratio(per_execution), ratio(in_all)),
        (End::Truncated, End::Truncated | End::Complete) => format!("{} | -", ratio(per_execution)),
        _ => "- | -".to_owned(),
    }
}

/// A ratio, with a digit after the point where it is small.
pub fn ratio(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { whole(value as u64) }
}

/// Seconds, in the unit that fits.
pub fn time(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{seconds:.1} s")
    }
}

/// With commas between thousands.
pub fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(end: End, complete: u64, blocked: u64, seconds: f64) -> Measurement {
        Measurement { end, complete, blocked, checks: 1, seconds, peak_kib: 3072, detail: "why".to_owned() }
    }

    #[test]
    fn a_row_has_counts_times_and_ratios_and_a_limit_is_seen() {
        let row = Row {
            title: "inc(2)".to_owned(),
            optimum: Some(1000),
            mc: measured(End::Complete, 1000, 200, 0.001),
            steady: measured(End::Complete, 10_000, 2_000, 0.005),
            loom: measured(End::Truncated, 12_000, 0, 10.0),
            shuttle: measured(End::Failed, 7, 0, 0.1),
        };
        let text = render(std::slice::from_ref(&row));
        let expected = "| inc(2) | 1,000 | 1,000 + 200 | 1.0 ms | 2,400,000 | 3.0 | > 12,000 | > 10.0 s | 1,200 | 3.0 | \
                        failed | - | - | 3.0 | 2,000 | > 10,000 | - | - |";
        assert_eq!(text.lines().last(), Some(expected));
        assert_eq!(false_alarms(&[row]), "- inc(2) under shuttle failed: why\n");
    }
}
