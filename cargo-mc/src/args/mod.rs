//! The command line, as typed.
//!
//! Not here: what follows from it for a test (`run`), and how cargo is called (`build`).

mod build;
mod check;
mod doctor;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use build::{BuildArgs, Instrument, Std};
pub(crate) use check::CheckArgs;
pub(crate) use doctor::DoctorArgs;

/// Checks concurrent Rust under every schedule and every outcome that the memory model allows
#[derive(Debug, Parser)]
#[command(name = "cargo-mc", bin_name = "cargo mc", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build the tests with `--cfg mc` and check them
    Test(Box<TestArgs>),
    /// List the checked tests and what is known of them
    List(Box<ListArgs>),
    /// Run exactly one execution again and show it
    Replay(Box<ReplayArgs>),
    /// Say what in the tests of the workspace the checker cannot control, and what to do about it
    Doctor(Box<DoctorArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    /// How many tests are checked at once [default: as many as there are cores]
    #[arg(short, long, value_name = "N", env = "MC_JOBS", value_parser = mc_protocol::settings::count, help_heading = "Run")]
    pub(crate) jobs: Option<u64>,
    /// Start no further test after one that does not pass
    #[arg(long, overrides_with = "no_fail_fast", help_heading = "Run")]
    pub(crate) fail_fast: bool,
    /// Check all selected tests, whatever is found (the default)
    #[arg(long, overrides_with = "fail_fast", help_heading = "Run")]
    pub(crate) no_fail_fast: bool,
    /// Write a JUnit report
    #[arg(long, value_name = "FILE", env = "MC_JUNIT", help_heading = "Report")]
    pub(crate) junit: Option<PathBuf>,
    /// How results are printed
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Report")]
    pub(crate) message_format: MessageFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    /// How the list is printed
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Report")]
    pub(crate) message_format: MessageFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A schedule (`mc1...`), a file of `target/mc/failures`, or a test: its last failure
    #[arg(value_name = "SCHEDULE|FILE|TEST")]
    pub(crate) what: String,
    /// Run it under gdb, on threads of the operating system, up to where it fails
    #[arg(long)]
    pub(crate) gdb: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    /// More arguments for gdb
    #[arg(last = true, value_name = "GDB_ARGUMENTS", requires = "gdb")]
    pub(crate) gdb_arguments: Vec<OsString>,
}

/// Which tests.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FilterArgs {
    /// Tests whose name contains one of these
    #[arg(value_name = "FILTERS", value_parser = filter)]
    pub(crate) filters: Vec<String>,
    /// Tests whose name is exactly one of the filters
    #[arg(long)]
    pub(crate) exact: bool,
    /// Only tests that are marked `#[ignore]`
    #[arg(long, conflicts_with = "include_ignored")]
    pub(crate) ignored: bool,
    /// Tests that are marked `#[ignore]` too
    #[arg(long)]
    pub(crate) include_ignored: bool,
}

/// No name of a test begins with `-`: whoever says that means a flag of std's harness, which is behind a `--`.
fn filter(word: &str) -> Result<String, &'static str> {
    if word.starts_with('-') {
        return Err(
            "no flags of the test harness come after `--`: `--exact`, `--ignored`, `--include-ignored` and `-j N` stand before it, \
                    and what a test prints is shown by `cargo mc replay`",
        );
    }
    Ok(word.to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// For people
    Human,
    /// One JSON object a line
    Json,
}

/// What clap is to read. Cargo calls `cargo-mc mc test ...`; called by hand it is `cargo-mc test ...`. And `--std real` is `--std=real`: a value of which clap sees
/// that it is none of the filters.
pub(crate) fn as_clap_reads(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.collect();
    if arguments.get(1).is_some_and(|word| word == "mc") {
        arguments.remove(1);
    }
    if let Some(at) = arguments.windows(2).position(|pair| pair[0] == "--std" && pair[1] == "real") {
        arguments.splice(at..at + 2, ["--std=real".into()]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        let words = line.split_whitespace().map(OsString::from);
        Cli::try_parse_from(as_clap_reads(words))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn cargo_and_people_call_it_the_same() {
        for line in ["cargo-mc mc test a b", "cargo-mc test a b"] {
            let Command::Test(args) = parse(line).unwrap().command else { panic!("{line}") };
            assert_eq!(args.filter.filters, ["a", "b"]);
        }
    }

    #[test]
    fn std_has_a_value_of_its_own_or_none() {
        for (line, std, filters) in [
            ("cargo-mc test --std", Some(Std::Checked), vec![]),
            ("cargo-mc test --std queue::", Some(Std::Checked), vec!["queue::"]),
            ("cargo-mc test --std real", Some(Std::Real), vec![]),
            ("cargo-mc test --std=real real", Some(Std::Real), vec!["real"]),
            ("cargo-mc test --std=checked real", Some(Std::Checked), vec!["real"]),
            ("cargo-mc test real", None, vec!["real"]),
        ] {
            let Command::Test(args) = parse(line).unwrap().command else { panic!("{line}") };
            assert_eq!(args.build.std, std, "{line}");
            assert_eq!(args.filter.filters, filters, "{line}");
        }
        assert!(parse("cargo-mc test --std=other").unwrap_err().to_string().contains("checked, real"));
    }

    #[test]
    fn bad_values_are_usage_errors_that_say_what_is_right() {
        for (flag, expected) in [
            ("queue -- --exact", "`--exact`, `--ignored`, `--include-ignored` and `-j N` stand before it"),
            ("--max-executions 0", "a whole number above 0"),
            ("--max-executions=-1", "a whole number above 0"),
            ("--time-limit 10", "a duration above 0"),
            ("--max-memory lots", "a size above 0"),
            ("--strategy pct", "`pct:N`"),
            ("--memory-model arm", "`rc20`, `sc` or `tso`"),
            ("--queue-limit 8:first", "`:newest`"),
            ("--require safe", "`proved`"),
            ("--threads posix", "`coroutines` or `os`"),
            ("--jobs 0", "a whole number above 0"),
        ] {
            let error = parse(&format!("cargo-mc test {flag}")).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{flag}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert!(parse("cargo-mc test --no-such-flag").is_err());
    }

    #[test]
    fn help_names_every_flag() {
        for command in ["test", "list", "replay", "doctor"] {
            let help = parse(&format!("cargo-mc {command} --help")).unwrap_err().to_string();
            insta::assert_snapshot!(command, help);
        }
    }
}
