//! Executions that go on from snapshots of earlier ones: the same is said of every test as where each runs from its start.

use mc_tests::fixture::{Fixture, Run};
use serde_json::Value;

use crate::{fixture, names, test};

fn checked(fixture: &Fixture, snapshots: &str) -> Run {
    fixture.cargo_mc(["test", "--message-format", "json", "--snapshots", snapshots])
}

/// What is said of each test, but for times, and for the failing execution: which comes first is free.
fn said(run: &Run) -> Vec<[Value; 5]> {
    let say = |name: &String| {
        let test = test(run, name);
        let kinds = test["failures"].as_array().unwrap_or_else(|| panic!("{test}")).iter().map(|f| f["kind"].clone());
        let is_proved = test["verdict"] == "proved";
        let count = |of: &str| if is_proved { test[of].clone() } else { Value::Null };
        [name.as_str().into(), test["verdict"].clone(), count("executions"), count("blocked"), kinds.collect()]
    };
    names(run).iter().filter(|name| *name != BEGINS).map(say).collect()
}

/// The test of the fixture that fails if executions go on.
const BEGINS: &str = "each_execution_begins_at_its_start";

#[test]
fn the_same_is_said_of_every_test() {
    for name in ["long", "passing", "failing"] {
        let fixture = fixture(name);
        let whole = checked(&fixture, "0");
        assert!(!names(&whole).is_empty(), "{}\n{}", whole.stdout, whole.stderr);
        for snapshots in ["1", "5", "32"] {
            let run = checked(&fixture, snapshots);
            assert_eq!(said(&whole), said(&run), "{name}, {snapshots}: {}", run.stderr);
        }
    }
}

#[test]
fn executions_go_on_only_where_that_is_asked_for() {
    let fixture = fixture("long");
    let verdict = |run: &Run| test(run, BEGINS)["verdict"].as_str().map(str::to_owned);
    for (snapshots, expected) in [("0", "proved"), ("5", "failed"), ("32", "failed"), ("1000", "proved")] {
        let run = checked(&fixture, snapshots);
        assert_eq!(verdict(&run).as_deref(), Some(expected), "{snapshots}: {}", run.stdout);
    }
    let run = fixture.cargo_mc(["test", "--message-format", "json"]);
    assert_eq!(verdict(&run).as_deref(), Some("proved"), "{}", run.stdout);
}

/// Nobody can say there whose a static is, and those of the checker must not be put back.
#[test]
fn a_stripped_executable_has_no_snapshots() {
    let fixture = fixture("long");
    // As `strip = true` does, without compiling all else again.
    fixture.write("build.rs", "fn main() { println!(\"cargo::rustc-link-arg=-s\") }");
    let run = checked(&fixture, "5");
    assert_eq!(test(&run, BEGINS)["verdict"], "proved", "{}\n{}", run.stdout, run.stderr);
}
