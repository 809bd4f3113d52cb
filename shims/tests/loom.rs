//! `mc::compat::loom`: what it has beyond std's names, and models in the middle of a test. Its own test suite is run by `tests/loom-suites`.
#![cfg(mc)]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::__private::run_body;
use mc::compat::loom;
use mc_runtime::check;
use mc_runtime::options::{Options, Origin};
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

use loom::alloc::Track;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize};
use loom::sync::{Arc, Notify, mpsc};
use loom::thread;

/// As `loom::model` does, with the outcome.
fn model(body: impl Fn() + Send + Sync + 'static) -> Outcome {
    check::check(&Options { origin: Origin::Foreign, ..Options::default() }, move || run_body(&body))
}

#[track_caller]
fn proved(executions: u64, body: impl Fn() + Send + Sync + 'static) {
    let outcome = model(body);
    assert_eq!((outcome.verdict, outcome.executions), (Verdict::Proved, executions), "{outcome:?}");
}

#[track_caller]
fn fails(kind: FailureKind, body: impl Fn() + Send + Sync + 'static) {
    let outcome = model(body);
    let kinds: Vec<_> = outcome.failures.iter().map(|failure| failure.kind).collect();
    assert_eq!(kinds, [kind], "{outcome:?}");
}

fn set(cell: &UnsafeCell<u64>, new: u64) {
    // SAFETY: the checker finds every access that this races with before it is made.
    cell.with_mut(|value| unsafe { *value = new });
}

fn get(cell: &UnsafeCell<u64>) -> u64 {
    // SAFETY: as above.
    cell.with(|value| unsafe { *value })
}

fn plain(atomic: &AtomicUsize) -> usize {
    // SAFETY: as above.
    unsafe { atomic.unsync_load() }
}

#[test]
fn what_a_model_collects_outside_of_itself_stays() {
    let seen = std::sync::Arc::new(StdMutex::new(BTreeSet::new()));
    let collected = seen.clone();
    // Both loads see 0 or 1.
    proved(4, move || {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let other = {
            let (x, y) = (x.clone(), y.clone());
            thread::spawn(move || {
                x.store(1, Relaxed);
                y.load(Relaxed)
            })
        };
        y.store(1, Relaxed);
        let a = x.load(Relaxed);
        collected.lock().unwrap().insert((a, other.join().unwrap()));
    });
    assert_eq!(seen.lock().unwrap().len(), 4);
}

#[test]
fn a_test_goes_on_after_its_models() {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    for expected in [2, 4] {
        let counted = count.clone();
        loom::model(move || {
            counted.fetch_add(1, Relaxed);
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            thread::spawn(move || other.store(true, Relaxed));
            black_box(flag.load(Relaxed));
        });
        assert_eq!(count.load(Relaxed), expected);
    }
}

#[test]
#[should_panic(expected = "the message of the test")]
fn a_failure_panics_with_its_message() {
    loom::model(|| panic!("the message of the test"));
}

#[test]
#[should_panic(expected = "max_executions = 1")]
fn less_than_a_proof_is_no_pass() {
    let mut builder = loom::model::Builder::new();
    builder.max_permutations = Some(1);
    builder.check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        thread::spawn(move || other.store(true, Relaxed));
        black_box(flag.load(Relaxed));
    });
}

#[test]
fn a_pointer_that_is_dropped_before_the_release_is_none() {
    // The flag is seen or not.
    proved(2, || {
        let shared = Arc::new((UnsafeCell::new(0), AtomicBool::new(false)));
        let other = shared.clone();
        thread::spawn(move || {
            drop(other.0.get());
            other.1.store(true, Release);
        });
        if shared.1.load(Acquire) {
            set(&shared.0, 1);
        }
    });
}

#[test]
fn a_thread_that_writes_what_it_reads_is_a_race_of_its_own() {
    fails(FailureKind::DataRace, || {
        let cell = UnsafeCell::new(0);
        cell.with(|_| cell.with_mut(|_| ()));
    });
    proved(1, || {
        let cell = UnsafeCell::new(0);
        cell.with(|_| assert_eq!(get(&cell), 0));
        set(&cell, 1);
    });
}

#[test]
fn a_plain_read_of_an_atomic_races_with_a_store_before_and_after_it() {
    let body = |first: bool| {
        move || {
            let shared = Arc::new(AtomicUsize::new(0));
            let other = shared.clone();
            let load = plain;
            if first {
                thread::spawn(move || other.store(1, Relaxed));
                load(&shared);
            } else {
                thread::spawn(move || load(&other));
                shared.store(1, Relaxed);
            }
        }
    };
    fails(FailureKind::DataRace, body(true));
    fails(FailureKind::DataRace, body(false));
}

#[test]
fn plain_accesses_that_are_ordered_are_none() {
    proved(1, || {
        let mut value = Arc::new(AtomicUsize::new(0));
        let other = value.clone();
        thread::spawn(move || other.store(1, Relaxed)).join().unwrap();
        assert_eq!(plain(&value), 1);
        Arc::get_mut(&mut value).unwrap().with_mut(|value| *value = 2);
        assert_eq!(value.load(Relaxed), 2);
        assert_eq!(Arc::try_unwrap(value).unwrap().into_inner(), 2);
    });
}

#[test]
fn only_what_is_tracked_must_be_freed() {
    proved(1, || assert_eq!(Box::leak(Box::new(AtomicUsize::new(7))).load(Relaxed), 7));
    fails(FailureKind::Leak, || std::mem::forget(Arc::new(7)));
    fails(FailureKind::Leak, || std::mem::forget(Track::new(7)));
    fails(FailureKind::Leak, || {
        // SAFETY: the layout has a size.
        std::hint::black_box(unsafe { loom::alloc::alloc(loom::alloc::Layout::new::<u64>()) });
    });
    proved(1, || assert_eq!(Track::new(7).into_inner(), 7));
}

#[test]
fn what_std_s_arc_owns_is_not_freed_too_early() {
    // The store comes before the load, or after it.
    proved(2, || {
        let shared = std::sync::Arc::new((vec![AtomicUsize::new(0)], AtomicUsize::new(0)));
        let other = shared.clone();
        thread::spawn(move || {
            other.0[0].store(1, Relaxed);
            other.1.store(1, Relaxed);
        });
        black_box(shared.0[0].load(Relaxed));
    });
}

#[test]
fn what_is_freed_while_another_thread_uses_it_is_found_all_the_same() {
    fails(FailureKind::UseAfterFree, || {
        let shared = Box::into_raw(Box::new(AtomicUsize::new(0))).expose_provenance();
        let at = move || std::ptr::with_exposed_provenance_mut::<AtomicUsize>(shared);
        // SAFETY: none: that is the mistake.
        thread::spawn(move || unsafe { &*at() }.store(1, Relaxed));
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(at()) });
    });
}

#[test]
fn an_arc_of_a_trait_object_comes_from_std_s() {
    proved(1, || {
        let std: std::sync::Arc<dyn Fn() -> u32> = std::sync::Arc::new(|| 7);
        let arc: Arc<dyn Fn() -> u32> = Arc::from_std(std);
        let second = arc.clone();
        assert!(Arc::ptr_eq(&arc, &second));
        assert_eq!((arc(), Arc::strong_count(&second)), (7, 2));
    });
    fails(FailureKind::Panic, || {
        let std = std::sync::Arc::new(7);
        let _second = std.clone();
        Arc::from_std(std);
    });
}

#[test]
fn a_notification_is_kept_and_orders() {
    // But for waits that end for no reason.
    let options = Options { spurious_wakeups: 0, ..Options::default() };
    let outcome = check::check(&options, || {
        let notify = Arc::new((Notify::new(), UnsafeCell::new(0)));
        let other = notify.clone();
        thread::spawn(move || {
            set(&other.1, 7);
            other.0.notify();
        });
        notify.0.wait();
        assert_eq!(get(&notify.1), 7);
    });
    assert_eq!((outcome.verdict, outcome.executions), (Verdict::Proved, 1), "{outcome:?}");
    fails(FailureKind::Deadlock, || Notify::new().wait());
}

#[test]
fn a_wait_may_end_without_a_notification() {
    fails(FailureKind::Panic, || {
        let notify = Arc::new((Notify::new(), AtomicUsize::new(0)));
        let other = notify.clone();
        thread::spawn(move || {
            other.1.store(1, Relaxed);
            other.0.notify();
        });
        notify.0.wait();
        assert_eq!(notify.1.load(Relaxed), 1);
    });
    // When it looks first, it sees the flag or not. If not, it is notified, or goes on for no reason and sees the flag then or, notified, at last.
    proved(4, || {
        let notify = Arc::new((Notify::new(), AtomicBool::new(false)));
        let other = notify.clone();
        thread::spawn(move || {
            other.1.store(true, Release);
            other.0.notify();
        });
        while !notify.1.load(Acquire) {
            notify.0.wait();
        }
    });
}

#[test]
fn messages_come_in_the_order_of_each_sender_and_then_the_end() {
    let outcome = model(|| {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
        assert!(receiver.recv().is_err());
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{outcome:?}");
    proved(1, || {
        let (sender, receiver) = mpsc::channel();
        assert_eq!(receiver.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty));
        drop(receiver);
        assert_eq!(sender.send(1).unwrap_err().0, 1);
    });
    fails(FailureKind::Deadlock, || {
        let (_sender, receiver) = mpsc::channel::<()>();
        let _ = receiver.recv();
    });
}

loom::lazy_static! {
    static ref COUNTER: AtomicUsize = AtomicUsize::new(7);
}

loom::thread_local! {
    static LOCAL: usize = COUNTER.load(Relaxed);
}

#[test]
fn statics_of_loom_start_afresh_in_each_execution() {
    // Two increments of one counter, and the thread-local of the spawned thread may see any of the three values.
    let outcome = model(|| {
        let other = thread::spawn(|| {
            LOCAL.with(|value| assert!((7..=8).contains(value)));
            COUNTER.fetch_add(1, Relaxed);
        });
        COUNTER.fetch_add(1, Relaxed);
        other.join().unwrap();
        assert_eq!(COUNTER.load(Relaxed), 9);
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{outcome:?}");
    assert!(outcome.executions >= 2);
}

#[test]
fn threads_need_not_be_send_and_have_no_name_of_their_own() {
    loom::model(|| {
        assert_eq!(thread::current().name(), None);
        let value = std::rc::Rc::new(7);
        let handle = thread::Builder::new().name("named".to_owned()).spawn(move || *value).unwrap();
        assert_eq!(handle.thread().name(), Some("named"));
        assert_eq!(handle.join().unwrap(), 7);
    });
}

#[test]
#[should_panic(expected = "outside of a model")]
fn a_thread_outside_of_a_model_is_refused() {
    thread::spawn(|| ());
}

#[test]
#[should_panic(expected = "a model is checked inside of a model")]
fn a_model_within_a_model_is_refused() {
    loom::model(|| loom::model(|| ()));
}

#[test]
#[should_panic(expected = "a model is checked inside of a model")]
fn a_model_within_a_thread_of_a_model_is_refused() {
    loom::model(|| thread::spawn(|| loom::model(|| ())).join().unwrap());
}

/// The other thread writes through a pointer, hands the cell on, and goes on with the pointer as `after` says.
fn handed_on(after: impl Fn(loom::cell::MutPtr<u64>, &AtomicBool) + Send + Sync + Copy + 'static) {
    let shared = Arc::new((UnsafeCell::new(0), AtomicBool::new(false)));
    let other = thread::spawn({
        let shared = shared.clone();
        move || {
            let pointer = shared.0.get_mut();
            // SAFETY: the checker finds every access that this races with before it is made.
            unsafe { *pointer.deref() = 1 };
            shared.1.store(true, Release);
            after(pointer, &shared.1);
        }
    });
    if shared.1.load(Acquire) {
        set(&shared.0, 2);
    }
    other.join().unwrap();
}

#[test]
fn a_pointer_may_be_dropped_right_after_its_cell_was_handed_on() {
    proved(2, || handed_on(|pointer, _| drop(pointer)));
}

#[test]
fn a_pointer_that_is_used_after_its_cell_was_handed_on_races() {
    // SAFETY: as in `set`.
    fails(FailureKind::DataRace, || handed_on(|pointer, _| unsafe { *pointer.deref() = 3 }));
    // SAFETY: as above.
    fails(FailureKind::DataRace, || handed_on(|pointer, _| pointer.with(|value| unsafe { *value = 3 })));
}

#[test]
fn a_pointer_that_outlives_another_operation_races() {
    fails(FailureKind::DataRace, || {
        handed_on(|pointer, flag| {
            black_box(flag.load(Relaxed));
            drop(pointer);
        });
    });
}

/// Two threads write into cells of a block whose values have no size: they stand at its end.
fn without_size(mine: usize, other: usize) {
    let cells = Arc::new((AtomicUsize::new(0), [UnsafeCell::new(()), UnsafeCell::new(())]));
    let theirs = cells.clone();
    let thread = thread::spawn(move || theirs.1[other].with_mut(|_| ()));
    cells.1[mine].with_mut(|_| ());
    thread.join().unwrap();
}

#[test]
fn each_cell_of_a_value_without_size_has_its_own_accesses() {
    proved(1, || without_size(0, 1));
    fails(FailureKind::DataRace, || without_size(1, 1));
}
