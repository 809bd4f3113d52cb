//! The self-test of `--std`: whether what it is made of holds with this toolchain and on this machine.
//!
//! A few tests are compiled as the user's crates are, by the same cargo with the same flags, in each edition, with optimisations and without, and are checked as the user's tests
//! are. A race that is not found there would not be found elsewhere either. What came of it is kept with the facades.
//! Not here: what follows for the user (`layers.rs`).

mod expected;

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use mc_protocol::client::{Binary, Control};
use mc_protocol::options::Options;

use super::{Facade, FacadeError};
use crate::args::{BuildArgs, Instrument};
use crate::build::{BuildError, Executable, Way, command, executables, metadata, users_flags};
pub(crate) use expected::{Fault, Layer};
use expected::{Ran, TESTS};

const SOURCE: &str = include_str!("source.rs");
/// Whether it is compiled with optimisations. Both are pipelines of passes of their own.
const EDITIONS: [(&str, bool); 4] = [("2015", false), ("2018", true), ("2021", false), ("2024", true)];

/// Whether system calls are seen, or else what is not as it must be.
pub(super) type Found = Result<bool, Fault>;

/// How the self-test is done.
pub(super) struct Probe<'a> {
    pub(super) cargo: &'a Path,
    pub(super) args: &'a BuildArgs,
    pub(super) facade: &'a Facade,
    /// Whether the facade's flags have plain memory instrumented.
    pub(super) instrument: Instrument,
}

impl Probe<'_> {
    /// What was found out before, or is now. A fault is only kept by who can do without what it is about.
    pub(super) fn found(&self) -> Result<Found, BuildError> {
        if let Some(found) = self.kept() {
            return Ok(found);
        }
        let found = self.find()?;
        if found.is_ok() {
            self.keep(&found)?;
        }
        Ok(found)
    }

    /// Where it is kept: a file of its own for all that may change it and is not in the name of the folder.
    pub(super) fn file(&self) -> PathBuf {
        let wrappers = ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER"];
        let wrappers = wrappers.map(std::env::var_os);
        let mut hasher = DefaultHasher::new();
        (SOURCE, EDITIONS, users_flags(), wrappers, kernel()).hash(&mut hasher);
        self.facade.directory.join(format!("self-test-{:016x}.json", hasher.finish()))
    }

    fn kept(&self) -> Option<Found> {
        serde_json::from_str(&fs::read_to_string(self.file()).ok()?).ok()
    }

    pub(super) fn keep(&self, found: &Found) -> Result<(), FacadeError> {
        let path = self.file();
        let failed = |source| FacadeError::Io { path: path.clone(), source };
        let file = tempfile::NamedTempFile::new_in(&self.facade.directory).map_err(failed)?;
        serde_json::to_writer(&file, found).map_err(|error| failed(error.into()))?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn find(&self) -> Result<Found, BuildError> {
        let failed = |source| FacadeError::Io { path: self.facade.directory.clone(), source };
        let folder = tempfile::tempdir_in(&self.facade.directory).map_err(failed)?;
        write(folder.path()).map_err(failed)?;
        let built = match self.build(folder.path())? {
            Ok(built) => built,
            Err(fault) => return Ok(Err(fault)),
        };
        let ran: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = built.iter().map(|executable| scope.spawn(|| run(executable))).collect();
            running
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        Ok(expected::judge(&ran, self.instrument.sees_memory()))
    }

    /// With the user's own flags, as everything else.
    fn build(&self, folder: &Path) -> Result<Result<Vec<Executable>, Fault>, BuildError> {
        let mut args = BuildArgs { lib: true, offline: true, ..BuildArgs::default() };
        args.manifest.manifest_path = Some(folder.join("Cargo.toml"));
        args.target.clone_from(&self.args.target);
        let metadata = metadata(self.cargo, &args, &[])?;
        let facade = Some(self.facade.clone());
        let way = Way { directory: folder.join("target"), facade, ..Way::default() };
        let mut command = command(self.cargo, &args, &metadata, &way)?;
        let failed = |source| FacadeError::Run { program: self.cargo.to_owned(), source };
        let output = command.arg("--quiet").stdin(Stdio::null()).output().map_err(failed)?;
        let built = executables(&*output.stdout, &metadata).map_err(failed)?;
        if output.status.success() && built.len() == EDITIONS.len() {
            return Ok(Ok(built));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Ok(Err(Fault { layer: Layer::Facade, message: format!("its self-test does not compile\n{}", said.trim_end()) }))
    }
}

/// What else decides whether system calls can be looked at: the kernel, and what it lets this process do.
fn kernel() -> Vec<String> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let status = read("/proc/self/status");
    let sandbox = status.lines().filter(|line| line.starts_with("Seccomp")).map(str::to_owned);
    sandbox.chain([read("/proc/sys/kernel/osrelease")]).collect()
}

fn write(folder: &Path) -> io::Result<()> {
    let members: Vec<_> = EDITIONS.iter().map(|(edition, _)| format!("{:?}", name(edition))).collect();
    let mut workspace = format!("[workspace]\nresolver = \"2\"\nmembers = [{}]\n", members.join(", "));
    workspace += "[profile.dev]\nincremental = false\ncodegen-units = 1\n"; // it is compiled once
    for (edition, optimised) in EDITIONS {
        let (name, level) = (name(edition), if optimised { 3 } else { 0 });
        workspace += &format!("[profile.dev.package.{name}]\nopt-level = {level}\n");
        let package = format!("[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = {edition:?}\n");
        fs::create_dir(folder.join(&name))?;
        fs::write(folder.join(name).join("Cargo.toml"), package + "[lib]\npath = \"../source.rs\"\n")?;
    }
    fs::write(folder.join("Cargo.toml"), workspace)?;
    fs::write(folder.join("source.rs"), SOURCE)
}

fn name(edition: &str) -> String {
    format!("self-test-{edition}")
}

fn run(executable: &Executable) -> Ran {
    let binary = Binary {
        executable: executable.path.clone(),
        directory: Some(executable.directory.clone()),
        environment: executable.environment.clone(),
    };
    let listed = binary.list_all().unwrap_or_default().into_iter().map(|test| (test.name, test.ignored)).collect();
    let check = |name| {
        let outcome = binary.check_models(name, &Options::default(), None, &mut |_| Control::Continue);
        outcome.map_err(|error| error.to_string())
    };
    let outcomes = TESTS.iter().map(|test| check(test.name)).collect();
    let optimised = EDITIONS.iter().any(|(edition, optimised)| *optimised && executable.package == name(edition));
    let how = if optimised { "optimised" } else { "not optimised" };
    Ran { how: format!("{}, {how}", executable.package), listed, outcomes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_the_source_are_those_that_something_is_expected_of() {
        let file = syn::parse_file(SOURCE).unwrap();
        let mut names = Vec::new();
        collect(&file.items, "", &mut names);
        names.sort();
        let mut expected: Vec<_> = TESTS.iter().map(|test| test.name.to_owned()).collect();
        expected.sort();
        assert_eq!(names, expected);
    }

    fn collect(items: &[syn::Item], path: &str, names: &mut Vec<String>) {
        for item in items {
            match item {
                syn::Item::Fn(function) if function.attrs.iter().any(|attribute| attribute.path().is_ident("test")) => {
                    names.push(format!("{path}{}", function.sig.ident));
                }
                syn::Item::Mod(module) => {
                    let (_, items) = module.content.as_ref().unwrap();
                    collect(items, &format!("{path}{}::", module.ident), names);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn each_edition_is_a_package_and_some_are_optimised() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let text = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["workspace"]["members"].as_array().unwrap().len(), EDITIONS.len());
        assert_eq!(table["profile"]["dev"]["package"]["self-test-2024"]["opt-level"].as_integer(), Some(3));
        assert_eq!(table["profile"]["dev"]["package"]["self-test-2021"]["opt-level"].as_integer(), Some(0));
    }
}
