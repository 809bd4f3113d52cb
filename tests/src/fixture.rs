//! Running the real `cargo-mc` on a copy of a package of `fixtures/`.
//!
//! A [`Fixture`] owns the copy, a clean environment, and what of an output depends on the machine ([`Fixture::normalised`]). All
//! fixtures build into one target directory, so that the checker is compiled once; fixtures of one name wait for each other,
//! because there they also share the files of recorded failures.
//! Not here: what is expected (`tests/e2e/`).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

/// A copy of a fixture, used by one test at a time.
#[derive(Debug)]
pub struct Fixture {
    name: String,
    /// The copy's directory.
    pub root: PathBuf,
    /// The target directory of all fixtures.
    pub target: PathBuf,
    executable: PathBuf,
    environment: Vec<(String, String)>,
}

/// What a command came to.
#[derive(Debug)]
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// As printed.
    pub stdout: String,
    /// As printed.
    pub stderr: String,
}

static IN_USE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static FREED: Condvar = Condvar::new();

impl Fixture {
    /// A fresh copy of `fixtures/NAME`. `tmpdir` is `env!("CARGO_TARGET_TMPDIR")`.
    ///
    /// # Panics
    /// If it cannot be copied, or `cargo-mc` cannot be built.
    pub fn new(name: &str, tmpdir: &str) -> Self {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        while !in_use.insert(name.to_owned()) {
            in_use = FREED.wait(in_use).unwrap_or_else(PoisonError::into_inner);
        }
        drop(in_use);
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = Path::new(tmpdir).join("e2e").join(name);
        let mut fixture = Self {
            name: name.to_owned(),
            target: Path::new(tmpdir).join("e2e-target"),
            executable: PathBuf::new(),
            environment: Vec::new(),
            root,
        };
        fixture.executable = executable().to_owned();
        fixture.copy(tests).unwrap_or_else(|error| panic!("cannot copy the fixture {name}: {error}"));
        fixture
    }

    fn copy(&self, tests: &Path) -> io::Result<()> {
        if self.root.exists() {
            fs::remove_dir_all(&self.root)?;
        }
        let repository = tests.parent().unwrap_or(tests);
        copy(&tests.join("fixtures").join(&self.name), &self.root, repository)?;
        // The versions that the workspace has already; what a fixture does not need, cargo takes out.
        fs::copy(repository.join("Cargo.lock"), self.root.join("Cargo.lock"))?;
        Ok(())
    }

    /// Sets a variable for the commands that follow.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file of the copy.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        let written = fs::create_dir_all(path.parent().unwrap_or(&path)).and_then(|()| fs::write(&path, text));
        written.unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }

    /// A command in the copy's directory, with a clean environment.
    pub fn command<S: AsRef<OsStr>>(&self, program: &Path, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root).stdin(Stdio::null());
        let ours = |name: &str| {
            let prefixes = ["MC_", "CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "CARGO_PKG_", "CLICOLOR"];
            name.ends_with("RUSTFLAGS") || name == "NO_COLOR" || prefixes.iter().any(|prefix| name.starts_with(prefix))
        };
        for (name, _) in std::env::vars().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        command.env("CARGO_TARGET_DIR", &self.target).env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_COLOR", "never");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `cargo mc` with these arguments to its end.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn cargo_mc<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.cargo_mc_with(arguments, |_| ())
    }

    /// As [`cargo_mc`](Self::cargo_mc), with a process that is set up in some way.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn cargo_mc_with<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        set_up: impl FnOnce(&mut Command),
    ) -> Run {
        let mut command = self.command(&self.executable, ["mc"]);
        set_up(command.args(arguments));
        Run::new(command.output().unwrap_or_else(|error| panic!("cannot start cargo-mc: {error}")))
    }

    /// Starts `cargo mc`, with its standard output in a pipe.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        let mut command = self.command(&self.executable, ["mc"]);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().unwrap_or_else(|error| panic!("cannot start cargo-mc: {error}"))
    }

    /// A text without the directories of this machine.
    pub fn normalised(&self, text: &str) -> String {
        let replaced = text.replace(&*self.root.to_string_lossy(), "[ROOT]");
        replaced.replace(&*self.target.to_string_lossy(), "[TARGET]")
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        IN_USE.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
        FREED.notify_all();
    }
}

impl Run {
    fn new(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// The JSON lines of the output.
    ///
    /// # Panics
    /// If a line is not JSON.
    pub fn lines(&self) -> Vec<serde_json::Value> {
        let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(line).collect()
    }

    /// The JSON lines of a type.
    pub fn lines_of(&self, kind: &str) -> Vec<serde_json::Value> {
        self.lines().into_iter().filter(|line| line["type"] == kind).collect()
    }
}

/// Copies a directory. Paths to packages of this repository are made absolute.
fn copy(from: &Path, to: &Path, repository: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" {
                copy(&source, &target, repository)?;
            }
        } else if entry.file_name() == "Cargo.toml" {
            let text = fs::read_to_string(&source)?;
            let path = format!("path = \"{}/shims\"", repository.display());
            fs::write(
                target,
                text.replace("path = \"../../../../shims\"", &path).replace("path = \"../../../shims\"", &path),
            )?;
        } else {
            fs::copy(source, target)?;
        }
    }
    Ok(())
}

/// The `cargo-mc` of this repository, built once, as the alias `cargo mc` does.
fn executable() -> &'static Path {
    static EXECUTABLE: OnceLock<PathBuf> = OnceLock::new();
    EXECUTABLE.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--package", "cargo-mc", "--bin", "cargo-mc", "--message-format=json"]);
        build.current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit());
        let output = build.output().unwrap_or_else(|error| panic!("cannot start cargo: {error}"));
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut executables = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
        executables.next_back().unwrap_or_else(|| panic!("cargo-mc did not build ({})", output.status))
    })
}
