//! What is said outside of the source: in manifests, by names of packages, in the user's flags.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_metadata::{DependencyKind, Package, TargetKind};
use serde::Deserialize;
use toml::Spanned;

use super::cfg::Script;
use super::findings::{Findings, Kind, Place, Ways};
use super::graph::Node;

/// Packages that a build script uses for code that is not Rust.
const COMPILERS: [&str; 8] = ["autotools", "bindgen", "cc", "cmake", "nasm-rs", "pkg-config", "system-deps", "vcpkg"];
/// Packages that are replaced by a `[patch]`, with the versions that can be.
const STAND_INS: [(&str, &str); 1] = [("parking_lot", "0.12.")];

/// Adds what the package itself shows.
pub(super) fn look(node: &Node, found: &mut Findings) {
    let package = &node.package;
    let manifest = fs::read_to_string(&package.manifest_path).unwrap_or_default();
    let mut add = |kind, line, what: String| {
        found.add(kind, Place { file: "Cargo.toml".to_owned(), line, what, test: false, ways: Ways::BOTH });
    };
    for compiler in compilers(node) {
        add(Kind::NativeCode, line_of(&manifest, &compiler), format!("build script with `{compiler}`"));
    }
    if package.name.ends_with("-sys")
        && let Some(links) = &package.links
    {
        add(Kind::NativeCode, line_of(&manifest, "links"), format!("links `{links}`"));
    }
    let library = package.targets.iter().find(|target| is_library(&target.kind));
    for kind in library.map_or(&[][..], |library| &library.kind) {
        if matches!(kind, TargetKind::CDyLib | TargetKind::StaticLib | TargetKind::DyLib | TargetKind::ProcMacro) {
            let line = if *kind == TargetKind::ProcMacro { "proc-macro" } else { "crate-type" };
            add(Kind::CrateType, line_of(&manifest, line), kind.to_string());
        }
    }
    let version = package.version.to_string();
    if package.source.is_some()
        && STAND_INS.iter().any(|(name, series)| package.name == *name && version.starts_with(series))
    {
        add(Kind::StandIn, line_of(&manifest, "name"), format!("{} {version}", package.name));
    }
    let switches = package.dependencies.iter().filter(|other| ["loom", "shuttle"].contains(&other.name.as_str()));
    for checker in switches {
        add(Kind::Switch, line_of(&manifest, &checker.name), format!("depends on `{0}` `--{0}`", checker.name));
    }
}

/// A library of any form.
pub(super) fn is_library(kinds: &[TargetKind]) -> bool {
    use TargetKind::{CDyLib, DyLib, Lib, ProcMacro, RLib, StaticLib};
    kinds.iter().any(|kind| matches!(kind, CDyLib | DyLib | Lib | ProcMacro | RLib | StaticLib))
}

/// Build dependencies that are in use.
fn compilers(node: &Node) -> BTreeSet<String> {
    let used = node.package.dependencies.iter().filter(|other| other.kind == DependencyKind::Build);
    let used = used.filter(|other| COMPILERS.contains(&other.name.as_str()));
    let used = used.filter(|other| !other.optional || turned_on(node, other.rename.as_ref().unwrap_or(&other.name)));
    used.map(|other| other.name.clone()).collect()
}

/// Does an enabled feature ask for this optional dependency?
fn turned_on(node: &Node, dependency: &str) -> bool {
    let asks = |feature: &String| {
        let asked = feature.strip_prefix("dep:").unwrap_or(feature);
        let name = asked.split_once('/').map_or(asked, |(name, _)| name);
        name == dependency && !name.ends_with('?')
    };
    let features = node.features.iter();
    let mut asked = features.flat_map(|name| node.package.features.get(name).into_iter().flatten());
    node.features.contains(dependency) || asked.any(asks)
}

/// The first line that begins with this key, or that is the head of its table. 1 where there is none.
fn line_of(manifest: &str, key: &str) -> usize {
    let is_key = |line: &str| {
        let line = line.trim();
        let rest =
            line.strip_prefix(key).or_else(|| line.split_once(&format!("dependencies.{key}")).map(|(_, end)| end));
        rest.is_some_and(|rest| rest.starts_with([' ', '=', '.', ']']))
    };
    manifest.lines().position(is_key).map_or(1, |at| at + 1)
}

#[derive(Deserialize)]
struct Profiles {
    #[serde(default)]
    profile: std::collections::BTreeMap<String, Profile>,
}

#[derive(Deserialize)]
struct Profile {
    panic: Option<Spanned<String>>,
}

/// What the workspace's manifest says of all crates.
pub(super) fn workspace(manifest: &Path) -> Findings {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let mut found = Findings::default();
    for (name, profile) in toml::from_str::<Profiles>(&text).map(|read| read.profile).unwrap_or_default() {
        if let Some(panic) = profile.panic.filter(|panic| panic.get_ref() == "abort") {
            let line = text[..panic.span().start].lines().count();
            let what = format!("panic = \"abort\" in profile `{name}`");
            found.add(
                Kind::PanicAbort,
                Place { file: "Cargo.toml".to_owned(), line, what, test: false, ways: Ways::BOTH },
            );
        }
    }
    found
}

/// What the build script may set.
pub(super) fn script(package: &Package) -> Script {
    let Some(script) = package.targets.iter().find(|target| target.kind.contains(&TargetKind::CustomBuild)) else {
        return Script::Absent;
    };
    let helped = package.dependencies.iter().any(|other| other.kind == DependencyKind::Build);
    fs::read_to_string(&script.src_path).map_or(Script::Any, |text| Script::new(&text, helped))
}

/// The name of our library in the code of this package.
pub(super) fn name_of_mc(package: &Package) -> Option<String> {
    let used = package.dependencies.iter().filter(|other| other.kind != DependencyKind::Build);
    let used = used.filter(|other| other.name == "mc-shims").max_by_key(|other| other.rename.is_some())?;
    Some(used.rename.as_deref().unwrap_or("mc").replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_manifest_are_found_in_both_of_its_forms() {
        let manifest =
            "[package]\nlinks = \"z\"\n[build-dependencies]\nccc = \"1\"\ncc = \"1\"\n[build-dependencies.cmake]\n";
        assert_eq!(["links", "cc", "cmake", "bindgen"].map(|key| line_of(manifest, key)), [2, 5, 6, 1]);
    }

    #[test]
    fn profiles_that_abort_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Cargo.toml");
        fs::write(&path, "[profile.dev]\npanic = \"unwind\"\n[profile.release]\nlto = true\npanic = \"abort\"\n")
            .unwrap();
        let found = workspace(&path);
        let places: Vec<_> = found.places[&Kind::PanicAbort].iter().collect();
        assert_eq!((places.len(), places[0].line), (1, 5));
    }
}
