//! Starting cargo again with `--cfg mc`, so that tests of the checked types run under a plain `cargo test` too.
//!
//! What a build with `--cfg mc` needs is compiled into a target directory of its own, beside what a plain build compiles.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mc_runtime::options::Threads;

/// Those of `cargo mc`: in its folder, `mc`, most dependencies are compiled once for both.
const OURS: [&str; 4] = ["--cfg", "mc", "--check-cfg", "cfg(mc)"];

/// A cargo command for this workspace that compiles with `--cfg mc`, into the folder `name` of the target directory
/// that holds `tmpdir` (pass `env!("CARGO_TARGET_TMPDIR")`, or another folder directly in the target directory).
/// The caller's own rustflags are kept, and the profile is the one that this crate was compiled with.
pub fn cargo(subcommand: &str, tmpdir: &str, name: &str) -> Command {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let target: PathBuf = Path::new(tmpdir).parent().unwrap_or(Path::new(tmpdir)).join(name);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg(subcommand).arg("--manifest-path").arg(manifest).arg("--target-dir").arg(target);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    match std::env::var("CARGO_ENCODED_RUSTFLAGS") {
        Ok(flags) if !flags.is_empty() => {
            command.env("CARGO_ENCODED_RUSTFLAGS", format!("{flags}\x1f{}", OURS.join("\x1f")))
        }
        _ => {
            let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
            command.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", format!("{flags} {}", OURS.join(" ")))
        }
    };
    command
}

/// Runs the tests of `package` that `targets` (as for cargo) selects, with `--cfg mc`. Those that go by `MC_THREADS` have their threads run by `threads`.
///
/// One at a time: spin loops are proved by comparing the memory of the process, which other tests would change.
///
/// # Errors
/// If cargo cannot be started, or the tests do not compile or fail: then the message is what cargo and the tests printed.
pub fn run_tests(package: &str, targets: &[&str], threads: Threads, tmpdir: &str, name: &str) -> io::Result<()> {
    let mut cargo = cargo("test", tmpdir, name);
    let output = cargo
        .args(["--package", package])
        .args(targets)
        .args(["--", "--test-threads=1"])
        .env("MC_THREADS", threads.to_string())
        .stdin(Stdio::null())
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(io::Error::other(format!("{}\n{stdout}\n{stderr}", output.status)));
    }
    // A filter or a `cfg` that leaves nothing to run must not pass for success.
    if !stdout.contains("test result: ok.") || stdout.contains(" 0 passed") {
        return Err(io::Error::other(format!("no test ran\n{stdout}\n{stderr}")));
    }
    Ok(())
}
