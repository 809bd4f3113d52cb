//! `thread_local!`.

use std::cell::{Cell, RefCell};

use mc::sync::{Arc, Mutex};
use mc::thread;

use super::proved;

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
