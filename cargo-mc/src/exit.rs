//! The exit codes, once. Those up to 110 are nextest's.

use std::process;

/// Why the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExitCode {
    /// Every selected test reached its required verdict.
    Ok,
    /// The command line is wrong.
    Usage,
    /// No test was selected.
    NothingSelected,
    /// The tool, its configuration or the tests are set up wrongly.
    Setup,
    /// A counterexample was found (or an expected one was not).
    Counterexample,
    /// The build failed.
    Build,
    /// `cargo metadata` failed.
    Metadata,
    /// A report could not be written.
    Report,
    /// No bug, but the required verdict was not reached.
    Inconclusive,
    /// A test does what the checker cannot control.
    Uncheckable,
    /// A replay did something else than its schedule says.
    Diverged,
    /// Stopped by a signal.
    Interrupted,
}

impl ExitCode {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Usage => 2,
            Self::NothingSelected => 4,
            Self::Setup => 96,
            Self::Counterexample => 100,
            Self::Build => 101,
            Self::Metadata => 102,
            Self::Report => 110,
            Self::Inconclusive => 120,
            Self::Uncheckable => 121,
            Self::Diverged => 122,
            Self::Interrupted => 130,
        }
    }

    /// What a worker asked for. Numbers that mean nothing here are a fault of the setup.
    pub(crate) fn asked(code: u8) -> Self {
        match code {
            2 => Self::Usage,
            100 => Self::Counterexample,
            120 => Self::Inconclusive,
            121 => Self::Uncheckable,
            122 => Self::Diverged,
            130 => Self::Interrupted,
            _ => Self::Setup,
        }
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}
