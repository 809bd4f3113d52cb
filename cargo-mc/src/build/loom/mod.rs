//! `--loom`: the crate is built with packages of ours in place of loom, and nothing of it is edited.
//!
//! Cargo gets a `[patch.crates-io]` by `--config`. The packages are a few lines each, over `mc::compat::loom`, and are written into the target directory. A
//! patch changes `Cargo.lock`, so that is put back when cargo is done (`lock`).

mod lock;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{CargoOpt, Metadata};

use super::{BuildError, library, write};
use crate::args::BuildArgs;

pub(crate) use lock::Lock;

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
pub(crate) enum LoomError {
    #[error(
        "no package of the workspace depends on `loom`, so `--loom` has nothing to check\n  = help: tests that are written with \
         `#[mc::test]` are checked without it"
    )]
    Missing,
    #[error("`loom` {version} cannot be replaced; versions 0.7 and 0.5 can")]
    Version { version: String },
    #[error("`{}`: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the dependencies of the checker do not fit those in `Cargo.lock`\n{message}")]
    Conflict { message: String },
}

/// The whole package that stands in for `loom` of this version.
fn manifest(version: &str) -> String {
    let features = ["checkpoint", "futures", "serde", "serde_json", "pin-utils"];
    let empty = || toml::Value::from(Vec::<toml::Value>::new());
    let mut table: toml::Table = toml::toml! {
        [package]
        name = "loom"
        edition = "2024"
        publish = false
        [workspace]
    };
    if let Some(package) = table.get_mut("package").and_then(toml::Value::as_table_mut) {
        package.insert("version".to_owned(), version.into());
    }
    table.insert("features".to_owned(), toml::Table::from_iter(features.map(|f| (f.to_owned(), empty()))).into());
    let dependencies = toml::Table::from_iter([("mc-shims".to_owned(), library("checked").into())]);
    table.insert("dependencies".to_owned(), dependencies.into());
    table.to_string()
}

const LIBRARY: &str = "pub use mc::compat::loom::*;\n";

/// Finds out which versions of loom are needed, and writes packages for them below `directory`. Gives what cargo says of the workspace with these.
pub(crate) fn patch(cargo: &Path, args: &BuildArgs, directory: &Path) -> Result<(Patch, Metadata), BuildError> {
    let mut all = super::metadata_command(cargo, args, &[]);
    let metadata = super::run_metadata(all.features(CargoOpt::AllFeatures))?;
    let versions = versions(&metadata)?;
    let mut config = Vec::new();
    for version in versions {
        let package = directory.join("packages").join(&version);
        write(&package.join("Cargo.toml"), &manifest(&version)).map_err(io_error)?;
        write(&package.join("src/lib.rs"), LIBRARY).map_err(io_error)?;
        let path = toml::Value::String(package.display().to_string());
        let key = format!("loom-{}", version.replace(['.', '+'], "-"));
        config.push(format!("patch.crates-io.{key}.package=\"loom\""));
        config.push(format!("patch.crates-io.{key}.path={path}"));
    }
    let lock = Lock::hold(metadata.workspace_root.as_std_path(), directory)?;
    let patch = Patch { config, lock };
    let metadata = patch.settle(cargo, args)?;
    Ok((patch, metadata))
}

fn io_error((path, source): (PathBuf, io::Error)) -> LoomError {
    LoomError::Io { path, source }
}

/// The versions of loom that the graph has.
fn versions(metadata: &Metadata) -> Result<BTreeSet<String>, LoomError> {
    let found: Vec<_> = metadata.packages.iter().filter(|p| p.name == "loom" && p.source.is_some()).collect();
    if let Some(other) = found.iter().find(|p| p.version.major != 0 || ![5, 7].contains(&p.version.minor)) {
        return Err(LoomError::Version { version: other.version.to_string() });
    }
    if found.is_empty() {
        return Err(LoomError::Missing);
    }
    Ok(found.into_iter().map(|p| p.version.to_string()).collect())
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
        Err(LoomError::Conflict { message: last }.into())
    }

    /// Updates what is in the way, and what then is.
    fn update(&self, cargo: &Path, args: &BuildArgs, message: &str) -> Result<(), BuildError> {
        let mut packages = BTreeSet::new();
        let mut message = message.to_owned();
        loop {
            let known = packages.len();
            packages.extend(in_the_way(&message));
            if packages.len() == known {
                return Err(LoomError::Conflict { message: message.trim_end().to_owned() }.into());
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

/// The packages that cargo says are locked to a version that does not fit, as `name@version`.
fn in_the_way(message: &str) -> Vec<String> {
    let name = |line: &str| {
        let package = line.trim().strip_prefix("previously selected package `")?.split('`').next()?;
        let (name, version) = package.split_once(" v")?;
        Some(format!("{name}@{}", version.split(' ').next()?))
    };
    message.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_package_has_the_version_that_is_asked_for_and_a_workspace_of_its_own() {
        let table: toml::Table = manifest("0.5.6").parse().unwrap();
        assert_eq!(table["package"]["version"].as_str(), Some("0.5.6"));
        assert!(table.contains_key("workspace"));
        assert_eq!(table["dependencies"]["mc-shims"]["features"][0].as_str(), Some("checked"));
    }

    #[test]
    fn it_has_what_the_packages_for_a_patch_by_hand_have() {
        for (folder, version) in [("0.7", "0.7.2"), ("0.5", "0.5.6")] {
            let by_hand = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shims/loom-compat").join(folder);
            let theirs: toml::Table = fs::read_to_string(by_hand.join("Cargo.toml")).unwrap().parse().unwrap();
            let ours: toml::Table = manifest(version).parse().unwrap();
            assert_eq!(theirs["features"], ours["features"]);
            assert_eq!(theirs["package"]["version"], ours["package"]["version"]);
            assert!(fs::read_to_string(by_hand.join("src/lib.rs")).unwrap().contains(LIBRARY));
        }
    }

    #[test]
    fn packages_in_the_way_are_read_from_cargos_words() {
        let message = "error: failed to select a version for `libc`.\n\n  previously selected package `libc v0.2.155`\n    ... \
                       which satisfies dependency `libc = \"^0.2.146\"` (locked to 0.2.155) of package `backtrace v0.3.71`";
        assert_eq!(in_the_way(message), ["libc@0.2.155"]);
    }
}
