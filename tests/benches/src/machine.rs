//! What the figures were made on.

use std::fs;
use std::process::Command;

/// The date, the processor and the compiler, as far as the system tells.
pub fn describe() -> String {
    format!("{}, {}, {}", first_line("date", &["-u", "+%Y-%m-%d"]), processor(), first_line("rustc", &["--version"]))
}

fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().map_or_else(|| format!("unknown {program}"), str::to_owned)
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| "unknown processor".to_owned(), |(_, name)| name.to_owned())
}

/// The largest resident set that this process has had, in KiB; 0 where it cannot be told.
///
/// Not `getrusage`: its maximum is handed on to the next program in the same process, so a child starts with its parent's.
pub fn peak_kib() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
