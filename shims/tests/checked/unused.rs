//! Operations whose result nobody reads are no events, as long as nothing shows their order.

use std::hint::black_box;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicU8, AtomicUsize, fence};
use mc::sync::{Arc, Mutex};
use mc::thread;
use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions};
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

use super::{check_with, counterexample};

/// Memory that threads access as they like.
struct Plain(UnsafeCell<usize>);
// SAFETY: the checker says whether two threads have access at once, and only one of them runs at a time.
unsafe impl Sync for Plain {}

impl Plain {
    fn set(&self, to: usize) {
        // SAFETY: as above.
        self.0.with_mut(|number| unsafe { *number = to });
    }

    fn get(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|number| unsafe { *number })
    }
}

fn all_events() -> Reductions {
    Reductions::default().without(Reduction::Unused)
}

fn outcome(reductions: Reductions, body: fn()) -> Outcome {
    check_with(&Options { reductions, ..Options::default() }, body)
}

/// Executions with the reduction, and without.
fn counted(body: fn()) -> (u64, u64) {
    let executions = |reductions| {
        let outcome = outcome(reductions, body);
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
        outcome.executions
    };
    (executions(Reductions::default()), executions(all_events()))
}

/// Both find a failure of this kind.
fn both_fail(kind: FailureKind, body: fn()) {
    for reductions in [Reductions::default(), all_events()] {
        let outcome = outcome(reductions, body);
        assert_eq!(outcome.failures.first().map(|f| f.kind), Some(kind), "{:?}", outcome.verdict);
    }
}

/// Adds each number in a thread that is like no other.
fn add_all(count: &AtomicUsize, numbers: &[usize]) {
    thread::scope(|scope| {
        for number in numbers {
            scope.spawn(move || {
                count.fetch_add(*number, Relaxed);
            });
        }
    });
}

#[test]
fn a_count_that_is_looked_at_in_the_end_has_no_order() {
    fn body() {
        let count = AtomicUsize::new(0);
        add_all(&count, &[1, 2, 3]);
        assert_eq!(count.load(Relaxed), 6);
        add_all(&count, &[4, 5]);
        assert_eq!(count.into_inner(), 15);
    }
    assert_eq!(counted(body), (1, 12));
}

#[test]
fn statics_and_bits_are_counts_too() {
    static ADDED: AtomicUsize = AtomicUsize::new(7);
    fn body() {
        let bits = AtomicU8::new(0b1000);
        thread::scope(|scope| {
            for bit in 0..3 {
                let bits = &bits;
                scope.spawn(move || {
                    bits.fetch_or(1 << bit, Relaxed);
                    ADDED.fetch_add(bit, Release);
                    ADDED.fetch_sub(1, Relaxed);
                });
            }
        });
        assert_eq!((bits.load(Relaxed), ADDED.load(Relaxed)), (0b1111, 7));
    }
    assert_eq!(outcome(Reductions::default(), body).executions, 1);
}

#[test]
fn a_result_that_is_used_has_an_order() {
    fn body() {
        let (count, second) = (AtomicUsize::new(0), AtomicUsize::new(9));
        thread::scope(|scope| {
            for number in [1, 2] {
                let (count, second) = (&count, &second);
                scope.spawn(move || {
                    if count.fetch_add(number, Relaxed) != 0 {
                        second.store(number, Relaxed);
                    }
                });
            }
        });
        assert_ne!(second.load(Relaxed), 9);
    }
    assert_eq!(counted(body), (2, 2));
}

#[test]
fn a_result_that_is_handed_on_is_used_by_whom_it_is_handed_to() {
    #[inline(never)]
    fn bump(count: &AtomicUsize, by: usize) -> usize {
        count.fetch_add(by, Relaxed)
    }
    #[inline(never)]
    fn hand_on(count: &AtomicUsize, by: usize) -> usize {
        black_box(());
        bump(count, by)
    }
    fn ignored() {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in [1, 2] {
                let count = &count;
                scope.spawn(move || {
                    hand_on(count, number);
                });
            }
        });
    }
    fn looked_at() {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in [1, 2] {
                let count = &count;
                scope.spawn(move || assert_ne!(hand_on(count, number), 2));
            }
        });
    }
    assert_eq!(counted(ignored), (1, 2));
    both_fail(FailureKind::Panic, looked_at);
}

#[test]
fn who_looks_between_updates_sees_each_number() {
    fn body() {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in [1, 2] {
                let count = &count;
                scope.spawn(move || {
                    count.fetch_add(number, Relaxed);
                });
            }
            assert_ne!(count.load(Relaxed), 2);
        });
    }
    both_fail(FailureKind::Panic, body);
}

#[test]
fn who_waits_for_a_count_goes_on() {
    fn body() {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in [1, 2] {
                let count = &count;
                scope.spawn(move || {
                    count.fetch_add(number, Relaxed);
                });
            }
            while count.load(Relaxed) < 3 {
                mc::hint::spin_loop();
            }
        });
    }
    counted(body);
}

#[test]
fn stores_and_other_updates_find_the_order_out() {
    fn store() {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| count.fetch_add(1, Relaxed));
            count.store(5, Relaxed);
        });
        assert_ne!(count.load(Relaxed), 5);
    }
    fn other_kind() {
        let count = AtomicUsize::new(1);
        thread::scope(|scope| {
            scope.spawn(|| {
                count.fetch_add(1, Relaxed);
            });
            count.fetch_and(1, Relaxed);
        });
        assert_ne!(count.load(Relaxed), 2);
    }
    fn exclusive() {
        let mut count = AtomicUsize::new(1);
        *count.get_mut() = 3;
        add_all(&count, &[1, 1]);
        *count.get_mut() += 1;
        add_all(&count, &[1]);
        assert_ne!(count.load(Relaxed), 7);
    }
    both_fail(FailureKind::Panic, store);
    both_fail(FailureKind::Panic, other_kind);
    both_fail(FailureKind::Panic, exclusive);
}

#[test]
fn a_fence_synchronises_with_an_update() {
    fn body() {
        let (count, data) = (AtomicUsize::new(0), Plain(UnsafeCell::new(0)));
        let seen = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                data.set(1);
                count.fetch_add(1, Release);
            });
            scope.spawn(|| {
                count.fetch_add(10, Relaxed);
                fence(Acquire);
                seen.store(1, Relaxed);
            });
        });
        assert_eq!(data.get(), 1);
    }
    let (with, without) = counted(body);
    assert_eq!((with, without), (2, 2));
}

#[test]
fn updates_that_synchronise_are_events() {
    fn body() {
        let (count, data) = (AtomicUsize::new(0), Plain(UnsafeCell::new(0)));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.set(1);
                count.fetch_add(1, AcqRel);
            });
            scope.spawn(|| {
                count.fetch_add(10, SeqCst);
                data.set(2);
            });
        });
    }
    both_fail(FailureKind::DataRace, body);
}

#[test]
fn a_free_races_with_an_update() {
    fn body() {
        struct Raw(*const AtomicUsize);
        // SAFETY: that is what the checker finds out.
        unsafe impl Send for Raw {}
        let count = Raw(Box::into_raw(Box::new(AtomicUsize::new(0))));
        let theirs = Raw(count.0);
        let other = thread::spawn(move || {
            let theirs = theirs;
            // SAFETY: as above.
            unsafe { &*theirs.0 }.fetch_add(1, Relaxed);
        });
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(count.0.cast_mut()) });
        other.join().unwrap();
    }
    both_fail(FailureKind::UseAfterFree, body);
}

#[test]
fn a_drop_that_counts_is_a_drop() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    fn body() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let owner = Arc::new(Counted(dropped.clone()));
        let other = owner.clone();
        let thread = thread::spawn(move || drop(other));
        drop(owner);
        let early = dropped.load(Relaxed);
        thread.join().unwrap();
        assert_eq!(dropped.load(Relaxed), 1);
        assert_eq!(early, 1, "the other owner may be the last");
    }
    both_fail(FailureKind::Panic, body);
}

#[inline(never)]
fn look(flag: &AtomicUsize) -> usize {
    flag.load(Relaxed)
}

#[test]
fn a_load_that_nobody_reads_is_no_choice() {
    fn body() {
        let flag = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                flag.store(1, Relaxed);
                flag.store(2, Relaxed);
            });
            look(&flag);
        });
    }
    assert_eq!(counted(body), (1, 3));
}

#[test]
fn a_loop_of_loads_that_nobody_reads_waits_for_ever() {
    fn body() {
        let flag = AtomicUsize::new(0);
        loop {
            look(&flag);
        }
    }
    both_fail(FailureKind::Livelock, body);
}

/// Two kinds of update from one place in the code.
#[test]
fn kinds_of_updates_are_told_apart_where_their_place_is_the_same() {
    #[track_caller]
    fn claim(bits: &AtomicUsize, more: usize) {
        bits.fetch_add(more, Relaxed);
        bits.fetch_or(2, Relaxed);
    }
    fn body() {
        let bits = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                bits.fetch_or(1, Relaxed);
            });
            claim(&bits, 1);
        });
        assert_eq!(bits.load(Relaxed), 3);
    }
    both_fail(FailureKind::Panic, body);
}

#[test]
fn a_load_of_a_part_races_with_a_store_of_the_whole() {
    #[inline(never)]
    fn look_at_part(part: &AtomicU8) {
        part.load(Relaxed);
    }
    fn body() {
        let whole = AtomicUsize::new(0);
        thread::scope(|scope| {
            // SAFETY: the first of its bytes; that they are accessed as a whole, too, is what is tested.
            let part = unsafe { AtomicU8::from_ptr((&raw const whole).cast_mut().cast()) };
            scope.spawn(move || look_at_part(part));
            whole.store(1, Relaxed);
        });
    }
    both_fail(FailureKind::DataRace, body);
}

#[test]
fn plain_memory_around_a_count_is_other_memory() {
    struct Shared(UnsafeCell<(AtomicUsize, usize)>);
    // SAFETY: the checker says whether two threads have access at once, and only one of them runs at a time.
    unsafe impl Sync for Shared {}
    fn body() {
        let shared = Shared(UnsafeCell::new((AtomicUsize::new(0), 0)));
        // SAFETY: nobody has exclusive access.
        let count = shared.0.with(|at| unsafe { &(*at).0 });
        thread::scope(|scope| {
            scope.spawn(|| {
                count.fetch_add(1, Relaxed);
            });
            // SAFETY: nobody else accesses this part.
            shared.0.with_mut(|at| unsafe { (*at).1 = 1 });
        });
    }
    assert_eq!(counted(body), (1, 1));
}

#[test]
fn an_update_that_changes_nothing_leaves_nothing_behind() {
    fn body() {
        static MOST: std::sync::OnceLock<Box<AtomicUsize>> = std::sync::OnceLock::new();
        MOST.get_or_init(|| Box::new(AtomicUsize::new(5))).fetch_max(5, Relaxed);
    }
    fn changes() {
        static MOST: std::sync::OnceLock<Box<AtomicUsize>> = std::sync::OnceLock::new();
        MOST.get_or_init(|| Box::new(AtomicUsize::new(5))).fetch_add(1, Relaxed);
    }
    assert_eq!(counted(body), (1, 1));
    both_fail(FailureKind::Contract, changes);
}

#[test]
fn an_update_after_the_free_is_a_use_of_freed_memory() {
    fn body() {
        let count = Box::into_raw(Box::new(AtomicUsize::new(0)));
        // SAFETY: none of the second: that is the mistake.
        unsafe {
            drop(Box::from_raw(count));
            (*count).fetch_add(1, Relaxed);
        }
    }
    both_fail(FailureKind::UseAfterFree, body);
}

/// The next check of the process finds what this one found.
#[test]
fn a_static_is_as_before_after_a_check() {
    static COUNT: AtomicUsize = AtomicUsize::new(7);
    fn body() {
        COUNT.fetch_add(1, Relaxed);
        COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
    }
    counted(body);
    assert_eq!(COUNT.load(Relaxed), 7);
}

#[test]
fn a_loop_of_updates_ends_at_the_limit_of_events() {
    fn body() {
        let count = AtomicUsize::new(0);
        loop {
            count.fetch_add(1, Relaxed);
        }
    }
    let outcome = check_with(&Options { max_events: 100, ..Options::default() }, body);
    assert_eq!((outcome.verdict, outcome.executions), (Verdict::Bounded, 0));
}

#[test]
fn a_count_beside_a_lock_adds_no_executions() {
    fn body() {
        let (lock, count) = (Mutex::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for number in [1, 2] {
                let (lock, count) = (&lock, &count);
                scope.spawn(move || {
                    count.fetch_add(number, Relaxed);
                    *lock.lock().unwrap() += number;
                    count.fetch_add(number, Relaxed);
                });
            }
        });
        assert_eq!(count.load(Relaxed), 6);
    }
    let (with, without) = counted(body);
    assert_eq!(with, 2);
    assert!(without > 2);
}

/// Where every operation synchronises, and where an update empties the store buffer, updates are events.
#[test]
fn other_memory_models_have_all_events() {
    fn body() {
        let count = AtomicUsize::new(0);
        add_all(&count, &[1, 2]);
    }
    for memory_model in [MemoryModel::Sc, MemoryModel::Tso] {
        assert_eq!(check_with(&Options { memory_model, ..Options::default() }, body).executions, 2);
    }
}

#[test]
fn a_failure_is_replayed_with_all_events() {
    fn body() {
        let (count, flag) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for number in [1, 2] {
                let (count, flag) = (&count, &flag);
                scope.spawn(move || {
                    count.fetch_add(number, Relaxed);
                    flag.store(number, Relaxed);
                    count.fetch_add(number, Relaxed);
                });
            }
        });
        assert_ne!((flag.load(Relaxed), count.load(Relaxed)), (1, 6));
    }
    let text = counterexample(body);
    assert_eq!(text.matches("fetch_add(").count(), 4, "{text}");
    assert!(text.contains("left != right") || text.contains("`left != right`"), "{text}");
}
