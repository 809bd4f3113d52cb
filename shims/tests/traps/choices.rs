//! Data choices and assumptions, and the choice that a weak compare-exchange is.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::sync::Arc;
use mc::sync::atomic::AtomicUsize;
use mc::thread;
use mc_runtime::options::{MemoryModel, Options, Strategy};
use mc_runtime::outcome::FailureKind::Panic;
use mc_runtime::outcome::{Outcome, Verdict};

use super::{check_with, fails, proved};

#[test]
fn choices_of_several_threads_are_multiplied() {
    proved(24, || {
        let threads = [2, 3].map(|n| thread::spawn(move || mc::choose(0..n)));
        let sum: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(sum + mc::choose(0..4_usize) <= 6);
    });
    proved(1, || assert_eq!(mc::choose(5..6), 5));
}

#[test]
fn a_value_that_only_one_choice_shows_is_found() {
    fails(Panic, || {
        let threads = [0, 1].map(|_| thread::spawn(|| mc::choose(0..7)));
        let [a, b] = threads.map(|thread| thread.join().unwrap());
        assert!((a, b) != (3, 6));
    });
}

#[test]
fn as_many_failures_are_kept_as_are_looked_for() {
    let found = |max_failures| {
        let outcome = check_with(&Options { max_failures, ..Options::default() }, || {
            assert!(mc::choose(0..1_300) == 0, "all but one fail");
        });
        (outcome.failures.len(), outcome.executions)
    };
    assert_eq!(found(1_200), (1_200, 1_201));
    assert_eq!(found(u64::MAX), (1_299, 1_300));
}

#[test]
fn an_execution_that_is_assumed_away_is_not_counted() {
    let outcome = check_with(&Options::default(), || {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = number.clone();
        let thread = thread::spawn(move || theirs.store(1, Relaxed));
        mc::assume(number.load(Relaxed) == 1);
        thread.join().unwrap();
    });
    assert_eq!((outcome.verdict, outcome.executions, outcome.blocked), (Verdict::Proved, 1, 1), "{outcome:?}");
}

#[test]
fn what_never_holds_proves_nothing() {
    let sampled = Options { strategy: Strategy::Walk, max_executions: Some(5), ..Options::default() };
    for (options, executions) in [(Options::default(), 3), (sampled, 5)] {
        let outcome = check_with(&options, || {
            let chosen = mc::choose(0..3);
            mc::assume(chosen > 2);
            panic!("no execution comes here");
        });
        let bounds: Vec<_> = outcome.bounds.iter().map(|bound| (&bound.limit[..], bound.cut)).collect();
        let expected = (Verdict::Bounded, 0, &[("assume", executions)][..]);
        assert_eq!((outcome.verdict, outcome.executions, &bounds[..]), expected);
    }
}

#[test]
fn a_thread_that_assumes_away_its_execution_hides_no_failure_of_another() {
    fails(Panic, || {
        let thread = thread::spawn(|| mc::assume(false));
        let other = thread::spawn(|| panic!("found all the same"));
        let _ = (thread.join(), other.join());
    });
}

#[test]
fn a_choice_among_nothing_is_an_error() {
    let failure = fails(Panic, || assert_eq!(mc::choose(0..0), 0));
    assert!(failure.site.is_some_and(|site| site.file.ends_with("choices.rs")));
}

#[test]
fn a_weak_exchange_may_fail_for_no_reason() {
    fn once() {
        let number = AtomicUsize::new(0);
        number.compare_exchange_weak(0, 1, Acquire, Relaxed).unwrap();
    }
    fails(Panic, once);
    // Sequential consistency is about the order only; an x86 has no weak one.
    for (memory_model, verdict) in [(MemoryModel::Sc, Verdict::Failed), (MemoryModel::Tso, Verdict::Proved)] {
        let outcome = check_with(&Options { memory_model, ..Options::default() }, once);
        assert_eq!((outcome.verdict, &outcome.bounds[..]), (verdict, &[][..]), "{memory_model:?}");
    }
    // It fails once, or not at all.
    proved(2, || {
        let number = AtomicUsize::new(0);
        while number.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {}
        assert_eq!(number.load(Relaxed), 1);
    });
}

#[test]
fn a_proof_is_none_where_a_second_failure_for_no_reason_could_matter() {
    // In a row, not in a loop: each of them may fail.
    fn twice() {
        let number = AtomicUsize::new(0);
        let exchanged = || number.compare_exchange_weak(0, 1, Acquire, Relaxed).is_ok();
        let first = exchanged();
        assert!(first || number.compare_exchange_weak(0, 1, Acquire, Relaxed).is_ok(), "both failed");
    }
    let outcome = check_with(&Options::default(), twice);
    let bounds: Vec<_> = outcome.bounds.iter().map(|bound| (&bound.limit[..], bound.value, bound.cut)).collect();
    assert_eq!((outcome.verdict, &bounds[..]), (Verdict::Bounded, &[("spurious_failures", 1, 1)][..]), "{outcome:?}");
    let failure = &check_with(&Options { spurious_failures: 2, ..Options::default() }, twice).failures[0];
    assert_eq!((failure.kind, &failure.message[..]), (Panic, "both failed"));
    // One that is tried again at once is as if it had not been tried, also where another such loop follows.
    proved(3, || {
        let number = AtomicUsize::new(0);
        for next in 0..2 {
            while number.compare_exchange_weak(next, next + 1, Acquire, Relaxed).is_err() {}
        }
        assert_eq!(number.load(Relaxed), 2);
    });
}

#[test]
fn a_round_that_begins_again_may_go_on_in_another_way() {
    // What it reads then is what another thread has written meanwhile, and the next time it is where it had failed.
    let outcome = check_with(&Options::default(), || {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = number.clone();
        let thread = thread::spawn(move || [0, 1].map(|_| theirs.fetch_add(1, Relaxed)));
        for _ in 0..2 {
            loop {
                let seen = number.load(Relaxed);
                let exchanged = match seen % 2 {
                    0 => number.compare_exchange_weak(seen, seen + 2, Relaxed, Relaxed),
                    _ => number.compare_exchange_weak(seen, seen + 10, Relaxed, Relaxed),
                };
                if exchanged.is_ok() {
                    break;
                }
            }
        }
        thread.join().unwrap();
        assert_eq!(number.load(Relaxed) % 2, 0);
    });
    assert_eq!((outcome.verdict, &outcome.bounds[..]), (Verdict::Proved, &[][..]), "{outcome:?}");
}

#[test]
fn a_weak_exchange_in_a_loop_loses_nothing() {
    fn add(number: &AtomicUsize) {
        let mut seen = number.load(Relaxed);
        while let Err(now) = number.compare_exchange_weak(seen, seen + 1, Release, Relaxed) {
            seen = now;
        }
    }
    super::holds(|| {
        let number = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1].map(|_| {
            let number = number.clone();
            thread::spawn(move || add(&number))
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(number.load(Relaxed), 2);
    });
}

/// Whoever waits for the lock tries in vain, any number of times; that is no choice each time.
#[test]
fn a_lock_that_is_taken_by_weak_exchanges_is_proved() {
    fn spins(failures: u32) -> Outcome {
        let options = Options { spurious_failures: failures, ..Options::default() };
        check_with(&options, || {
            let lock = Arc::new(AtomicUsize::new(0));
            let add = |lock: &AtomicUsize| {
                while lock.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {}
                lock.store(0, Release);
            };
            let other = lock.clone();
            let thread = thread::spawn(move || add(&other));
            add(&lock);
            thread.join().unwrap();
        })
    }
    // How many executions: in code without optimisations, rounds look different that are not.
    let (never, once) = (spins(0), spins(1));
    assert_eq!((never.verdict, once.verdict), (Verdict::Proved, Verdict::Proved));
    // In each order, the first fails at the first value or not at all, the second at the first value, at that of the first, or not at all.
    assert!(never.executions >= 2 && once.executions >= 2 * 2 * 3, "{never:?} {once:?}");
}

/// A round in which a weak exchange failed for no reason is not like the next one, in which that is over.
#[test]
fn a_thread_goes_on_after_a_failure_for_no_reason() {
    let outcome = check_with(&Options::default(), || {
        let (stamp, head) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let theirs = head.clone();
        let thread = thread::spawn(move || (1..3).for_each(|n| theirs.store(n, Relaxed)));
        let mut seen = head.load(Relaxed);
        while stamp.load(Acquire) == 0 {
            match head.compare_exchange_weak(seen, seen + 10, Relaxed, Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        thread.join().unwrap();
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{outcome:?}");
}
