//! `--std`: the crates are built as they are, against facades of `std`, `core` and `test`, which hand on the real ones but for what the checker controls.
//!
//! rustc takes `--extern std=..` for `std` in every crate that gets the flag: those of the target, not build scripts and procedural macros. Cargo does not notice
//! that a library behind such a flag has changed, so that the folder, and with it the whole build, is named after what the facades are made from.

mod layers;
mod probe;

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use cargo_metadata::{Artifact, Message};

use super::sysroot::{Sysroot, SysrootError};
use super::{BuildError, library, whole, write};
use crate::args::{BuildArgs, Instrument, Std};
pub(crate) use layers::{Layers, Off, Unseen};
use probe::Probe;

/// What the build of the crates needs.
#[derive(Clone, Debug)]
pub(crate) struct Facade {
    /// For rustc, for all crates of the target.
    pub(crate) flags: Vec<String>,
    /// The triple of this machine, without which cargo gives build scripts the same flags.
    pub(crate) target: String,
    /// Where cargo builds.
    pub(crate) directory: PathBuf,
}

/// Why the facades cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FacadeError {
    #[error("`--std` checks what runs on this machine, {host}; it cannot build for {target}")]
    Target { host: String, target: String },
    #[error("`{} -vV` does not say what it is for", .rustc.display())]
    Version { rustc: PathBuf },
    #[error("cannot run `{}`: {source}", .program.display())]
    Run { program: PathBuf, source: io::Error },
    #[error("the checker itself does not build, so `--std` cannot be used")]
    Checker,
    #[error("`{}`: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "the facade of `{name}` does not compile with this toolchain ({version}), so `--std` cannot be used with it\n{message}\n  \
         = help: tests with `#[mc::test]` and the types of `mc` need no facade"
    )]
    Compile { name: &'static str, version: String, message: String },
    #[error(
        "the toolchain's own std cannot be instrumented ({version}), so `--std=real` cannot be used with it: {source}\n  \
         = help: `--std` and tests with `#[mc::test]` need none of that"
    )]
    Sysroot { version: String, source: SysrootError },
    #[error(
        "`--std=real` sees atomics as it sees other memory, so it cannot do without `--instrument memory`\n  \
         = help: leave `--instrument` out, or take `--std`"
    )]
    Instrument,
    #[error(
        "the {} of `--std` does not do what it must with this toolchain ({version}) and your flags for it, so `--std` cannot be used\n{}\n  \
         = note: your flags for rustc: {}\n  = help: tests with `#[mc::test]` and the types of `mc` need none of that",
        .fault.layer.words(), .fault.message, if .flags.is_empty() { "none" } else { .flags }
    )]
    SelfTest { version: String, fault: probe::Fault, flags: String },
}

impl FacadeError {
    fn of(fault: probe::Fault, version: String) -> Self {
        Self::SelfTest { version, fault, flags: super::users_flags().join(" ") }
    }
}

const TEST: (&str, &str) = ("test", include_str!("sources/test.rs"));
const CHECKED: [(&str, &str); 3] =
    [("core", include_str!("sources/core.rs")), ("std", include_str!("sources/std.rs")), TEST];
const REAL: [(&str, &str); 1] = [TEST];
const CHECKER: &str = include_str!("sources/checker.rs");
/// Places in the source are told by the debug information; so is what the crates do from what the checker's generic code does in them. These count over those of a profile.
const FLAGS: [&str; 3] = ["--cap-lints=warn", "-Cdebuginfo=line-tables-only", "-Cstrip=none"];
/// LLVM's passes for ThreadSanitizer, without the rest of it: what they call is in the checker. They pass over accesses of 3 bytes, say, or of a vector. AddressSanitizer's pass does not, so it comes after them, with
/// nothing else of what it can do.
const INSTRUMENTATION: [&str; 10] = [
    "-Cpasses=forceattrs",
    "-Cpasses=tsan-module",
    "-Cpasses=tsan",
    "-Cpasses=asan<kernel>",
    "-Cllvm-args=-force-attribute=sanitize_thread",
    "-Cllvm-args=-force-attribute=sanitize_address",
    "-Cllvm-args=-asan-instrumentation-with-call-threshold=0",
    "-Cllvm-args=-asan-opt=0",
    "-Cllvm-args=-asan-stack=0",
    "-Cllvm-args=-asan-globals=0",
];
/// The checker as one object, for crates that are not compiled against it.
const LINKED: &str = "checker.o";
const METADATA: &str = "-Cmetadata=mc-facade";

/// The facades of crates that are to have this std.
fn sources(which: Std) -> &'static [(&'static str, &'static str)] {
    match which {
        Std::Checked => &CHECKED,
        Std::Real => &REAL,
    }
}

/// Builds them below `directory`, if they are not there yet, and finds out whether they do what they must.
pub(crate) fn facade(
    cargo: &Path,
    args: &BuildArgs,
    which: Std,
    directory: &Path,
) -> Result<(Facade, Option<Layers>), BuildError> {
    let rustc = super::rustc();
    let version = version(&rustc)?;
    let field = |name: &str| version.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned();
    let (host, release) = (field("host: "), field("release: "));
    if host.is_empty() {
        return Err(FacadeError::Version { rustc }.into());
    }
    if let Some(target) = args.target.clone().filter(|target| *target != host) {
        return Err(FacadeError::Target { host, target }.into());
    }
    if which == Std::Real && !args.instrument.sees_memory() {
        return Err(FacadeError::Instrument.into());
    }
    let sysroot = (which == Std::Real).then(|| Sysroot::new(&rustc, &version, &host, directory)).transpose();
    let sysroot = sysroot.map_err(|source| FacadeError::Sysroot { version: field("release: "), source })?;
    let checker = Checker::build(cargo, args, &directory.join("checker"))?;
    let compiler = Compiler {
        rustc: &rustc,
        version: &version,
        release: &release,
        host: &host,
        checker: &checker,
        sysroot: sysroot.as_ref(),
    };
    let made = compiler.facade(args.instrument, directory)?;
    if which == Std::Real {
        return Ok((made, None)); // what the tests of the self-test come to is known of the checked types
    }
    let probe = Probe { cargo, args, facade: &made, instrument: args.instrument };
    let fault = match probe.found()? {
        Ok(system_calls) => {
            let layers = Layers::new(args.instrument.sees_memory(), system_calls, None, probe.file());
            return Ok((made, Some(layers)));
        }
        Err(fault) => fault,
    };
    if !args.instrument.sees_memory() {
        return Err(FacadeError::of(fault, release).into());
    }
    // Without instrumentation all may be well: then that is what does not work.
    let plain = compiler.facade(Instrument::Atomics, directory)?;
    let without = Probe { cargo, args, facade: &plain, instrument: Instrument::Atomics };
    match without.found()? {
        Ok(system_calls) => {
            let kept = probe.file();
            probe.keep(&Err(fault.clone()))?;
            let layers = Layers::new(false, system_calls, Some((fault, kept)), without.file());
            Ok((plain, Some(layers)))
        }
        Err(fault) => Err(FacadeError::of(fault, release).into()),
    }
}

fn version(rustc: &Path) -> Result<String, FacadeError> {
    let output = Command::new(rustc).arg("-vV").output();
    let output = output.map_err(|source| FacadeError::Run { program: rustc.to_owned(), source })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The checker, compiled with the real std.
struct Checker {
    library: PathBuf,
    dependencies: PathBuf,
    /// The names of its crates.
    crates: Vec<String>,
    /// All of its files, and when they were written.
    made: Vec<(PathBuf, Option<SystemTime>)>,
}

impl Checker {
    fn build(cargo: &Path, args: &BuildArgs, package: &Path) -> Result<Self, BuildError> {
        write(&package.join("Cargo.toml"), &manifest()).map_err(io_error)?;
        write(&package.join("lib.rs"), CHECKER).map_err(io_error)?;
        let mut command = Command::new(cargo);
        command.args(["build", "--release", "--quiet", "--message-format=json-render-diagnostics", "--manifest-path"]);
        command.arg(package.join("Cargo.toml")).arg("--target-dir").arg(package.join("target"));
        command.args(args.network_flags());
        // It is the same whatever the flags of the user's crates are.
        command.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", "").env_remove("CARGO_BUILD_TARGET");
        let run = |source| FacadeError::Run { program: cargo.to_owned(), source };
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(run)?;
        let stdout = child.stdout.take().ok_or(FacadeError::Checker)?;
        let mut artifacts = Vec::new();
        for message in Message::parse_stream(BufReader::new(stdout)) {
            if let Message::CompilerArtifact(artifact) = message.map_err(run)? {
                artifacts.push(artifact);
            }
        }
        if !child.wait().map_err(run)?.success() {
            return Err(FacadeError::Checker.into());
        }
        Self::of(&artifacts, package).ok_or_else(|| FacadeError::Checker.into())
    }

    fn of(artifacts: &[Artifact], package: &Path) -> Option<Self> {
        let libraries: Vec<_> = artifacts.iter().filter_map(|artifact| Some((artifact, rlib(artifact)?))).collect();
        let library = libraries.iter().find(|(artifact, _)| artifact.target.name == "mc_facade")?.1.clone();
        let written = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
        let mut made: Vec<_> = libraries.iter().map(|(_, path)| (path.clone(), written(path))).collect();
        made.sort(); // cargo names them in any order
        let crates = libraries.iter().map(|(artifact, _)| artifact.target.name.replace('-', "_")).collect();
        Some(Self { library, dependencies: package.join("target/release/deps"), crates, made })
    }
}

fn rlib(artifact: &Artifact) -> Option<PathBuf> {
    artifact.filenames.iter().find(|name| name.extension() == Some("rlib")).map(PathBuf::from)
}

fn io_error((path, source): (PathBuf, io::Error)) -> FacadeError {
    FacadeError::Io { path, source }
}

/// All of it is optimised: from a crate that is not, rustc hands on instances of std's generic code to the crates of the test, where they would be the checker's.
fn manifest() -> String {
    let mut table: toml::Table = toml::toml! {
        [package]
        name = "mc-facade"
        version = "0.0.0"
        edition = "2024"
        publish = false
        [lib]
        path = "lib.rs"
        [profile.release]
        opt-level = 3
        debug = false
        debug-assertions = false
        overflow-checks = false
        panic = "unwind"
        strip = false
        lto = false
        [profile.release.package.mc-runtime]
        codegen-units = 1
        [workspace]
    };
    let dependencies = toml::Table::from_iter([("mc-shims".to_owned(), library(&["unmodified"]).into())]);
    table.insert("dependencies".to_owned(), dependencies.into());
    table.to_string()
}

/// How the facades are compiled.
struct Compiler<'a> {
    rustc: &'a Path,
    version: &'a str,
    release: &'a str,
    host: &'a str,
    checker: &'a Checker,
    sysroot: Option<&'a Sysroot>,
}

impl Compiler<'_> {
    /// In a folder that is named after what it is made from.
    fn facade(&self, instrument: Instrument, directory: &Path) -> Result<Facade, FacadeError> {
        let which = self.which();
        let mut hasher = DefaultHasher::new();
        (self.version, sources(which), FLAGS, INSTRUMENTATION, instrument.sees_memory(), &self.checker.made)
            .hash(&mut hasher);
        self.rustc.hash(&mut hasher); // another one may say the same of itself, and do something else
        self.sysroot.map(|sysroot| &sysroot.path).hash(&mut hasher);
        let directory = directory.join(format!("{:016x}", hasher.finish()));
        let libraries = directory.join("facade");
        whole::folder(&libraries, io_error, |made| self.all(made))?;
        let mut flags: Vec<String> = FLAGS.map(str::to_owned).into();
        match self.sysroot {
            None => flags.push(format!("-Ldependency={}", self.checker.dependencies.display())),
            Some(sysroot) => {
                flags.push(format!("--sysroot={}", sysroot.path.display()));
                flags.push(format!("-Clink-arg={}", libraries.join(LINKED).display()));
            }
        }
        flags.push(format!("-Ldependency={}", libraries.display()));
        if instrument.sees_memory() {
            flags.extend(INSTRUMENTATION.map(str::to_owned));
        }
        for (name, _) in sources(which) {
            flags.push("--extern".to_owned());
            flags.push(format!("{name}={}", libraries.join(format!("lib{name}.rlib")).display()));
        }
        Ok(Facade { flags, target: self.host.to_owned(), directory })
    }

    fn which(&self) -> Std {
        if self.sysroot.is_some() { Std::Real } else { Std::Checked }
    }

    /// All of them.
    fn all(&self, directory: &Path) -> Result<(), FacadeError> {
        for (name, source) in sources(self.which()) {
            self.one(name, source, directory)?;
        }
        if let Some(sysroot) = self.sysroot {
            let linked = sysroot.link(self.checker.made.iter().map(|(library, _)| library), &directory.join(LINKED));
            linked.map_err(|source| FacadeError::Sysroot { version: self.release.to_owned(), source })?;
        }
        Ok(())
    }

    fn one(&self, name: &'static str, source: &str, directory: &Path) -> Result<(), FacadeError> {
        let file = directory.join(format!("{name}.rs"));
        fs::write(&file, source).map_err(|source| FacadeError::Io { path: file.clone(), source })?;
        let mut command = Command::new(self.rustc);
        command.args([
            "--edition=2024",
            "--crate-type=rlib",
            "-O",
            METADATA,
            "--cap-lints=allow",
            "--crate-name",
            name,
        ]);
        command.args(["--target", self.host, "--out-dir"]).arg(directory).arg(&file);
        if self.sysroot.is_some() {
            command.arg("--cfg=mc_real_std");
        } else {
            command.arg("--extern").arg(format!("mc_facade={}", self.checker.library.display()));
            command.arg(format!("-Ldependency={}", self.checker.dependencies.display()));
        }
        command.env("MC_FACADE_CRATES", self.checker.crates.join(" "));
        let output = command.output().map_err(|source| FacadeError::Run { program: self.rustc.to_owned(), source })?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        Err(FacadeError::Compile { name, version: self.release.to_owned(), message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checker_is_a_workspace_of_its_own_and_optimised() {
        let table: toml::Table = manifest().parse().unwrap();
        assert!(table.contains_key("workspace"));
        assert_eq!(table["profile"]["release"]["opt-level"].as_integer(), Some(3));
        assert_eq!(table["dependencies"]["mc-shims"]["features"][0].as_str(), Some("unmodified"));
    }
}
