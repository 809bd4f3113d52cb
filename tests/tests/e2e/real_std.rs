//! Crates as they are, with the toolchain's own std: `--std=real`. And our types held against those.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use mc_tests::fixture::Fixture;

use crate::{fixture, test};

/// The checker is compiled by itself for this, with what its feature needs.
fn online(name: &str) -> Fixture {
    fixture(name).with_env("CARGO_NET_OFFLINE", "false")
}

#[test]
fn the_real_types_are_explored_and_sampled() {
    let fixture = online("real_std");
    let run = fixture.cargo_mc(["test", "--std", "real", "--message-format", "json", "--max-executions", "2000"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    for (name, verdict) in [("alone", "ran"), ("locked", "bounded"), ("of_everything", "bounded")] {
        let test = test(&run, name);
        assert_eq!((&test["verdict"], &test["passed"]), (&verdict.into(), &true.into()), "{test}");
    }
    // Never more than that: not all that std does is seen.
    assert_eq!(test(&run, "locked")["bounds"][0]["limit"], "real_std");
    let failed =
        [("looked_at_twice", "panic"), ("lost_update", "panic"), ("raced", "data_race"), ("stuck", "deadlock")];
    for (name, kind) in failed {
        assert_eq!(test(&run, name)["failures"][0]["kind"], kind, "{}", run.stdout);
    }
    for strategy in ["walk", "pct:3"] {
        let options = ["--strategy", strategy, "--max-executions", "100", "--message-format", "json"];
        let run = fixture.cargo_mc(["test", "--std=real", "of_everything", "lost_update"].into_iter().chain(options));
        assert_eq!(test(&run, "of_everything")["verdict"], "sampled", "{}\n{}", run.stdout, run.stderr);
        assert_eq!(test(&run, "lost_update")["verdict"], "failed", "{}\n{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_failure_of_the_real_types_is_replayed() {
    let fixture = online("real_std");
    let run = fixture.cargo_mc(["test", "--std=real", "lost_update"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("cargo mc replay --std=real mc1."), "{}", run.stdout);
    let replay = fixture.cargo_mc(["replay", "--std=real", "lost_update"]);
    assert_eq!(replay.code, 100, "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("left == right"), "{}", replay.stdout);
}

#[test]
fn the_real_types_need_all_memory() {
    let run = online("real_std").cargo_mc(["test", "--std=real", "--instrument", "atomics"]);
    assert_eq!(run.code, 96, "{}", run.stdout);
    assert!(run.stderr.contains("cannot do without `--instrument memory`"), "{}", run.stderr);
}

/// The outcomes of each program of the fixture: the lines of a file after the tests have run with these arguments.
fn outcomes(fixture: &Fixture, runs: &[&[&str]]) -> BTreeMap<String, BTreeSet<String>> {
    let file = fixture.root.join("outcomes");
    fs::write(&file, "").unwrap();
    for arguments in runs {
        let run = fixture.cargo_mc(["test"].iter().chain(*arguments));
        assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    }
    let mut outcomes = BTreeMap::<_, BTreeSet<_>>::new();
    let text = fs::read_to_string(&file).unwrap();
    for line in text.lines().filter_map(|line| line.strip_prefix("outcome of ")) {
        let (program, outcome) = line.split_once(": ").expect("a line of the fixture's");
        outcomes.entry(program.to_owned()).or_default().insert(outcome.to_owned());
    }
    outcomes
}

#[test]
fn every_outcome_of_the_real_types_is_one_of_ours() {
    let fixture = online("differential");
    let ours = outcomes(&fixture, &[&["--std"]]);
    // What ends at all ends within some hundred events. The rest are loops that wait without end: they have no outcome, and get slower with each event.
    let limits = ["--max-executions", "300", "--max-events", "1000"];
    let explored = [["--std=real", "--require", "sampled"].as_slice(), &limits].concat();
    let sampled = ["--std=real", "--strategy", "pct:3", "--max-executions", "200"];
    let real = outcomes(&fixture, &[&explored, &sampled]);
    assert_eq!(ours.len(), 40);
    assert!(ours.keys().eq(real.keys()), "{:?} {:?}", ours.keys(), real.keys());
    let mut new = Vec::new();
    for (program, outcomes) in &real {
        let missing = outcomes.difference(&ours[program]);
        new.extend(missing.map(|outcome| format!("{program}: {outcome}")));
    }
    assert!(new.is_empty(), "outcomes of the real types that ours do not have: {new:?}");
}
