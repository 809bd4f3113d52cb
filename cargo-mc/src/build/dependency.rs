//! `--dep`: the tests that a published crate has itself, from its sources as cargo keeps them, copied.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cargo_metadata::semver::{Version, VersionReq};
use cargo_metadata::{Metadata, Package};

use super::{BuildError, absolute, metadata, whole, write};
use crate::args::BuildArgs;

/// Why there is nothing to copy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DependencyError {
    #[error(
        "`--dep {spec}`: `{name}` is no name of a crate\n  = help: `--dep NAME` or `--dep NAME@1.2`; what lies in a folder is checked with `cargo mc test --std --manifest-path`"
    )]
    Name { spec: String, name: String },
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
        let is_of_names = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(is_of_names) {
            return Err(DependencyError::Name { spec: spec.to_owned(), name: name.to_owned() });
        }
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
    let workspace = if is_in_workspace { Some(metadata(cargo, args, &[])?) } else { None };
    let target = match (&args.target_dir, &workspace) {
        (Some(directory), _) => directory.clone(),
        (None, Some(workspace)) => workspace.target_directory.clone().into(),
        (None, None) => std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from),
    };
    let directory = absolute(target.join("mc/dep"));
    let package = match workspace.as_ref().map(|workspace| among(workspace, &wanted)).transpose()?.flatten() {
        Some(package) => package.clone(),
        None => fetched(cargo, args, &wanted, &directory, spec)?,
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
    // Without a `Cargo.lock`: what the newest is may have changed.
    let made = whole::temporary(directory).map_err(io_error)?;
    write(&made.path().join("Cargo.toml"), &table.to_string()).map_err(io_error)?;
    write(&made.path().join("lib.rs"), "").map_err(io_error)?;
    let mut own = BuildArgs { offline: args.offline || args.frozen, ..BuildArgs::default() };
    own.manifest.manifest_path = Some(made.path().join("Cargo.toml"));
    let metadata = metadata(cargo, &own, &[])?;
    let package = metadata.packages.into_iter().find(|package| wanted.fits(package));
    package.ok_or_else(|| DependencyError::None { spec: spec.to_owned() }.into())
}

/// A copy that is a workspace of its own, made once.
fn copied(manifest: &Path, directory: &Path, name: &str) -> Result<PathBuf, DependencyError> {
    let copy = directory.join(name);
    whole::folder(&copy, io_error, |made| {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| io_error((path, source))
        };
        let sources = manifest.parent().unwrap_or(Path::new("."));
        copy_folder(sources, made).map_err(failed(sources))?;
        let manifest = made.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(failed(&manifest))?;
        fs::write(&manifest, alone(&text, &manifest)?).map_err(failed(&manifest))
    })?;
    Ok(copy)
}

fn io_error((path, source): (PathBuf, io::Error)) -> DependencyError {
    DependencyError::Io { path, source }
}

/// The manifest of a package that belongs to no workspace around it.
fn alone(text: &str, manifest: &Path) -> Result<String, DependencyError> {
    let wrong = |error: toml::de::Error| DependencyError::Manifest {
        path: manifest.to_owned(),
        message: error.message().to_owned(),
    };
    let mut table: toml::Table = text.parse().map_err(wrong)?;
    // Other members were not published with it, nor was the root that it names.
    let package = table.get_mut("package").and_then(toml::Value::as_table_mut);
    let mut changed = package.is_some_and(|package| package.remove("workspace").is_some());
    if let Some(workspace) = table.get_mut("workspace").and_then(toml::Value::as_table_mut) {
        for key in ["members", "default-members", "exclude"] {
            changed |= workspace.remove(key).is_some();
        }
    } else if !changed {
        return Ok(format!("{text}\n[workspace]\n"));
    } else {
        table.insert("workspace".to_owned(), toml::Table::new().into());
    }
    Ok(if changed { table.to_string() } else { text.to_owned() })
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
            make_writable(&to)?;
        }
    }
    Ok(())
}

/// Sources may be kept read-only; tests may write to their own.
fn make_writable(file: &Path) -> io::Result<()> {
    let mode = fs::metadata(file)?.permissions().mode();
    fs::set_permissions(file, Permissions::from_mode(mode | 0o200))
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
        assert_eq!(requirement("flume@0.11.0+build").unwrap(), "=0.11.0");
    }

    #[test]
    fn a_path_is_no_name() {
        for spec in ["/home/me/flume", "../flume", ".", "", "@1", "a b"] {
            let error = Wanted::parse(spec).err().unwrap().to_string();
            assert!(error.contains("is no name of a crate"), "{error}");
        }
    }

    #[test]
    fn a_copy_of_what_is_read_only_can_be_changed() {
        let folder = tempfile::tempdir().unwrap();
        let sources = folder.path().join("sources");
        fs::create_dir_all(sources.join("src")).unwrap();
        for file in ["Cargo.toml", "src/lib.rs"] {
            let file = sources.join(file);
            fs::write(&file, "[package]\nname = \"a\"\n").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
        }
        for _ in 0..2 {
            let copy = copied(&sources.join("Cargo.toml"), &folder.path().join("dep"), "a-1.0.0").unwrap();
            assert!(fs::read_to_string(copy.join("Cargo.toml")).unwrap().ends_with("[workspace]\n"));
            assert_eq!(fs::metadata(copy.join("src/lib.rs")).unwrap().permissions().mode() & 0o777, 0o644);
        }
        // Nothing else is left there.
        assert_eq!(fs::read_dir(folder.path().join("dep")).unwrap().count(), 1);
    }

    #[test]
    fn a_copy_is_a_workspace_of_its_own() {
        let alone = |text| alone(text, Path::new("Cargo.toml")).unwrap();
        assert_eq!(alone("[package]\nname = \"a\""), "[package]\nname = \"a\"\n[workspace]\n");
        assert_eq!(alone("[workspace]\nresolver = \"2\""), "[workspace]\nresolver = \"2\"");
        // The others are not there.
        assert_eq!(alone("[workspace]\nmembers = [\"b\"]\nresolver = \"2\""), "[workspace]\nresolver = \"2\"\n");
        assert_eq!(alone("[package]\nname = \"a\"\nworkspace = \"..\""), "[package]\nname = \"a\"\n\n[workspace]\n");
    }
}
