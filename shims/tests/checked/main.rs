//! Small programs under the engine: how many executions each has, and that a typical misuse of each shim is found.
//!
//! The numbers are counted by hand, from the orders that can be told apart; the comment beside each says which.
#![cfg(mc)]

mod arcs;
mod as_std;
#[path = "../common/chance.rs"]
mod chance;
mod channels;
#[path = "../common/mod.rs"]
mod common;
mod futures;
mod handed_on;
mod left_behind;
mod locals;
mod locks;
mod once;
mod ordering;
mod owners;
mod readers;
mod reuse;
mod sizes;
mod threads;
mod unused;
mod waiting;
mod wakeups;

use std::fmt::Debug;
use std::panic::{UnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use mc::__private::run_body;
use mc_runtime::models::{Bounds, replay};
use mc_runtime::options::{Options, Reductions, Strategy};
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

/// Explores `body`.
fn check(body: fn()) -> Outcome {
    check_with(&Options::default(), body)
}

fn check_with(options: &Options, body: fn()) -> Outcome {
    common::explore(options, body)
}

/// How many of so many random programs are looked at: a switch between threads of the operating system takes a hundred times as long.
fn programs(all: u64) -> u64 {
    if std::env::var_os("MC_THREADS").is_some_and(|threads| threads == "os") { all / 12 } else { all }
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

/// The failure of `body`, replayed and told.
#[track_caller]
fn counterexample(body: fn()) -> String {
    let outcome = check(body);
    let [failure] = &outcome.failures[..] else { panic!("{outcome:?}") };
    replayed(failure.schedule.clone(), body)
}

/// The failure that `body` has by this schedule, told.
#[track_caller]
fn replayed(schedule: String, body: impl Fn() + Copy + Send + Sync + UnwindSafe + 'static) -> String {
    let replayed = catch_unwind(move || replay(Bounds::default(), &schedule, move || run_body(body)));
    *replayed.unwrap_err().downcast::<String>().expect("a counterexample is a text")
}

/// How often `body` ends with each of its results.
#[track_caller]
fn results<const N: usize>(seen: &'static [std::sync::atomic::AtomicUsize; N], body: fn()) -> [bool; N] {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    seen.each_ref().map(|count| count.load(std::sync::atomic::Ordering::Relaxed) > 0)
}

/// `body` panics with `message`, whoever looks, and where memory is used again.
#[track_caller]
fn meets_what_is_there_again(message: &str, body: fn()) {
    let text = counterexample(body);
    assert!(text.contains(message) && text.contains("gets freed memory again"), "{text}");
    for strategy in [Strategy::Bfs, Strategy::Random, Strategy::Walk, Strategy::Pct(3), Strategy::Pos] {
        let outcome = check_with(&Options { strategy, ..Options::default() }, body);
        let kinds: Vec<_> = outcome.failures.iter().map(|failure| failure.kind).collect();
        assert_eq!(kinds, [FailureKind::Panic], "{outcome:?}");
    }
}

/// All outcomes of a program, which are less than 1,024, a bit each.
type Outcomes = [u64; 16];

/// All outcomes of a program that is proved.
#[track_caller]
fn outcomes<P: Debug + Sync>(
    reductions: Reductions,
    program: &'static P,
    outcome: fn(&'static P) -> usize,
) -> Outcomes {
    let (verdict, seen) = explored(reductions, program, outcome);
    assert_eq!(verdict, Verdict::Proved, "{program:?}");
    seen
}

/// All outcomes of a program, but for what an allocator may hand over from thread to thread, and whether that could be told.
#[track_caller]
fn explored<P: Debug + Sync>(
    reductions: Reductions,
    program: &'static P,
    outcome: fn(&'static P) -> usize,
) -> (Verdict, Outcomes) {
    static SEEN: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    SEEN.iter().for_each(|word| word.store(0, Relaxed));
    let options = Options { reductions, ..Options::default() };
    let checked = common::explore(&options, move || {
        let seen = outcome(program);
        SEEN[seen / 64].fetch_or(1 << (seen % 64), Relaxed);
    });
    let expected = if checked.bounds.is_empty() { Verdict::Proved } else { Verdict::Bounded };
    assert_eq!((checked.verdict, &checked.failures[..]), (expected, &[][..]), "{program:?}");
    assert!(checked.bounds.iter().all(|bound| bound.limit == "address_reuse"), "{program:?}: {checked:?}");
    (checked.verdict, SEEN.each_ref().map(|word| word.load(Relaxed)))
}
