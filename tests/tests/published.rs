//! Crates from the registry, unmodified, checked through the switch that they have for loom: the package `published`.
//!
//! It is no member of the workspace, for its `--cfg loom` is for its own dependencies only. `cargo mc test` works in its folder.

use std::path::Path;
use std::process::{Command, Stdio};

/// The tests of each crate.
const TESTS: [(&str, usize); 3] = [("concurrent_queue", 5), ("oneshot", 4), ("parking", 3)];

#[test]
fn published_crates_are_checked_as_they_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("published");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("published");
    for (name, count) in TESTS {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["test", "--test", name]).current_dir(&folder).env("CARGO_TARGET_DIR", &target);
        command.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", "--cfg mc --cfg loom --cfg oneshot_loom");
        let output = command.stdin(Stdio::null()).output().expect("cargo runs");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let expected = format!("test result: ok. {count} passed; 0 failed; 0 ignored");
        assert!(stdout.contains(&expected), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}
