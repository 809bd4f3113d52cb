//! Programs and what the specification says of them: `litmus.json` and the JSON lines that `generate.py` writes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::program::Program;

/// A program and what is expected of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name of a litmus program.
    #[serde(default)]
    pub name: String,
    /// What a litmus program shows.
    #[serde(default)]
    pub about: String,
    /// The seed of a random program.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The generator of a random program.
    #[serde(default)]
    pub family: String,
    /// What runs.
    pub program: Program,
    /// What the numbers of an outcome are: registers, then locations. Empty if outcomes are not compared.
    #[serde(default)]
    pub columns: Vec<String>,
    /// What must come out under each memory model.
    pub expect: Expectations,
    /// Of a program of symmetric threads, whose expectations are those for symmetric executions taken as one: how many complete executions there are in all.
    #[serde(default)]
    pub whole: Option<Whole>,
}

/// By memory model.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whole {
    /// Under sequential consistency.
    pub sc: u64,
    /// Under RC20.
    pub rc20: u64,
}

/// What must come out, by memory model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// Under sequential consistency.
    pub sc: Expected,
    /// Under RC20.
    pub rc20: Expected,
    /// Under x86-TSO: only what comes from the repository has it, out of a file of its own.
    #[serde(skip)]
    pub tso: Option<Expected>,
}

/// What must come out under one memory model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Executions in which every thread ended.
    pub complete: u64,
    /// Executions that end with a thread that waits.
    pub blocked: u64,
    /// The distinct outcomes of complete executions, sorted.
    #[serde(default)]
    pub finals: Option<Vec<Vec<i64>>>,
}

impl Entry {
    /// What to call it in a report.
    pub fn title(&self) -> String {
        match self.seed {
            Some(seed) => format!("seed {seed} ({})", self.family),
            None => self.name.clone(),
        }
    }

    /// One line of `generate.py`.
    pub fn from_line(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line)
    }
}

/// What `tso.py` writes, by name or seed: complete, blocked, and the outcomes where they are not those of RC20.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tso {
    litmus: BTreeMap<String, TsoExpected>,
    random: BTreeMap<u64, TsoExpected>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum TsoExpected {
    AsRc20(u64, u64),
    Others(u64, u64, Vec<Vec<i64>>),
}

fn tso() -> Tso {
    let text =
        std::fs::read_to_string(spec_folder().join("tso.json")).expect("tests/spec/tso.json is in the repository");
    serde_json::from_str(&text).expect("tests/spec/tso.json is in the format of tso.py")
}

impl Expectations {
    fn with_tso(&mut self, expected: Option<TsoExpected>) {
        let (complete, blocked, finals) = match expected.expect("tests/spec/tso.json has every program") {
            TsoExpected::AsRc20(complete, blocked) => (complete, blocked, self.rc20.finals.clone()),
            TsoExpected::Others(complete, blocked, finals) => (complete, blocked, Some(finals)),
        };
        self.tso = Some(Expected { complete, blocked, finals });
    }
}

/// The folder of the executable specification and its corpora.
pub fn spec_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spec")
}

/// The litmus programs.
///
/// # Panics
/// If the file is not there or not in the format.
pub fn litmus() -> Vec<Entry> {
    let text = std::fs::read_to_string(spec_folder().join("litmus.json"))
        .expect("tests/spec/litmus.json is in the repository");
    let mut entries: Vec<Entry> = serde_json::from_str(&text).expect("tests/spec/litmus.json is a list of entries");
    let mut tso = tso().litmus;
    entries.iter_mut().for_each(|entry| entry.expect.with_tso(tso.remove(&entry.name)));
    entries
}

/// The random programs that the repository keeps.
///
/// # Panics
/// If the file is not there or not in the format.
pub fn random() -> Vec<Entry> {
    let text = std::fs::read_to_string(spec_folder().join("random.jsonl"))
        .expect("tests/spec/random.jsonl is in the repository");
    let entries =
        text.lines().map(|line| Entry::from_line(line).expect("each line of tests/spec/random.jsonl is an entry"));
    let mut entries: Vec<Entry> = entries.collect();
    let mut tso = tso().random;
    entries.iter_mut().for_each(|entry| entry.expect.with_tso(entry.seed.and_then(|seed| tso.remove(&seed))));
    entries
}

/// The programs of symmetric threads that the repository keeps.
///
/// # Panics
/// If the file is not there or not in the format.
pub fn symmetric() -> Vec<Entry> {
    lines("symmetric.jsonl")
}

/// The programs of readers and writers that the repository keeps. Executions that differ in the order of readers only are counted as one.
///
/// # Panics
/// If the file is not there or not in the format.
pub fn readers() -> Vec<Entry> {
    lines("readers.jsonl")
}

fn lines(file: &str) -> Vec<Entry> {
    let text = std::fs::read_to_string(spec_folder().join(file)).expect("its programs are in tests/spec");
    text.lines().map(|line| Entry::from_line(line).unwrap_or_else(|error| panic!("{file}: {error}: {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Kind, Op, Order, ProgramError, Value};

    #[test]
    fn every_entry_decodes_resolves_and_has_outcomes_as_wide_as_its_columns() {
        let entries: Vec<Entry> = litmus().into_iter().chain(random()).collect();
        assert_eq!(entries.len(), 201 + 1500); // tests/spec
        for entry in entries {
            let resolved = entry.program.resolve(&entry.columns).unwrap_or_else(|e| panic!("{}: {e}", entry.title()));
            assert_eq!(resolved.columns.len(), entry.columns.len());
            for expected in [Some(&entry.expect.sc), Some(&entry.expect.rc20), entry.expect.tso.as_ref()] {
                let expected = expected.expect("the repository has it for every model");
                let rows = expected.finals.iter().flatten();
                assert!(rows.clone().all(|row| row.len() == entry.columns.len()), "{}", entry.title());
                assert!(entry.columns.is_empty() || rows.is_sorted(), "{}", entry.title());
            }
        }
    }

    #[test]
    fn a_line_decodes_to_what_it_says() {
        let line = r#"{"seed":1,"family":"f","program":[[{"op":"cas","loc":"s","expected":"r","val":-2,"reg":"r"},
            {"op":"wait_add","loc":"s","lo":-9,"hi":9,"val":1,"ord":"acqrel"}]],"columns":["0:r","s"],
            "expect":{"sc":{"complete":1,"blocked":0},"rc20":{"complete":1,"blocked":0}}}"#;
        let entry = Entry::from_line(line).expect("it is an entry");
        let r = "r".to_owned();
        assert_eq!(
            entry.program.threads[0][0],
            Op::Cas {
                loc: "s".to_owned(),
                expected: Value::Register(r.clone()),
                val: Value::Given(-2),
                reg: Some(r),
                ord: Order::Rlx,
                fail_ord: None
            }
        );
        assert_eq!(entry.program.resolve(&entry.columns).expect("it resolves").locations, [Kind::Guarded]);
        assert_eq!(
            entry.program.resolve(&["1:r".to_owned()]).expect_err("there is no thread 1"),
            ProgramError::UnknownColumn("1:r".to_owned())
        );
    }

    #[test]
    fn a_store_to_a_location_that_somebody_waits_for_is_refused() {
        let text = r#"[[{"op":"store","loc":"s","val":1}],[{"op":"wait_add","loc":"s","lo":1,"hi":1,"val":0}]]"#;
        let program: Program = serde_json::from_str(text).expect("it is a program");
        assert_eq!(program.resolve(&[]).expect_err("the guard"), ProgramError::MixedLocation("s".to_owned()));
    }
}
