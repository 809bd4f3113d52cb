//! Cargo's own flags, under cargo's names.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

/// What is built, and how.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Build (as for cargo test)")]
#[command(group = ArgGroup::new("as-they-are").args(["std", "dep"]).multiple(true))]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) manifest: clap_cargo::Manifest,
    #[command(flatten)]
    pub(crate) workspace: clap_cargo::Workspace,
    #[command(flatten)]
    pub(crate) features: clap_cargo::Features,
    /// Only the library's unit tests
    #[arg(long)]
    pub(crate) lib: bool,
    /// Only the unit tests of binaries
    #[arg(long)]
    pub(crate) bins: bool,
    /// Only the unit tests of this binary
    #[arg(long, value_name = "NAME")]
    pub(crate) bin: Vec<String>,
    /// Only the integration test of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Vec<String>,
    /// Build with optimisations
    #[arg(short, long, conflicts_with = "profile")]
    pub(crate) release: bool,
    /// Build with this profile
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Build for this target
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
    /// Where cargo puts what it builds (the checked build is in `mc` below it)
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) target_dir: Option<PathBuf>,
    /// How many jobs build at once
    #[arg(long, value_name = "N")]
    pub(crate) build_jobs: Option<String>,
    /// Check the suite that the crate has for loom: loom is replaced, nothing is edited, and `--cfg loom` is set, or that of this NAME
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "loom")]
    pub(crate) loom: Option<String>,
    /// Check the crates as they are: all of their tests, with std's own types, which are replaced below them; with --std=real, these types run too, as the toolchain ships them
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "checked")]
    #[arg(conflicts_with_all = ["loom", "shuttle"])]
    pub(crate) std: Option<Std>,
    /// Check the tests that this crate has itself, as it was published: the version that the workspace uses, or the newest; with --std, unless it is its suite for another checker
    #[arg(long, value_name = "NAME[@VERSION]", conflicts_with_all = ["package", "workspace", "all", "exclude"])]
    pub(crate) dep: Option<String>,
    /// With --std, what of the crates is seen beside std's types: all memory, for data races and uses after free; uninit, what was never written, too; or only atomics, which is faster and proves less
    #[arg(long, value_name = "WHAT", default_value = "memory", requires = "as-they-are")]
    pub(crate) instrument: Instrument,
    /// Likewise the suite that the crate has for shuttle, with `--cfg shuttle` or that of this NAME
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "shuttle")]
    #[arg(conflicts_with = "loom")]
    pub(crate) shuttle: Option<String>,
    /// Set this cfg too, for all packages
    #[arg(long, value_name = "SPEC")]
    pub(crate) cfg: Vec<String>,
    /// Do without the network
    #[arg(long)]
    pub(crate) offline: bool,
    /// Fail if Cargo.lock would change
    #[arg(long)]
    pub(crate) locked: bool,
    /// Both of --offline and --locked
    #[arg(long)]
    pub(crate) frozen: bool,
}

/// What crates as they are get for std.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Std {
    /// The checker's own types, of which the exploration knows much
    Checked,
    /// The toolchain's, instrumented
    Real,
}

/// What the compiler makes visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Instrument {
    /// Plain accesses too
    #[default]
    Memory,
    /// As memory; and what is read of the heap must have been written, where that makes a difference
    Uninit,
    /// What std's types do
    Atomics,
}

impl Instrument {
    /// Are plain accesses seen?
    pub(crate) fn sees_memory(self) -> bool {
        self != Self::Atomics
    }
}

impl BuildArgs {
    /// The profile whose settings count.
    pub(crate) fn profile(&self) -> &str {
        match (&self.profile, self.release) {
            (Some(profile), _) => profile,
            (None, true) => "release",
            (None, false) => "dev",
        }
    }

    /// For `cargo metadata` and for the build: how the lock file and the network are used.
    pub(crate) fn lock_flags(&self) -> Vec<String> {
        let flags = [("--offline", self.offline), ("--locked", self.locked), ("--frozen", self.frozen)];
        flags.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag.to_owned()).collect()
    }

    /// As [`lock_flags`](Self::lock_flags), where a patch changes the lock file.
    pub(crate) fn network_flags(&self) -> Vec<String> {
        if self.offline || self.frozen { vec!["--offline".to_owned()] } else { Vec::new() }
    }

    /// For `cargo test`: all but the target directory, and how the lock file and the network are used.
    pub(crate) fn test_flags(&self) -> Vec<OsString> {
        let mut flags: Vec<OsString> = Vec::new();
        let mut pair = |flag: &str, value: &dyn AsRef<std::ffi::OsStr>| {
            flags.push(flag.into());
            flags.push(value.as_ref().to_owned());
        };
        if let Some(path) = &self.manifest.manifest_path {
            pair("--manifest-path", path);
        }
        self.workspace.package.iter().for_each(|name| pair("--package", name));
        self.workspace.exclude.iter().for_each(|name| pair("--exclude", name));
        self.features.features.iter().for_each(|name| pair("--features", name));
        self.bin.iter().for_each(|name| pair("--bin", name));
        self.test.iter().for_each(|name| pair("--test", name));
        self.profile.iter().for_each(|name| pair("--profile", name));
        self.target.iter().for_each(|name| pair("--target", name));
        self.build_jobs.iter().for_each(|count| pair("--jobs", count));
        let switches = [
            ("--workspace", self.workspace.workspace || self.workspace.all),
            ("--all-features", self.features.all_features),
            ("--no-default-features", self.features.no_default_features),
            ("--lib", self.lib),
            ("--bins", self.bins),
            ("--release", self.release),
        ];
        flags.extend(switches.into_iter().filter(|(_, set)| *set).map(|(flag, _)| OsString::from(flag)));
        flags
    }
}
