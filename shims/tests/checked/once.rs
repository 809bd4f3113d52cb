//! `Once`, `OnceLock`, `LazyLock`.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use mc::sync::{LazyLock, Once, OnceLock};
use mc::thread;
use mc_runtime::outcome::FailureKind;

use super::{check, fails};

#[test]
fn one_of_two_calls_runs_and_both_see_it_done() {
    let outcome = check(|| {
        let (once, cell) = (Once::new(), OnceLock::new());
        thread::scope(|scope| {
            for number in 0..2 {
                let (once, cell) = (&once, &cell);
                scope.spawn(move || {
                    once.call_once(|| cell.set(number).unwrap());
                    assert!(cell.get().is_some());
                });
            }
        });
    });
    assert_eq!(outcome.failures, []);
}

#[test]
fn an_initialisation_that_needs_itself_is_a_deadlock() {
    fails(FailureKind::Deadlock, || {
        static CELL: OnceLock<u8> = OnceLock::new();
        CELL.get_or_init(|| *CELL.get_or_init(|| 1));
    });
}

#[test]
fn lazy_statics_are_made_once_in_every_execution() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static LAZY: LazyLock<String> = LazyLock::new(|| {
        MADE.fetch_add(1, Relaxed);
        "lazy".to_owned()
    });
    let outcome = check(|| {
        MADE.store(0, Relaxed);
        let thread = thread::spawn(|| LAZY.len());
        assert_eq!(LAZY.len(), 4);
        thread.join().unwrap();
        assert_eq!(MADE.load(Relaxed), 1);
    });
    assert_eq!(outcome.failures, []);
    assert!(outcome.executions >= 2, "who makes it: {outcome:?}");
}
