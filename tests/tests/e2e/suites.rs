//! A suite that was written for loom, without an edit.

use std::fs;

use mc_tests::fixture::Fixture;

use crate::{fixture, names, test};

const JSON: [&str; 4] = ["test", "--loom", "--message-format", "json"];

/// The copy, with a lock file that cargo has settled: loom comes from the registry.
fn suite() -> Fixture {
    let fixture = fixture("suite").with_env("CARGO_NET_OFFLINE", "false");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = fixture.command(cargo.as_ref(), ["metadata", "--format-version", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fixture
}

#[test]
fn every_test_of_a_suite_gets_a_verdict_and_nothing_is_edited() {
    let fixture = suite();
    let lock = fs::read(fixture.root.join("Cargo.lock")).unwrap();
    let manifest = fs::read(fixture.root.join("Cargo.toml")).unwrap();
    let run = fixture.cargo_mc(JSON);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(fs::read(fixture.root.join("Cargo.lock")).unwrap(), lock);
    assert_eq!(fs::read(fixture.root.join("Cargo.toml")).unwrap(), manifest);
    assert_eq!(names(&run).len(), 9, "all but the ignored one");
    for (name, verdict, passed) in [
        ("handed_over", "proved", true),
        ("handed_over_relaxed", "failed", false),
        ("handed_over_relaxed_on_purpose", "failed", true),
        ("right_on_purpose", "failed", false),
        ("fails_after_its_model", "failed", false),
        ("dies", "failed", false),
        ("ends", "failed", false),
        ("bounded", "bounded", false),
        ("plain", "ran", true),
    ] {
        let test = test(&run, name);
        assert_eq!((&test["verdict"], &test["passed"]), (&verdict.into(), &passed.into()), "{test}");
    }
    // Two models of two executions: the flag is seen or not.
    assert_eq!(test(&run, "handed_over")["executions"], 4);
    let failure = |name| test(&run, name)["failures"][0].clone();
    assert_eq!(failure("handed_over_relaxed")["kind"], "data_race");
    assert_eq!((&failure("dies")["kind"], &failure("ends")["kind"]), (&"crash".into(), &"crash".into()));
    assert!(failure("fails_after_its_model")["message"].as_str().unwrap().contains("the end of the test"));
    assert!(failure("right_on_purpose")["message"].as_str().unwrap().contains("should_panic"));
}

#[test]
fn a_failure_of_a_suite_is_shown_and_replayed() {
    let fixture = suite();
    let run = fixture.cargo_mc(["test", "--loom", "--exact", "handed_over_relaxed"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("data race") && run.stdout.contains("cargo mc replay --loom mc1."), "{}", run.stdout);
    let replay = fixture.cargo_mc(["replay", "--loom", "handed_over_relaxed"]);
    assert_eq!(replay.code, 100, "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("data race"), "{}", replay.stdout);
}

#[test]
fn a_package_without_loom_is_told_so() {
    let fixture = fixture("passing");
    let run = fixture.cargo_mc(["test", "--loom"]);
    assert_eq!(run.code, 96, "{}", run.stdout);
    assert!(run.stderr.contains("depends on `loom`"), "{}", run.stderr);
}
