//! What orders what: an operation of each of two threads is all that could make what the first did before happen before what the second does after, which knows only by relaxed
//! accesses that it comes later. A type that promises more here than std's does hides races.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::future::AtomicWaker;
use mc::sync::atomic::{AtomicBool, AtomicUsize};
use mc::sync::mpsc::{Receiver, Sender, channel};
use mc::sync::{Arc, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use mc::thread::{self, Thread};
use mc::time::Duration;
use mc_runtime::options::Options;
use mc_runtime::outcome::{FailureKind, Verdict};

/// Are they ordered? `second` tells whether it has seen what `first` did.
#[track_caller]
fn orders<T: Sync + 'static>(ordered: bool, make: fn() -> T, first: fn(&T), second: fn(&T) -> bool) {
    let options = Options { spurious_wakeups: 0, ..Options::default() };
    let outcome = super::common::explore(&options, move || {
        let (shared, number, done) = (make(), AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                number.store(1, Relaxed);
                first(&shared);
                done.store(true, Relaxed);
            });
            if done.load(Relaxed) && second(&shared) {
                assert_eq!(number.load(Relaxed), 1, "the store was missed");
            }
        });
    });
    let kinds: Vec<_> = outcome.failures.iter().map(|failure| failure.kind).collect();
    let expected = if ordered { (Verdict::Proved, &[][..]) } else { (Verdict::Failed, &[FailureKind::Panic][..]) };
    assert_eq!((outcome.verdict, &kinds[..]), expected, "{outcome:?}");
}

#[test]
fn locks_order_what_they_protect() {
    let mutex = || Mutex::new(());
    let lock = |mutex: &Mutex<()>| drop(mutex.lock().unwrap());
    orders(true, mutex, lock, |mutex| mutex.lock().is_ok());
    orders(true, mutex, lock, |mutex| mutex.try_lock().is_ok());
    orders(false, mutex, lock, |mutex| !mutex.is_poisoned());
    let rwlock = || RwLock::new(());
    let (read, write) = (|lock: &RwLock<()>| drop(lock.read()), |lock: &RwLock<()>| drop(lock.write()));
    orders(true, rwlock, write, |lock| lock.write().is_ok());
    orders(true, rwlock, write, |lock| lock.read().is_ok());
    orders(true, rwlock, write, |lock| lock.try_read().is_ok());
    orders(true, rwlock, read, |lock| lock.write().is_ok());
    orders(true, rwlock, read, |lock| lock.try_write().is_ok());
    // The word of std's lock counts both.
    orders(true, rwlock, read, |lock| lock.read().is_ok());
}

#[test]
fn notifications_order_nothing() {
    let condvar = || (Condvar::new(), Mutex::new(()));
    let (one, all) = (|c: &(Condvar, _)| c.0.notify_one(), |c: &(Condvar, _)| c.0.notify_all());
    let notifies = |c: &(Condvar, _)| {
        c.0.notify_one();
        true
    };
    orders(false, condvar, one, notifies);
    orders(false, condvar, all, notifies);
    orders(false, condvar, one, |(condvar, mutex)| {
        condvar.wait_timeout(mutex.lock().unwrap(), Duration::from_millis(1)).unwrap().1.timed_out()
    });
    orders(false, thread::current, Thread::unpark, |thread| {
        thread.unpark();
        true
    });
    orders(true, thread::current, Thread::unpark, |_| {
        thread::park();
        true
    });
}

#[test]
fn what_is_done_once_happens_before_whoever_sees_it() {
    let call = |once: &Once| once.call_once(|| ());
    orders(true, Once::new, call, Once::is_completed);
    orders(true, Once::new, call, |once| {
        once.call_once(|| ());
        true
    });
    orders(true, OnceLock::new, |cell: &OnceLock<u8>| cell.set(1).unwrap(), |cell| cell.get().is_some());
    orders(true, OnceLock::new, |cell: &OnceLock<u8>| cell.set(1).unwrap(), |cell| cell.set(2).is_err());
    orders(true, || LazyLock::new(|| 1), |lazy| assert_eq!(**lazy, 1), |lazy| **lazy == 1);
}

#[test]
fn messages_carry_what_was_before_them() {
    // std's lock only lets both sides share the receiver: one of them uses it.
    struct Ends(Sender<u8>, std::sync::Mutex<Receiver<u8>>);
    let ends = || {
        let (sender, receiver) = channel();
        Ends(sender, std::sync::Mutex::new(receiver))
    };
    let sends = |ends: &Ends| ends.0.send(1).unwrap();
    orders(true, ends, sends, |ends| ends.1.lock().unwrap().try_recv().is_ok());
    orders(true, ends, sends, |ends| ends.1.lock().unwrap().recv().is_ok());
}

#[test]
fn how_many_owners_there_are_orders_nothing() {
    let owner = || Arc::new(1);
    let clones = |owner: &Arc<u8>| drop(owner.clone());
    orders(false, owner, clones, |owner| Arc::strong_count(owner) == 1);
    orders(false, owner, clones, |owner| Arc::strong_count(&owner.clone()) == 2);
}

#[test]
fn a_waker_is_registered_after_the_wakes_before() {
    let wake = |waker: &AtomicWaker| waker.wake();
    orders(true, AtomicWaker::new, wake, |waker| {
        waker.register_by_ref(std::task::Waker::noop());
        true
    });
}

struct Published {
    data: UnsafeCell<u32>,
    zero: AtomicUsize,
    ready: AtomicUsize,
}

// SAFETY: the checker says whether accesses of the cell are ordered.
unsafe impl Sync for Published {}

#[test]
fn a_value_that_was_there_before_too_is_told_from_the_newest() {
    let text = super::counterexample(|| {
        let shared = Published { data: UnsafeCell::new(0), zero: AtomicUsize::new(0), ready: AtomicUsize::new(0) };
        thread::scope(|scope| {
            scope.spawn(|| {
                let shared = &shared; // the whole, not only its fields
                // SAFETY: as for the type.
                shared.data.with_mut(|data| unsafe { *data = 1 });
                shared.zero.store(0, Release);
                shared.ready.store(1, Relaxed);
            });
            if shared.ready.load(Relaxed) == 1 && shared.zero.load(Acquire) == 0 {
                // SAFETY: as for the type.
                shared.data.with(|data| unsafe { *data });
            }
        });
    });
    assert!(text.contains("load(Acquire) = 0") && text.contains("stale: the first 0, a newer one exists"), "{text}");
}
