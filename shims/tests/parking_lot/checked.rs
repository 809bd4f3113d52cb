//! How many executions small programs have, and that typical misuses are found.
//!
//! Where parking_lot means the same as std, so do the counts (`tests/checked`); the comments say where the others come from.

use std::time::Duration;

use mc::parking_lot::{
    FairMutex, Mutex, MutexGuard, Once, ReentrantMutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard,
    const_mutex,
};
use mc::thread;
use mc_runtime::options::Options;
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

use crate::common;

const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn check(body: fn()) -> Outcome {
    common::explore(&Options::default(), body)
}

#[track_caller]
pub(crate) fn proved(executions: u64, body: fn()) {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    assert_eq!(outcome.executions, executions, "{outcome:?}");
}

#[track_caller]
pub(crate) fn fails(kind: FailureKind, body: fn()) -> String {
    let outcome = check(body);
    let kinds: Vec<_> = outcome.failures.iter().map(|failure| failure.kind).collect();
    assert_eq!(kinds, [kind], "{outcome:?}");
    outcome.failures[0].message.clone()
}

#[test]
fn two_threads_take_a_mutex_in_two_orders() {
    proved(2, || {
        let mutex = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *mutex.lock() += 1);
            scope.spawn(|| *mutex.lock() += 1);
        });
        assert_eq!(mutex.into_inner(), 2);
    });
}

#[test]
fn fair_and_reentrant_mutexes_have_the_orders_of_a_mutex() {
    proved(2, || {
        let mutex = FairMutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *mutex.lock() += 1);
            scope.spawn(|| *mutex.lock() += 1);
        });
    });
    // The two threads are alike: one order.
    proved(1, || {
        let mutex = ReentrantMutex::new(());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _outer = mutex.lock();
                    drop(mutex.lock());
                });
            }
        });
    });
}

#[test]
fn locks_in_opposite_orders_are_a_deadlock() {
    let message = fails(FailureKind::Deadlock, || {
        let (a, b) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _first = a.lock();
                drop(b.lock());
            });
            scope.spawn(|| {
                let _first = b.lock();
                drop(a.lock());
            });
        });
    });
    // The places are the caller's, through lock_api.
    assert!(message.contains("parking_lot/checked.rs"), "{message}");
}

#[test]
fn a_time_out_comes_only_while_the_lock_is_held() {
    // The other thread is first, is second, or is there when the time is over.
    proved(3, || {
        let mutex = Mutex::new(());
        thread::scope(|scope| {
            scope.spawn(|| drop(mutex.lock()));
            drop(mutex.try_lock_for(SECOND));
        });
    });
    // Nobody else: it cannot be over.
    proved(1, || assert!(Mutex::new(()).try_lock_for(SECOND).is_some()));
    proved(1, || assert!(RwLock::new(()).try_write_for(SECOND).is_some()));
    proved(1, || assert!(RwLock::new(()).try_read_until(std::time::Instant::now() + SECOND).is_some()));
}

#[test]
fn a_time_out_that_is_not_expected_is_found() {
    fails(FailureKind::Panic, || {
        let mutex = Mutex::new(());
        thread::scope(|scope| {
            scope.spawn(|| drop(mutex.lock()));
            assert!(mutex.try_lock_for(SECOND).is_some(), "nobody holds it so long");
        });
    });
}

/// Each waits for the other, until its time is over.
#[test]
fn locks_in_two_orders_with_time_outs_are_no_deadlock() {
    fn proved(body: fn()) {
        let outcome = check(body);
        assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
    }
    proved(|| {
        let (a, b) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _a = a.lock();
                drop(b.try_lock_for(SECOND));
            });
            let _b = b.lock();
            drop(a.try_lock_for(SECOND));
        });
    });
    proved(|| {
        let (a, b) = (RwLock::new(()), RwLock::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _a = a.read();
                drop(b.try_write_for(SECOND));
            });
            let _b = b.write();
            drop(a.try_write_for(SECOND));
        });
    });
    // One of the two has a time-out: it ends, and with it the other.
    proved(|| {
        let (a, b) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _a = a.lock();
                drop(b.lock());
            });
            let _b = b.lock();
            drop(a.try_lock_for(SECOND));
        });
    });
}

#[test]
fn a_lock_can_be_had_for_ever_if_somebody_waits_for_ever() {
    fails(FailureKind::Deadlock, || {
        let mutex = Mutex::new(());
        let _held = mutex.lock();
        let _again = mutex.try_lock_for(Duration::MAX);
    });
}

#[test]
fn a_writer_and_a_reader_have_two_orders() {
    proved(2, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write() = 1);
            assert!(*lock.read() < 2);
        });
    });
}

#[test]
fn two_readers_have_the_orders_of_stds() {
    proved(6, || {
        let lock = RwLock::new(1);
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(*lock.read(), 1));
            scope.spawn(|| assert_eq!(*lock.read(), 1));
        });
    });
}

#[test]
fn two_upgradable_readers_exclude_each_other() {
    // The two threads are alike: one order.
    proved(1, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let reader = lock.upgradable_read();
                    let seen = *reader;
                    *RwLockUpgradableReadGuard::upgrade(reader) = seen + 1;
                });
            }
        });
        assert_eq!(lock.into_inner(), 2);
    });
}

#[test]
fn an_upgrade_that_gives_the_lock_up_in_between_loses_an_update() {
    fails(FailureKind::Panic, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let seen = *lock.upgradable_read();
                    *lock.write() = seen + 1;
                });
            }
        });
        assert_eq!(lock.into_inner(), 2);
    });
}

#[test]
fn a_thread_that_reads_twice_waits_for_a_writer_that_waits_for_it() {
    let message = fails(FailureKind::Deadlock, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write() = 1);
            let first = lock.read();
            assert_eq!(*first, *lock.read());
        });
    });
    assert!(message.contains("cycle"), "{message}");
}

#[test]
fn a_reader_that_waits_for_another_reader_waits_for_the_writer_between_them() {
    fails(FailureKind::Deadlock, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write() = 1);
            let _first = lock.read();
            let second = scope.spawn(|| drop(lock.read()));
            second.join().unwrap();
        });
    });
}

#[test]
fn recursive_reads_do_not_wait_for_a_writer_that_waits() {
    let outcome = check(|| {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write() = 1);
            let first = lock.read();
            assert_eq!(*first, *lock.read_recursive());
        });
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}

#[test]
fn a_read_may_be_refused_while_there_are_only_readers() {
    fails(FailureKind::Panic, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write() = 1);
            let _first = lock.read();
            assert!(lock.try_read().is_some(), "a writer waits");
        });
    });
    // One that gives up in the end does the same meanwhile.
    fails(FailureKind::Panic, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| drop(lock.try_write_for(SECOND)));
            let _first = lock.read();
            assert!(lock.try_read().is_some(), "a writer waits");
        });
    });
}

#[test]
fn a_writer_that_waits_is_one_for_who_asks() {
    fails(FailureKind::Panic, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.write() = 1);
            let _reader = lock.read();
            assert!(!lock.is_locked_exclusive(), "a writer waits");
        });
    });
}

/// Its bit is given back only later, and the reader beside whom it was set may have gone by then.
#[test]
fn a_writer_that_gives_up_is_seen_after_the_last_reader() {
    type Asks = fn(&RwLock<u32>) -> bool;
    const ASKS: [Asks; 7] = [
        |lock| lock.try_read().is_none(),
        |lock| lock.try_read_recursive().is_none(),
        |lock| lock.try_upgradable_read().is_none(),
        |lock| lock.try_write().is_none(),
        |lock| lock.try_read_for(SECOND).is_none(),
        |lock| lock.try_write_for(SECOND).is_none(),
        |lock| lock.is_locked(),
    ];
    for asks in ASKS {
        let outcome = common::explore(&Options::default(), move || {
            let lock = RwLock::new(0);
            let locked = thread::scope(|scope| {
                let writer = scope.spawn(|| lock.try_write_for(SECOND).is_some());
                drop(lock.read());
                let seen = asks(&lock);
                writer.join().unwrap() || !seen
            });
            assert!(locked, "each says that somebody else has it");
        });
        assert_eq!(outcome.failures.len(), 1, "{outcome:?}");
    }
}

#[test]
fn an_upgrade_that_is_given_up_is_seen_after_the_last_reader() {
    fails(FailureKind::Panic, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let upgradable = lock.upgradable_read();
            let reader = scope.spawn(|| {
                drop(lock.read());
                lock.try_read().is_some()
            });
            let upgraded = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, SECOND).is_ok();
            assert!(reader.join().unwrap() || upgraded, "nobody writes");
        });
    });
}

#[test]
fn a_writer_that_gives_up_makes_no_difference_where_nobody_asks() {
    // As of a mutex: before the reader, after it, and while it reads.
    proved(3, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| drop(lock.try_write_for(SECOND)));
            drop(lock.read());
        });
    });
}

#[test]
fn a_downgraded_writer_lets_no_writer_in() {
    proved(2, || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = lock.write();
                *writer = 1;
                let reader = RwLockWriteGuard::downgrade(writer);
                assert_eq!(*reader, 1);
            });
            scope.spawn(|| *lock.write() = 2);
        });
    });
}

#[test]
fn something_is_done_once_in_as_many_executions_as_by_stds() {
    let stds = check(|| {
        let once = mc::sync::Once::new();
        thread::scope(|scope| {
            scope.spawn(|| once.call_once(|| ()));
            once.call_once(|| ());
        });
    });
    // Each sees it open, running or done when it comes, and one of the two runs it: 6.
    assert_eq!(stds.executions, 6);
    proved(6, || {
        let (once, done) = (Once::new(), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| once.call_once(|| *done.lock() += 1));
            once.call_once(|| *done.lock() += 1);
        });
        assert_eq!(done.into_inner(), 1);
    });
}

#[test]
fn a_guard_that_is_forgotten_keeps_others_out() {
    fails(FailureKind::Deadlock, || {
        let mutex = Mutex::new(());
        std::mem::forget(mutex.lock());
        drop(mutex.lock());
    });
}

#[test]
fn a_panic_while_a_lock_is_held_lets_others_in() {
    let options = Options { allow_panics: true, ..Options::default() };
    let body = || {
        let mutex = Mutex::new(0);
        thread::scope(|scope| {
            let failing = scope.spawn(|| {
                let _held = mutex.lock();
                panic!("while it is held");
            });
            assert!(failing.join().is_err());
            *MutexGuard::map(mutex.lock(), |value| value) += 1;
        });
    };
    let outcome = common::explore(&options, body);
    assert_eq!((outcome.verdict, outcome.executions), (Verdict::Proved, 1), "{outcome:?}");
}

#[test]
fn a_lock_in_a_static_is_refused_with_a_reason() {
    static SHARED: Mutex<Vec<u8>> = const_mutex(Vec::new());
    let message = fails(FailureKind::Contract, || SHARED.lock().push(1));
    assert!(message.contains("mc::sync"), "{message}");
    assert!(SHARED.lock().is_empty());
}
