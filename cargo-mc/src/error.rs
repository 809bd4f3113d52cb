//! What ends a command before it has a result, and with which exit code.

use mc_protocol::client::ClientError;
use mc_protocol::settings::SettingError;

use crate::build::BuildError;
use crate::discover::SelectError;
use crate::doctor::DoctorError;
use crate::exit::ExitCode;
use crate::report::ReportError;
use crate::store::StoreError;

/// Anything that ends a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Doctor(#[from] DoctorError),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error("{source}, in the attribute of `{test}`\n --> {file}:{line}")]
    Attribute { test: String, file: String, line: u32, source: SettingError },
    #[error("cannot listen for signals: {0}")]
    Signals(std::io::Error),
    #[error(
        "cannot start `gdb`: {0}\n\
         `--gdb` needs the GNU debugger (package `gdb` of most systems) in the `PATH`; without `--gdb` the execution is replayed event by event"
    )]
    Debugger(std::io::Error),
    #[error("stopped")]
    Interrupted,
}

impl Error {
    /// The exit code that fits.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Build(error) => error.exit_code(),
            Self::Doctor(error) => error.exit_code(),
            Self::Select(error) => error.exit_code(),
            Self::Client(error) => ExitCode::asked(error.exit_code()),
            Self::Store(_) | Self::Attribute { .. } | Self::Signals(_) | Self::Debugger(_) => ExitCode::Setup,
            Self::Report(_) => ExitCode::Report,
            Self::Interrupted => ExitCode::Interrupted,
        }
    }

    /// Somebody else has told the user already.
    pub(crate) fn was_told(&self) -> bool {
        matches!(self, Self::Build(BuildError::Failed))
    }
}
