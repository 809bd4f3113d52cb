//! Which packages, features, profiles and flags reach the build.

use crate::{fixture, names, test};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{env, fs};

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn features_and_targets_select_what_is_built() {
    // `suites.rs` has a profile of the user's own, and `protocol.rs` the user's flags from wherever they may come: the checker is compiled again for each.
    let fixture = fixture("features");
    let checked = |flags: &[&str]| {
        let run = fixture.cargo_mc(["test"].iter().chain(&JSON).chain(flags));
        assert_eq!(run.code, 0, "{flags:?}: {}", run.stderr);
        names(&run)
    };
    assert_eq!(checked(&[]), ["in_a_file_of_its_own", "tests::always", "tests::with_debug_assertions"]);
    assert_eq!(checked(&["--lib"]), ["tests::always", "tests::with_debug_assertions"]);
    assert_eq!(checked(&["--test", "outside"]), ["in_a_file_of_its_own"]);
    let extra = ["tests::always", "tests::with_debug_assertions", "tests::with_extra"];
    assert_eq!(checked(&["--lib", "--features", "extra"]), extra);
    assert_eq!(checked(&["--lib", "--all-features"]), extra);
    assert_eq!(checked(&["--lib", "--release"]), ["tests::always", "tests::without_debug_assertions"]);
}

#[test]
fn a_workspace_has_the_tests_of_its_members_under_their_packages() {
    let fixture = fixture("workspace");
    let run = fixture.cargo_mc(["test"].iter().chain(&JSON));
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    let mut found: Vec<_> = run
        .lines_of("test")
        .iter()
        .map(|line| (line["package"].clone(), line["name"].clone()))
        .map(|(p, n)| format!("{p} {n}"))
        .collect();
    found.sort();
    let expected = [
        "\"fixture-first\" \"tests::runs_in_its_package\"",
        "\"fixture-first\" \"tests::shared_name\"",
        "\"fixture-second\" \"tests::shared_name\"",
    ];
    assert_eq!(found, expected);
    let run = fixture.cargo_mc(["test", "-p", "fixture-second"].iter().chain(&JSON));
    assert_eq!(run.lines_of("test").len(), 1, "{}", run.stderr);
    let run = fixture.cargo_mc(["test", "--workspace", "--exclude", "fixture-second"].iter().chain(&JSON));
    assert_eq!(run.lines_of("test").len(), 2, "{}", run.stderr);
    let run = fixture.cargo_mc(["test", "--manifest-path", "first/Cargo.toml", "shared"].iter().chain(&JSON));
    assert_eq!(run.lines_of("test").len(), 1, "{}", run.stderr);
    assert_eq!(test(&run, "tests::shared_name")["package"], "fixture-first");
    let run = fixture.cargo_mc(["replay", "mc1.abc", "shared_name"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("fixture-first tests::shared_name"), "{}", run.stderr);
}

#[test]
fn what_only_other_machines_need_is_not_fetched() {
    let fixture = fixture("passing");
    let home = fixture.root.join("home");
    without_windows(&cargo_home(), &home).expect("all can be read, and linked to");
    let fixture = fixture.with_env("CARGO_HOME", &home.to_string_lossy());
    let run = fixture.cargo_mc(["test", "-p", "nobody"]);
    assert_eq!(run.code, 101, "cargo comes as far as to the build: {}", run.stderr);
}

fn cargo_home() -> PathBuf {
    let default = || env::home_dir().map(|home| home.join(".cargo"));
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(default).expect("a user has a home")
}

/// Links `to` to all of a directory of cargo's, but for crates that are only needed on Windows.
fn without_windows(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        // Down to where the crates are: `registry/src/HOST` and `registry/cache/HOST`.
        let holds_crates =
            ["registry", "src", "cache"].contains(&&*name) || from.ends_with("src") || from.ends_with("cache");
        if holds_crates {
            without_windows(&path, &to.join(&*name))?;
        } else if !name.starts_with("windows") && !name.starts_with(".package-cache") {
            symlink(&path, to.join(&*name))?;
        }
    }
    Ok(())
}
