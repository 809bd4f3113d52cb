//! Suites that were written for loom and for shuttle, without an edit.

use std::fs;

use mc_tests::fixture::Fixture;

use crate::{fixture, names, test};

/// In a profile of the user's own and, by the fixture's configuration, with flags of the user's own: the checker is compiled again for each of these, so that one test is of all.
const LOOM: [&str; 3] = ["--loom", "--profile", "careful"];

/// The copy, with a lock file that cargo has settled: the other checker comes from the registry.
fn suite(name: &str) -> Fixture {
    let fixture = fixture(name).with_env("CARGO_NET_OFFLINE", "false");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = fixture.command(cargo.as_ref(), ["metadata", "--format-version", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fixture
}

#[test]
fn every_test_of_a_suite_gets_a_verdict_and_nothing_is_edited() {
    let fixture = suite("suite");
    let lock = fs::read(fixture.root.join("Cargo.lock")).unwrap();
    let manifest = fs::read(fixture.root.join("Cargo.toml")).unwrap();
    let run = fixture.cargo_mc(["test", "--message-format", "json"].iter().chain(&LOOM));
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(fs::read(fixture.root.join("Cargo.lock")).unwrap(), lock);
    assert_eq!(fs::read(fixture.root.join("Cargo.toml")).unwrap(), manifest);
    assert!(fixture.target.join("mc/loom/careful").is_dir());
    assert_eq!(names(&run).len(), 10, "all but the ignored one");
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
        ("with_a_flag_of_the_users", "ran", true),
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
    let fixture = suite("suite");
    let run = fixture.cargo_mc(["test", "--exact", "handed_over_relaxed"].iter().chain(&LOOM));
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("data race") && run.stdout.contains("cargo mc replay --loom mc1."), "{}", run.stdout);
    let replay = fixture.cargo_mc(["replay", "handed_over_relaxed"].iter().chain(&LOOM));
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

fn for_shuttle(arguments: &[&str]) -> Vec<String> {
    let fixed = ["--shuttle", "--features", "shuttle"];
    arguments[..1].iter().chain(&fixed).chain(&arguments[1..]).map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_suite_for_shuttle_is_checked_as_it_says_itself() {
    let fixture = suite("shuttle_suite");
    let lock = fs::read(fixture.root.join("Cargo.lock")).unwrap();
    let run = fixture.cargo_mc(for_shuttle(&["test", "--message-format", "json"]));
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(fs::read(fixture.root.join("Cargo.lock")).unwrap(), lock);
    let expected = [
        ("counted", "sampled", true),
        ("counted_in_all", "proved", true),
        ("counted_in_one", "bounded", true),
        ("lost", "failed", false),
        ("lost_in_the_second", "failed", false),
        ("lost_on_purpose", "failed", true),
        ("only_with_the_cfg", "ran", true),
        ("relaxed", "proved", true),
    ];
    assert_eq!(names(&run), expected.map(|(name, ..)| name));
    for (name, verdict, passed) in expected {
        let test = test(&run, name);
        assert_eq!((&test["verdict"], &test["passed"]), (&verdict.into(), &passed.into()), "{test}");
    }
}

#[test]
fn flags_count_over_what_a_suite_for_shuttle_says() {
    let fixture = suite("shuttle_suite");
    // `dfs` is the default elsewhere; here the suite would sample.
    let run =
        fixture.cargo_mc(for_shuttle(&["test", "--strategy", "dfs", "--message-format", "json", "--exact", "counted"]));
    assert_eq!((run.code, &test(&run, "counted")["verdict"]), (0, &"proved".into()), "{}\n{}", run.stdout, run.stderr);
    let run = fixture.cargo_mc(for_shuttle(&[
        "test",
        "--require",
        "proved",
        "--message-format",
        "json",
        "--exact",
        "counted",
    ]));
    assert_eq!((run.code, &test(&run, "counted")["passed"]), (120, &false.into()), "{}\n{}", run.stdout, run.stderr);
    // And so is Rust's memory model; a replay keeps to what the failure was found with.
    let run = fixture.cargo_mc(for_shuttle(&["test", "--memory-model", "rc20", "--exact", "relaxed"]));
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let replay = fixture.cargo_mc(for_shuttle(&["replay", "relaxed"]));
    assert_eq!(replay.code, 100, "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("neither is seen"), "{}", replay.stdout);
}

#[test]
fn a_failure_of_a_suite_for_shuttle_is_replayed_in_the_check_that_it_is_of() {
    let fixture = suite("shuttle_suite");
    let run = fixture.cargo_mc(for_shuttle(&["test", "--exact", "lost_in_the_second"]));
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("cargo mc replay --shuttle mc1."), "{}", run.stdout);
    let replay = fixture.cargo_mc(for_shuttle(&["replay", "lost_in_the_second"]));
    assert_eq!(replay.code, 100, "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("an update is lost"), "{}", replay.stdout);
}
