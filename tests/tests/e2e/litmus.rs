//! The programs of the specification, written with std's types: through `--std` they have the same numbers of executions.

use std::collections::BTreeMap;

use mc_tests::corpus::{self, Entry, Expected};
use mc_tests::standard::{self, HEAD};

use crate::fixture;

/// How many of the random programs are taken.
const RANDOM: usize = 60;

#[test]
fn programs_with_std_types_have_the_counts_of_the_specification() {
    let entries: Vec<Entry> = corpus::litmus().into_iter().chain(corpus::random().into_iter().take(RANDOM)).collect();
    let mut text = HEAD.to_owned();
    let mut tests = BTreeMap::new();
    for (number, entry) in entries.iter().enumerate() {
        let name = format!("program_{number:03}");
        let program = entry.program.resolve(&entry.columns).expect("the programs of the repository can be run");
        if let Some(test) = standard::test(&name, &program) {
            text.push_str(&test);
            tests.insert(name, entry);
        }
    }
    assert!(tests.len() > 200, "{} of {}", tests.len(), entries.len());
    let fixture = fixture("litmus").with_env("CARGO_NET_OFFLINE", "false");
    fixture.write("tests/all.rs", &text);
    let mut wrong = Vec::new();
    for (model, expected) in
        [("rc20", (|e| &e.expect.rc20) as fn(&Entry) -> &Expected), ("sc", |entry: &Entry| &entry.expect.sc)]
    {
        let flags = ["--max-failures", "1000000", "--no-reduction", "symmetry,value", "--memory-model", model];
        let run =
            fixture.cargo_mc(["test", "--std", "--test", "all", "--message-format", "json"].into_iter().chain(flags));
        let lines = run.lines_of("test");
        assert_eq!(lines.len(), tests.len(), "{}", run.stderr);
        for line in lines {
            let entry = tests[line["name"].as_str().unwrap()];
            let expected = expected(entry);
            let (complete, blocked) = (line["executions"].as_u64().unwrap(), line["blocked"].as_u64().unwrap());
            let fewer = entry.program.awaits() && blocked < expected.blocked;
            let waits =
                |kind: &serde_json::Value| ["deadlock", "livelock", "lost_wakeup"].iter().any(|known| kind == known);
            let failures = line["failures"].as_array().unwrap();
            if complete != expected.complete
                || blocked != expected.blocked && !fewer
                || !failures.iter().all(|failure| waits(&failure["kind"]))
                || !line["bounds"].as_array().unwrap().is_empty()
            {
                wrong.push(format!(
                    "{} under {model}: {complete} + {blocked}, not {} + {}: {line}",
                    entry.title(),
                    expected.complete,
                    expected.blocked
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
