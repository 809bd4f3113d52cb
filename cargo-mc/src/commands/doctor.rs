//! `cargo mc doctor`

use crate::args::DoctorArgs;
use crate::error::Error;
use crate::exit::ExitCode;
use crate::{doctor, report};

/// Reads the sources and says what is found. It is advice: findings are no failure.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode, Error> {
    let diagnosis = doctor::diagnose(args)?;
    report::diagnosis(&diagnosis, args.message_format)?;
    Ok(ExitCode::Ok)
}
