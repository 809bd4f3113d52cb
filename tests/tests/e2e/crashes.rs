//! Bodies that end their process, or would: each is a failure of its test, and the others are checked all the same.

use mc_tests::fixture::Run;

use crate::{fixture, test};

const JSON: [&str; 2] = ["--message-format", "json"];

fn kind(run: &Run, name: &str) -> String {
    let test = test(run, name);
    assert_eq!(test["verdict"], "failed", "{test}");
    test["failures"][0]["kind"].as_str().unwrap_or_else(|| panic!("{test}")).to_owned()
}

#[test]
fn each_way_to_die_is_named_and_has_a_schedule() {
    let fixture = fixture("crash");
    for threads in ["coroutines", "os"] {
        each_way_to_die(&fixture.cargo_mc(["test", "--threads", threads].iter().chain(&JSON)));
    }
}

fn each_way_to_die(run: &Run) {
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    for (name, expected) in [
        ("tests::aborts", "crash"),
        ("tests::reads_invalid_memory", "crash"),
        ("tests::overflows_its_stack", "stack_overflow"),
        ("tests::loops_without_end", "hang"),
        ("tests::waits_for_a_lock_of_stds", "hang"),
        ("tests::panics_in_drop_while_unwinding", "crash"),
        ("tests::exits", "crash"),
    ] {
        assert_eq!(kind(run, name), expected, "{name}");
        let schedule = test(run, name)["failures"][0]["schedule"].clone();
        assert!(schedule.as_str().is_some_and(|text| text.starts_with("mc1.")), "{name}: {schedule}");
    }
    for (name, sleeps) in [("tests::loops_without_end", false), ("tests::waits_for_a_lock_of_stds", true)] {
        let message = test(run, name)["failures"][0]["message"].as_str().unwrap().to_owned();
        assert_eq!(message.contains("a lock or channel of std's own"), sleeps, "{name}: {message}");
    }
    let exhausted = test(run, "tests::allocates_without_end");
    assert_ne!(exhausted["verdict"], "proved", "{exhausted}");
    for name in ["tests::prints_a_lot", "tests::prints_what_looks_like_a_message"] {
        assert_eq!(test(run, name)["verdict"], "proved");
    }
    assert!(run.stderr.len() < 1 << 20, "what bodies print is not shown");
}

#[test]
fn a_crash_replays_to_the_same_crash() {
    let fixture = fixture("crash");
    for (name, message) in [("tests::aborts", "aborted (SIGABRT)"), ("tests::exits", "the test ended the process")] {
        let run = fixture.cargo_mc(["test", name].iter().chain(&JSON));
        let schedule = test(&run, name)["failures"][0]["schedule"].as_str().unwrap().to_owned();
        let run = fixture.cargo_mc(["replay", &schedule, name]);
        assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
        assert!(run.stdout.contains(message), "{}", run.stdout);
    }
}
