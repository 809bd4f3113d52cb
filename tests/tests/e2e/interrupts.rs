//! Ctrl-C: what was learned is told.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;

use crate::fixture;

#[test]
fn an_interrupt_ends_the_run_with_what_was_learned() {
    let fixture = fixture("interrupt");
    let mut child = fixture.start(["test", "--message-format", "json"]);
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
    assert_eq!(test["verdict"], "interrupted");
    assert!(test["executions"].as_u64().unwrap() > 0, "{test}");
    assert_eq!(lines.last().unwrap()["interrupted"], 1);
}
