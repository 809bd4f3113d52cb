//! `test` for the crates under test, in place of libtest: what the compiler makes of `#[test]` is described in these types, and comes to `test_main_static`.

use std::process::{ExitCode, Termination};

#[cfg(not(mc_real_std))]
extern crate mc_facade;
#[cfg(not(mc_real_std))]
use mc_facade::mc_test_main;

// Where std is the real one, nothing of the crates under test may be compiled against the checker: the compiler would take what that has of std's generic code, which is not
// instrumented.
#[cfg(mc_real_std)]
unsafe extern "Rust" {
    /// As in `checker.rs`, with types of std alone.
    safe fn mc_test_main(tests: &[Described], checker: &[&str], is_real_std: bool);
}

type Described = (&'static str, bool, Option<Option<&'static str>>, fn() -> Result<(), String>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShouldPanic {
    No,
    Yes,
    YesWithMessage(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestType {
    UnitTest,
    IntegrationTest,
    DocTest,
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub struct StaticTestName(pub &'static str);

#[derive(Clone, Copy, Debug)]
pub struct TestDesc {
    pub name: StaticTestName,
    pub ignore: bool,
    pub ignore_message: Option<&'static str>,
    pub source_file: &'static str,
    pub start_line: usize,
    pub start_col: usize,
    pub end_line: usize,
    pub end_col: usize,
    pub should_panic: ShouldPanic,
    pub compile_fail: bool,
    pub no_run: bool,
    pub test_type: TestType,
}

#[derive(Clone, Copy, Debug)]
pub struct StaticTestFn(pub fn() -> Result<(), String>);

#[derive(Clone, Copy, Debug)]
pub struct TestDescAndFn {
    pub desc: TestDesc,
    pub testfn: StaticTestFn,
}

pub fn assert_test_result<T: Termination>(result: T) -> Result<(), String> {
    if result.report() == ExitCode::SUCCESS {
        return Ok(());
    }
    Err("the test returned a termination value with a non-zero status code (not success)".to_owned())
}

pub fn test_main_static(tests: &[&TestDescAndFn]) {
    let checker: Vec<&str> = env!("MC_FACADE_CRATES").split(' ').collect();
    let describe = |test: &&TestDescAndFn| -> Described {
        let should_panic = match test.desc.should_panic {
            ShouldPanic::No => None,
            ShouldPanic::Yes => Some(None),
            ShouldPanic::YesWithMessage(expected) => Some(Some(expected)),
        };
        (test.desc.name.0, test.desc.ignore, should_panic, test.testfn.0)
    };
    let tests: Vec<_> = tests.iter().map(describe).collect();
    mc_test_main(&tests, &checker, cfg!(mc_real_std));
}
