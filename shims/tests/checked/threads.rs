//! Spawning, joining, scopes.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::sync::atomic::AtomicU32;
use mc::sync::{Arc, Mutex};
use mc::thread::{self, Builder, Thread};
use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions, Strategy};
use mc_runtime::outcome::{FailureKind, Verdict};
use mc_runtime::schedule::Schedule;

use super::{check_with, counterexample, fails, proved, replayed, results};

#[test]
fn results_are_moved_to_whoever_joins() {
    proved(1, || {
        let thread = thread::spawn(|| vec![1, 2]);
        assert_eq!(thread.join().unwrap(), [1, 2]);
    });
}

#[test]
fn a_panic_of_a_thread_is_a_failure() {
    fails(FailureKind::Panic, || drop(thread::spawn(|| panic!("wrong")).join()));
}

#[test]
fn a_counterexample_names_lines_of_the_test_only() {
    let text = counterexample(|| {
        let thread = thread::spawn(|| {});
        assert!(!thread.is_finished());
        thread.join().unwrap();
    });
    assert!(text.contains("thread is done"), "{text}");
    assert!(!text.contains("launch.rs"), "{text}");
}

#[test]
fn a_thread_that_fails_at_once_does_so_at_the_same_time_in_a_replay() {
    fn body() {
        let x = Arc::new(AtomicU32::new(0));
        let y = x.clone();
        let stores = thread::spawn(move || y.store(1, Relaxed));
        let panics = thread::spawn(|| panic!("at once"));
        for thread in [stores, panics] {
            thread.join().unwrap();
        }
        x.store(2, Relaxed);
    }
    let failed = (0..32).map(|seed| {
        let options = Options { strategy: Strategy::Walk, seed, ..Options::default() };
        check_with(&options, body).failures[0].schedule.clone()
    });
    let spawns_only = |schedule: &String| schedule.parse::<Schedule>().unwrap().events == 2;
    let schedule = failed.into_iter().find(spawns_only).expect("the second thread came first in one of them");
    let text = replayed(schedule, body);
    assert!(text.contains("panicked") && !text.contains("store"), "{text}");
}

/// A number, and plain memory that is not shared as it should be.
#[derive(Default)]
struct Shared {
    plain: UnsafeCell<u32>,
    number: AtomicU32,
}

// SAFETY: it is not safe, which is what is found.
unsafe impl Sync for Shared {}

impl Shared {
    fn write(&self) {
        self.plain.with_mut(|value| value as usize);
    }
}

/// Samples of it fail as their replays do.
#[track_caller]
fn tells_the_same_in_replays(body: fn()) {
    for seed in 0..64 {
        let options = Options { strategy: Strategy::Walk, seed, ..Options::default() };
        let outcome = check_with(&options, body);
        let failure = &outcome.failures[0];
        let (message, text) = (failure.message.lines().next().unwrap(), replayed(failure.schedule.clone(), body));
        assert!(text.contains(message), "seed {seed}: {message}\nin a replay\n{text}");
    }
}

#[test]
fn whoever_had_started_without_an_event_has_in_a_replay() {
    fn body() {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.write();
            theirs.number.store(1, Relaxed);
        });
        shared.number.load(Relaxed);
        shared.write();
        assert!(thread.is_finished(), "it goes on");
    }
    tells_the_same_in_replays(body);
}

#[test]
fn whoever_had_ended_without_an_event_has_in_a_replay() {
    fn body() {
        let shared = Arc::new(Shared::default());
        let [writes, stores] = [shared.clone(), shared.clone()];
        let writer = thread::spawn(move || writes.write());
        let storer = thread::spawn(move || stores.number.store(1, Relaxed));
        shared.number.load(Relaxed);
        shared.write();
        writer.join().unwrap();
        storer.join().unwrap();
    }
    tells_the_same_in_replays(body);
}

#[test]
fn a_join_comes_after_all_that_the_thread_has_stored() {
    static SEEN: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
    fn body() {
        let numbers = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let [stores, loads] = [numbers.clone(), numbers.clone()];
        let loader = thread::spawn(move || loads[1].load(Relaxed) * 2 + loads[0].load(Relaxed));
        // What does nothing but to wait for another one has joined it, too.
        let waiter = thread::spawn(move || thread::spawn(move || stores[0].store(1, Relaxed)).join().unwrap());
        waiter.join().unwrap();
        numbers[1].store(1, Relaxed);
        SEEN[loader.join().unwrap() as usize].fetch_add(1, Relaxed);
    }
    // A processor with a buffer for each thread has the first store in memory when it is known that the thread has ended.
    for (memory_model, late) in [(MemoryModel::Rc20, true), (MemoryModel::Tso, false), (MemoryModel::Sc, false)] {
        let outcome = check_with(&Options { memory_model, ..Options::default() }, body);
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
        let seen = SEEN.each_ref().map(|count| count.swap(0, Relaxed) > 0);
        assert_eq!(seen, [true, true, late, true], "{memory_model}");
    }
}

#[test]
fn a_thread_that_does_nothing_is_joined_in_each_execution() {
    fn body() {
        let number = Arc::new(AtomicU32::new(0));
        let theirs = number.clone();
        let writer = thread::spawn(move || theirs.store(1, Relaxed));
        let nothing = thread::spawn(|| 7);
        assert_eq!(nothing.join().unwrap(), 7);
        let seen = [number.load(Relaxed), number.load(Relaxed)];
        writer.join().unwrap();
        static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
        for number in seen {
            SEEN[number as usize].fetch_add(1, Relaxed);
        }
    }
    proved(3, body);
    let options = Options { strategy: Strategy::Bfs, ..Options::default() };
    assert_eq!(check_with(&options, body).executions, 3);
}

#[test]
fn a_panic_that_the_test_allows_is_given_to_join() {
    let options = Options { allow_panics: true, ..Options::default() };
    let outcome = check_with(&options, || {
        let payload = thread::spawn(|| panic!("wrong")).join().unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"wrong"));
    });
    assert_eq!((outcome.verdict, outcome.executions), (Verdict::Proved, 1));
}

#[test]
fn names_and_identifiers_are_those_of_the_test_s_threads() {
    proved(1, || {
        let main = thread::current();
        assert_eq!(main.id(), thread::current().id());
        let thread = Builder::new().name("worker".to_owned()).spawn(thread::current).unwrap();
        let id = thread.thread().id();
        let theirs = thread.join().unwrap();
        assert_eq!((theirs.name(), theirs.id()), (Some("worker"), id));
        assert_ne!(main.id(), id);
    });
}

#[test]
fn a_thread_is_seen_finished_or_not() {
    static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let seen = results(&SEEN, || {
        let thread = thread::spawn(|| ());
        SEEN[usize::from(thread.is_finished())].fetch_add(1, Relaxed);
        thread.join().unwrap();
    });
    assert_eq!(seen, [true, true]);
}

#[test]
fn what_a_finished_thread_did_is_not_ordered_by_the_look_at_it() {
    static SEEN: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
    let seen = results(&SEEN, || {
        let flag = mc::sync::Arc::new(mc::sync::atomic::AtomicUsize::new(0));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(1, Relaxed));
        let finished = usize::from(thread.is_finished());
        SEEN[finished * 2 + flag.load(Relaxed)].fetch_add(1, Relaxed);
        thread.join().unwrap();
    });
    assert_eq!(seen, [true; 4]);
}

#[test]
fn a_scope_joins_what_its_threads_spawn() {
    proved(1, || {
        let mut values = [0; 2];
        let [one, two] = &mut values;
        thread::scope(|scope| {
            scope.spawn(|| {
                scope.spawn(|| *two = 2);
                *one = 1;
            });
        });
        assert_eq!(values, [1, 2]);
    });
}

#[test]
fn choices_are_all_explored() {
    proved(6, || assert!(mc::choose(0..3) + *mc::choose_from(&[0, 10]) <= 12));
    proved(2, || {
        let value = mc::choose(1..=4);
        mc::assume(value % 2 == 0);
        assert!(value == 2 || value == 4);
    });
}

#[test]
fn a_handle_that_outlives_its_execution_wakes_nobody() {
    static LEFT: OnceLock<Thread> = OnceLock::new();
    proved(1, || {
        let thread = thread::spawn(|| {});
        LEFT.get_or_init(|| thread.thread().clone());
        thread.join().unwrap();
    });
    let unpark = || LEFT.get().expect("it was just left").unpark();
    unpark();
    proved(1, unpark);
}

/// Threads that spawn others at the same time, while the schedule of an earlier execution is followed.
#[test]
fn who_waits_to_spawn_is_not_confused_with_another_that_does() {
    type Numbers = Arc<[AtomicU32; 3]>;
    fn stores(numbers: &Numbers, at: usize) -> thread::JoinHandle<()> {
        let numbers = numbers.clone();
        if at == 0 {
            thread::spawn(move || numbers[0].store(1 + numbers[2].load(Acquire), Release))
        } else {
            thread::spawn(move || numbers[1].store(1, Release))
        }
    }
    let body = || {
        let numbers: Numbers = Arc::new([0; 3].map(AtomicU32::new));
        let [first, second, reads] = [(); 3].map(|()| numbers.clone());
        let reader = thread::spawn(move || assert!(reads[0].load(Acquire) + reads[1].load(Acquire) < 4));
        let one = thread::spawn(move || [0, 1].map(|at| stores(&first, at)).map(|thread| thread.join().unwrap()));
        let other = thread::spawn(move || {
            second[2].store(1, Release);
            stores(&second, 0).join().unwrap();
        });
        let total = Arc::new(Mutex::new(0));
        let alike = [(); 2].map(|()| {
            let total = total.clone();
            thread::spawn(move || *total.lock().unwrap() += 1)
        });
        for thread in alike.into_iter().chain([reader, other]) {
            thread.join().unwrap();
        }
        one.join().unwrap();
    };
    let whole = Reductions::default().without(Reduction::Symmetry);
    let [with, without] = [Reductions::default(), whole].map(|reductions| {
        let outcome = check_with(&Options { reductions, ..Options::default() }, body);
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
        outcome.executions
    });
    assert_eq!(2 * with, without);
}
