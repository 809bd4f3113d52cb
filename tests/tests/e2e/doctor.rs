//! `cargo mc doctor`: what it says of a workspace, and that it builds nothing.

use crate::{fixture, snapshot};

#[test]
fn people_read_a_table_the_findings_and_what_they_mean() {
    let fixture = fixture("doctor");
    let run = fixture.cargo_mc(["doctor"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    snapshot("doctor", &fixture, &run.stdout);
    assert!(!fixture.root.join("target").exists() && !run.stderr.contains("Compiling"), "{}", run.stderr);
}

#[test]
fn programs_read_a_line_for_each_crate() {
    let fixture = fixture("doctor");
    let run = fixture.cargo_mc(["doctor", "--message-format", "json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let repository = std::path::Path::new(repository).canonicalize().unwrap();
    // The fixture names the packages of this repository by their path.
    let text = fixture.normalised(&run.stdout).replace(&*repository.to_string_lossy(), "[REPOSITORY]");
    snapshot("doctor_json", &fixture, &text);
    assert_eq!(run.lines_of("doctor")[0]["crates"], run.lines_of("crate").len());
    let schema = repository.join("cargo-mc/schema/messages.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for line in run.lines() {
        let errors: Vec<_> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {line}");
    }
    let again = fixture.cargo_mc(["doctor", "--message-format", "json"]);
    assert_eq!(again.stdout, run.stdout);
}

#[test]
fn flags_select_packages_and_features() {
    let fixture = fixture("doctor");
    let names = |arguments: &[&str]| {
        let run = fixture.cargo_mc(["doctor", "--message-format", "json"].iter().chain(arguments));
        assert_eq!(run.code, 0, "{}", run.stderr);
        let crates = run.lines_of("crate");
        crates.iter().map(|line| line["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&["-p", "shimmed"]), ["shimmed", "mc-shims"]);
    assert_eq!(names(&["-p", "a*"])[0], "app");
    assert_eq!(names(&["--workspace", "--exclude", "app"]), ["shimmed", "mc-shims"]);
    let clocks = |arguments: &[&str]| {
        let run = fixture.cargo_mc(["doctor", "--message-format", "json", "-p", "app"].iter().chain(arguments));
        let app = &run.lines_of("crate")[0];
        app["findings"].as_array().unwrap().iter().filter(|finding| finding["kind"] == "clock").count()
    };
    assert_eq!([clocks(&[]), clocks(&["--features", "time"]), clocks(&["--all-features"])], [0, 1, 1]);
}

#[test]
fn what_cannot_be_asked_is_an_error() {
    let fixture = fixture("doctor");
    for (arguments, code, expected) in [
        (["--manifest-path", "elsewhere/Cargo.toml"], 102, "elsewhere/Cargo.toml"),
        (["-p", "nobody"], 102, "nobody"),
        (["--features", "no_such_feature"], 102, "no_such_feature"),
        (["--message-format", "yaml"], 2, "yaml"),
        (["--std", "-v"], 2, "--std"),
    ] {
        let run = fixture.cargo_mc(["doctor"].iter().chain(&arguments));
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected) && run.stdout.is_empty(), "{}", run.stderr);
    }
    fixture.write("Cargo.toml", "[workspace");
    let run = fixture.cargo_mc(["doctor"]);
    assert!(run.code == 102 && run.stderr.contains("Cargo.toml"), "{}", run.stderr);
}

#[test]
fn flags_for_rustc_count_as_in_a_build() {
    let fixture = fixture("doctor").with_env("RUSTFLAGS", "-C panic=abort --cfg windows");
    let run = fixture.cargo_mc(["doctor", "--message-format", "json", "-p", "app"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.lines_of("doctor")[0]["findings"][0]["kind"], "rustflags");
    let app = &run.lines_of("crate")[0];
    let files = app["findings"].as_array().unwrap().iter().find(|finding| finding["kind"] == "io").unwrap();
    assert_eq!(files["count"], 2, "{files}");
}
