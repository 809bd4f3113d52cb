//! Crates from the registry, unmodified: through the switch that they have for loom (the package `published`), and through the package that
//! stands in for parking_lot (`patched`).
//!
//! Neither is a member of the workspace: `--cfg loom` and `[patch]` are for their own dependencies only. `cargo mc test` works in both folders.

use std::path::Path;
use std::process::{Command, Stdio};

/// The tests of each crate.
const PUBLISHED: [(&str, usize); 3] = [("concurrent_queue", 5), ("oneshot", 4), ("parking", 3)];
const PATCHED: [(&str, usize); 3] = [("dashmap", 7), ("futures_intrusive", 5), ("object_pool", 3)];

#[test]
fn published_crates_are_checked_as_they_are() {
    check("published", "published", "--cfg mc --cfg loom --cfg oneshot_loom", &PUBLISHED);
}

#[test]
fn users_of_parking_lot_are_checked_as_they_are() {
    // Where the end-to-end tests have `cargo mc` build, with its flags: what both need is compiled once.
    check("patched", "e2e-target/mc", "--cfg mc --check-cfg cfg(mc)", &PATCHED);
}

/// Runs the tests in `package`, built in the folder `target`: each test target has so many, and all pass.
fn check(package: &str, target: &str, flags: &str, tests: &[(&str, usize)]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(target);
    for (name, count) in tests {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["test", "--test", name]).current_dir(&folder).env("CARGO_TARGET_DIR", &target);
        command.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", flags);
        // As the fixtures say it.
        command.env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
        let output = command.stdin(Stdio::null()).output().expect("cargo runs");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let expected = format!("test result: ok. {count} passed; 0 failed; 0 ignored");
        assert!(stdout.contains(&expected), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}
