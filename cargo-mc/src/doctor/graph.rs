//! Which crates are in the tests of the selected packages, and with which features.
//!
//! Source: `cargo tree`, which selects packages and resolves features as the build does, and knows the edges that end in the tests themselves: normal and dev dependencies for the host, without
//! procedural macros, which run in the compiler. `cargo metadata` has the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use cargo_metadata::{CargoOpt, Metadata, Package};

use super::DoctorError;
use crate::args::DoctorArgs;
use crate::build;

/// A crate of the graph.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) package: Package,
    pub(super) features: BTreeSet<String>,
    /// Its own tests are meant.
    pub(super) selected: bool,
}

/// The crates, by name and version, and the workspace.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) metadata: Metadata,
}

/// Asks cargo.
pub(super) fn graph(cargo: &Path, args: &DoctorArgs, host: &str) -> Result<Graph, DoctorError> {
    let build = args.build();
    let options = build.lock_flags().into_iter().chain(["--filter-platform", host].map(str::to_owned)).collect();
    let mut command = build::metadata_with(cargo, &build, options);
    if !args.features.features.is_empty() || args.features.all_features {
        // Which package a feature is of is for `cargo tree` to know: more packages than are in the tests do no harm.
        command.features(CargoOpt::AllFeatures);
    }
    let metadata = build::run_metadata(&command)?;
    let selected = tree(cargo, args, host, &["--depth", "0"])?;
    let mut all = tree(cargo, args, host, &[])?;
    let is_member = |package: &Package| metadata.workspace_members.contains(&package.id);
    let mut nodes: Vec<Node> = metadata
        .packages
        .iter()
        .filter_map(|package| {
            let key = (package.name.to_string(), package.version.to_string());
            let selected = is_member(package) && selected.contains_key(&key);
            let features = all.get(&key)?.clone();
            Some(Node { package: package.clone(), features, selected })
        })
        .collect();
    nodes.iter().for_each(|node| drop(all.remove(&(node.package.name.to_string(), node.package.version.to_string()))));
    if let Some(((name, version), _)) = all.pop_first() {
        return Err(DoctorError::Unknown { name, version });
    }
    nodes.sort_by(|a, b| {
        let key = |node: &Node| (!node.selected, node.package.name.to_string(), node.package.version.clone());
        key(a).cmp(&key(b)).then_with(|| a.package.id.repr.cmp(&b.package.id.repr))
    });
    Ok(Graph { nodes, metadata })
}

/// Name and version, with the enabled features.
type Features = BTreeMap<(String, String), BTreeSet<String>>;

fn tree(cargo: &Path, args: &DoctorArgs, host: &str, more: &[&str]) -> Result<Features, DoctorError> {
    let mut command = Command::new(cargo);
    command.args(["tree", "--edges", "normal,dev,no-proc-macro", "--prefix", "none", "--format", "{p}\t{f}"]);
    command.args(["--color", "never", "--target", host]).args(more).args(args.build().lock_flags());
    let mut pair = |flag: &str, value: &dyn AsRef<OsStr>| {
        command.arg(flag).arg(value);
    };
    if let Some(path) = &args.manifest.manifest_path {
        pair("--manifest-path", path);
    }
    args.workspace.package.iter().for_each(|name| pair("--package", name));
    args.workspace.exclude.iter().for_each(|name| pair("--exclude", name));
    args.features.features.iter().for_each(|name| pair("--features", name));
    let switches = [
        ("--workspace", args.workspace.workspace || args.workspace.all),
        ("--all-features", args.features.all_features),
        ("--no-default-features", args.features.no_default_features),
    ];
    command.args(switches.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag));
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|source| DoctorError::Run { program: cargo.to_owned(), source })?;
    if !output.status.success() {
        return Err(DoctorError::Tree(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()));
    }
    Ok(features(&String::from_utf8_lossy(&output.stdout)))
}

/// Lines of `name v1.0.0 (where)<tab>feature,feature (*)`. A package may stand there more than once.
fn features(lines: &str) -> Features {
    let mut all = Features::new();
    for line in lines.lines() {
        let Some((package, features)) = line.split_once('\t') else { continue };
        let mut words = package.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next().and_then(|word| word.strip_prefix('v'))) else {
            continue;
        };
        let features = features.trim_end_matches(" (*)").split(',').filter(|name| !name.is_empty());
        all.entry((name.to_owned(), version.to_owned())).or_default().extend(features.map(str::to_owned));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_tree_are_packages_with_features() {
        let lines = "demo v0.1.0 (/a b/demo)\t\n\nserde v1.0.2\tderive,std\nserde v1.0.2\tderive,rc (*)\n";
        let all = features(lines);
        assert_eq!(all.len(), 2);
        let serde = &all[&("serde".to_owned(), "1.0.2".to_owned())];
        assert_eq!(serde.iter().collect::<Vec<_>>(), ["derive", "rc", "std"]);
        assert!(all[&("demo".to_owned(), "0.1.0".to_owned())].is_empty());
    }
}
