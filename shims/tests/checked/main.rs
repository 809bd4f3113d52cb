//! Small programs under the engine: how many executions each has, and that a typical misuse of each shim is found.
//!
//! The numbers are counted by hand, from the orders that can be told apart; the comment beside each says which.
#![cfg(mc)]

mod arcs;
mod channels;
#[path = "../common/mod.rs"]
mod common;
mod futures;
mod locals;
mod locks;
mod once;
mod ordering;
mod readers;
mod threads;
mod unused;
mod waiting;
mod wakeups;

use mc_runtime::options::Options;
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

/// Explores `body`.
fn check(body: fn()) -> Outcome {
    check_with(&Options::default(), body)
}

fn check_with(options: &Options, body: fn()) -> Outcome {
    common::explore(options, body)
}

/// `body` holds in each of exactly `executions`.
#[track_caller]
fn proved(executions: u64, body: fn()) {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    assert_eq!(outcome.executions, executions, "{outcome:?}");
}

/// `body` fails in some execution.
#[track_caller]
fn fails(kind: FailureKind, body: fn()) {
    let outcome = check(body);
    let kinds: Vec<_> = outcome.failures.iter().map(|failure| failure.kind).collect();
    assert_eq!(kinds, [kind], "{outcome:?}");
}

/// How often `body` ends with each of its results.
#[track_caller]
fn results<const N: usize>(seen: &'static [std::sync::atomic::AtomicUsize; N], body: fn()) -> [bool; N] {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    seen.each_ref().map(|count| count.load(std::sync::atomic::Ordering::Relaxed) > 0)
}
