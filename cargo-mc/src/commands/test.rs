//! `cargo mc test`

use std::num::NonZero;

use crate::args::{Instrument, MessageFormat, TestArgs};
use crate::error::Error;
use crate::exit::ExitCode;
use crate::report::{self, JUnitFile};
use crate::run::{self, Interrupt, Plan};
use crate::store::Store;
use crate::{build, discover};

/// Builds, selects, checks, reports.
pub(crate) fn test(args: &TestArgs) -> Result<ExitCode, Error> {
    // Before anything that takes long: a report that cannot be written is found out now.
    let junit = args.junit.as_deref().map(JUnitFile::create).transpose()?;
    let interrupt = Interrupt::listen().map_err(Error::Signals)?;
    let built = build::build(&args.build).map_err(|error| unless_interrupted(&interrupt, error.into()))?;
    let found = discover::discover(&built)?;
    let cases = discover::select(found.cases, &args.filter)?;
    let store = Store::new(&built.directory);
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let plan = Plan {
        check: &args.check,
        jobs: args.jobs.map_or_else(cores, |jobs| usize::try_from(jobs).unwrap_or(usize::MAX)),
        fail_fast: args.fail_fast,
        explain: args.message_format == MessageFormat::Human || junit.is_some(),
        uninit: args.build.instrument == Instrument::Uninit,
        layers: built.layers,
        left_out: found.left_out,
    };
    report::coverage(&plan, args.message_format);
    let mut reporter = report::reporter(args.message_format);
    let summary = run::run(cases, &plan, &store, &interrupt, reporter.as_mut())?;
    reporter.end(&summary)?;
    if let Some(junit) = junit {
        junit.write(&summary)?;
    }
    Ok(summary.exit_code())
}

/// Ctrl-C reaches cargo too: that the build failed is then not the news.
pub(super) fn unless_interrupted(interrupt: &Interrupt, error: Error) -> Error {
    if interrupt.requested() { Error::Interrupted } else { error }
}
