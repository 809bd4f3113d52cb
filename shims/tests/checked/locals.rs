//! `thread_local!`.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use mc::sync::atomic::AtomicBool;
use mc::sync::{Arc, Mutex};
use mc::thread;

use super::{proved, results};

mc::thread_local! {
    static COUNT: Cell<u8> = const { Cell::new(1) };
    static NAMES: RefCell<Vec<u8>> = RefCell::new(vec![1]);
}

#[test]
fn values_belong_to_a_thread_and_an_execution() {
    proved(1, || {
        assert_eq!(COUNT.replace(2), 1);
        NAMES.with_borrow_mut(|names| names.push(2));
        let thread = thread::spawn(|| (COUNT.get(), NAMES.with_borrow(Vec::len)));
        assert_eq!(thread.join().unwrap(), (1, 1));
        assert_eq!((COUNT.get(), NAMES.with_borrow(Vec::len)), (2, 2));
    });
}

#[test]
fn a_scope_does_not_wait_for_the_drops_of_values() {
    struct Note<'a>(&'a AtomicBool);
    impl Drop for Note<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    static DROPPED: AtomicBool = AtomicBool::new(false);
    mc::thread_local! {
        static VALUE: RefCell<Option<Note<'static>>> = const { RefCell::new(None) };
    }
    static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let seen = results(&SEEN, || {
        thread::scope(|scope| {
            scope.spawn(|| VALUE.set(Some(Note(&DROPPED))));
        });
        SEEN[usize::from(DROPPED.load(Relaxed))].fetch_add(1, Relaxed);
    });
    assert_eq!(seen, [true, true]);
    // Who joins the thread waits for that, too.
    proved(1, || {
        thread::scope(|scope| scope.spawn(|| VALUE.set(Some(Note(&DROPPED)))).join().unwrap());
        assert!(DROPPED.load(Relaxed));
    });
}

#[test]
fn what_threads_of_a_scope_did_has_happened_at_its_end() {
    struct Note(Arc<AtomicBool>);
    impl Drop for Note {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    mc::thread_local! {
        static VALUE: RefCell<Option<Note>> = const { RefCell::new(None) };
    }
    proved(2, || {
        let dropped = Arc::new(AtomicBool::new(false));
        let mut number = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                number = 1;
                VALUE.set(Some(Note(dropped.clone())));
                scope.spawn(|| VALUE.set(None));
            });
        });
        assert_eq!(number, 1);
        black_box(dropped.load(Relaxed));
    });
}

#[test]
fn values_are_dropped_before_their_thread_is_joined() {
    struct Notes(u8, Arc<Mutex<Vec<u8>>>);
    impl Drop for Notes {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    mc::thread_local! {
        static FIRST: RefCell<Option<Notes>> = const { RefCell::new(None) };
        static SECOND: RefCell<Option<Notes>> = const { RefCell::new(None) };
    }
    proved(1, || {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let theirs = notes.clone();
        let thread = thread::spawn(move || {
            FIRST.set(Some(Notes(1, theirs.clone())));
            SECOND.set(Some(Notes(2, theirs)));
        });
        thread.join().unwrap();
        assert_eq!(*notes.lock().unwrap(), [2, 1]);
    });
}
