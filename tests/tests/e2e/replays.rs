//! A recorded execution is shown again, by its schedule, its file or its test.

use crate::{fixture, snapshot, test};

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn a_failure_is_replayed_by_schedule_file_and_name() {
    let fixture = fixture("failing");
    let run = fixture.cargo_mc(["test", "publish"].iter().chain(&JSON));
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let schedule = test(&run, "cell::publish")["failures"][0]["schedule"].as_str().unwrap().to_owned();
    let file = fixture.target.join("mc/failures/cell__publish.json");
    let by_schedule = fixture.cargo_mc(["replay", &schedule]);
    assert_eq!(by_schedule.code, 100, "{}\n{}", by_schedule.stdout, by_schedule.stderr);
    assert!(by_schedule.stderr.contains("printed by the body"), "a replay lets the body print: {}", by_schedule.stderr);
    snapshot("replayed", &fixture, &by_schedule.stdout);
    for what in [file.to_str().unwrap(), "cell::publish", "publish"] {
        let run = fixture.cargo_mc(["replay", what]);
        assert_eq!((run.code, run.stdout), (100, by_schedule.stdout.clone()), "{what}: {}", run.stderr);
    }
    // Elsewhere nothing is recorded, so that the test must be named.
    std::fs::remove_file(file).unwrap();
    let run = fixture.cargo_mc(["replay", &schedule]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    let run = fixture.cargo_mc(["replay", &schedule, "publish"]);
    assert_eq!((run.code, run.stdout), (100, by_schedule.stdout), "{}", run.stderr);
    let run = fixture.cargo_mc(["replay", "cell::publish"]);
    assert_eq!(run.code, 96, "{}", run.stderr);
    assert!(run.stderr.contains("no failure of `cell::publish` is recorded"), "{}", run.stderr);
}

#[test]
fn a_damaged_or_foreign_schedule_says_which_it_is() {
    let fixture = fixture("failing");
    let run = fixture.cargo_mc(["test", "publish"].iter().chain(&JSON));
    let schedule = test(&run, "cell::publish")["failures"][0]["schedule"].as_str().unwrap().to_owned();
    let truncated = &schedule[..schedule.len() - 2];
    for what in [truncated, "mc1.!!!!", "mc9.abcdefgh", "mc1."] {
        let run = fixture.cargo_mc(["replay", what, "publish"]);
        assert!(matches!(run.code, 2 | 122), "{what}: {} {}", run.code, run.stderr);
        assert!(run.stderr.starts_with("error: ") || run.stderr.contains("\nerror: "), "{what}: {}", run.stderr);
    }
    let run = fixture.cargo_mc(["replay", &schedule, "cell::right"]);
    assert_eq!(run.code, 122, "{}\n{}", run.stdout, run.stderr);
}

#[test]
fn a_test_that_was_repaired_no_longer_fails_or_goes_another_way() {
    let fixture = fixture("failing");
    let run = fixture.cargo_mc(["test", "publish"].iter().chain(&JSON));
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let source = std::fs::read_to_string(fixture.root.join("src/lib.rs")).unwrap();
    fixture.write("src/lib.rs", &source.replace("assert_eq!(seen, 42);", "let _ = seen;"));
    let run = fixture.cargo_mc(["replay", "cell::publish"]);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("no longer fails"), "{}", run.stdout);
}

#[test]
fn the_list_knows_the_last_verdicts() {
    let fixture = fixture("failing");
    fixture.cargo_mc(["test"]);
    let run = fixture.cargo_mc(["list"].iter().chain(&JSON));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let listed = run.lines_of("listed");
    let verdict = |name: &str| listed.iter().find(|line| line["name"] == name).map(|line| line["verdict"].clone());
    assert_eq!(verdict("cell::publish"), Some("failed".into()));
    assert_eq!(verdict("cell::right"), Some("proved".into()));
    let run = fixture.cargo_mc(["list", "cell"]);
    snapshot("list", &fixture, &run.stdout);
}
