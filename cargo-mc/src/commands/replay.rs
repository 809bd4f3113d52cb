//! `cargo mc replay`: which execution of which test is meant, and what comes of it.

use std::path::Path;

use mc_protocol::client::Print;
use mc_protocol::message::{Message, Replayed};
use mc_protocol::options::Options;
use mc_protocol::outcome::Failure;
use mc_protocol::settings::Layer;

use super::debug;
use super::test::unless_interrupted;
use crate::args::{FilterArgs, ReplayArgs};
use crate::discover::{self, Case, SelectError};
use crate::error::Error;
use crate::exit::ExitCode;
use crate::run::Interrupt;
use crate::store::{self, Record, Store, StoreError};
use crate::{build, report};

/// What was typed, by its form.
#[derive(Debug)]
enum Wanted<'a> {
    Schedule(&'a str),
    File(Box<Record>),
    Test(&'a str),
}

/// An execution to replay.
struct Target {
    case: Case,
    schedule: String,
    options: Options,
    recorded: Option<Failure>,
}

/// Builds and replays once, with what the body prints.
pub(crate) fn replay(args: &ReplayArgs) -> Result<ExitCode, Error> {
    let interrupt = Interrupt::listen().map_err(Error::Signals)?;
    let wanted = wanted(&args.what)?;
    let built = build::build(&args.build).map_err(|error| unless_interrupted(&interrupt, error.into()))?;
    let cases = discover::discover(&built)?.cases;
    let Target { case, schedule, options, recorded } = target(args, wanted, cases, &Store::new(&built.directory))?;
    if schedule.is_empty() {
        return Err(StoreError::NoSchedule { test: case.name }.into());
    }
    if args.gdb {
        return debug::gdb(&case, options, &schedule, &args.gdb_arguments);
    }
    let control = &mut |_: Option<&Message>| interrupt.control();
    let (trace, end) = case.binary.replay(&case.name, &options, &schedule, Print::Shown, control)?;
    report::replayed(&case, &trace, &end, recorded.as_ref())?;
    Ok(match end {
        Replayed::Failed(failure) if failure.kind.is_uncheckable() => ExitCode::Uncheckable,
        Replayed::Failed(_) => ExitCode::Counterexample,
        Replayed::Passed => ExitCode::Ok,
        Replayed::Diverged { .. } => ExitCode::Diverged,
    })
}

/// A file is read here, so that one that cannot be read is found out before the build.
fn wanted(what: &str) -> Result<Wanted<'_>, StoreError> {
    let version = what.strip_prefix("mc").and_then(|rest| rest.split_once('.')).map(|(version, _)| version);
    if version.is_some_and(|version| !version.is_empty() && version.chars().all(|digit| digit.is_ascii_digit())) {
        return Ok(Wanted::Schedule(what));
    }
    if what.ends_with(".json") || what.contains('/') {
        return Ok(Wanted::File(Box::new(store::read_record(Path::new(what))?)));
    }
    Ok(Wanted::Test(what))
}

fn target(args: &ReplayArgs, wanted: Wanted<'_>, cases: Vec<Case>, store: &Store) -> Result<Target, Error> {
    let flags = args.check.layer();
    match wanted {
        Wanted::File(record) => Ok(recorded(cases, *record, &flags)?),
        Wanted::Schedule(schedule) => {
            let record = if args.filter.filters.is_empty() { store.find(schedule) } else { None };
            match record {
                Some(record) => Ok(recorded(cases, record, &flags)?),
                None => {
                    let filter = FilterArgs { include_ignored: !args.filter.ignored, ..args.filter.clone() };
                    let case = discover::only(discover::select_named(&cases, &filter)?, "this")?;
                    let options = flags.or(case.attribute.clone()).options();
                    Ok(Target { case, schedule: schedule.to_owned(), options, recorded: None })
                }
            }
        }
        Wanted::Test(name) => {
            let filter =
                FilterArgs { filters: vec![name.to_owned()], exact: false, ignored: false, include_ignored: true };
            let case = discover::only(discover::select_named(&cases, &filter)?, &format!("`{name}`"))?;
            let record = store.last_failure(&case)?;
            Ok(recorded(cases, record, &flags)?)
        }
    }
}

/// The test of a recorded failure, with the options that it was found with, flags over them.
fn recorded(cases: Vec<Case>, record: Record, flags: &Layer) -> Result<Target, SelectError> {
    let named: Vec<_> = cases.into_iter().filter(|case| case.name == record.test).collect();
    let (same_binary, others): (Vec<_>, Vec<_>) =
        named.into_iter().partition(|case| case.binary_id == record.binary_id);
    let candidates = if same_binary.is_empty() { others } else { same_binary };
    if candidates.is_empty() {
        return Err(SelectError::Gone { test: record.test, binary_id: record.binary_id });
    }
    let case = discover::only(candidates, &format!("`{}`", record.test))?;
    let options = flags.over(record.options);
    Ok(Target { case, schedule: record.failure.schedule.clone(), options, recorded: Some(record.failure) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_told_apart_by_its_form() {
        assert!(matches!(wanted("mc1.7hq2"), Ok(Wanted::Schedule("mc1.7hq2"))));
        assert!(matches!(wanted("mc12.!"), Ok(Wanted::Schedule("mc12.!"))));
        assert!(matches!(wanted("mcs.lock"), Ok(Wanted::Test("mcs.lock"))));
        assert!(matches!(wanted("queue::spsc"), Ok(Wanted::Test("queue::spsc"))));
        assert!(matches!(wanted("no/such/file.json"), Err(StoreError::Read { .. })));
    }
}
