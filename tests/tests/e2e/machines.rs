//! What programs read: JSON lines against their schema, JUnit, and the agreement of all with each other.

use crate::unmodified::unmodified;
use crate::{fixture, test};

#[test]
fn every_json_line_fits_the_schema_of_the_repository() {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../cargo-mc/schema/messages.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let json = ["test", "--message-format", "json"];
    let plain = ["passing", "failing", "expect"].map(|name| fixture(name).cargo_mc(json));
    let as_they_are = unmodified().cargo_mc(json.iter().chain(&["--std", "-p", "old", "-p", "shout"]));
    for run in plain.into_iter().chain([as_they_are]) {
        let lines = run.lines();
        assert_eq!((&lines[0]["type"], &lines[0]["format"]), (&"run".into(), &1.into()), "{}", run.stderr);
        assert_eq!(lines.last().unwrap()["exit_code"], run.code);
        for line in lines {
            let errors: Vec<_> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}: {line}");
        }
    }
}

#[test]
fn junit_agrees_with_the_json_lines() {
    let fixture = fixture("failing");
    let run = fixture.cargo_mc(["test", "--message-format", "json", "--junit", "junit.xml"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let xml = std::fs::read_to_string(fixture.root.join("junit.xml")).unwrap();
    assert!(xml.contains("tests=\"3\"") && xml.contains("failures=\"2\"") && xml.contains("errors=\"0\""), "{xml}");
    let publish = test(&run, "cell::publish");
    let schedule = publish["failures"][0]["schedule"].as_str().unwrap();
    assert!(xml.contains(&format!("replay: cargo mc replay {schedule} cell::publish")), "{xml}");
    assert!(xml.contains("<failure type=\"deadlock\""), "{xml}");
}
