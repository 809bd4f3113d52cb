//! `test` for the crates under test, in place of libtest: what the compiler makes of `#[test]` is described in these types, and comes to `test_main_static`.

extern crate mc_facade;

use std::process::{ExitCode, Termination};

use mc_facade::mc::unmodified::harness;

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
    let tests = tests.iter().map(|test| harness::Test {
        name: test.desc.name.0,
        ignored: test.desc.ignore,
        should_panic: match test.desc.should_panic {
            ShouldPanic::No => harness::ShouldPanic::No,
            ShouldPanic::Yes => harness::ShouldPanic::Yes,
            ShouldPanic::YesWithMessage(expected) => harness::ShouldPanic::With(expected),
        },
        body: test.testfn.0,
    });
    let std = if env!("MC_FACADE_STD") == "real" { harness::Std::Real } else { harness::Std::Checked };
    harness::main(tests, &checker, std);
}
