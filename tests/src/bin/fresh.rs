//! Checks fresh random programs: `cargo run --release -p mc-tests --bin fresh -- [--programs N] [--seed S] [--jobs J]`.
//!
//! `generate.py` writes programs with what the specification says of them; each is compared as soon as it is there, under both
//! memory models. Compiled without `--cfg mc`, this runs cargo again with it, in a target directory of its own.

use std::process::ExitCode;

#[cfg(not(mc))]
fn main() -> ExitCode {
    // `target/release/fresh`: the folder that the executable lies in is directly in the target directory.
    let folder = std::env::current_exe().expect("the path of this program");
    let folder = folder.parent().and_then(|folder| folder.to_str()).expect("cargo put this program into a folder");
    let mut command = mc_tests::checked::cargo("run", folder, "mc");
    command.args(["--quiet", "--package", "mc-tests", "--bin", "fresh", "--"]).args(std::env::args_os().skip(1));
    let status = command.status().expect("cargo can be started");
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(mc)]
fn main() -> ExitCode {
    match checked::run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            use std::io::Write;
            writeln!(std::io::stderr(), "{message}").expect("standard error is open");
            ExitCode::FAILURE
        }
    }
}

#[cfg(mc)]
mod checked {
    use std::io::{self, BufRead, BufReader, Write};
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    use mc_runtime::options::MemoryModel;
    use mc_tests::conformance::Tally;
    use mc_tests::corpus::{Entry, spec_folder};

    struct Arguments {
        programs: u64,
        seed: u64,
        jobs: u64,
    }

    fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments { programs: 20_000, seed: 1_000_000, jobs: 2 };
        while let Some(flag) = words.next() {
            let target = match flag.as_str() {
                "--programs" => &mut arguments.programs,
                "--seed" => &mut arguments.seed,
                "--jobs" => &mut arguments.jobs,
                _ => return Err(format!("unknown flag `{flag}`: there are --programs, --seed and --jobs")),
            };
            let value = words.next().unwrap_or_default();
            *target = value.parse().map_err(|_| format!("`{flag}` is `{value}`, expected a whole number"))?;
        }
        Ok(arguments)
    }

    /// The generator, at low priority where there is `nice`.
    fn generator(arguments: &Arguments) -> io::Result<Child> {
        let start = |mut command: Command| {
            command.args(["-B", "generate.py", "--seed", &arguments.seed.to_string()]);
            command.args(["--count", &arguments.programs.to_string(), "--jobs", &arguments.jobs.to_string()]);
            command.current_dir(spec_folder()).stdout(Stdio::piped()).spawn()
        };
        let mut nice = Command::new("nice");
        nice.args(["-n", "10", "python3"]);
        start(nice).or_else(|_| start(Command::new("python3")))
    }

    /// Generates and compares.
    pub(super) fn run(words: impl Iterator<Item = String>) -> Result<(), String> {
        let arguments = parse(words)?;
        let started = Instant::now();
        let mut child = generator(&arguments).map_err(|error| format!("python3 cannot be started: {error}"))?;
        let stdout = child.stdout.take().ok_or("the generator has no output")?;
        let mut tally = Tally::default();
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|error| format!("the generator's output: {error}"))?;
            let entry = Entry::from_line(&line).map_err(|error| format!("the generator's output: {error}: {line}"))?;
            tally.add(&entry, MemoryModel::Rc20);
            tally.add(&entry, MemoryModel::Sc);
            if tally.compared % 4_000 == 0 {
                report(&tally, started);
            }
        }
        let status = child.wait().map_err(|error| format!("the generator: {error}"))?;
        if !status.success() {
            return Err(format!("the generator failed: {status}"));
        }
        report(&tally, started);
        tally.verdict()
    }

    fn report(tally: &Tally, started: Instant) {
        let (programs, seconds) = (tally.compared / 2, started.elapsed().as_secs_f64());
        let line = format!("{programs} programs under rc20 and sc, {} differences, {seconds:.0} s", tally.wrong);
        writeln!(io::stdout(), "{line}").expect("standard output is open");
    }
}
