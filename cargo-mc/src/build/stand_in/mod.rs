//! `--loom`, `--shuttle`: the crate is built with packages of ours in place of another checker's, and nothing of it is edited.
//!
//! Cargo gets a `[patch.crates-io]` by `--config`. The packages are a few lines each, over `mc::compat` (`table`), and are written into the target directory. A
//! patch changes `Cargo.lock`, so that is put back when cargo is done (`lock`). What that file has too old for the checker is updated meanwhile (`conflict`).

mod conflict;
mod lock;
mod table;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Metadata;
use cargo_metadata::semver::Version;

use super::{BuildError, write};
use crate::args::BuildArgs;

pub(crate) use lock::Lock;
pub(crate) use table::{LOOM, SHUTTLE, StandIn};

/// What cargo is told so that it takes our packages.
#[derive(Debug)]
pub(crate) struct Patch {
    /// Each for a `--config`.
    pub(crate) config: Vec<String>,
    /// `Cargo.lock` is as it was when this is dropped.
    lock: Lock,
}

/// Why there is no suite to check.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StandInError {
    #[error(
        "no package of the workspace depends on `{name}`, so `--{name}` has nothing to check\n  = help: tests that are written with \
         `#[mc::test]` are checked without it"
    )]
    Missing { name: &'static str },
    #[error("`{name}` {version} cannot be replaced; versions {known} can")]
    Version { name: &'static str, version: String, known: String },
    #[error("`{}`: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the dependencies of the checker do not fit those in `Cargo.lock`\n{message}")]
    Conflict { message: String },
}

/// Finds out which versions of the other checker are needed, and writes packages for them below `directory`. Gives what cargo says of the workspace with these.
pub(crate) fn patch(
    stand_in: &StandIn,
    cargo: &Path,
    args: &BuildArgs,
    directory: &Path,
) -> Result<(Patch, Metadata), BuildError> {
    let metadata = super::metadata(cargo, args, &[])?;
    let name = stand_in.name;
    let mut config = Vec::new();
    for version in versions(stand_in, &metadata)? {
        let package = directory.join("packages").join(version.to_string());
        write(&package.join("Cargo.toml"), &stand_in.manifest(&version)).map_err(io_error)?;
        write(&package.join("src/lib.rs"), &stand_in.library()).map_err(io_error)?;
        let path = toml::Value::String(package.display().to_string());
        let key = format!("{name}-{}", version.to_string().replace(['.', '+'], "-"));
        config.push(format!("patch.crates-io.{key}.package=\"{name}\""));
        config.push(format!("patch.crates-io.{key}.path={path}"));
    }
    let lock = Lock::hold(metadata.workspace_root.as_std_path(), directory)?;
    let patch = Patch { config, lock };
    let metadata = patch.settle(cargo, args)?;
    Ok((patch, metadata))
}

fn io_error((path, source): (PathBuf, io::Error)) -> StandInError {
    StandInError::Io { path, source }
}

/// Its versions that the graph has.
fn versions(stand_in: &StandIn, metadata: &Metadata) -> Result<BTreeSet<Version>, StandInError> {
    let name = stand_in.name;
    let found = metadata.packages.iter().filter(|p| p.name == name && p.source.is_some());
    let found: BTreeSet<_> = found.map(|p| p.version.clone()).collect();
    if let Some(other) = found.iter().find(|version| !stand_in.replaces(version)) {
        return Err(StandInError::Version { name, version: other.to_string(), known: stand_in.known() });
    }
    if found.is_empty() { Err(StandInError::Missing { name }) } else { Ok(found) }
}

impl Patch {
    /// Lets cargo find versions for the checker's own dependencies. Where it cannot, because `Cargo.lock` has older ones, those are updated, for this build.
    fn settle(&self, cargo: &Path, args: &BuildArgs) -> Result<Metadata, BuildError> {
        /// Each time, something is newer than before; but nobody waits for ever.
        const TRIES: usize = 20;
        let mut last = String::new();
        for _ in 0..TRIES {
            match super::metadata(cargo, args, &self.config) {
                Ok(metadata) => {
                    self.lock.remember();
                    return Ok(metadata);
                }
                Err(BuildError::Metadata(message)) => last = message,
                Err(other) => return Err(other),
            }
            self.update(cargo, args, &last)?;
        }
        Err(StandInError::Conflict { message: last }.into())
    }

    /// Updates what is in the way, and what then is.
    fn update(&self, cargo: &Path, args: &BuildArgs, message: &str) -> Result<(), BuildError> {
        let mut packages = BTreeSet::new();
        let mut message = message.to_owned();
        let locked = self.lock.packages();
        loop {
            let known = packages.len();
            packages.extend(conflict::in_the_way(&message).into_iter().filter(|package| locked.contains(package)));
            if packages.len() == known {
                return Err(StandInError::Conflict { message: message.trim_end().to_owned() }.into());
            }
            let mut command = Command::new(cargo);
            command.arg("update").args(&packages).args(args.network_flags());
            for setting in &self.config {
                command.arg("--config").arg(setting);
            }
            if let Some(path) = &args.manifest.manifest_path {
                command.arg("--manifest-path").arg(path);
            }
            let output = command.stdin(Stdio::null()).output();
            let output = output.map_err(|source| BuildError::Cargo { cargo: cargo.to_owned(), source })?;
            if output.status.success() {
                return Ok(());
            }
            message = String::from_utf8_lossy(&output.stderr).into_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;

    use super::*;

    /// A package, as a folder that cargo takes for a registry has it.
    fn package(folder: &Path, name: &str, version: &str, dependencies: &str) {
        let head = format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n");
        write(&folder.join("Cargo.toml"), &format!("{head}[dependencies]\n{dependencies}")).unwrap();
        write(&folder.join("src/lib.rs"), "").unwrap();
        write(&folder.join(".cargo-checksum.json"), r#"{"files":{}}"#).unwrap();
    }

    /// A crate whose `Cargo.lock` has `one`, which depends on `two`, and `other`, all at 1.0.0; what stands in for loom needs a newer `two`.
    fn locked(folder: &Path, one_needs: impl Fn(&str) -> String) -> (Patch, BuildArgs) {
        let registry = folder.join("registry");
        for version in ["1.0.0", "1.0.1"] {
            package(&registry.join(format!("one-{version}")), "one", version, &one_needs(version));
            package(&registry.join(format!("two-{version}")), "two", version, "");
            package(&registry.join(format!("other-{version}")), "other", version, "");
        }
        package(&registry.join("loom"), "loom", "0.7.2", "");
        package(&folder.join("ours"), "loom", "0.7.2", "two = \"1.0.1\"\n[workspace]\n");
        let theirs = folder.join("theirs");
        // As in most crates with such tests, a feature brings it.
        package(
            &theirs,
            "theirs",
            "0.0.0",
            "loom = { version = \"0.7\", optional = true }\none = \"1\"\nother = \"1\"\n[workspace]\n",
        );
        let mut lock = "version = 4\n".to_owned();
        for (name, version, needs) in [
            ("loom", "0.7.2", ""),
            ("one", "1.0.0", "\"two\""),
            ("other", "1.0.0", ""),
            ("two", "1.0.0", ""),
            ("theirs", "0.0.0", "\"loom\", \"one\", \"other\""),
        ] {
            let source = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
            let source = if name == "theirs" { "" } else { source };
            let entry = format!(
                "\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}dependencies = [{needs}]\n"
            );
            write!(lock, "{entry}").unwrap();
        }
        write(&theirs.join("Cargo.lock"), &lock).unwrap();
        let path = |name| toml::Value::String(folder.join(name).display().to_string());
        let config = vec![
            format!("patch.crates-io.loom.path={}", path("ours")),
            "source.crates-io.replace-with='folder'".to_owned(),
            format!("source.folder.directory={}", path("registry")),
        ];
        let mut args = BuildArgs { offline: true, ..BuildArgs::default() };
        args.manifest.manifest_path = Some(theirs.join("Cargo.toml"));
        let lock = Lock::hold(&theirs, &folder.join("target")).unwrap();
        (Patch { config, lock }, args)
    }

    /// All versions of the crate's graph, once cargo has settled it. Its `Cargo.lock` is as before then.
    fn settled(one_needs: impl Fn(&str) -> String) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let (patch, args) = locked(folder.path(), one_needs);
        let lock = folder.path().join("theirs/Cargo.lock");
        let before = fs::read(&lock).unwrap();
        let metadata = patch.settle(Path::new(env!("CARGO")), &args).unwrap();
        drop(patch);
        assert_eq!(fs::read(&lock).unwrap(), before);
        let versions: BTreeSet<_> = metadata.packages.iter().map(|p| format!("{} {}", p.name, p.version)).collect();
        versions.into_iter().collect()
    }

    #[test]
    fn a_version_that_is_too_old_is_updated_and_nothing_else() {
        let versions = settled(|_| "two = \"1\"".to_owned());
        assert_eq!(versions, ["loom 0.7.2", "one 1.0.0", "other 1.0.0", "theirs 0.0.0", "two 1.0.1"]);
    }

    #[test]
    fn what_pins_a_version_that_is_too_old_is_updated_with_it() {
        let versions = settled(|version| format!("two = \"={version}\""));
        assert_eq!(versions, ["loom 0.7.2", "one 1.0.1", "other 1.0.0", "theirs 0.0.0", "two 1.0.1"]);
    }
}
