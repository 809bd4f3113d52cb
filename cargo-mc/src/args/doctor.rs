//! The flags of `cargo mc doctor`, which builds nothing.

use clap::Args;

use super::{BuildArgs, MessageFormat};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) manifest: clap_cargo::Manifest,
    #[command(flatten)]
    pub(crate) workspace: clap_cargo::Workspace,
    #[command(flatten)]
    pub(crate) features: clap_cargo::Features,
    /// Do without the network
    #[arg(long)]
    offline: bool,
    /// Fail if Cargo.lock would change
    #[arg(long)]
    locked: bool,
    /// Both of --offline and --locked
    #[arg(long)]
    frozen: bool,
    /// How the report is printed
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) message_format: MessageFormat,
}

impl DoctorArgs {
    /// The build that would be asked for with the same flags.
    pub(crate) fn build(&self) -> BuildArgs {
        BuildArgs {
            manifest: self.manifest.clone(),
            offline: self.offline,
            locked: self.locked,
            frozen: self.frozen,
            ..BuildArgs::default()
        }
    }
}
