//! Plain `cargo test` runs the same checks where `--cfg mc` is set, and the bodies alone where it is not.

use std::path::PathBuf;

use crate::fixture;

#[test]
fn plain_cargo_test_checks_and_reports_too() {
    let fixture = fixture("failing").with_env("RUST_BACKTRACE", "0");
    // The flags and the folder of `cargo mc`: what does not depend on the profile is there already.
    let target = fixture.target.join("mc").display().to_string();
    let fixture = fixture.with_env("RUSTFLAGS", "--cfg mc --check-cfg cfg(mc)").with_env("CARGO_TARGET_DIR", &target);
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = fixture.command(&cargo, ["test"]).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(101), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("test cell::right ... ok") && stdout.contains("1 passed; 2 failed"), "{stdout}");
    assert!(stdout.contains("FAILED locks::abba   deadlock") && stdout.contains("cargo mc replay mc1."), "{stdout}");
}

#[test]
fn without_the_checker_bodies_run_once_and_wrong_ones_are_ignored() {
    let fixture = fixture("expect");
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = fixture.command(&cargo, ["test"]).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("0 passed; 0 failed; 4 ignored"), "{stdout}");
}
