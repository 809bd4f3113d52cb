//! Which packages, features, profiles and flags reach the build.

use crate::{fixture, names, test};

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
