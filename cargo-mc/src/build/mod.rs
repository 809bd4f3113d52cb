//! Builds the tests of a workspace with `--cfg mc`, through cargo, in a target directory of its own.

mod config;
mod dependency;
mod facade;
mod profile;
mod rustflags;
mod stand_in;
mod suite;
mod sysroot;
mod unchecked;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{Artifact, CargoOpt, Message, Metadata, MetadataCommand};

use crate::args::BuildArgs;
use crate::exit::ExitCode;
use dependency::DependencyError;

pub(crate) use facade::{Layers, Off, Unseen};
pub(crate) use suite::Others;
pub(crate) use unchecked::Unchecked;

/// Why there is nothing to check.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error("cargo metadata failed\n{0}")]
    Metadata(String),
    #[error("the build failed")]
    Failed,
    #[error(
        "the build failed\n  = help: with `--std`, the crates are compiled against the checker's own `std`, which has an allocator: a crate with a `#[global_allocator]` cannot be \
         checked so, nor one that asserts how large a type of `std::thread` or `std::sync` is, nor one that `cargo test` itself does not build"
    )]
    FailedWithFacade,
    #[error("cannot run `{}`: {source}", .cargo.display())]
    Cargo { cargo: PathBuf, source: io::Error },
    #[error(
        "`panic=abort` is set in the flags for rustc, but a test that panics must unwind to be checked\n  \
         = help: take `-C panic=abort` out of `RUSTFLAGS` and of `rustflags` in cargo's configuration; `panic = \"abort\"` in a \
         profile may stay, cargo leaves it out of tests"
    )]
    PanicAbort,
    #[error(transparent)]
    Flags(#[from] rustflags::Blank),
    #[error(transparent)]
    StandIn(#[from] stand_in::StandInError),
    #[error(transparent)]
    Facade(#[from] facade::FacadeError),
    #[error(transparent)]
    Dependency(#[from] DependencyError),
}

impl BuildError {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Metadata(_) => ExitCode::Metadata,
            Self::Failed | Self::FailedWithFacade => ExitCode::Build,
            Self::Dependency(DependencyError::Name { .. } | DependencyError::Version { .. }) => ExitCode::Usage,
            Self::Cargo { .. }
            | Self::PanicAbort
            | Self::Flags(_)
            | Self::StandIn(_)
            | Self::Facade(_)
            | Self::Dependency(_) => ExitCode::Setup,
        }
    }
}

/// What was built.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) executables: Vec<Executable>,
    /// Where our own files go, with what was built.
    pub(crate) directory: PathBuf,
    /// The workspace's directory: the compiler names files from here.
    pub(crate) workspace: PathBuf,
    /// What tests other than `#[mc::test]` are checked.
    pub(crate) others: Option<Others>,
    /// The flags that build the same again.
    pub(crate) flags: String,
    /// What of `--std` is on, if it is asked for.
    pub(crate) layers: Option<Layers>,
}

/// A test executable.
#[derive(Debug)]
pub(crate) struct Executable {
    pub(crate) path: PathBuf,
    pub(crate) package: String,
    /// The name of the library, binary or test.
    pub(crate) target: String,
    /// Unique in the workspace: `package`, `package::test` or `package::bin/name`.
    pub(crate) id: String,
    /// The package's directory, where cargo runs its tests.
    pub(crate) directory: PathBuf,
    /// Why `--std` does not check it.
    pub(crate) unchecked: Option<Unchecked>,
    /// What cargo sets when it runs it.
    pub(crate) environment: Vec<(String, String)>,
}

/// Builds what `args` select.
pub(crate) fn build(args: &BuildArgs) -> Result<Built, BuildError> {
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let own = args.dep.as_deref().map(|spec| dependency::own(&cargo, args, spec)).transpose()?;
    let (args, flag) = own.as_ref().map_or((args, None), |own| (&own.args, Some(own.flag.clone())));
    let metadata = metadata(&cargo, args, &[])?;
    let target = args.target_dir.clone().unwrap_or_else(|| metadata.target_directory.clone().into());
    let others = Others::asked_for(args);
    let mut metadata = metadata;
    let mut way = Way { directory: target.join("mc"), ..Way::default() };
    let mut directory = way.directory.clone();
    let mut layers = None;
    match &others {
        None => {}
        Some(Others::Suite(suite)) => {
            directory = absolute(target.join("mc").join(suite.stand_in.name));
            way.directory.clone_from(&directory);
            let patch;
            (patch, metadata) = stand_in::patch(suite.stand_in, &cargo, args, &directory)?;
            (way.patch, way.cfg) = (Some(patch), Some(suite.cfg.clone()));
        }
        Some(Others::AsTheyAre(which)) => {
            directory = absolute(target.join("mc/std"));
            let (facade, found) = facade::facade(&cargo, args, *which, &directory)?;
            layers = found;
            way.directory.clone_from(&facade.directory);
            way.facade = Some(facade);
        }
    }
    let command = command(&cargo, args, &metadata, &way)?;
    let executables = run(command, &metadata).map_err(|error| match error {
        RunError::Failed if matches!(others, Some(Others::AsTheyAre(_))) => BuildError::FailedWithFacade,
        RunError::Failed => BuildError::Failed,
        RunError::Io(source) => BuildError::Cargo { cargo, source },
    })?;
    drop(way); // the lock file is not put back before cargo is done
    let flags = others.iter().map(Others::flag).chain(flag).collect::<Vec<_>>().join(" ");
    Ok(Built { executables, directory, workspace: metadata.workspace_root.into(), others, flags, layers })
}

/// How the crates are built.
#[derive(Debug, Default)]
struct Way {
    /// Cargo's target directory.
    directory: PathBuf,
    /// That of a suite.
    cfg: Option<String>,
    patch: Option<stand_in::Patch>,
    facade: Option<facade::Facade>,
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// The user's own flags for rustc, from wherever cargo may take them.
pub(crate) fn users_flags() -> Vec<String> {
    let (environment, flags) = users_environment();
    rustflags::of_user(&environment, &flags)
}

/// Where these may be: the variables, and cargo's configuration files.
fn users_environment() -> (BTreeMap<String, String>, config::ConfigFlags) {
    let environment = environment();
    let here = std::env::current_dir().unwrap_or_default();
    let flags = config::read(&here, cargo_home(&environment).as_deref());
    (environment, flags)
}

/// The compiler that cargo will use.
pub(crate) fn rustc() -> PathBuf {
    let variables = ["RUSTC", "CARGO_BUILD_RUSTC"].iter().find_map(std::env::var_os).map(PathBuf::from);
    let here = std::env::current_dir().unwrap_or_default();
    let named = variables.or_else(|| config::read(&here, cargo_home(&environment()).as_deref()).rustc);
    named.unwrap_or_else(|| "rustc".into())
}

fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// What the crates are built from, with all features: what any of them brings is in the graph, too, the checker perhaps.
///
/// With `settings` the lock file is about to change, so that only without them it is held against `--locked`.
fn metadata(cargo: &Path, args: &BuildArgs, settings: &[String]) -> Result<Metadata, BuildError> {
    let lock = || if settings.is_empty() { args.lock_flags() } else { args.network_flags() };
    let command = |filter: &[&str], settings: &[String]| {
        let settings = settings.iter().flat_map(|setting| ["--config", setting]).chain(filter.iter().copied());
        let mut command = metadata_with(cargo, args, lock().into_iter().chain(settings.map(str::to_owned)).collect());
        command.features(CargoOpt::AllFeatures);
        command
    };
    run_metadata(&command(&[], settings)).or_else(|error| {
        // Without the network, what only other machines need may be missing: the build does without.
        let suite = Others::asked_for(args);
        let ours = match &suite {
            Some(Others::AsTheyAre(_)) => rustflags::of_facade(&[], &args.cfg),
            Some(Others::Suite(suite)) => rustflags::ours(Some(&suite.cfg), &args.cfg),
            None => rustflags::ours(None, &args.cfg),
        };
        let (environment, flags) = users_environment();
        let injection = rustflags::inject(&environment, &flags, &ours)?;
        let settings: Vec<String> = settings.iter().chain(&injection.config).cloned().collect();
        let mut command = command(&["--filter-platform", "host-tuple"], &settings);
        for (name, value) in injection.environment {
            command.env(name, value);
        }
        run_metadata(&command).map_err(|_| error)
    })
}

/// `cargo metadata` for the manifest that `args` name, with these options.
pub(crate) fn metadata_with(cargo: &Path, args: &BuildArgs, options: Vec<String>) -> MetadataCommand {
    let mut command = MetadataCommand::new();
    command.cargo_path(cargo).other_options(options);
    if let Some(path) = &args.manifest.manifest_path {
        command.manifest_path(path);
    }
    command
}

pub(crate) fn run_metadata(command: &MetadataCommand) -> Result<Metadata, BuildError> {
    command.exec().map_err(|error| {
        BuildError::Metadata(match error {
            cargo_metadata::Error::CargoMetadata { stderr } => stderr.trim_end().to_owned(),
            other => other.to_string(),
        })
    })
}

fn command(cargo: &Path, args: &BuildArgs, metadata: &Metadata, way: &Way) -> Result<Command, BuildError> {
    let (environment, flags) = users_environment();
    if rustflags::aborts_on_panic(&environment, &flags) {
        return Err(BuildError::PanicAbort);
    }
    let ours = match &way.facade {
        Some(facade) => rustflags::of_facade(&facade.flags, &args.cfg),
        None => rustflags::ours(way.cfg.as_deref(), &args.cfg),
    };
    let injection = rustflags::inject(&environment, &flags, &ours)?;
    let settings = way.patch.as_ref().map_or(&[][..], |patch| &patch.config);
    let packages: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut command = Command::new(cargo);
    command.args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    let lock = if settings.is_empty() { args.lock_flags() } else { args.network_flags() };
    command.args(lock).args(args.test_flags()).arg("--target-dir").arg(&way.directory);
    if let Some(facade) = way.facade.as_ref().filter(|_| args.target.is_none()) {
        command.arg("--target").arg(&facade.target);
    }
    let mut profile = profile::overrides(args.profile(), &packages);
    if way.facade.is_some() {
        profile.extend(profile::of_facade(args.profile()));
    }
    for setting in injection.config.iter().chain(&profile).chain(settings) {
        command.arg("--config").arg(setting);
    }
    command.envs(injection.environment);
    Ok(command)
}

/// Writes what is not there yet: a file that is written again is compiled again.
fn write(path: &Path, text: &str) -> Result<(), (PathBuf, io::Error)> {
    let failed = |source| (path.to_owned(), source);
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

/// The library that packages of ours need: this checkout's if there is one, otherwise the released one.
fn library(features: &[&str]) -> toml::Table {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shims");
    let (key, value) = match beside.canonicalize() {
        Ok(path) if path.join("Cargo.toml").is_file() => ("path", path.display().to_string()),
        _ => ("version", concat!("=", env!("CARGO_PKG_VERSION")).to_owned()),
    };
    let features: Vec<_> = features.iter().map(|feature| toml::Value::from(*feature)).collect();
    toml::Table::from_iter([(key.to_owned(), value.into()), ("features".to_owned(), features.into())])
}

fn cargo_home(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let named = environment.get("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

enum RunError {
    Failed,
    Io(io::Error),
}

fn run(mut command: Command, metadata: &Metadata) -> Result<Vec<Executable>, RunError> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(RunError::Io)?;
    let stdout = child.stdout.take().ok_or(RunError::Failed)?;
    let executables = executables(BufReader::new(stdout), metadata).map_err(RunError::Io)?;
    if child.wait().map_err(RunError::Io)?.success() { Ok(executables) } else { Err(RunError::Failed) }
}

/// Those of the tests, from what cargo says.
fn executables(messages: impl BufRead, metadata: &Metadata) -> io::Result<Vec<Executable>> {
    let mut artifacts = Vec::new();
    let mut libraries = Libraries::default();
    for message in Message::parse_stream(messages) {
        match message? {
            Message::CompilerArtifact(artifact) if artifact.profile.test => artifacts.push(artifact),
            Message::BuildScriptExecuted(script) => {
                libraries.add(script.linked_paths.iter().map(|path| path.as_str()));
            }
            _ => {}
        }
    }
    if artifacts.iter().any(|artifact| artifact.target.is_proc_macro()) {
        libraries.add(unchecked::toolchain_libraries().as_deref().into_iter());
    }
    let mut executables: Vec<_> =
        artifacts.iter().filter_map(|artifact| executable(artifact, metadata, &libraries)).collect();
    executables.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(executables)
}

fn executable(artifact: &Artifact, metadata: &Metadata, libraries: &Libraries) -> Option<Executable> {
    let path = PathBuf::from(artifact.executable.clone()?);
    let package = metadata.packages.iter().find(|package| package.id == artifact.package_id)?;
    let target = &artifact.target;
    let id = if target.is_bin() {
        format!("{}::bin/{}", package.name, target.name)
    } else if target.is_example() {
        format!("{}::example/{}", package.name, target.name)
    } else if target.is_test() || target.is_bench() {
        format!("{}::{}", package.name, target.name)
    } else {
        package.name.to_string()
    };
    let directory = PathBuf::from(package.manifest_path.parent()?);
    let mut environment = vec![
        ("CARGO_MANIFEST_DIR".to_owned(), directory.display().to_string()),
        ("CARGO_MANIFEST_PATH".to_owned(), package.manifest_path.to_string()),
        ("CARGO_PKG_NAME".to_owned(), package.name.to_string()),
        ("CARGO_PKG_VERSION".to_owned(), package.version.to_string()),
    ];
    environment.extend(libraries.variable(&path));
    let unchecked = Unchecked::of(target, package.manifest_path.as_std_path());
    let (package, target) = (package.name.to_string(), target.name.clone());
    Some(Executable { path, unchecked, package, target, id, directory, environment })
}

/// Where shared libraries that build scripts made are to be found.
#[derive(Default)]
struct Libraries(Vec<String>);

impl Libraries {
    fn add<'a>(&mut self, paths: impl Iterator<Item = &'a str>) {
        self.0.extend(paths.map(|path| path.split_once('=').map_or(path, |(_, path)| path).to_owned()));
    }

    /// The loader's search path: those, what cargo built beside the executable, and what was there before.
    fn variable(&self, executable: &Path) -> Option<(String, String)> {
        let name = if cfg!(target_os = "macos") { "DYLD_FALLBACK_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };
        let beside = executable.parent().map(Path::to_owned);
        let before = std::env::var_os(name).unwrap_or_default();
        let paths = self.0.iter().map(PathBuf::from).chain(beside).chain(std::env::split_paths(&before));
        let paths = std::env::join_paths(paths.filter(|path| !path.as_os_str().is_empty())).ok()?;
        Some((name.to_owned(), paths.into_string().ok()?))
    }
}
