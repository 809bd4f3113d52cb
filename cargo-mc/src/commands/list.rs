//! `cargo mc list`

use crate::args::ListArgs;
use crate::error::Error;
use crate::exit::ExitCode;
use crate::store::Store;
use crate::{build, discover, report};

/// Builds and lists the tests that match, ignored ones too unless only those are asked for.
pub(crate) fn list(args: &ListArgs) -> Result<ExitCode, Error> {
    let built = build::build(&args.build)?;
    let mut filter = args.filter.clone();
    filter.include_ignored = !filter.ignored;
    let cases = discover::select(discover::discover(&built)?.cases, &filter)?;
    let mut known = Store::new(&built.directory).last();
    let cases: Vec<_> = cases
        .into_iter()
        .map(|case| {
            let last = known.remove(&Store::key(&case));
            (case, last)
        })
        .collect();
    report::list(&cases, args.message_format)?;
    Ok(ExitCode::Ok)
}
