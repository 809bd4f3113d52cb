use std::cell::{Cell, RefCell};

use subject::sync::{Arc, Mutex};
use subject::thread;

subject::thread_local! {
    /// Documented, and private.
    static COUNT: Cell<u32> = const { Cell::new(1) };
    pub(crate) static NAMES: RefCell<Vec<u8>> = RefCell::new(vec![1]);
    static TEXT: String = String::from("text")
}
subject::thread_local!(static CHECKED: subject::cell::Cell<u8> = const { subject::cell::Cell::new(1) });
subject::thread_local!();

#[test]
fn each_thread_has_its_own_value() {
    COUNT.set(2);
    assert_eq!(thread::spawn(|| COUNT.get()).join().unwrap(), 1);
    assert_eq!((COUNT.get(), TEXT.with(|text| text.len())), (2, 4));
}

#[test]
fn cells_are_reached_without_a_closure() {
    thread::spawn(|| {
        COUNT.set(5);
        assert_eq!((COUNT.replace(6), COUNT.take(), COUNT.get()), (5, 6, 0));
        CHECKED.set(3);
        assert_eq!((CHECKED.replace(4), CHECKED.take(), CHECKED.get()), (3, 4, 0));
        NAMES.with_borrow_mut(|names| names.push(2));
        assert_eq!(NAMES.with_borrow(Vec::len), 2);
        assert_eq!((NAMES.replace(vec![9]), NAMES.take()), (vec![1, 2], vec![9]));
        NAMES.set(vec![3]);
        assert_eq!(NAMES.take(), [3]);
    })
    .join()
    .unwrap();
}

#[test]
fn setting_a_value_first_does_not_make_one() {
    subject::thread_local!(static NEVER: Cell<u8> = unreachable!("set before it is read"));
    thread::spawn(|| {
        NEVER.set(4);
        assert_eq!(NEVER.get(), 4);
    })
    .join()
    .unwrap();
}

#[test]
fn keys_with_equal_initialisers_are_different() {
    subject::thread_local! {
        static ONE: Cell<u8> = const { Cell::new(0) };
        static TWO: Cell<u8> = const { Cell::new(0) };
    }
    ONE.set(1);
    TWO.set(2);
    assert_eq!((ONE.get(), TWO.get()), (1, 2));
}

#[test]
fn a_value_is_made_once_per_thread_and_at_its_first_use() {
    static MADE: Mutex<u32> = Mutex::new(0);
    subject::thread_local!(static VALUE: u32 = {
        *MADE.lock().unwrap() += 1;
        7
    });
    for _ in 0..2 {
        thread::spawn(|| assert_eq!(VALUE.with(|value| *value) + VALUE.with(|value| *value), 14)).join().unwrap();
    }
    thread::spawn(|| ()).join().unwrap();
    assert_eq!(*MADE.lock().unwrap(), 2);
}

struct Notes(u8, Arc<Mutex<Vec<u8>>>);
impl Drop for Notes {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

#[test]
fn values_are_dropped_at_the_end_of_their_thread() {
    subject::thread_local! {
        static FIRST: RefCell<Option<Notes>> = const { RefCell::new(None) };
        static SECOND: RefCell<Option<Notes>> = const { RefCell::new(None) };
    }
    let notes = Arc::new(Mutex::new(Vec::new()));
    let theirs = notes.clone();
    let thread = thread::spawn(move || {
        FIRST.set(Some(Notes(1, theirs.clone())));
        SECOND.set(Some(Notes(2, theirs.clone())));
        theirs.lock().unwrap().push(0);
    });
    thread.join().unwrap();
    let mut seen = notes.lock().unwrap().clone();
    assert_eq!(seen[0], 0);
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
}

#[test]
fn a_value_that_is_being_destroyed_cannot_be_reached() {
    struct Reaches(Arc<Mutex<Vec<u8>>>);
    subject::thread_local! {
        static OWN: RefCell<Option<Reaches>> = const { RefCell::new(None) };
        static PLAIN: Cell<u8> = const { Cell::new(3) };
    }
    impl Drop for Reaches {
        fn drop(&mut self) {
            let own = OWN.try_with(|_| ()).map_err(|error| error.to_string());
            self.0.lock().unwrap().push(u8::from(own == Err("already destroyed".to_owned())));
            self.0.lock().unwrap().push(PLAIN.get());
        }
    }
    let notes = Arc::new(Mutex::new(Vec::new()));
    let theirs = notes.clone();
    thread::spawn(move || {
        PLAIN.set(4);
        OWN.set(Some(Reaches(theirs)));
    })
    .join()
    .unwrap();
    assert_eq!(*notes.lock().unwrap(), [1, 4]);
}

#[test]
fn keys_and_errors_are_shown() {
    assert_eq!(format!("{COUNT:?}"), "LocalKey { .. }");
}
