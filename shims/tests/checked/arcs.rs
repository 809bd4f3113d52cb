//! `Arc`: its counts are events only where somebody can see them.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use mc::cell::Cell;
use mc::sync::atomic::{AtomicU8, Ordering::SeqCst};
use mc::sync::{Arc, Mutex};
use mc::thread;
use mc_runtime::outcome::{FailureKind, Verdict};

use super::{check, fails, proved, results};

#[test]
fn drops_that_nobody_sees_have_one_execution() {
    proved(1, || {
        let arc = Arc::new([1, 2, 3]);
        let threads = [0, 1, 2].map(|_| {
            let arc = arc.clone();
            thread::spawn(move || drop(arc))
        });
        drop(arc);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn what_the_last_owner_drops_may_have_become_visible_since_its_thread_ended() {
    struct Armed(Mutex<bool>, Arc<AtomicU8>);
    impl Drop for Armed {
        fn drop(&mut self) {
            if *self.0.get_mut().unwrap() {
                self.1.store(1, SeqCst);
            }
        }
    }
    static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let seen = results(&SEEN, || {
        let (flag, dropped) = (Arc::new(AtomicU8::new(0)), Arc::new(AtomicU8::new(0)));
        let armed = Arc::new(Armed(Mutex::new(false), dropped.clone()));
        let (theirs, their_flag) = (armed.clone(), flag.clone());
        let writer = thread::spawn(move || their_flag.store(1, SeqCst));
        let dropper = thread::spawn(move || drop(theirs));
        // The second thread does nothing that others can see before this one reads 1.
        *armed.0.lock().unwrap() = flag.load(SeqCst) == 1;
        drop(armed);
        writer.join().unwrap();
        dropper.join().unwrap();
        SEEN[usize::from(dropped.load(SeqCst))].fetch_add(1, Relaxed);
    });
    assert_eq!(seen, [true; 2]);
}

#[test]
fn drops_that_only_free_memory_have_one_execution() {
    proved(1, || {
        let arc = Arc::new(vec![Box::new(1)]);
        let theirs = arc.clone();
        let thread = thread::spawn(move || theirs.len());
        drop(arc);
        thread.join().unwrap();
    });
}

#[test]
fn a_drop_that_is_seen_is_explored_for_each_last_owner() {
    struct Notes(Arc<AtomicU8>, u8);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.0.store(self.1, SeqCst);
        }
    }
    static LAST: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let last = results(&LAST, || {
        let last = Arc::new(AtomicU8::new(9));
        let owner = Arc::new(Mutex::new(Notes(last.clone(), 0)));
        let theirs = owner.clone();
        let thread = thread::spawn(move || {
            theirs.lock().unwrap().1 = 1;
            drop(theirs);
        });
        drop(owner);
        let before_join = last.load(SeqCst);
        LAST[usize::from(before_join == 9)].fetch_add(1, Relaxed);
        thread.join().unwrap();
        assert_eq!(last.load(SeqCst), 1);
    });
    assert_eq!(last, [true, true], "dropped here or there");
}

#[test]
fn a_count_that_is_asked_for_has_all_its_values() {
    static COUNTS: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    let counts = results(&COUNTS, || {
        let arc = Arc::new(());
        let theirs = arc.clone();
        let thread = thread::spawn(move || drop(theirs));
        COUNTS[Arc::strong_count(&arc)].fetch_add(1, Relaxed);
        thread.join().unwrap();
    });
    assert_eq!(counts, [false, true, true]);
}

#[test]
fn upgrades_succeed_or_come_too_late() {
    static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let seen = results(&SEEN, || {
        let arc = Arc::new(5);
        let weak = Arc::downgrade(&arc);
        let thread = thread::spawn(move || drop(arc));
        let upgraded = weak.upgrade();
        assert!(upgraded.as_deref().is_none_or(|value| *value == 5));
        SEEN[usize::from(upgraded.is_some())].fetch_add(1, Relaxed);
        thread.join().unwrap();
    });
    assert_eq!(seen, [true, true]);
}

#[test]
fn one_of_two_owners_gets_the_value_by_into_inner() {
    let outcome = check(|| {
        let arc = Arc::new(String::from("value"));
        let theirs = arc.clone();
        let thread = thread::spawn(move || Arc::into_inner(theirs).is_some());
        let here = Arc::into_inner(arc).is_some();
        assert!(thread.join().unwrap() != here);
    });
    assert_eq!(outcome.failures, []);
}

#[test]
fn try_unwrap_by_both_owners_may_lose_the_value() {
    fails(FailureKind::Panic, || {
        let arc = Arc::new(String::from("value"));
        let theirs = arc.clone();
        let thread = thread::spawn(move || Arc::try_unwrap(theirs).is_ok());
        let here = Arc::try_unwrap(arc).is_ok();
        assert!(thread.join().unwrap() || here, "nobody got it");
    });
}

/// Whoever is the last owner of the outer one drops the inner one for the others too.
#[test]
fn what_an_owner_did_happens_before_what_its_value_owned_is_freed() {
    static GONE: AtomicU8 = AtomicU8::new(0);
    let outcome = check(|| {
        let inner = Arc::new(AtomicU8::new(0));
        let outer = Arc::new(inner.clone());
        let theirs = outer.clone();
        let thread = thread::spawn(move || {
            theirs.store(1, Relaxed);
            drop(theirs);
            GONE.store(1, Relaxed);
        });
        while GONE.load(Relaxed) == 0 {}
        drop(outer);
        drop(inner);
        thread.join().unwrap();
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}

/// Another owner may have gone, and then nothing keeps the value.
#[test]
fn what_somebody_does_after_it_was_an_owner_is_not_ordered() {
    fails(FailureKind::UseAfterFree, || {
        let arc = Arc::new(AtomicU8::new(0));
        let theirs = arc.clone();
        let thread = thread::spawn(move || drop(theirs));
        let value = std::ptr::from_ref(&*arc);
        drop(arc);
        // SAFETY: none; that is the mistake.
        unsafe { (*value).store(1, SeqCst) };
        thread.join().unwrap();
    });
    fails(FailureKind::UseAfterFree, || {
        let arc = Arc::new(Cell::new(0));
        let theirs = Sent(arc.clone());
        let thread = thread::spawn(move || {
            let Sent(theirs) = { theirs };
            drop(theirs);
        });
        let value = std::ptr::from_ref(&*arc);
        drop(arc);
        // SAFETY: as above.
        unsafe { (*value).set(1) };
        thread.join().unwrap();
    });
}

struct Sent<T>(Arc<T>);

// SAFETY: what the other thread does with it is what is tested.
unsafe impl<T> Send for Sent<T> {}

/// The last owner is ordered after the others from there on, not before.
#[test]
fn what_the_last_owner_has_freed_before_is_not_ordered() {
    fails(FailureKind::UseAfterFree, || {
        let arc = Arc::new(());
        let theirs = arc.clone();
        let value = Box::into_raw(Box::new(AtomicU8::new(0)));
        let address = value as usize;
        let thread = thread::spawn(move || {
            // SAFETY: none: the other thread may still use it.
            drop(unsafe { Box::from_raw(address as *mut AtomicU8) });
            drop(theirs);
        });
        // SAFETY: as above.
        unsafe { (*value).store(1, SeqCst) };
        drop(arc);
        thread.join().unwrap();
    });
}

/// A scope ends after its threads, so what these do is not ordered after what it did beside them.
#[test]
fn what_a_thread_of_a_scope_frees_is_freed_beside_it() {
    fails(FailureKind::UseAfterFree, || {
        let value = Box::into_raw(Box::new(AtomicU8::new(0)));
        let address = value as usize;
        thread::scope(|scope| {
            // SAFETY: none: the scope may still use it.
            scope.spawn(move || drop(unsafe { Box::from_raw(address as *mut AtomicU8) }));
            // SAFETY: as above.
            unsafe { (*value).store(1, SeqCst) };
        });
    });
}

mc::thread_local! {
    static IS_MAIN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// As it runs first, the other thread is the last owner, whose destructor does nothing that can be seen.
#[test]
fn a_destructor_that_asks_where_it_runs_runs_in_each_thread() {
    struct ByLocal;
    impl Drop for ByLocal {
        fn drop(&mut self) {
            assert!(!IS_MAIN.get());
        }
    }
    fails(FailureKind::Panic, || {
        IS_MAIN.set(true);
        let arc = Arc::new(ByLocal);
        let theirs = arc.clone();
        let thread = thread::spawn(move || drop(theirs));
        drop(arc);
        thread.join().unwrap();
    });
    struct ByThread(thread::ThreadId);
    impl Drop for ByThread {
        fn drop(&mut self) {
            assert_ne!(thread::current().id(), self.0);
        }
    }
    fails(FailureKind::Panic, || {
        let arc = Arc::new(ByThread(thread::current().id()));
        let theirs = arc.clone();
        let thread = thread::spawn(move || drop(theirs));
        drop(arc);
        thread.join().unwrap();
    });
}

/// In all executions before, an owner is there for ever. Then that one goes first, and another thread drops the value where it went on before.
#[test]
fn who_drops_a_value_that_was_not_dropped_before_is_learned() {
    struct Tells(Arc<mc::sync::atomic::AtomicUsize>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.fetch_add(3, Relaxed);
        }
    }
    fn waits() {
        thread::park_timeout(std::time::Duration::from_millis(2));
    }
    let body: fn() = || {
        let told = Arc::new(mc::sync::atomic::AtomicUsize::new(0));
        let (shared, mutex) = (Arc::new(Tells(told.clone())), Arc::new(Mutex::new(0)));
        let (first, second, third) = (shared.clone(), shared.clone(), shared.clone());
        let (one, other) = (mutex.clone(), mutex.clone());
        let under = |mutex: Arc<Mutex<usize>>, shared| {
            let mut guard = mutex.lock().unwrap();
            *guard += 1;
            drop::<Arc<Tells>>(shared);
        };
        let first = thread::spawn(move || {
            under(one, first);
            waits();
        });
        let second = thread::spawn(move || {
            let _second = second;
            thread::park();
        });
        let third = thread::spawn(move || {
            under(other, third);
            thread::spawn(waits).join().unwrap();
        });
        drop(shared);
        [first, second, third].into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(told.load(Relaxed), 3);
    };
    let options =
        mc_runtime::options::Options { memory_model: mc_runtime::options::MemoryModel::Tso, ..Default::default() };
    for outcome in [check(body), super::check_with(&options, body)] {
        let kinds: Vec<_> = outcome.failures.iter().map(|failure| failure.kind).collect();
        assert_eq!(kinds, [FailureKind::Deadlock], "{outcome:?}");
    }
}
