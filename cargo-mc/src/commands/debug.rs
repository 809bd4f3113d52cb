//! `cargo mc replay --gdb`: the test's executable under gdb, in the execution that fails.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use mc_protocol::options::{Options, Threads};

use crate::discover::Case;
use crate::error::Error;
use crate::exit::ExitCode;
use crate::report;

/// Lets gdb run the execution up to where it fails, on a thread of the operating system for each thread of the test. Then gdb's user, or `more`, says what is done.
pub(super) fn gdb(case: &Case, options: Options, schedule: &str, more: &[OsString]) -> Result<ExitCode, Error> {
    // Who looks at a program makes it wait.
    let options = Options { threads: Threads::Os, hang_limit: u64::MAX, ..options };
    let worker = case.binary.replayed_by_hand(&case.name, &options, schedule);
    let mut command = Command::new("gdb");
    // What the worker says to a client goes nowhere; what the test prints is on standard error.
    let arguments: Vec<String> = worker.arguments.iter().map(|word| quoted(word.as_ref())).collect();
    command.args(["--quiet", "-ex", &format!("set args {} > /dev/null", arguments.join(" "))]);
    command.args(["-ex", "break mc_failure", "-ex", "run"]).args(more).arg(&case.binary.executable);
    command.envs(worker.environment);
    if let Some(directory) = &case.binary.directory {
        command.current_dir(directory);
    }
    report::runs(&line(&command));
    let status = command.status().map_err(Error::Debugger)?;
    Ok(if status.success() { ExitCode::Ok } else { ExitCode::Setup })
}

/// The command as one types it.
fn line(command: &Command) -> String {
    let directory = command.get_current_dir().map(|directory| format!("cd {} && ", quoted(directory.as_os_str())));
    let set = |(name, value): (&OsStr, Option<&OsStr>)| Some(format!("{}={}", name.display(), quoted(value?)));
    let variables = command.get_envs().filter_map(set);
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    directory.unwrap_or_default() + &variables.chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as the shell takes it.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_as_the_shell_takes_it() {
        let mut command = Command::new("gdb");
        command.args(["-ex", "set args x > /dev/null", "it's", ""]).env("MC_WORKER", r#"{"a":1}"#).current_dir("/a b");
        let expected = r#"cd '/a b' && MC_WORKER='{"a":1}' gdb -ex 'set args x > /dev/null' 'it'\''s' ''"#;
        assert_eq!(line(&command), expected);
    }
}
