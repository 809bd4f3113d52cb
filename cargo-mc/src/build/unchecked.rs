//! Test executables that `--std` does not check, although cargo runs them.

use std::fs;
use std::path::Path;
use std::process::Command;

use cargo_metadata::Target;

/// Why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// It is compiled for the host, with the real std.
    OnHost,
    /// It has a `main` of its own.
    NoHarness,
}

impl Unchecked {
    /// Cargo's messages do not tell of a harness, so that the manifest is read.
    pub(super) fn of(target: &Target, manifest: &Path) -> Option<Self> {
        if target.is_proc_macro() {
            return Some(Self::OnHost);
        }
        let manifest: toml::Table = fs::read_to_string(manifest).ok()?.parse().ok()?;
        (!has_harness(&manifest, target)).then_some(Self::NoHarness)
    }

    /// In JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OnHost => "on_host",
            Self::NoHarness => "no_harness",
        }
    }
}

fn has_harness(manifest: &toml::Table, target: &Target) -> bool {
    let (key, only) = if target.is_test() {
        ("test", false)
    } else if target.is_bin() {
        ("bin", false)
    } else if target.is_example() {
        ("example", false)
    } else if target.is_bench() {
        ("bench", false)
    } else {
        ("lib", true)
    };
    let tables = match manifest.get(key) {
        Some(toml::Value::Array(tables)) => tables.as_slice(),
        Some(table) => std::slice::from_ref(table),
        None => &[],
    };
    let named = |table: &&toml::Value| only || table.get("name").and_then(toml::Value::as_str) == Some(&target.name);
    let harness = tables.iter().find(named).and_then(|table| table.get("harness"));
    harness.and_then(toml::Value::as_bool).unwrap_or(true)
}

/// Where the shared libraries of the toolchain are, which the tests of a procedural macro need.
pub(super) fn toolchain_libraries() -> Option<String> {
    let output = Command::new(super::rustc()).args(["--print", "target-libdir"]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(kind: &str, name: &str) -> Target {
        let target = serde_json::json!({"name": name, "kind": [kind], "crate_types": ["bin"], "src_path": "/x.rs"});
        serde_json::from_value(target).unwrap()
    }

    #[test]
    fn a_target_has_a_harness_unless_its_own_table_says_otherwise() {
        let manifest = toml::toml! {
            [lib]
            harness = false
            [[test]]
            name = "own"
            harness = false
            [[test]]
            name = "usual"
        };
        for (kind, name, has) in [
            ("lib", "demo", false),
            ("test", "own", false),
            ("test", "usual", true),
            ("test", "found", true),
            ("bin", "own", true),
        ] {
            assert_eq!(has_harness(&manifest, &target(kind, name)), has, "{kind} {name}");
        }
    }
}
