//! `cargo mc doctor`: what in the tests of a workspace the checker cannot control. The source is read, nothing is built.
//!
//! Not here: what a finding means and what can be done (`advice`), and how it is told (`report::doctor`).

mod advice;
mod attributes;
mod cfg;
mod expand;
mod findings;
mod graph;
mod host;
mod macros;
mod manifest;
mod modules;
mod names;
mod paths;
mod walk;

#[cfg(test)]
mod tests;

use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use cargo_metadata::TargetKind;

use crate::args::DoctorArgs;
use crate::build::{self, BuildError};
use crate::exit::ExitCode;

pub(crate) use advice::{Level, Shims, Std};
use findings::Ways;
pub(crate) use findings::{Findings, Kind, Place, Used};
use graph::Node;
use host::Host;

/// Why nothing can be said.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoctorError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("cargo tree failed\n{0}")]
    Tree(String),
    #[error("cannot run `{}`: {source}", .program.display())]
    Run { program: PathBuf, source: io::Error },
    #[error("`{} --print host-tuple --print cfg` does not say what holds on this machine", .program.display())]
    Rustc { program: PathBuf },
    #[error("`cargo tree` names {name} {version}, which `cargo metadata` does not know")]
    Unknown { name: String, version: String },
    #[error("cannot start a thread that reads sources: {0}")]
    Thread(io::Error),
}

impl DoctorError {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Build(error) => error.exit_code(),
            Self::Tree(_) | Self::Unknown { .. } => ExitCode::Metadata,
            Self::Run { .. } | Self::Rustc { .. } | Self::Thread(_) => ExitCode::Setup,
        }
    }
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Diagnosis {
    /// Selected ones first, then by name and version.
    pub(crate) crates: Vec<Diagnosed>,
    /// Of the workspace as a whole.
    pub(crate) workspace: Findings,
}

/// A crate.
#[derive(Debug)]
pub(crate) struct Diagnosed {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) selected: bool,
    pub(crate) manifest: String,
    pub(crate) shims: Shims,
    pub(crate) std: Std,
    pub(crate) findings: Findings,
}

/// Looks at all crates that the selected packages' tests have.
pub(crate) fn diagnose(args: &DoctorArgs) -> Result<Diagnosis, DoctorError> {
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let flags = build::users_flags();
    let host = Host::ask(&flags)?;
    let graph = graph::graph(&cargo, args, &host.triple)?;
    let found = in_threads(&graph.nodes, |node| look(node, &host))?;
    let crates = graph.nodes.iter().zip(found).map(|(node, findings)| Diagnosed {
        name: node.package.name.to_string(),
        version: node.package.version.to_string(),
        selected: node.selected,
        manifest: node.package.manifest_path.to_string(),
        shims: Shims::of(&findings),
        std: Std::of(&findings),
        findings,
    });
    let crates = crates.collect();
    let mut workspace = manifest::workspace(graph.metadata.workspace_root.join("Cargo.toml").as_std_path());
    if flags.join(" ").contains("panic=abort") {
        let place = Place {
            file: "RUSTFLAGS".to_owned(),
            line: 1,
            what: "panic=abort".to_owned(),
            test: false,
            ways: Ways::BOTH,
        };
        workspace.add(Kind::RustFlags, place);
    }
    Ok(Diagnosis { crates, workspace })
}

/// The checker's own packages, which are there to be used as they are.
const CHECKER: [&str; 4] = ["mc-macros", "mc-protocol", "mc-runtime", "mc-shims"];

fn look(node: &Node, host: &Host) -> Findings {
    let package = &node.package;
    if !node.selected && CHECKER.contains(&package.name.as_str()) {
        return Findings { names_mc: true, ..Findings::default() };
    }
    let cfgs =
        cfg::Cfgs { host: host.cfgs.clone(), features: node.features.clone(), script: manifest::script(package) };
    let root = package.manifest_path.parent().map_or(Path::new(""), |folder| folder.as_std_path());
    let mc = manifest::name_of_mc(package);
    let mut walker = walk::Walker::new(package.name.as_str(), root, &cfgs, node.selected, mc.as_deref());
    for target in &package.targets {
        let library = manifest::is_library(&target.kind);
        let enabled = target.required_features.iter().all(|feature| node.features.contains(feature));
        let is_script = target.kind.contains(&TargetKind::CustomBuild);
        if library || (node.selected && target.test && enabled && !is_script) {
            walker.target(target.src_path.as_std_path(), target.is_test());
        }
    }
    let mut found = walker.found;
    manifest::look(node, &mut found);
    // Lines of what was read are kept per thread until they are let go.
    proc_macro2::extra::invalidate_current_thread_spans();
    found
}

/// Of every node what `look` finds, in their order.
fn in_threads(nodes: &[Node], look: impl Fn(&Node) -> Findings + Sync) -> Result<Vec<Findings>, DoctorError> {
    /// Source is as deep as people nest it, and machines nest deeper.
    const STACK: usize = 256 << 20;
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![Findings::default(); nodes.len()]);
    let work = || {
        while let Some((at, node)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, nodes.get(at)?)))
        {
            let findings = look(node);
            found.lock().unwrap_or_else(PoisonError::into_inner)[at] = findings;
        }
    };
    thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, NonZero::get).min(nodes.len());
        for _ in 0..count {
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).map_err(DoctorError::Thread)?;
        }
        Ok::<_, DoctorError>(())
    })?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}
