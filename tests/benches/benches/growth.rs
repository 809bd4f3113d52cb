//! How time and memory grow with threads, with operations and with executions, for each tool: pictures in `docs/growth/`, and the
//! page `docs/growth.md` that shows them.
//!
//! A curve ends where its tool does not come to an end within the limit of time, or gives up. Nothing is asserted.

use mc_benches::cases::title;
use mc_benches::child::{self, Request};
use mc_benches::machine;
use mc_benches::measurement::{End, Measurement};
use mc_benches::plot::{Axis, Chart, Curve, Scale, svg};
use mc_benches::table::whole;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

const TOOLS: [(&str, &str); 3] = [
    ("cargo-mc", env!("CARGO_BIN_EXE_run-mc")),
    ("loom", env!("CARGO_BIN_EXE_run-loom")),
    ("shuttle", env!("CARGO_BIN_EXE_run-shuttle")),
];

/// For each point of a curve.
const LIMIT: Duration = Duration::from_secs(5);

/// One thing that grows.
struct Series {
    /// The files are named after it.
    name: &'static str,
    title: &'static str,
    across: &'static str,
    scale: Scale,
    /// From left to right.
    steps: &'static [u64],
    request: fn(u64) -> Request,
}

const SERIES: [Series; 3] = [
    Series {
        name: "threads",
        title: "philosophers(n): n threads, n locks",
        across: "threads",
        scale: Scale::Linear,
        steps: &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
        request: |threads| Request::new("philosophers", &[threads as usize], LIMIT),
    },
    Series {
        name: "operations",
        title: "mutex_inc(2, n): two threads, n critical sections each",
        across: "critical sections of each thread",
        scale: Scale::Linear,
        steps: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        request: |times| Request::new("mutex_inc", &[2, times as usize], LIMIT),
    },
    Series {
        name: "executions",
        title: "mutex_inc(2, 10): the first n executions",
        across: "executions",
        scale: Scale::Log,
        steps: &[1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000],
        request: |most| Request { executions: Some(most), ..Request::new("mutex_inc", &[2, 10], LIMIT) },
    },
];

/// One process; of what takes no time three, and the one whose time is in the middle.
fn measure(program: &Path, request: &Request) -> Measurement {
    let first = child::run(program, request);
    if first.seconds > 0.2 {
        return first;
    }
    let mut all = [first, child::run(program, request), child::run(program, request)];
    all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let [_, middle, _] = all;
    middle
}

/// One tool along a series, and why its curve ends.
fn follow(series: &Series, program: &str) -> (Vec<(f64, Measurement)>, String) {
    let mut points = Vec::new();
    for step in series.steps {
        let request = (series.request)(*step);
        let measured = measure(Path::new(program), &request);
        // A limit of executions is reached, or the exploration is complete: both are the point that was asked for.
        let reached =
            measured.end == End::Complete || request.executions.is_some_and(|most| measured.executions() >= most);
        if !reached {
            let why = match measured.end {
                End::Failed | End::Crashed => format!("gives up: {}", measured.detail.trim_end_matches('.')),
                _ => format!("is cut off after {} executions", whole(measured.executions())),
            };
            return (points, format!("at {} {why}", title(&request.workload, &request.parameters)));
        }
        points.push((*step as f64, measured));
    }
    (points, "reaches the end".to_owned())
}

fn write(folder: &Path, series: &Series, what: &str, y: Axis, curves: Vec<Curve>) -> String {
    let x = Axis { label: series.across.to_owned(), scale: series.scale };
    let file = format!("{}-{what}.svg", series.name);
    let picture = svg(&Chart { title: series.title.to_owned(), x, y, curves });
    fs::write(folder.join(&file), picture).expect("a picture can be written");
    format!("![{what} against {}](growth/{file})\n", series.across)
}

/// Measures a series and writes its two pictures; what the page says of it.
fn draw(folder: &Path, series: &Series) -> String {
    let (mut time, mut memory, mut ends) = (Vec::new(), Vec::new(), String::new());
    for (name, program) in TOOLS {
        let (points, end) = follow(series, program);
        eprintln!("{}: {name} {end}", series.name);
        let curve = |value: fn(&Measurement) -> f64| Curve {
            name: name.to_owned(),
            points: points.iter().map(|(step, measured)| (*step, value(measured))).collect(),
        };
        time.push(curve(|measured| measured.seconds_per_check().max(1e-6)));
        memory.push(curve(|measured| measured.peak_kib as f64 / 1024.0));
        let last = points.last().map_or(0, |(_, measured)| measured.executions());
        writeln!(ends, "- {name} {end}; its last point is {} executions.", whole(last)).expect("a string");
    }
    let axis = |label: &str, scale| Axis { label: label.to_owned(), scale };
    let pictures = write(folder, series, "time", axis("seconds", Scale::Log), time)
        + &write(folder, series, "memory", axis("peak memory, MiB", Scale::Linear), memory);
    format!("\n## Against {}\n\n{pictures}\n{ends}", series.across)
}

const HEAD: &str = "\
# Growth

How time and memory of a check grow: with threads, with operations, with executions. cargo-mc beside loom and shuttle, the same text
for each (`tests/benches/workloads.rs`). This page and its pictures are written by `cargo bench --bench growth` in `tests/benches`.
";

const NOTES: &str = "\
## What they show

- **Time** is that of one check inside the tool's process, **memory** the largest resident set of that process. Each point is one process, and
  where that takes no time the middle one of three: look at the slope, not at one point.
- Time follows executions for every tool. What differs is how many there are: two tools that need the same time for an execution drift apart
  when one of them looks at each class of executions once and the other at each order of operations. Ours are exactly the 2ⁿ − 2
  and (2n)! / (n!)² of the first two series, which is the least that can be (`tests/benches/src/optimum.rs`).
- It stays exponential: every order of two critical sections of one lock is another execution.
- Memory does not grow with executions: the search keeps one execution and its alternatives, and what it keeps is linear in their events.
- The third series compares nothing but the time of an execution: the tools are stopped after the same number, and have then seen
  different parts of the same workload.
";

fn main() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folder = docs.join("growth");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let limit = LIMIT.as_secs();
    let machine = machine::describe();
    let mut page = format!("{HEAD}\n{machine}. A curve ends where its tool does not end within {limit} s.\n");
    for series in &SERIES {
        page += &draw(&folder, series);
    }
    fs::write(docs.join("growth.md"), format!("{page}\n{NOTES}")).expect("the page can be written");
}
