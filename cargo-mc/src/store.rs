//! What stays on disk between two commands: the counterexamples, and the last verdict of each test.
//!
//! `failures/*.json` can be copied to another machine and replayed there; `last.json` is for `cargo mc list` alone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use mc_protocol::options::Options;
use mc_protocol::outcome::{Failure, Verdict};
use serde::{Deserialize, Serialize};

use crate::discover::Case;

/// The version of both files.
const FORMAT: u32 = 1;

/// A recorded counterexample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    format: u32,
    pub(crate) test: String,
    pub(crate) package: String,
    pub(crate) target: String,
    pub(crate) binary_id: String,
    pub(crate) options: Options,
    pub(crate) failure: Failure,
}

/// The last verdict of a test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Last {
    pub(crate) verdict: Verdict,
    pub(crate) passed: bool,
    pub(crate) executions: u64,
    pub(crate) seconds: f64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct LastFile {
    format: u32,
    tests: BTreeMap<String, Last>,
}

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("cannot write `{}`: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` is not a recorded failure: {source}", .path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("`{}` has format {format}, this version reads format {FORMAT}", .path.display())]
    Format { path: PathBuf, format: u32 },
    #[error(
        "no failure of `{test}` is recorded in `{}`\n  = help: `cargo mc test {test}` finds one if there is one", .directory.display()
    )]
    NoRecord { test: String, directory: PathBuf },
    #[error("the schedule of `{test}` was lost with its process, so that it cannot be replayed")]
    NoSchedule { test: String },
}

/// The files below one target directory.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    directory: PathBuf,
}

impl Store {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Records the counterexamples of a test in place of those of an earlier run; gives the files in their order.
    pub(crate) fn record(
        &self,
        case: &Case,
        options: &Options,
        failures: &[Failure],
    ) -> Result<Vec<PathBuf>, StoreError> {
        for number in 1.. {
            let stale = self.file(case, number);
            if number > failures.len() && !stale.exists() {
                break;
            }
            if number > failures.len() {
                // Left over, it would only be replayed by its name.
                let _ = fs::remove_file(stale);
            }
        }
        let files = failures.iter().enumerate().map(|(index, failure)| {
            let record = Record {
                format: FORMAT,
                test: case.name.clone(),
                package: case.package.clone(),
                target: case.target.clone(),
                binary_id: case.binary_id.clone(),
                options: options.clone(),
                failure: failure.clone(),
            };
            let path = self.file(case, index + 1);
            write(&path, &record)?;
            Ok(path)
        });
        files.collect()
    }

    /// The last failure of a test. A run of fewer targets may have called it by a shorter name.
    pub(crate) fn last_failure(&self, case: &Case) -> Result<Record, StoreError> {
        let here = self.file(case, 1);
        if here.exists() {
            return read_record(&here);
        }
        let is_of_case = |record: &Record| (&record.test, &record.binary_id) == (&case.name, &case.binary_id);
        let records = self.records().filter(|(_, record)| is_of_case(record));
        let written = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
        let last = records.max_by_key(|(path, _)| written(path)).map(|(_, record)| record);
        last.ok_or_else(|| StoreError::NoRecord { test: case.name.clone(), directory: self.failures() })
    }

    /// Those that can be read, with their files, by name.
    fn records(&self) -> impl Iterator<Item = (PathBuf, Record)> + use<> {
        let files = fs::read_dir(self.failures()).into_iter().flatten().flatten();
        let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
        files.sort();
        files.into_iter().filter_map(|path| read_record(&path).ok().map(|record| (path, record)))
    }

    /// The failure with this schedule, if it is recorded here.
    pub(crate) fn find(&self, schedule: &str) -> Option<Record> {
        self.records().map(|(_, record)| record).find(|record| record.failure.schedule == schedule)
    }

    /// The last verdict of each test, by [`Store::key`].
    pub(crate) fn last(&self) -> BTreeMap<String, Last> {
        let file = fs::read_to_string(self.directory.join("last.json")).ok();
        let file = file.and_then(|text| serde_json::from_str::<LastFile>(&text).ok());
        file.filter(|file| file.format == FORMAT).map(|file| file.tests).unwrap_or_default()
    }

    /// Adds the verdicts of a run.
    pub(crate) fn remember(&self, verdicts: impl Iterator<Item = (String, Last)>) -> Result<(), StoreError> {
        let path = self.directory.join("last.json");
        let at = |source| StoreError::Write { path: path.clone(), source };
        fs::create_dir_all(&self.directory).map_err(at)?;
        // Two runs at once must not lose each other's verdicts.
        let lock = File::create(self.directory.join("last.lock")).map_err(at)?;
        lock.lock().map_err(at)?;
        let mut tests = self.last();
        tests.extend(verdicts);
        write(&path, &LastFile { format: FORMAT, tests })
    }

    /// A test's name in `last.json`.
    pub(crate) fn key(case: &Case) -> String {
        format!("{} {}", case.binary_id, case.name)
    }

    fn failures(&self) -> PathBuf {
        self.directory.join("failures")
    }

    fn file(&self, case: &Case, number: usize) -> PathBuf {
        let name: String = case.label.replace("::", "__").replace([' ', '/'], "__");
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        self.failures().join(format!("{name}{suffix}.json"))
    }
}

/// Reads a recorded failure.
pub(crate) fn read_record(path: &Path) -> Result<Record, StoreError> {
    let text = fs::read_to_string(path).map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    let record: Record =
        serde_json::from_str(&text).map_err(|source| StoreError::Json { path: path.to_owned(), source })?;
    if record.format != FORMAT {
        return Err(StoreError::Format { path: path.to_owned(), format: record.format });
    }
    Ok(record)
}

/// Never leaves half a file.
fn write(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let at = |source| StoreError::Write { path: path.to_owned(), source };
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(at)?;
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(at)?;
    serde_json::to_writer_pretty(&mut file, value).map_err(|error| at(error.into()))?;
    file.persist(path).map_err(|error| at(error.error))?;
    Ok(())
}
