//! A suite that is written for shuttle comes to the same under shuttle and under the package that stands in for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// A version of shuttle, with the folder of the suite's manifest and of what stands in.
struct Version {
    folder: &'static str,
    /// The tests of all test targets.
    tests: &'static [usize],
}

const OLD: Version = Version { folder: "0.8", tests: &[1, 17] };
const NEW: Version = Version { folder: "0.9", tests: &[1, 2, 17] };

/// The suite, in a folder of its own: what stands in changes its `Cargo.lock`.
fn suite(version: &Version, name: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("shuttle-suite");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let manifest = ["Cargo.toml", "Cargo.lock"].map(|file| format!("{}/{file}", version.folder));
    let sources = ["src/lib.rs", "tests/suite.rs", "tests/files.rs", "tests/newer.rs"].map(str::to_owned);
    let copied = manifest.iter().chain(&sources).try_for_each(|file| {
        let file = Path::new(file);
        fs::create_dir_all(to.join(file).parent().expect("below the folder"))?;
        fs::copy(from.join(file), to.join(file)).map(drop)
    });
    copied.unwrap_or_else(|error: io::Error| panic!("the suite cannot be copied: {error}"));
    to.join(version.folder)
}

fn run(version: &Version, name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let name = format!("{name}-{}", version.folder);
    command.args(["test", "--tests"]).args(arguments).current_dir(suite(version, &name));
    // One for all: most of what either checker needs is the same for both versions.
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("shuttle-suite-target"));
    command.env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("RUSTFLAGS").envs(variables.iter().copied());
    let output = command.stdin(Stdio::null()).output().expect("cargo runs");
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn stand_in(version: &Version) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root");
    let package = root.join("shims/shuttle-compat").join(version.folder);
    format!("patch.crates-io.shuttle.path={:?}", package.to_str().expect("a path in UTF-8"))
}

fn passes_as_with_shuttle(version: &Version) {
    let all_pass = |text: String| {
        for tests in version.tests {
            assert!(text.contains(&format!("test result: ok. {tests} passed; 0 failed")), "{text}");
        }
        assert!(!text.contains("test result: FAILED"), "{text}");
    };
    all_pass(run(version, "shuttle-suite", &[], &[]));
    all_pass(run(version, "shuttle-suite-here", &["--config", &stand_in(version)], &[]));
}

#[test]
fn every_test_of_a_suite_comes_to_the_same() {
    passes_as_with_shuttle(&OLD);
    // What is sampled can be proved, and what is only sequentially consistent is found not to be more.
    let proved = ["--config", &stand_in(&OLD), "a_counter_counts_in_random_executions"];
    let text = run(&OLD, "shuttle-suite-here", &proved, &[("MC_STRATEGY", "dfs"), ("MC_REQUIRE", "proved")]);
    assert!(text.contains("1 passed; 0 failed"), "{text}");
    let weaker = ["--config", &stand_in(&OLD), "relaxed_accesses_are_sequentially_consistent"];
    let text = run(&OLD, "shuttle-suite-here", &weaker, &[("MC_MEMORY_MODEL", "rc20"), ("MC_STRATEGY", "dfs")]);
    assert!(text.contains("0 passed; 1 failed"), "{text}");
}

#[test]
fn every_test_of_a_suite_for_the_newer_shuttle_comes_to_the_same() {
    passes_as_with_shuttle(&NEW);
}
