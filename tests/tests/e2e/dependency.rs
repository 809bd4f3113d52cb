//! `--dep`: the tests that a published crate has itself.

use std::fs;

use mc_tests::fixture::Fixture;

use crate::{fixture, names, test};

/// What is asked for comes from the registry, unless it is there already.
fn anywhere() -> Fixture {
    fixture("unmodified").with_env("CARGO_NET_OFFLINE", "false")
}

#[test]
fn a_published_crate_is_checked_by_its_own_tests() {
    let fixture = anywhere();
    let copy = fixture.target.join("mc/dep/parking-2.2.1");
    let _ = fs::remove_dir_all(&copy); // of an earlier run
    let tests = ["--exact", "unpark", "same_parker", "park_timeout_unpark_not_called"];
    let run = fixture.cargo_mc(["test", "--dep", "parking@2.2.1", "--message-format", "json"].iter().chain(&tests));
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(names(&run).len(), 3, "{}", run.stdout);
    assert_eq!(
        (&test(&run, "unpark")["package"], &test(&run, "unpark")["verdict"]),
        (&"parking".into(), &"ran".into())
    );
    // The copy is not made again.
    let file = copy.join("tests/parking.rs");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n#[test]\nfn fails() {{\n    panic!(\"here\");\n}}\n")).unwrap();
    let run = fixture.cargo_mc(["test", "--dep", "parking@2.2.1", "fails"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("cargo mc replay --std --dep parking@2.2.1 mc1."), "{}", run.stdout);
    let replay = fixture.cargo_mc(["replay", "--dep", "parking@2.2.1", "fails"]);
    assert_eq!(replay.code, 100, "{}\n{}", replay.stdout, replay.stderr);
}

#[test]
fn what_is_no_dependency_is_told_what_it_is() {
    let fixture = anywhere();
    for (spec, code, words) in [
        ("parking@new", 2, "`new` is no version"),
        ("/tmp/parking", 2, "`/tmp/parking` is no name of a crate"),
        ("spin", 96, "`cargo mc test --std --package spin` checks its tests"),
        ("parking@99", 102, "parking"),
    ] {
        let run = fixture.cargo_mc(["test", "--dep", spec]);
        assert_eq!(run.code, code, "{spec}: {}\n{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(words), "{spec}: {}", run.stderr);
    }
    let run = fixture.cargo_mc(["test", "--dep", "parking", "--package", "spin"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
}
