//! The executable specification in `spec/` is the one that the engine was designed from, and agrees with brute force.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use mc_tests::corpus::spec_folder;

/// Says something that is seen although the test passes: libtest captures what the print macros write, not this.
fn say(what: &str) {
    writeln!(std::io::stderr(), "{what}").expect("standard error is open");
}

/// Runs a script of the specification; `None`, and says so, where there is no Python.
fn python(arguments: &[&str]) -> Option<Output> {
    match Command::new("python3").arg("-B").args(arguments).current_dir(spec_folder()).output() {
        Ok(output) => Some(output),
        Err(error) => {
            say(&format!("SKIPPED: python3 {}: {error}", arguments.join(" ")));
            None
        }
    }
}

#[test]
fn the_copies_are_those_of_the_shared_specification() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec");
    if !shared.is_dir() {
        say("SKIPPED: there is no shared specification beside the repository to compare the copies with");
        return;
    }
    for name in ["exploration.py", "check_spec.py", "litmus.py", "litmus.json"] {
        let ours = std::fs::read(spec_folder().join(name)).expect(name);
        let theirs = std::fs::read(shared.join(name)).expect(name);
        assert!(ours == theirs, "tests/spec/{name} is not the shared specification's");
    }
}

#[test]
fn the_workloads_of_the_benchmarks_are_those_that_every_tool_is_measured_with() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(theirs) = std::fs::read(tests.join("../../shared/bench/peers/common/workloads.rs")) else {
        say("SKIPPED: there are no shared workloads beside the repository to compare the copy with");
        return;
    };
    let ours = std::fs::read(tests.join("benches/workloads.rs")).expect("the copy is in the repository");
    assert!(ours == theirs, "tests/benches/workloads.rs is not the shared text");
}

#[test]
fn the_bugs_in_published_crates_are_those_that_were_collected() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = tests.join("../../shared/cases");
    let Ok(cases) = std::fs::read_dir(&shared) else {
        say("SKIPPED: there are no shared cases beside the repository to compare the copies with");
        return;
    };
    let folders: Vec<_> = cases.map(|case| case.expect("readable").path()).filter(|path| path.is_dir()).collect();
    assert!(!folders.is_empty());
    for folder in folders {
        let name = folder.file_name().expect("it has a name").to_owned();
        for part in ["Cargo.toml".to_owned(), format!("tests/{}.rs", name.to_string_lossy())] {
            let theirs = std::fs::read(folder.join(&part)).expect("it is there");
            let ours = std::fs::read(tests.join("cases").join(&name).join(&part)).unwrap_or_default();
            assert!(ours == theirs, "tests/cases/{}/{part} is not the shared one", name.display());
        }
    }
}

/// The check ends with that, if it can be made.
#[track_caller]
fn nothing_is_wrong(check: &[&str]) {
    let Some(output) = python(check) else { return };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.ends_with("\n0 wrong\n"), "{stdout}");
}

#[test]
fn the_specification_agrees_with_brute_force_for_two_seconds_per_check() {
    nothing_is_wrong(&["check_spec.py", "2"]);
}

#[test]
fn awaits_lose_nothing_and_repeat_nothing() {
    nothing_is_wrong(&["check_awaits.py", "1"]);
}

#[test]
fn of_symmetric_executions_one_of_each_is_explored() {
    nothing_is_wrong(&["symmetry.py", "check", "4"]);
}

#[test]
fn the_order_of_readers_is_left_out_and_nothing_else() {
    nothing_is_wrong(&["readers.py", "check", "4"]);
}

#[test]
fn the_axioms_of_tso_agree_with_a_machine_of_store_buffers_and_with_what_is_kept() {
    nothing_is_wrong(&["tso.py", "check", "4"]);
}

#[test]
fn the_executions_of_shims_that_are_kept_are_those_of_the_specification() {
    let Some(output) = python(&["shims.py", "check"]) else { return };
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout.ends_with(" cases\n"), "{stdout}\n{stderr}");
}

#[test]
fn the_random_programs_that_are_kept_are_what_the_generator_writes() {
    let Some(output) = python(&["generate.py", "--seed", "1", "--count", "1500", "--largest", "400"]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let kept = std::fs::read(spec_folder().join("random.jsonl")).expect("the corpus is in the repository");
    assert!(output.stdout == kept, "write tests/spec/random.jsonl anew, as tests/README.md says");
}
