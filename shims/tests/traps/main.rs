//! Small programs that a checker easily gets wrong: what it says of each is derived from the program, not from the checker.
#![cfg(mc)]

mod choices;
#[path = "../common/mod.rs"]
mod common;
mod locals;
mod memory;
mod misuse;
mod nondeterminism;
mod polls;
mod spinning;
mod statics;
mod strategies;
mod threads;
mod timeouts;
mod unwinding;
mod waiting;

use mc_runtime::options::Options;
use mc_runtime::outcome::{Failure, FailureKind, Outcome, Verdict};
use mc_runtime::schedule::Schedule;

fn check_with(options: &Options, body: fn()) -> Outcome {
    common::explore(options, body)
}

/// Panics of spawned threads are part of the test.
fn allowing_panics() -> Options {
    Options { allow_panics: true, ..Options::default() }
}

/// `body` holds; how many executions it has.
#[track_caller]
fn holds_with(options: &Options, body: fn()) -> u64 {
    let outcome = check_with(options, body);
    assert_eq!((outcome.verdict, &outcome.failures[..], &outcome.bounds[..]), (Verdict::Proved, &[][..], &[][..]));
    outcome.executions
}

#[track_caller]
fn holds(body: fn()) -> u64 {
    holds_with(&Options::default(), body)
}

/// `body` holds in each of exactly `executions`.
#[track_caller]
fn proved(executions: u64, body: fn()) {
    assert_eq!(holds(body), executions);
}

/// `body` fails in some execution, and in this way; its schedule can be read.
#[track_caller]
fn fails_with(options: &Options, kind: FailureKind, body: fn()) -> Failure {
    let mut outcome = check_with(options, body);
    assert_eq!(outcome.verdict, Verdict::Failed, "{outcome:?}");
    let failure = outcome.failures.remove(0);
    assert_eq!(failure.kind, kind, "{failure:?}");
    assert!(failure.schedule.parse::<Schedule>().is_ok(), "{failure:?}");
    failure
}

#[track_caller]
fn fails(kind: FailureKind, body: fn()) -> Failure {
    fails_with(&Options::default(), kind, body)
}
