//! `--loom`, `--shuttle`: the crate is built with packages of ours in place of another checker's, and nothing of it is edited.
//!
//! Cargo gets a `[patch.crates-io]` by `--config`. The packages are a few lines each, over `mc::compat` (`table`), and are written into the target directory. A
//! patch changes `Cargo.lock`, so that is put back when cargo is done (`lock`).

mod lock;
mod table;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::semver::Version;
use cargo_metadata::{CargoOpt, Metadata};

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
    let mut all = super::metadata_command(cargo, args, &[]);
    let metadata = super::run_metadata(all.features(CargoOpt::AllFeatures))?;
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
            match super::run_metadata(&super::metadata_command(cargo, args, &self.config)) {
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
        loop {
            let known = packages.len();
            packages.extend(in_the_way(&message));
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

/// The packages that cargo says are locked to a version that does not fit, and those of a registry that want just that version, as `name@version`.
fn in_the_way(message: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.trim();
        let selected = line.strip_prefix("previously selected package `");
        let exact = || line.contains(" = \"=").then(|| line.split_once("of package `")).flatten().map(|(_, rest)| rest);
        let package = selected.or_else(exact)?.split('`').next()?;
        let (name, version) = package.split_once(" v")?;
        (selected.is_some() || !version.contains(' '))
            .then(|| format!("{name}@{}", version.split(' ').next().unwrap_or_default()))
    };
    message.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_in_the_way_are_read_from_cargos_words() {
        let message = "error: failed to select a version for `libc`.\n\n  previously selected package `libc v0.2.155`\n    ... \
                       which satisfies dependency `libc = \"^0.2.146\"` (locked to 0.2.155) of package `backtrace v0.3.71`";
        assert_eq!(in_the_way(message), ["libc@0.2.155"]);
        let pinned = "  previously selected package `serde_derive v1.0.201`\n    ... which satisfies dependency \
                      `serde_derive = \"=1.0.201\"` of package `serde v1.0.201`\n    ... which satisfies dependency \
                      `serde = \"=1.0.201\"` of package `theirs v0.1.0 (/theirs)`";
        assert_eq!(in_the_way(pinned), ["serde_derive@1.0.201", "serde@1.0.201"]);
    }
}
