use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use subject::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use subject::thread::{self, Builder};

#[test]
fn threads_of_a_scope_borrow_and_are_joined_by_its_end() {
    let mut values = vec![1, 2, 3];
    let sum = AtomicUsize::new(0);
    let result = thread::scope(|scope| {
        for value in &mut values {
            let sum = &sum;
            scope.spawn(move || {
                *value += 1;
                sum.fetch_add(*value, SeqCst);
            });
        }
        "result"
    });
    assert_eq!((result, sum.load(SeqCst), values), ("result", 9, vec![2, 3, 4]));
}

#[test]
fn threads_of_a_scope_can_be_joined_by_hand() {
    let text = String::from("text");
    thread::scope(|scope| {
        let thread = scope.spawn(|| text.len());
        assert_eq!(format!("{thread:?}"), "ScopedJoinHandle { .. }");
        assert!(format!("{scope:?}").starts_with("Scope { "));
        let _ = (thread.is_finished(), thread.thread().id());
        assert_eq!(thread.join().unwrap(), 4);
    });
}

#[test]
fn threads_of_a_scope_can_spawn_in_it() {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            scope.spawn(|| {
                scope.spawn(|| count.fetch_add(1, SeqCst));
                count.fetch_add(1, SeqCst);
            });
            count.fetch_add(1, SeqCst);
        });
    });
    assert_eq!(count.load(SeqCst), 3);
}

#[test]
fn a_scope_panics_for_a_thread_whose_panic_nobody_got() {
    let panicked = catch_unwind(|| {
        thread::scope(|scope| {
            scope.spawn(|| resume_unwind(Box::new(())));
        });
    });
    assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"a scoped thread panicked"));
}

#[test]
fn a_panic_that_was_joined_is_not_reported_again() {
    let got = thread::scope(|scope| scope.spawn(|| resume_unwind(Box::new(7_u8))).join().unwrap_err());
    assert_eq!(got.downcast_ref::<u8>(), Some(&7));
}

#[test]
fn a_panic_of_the_scope_itself_waits_for_its_threads() {
    let done = AtomicUsize::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::yield_now();
                done.store(1, SeqCst);
            });
            resume_unwind(Box::new("own"));
        })
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"own"));
    assert_eq!(done.load(SeqCst), 1);
}

#[test]
fn a_builder_names_threads_of_a_scope() {
    thread::scope(|scope| {
        let named = Builder::new().name("scoped".to_owned());
        let thread = named.spawn_scoped(scope, || thread::current().name().map(str::to_owned)).unwrap();
        assert_eq!(thread.join().unwrap().as_deref(), Some("scoped"));
    });
}
