//! Of threads that only look, each sees all that it can, beside others that see the newest writes: unless that would show.
//!
//! A process of its own, in which one exploration is made at a time: what other threads of a process write looks as if observers wrote it.
#![cfg(mc)]

use std::hint::black_box;
use std::panic::catch_unwind;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mc::__private::run_body;
use mc::sync::Arc;
use mc::sync::atomic::{AtomicUsize, fence};
use mc::thread;
use mc_runtime::models::{Bounds, replay};
use mc_runtime::options::{Options, Reduction, Reductions};
use mc_runtime::outcome::Verdict;

mod common;

/// Nobody else explores meanwhile.
fn one() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn both() -> [Reductions; 2] {
    [Reductions::default(), Reductions::default().without(Reduction::Observer)]
}

/// Complete executions with the reduction and without.
#[track_caller]
fn counted(body: fn()) -> [u64; 2] {
    let _one = one();
    both().map(|reductions| {
        let outcome = common::explore(&Options { reductions, ..Options::default() }, body);
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
        outcome.executions
    })
}

/// It fails with the reduction and without, and does so again where it is told how.
#[track_caller]
fn both_fail(body: fn()) {
    let _one = one();
    for reductions in both() {
        let outcome = common::explore(&Options { reductions, ..Options::default() }, body);
        assert_eq!(outcome.verdict, Verdict::Failed, "{outcome:?}");
        for failure in outcome.failures {
            let replayed = catch_unwind(move || replay(Bounds::default(), &failure.schedule, move || run_body(body)));
            let text = *replayed.unwrap_err().downcast::<String>().expect("a counterexample is a text");
            let what = failure.message.lines().next().expect("it says what");
            assert!(text.contains(what), "{text}");
        }
    }
}

fn atomics<const N: usize>() -> Arc<[AtomicUsize; N]> {
    Arc::new([const { AtomicUsize::new(0) }; N])
}

/// Is what a sequence lock protects whole?
fn read_seqlock(v: &[AtomicUsize; 3]) {
    loop {
        let before = v[0].load(Acquire);
        if before.is_multiple_of(2) {
            let (a, b) = (v[1].load(Relaxed), v[2].load(Relaxed));
            fence(Acquire);
            if v[0].load(Relaxed) == before {
                assert_eq!(a, b, "torn read");
                return;
            }
        }
        thread::yield_now();
    }
}

fn seqlock(readers: usize) {
    let v = atomics::<3>();
    let writer = {
        let v = v.clone();
        thread::spawn(move || {
            v[0].store(1, Relaxed);
            fence(Release);
            v[1].store(7, Relaxed);
            v[2].store(7, Relaxed);
            v[0].store(2, Release);
        })
    };
    // Each has a name of its own, so that no two are alike.
    let readers: Vec<_> = (0..readers)
        .map(|number| {
            let v = v.clone();
            thread::Builder::new().name(number.to_string()).spawn(move || read_seqlock(&v)).unwrap()
        })
        .collect();
    writer.join().unwrap();
    for reader in readers {
        reader.join().unwrap();
    }
}

#[test]
fn what_readers_of_a_sequence_lock_see_together_is_left_out() {
    let [with, without] = counted(|| seqlock(1));
    assert_eq!(with, without);
    let [two, all] = counted(|| seqlock(2));
    assert_eq!((two, all), (2 * with - 1, with * with));
    let [three, all] = counted(|| seqlock(3));
    assert_eq!((three, all), (3 * with - 2, with * with * with));
}

/// Two readers of what a third thread writes once, as they say, and then the end of the body, which may join the writer. The first reader is told that it is the first.
fn two_readers(
    read: impl Fn(&AtomicUsize, bool) + Clone + Send + 'static,
    end: impl FnOnce(&AtomicUsize, thread::JoinHandle<()>),
) {
    let x = Arc::new(AtomicUsize::new(0));
    let writer = x.clone();
    let writer = thread::spawn(move || writer.store(1, Release));
    let readers = [true, false].map(|first| {
        let (x, read) = (x.clone(), read.clone());
        thread::spawn(move || read(&x, first))
    });
    for reader in readers {
        reader.join().unwrap();
    }
    end(&x, writer);
}

#[test]
fn what_the_body_knows_also_without_them_makes_no_difference() {
    fn look(x: &AtomicUsize, _: bool) {
        assert!(black_box(x.load(Acquire)) < 2);
    }
    assert_eq!(counted(|| two_readers(look, |_, writer| writer.join().unwrap())), [3, 4]);
    assert_eq!(counted(|| two_readers(look, |_, _| ())), [4, 4]);
}

#[test]
fn what_each_has_seen_is_asserted() {
    both_fail(|| two_readers(|x, first| assert!(first || x.load(Relaxed) == 1), |_, writer| writer.join().unwrap()));
    both_fail(|| two_readers(|x, first| assert!(!first || x.load(Relaxed) == 0), |_, writer| writer.join().unwrap()));
}

#[test]
fn what_the_body_knows_by_both_is_seen() {
    // Coherence: where one has read the new value, the body cannot read the old one.
    both_fail(|| two_readers(|x, _| _ = black_box(x.load(Relaxed)), |x, _| assert_eq!(x.load(Relaxed), 1)));
    both_fail(|| two_readers(|x, _| _ = black_box(x.load(SeqCst)), |x, _| assert_eq!(x.load(SeqCst), 1)));
}

/// Two readers that return what they have read, in some form.
fn return_what_they_see<T: Send + 'static>(form: fn(usize) -> T, value: fn(T) -> usize) {
    let x = Arc::new(AtomicUsize::new(0));
    let writer = x.clone();
    let writer = thread::spawn(move || writer.store(1, Release));
    let readers = [(); 2].map(|()| {
        let x = x.clone();
        thread::spawn(move || form(x.load(Acquire)))
    });
    writer.join().unwrap();
    let seen = readers.map(|reader| value(reader.join().unwrap()));
    assert_ne!(seen, [0, 0]);
}

#[test]
fn what_they_return_is_seen() {
    both_fail(|| return_what_they_see(|seen| seen, |seen| seen));
}

#[test]
fn what_they_return_is_seen_also_behind_a_pointer() {
    both_fail(|| return_what_they_see(|seen| vec![seen], |seen| seen[0]));
}

#[test]
fn what_they_leave_in_memory_is_seen() {
    // In what the body lends them, of which the checker sees nothing.
    both_fail(|| {
        let (x, mut seen) = (AtomicUsize::new(0), [9; 2]);
        thread::scope(|scope| {
            scope.spawn(|| x.store(1, Relaxed));
            for place in &mut seen {
                let x = &x;
                scope.spawn(move || *place = x.load(Relaxed));
            }
        });
        assert_ne!(seen, [0, 0]);
    });
    both_fail(|| {
        let (x, seen) = (Arc::new(AtomicUsize::new(0)), std::sync::Arc::new(StdAtomicUsize::new(0)));
        let writer = x.clone();
        let writer = thread::spawn(move || writer.store(1, Relaxed));
        let readers = [(); 2].map(|()| {
            let (x, seen) = (x.clone(), seen.clone());
            thread::spawn(move || {
                if x.load(Relaxed) == 0 {
                    seen.fetch_add(1, Relaxed);
                }
            })
        });
        writer.join().unwrap();
        for reader in readers {
            reader.join().unwrap();
        }
        assert_ne!(seen.load(Relaxed), 2);
    });
}

#[test]
fn what_time_they_take_is_seen() {
    both_fail(|| {
        let start = mc::time::Instant::now();
        let x = Arc::new(AtomicUsize::new(0));
        let writer = x.clone();
        let writer = thread::spawn(move || writer.store(1, Relaxed));
        let [first, second] = [1, 2].map(|seconds| {
            let x = x.clone();
            thread::spawn(move || {
                if x.load(Relaxed) == 0 {
                    thread::sleep(Duration::from_secs(seconds));
                }
            })
        });
        writer.join().unwrap();
        first.join().unwrap();
        let after_first = start.elapsed();
        second.join().unwrap();
        assert!(after_first < Duration::from_secs(1) || start.elapsed() < Duration::from_secs(2));
    });
}

#[test]
fn who_writes_after_all_is_no_observer() {
    both_fail(|| {
        let v = atomics::<3>();
        let threads = [0, 1, 2].map(|number| {
            let v = v.clone();
            thread::spawn(move || match number {
                0 => v[0].store(1, Relaxed),
                _ if v[0].load(Relaxed) == 0 => v[number].store(1, Relaxed),
                _ => {}
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_ne!([1, 2].map(|number| v[number].load(Relaxed)), [1, 1]);
    });
}

#[test]
fn what_the_body_does_between_joins_is_seen_by_those_that_are_not_joined() {
    both_fail(|| {
        let v = atomics::<2>();
        let writer = v.clone();
        let writer = thread::spawn(move || writer[0].store(1, Relaxed));
        let [first, second] = [true, false].map(|first| {
            let v = v.clone();
            thread::spawn(move || {
                let seen = [v[1].load(Acquire), v[0].load(Relaxed)];
                assert!(first || seen != [1, 1], "the second has seen both");
            })
        });
        writer.join().unwrap();
        first.join().unwrap();
        v[1].store(1, Release);
        second.join().unwrap();
    });
}
