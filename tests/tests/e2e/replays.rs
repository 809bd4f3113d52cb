//! A recorded execution is shown again, by its schedule, its file or its test.

use crate::{fixture, snapshot, test};
use mc_runtime::client::{Binary, Control, Print};
use mc_runtime::message::Replayed;
use mc_runtime::options::Options;
use mc_runtime::outcome::Failure;

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

/// The test binary of the fixture that `cargo mc` built for this profile.
fn binary(fixture: &mc_tests::fixture::Fixture, package: &str, profile: &str) -> Binary {
    let folder = fixture.target.join("mc").join(profile).join("deps");
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut candidates: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_none())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&format!("{package}-")))
        .collect();
    candidates.sort_by_key(|path| std::fs::metadata(path).unwrap().modified().unwrap());
    Binary::new(candidates.pop().unwrap_or_else(|| panic!("no binary of {package} in {}", folder.display())))
}

#[test]
fn a_schedule_replays_to_the_same_failure_a_hundred_times_in_each_profile() {
    let fixture = fixture("failing");
    for (profile, jobs) in [("debug", "1"), ("debug", "2"), ("release", "2")] {
        let profile_flag = if profile == "release" { vec!["--release"] } else { vec![] };
        let arguments = [vec!["test", "--jobs", jobs], JSON.to_vec(), profile_flag].concat();
        let run = fixture.cargo_mc(arguments);
        assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
        let recorded: Failure = serde_json::from_value(test(&run, "cell::publish")["failures"][0].clone()).unwrap();
        let binary = binary(&fixture, "fixture_failing", profile);
        for time in 0..100 {
            let replayed =
                binary.replay("cell::publish", &Options::default(), &recorded.schedule, Print::Hidden, &mut |_| {
                    Control::Continue
                });
            let (_, Replayed::Failed(failure)) = replayed.unwrap() else { panic!("{profile} {jobs}, time {time}") };
            assert_eq!((failure.kind, &failure.message), (recorded.kind, &recorded.message), "{profile}, time {time}");
            assert_eq!(failure.schedule, recorded.schedule, "{profile}, time {time}");
        }
    }
}
