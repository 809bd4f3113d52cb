//! `cargo mc` with a worker that only plays one: everything around the checker, without the checker.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;

use crate::{fixture, names, snapshot, test};

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn a_run_with_every_kind_of_end_is_reported_whole() {
    let fixture = fixture("protocol");
    let run = fixture.cargo_mc(["test", "--jobs", "1"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    snapshot("every_kind_of_end", &fixture, &run.stdout);
}

#[test]
fn the_exit_code_is_that_of_the_worst_test() {
    let fixture = fixture("protocol");
    let code = |arguments: &[&str]| fixture.cargo_mc(["test", "--exact"].iter().chain(arguments)).code;
    assert_eq!(code(&["right", "wrong_on_purpose", "cut_by_attribute"]), 0);
    assert_eq!(code(&["right", "cut"]), 120);
    assert_eq!(code(&["cut", "--allow-weaker"]), 0);
    assert_eq!(code(&["cut", "--require", "bounded"]), 0);
    assert_eq!(code(&["cut", "refuses"]), 96);
    assert_eq!(code(&["cut", "refuses", "uncheckable"]), 121);
    assert_eq!(code(&["cut", "refuses", "uncheckable", "dies"]), 100);
    assert_eq!(code(&["nobody"]), 4);
}

#[test]
fn a_run_that_fails_fast_starts_nothing_more() {
    let fixture = fixture("protocol");
    let run = fixture.cargo_mc(["test", "--jobs", "1", "--fail-fast", "--exact", "cut", "right"].iter().chain(&JSON));
    assert_eq!((names(&run), run.code), (vec!["cut".to_owned()], 120), "{}", run.stderr);
    assert_eq!(run.lines_of("summary")[0]["not_run"], 1);
}

#[test]
fn options_reach_the_worker_from_flags_and_variables() {
    let fixture = fixture("protocol").with_env("MC_SEED", "41");
    let executions = |arguments: &[&str]| {
        let run = fixture.cargo_mc(["test", "--exact", "right"].iter().chain(&JSON).chain(arguments));
        test(&run, "right")["executions"].as_u64()
    };
    assert_eq!(executions(&[]), Some(42));
    assert_eq!(executions(&["--seed", "0x10"]), Some(17));
}

#[test]
fn failures_are_recorded_and_replayed_by_schedule_file_and_name() {
    let fixture = fixture("protocol");
    fixture.cargo_mc(["test", "wrong"]);
    let file = fixture.target.join("mc/failures/wrong.json");
    let by_schedule = fixture.cargo_mc(["replay", "mc1.panic"]);
    assert_eq!(by_schedule.code, 100, "{}", by_schedule.stderr);
    assert!(by_schedule.stderr.contains("printed by the body"));
    snapshot("a_replayed_failure", &fixture, &by_schedule.stdout);
    for what in [file.to_str().unwrap(), "wrong"] {
        let run = fixture.cargo_mc(["replay", what]);
        assert_eq!((run.code, &run.stdout), (100, &by_schedule.stdout), "{what}: {}", run.stderr);
    }
    let run = fixture.cargo_mc(["replay", "mc1.elsewhere"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    let run = fixture.cargo_mc(["replay", "mc1.elsewhere", "--exact", "right"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("no longer fails"), "{}", run.stdout);
    let run = fixture.cargo_mc(["replay", "mc1.elsewhere", "--exact", "cut"]);
    assert_eq!(run.code, 122, "{}", run.stderr);
    assert!(run.stdout.contains("expected a load, found a store"), "{}", run.stdout);
    let run = fixture.cargo_mc(["replay", "mc1.damaged", "--exact", "cut"]);
    assert_eq!(run.code, 122, "{}", run.stderr);
    assert!(run.stderr.ends_with("error: the schedule is damaged\n"), "{}", run.stderr);
    let run = fixture.cargo_mc(["replay", "right"]);
    assert_eq!(run.code, 96, "{}", run.stderr);
}

#[test]
fn the_list_knows_last_verdicts() {
    let fixture = fixture("protocol");
    fixture.cargo_mc(["test", "--exact", "right", "wrong", "cut"]);
    let run = fixture.cargo_mc(["list"].iter().chain(&JSON));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let listed = run.lines_of("listed");
    let verdict = |name: &str| listed.iter().find(|line| line["name"] == name).map(|line| line["verdict"].clone());
    assert_eq!(verdict("wrong"), Some("failed".into()));
    assert_eq!(verdict("right"), Some("proved".into()));
    let run = fixture.cargo_mc(["list", "--exact", "right", "wrong", "cut"]);
    snapshot("a_list", &fixture, &run.stdout);
}

#[test]
fn the_users_own_flags_are_kept_wherever_they_come_from() {
    let fixture = fixture("protocol");
    let flags = |fixture: &mc_tests::fixture::Fixture| {
        let run = fixture.cargo_mc(["list", "with_"].iter().chain(&JSON));
        let listed = run.lines_of("listed");
        let mut names: Vec<_> = listed.iter().map(|line| line["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(run.code, 0, "{}", run.stderr);
        names
    };
    assert_eq!(flags(&fixture), ["with_mc"]);
    fixture.write(".cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"from_build\"]\n");
    assert_eq!(flags(&fixture), ["with_build", "with_mc"]);
    // As without us, flags of a target that matches hide those of `build`, and those of one that does not do not.
    let both = |target: &str| {
        let target = format!("[target.'cfg({target})']\nrustflags = [\"--cfg\", \"from_target\"]\n");
        fixture.write(".cargo/config.toml", &format!("[build]\nrustflags = \"--cfg from_build\"\n{target}"));
    };
    both("unix");
    assert_eq!(flags(&fixture), ["with_mc", "with_target"]);
    both("windows");
    assert_eq!(flags(&fixture), ["with_build", "with_mc"]);
    let fixture = fixture.with_env("RUSTFLAGS", "--cfg from_variable");
    assert_eq!(flags(&fixture), ["with_mc", "with_variable"]);
    let fixture = fixture.with_env("CARGO_ENCODED_RUSTFLAGS", "--cfg\u{1f}from_build");
    assert_eq!(flags(&fixture), ["with_build", "with_mc"]);
}

#[test]
fn an_interrupt_ends_the_run_with_what_was_learned() {
    let fixture = fixture("protocol");
    let mut child = fixture.start(["test", "--ignored", "--exact", "slow"].iter().chain(&JSON));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    // The test is running for certain once its progress was told.
    let mut line = String::new();
    while !line.contains("\"progress\"") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the run ended by itself");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    let lines: Vec<serde_json::Value> = rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let test = lines.iter().find(|line| line["type"] == "test").unwrap();
    assert_eq!((&test["verdict"], &test["executions"]), (&"interrupted".into(), &5.into()));
    assert_eq!(lines.last().unwrap()["interrupted"], 1);
}
