//! Threads of a test as threads of the operating system: the same is said of every test, and what needs them is proved.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use mc_tests::fixture::{Fixture, Run};
use serde_json::Value;

use crate::{fixture, names, test};

const OS: [&str; 2] = ["--threads", "os"];

fn json<'a>(fixture: &Fixture, arguments: impl IntoIterator<Item = &'a str>) -> Run {
    fixture.cargo_mc(["test", "--message-format", "json"].into_iter().chain(arguments))
}

/// What is said of each test, but for times.
fn said(run: &Run) -> Vec<[Value; 5]> {
    let say = |name: &String| {
        let test = test(run, name);
        let failures: Value =
            test["failures"].as_array().unwrap_or_else(|| panic!("{test}")).iter().map(failure).collect();
        [name.as_str().into(), test["verdict"].clone(), test["executions"].clone(), test["blocked"].clone(), failures]
    };
    names(run).iter().map(say).collect()
}

fn failure(failure: &Value) -> Value {
    [failure["kind"].clone(), failure["schedule"].clone()].into_iter().collect()
}

#[test]
fn the_same_is_said_of_every_test_and_schedules_hold_for_both() {
    for name in ["passing", "failing"] {
        let fixture = fixture(name);
        let run = json(&fixture, []);
        let on_os = json(&fixture, OS);
        assert!(!names(&run).is_empty(), "{}\n{}", run.stdout, run.stderr);
        assert_eq!(said(&run), said(&on_os), "{}", on_os.stderr);
    }
    let fixture = fixture("failing");
    let run = json(&fixture, ["publish"]);
    let schedule = test(&run, "cell::publish")["failures"][0]["schedule"].as_str().unwrap().to_owned();
    let replays = [vec![], OS.to_vec()].map(|more| fixture.cargo_mc([vec!["replay", &schedule], more].concat()));
    assert_eq!((replays[0].code, &replays[0].stdout), (100, &replays[1].stdout), "{}", replays[1].stderr);
}

#[test]
fn what_needs_threads_of_the_system_is_proved_on_them() {
    let fixture = fixture("thread_locals");
    let coroutines = json(&fixture, []);
    let with_variable = Fixture::with_env(fixture, "MC_THREADS", "os");
    let os = json(&with_variable, []);
    assert_eq!(os.code, 0, "{}\n{}", os.stdout, os.stderr);
    for (name, executions) in [
        ("a_checked_atomic_in_a_thread_local_of_std", 1),
        ("a_thread_local_of_std", 1),
        ("a_value_of_the_c_library", 1),
        ("destructors_run_before_the_thread_is_joined", 1),
        ("each_thread_is_one_of_the_system", 2),
    ] {
        let name = &format!("tests::{name}");
        assert_eq!(test(&coroutines, name)["verdict"], "failed", "{name}");
        let test = test(&os, name);
        assert_eq!((&test["verdict"], &test["executions"]), (&"proved".into(), &executions.into()), "{test}");
    }
    assert_eq!(test(&os, "tests::a_loop_that_counts_with_the_c_library_ends")["verdict"], "proved");
    // As its attribute says, whatever the variable does.
    for run in [&coroutines, &os] {
        let asked = test(run, "tests::the_attribute_asks_for_them");
        assert_eq!((&asked["passed"], &asked["failures"][0]["file"]), (&true.into(), &"src/lib.rs".into()), "{asked}");
    }
    let wrong = fixture_error(&with_variable);
    assert!(wrong.contains("`coroutines` or `os`"), "{wrong}");
}

fn fixture_error(fixture: &Fixture) -> String {
    let run = fixture.cargo_mc(["test", "--threads", "posix"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    run.stderr
}

#[test]
fn a_debugger_stops_where_the_execution_fails_and_sees_the_threads() {
    let fixture = fixture("failing");
    let run = json(&fixture, ["publish"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    if Command::new("gdb").arg("--version").output().is_err() {
        // Whether the line can be written makes no difference to the test.
        let _ = writeln!(std::io::stderr(), "SKIPPED: gdb is not installed");
        return;
    }
    let batch = ["--", "-nx", "-batch", "-ex", "info threads", "-ex", "backtrace"];
    let run = fixture.cargo_mc(["replay", "--gdb", "cell::publish"].iter().chain(&batch));
    let shown = format!("{}\n{}", run.stdout, run.stderr);
    assert_eq!(run.code, 0, "{shown}");
    for expected in ["Running cd ", "break mc_failure", "\"main\"", "\"T2 reader\" hit Breakpoint 1", "src/lib.rs:25"] {
        assert!(shown.contains(expected), "{expected}:\n{shown}");
    }
    // T1 had ended.
    assert!(!shown.lines().any(|line| line.contains("\"T1 ") && line.contains("LWP")), "{shown}");
}

#[test]
fn a_debugger_that_is_not_there_is_a_clear_error() {
    let fixture = fixture("failing");
    let run = json(&fixture, ["publish"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let cargo = std::env::var("CARGO").expect("set by cargo");
    let folder = Path::new(&cargo).parent().expect("an absolute path").to_string_lossy().into_owned();
    // There are cargo and rustc, and no debugger.
    let fixture = fixture.with_env("PATH", &folder);
    let run = fixture.cargo_mc(["replay", "--gdb", "cell::publish"]);
    assert_eq!(run.code, 96, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("cannot start `gdb`") && run.stderr.contains("`PATH`"), "{}", run.stderr);
    let run = fixture.cargo_mc(["replay", "cell::publish", "--", "-batch"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
}
