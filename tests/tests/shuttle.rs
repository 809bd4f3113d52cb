//! A suite that is written for shuttle comes to the same under shuttle and under the package that stands in for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

const TESTS: usize = 17;

/// The suite, in a folder of its own: what stands in changes its `Cargo.lock`.
fn suite(name: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("shuttle-suite");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let copied = ["Cargo.toml", "Cargo.lock", "src/lib.rs", "tests/suite.rs"].iter().try_for_each(|file| {
        let file = Path::new(file);
        fs::create_dir_all(to.join(file).parent().expect("below the folder"))?;
        fs::copy(from.join(file), to.join(file)).map(drop)
    });
    copied.unwrap_or_else(|error: io::Error| panic!("the suite cannot be copied: {error}"));
    to
}

fn run(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--test", "suite"]).args(arguments).current_dir(suite(name));
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-target")));
    command.env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("RUSTFLAGS").envs(variables.iter().copied());
    let output = command.stdin(Stdio::null()).output().expect("cargo runs");
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn stand_in() -> String {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root").join("shims/shuttle-compat/0.8");
    format!("patch.crates-io.shuttle.path={:?}", package.to_str().expect("a path in UTF-8"))
}

#[test]
fn every_test_of_a_suite_comes_to_the_same() {
    let expected = format!("test result: ok. {TESTS} passed; 0 failed");
    let theirs = run("shuttle-suite", &[], &[]);
    assert!(theirs.contains(&expected), "{theirs}");
    let ours = run("shuttle-suite-here", &["--config", &stand_in()], &[]);
    assert!(ours.contains(&expected), "{ours}");
    // What is sampled can be proved, and what is only sequentially consistent is found not to be more.
    let proved = ["--config", &stand_in(), "a_counter_counts_in_random_executions"];
    let text = run("shuttle-suite-here", &proved, &[("MC_STRATEGY", "dfs"), ("MC_REQUIRE", "proved")]);
    assert!(text.contains("1 passed; 0 failed"), "{text}");
    let weaker = ["--config", &stand_in(), "relaxed_accesses_are_sequentially_consistent"];
    let text = run("shuttle-suite-here", &weaker, &[("MC_MEMORY_MODEL", "rc20"), ("MC_STRATEGY", "dfs")]);
    assert!(text.contains("0 passed; 1 failed"), "{text}");
}
