// More of `thread`: builders, scopes, parking, locals.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use subject::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use subject::sync::mpsc::channel;
use subject::sync::{Arc, Mutex};
use subject::thread;
use subject::time::Instant;

#[test]
fn a_thread_gets_what_is_moved_into_it() {
    let numbers = vec![1, 2, 3];
    let thread = thread::spawn(move || numbers.into_iter().sum::<i32>());
    assert_eq!(thread.join().unwrap(), 6);
}

#[test]
fn results_come_in_the_order_of_the_joins() {
    let threads: Vec<_> = (0..5).map(|n| thread::spawn(move || n * 10)).collect();
    let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(results, [0, 10, 20, 30, 40]);
}

#[test]
fn what_a_thread_did_is_seen_after_its_join() {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    thread::spawn(move || theirs.store(true, Relaxed)).join().unwrap();
    assert!(flag.load(Relaxed));
}

#[test]
fn a_thread_starts_threads_of_its_own() {
    let outer = thread::spawn(|| {
        let inner = [1, 2].map(|n| thread::spawn(move || n));
        inner.map(|thread| thread.join().unwrap())
    });
    assert_eq!(outer.join().unwrap(), [1, 2]);
}

#[test]
fn a_panic_ends_its_thread_alone() {
    let thread = thread::spawn(|| std::panic::resume_unwind(Box::new(String::from("payload"))));
    let payload: Box<dyn std::any::Any + Send> = thread.join().unwrap_err();
    assert_eq!(*payload.downcast::<String>().unwrap(), "payload");
    assert!(!thread::panicking());
}

#[test]
fn handles_know_their_thread() {
    let thread = thread::Builder::new().name("named".into()).spawn(thread::current).unwrap();
    let from_outside = thread.thread().clone();
    let from_inside = thread.join().unwrap();
    assert_eq!((from_inside.id(), from_inside.name()), (from_outside.id(), Some("named")));
}

#[test]
fn a_thread_in_a_scope_borrows_and_changes() {
    let (mut numbers, mut sum) = (vec![1, 2, 3], 0);
    thread::scope(|scope| {
        scope.spawn(|| numbers.push(4));
        scope.spawn(|| sum += 10);
    });
    assert_eq!((numbers.len(), sum), (4, 10));
}

#[test]
fn a_scope_gives_the_result_of_its_closure() {
    let half = thread::scope(|scope| scope.spawn(|| 21).join().unwrap() * 2);
    assert_eq!(half, 42);
}

#[test]
fn a_thread_in_a_scope_starts_more_of_them() {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            scope.spawn(|| count.fetch_add(1, SeqCst));
            count.fetch_add(1, SeqCst);
        });
    });
    assert_eq!(count.into_inner(), 2);
}

#[test]
fn a_builder_starts_threads_in_scopes() {
    let text = String::from("borrowed");
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("scoped".to_owned()).stack_size(256 << 10);
        let thread = builder.spawn_scoped(scope, || (text.len(), thread::current().name().map(str::to_owned))).unwrap();
        assert_eq!(thread.thread().name(), Some("scoped"));
        assert_eq!(thread.join().unwrap(), (8, Some("scoped".to_owned())));
    });
}

#[test]
fn a_panic_that_was_joined_does_not_end_the_scope() {
    let caught = thread::scope(|scope| scope.spawn(|| std::panic::resume_unwind(Box::new(1_u8))).join().map(|()| 0));
    assert_eq!(caught.unwrap_err().downcast_ref::<u8>(), Some(&1));
}

#[test]
fn a_panic_that_nobody_joined_ends_the_scope_after_all_have_ended() {
    let ended = AtomicUsize::new(0);
    let result = catch_unwind(AssertUnwindSafe(|| {
        thread::scope(|scope| {
            scope.spawn(|| std::panic::resume_unwind(Box::new(())));
            scope.spawn(|| ended.fetch_add(1, SeqCst));
        });
    }));
    assert_eq!(result.unwrap_err().downcast_ref::<&str>(), Some(&"a scoped thread panicked"));
    assert_eq!(ended.into_inner(), 1);
}

#[test]
fn a_panic_of_the_closure_itself_comes_first() {
    let result = catch_unwind(AssertUnwindSafe(|| {
        thread::scope(|scope| {
            scope.spawn(|| std::panic::resume_unwind(Box::new(1)));
            std::panic::resume_unwind(Box::new(2));
        })
    }));
    assert_eq!(result.map(|()| 0).unwrap_err().downcast_ref::<i32>(), Some(&2));
}

#[test]
fn a_lock_that_is_held_by_a_panicking_thread_of_a_scope_is_poisoned() {
    let mutex = Mutex::new(1);
    let result = thread::scope(|scope| {
        let panics = || {
            let _held = mutex.lock().unwrap();
            std::panic::resume_unwind(Box::new(()));
        };
        scope.spawn(panics).join()
    });
    assert!(result.is_err() && mutex.is_poisoned());
}

#[test]
fn a_scoped_thread_says_when_it_has_ended() {
    let (sender, receiver) = channel::<()>();
    thread::scope(|scope| {
        let thread = scope.spawn(move || receiver.recv().is_err());
        assert!(!thread.is_finished());
        drop(sender);
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert!(format!("{thread:?} {scope:?}").starts_with("ScopedJoinHandle { .. } Scope { "));
        assert!(thread.join().unwrap());
    });
}

#[test]
fn several_unparks_are_one_token() {
    let thread = thread::current();
    thread.unpark();
    thread.unpark();
    thread::park();
    let start = Instant::now();
    thread::park_timeout(Duration::from_millis(3));
    // It may be woken for no reason; it does not hang.
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_park_with_a_long_time_out_ends_with_an_unpark() {
    let main = thread::current();
    let start = Instant::now();
    let thread = thread::spawn(move || main.unpark());
    thread::park_timeout(Duration::from_secs(1000));
    assert!(start.elapsed() < Duration::from_secs(900));
    thread.join().unwrap();
}

#[test]
fn a_closure_that_is_not_run_is_dropped_with_its_thread() {
    let value = Arc::new(());
    let theirs = value.clone();
    thread::spawn(move || drop(theirs)).join().unwrap();
    assert_eq!(Arc::strong_count(&value), 1);
}

subject::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(1) };
    static NAMES: RefCell<Vec<String>> = RefCell::new(vec!["first".to_owned()]);
    pub static SHARED: Rc<Cell<u8>> = Rc::new(Cell::new(0));
}

#[test]
fn a_local_starts_anew_in_each_thread() {
    COUNT.set(2);
    NAMES.with_borrow_mut(|names| names.push("second".to_owned()));
    let theirs = thread::spawn(|| (COUNT.get(), NAMES.with_borrow(Vec::len))).join().unwrap();
    assert_eq!((theirs, COUNT.get(), NAMES.with_borrow(Vec::len)), ((1, 1), 2, 2));
}

#[test]
fn a_local_that_cannot_be_sent_is_shared_within_its_thread() {
    let one = SHARED.with(Rc::clone);
    one.set(7);
    assert_eq!(SHARED.with(|other| (other.get(), Rc::ptr_eq(&one, other))), (7, true));
}

#[test]
fn a_local_cell_is_taken_replaced_and_set() {
    thread::spawn(|| {
        assert_eq!((COUNT.replace(5), COUNT.take(), COUNT.get()), (1, 5, 0));
        assert_eq!((NAMES.replace(vec![]), NAMES.take()), (vec!["first".to_owned()], vec![]));
        NAMES.set(vec!["third".to_owned()]);
        assert_eq!(NAMES.try_with(|names| names.borrow()[0].clone()), Ok("third".to_owned()));
    })
    .join()
    .unwrap();
}

#[test]
fn a_local_is_dropped_with_its_thread() {
    struct Notes(Arc<AtomicUsize>);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    subject::thread_local! {
        static NOTES: RefCell<Option<Notes>> = const { RefCell::new(None) };
    }
    let count = Arc::new(AtomicUsize::new(0));
    let theirs = count.clone();
    let thread = thread::spawn(move || {
        NOTES.set(Some(Notes(theirs.clone())));
        theirs.load(SeqCst)
    });
    assert_eq!((thread.join().unwrap(), count.load(SeqCst)), (0, 1));
}

#[test]
fn a_local_that_is_borrowed_cannot_be_changed() {
    let refused = catch_unwind(|| NAMES.with_borrow(|_| NAMES.with_borrow_mut(Vec::clear)));
    assert!(refused.is_err());
    assert!(!NAMES.with_borrow(Vec::is_empty));
}
