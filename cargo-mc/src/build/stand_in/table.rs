//! What stands in for which published package: its names, its versions, and what a crate may ask of it.

use cargo_metadata::semver::Version;

use crate::build::library;

/// A package of ours in the place of another checker's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StandIn {
    /// That of the package, of its library, of the flag that asks for it, of the cfg that suites have unless they say otherwise, and of the module of `mc::compat` with its names.
    pub(crate) name: &'static str,
    series: &'static [Series],
    /// Features of `mc-shims` that its names need.
    needs: &'static [&'static str],
}

/// Versions that have the same features.
#[derive(Debug, PartialEq, Eq)]
struct Series {
    minor: u64,
    features: &'static [&'static str],
}

pub(crate) static LOOM: StandIn = StandIn {
    name: "loom",
    series: &[Series { minor: 7, features: LOOM_FEATURES }, Series { minor: 5, features: LOOM_FEATURES }],
    needs: &["checked"],
};
const LOOM_FEATURES: &[&str] = &["checkpoint", "futures", "serde", "serde_json", "pin-utils"];

pub(crate) static SHUTTLE: StandIn = StandIn {
    name: "shuttle",
    series: &[
        Series { minor: 9, features: &["annotation", "bench-no-vector-clocks", "vector-clocks"] },
        Series { minor: 8, features: &["annotation"] },
    ],
    needs: &["checked", "shuttle"],
};

impl StandIn {
    /// Does it have the names of this version?
    pub(super) fn replaces(&self, version: &Version) -> bool {
        self.series(version).is_some()
    }

    /// The versions whose names it has, for people.
    pub(super) fn known(&self) -> String {
        let minors: Vec<_> = self.series.iter().map(|series| format!("0.{}", series.minor)).collect();
        minors.join(" and ")
    }

    fn series(&self, version: &Version) -> Option<&Series> {
        self.series.iter().find(|series| version.major == 0 && version.minor == series.minor)
    }

    /// The manifest of the package that stands in for this version.
    pub(super) fn manifest(&self, version: &Version) -> String {
        let features = self.series(version).map_or(&[][..], |series| series.features);
        let empty = || toml::Value::from(Vec::<toml::Value>::new());
        let mut table: toml::Table = toml::toml! {
            [package]
            edition = "2024"
            publish = false
            [workspace]
        };
        if let Some(package) = table.get_mut("package").and_then(toml::Value::as_table_mut) {
            package.insert("name".to_owned(), self.name.into());
            package.insert("version".to_owned(), version.to_string().into());
        }
        let features = features.iter().map(|feature| ((*feature).to_owned(), empty()));
        table.insert("features".to_owned(), toml::Table::from_iter(features).into());
        let dependencies = toml::Table::from_iter([("mc-shims".to_owned(), library(self.needs).into())]);
        table.insert("dependencies".to_owned(), dependencies.into());
        table.to_string()
    }

    /// All of its source.
    pub(super) fn library(&self) -> String {
        format!("pub use mc::compat::{}::*;\n", self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_package_has_the_version_that_is_asked_for_and_a_workspace_of_its_own() {
        let table: toml::Table = LOOM.manifest(&Version::new(0, 5, 6)).parse().unwrap();
        assert_eq!(
            (table["package"]["name"].as_str(), table["package"]["version"].as_str()),
            (Some("loom"), Some("0.5.6"))
        );
        assert!(table.contains_key("workspace"));
        assert_eq!(table["dependencies"]["mc-shims"]["features"][0].as_str(), Some("checked"));
    }

    #[test]
    fn it_has_what_the_packages_for_a_patch_by_hand_have() {
        let all = [(&LOOM, (7, 2)), (&LOOM, (5, 6)), (&SHUTTLE, (9, 9)), (&SHUTTLE, (8, 1))];
        for (stand_in, (minor, patch)) in all {
            let folder = format!("../shims/{}-compat/0.{minor}", stand_in.name);
            let by_hand = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            let theirs: toml::Table = fs::read_to_string(by_hand.join("Cargo.toml")).unwrap().parse().unwrap();
            let ours: toml::Table = stand_in.manifest(&Version::new(0, minor, patch)).parse().unwrap();
            assert_eq!(theirs["features"], ours["features"]);
            assert_eq!(theirs["package"]["version"], ours["package"]["version"]);
            let features = |table: &toml::Table| table["dependencies"]["mc-shims"]["features"].clone();
            assert_eq!(features(&theirs), features(&ours));
            assert!(fs::read_to_string(by_hand.join("src/lib.rs")).unwrap().contains(&stand_in.library()));
        }
    }

    #[test]
    fn other_versions_are_known_not_to_be_replaced() {
        let replaced = |stand_in: &StandIn, minor| stand_in.replaces(&Version::new(0, minor, 0));
        assert!(replaced(&LOOM, 7) && !replaced(&LOOM, 6) && replaced(&SHUTTLE, 9) && !replaced(&SHUTTLE, 7));
        assert!(!LOOM.replaces(&Version::new(1, 7, 0)));
        assert_eq!(SHUTTLE.known(), "0.9 and 0.8");
    }
}
