//! Tests that do what a test cannot do, and what they are told.

use std::cell::RefCell;
use std::mem::forget;
use std::sync::atomic::AtomicUsize as Counter;
use std::sync::atomic::Ordering::Relaxed as Plain;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicUsize, Ordering::*};
use mc::sync::mpsc::{channel, sync_channel};
use mc::sync::{Arc, Mutex, OnceLock, RwLock};
use mc::thread;
use mc_runtime::check;
use mc_runtime::options::Options;
use mc_runtime::outcome::Failure;
use mc_runtime::outcome::FailureKind::*;

use super::{allowing_panics, fails, holds, holds_with, proved};

#[track_caller]
fn says(failure: &Failure, what: &str) {
    assert!(failure.message.contains(what), "{failure:?}");
}

#[test]
fn a_check_within_a_check_is_refused() {
    let failure = fails(Contract, || {
        check::check(&Options::default(), || ());
    });
    says(&failure, "within another");
    // From a thread of the test, too.
    let failure = fails(Contract, || {
        thread::spawn(|| check::check(&Options::default(), || ())).join().unwrap();
    });
    says(&failure, "within another");
}

#[mc::test]
fn another() {}

#[test]
fn a_checked_test_that_another_calls_is_refused() {
    says(&fails(Contract, another), "nor call another checked test");
}

#[test]
fn what_outlives_its_execution_is_a_leak() {
    static KEPT: std::sync::Mutex<Option<Arc<Mutex<u8>>>> = std::sync::Mutex::new(None);
    let failure = fails(Leak, || {
        let shared = Arc::new(Mutex::new(0));
        let theirs = shared.clone();
        let thread = thread::spawn(move || *theirs.lock().unwrap() += 1);
        *shared.lock().unwrap() += 1;
        thread.join().unwrap();
        forget(KEPT.lock().unwrap().replace(shared));
    });
    says(&failure, "allocated by main");
    forget(KEPT.lock().unwrap().take());
}

#[test]
fn what_is_shared_between_executions_or_tests_is_refused() {
    static SHARED: std::sync::OnceLock<Arc<AtomicUsize>> = std::sync::OnceLock::new();
    let body = || {
        let shared = SHARED.get_or_init(|| Arc::new(AtomicUsize::new(5)));
        shared.fetch_add(1, Relaxed);
    };
    // Who makes it is the rehearsal of the first, which is no execution.
    for _ in 0..2 {
        says(&fails(Contract, body), "was made before the execution, and is changed in it");
    }
    // To look at it does no harm.
    proved(1, || assert!(SHARED.get().unwrap().load(Relaxed) >= 5));
    static OWN: mc::sync::OnceLock<Arc<AtomicUsize>> = mc::sync::OnceLock::new();
    for _ in 0..2 {
        proved(1, || assert_eq!(OWN.get_or_init(|| Arc::new(AtomicUsize::new(5))).fetch_add(1, Relaxed), 5));
    }
}

#[test]
fn a_handle_that_is_forgotten_is_a_leak() {
    let failure = fails(Leak, || forget(thread::spawn(|| ())));
    says(&failure, "still allocated at the end");
    proved(1, || drop(thread::spawn(|| ())));
}

#[test]
fn a_guard_that_is_forgotten_holds_its_lock_for_ever() {
    let failure = fails(Deadlock, || {
        let mutex = Mutex::new(0);
        forget(mutex.lock());
        drop(mutex.lock());
    });
    says(&failure, "for what itself holds");
    let failure = fails(Deadlock, || {
        let lock = RwLock::new(0);
        forget(lock.read());
        drop(lock.write());
    });
    says(&failure, "for what itself holds");
    proved(1, || forget(Mutex::new(0).lock()));
}

#[test]
fn a_sender_that_is_forgotten_keeps_its_receiver_waiting() {
    let failure = fails(Deadlock, || {
        let (sender, receiver) = channel::<u8>();
        forget(sender);
        receiver.recv().unwrap_err();
    });
    says(&failure, "Receiver::recv");
}

#[test]
fn a_thread_local_that_spawns_when_it_is_destroyed_does() {
    static RAN: Counter = Counter::new(0);
    struct Spawns;
    impl Drop for Spawns {
        fn drop(&mut self) {
            thread::spawn(|| RAN.fetch_add(1, Plain)).join().unwrap();
        }
    }
    mc::thread_local! {
        static LOCAL: RefCell<Option<Spawns>> = const { RefCell::new(None) };
    }
    proved(1, || {
        thread::spawn(|| LOCAL.set(Some(Spawns))).join().unwrap();
        LOCAL.set(Some(Spawns));
    });
    assert!(RAN.load(Plain) >= 2);
}

#[test]
fn a_panic_in_a_scope_poisons_and_ends_the_scope() {
    assert_eq!(
        holds_with(&allowing_panics(), || {
            let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
            let scope = std::panic::AssertUnwindSafe(|| {
                thread::scope(|scope| {
                    scope.spawn(|| {
                        let _held = (mutex.lock().unwrap(), lock.write().unwrap());
                        std::panic::resume_unwind(Box::new("on purpose"));
                    });
                });
            });
            let payload = std::panic::catch_unwind(scope).unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"a scoped thread panicked"));
            assert!(mutex.is_poisoned() && lock.is_poisoned());
            assert_eq!(*mutex.lock().unwrap_err().into_inner(), 1);
        }),
        1
    );
    let failure = fails(Panic, || thread::scope(|scope| _ = scope.spawn(|| panic!("in a scope"))));
    says(&failure, "in a scope");
}

#[test]
fn there_is_a_limit_to_threads() {
    let failure = fails(Contract, || {
        let threads: Vec<_> = (0..10_000).map(|_| thread::spawn(|| ())).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    says(&failure, "256 threads");
    // Those that have ended count, too.
    fails(Contract, || (0..1_000).for_each(|_| thread::spawn(|| ()).join().unwrap()));
    proved(1, || (0..255).for_each(|_| thread::spawn(|| ()).join().unwrap()));
}

#[test]
fn what_has_no_size_or_a_great_alignment_is_shared_as_other_things_are() {
    #[repr(align(4096))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Aligned(u8);
    holds(|| {
        let (none, aligned) = (Arc::new(Mutex::new(())), Arc::new(RwLock::new(Aligned(1))));
        assert_eq!(aligned.as_ref() as *const _ as usize % 4096, 0);
        let (sender, receiver) = sync_channel(1);
        let theirs = (none.clone(), aligned.clone());
        let thread = thread::spawn(move || {
            *theirs.0.lock().unwrap() = ();
            sender.send(*theirs.1.read().unwrap()).unwrap();
        });
        *none.lock().unwrap() = ();
        assert_eq!(receiver.recv(), Ok(Aligned(1)));
        thread.join().unwrap();
        static EMPTY: OnceLock<()> = OnceLock::new();
        EMPTY.get_or_init(|| ());
        let cell = UnsafeCell::new(());
        cell.with_mut(|_| ());
    });
}
