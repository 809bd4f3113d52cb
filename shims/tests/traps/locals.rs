//! `thread_local!` values whose destructors do something.

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::Relaxed;

use mc::sync::Arc;
use mc::sync::atomic::AtomicUsize;
use mc::thread;
use mc_runtime::outcome::FailureKind::{Deadlock, Panic};

use super::{allowing_panics, fails, fails_with, proved};

struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

mc::thread_local! {
    static COUNTS: RefCell<Option<Counts>> = const { RefCell::new(None) };
    static SEEN: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn destructors_are_part_of_their_threads() {
    // The two additions come in either order, which is the same but for who is who; both before the joins.
    proved(1, || {
        let count = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1].map(|_| {
            let count = count.clone();
            thread::spawn(move || COUNTS.set(Some(Counts(count))))
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(count.load(Relaxed), 2);
    });
}

#[test]
fn a_destructor_may_be_seen_or_not() {
    proved(2, || {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let thread = thread::spawn(move || COUNTS.set(Some(Counts(theirs))));
        assert!(count.load(Relaxed) <= 1);
        thread.join().unwrap();
    });
}

#[test]
fn a_destructor_that_panics_is_a_failure() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in the destructor of a thread-local");
        }
    }
    mc::thread_local!(static PANICS: RefCell<Option<Panics>> = const { RefCell::new(None) });
    fails(Panic, || PANICS.set(Some(Panics)));
    fails(Panic, || drop(thread::spawn(|| PANICS.set(Some(Panics))).join()));
    // No `join` is given that panic: the process would end.
    fails_with(&allowing_panics(), Panic, || drop(thread::spawn(|| PANICS.set(Some(Panics))).join()));
}

#[test]
fn a_destructor_that_waits_for_ever_is_a_deadlock() {
    struct Parks;
    impl Drop for Parks {
        fn drop(&mut self) {
            thread::park();
        }
    }
    mc::thread_local!(static PARKS: RefCell<Option<Parks>> = const { RefCell::new(None) });
    fails(Deadlock, || drop(thread::spawn(|| PARKS.set(Some(Parks))).join()));
}

#[test]
fn a_destructor_may_use_and_make_other_values() {
    struct Uses;
    impl Drop for Uses {
        fn drop(&mut self) {
            SEEN.set(SEEN.get() + 1);
            assert_eq!(SEEN.get(), 1);
        }
    }
    mc::thread_local!(static USES: RefCell<Option<Uses>> = const { RefCell::new(None) });
    proved(1, || thread::spawn(|| USES.set(Some(Uses))).join().unwrap());
}

#[test]
fn values_are_fresh_in_each_execution() {
    // 3! orders of three threads that are alike.
    proved(1, || {
        assert_eq!(SEEN.replace(1), 0);
        let count = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1, 2].map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                assert_eq!(SEEN.replace(7), 0);
                count.fetch_add(1, Relaxed);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
