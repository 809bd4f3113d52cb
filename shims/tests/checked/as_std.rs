//! What std's own types show, read off their source, and types that are simpler than they would hide.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize as Counter;
use std::sync::atomic::Ordering::Relaxed as Plain;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use mc::sync::mpsc::{TryRecvError, channel, sync_channel};
use mc::sync::{Arc, Barrier, Condvar, Mutex, RwLock, RwLockWriteGuard};
use mc::thread;
use mc::time::Duration;
use mc_runtime::options::Options;
use mc_runtime::outcome::{FailureKind, Verdict};

use super::{check, check_with, fails, proved, results};

/// A cell whose accesses the checker compares.
#[derive(Default)]
struct Shared(UnsafeCell<u32>);

// SAFETY: nothing is done with the pointers, and the checker runs one thread at a time.
unsafe impl Sync for Shared {}

impl Shared {
    fn write(&self) {
        self.0.with_mut(|_| ());
    }

    fn read(&self) {
        self.0.with(|_| ());
    }
}

/// Counts that it was dropped.
struct Dropped<'a>(&'a AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[track_caller]
fn holds(body: fn()) {
    let outcome = check(body);
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}

#[test]
fn a_channel_that_had_no_room_may_still_look_full() {
    static SEEN: [Counter; 3] = [const { Counter::new(0) }; 3];
    let seen = results(&SEEN, || {
        let (sender, receiver) = sync_channel(2);
        let flag = Arc::new(AtomicBool::new(false));
        sender.send(0).unwrap();
        sender.send(1).unwrap();
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            let sent = |n| sender.try_send(n).is_ok();
            theirs.load(Relaxed).then(|| if sent(2) { 1 + usize::from(sent(3)) } else { 0 })
        });
        receiver.recv().unwrap();
        receiver.recv().unwrap();
        flag.store(true, Relaxed);
        if let Some(sent) = thread.join().unwrap() {
            SEEN[sent].fetch_add(1, Plain);
        }
    });
    assert_eq!(seen, [true; 3], "none, one, both");
}

#[test]
fn a_bounded_channel_with_a_message_may_still_look_empty() {
    static SEEN: [Counter; 3] = [const { Counter::new(0) }; 3];
    let seen = results(&SEEN, || {
        let (sender, receiver) = sync_channel(2);
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            if sender.send(1).is_ok() && sender.send(2).is_ok() {
                theirs.store(true, Relaxed);
                _ = sender.send(3);
            }
        });
        if flag.load(Relaxed) {
            let received = || receiver.try_recv().is_ok();
            SEEN[if received() { 1 + usize::from(received()) } else { 0 }].fetch_add(1, Plain);
        }
        drop(receiver);
        thread.join().unwrap();
    });
    assert_eq!(seen, [true; 3], "none, one, both");
}

#[test]
fn a_bounded_channel_without_senders_may_still_look_empty() {
    static SEEN: [Counter; 2] = [const { Counter::new(0) }; 2];
    let seen = results(&SEEN, || {
        let (sender, receiver) = sync_channel(1);
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            drop(sender);
            theirs.store(true, Relaxed);
        });
        receiver.recv().unwrap();
        if flag.load(Relaxed) {
            receiver.recv().unwrap();
            SEEN[usize::from(receiver.try_recv() == Err(TryRecvError::Disconnected))].fetch_add(1, Plain);
        }
        thread.join().unwrap();
    });
    assert_eq!(seen, [true; 2]);
}

#[test]
fn messages_that_are_left_may_outlive_their_receiver() {
    static SEEN: [Counter; 2] = [const { Counter::new(0) }; 2];
    let seen = results(&SEEN, || {
        let dropped = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            sender.send(Dropped(&dropped)).unwrap();
            scope.spawn(move || drop(sender));
            drop(receiver);
            SEEN[dropped.load(Relaxed)].fetch_add(1, Plain);
        });
        assert_eq!(dropped.load(Relaxed), 1);
    });
    assert_eq!(seen, [true; 2]);
    // Whoever knows that the sender is still there is alone with them.
    holds(|| {
        let dropped = AtomicUsize::new(0);
        let (sender, receiver) = channel();
        sender.send(Dropped(&dropped)).unwrap();
        drop(receiver);
        assert_eq!(dropped.load(Relaxed), 1);
        drop(sender);
    });
    // So is whoever knows that it is gone.
    holds(|| {
        let dropped = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            scope.spawn(|| drop((sender.send(Dropped(&dropped)), sender))).join().unwrap();
            drop(receiver);
        });
        assert_eq!(dropped.load(Relaxed), 1);
    });
    // Of a channel with a bound the receiver drops them always.
    holds(|| {
        let dropped = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(1);
            sender.send(Dropped(&dropped)).unwrap();
            scope.spawn(move || drop(sender));
            drop(receiver);
            assert_eq!(dropped.load(Relaxed), 1);
        });
    });
}

#[test]
fn messages_after_one_whose_drop_panics_are_leaked() {
    struct Panics(&'static str);
    impl Drop for Panics {
        fn drop(&mut self) {
            if self.0 == "panics" {
                resume_unwind(Box::new(()));
            }
            unreachable!("{}", self.0);
        }
    }
    let options = Options { allow_leaks: true, ..Options::default() };
    let outcome = check_with(&options, || {
        let (sender, receiver) = channel();
        assert!(sender.send(Panics("panics")).is_ok());
        assert!(sender.send(Panics("is leaked")).is_ok());
        assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}

#[test]
fn whoever_waits_for_a_message_may_take_the_token_that_was_meant_for_park() {
    fails(FailureKind::Deadlock, || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            receiver.recv().unwrap();
            thread::park();
        });
        thread.thread().unpark();
        sender.send(()).unwrap();
        thread.join().unwrap();
    });
    fails(FailureKind::Deadlock, || {
        let (sender, receiver) = channel::<()>();
        let thread = thread::spawn(move || {
            _ = receiver.recv_timeout(Duration::from_secs(1));
            thread::park();
        });
        thread.thread().unpark();
        thread.join().unwrap();
        drop(sender);
    });
    // Without a token, whoever parks receives as all do.
    proved(1, || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            receiver.recv().unwrap();
            thread::park_timeout(Duration::ZERO);
        });
        sender.send(()).unwrap();
        drop(thread);
    });
    // Where the message is there, or there is no sender, nobody waits; nor does who only looks.
    holds(|| {
        let (sender, receiver) = channel();
        sender.send(()).unwrap();
        thread::current().unpark();
        receiver.recv().unwrap();
        thread::park();
    });
    holds(|| {
        let (sender, receiver) = sync_channel::<()>(0);
        drop(sender);
        thread::current().unpark();
        assert!(receiver.recv().is_err());
        thread::park();
    });
    holds(|| {
        let (sender, receiver) = sync_channel(0);
        thread::scope(|scope| {
            let thread = scope.spawn(move || {
                _ = receiver.try_recv();
                thread::park();
            });
            thread.thread().unpark();
            _ = sender.try_send(());
        });
    });
}

#[test]
fn whoever_waits_for_room_may_take_the_token_that_was_meant_for_park() {
    fails(FailureKind::Deadlock, || {
        let (sender, receiver) = sync_channel(1);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            thread::park();
        });
        thread.thread().unpark();
        receiver.recv().unwrap();
        receiver.recv().unwrap();
        thread.join().unwrap();
    });
    fails(FailureKind::Deadlock, || {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            thread::park();
        });
        thread.thread().unpark();
        receiver.recv().unwrap();
        thread.join().unwrap();
    });
    holds(|| {
        let (sender, receiver) = sync_channel(0);
        drop(receiver);
        thread::current().unpark();
        assert!(sender.send(1).is_err());
        thread::park();
    });
    holds(|| {
        let (sender, receiver) = sync_channel(2);
        thread::current().unpark();
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        thread::park();
        drop(receiver);
    });
}

#[test]
fn the_end_of_a_scope_may_take_the_token_that_was_meant_for_park() {
    fails(FailureKind::Deadlock, || {
        let main = thread::current();
        thread::scope(|scope| {
            scope.spawn(|| main.unpark());
        });
        thread::park();
    });
    // Nobody waits for a thread that was joined.
    holds(|| {
        let main = thread::current();
        thread::scope(|scope| {
            scope.spawn(|| main.unpark()).join().unwrap();
        });
        thread::park();
    });
}

#[test]
fn a_time_out_of_the_greatest_duration_never_comes() {
    fails(FailureKind::Deadlock, || {
        let (sender, receiver) = channel::<()>();
        assert!(receiver.recv_timeout(Duration::MAX).is_err());
        drop(sender);
    });
    fails(FailureKind::Deadlock, || {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        drop(condvar.wait_timeout_while(mutex.lock().unwrap(), Duration::MAX, |()| true));
    });
    fails(FailureKind::Deadlock, || {
        loop {
            thread::park_timeout(Duration::MAX);
        }
    });
    holds(|| {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(1));
        thread.join().unwrap();
    });
}

#[test]
fn who_looks_at_a_lock_may_find_it_held_by_one_that_was_woken_for_no_reason() {
    fails(FailureKind::Panic, || {
        let (state, changed) = (Mutex::new((false, false)), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut state = state.lock().unwrap();
                state.0 = true;
                drop(changed.wait_while(state, |state| !state.1).unwrap());
            });
            let waits = state.lock().unwrap().0;
            let is_free = !waits || state.try_lock().is_ok();
            state.lock().unwrap().1 = true;
            changed.notify_all();
            assert!(is_free);
        });
    });
}

#[test]
fn a_condition_that_changes_what_it_looks_at_is_asked_once_more_for_no_reason() {
    fails(FailureKind::Panic, || {
        let (state, changed) = (Mutex::new((0, false)), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let asked = |state: &mut (u32, bool)| {
                    state.0 += 1;
                    !state.1
                };
                drop(changed.wait_while(state.lock().unwrap(), asked).unwrap());
            });
            state.lock().unwrap().1 = true;
            changed.notify_all();
        });
        assert!(state.into_inner().unwrap().0 <= 2);
    });
}

#[test]
fn a_downgrade_in_the_course_of_a_panic_poisons_nothing() {
    struct Downgrades<'a>(Option<RwLockWriteGuard<'a, ()>>);
    impl Drop for Downgrades<'_> {
        fn drop(&mut self) {
            drop(self.0.take().map(RwLockWriteGuard::downgrade));
        }
    }
    holds(|| {
        let lock = RwLock::new(());
        let panics = || {
            let _guard = Downgrades(Some(lock.write().unwrap()));
            resume_unwind(Box::new(()));
        };
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(!lock.is_poisoned());
    });
}

#[test]
fn a_scope_waits_for_ever_for_the_thread_of_a_forgotten_handle() {
    fails(FailureKind::Deadlock, || {
        thread::scope(|scope| std::mem::forget(scope.spawn(|| ())));
    });
}

#[test]
fn a_scope_waits_for_all_of_its_threads_whoever_spawned_them() {
    // One of a scope within.
    holds(|| {
        let done = AtomicBool::new(false);
        thread::scope(|outer| {
            thread::scope(|inner| {
                inner.spawn(|| {
                    outer.spawn(|| done.store(true, Relaxed));
                });
            });
        });
        assert!(done.into_inner());
    });
    // One that was joined.
    holds(|| {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let spawns = || {
                scope.spawn(|| done.store(true, Relaxed));
            };
            scope.spawn(spawns).join().unwrap();
        });
        assert!(done.into_inner());
    });
    // One of a scope within a thread that was joined.
    holds(|| {
        let done = AtomicBool::new(false);
        thread::scope(|outer| {
            let spawns = || {
                thread::scope(|inner| {
                    inner.spawn(|| {
                        outer.spawn(|| done.store(true, Relaxed));
                    });
                });
            };
            outer.spawn(spawns).join().unwrap();
        });
        assert!(done.into_inner());
    });
}

#[test]
fn a_result_whose_drop_panics_ends_the_process() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            resume_unwind(Box::new(()));
        }
    }
    for body in [
        || drop(thread::spawn(|| Panics)),
        || {
            let handle = thread::spawn(|| Panics);
            while !handle.is_finished() {
                thread::yield_now();
            }
            drop(catch_unwind(AssertUnwindSafe(|| drop(handle))));
        },
    ] {
        let outcome = check(body);
        let messages: Vec<_> = outcome.failures.iter().map(|failure| failure.message.as_str()).collect();
        assert!(messages[0].starts_with("thread result panicked on drop"), "{outcome:?}");
    }
}

#[test]
fn waiters_at_a_condvar_are_not_ordered_by_it() {
    let options = Options { spurious_wakeups: 0, ..Options::default() };
    let outcome = check_with(&options, || {
        let (shared, flag, condvar) = (Shared::default(), AtomicBool::new(false), Condvar::new());
        let waits = |mutex: &Mutex<()>| drop(condvar.wait_timeout(mutex.lock().unwrap(), Duration::from_secs(1)));
        let mutexes = [Mutex::new(()), Mutex::new(())];
        thread::scope(|scope| {
            scope.spawn(|| {
                shared.write();
                waits(&mutexes[0]);
                flag.store(true, Relaxed);
            });
            if flag.load(Relaxed) {
                waits(&mutexes[1]);
                shared.read();
            }
        });
    });
    assert_eq!(outcome.failures[0].kind, FailureKind::DataRace, "{outcome:?}");
}

#[test]
fn a_barrier_for_one_orders_as_its_lock_does() {
    holds(|| {
        let (shared, flag, barrier) = (Shared::default(), AtomicBool::new(false), Barrier::new(1));
        thread::scope(|scope| {
            scope.spawn(|| {
                shared.write();
                assert!(barrier.wait().is_leader());
                flag.store(true, Relaxed);
            });
            if flag.load(Relaxed) {
                assert!(barrier.wait().is_leader());
                shared.read();
            }
        });
    });
}
