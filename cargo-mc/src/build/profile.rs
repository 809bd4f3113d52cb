//! The checker is compiled with optimisations whatever the profile is: it does most of the work of a check. What it says of that is compiled with none, which is faster.

use std::collections::BTreeSet;

/// What runs in the warm loop. Of these, only packages that are in the graph: cargo warns of others.
const HOT: [&str; 5] = ["mc-runtime", "mc-shims", "corosensei", "rustc-hash", "rand_pcg"];

/// Values for `--config`. `packages` are the names of all packages of the graph.
pub(crate) fn overrides(profile: &str, packages: &BTreeSet<&str>) -> Vec<String> {
    // What is said of `dev` holds for `test`, what is said of `release` for `bench`: they inherit.
    let profile = match profile {
        "test" => "dev",
        "bench" => "release",
        other => other,
    };
    let present = HOT.iter().filter(|name| packages.contains(**name));
    let mut settings: Vec<_> = present.map(|name| format!("profile.{profile}.package.{name}.opt-level=3")).collect();
    if packages.contains("mc-runtime") {
        settings.push(format!("profile.{profile}.package.mc-runtime.debug-assertions=false"));
        settings.push(format!("profile.{profile}.package.mc-runtime.overflow-checks=false"));
        settings.push(format!("profile.{profile}.package.mc-runtime.codegen-units=1"));
        // Half as long again would it take to compile; nobody steps through it.
        settings.push(format!("profile.{profile}.package.mc-runtime.debug=false"));
    }
    if packages.contains("mc-protocol") {
        settings.push(format!("profile.{profile}.package.mc-protocol.opt-level=0"));
        settings.push(format!("profile.{profile}.package.mc-protocol.debug=false"));
    }
    settings
}

/// Values for `--config` where the crates are built against facades: the checker is compiled without the bitcode that an optimisation across crates needs, and what the compiler
/// inserts is inserted before it.
pub(crate) fn of_facade(profile: &str) -> Vec<String> {
    // `test` inherits from `dev`, and may have settings of its own; likewise `bench`.
    let heir = match profile {
        "dev" => Some("test"),
        "release" => Some("bench"),
        _ => None,
    };
    std::iter::once(profile).chain(heir).map(|profile| format!("profile.{profile}.lto=\"off\"")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packages_of_the_graph_are_named() {
        let packages = BTreeSet::from(["demo", "mc-runtime", "corosensei"]);
        let settings = overrides("test", &packages);
        assert_eq!(settings[0], "profile.dev.package.mc-runtime.opt-level=3");
        assert!(settings.iter().all(|setting| !setting.contains("mc-shims") && !setting.contains("mc-protocol")));
        let protocol = overrides("release", &BTreeSet::from(["mc-protocol"]));
        assert_eq!(protocol[0], "profile.release.package.mc-protocol.opt-level=0");
        assert!(overrides("dev", &BTreeSet::from(["demo"])).is_empty());
    }

    #[test]
    fn facades_go_without_optimisations_across_crates() {
        assert_eq!(of_facade("dev"), ["profile.dev.lto=\"off\"", "profile.test.lto=\"off\""]);
        assert_eq!(of_facade("careful"), ["profile.careful.lto=\"off\""]);
    }
}
