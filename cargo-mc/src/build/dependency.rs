//! `--dep`: the tests that a published crate has itself, from its sources as cargo keeps them, copied.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cargo_metadata::semver::{Version, VersionReq};
use cargo_metadata::{Metadata, Package};

use super::{BuildError, absolute, metadata_command, run_metadata, write};
use crate::args::BuildArgs;

/// Why there is nothing to copy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DependencyError {
    #[error(
        "`--dep {spec}`: `{version}` is no version and no requirement of one\n  = help: `--dep NAME@1.2.3`, or `--dep NAME@1.2` for the newest of those"
    )]
    Version { spec: String, version: String },
    #[error(
        "`{name}` is no dependency but a member of this workspace\n  = help: `cargo mc test --std --package {name}` checks its tests"
    )]
    Member { name: String },
    #[error("there are several `{name}` among the dependencies\n  = help: name one: {}", .specs.join(", "))]
    Several { name: String, specs: Vec<String> },
    #[error(
        "`{name}` does not come from a registry but from {origin}\n  = help: its tests can be checked where its sources are, with `cargo mc test --std`"
    )]
    Elsewhere { name: String, origin: String },
    #[error("no version of `{spec}` was found")]
    None { spec: String },
    #[error("`{}`: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("`{}`: {message}", .path.display())]
    Manifest { path: PathBuf, message: String },
}

/// As typed: `NAME` or `NAME@VERSION`.
struct Wanted {
    name: String,
    version: VersionReq,
}

impl Wanted {
    fn parse(spec: &str) -> Result<Self, DependencyError> {
        let (name, version) = spec.split_once('@').unwrap_or((spec, "*"));
        let exact = Version::parse(version).map(|version| format!("={version}"));
        let requirement = VersionReq::parse(exact.as_deref().unwrap_or(version));
        let wrong = |_| DependencyError::Version { spec: spec.to_owned(), version: version.to_owned() };
        Ok(Self { name: name.to_owned(), version: requirement.map_err(wrong)? })
    }

    fn fits(&self, package: &Package) -> bool {
        package.name.as_str() == self.name && self.version.matches(&package.version)
    }
}

/// The crate's own package, as if it was asked for itself; `flag` asks for this one again.
pub(super) struct Own {
    pub(super) args: BuildArgs,
    pub(super) flag: String,
}

/// Copies the crate that `--dep` names: the one of the workspace, if it has one there, otherwise the newest that fits.
pub(super) fn own(cargo: &Path, args: &BuildArgs, spec: &str) -> Result<Own, BuildError> {
    let wanted = Wanted::parse(spec)?;
    let is_in_workspace = args.manifest.manifest_path.is_some() || has_manifest();
    let workspace = if is_in_workspace { Some(run_metadata(&metadata_command(cargo, args, &[]))?) } else { None };
    let target = match (&args.target_dir, &workspace) {
        (Some(directory), _) => directory.clone(),
        (None, Some(workspace)) => workspace.target_directory.clone().into(),
        (None, None) => std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from),
    };
    let directory = absolute(target.join("mc/dep"));
    let package = match workspace.as_ref().map(|workspace| among(workspace, &wanted)).transpose()?.flatten() {
        Some(package) => package.clone(),
        None => fetched(cargo, args, &wanted, &directory.join("fetch").join(&wanted.name), spec)?,
    };
    let named = format!("{}-{}", package.name, package.version);
    let copy = copied(Path::new(package.manifest_path.as_str()), &directory, &named)?;
    let flag = format!("--dep {}@{}", package.name, package.version);
    let mut args = BuildArgs { target_dir: Some(target), ..args.clone() };
    args.manifest.manifest_path = Some(copy.join("Cargo.toml"));
    Ok(Own { args, flag })
}

fn has_manifest() -> bool {
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors().any(|folder| folder.join("Cargo.toml").is_file())
}

/// The one among the dependencies of a workspace.
fn among<'a>(metadata: &'a Metadata, wanted: &Wanted) -> Result<Option<&'a Package>, DependencyError> {
    let name = wanted.name.clone();
    let found: Vec<_> = metadata.packages.iter().filter(|package| wanted.fits(package)).collect();
    let package = match found[..] {
        [] => return Ok(None),
        [package] => package,
        _ => {
            let specs = found.iter().map(|package| format!("`--dep {name}@{}`", package.version)).collect();
            return Err(DependencyError::Several { name, specs });
        }
    };
    match &package.source {
        None if metadata.workspace_members.contains(&package.id) => Err(DependencyError::Member { name }),
        Some(source) if source.repr.starts_with("registry+") || source.repr.starts_with("sparse+") => Ok(Some(package)),
        Some(source) => Err(DependencyError::Elsewhere { name, origin: source.repr.clone() }),
        None => Err(DependencyError::Elsewhere { name, origin: package.manifest_path.to_string() }),
    }
}

/// Fetched by cargo, as the dependency of a package of ours.
fn fetched(
    cargo: &Path,
    args: &BuildArgs,
    wanted: &Wanted,
    directory: &Path,
    spec: &str,
) -> Result<Package, BuildError> {
    let mut table: toml::Table = toml::toml! {
        [package]
        name = "mc-dep"
        version = "0.0.0"
        edition = "2024"
        publish = false
        [lib]
        path = "lib.rs"
        [workspace]
    };
    let version = toml::Value::from(wanted.version.to_string());
    table.insert("dependencies".to_owned(), toml::Table::from_iter([(wanted.name.clone(), version)]).into());
    let failed = |(path, source)| DependencyError::Io { path, source };
    write(&directory.join("Cargo.toml"), &table.to_string()).map_err(failed)?;
    write(&directory.join("lib.rs"), "").map_err(failed)?;
    // What the newest is may have changed.
    if !args.offline && !args.frozen {
        let _ = fs::remove_file(directory.join("Cargo.lock"));
    }
    let mut own = BuildArgs { offline: args.offline || args.frozen, ..BuildArgs::default() };
    own.manifest.manifest_path = Some(directory.join("Cargo.toml"));
    let metadata = run_metadata(&metadata_command(cargo, &own, &[]))?;
    let package = metadata.packages.into_iter().find(|package| wanted.fits(package));
    package.ok_or_else(|| DependencyError::None { spec: spec.to_owned() }.into())
}

/// A copy that is a workspace of its own, made once.
fn copied(manifest: &Path, directory: &Path, name: &str) -> Result<PathBuf, DependencyError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| DependencyError::Io { path, source }
    };
    let copy = directory.join(name);
    if copy.is_dir() {
        return Ok(copy);
    }
    fs::create_dir_all(directory).map_err(failed(directory))?;
    let made = tempfile::tempdir_in(directory).map_err(failed(directory))?;
    let sources = manifest.parent().unwrap_or(Path::new("."));
    copy_folder(sources, made.path()).map_err(failed(sources))?;
    let manifest = made.path().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(failed(&manifest))?;
    fs::write(&manifest, alone(&text, &manifest)?).map_err(failed(&manifest))?;
    match fs::rename(made.keep(), &copy) {
        // Somebody else was faster, with the same.
        Err(_) if copy.is_dir() => Ok(copy),
        renamed => renamed.map(|()| copy.clone()).map_err(failed(&copy)),
    }
}

/// The manifest of a package that belongs to no workspace around it.
fn alone(text: &str, manifest: &Path) -> Result<String, DependencyError> {
    let wrong = |error: toml::de::Error| DependencyError::Manifest {
        path: manifest.to_owned(),
        message: error.message().to_owned(),
    };
    let table: toml::Table = text.parse().map_err(wrong)?;
    Ok(if table.contains_key("workspace") { text.to_owned() } else { format!("{text}\n[workspace]\n") })
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&to)?;
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), &to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_exact_and_part_of_one_is_a_requirement() {
        let requirement = |spec| Wanted::parse(spec).map(|wanted| wanted.version.to_string());
        assert_eq!(requirement("flume").unwrap(), "*");
        assert_eq!(requirement("flume@0.11.0").unwrap(), "=0.11.0");
        assert_eq!(requirement("flume@0.11").unwrap(), "^0.11");
        let error = requirement("flume@new").unwrap_err().to_string();
        assert!(error.contains("`new` is no version"), "{error}");
    }

    #[test]
    fn a_copy_is_a_workspace_of_its_own() {
        let alone = |text| alone(text, Path::new("Cargo.toml")).unwrap();
        assert_eq!(alone("[package]\nname = \"a\""), "[package]\nname = \"a\"\n[workspace]\n");
        assert_eq!(alone("[workspace]\nresolver = \"2\""), "[workspace]\nresolver = \"2\"");
    }
}
