//! The real `cargo-mc` on the packages of `fixtures/`: what it prints, writes and exits with. And what else runs cargo: while one test waits
//! for the folder that another one compiles into, a third one compiles elsewhere.
#![cfg(not(mc))]

mod bad_input;
mod building;
mod conformance;
mod crashes;
mod dependency;
mod doctor;
mod forms;
mod going_on;
mod interrupts;
mod layers;
mod litmus;
mod machines;
mod os_threads;
mod plain;
mod protocol;
mod published;
mod real_std;
mod replays;
mod shims;
mod shuttle;
mod suites;
mod unmodified;
mod verdicts;

use mc_runtime::options::Threads;
use mc_tests::checked::run_tests;
use mc_tests::fixture::{Fixture, Run};

/// The shims are compiled as `cargo mc` has them compiled: unoptimised code leaves values on the stack that nobody uses any more, so that no round of a loop is like another.
const AS_FOR_USERS: &str = "--config=profile.dev.package.mc-shims.opt-level=3";

/// A fresh copy of a fixture.
fn fixture(name: &str) -> Fixture {
    Fixture::new(name, env!("CARGO_TARGET_TMPDIR"))
}

/// The tests of a package of the workspace that cargo's `arguments` select pass when compiled with `--cfg mc`.
fn pass_with_cfg_mc(package: &str, arguments: &[&str], threads: Threads) {
    if let Err(error) = run_tests(package, arguments, threads, env!("CARGO_TARGET_TMPDIR"), "mc") {
        panic!("{error}");
    }
}

/// A test of the JSON lines by its name.
fn test(run: &Run, name: &str) -> serde_json::Value {
    let tests = run.lines_of("test");
    let found = tests.iter().find(|line| line["name"] == name);
    found.unwrap_or_else(|| panic!("no test {name}:\n{}\n{}", run.stdout, run.stderr)).clone()
}

/// The names of the tests that were checked.
fn names(run: &Run) -> Vec<String> {
    let mut names: Vec<_> = run.lines_of("test").iter().map(|line| line["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Compares with a snapshot, with times, schedules and directories filtered.
fn snapshot(name: &str, fixture: &Fixture, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"\d+\.\d+s\b|\d+m \d\ds", "[TIME]");
    settings.add_filter(r"\bmc1\.[^\s)]+", "[SCHEDULE]");
    settings.bind(|| insta::assert_snapshot!(name, fixture.normalised(text)));
}
