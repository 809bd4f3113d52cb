//! What is proved, refuted, cut or missing, and what people read of it.

use crate::{fixture, names, snapshot, test};

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn right_tests_are_proved_with_the_number_of_their_executions() {
    let fixture = fixture("passing");
    let run = fixture.cargo_mc(["test"].iter().chain(&JSON));
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    // Two orders of two increments; the flag is seen or not.
    for (name, executions) in [("tests::counter_of_two_threads", 2), ("tests::publish_with_release", 2)] {
        let test = test(&run, name);
        assert_eq!((&test["verdict"], &test["executions"]), (&"proved".into(), &executions.into()), "{test}");
    }
    assert_eq!(names(&run).len(), 3, "the ignored test is not run");
    let run = fixture.cargo_mc(["test", "--include-ignored"].iter().chain(&JSON));
    assert_eq!(names(&run).len(), 4);
    let run = fixture.cargo_mc(["test", "-j1"]);
    snapshot("passing", &fixture, &run.stdout);
}

#[test]
fn a_wrong_test_is_refuted_and_shown_with_its_threads() {
    let fixture = fixture("failing");
    let run = fixture.cargo_mc(["test", "--jobs", "1"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert!(!run.stdout.contains("printed by the body") && !run.stderr.contains("printed by the body"));
    snapshot("failing", &fixture, &run.stdout);
}

#[test]
fn an_expected_failure_passes_and_a_missing_or_another_one_does_not() {
    let fixture = fixture("expect");
    let run = fixture.cargo_mc(["test", "--exact", "tests::wrong_order_of_locks", "tests::panics"]);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("FAILED as expected  tests::panics"), "{}", run.stdout);
    for (name, told) in [
        ("missing_right_order_of_locks", "no execution shows a deadlock, which was expected"),
        ("other_failure_than_expected", "; a deadlock was expected"),
    ] {
        let run = fixture.cargo_mc(["test", name]);
        assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
        assert!(run.stdout.contains(told), "{}", run.stdout);
    }
}

#[test]
fn a_limit_that_cuts_is_never_a_proof() {
    let fixture = fixture("limits");
    let cut = |flags: &[&str], limit: &str| {
        let run = fixture.cargo_mc(["test", "many_executions"].iter().chain(&JSON).chain(flags));
        let test = test(&run, "tests::many_executions");
        assert_eq!(run.code, 120, "{limit}: {test}");
        assert_eq!(test["verdict"], "bounded", "{limit}: {test}");
        assert_eq!(test["bounds"][0]["limit"], limit, "{test}");
        test
    };
    let test = cut(&["--max-executions", "10"], "max_executions");
    assert_eq!(test["executions"].as_u64().unwrap() + test["blocked"].as_u64().unwrap(), 10);
    cut(&["--max-events", "5"], "max_events");
    cut(&["--time-limit", "1ms"], "time_limit");
    cut(&["--strategy", "bfs", "--queue-limit", "2"], "queue_limit");
    let run = fixture.cargo_mc(["test", "many_executions", "--time-limit", "1ms"]);
    assert!(run.stdout.contains("stopped after 1ms"), "{}", run.stdout);
    let run = fixture.cargo_mc(["test", "many_executions"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(run.stdout.contains("2,520 executions"), "{}", run.stdout);
}

#[test]
fn a_required_verdict_is_lowered_only_when_that_is_allowed() {
    let fixture = fixture("limits");
    let code = |arguments: &[&str]| fixture.cargo_mc(["test"].iter().chain(arguments)).code;
    let cut = ["--max-executions", "10"];
    assert_eq!(code(&[&cut[..], &["many_executions", "--require", "bounded"]].concat()), 0);
    assert_eq!(code(&[&cut[..], &["must_be_proved", "--require", "bounded"]].concat()), 120);
    assert_eq!(code(&[&cut[..], &["must_be_proved", "--require", "bounded", "--allow-weaker"]].concat()), 0);
    assert_eq!(code(&["bounded_by_its_attribute"]), 0);
    assert_eq!(code(&["bounded_by_its_attribute", "--require", "proved"]), 120);
    assert_eq!(code(&["many_executions", "--strategy", "walk", "--max-executions", "20"]), 0);
    assert_eq!(code(&["must_be_proved", "--strategy", "walk", "--max-executions", "20"]), 120);
    // A sampler proves nothing, not even where it makes more executions than there are.
    assert_eq!(code(&["many_executions", "--strategy", "pos", "--max-executions", "6000"]), 0);
    assert_eq!(code(&["must_be_proved", "--strategy", "pos", "--max-executions", "6000"]), 120);
}

#[test]
fn what_a_processor_does_not_show_is_proved_for_it_and_is_still_a_failure() {
    let fixture = fixture("failing");
    let publish = |model: &str| fixture.cargo_mc(["test", "publish", "--memory-model", model].iter().chain(&JSON));
    for (model, code, verdict) in [("tso", 0, "proved"), ("sc", 0, "proved"), ("rc20", 100, "failed")] {
        let run = publish(model);
        assert_eq!(
            (run.code, test(&run, "cell::publish")["verdict"].as_str()),
            (code, Some(verdict)),
            "{}",
            run.stderr
        );
        assert!(run.stdout.contains(&format!(r#""memory_model":"{model}""#)), "{}", run.stdout);
    }
}

#[test]
fn variables_set_options_and_flags_come_before_them() {
    let fixture = fixture("limits").with_env("MC_MAX_EXECUTIONS", "10").with_env("MC_REQUIRE", "bounded");
    let run = fixture.cargo_mc(["test", "many_executions"].iter().chain(&JSON));
    assert_eq!(test(&run, "tests::many_executions")["bounds"][0]["value"], 10, "{}", run.stderr);
    let run = fixture.cargo_mc(["test", "many_executions", "--max-executions", "20"].iter().chain(&JSON));
    assert_eq!(test(&run, "tests::many_executions")["bounds"][0]["value"], 20, "{}", run.stderr);
}

#[test]
fn uncontrolled_tests_are_not_called_wrong() {
    let nondeterminism = fixture("nondeterminism");
    for name in ["tests::reads_a_clock", "tests::draws_random_numbers"] {
        let run = nondeterminism.cargo_mc(["test", "--exact", name].iter().chain(&JSON));
        assert_eq!(run.code, 121, "{name}: {}\n{}", run.stdout, run.stderr);
        assert_eq!(test(&run, name)["failures"][0]["kind"], "nondeterminism");
    }
    let run = nondeterminism.cargo_mc(["test", "reads_a_clock_as_expected"]);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    drop(nondeterminism);
    let uncontrolled = fixture("uncontrolled");
    let run = uncontrolled.cargo_mc(["test"].iter().chain(&JSON));
    assert_eq!(run.code, 121, "{}\n{}", run.stdout, run.stderr);
    let replay = uncontrolled.cargo_mc(["replay", "tests::touches_checked_state_from_outside"]);
    assert_eq!(replay.code, 121, "{}\n{}", replay.stdout, replay.stderr);
    let failure = &test(&run, "tests::touches_checked_state_from_outside")["failures"][0];
    assert_eq!(failure["kind"], "uncontrolled");
    assert_eq!(failure["file"], "src/lib.rs");
}
