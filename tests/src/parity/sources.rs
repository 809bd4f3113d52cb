//! Where the two documentations are, and the files that are made of them.

use super::{Items, ParityError, VERSION, items};
use std::path::{Path, PathBuf};
use std::process::Command;

fn tests() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The list of std's items.
pub fn list() -> PathBuf {
    tests().join("parity/std.txt")
}

/// Why what differs does.
pub fn reasons() -> PathBuf {
    tests().join("parity/differs.txt")
}

/// The table.
pub fn table() -> PathBuf {
    tests().join("../docs/parity.md")
}

fn rustc(argument: &str, more: &str) -> String {
    let output = Command::new("rustc").args([argument, more]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// Is the toolchain of the version that the list is of? Another one's rustdoc may write other pages.
pub fn is_version() -> bool {
    rustc("--version", "--verbose").contains(&format!("release: {VERSION}"))
}

/// std's items from the toolchain; `None` when it has another version, or no documentation.
pub fn std_items() -> Result<Option<Items>, ParityError> {
    let root = PathBuf::from(rustc("--print", "sysroot")).join("share/doc/rust/html/std");
    if !is_version() || !root.join("index.html").exists() {
        return Ok(None);
    }
    items(&root).map(Some)
}

/// Our items under `--cfg mc`, from a documentation that is made now; `tmpdir` and `name` as for [`crate::checked::cargo`].
pub fn our_items(tmpdir: &str, name: &str) -> Result<Items, ParityError> {
    let mut cargo = crate::checked::cargo("doc", tmpdir, name);
    cargo.args(["--quiet", "--no-deps", "--package", "mc-shims"]).env("RUSTDOCFLAGS", "--cfg mc");
    let output = cargo.output().map_err(|why| ParityError::Read { path: "cargo".into(), why })?;
    if !output.status.success() {
        return Err(ParityError::Document(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let target = Path::new(tmpdir).parent().unwrap_or(Path::new(tmpdir)).join(name);
    items(&target.join("doc/mc"))
}
