//! What is not right on the command line or in the workspace: which exit code, and whether the message helps.

use crate::fixture;

#[test]
fn unknown_flags_and_bad_values_are_usage_errors() {
    let fixture = fixture("no_tests");
    for arguments in [
        vec!["test", "--no-such-flag"],
        vec!["test", "--max-executions", "0"],
        vec!["test", "--time-limit", "ten minutes"],
        vec!["test", "--max-memory", "4 bananas"],
        vec!["test", "--strategy", "pct:0"],
        vec!["replay"],
        vec!["frobnicate"],
    ] {
        let run = fixture.cargo_mc(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: ") && run.stdout.is_empty(), "{arguments:?}: {}", run.stderr);
    }
    let run = fixture.cargo_mc(["test"; 1].iter().chain(&["--max-executions", "0"]));
    assert!(run.stderr.contains("'0'") && run.stderr.contains("a whole number above 0"), "{}", run.stderr);
}

#[test]
fn a_bad_variable_is_a_usage_error_that_names_it() {
    let fixture = fixture("no_tests").with_env("MC_MAX_EVENTS", "many");
    let run = fixture.cargo_mc(["test"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("max-events") && run.stderr.contains("many"), "{}", run.stderr);
}

#[test]
fn a_package_without_checked_tests_says_what_to_add() {
    let run = fixture("no_tests").cargo_mc(["test"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("#[mc::test]") && run.stderr.contains("mc-shims"), "{}", run.stderr);
}

#[test]
fn a_manifest_that_is_not_there_is_cargos_error() {
    let run = fixture("no_tests").cargo_mc(["test", "--manifest-path", "elsewhere/Cargo.toml"]);
    assert_eq!(run.code, 102, "{}", run.stderr);
    assert!(run.stderr.contains("elsewhere/Cargo.toml"), "{}", run.stderr);
}

#[test]
fn a_package_that_is_not_there_is_a_build_error() {
    let run = fixture("no_tests").cargo_mc(["test", "-p", "nobody"]);
    assert_eq!(run.code, 101, "{}", run.stderr);
    assert!(run.stderr.contains("nobody"), "{}", run.stderr);
}

#[test]
fn aborting_panics_are_refused_with_advice() {
    let fixture = fixture("no_tests").with_env("RUSTFLAGS", "-C panic=abort");
    let run = fixture.cargo_mc(["test"]);
    assert_eq!(run.code, 96, "{}", run.stderr);
    assert!(run.stderr.contains("panic=abort") && run.stderr.contains("help:"), "{}", run.stderr);
}

#[test]
fn a_junit_report_that_cannot_be_written_is_found_before_the_build() {
    let run = fixture("build_error").cargo_mc(["test", "--junit", "no/such/directory/junit.xml"]);
    assert_eq!(run.code, 110, "{}", run.stderr);
    assert!(run.stderr.contains("no/such/directory/junit.xml") && !run.stderr.contains("Compiling"), "{}", run.stderr);
}

#[test]
fn a_file_that_is_no_recorded_failure_is_named() {
    let fixture = fixture("no_tests");
    fixture.write("odd.json", "{\"format\": 1}");
    for (file, expected) in [("odd.json", "not a recorded failure"), ("missing.json", "cannot read")] {
        let run = fixture.cargo_mc(["replay", file]);
        assert_eq!(run.code, 96, "{}", run.stderr);
        assert!(run.stderr.contains(expected) && run.stderr.contains(file), "{}", run.stderr);
    }
}

#[test]
fn a_build_error_is_cargos_own_output() {
    let run = fixture("build_error").cargo_mc(["test"]);
    assert_eq!(run.code, 101, "{}", run.stderr);
    assert!(run.stderr.contains("error[E0308]: mismatched types"), "{}", run.stderr);
    assert!(run.stdout.is_empty(), "{}", run.stdout);
}

#[test]
fn a_filter_that_matches_nothing_is_named_with_what_there_is() {
    let fixture = fixture("passing");
    let run = fixture.cargo_mc(["test", "nothing_like_it"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("`nothing_like_it`; there are 4 checked tests"), "{}", run.stderr);
    let run = fixture.cargo_mc(["test", "ignored_unless"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("--include-ignored"), "{}", run.stderr);
}
