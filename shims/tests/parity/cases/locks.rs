use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::TryLockError;

use subject::sync::{Mutex, RwLock, RwLockWriteGuard};
use subject::thread;

static NAMES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static TABLE: RwLock<[u8; 2]> = RwLock::new([1, 2]);

#[test]
fn statics_need_no_lazy_initialisation() {
    NAMES.lock().unwrap().push(1);
    assert_eq!(NAMES.lock().unwrap().len(), 1);
    assert_eq!(*TABLE.read().unwrap(), [1, 2]);
}

#[test]
fn a_mutex_lets_one_in() {
    let mutex = Mutex::new(0);
    let guard = mutex.lock().unwrap();
    assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
    drop(guard);
    *mutex.try_lock().unwrap() += 1;
    assert_eq!(mutex.into_inner().unwrap(), 1);
}

#[test]
fn a_mutex_makes_increments_of_many_threads_add_up() {
    let mutex = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| *mutex.lock().unwrap() += 1));
        }
    });
    assert_eq!(*mutex.lock().unwrap(), 2000);
}

#[test]
fn a_panic_with_the_guard_poisons_a_mutex_and_leaves_the_data() {
    let mut mutex = Mutex::new(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = mutex.lock().unwrap();
        *guard = 2;
        resume_unwind(Box::new(()));
    }));
    assert!(panicked.is_err() && mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap_err().into_inner(), 2);
    assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
    assert_eq!(*mutex.get_mut().unwrap_err().into_inner(), 2);
    mutex.clear_poison();
    assert!(!mutex.is_poisoned());
    assert_eq!(mutex.into_inner().unwrap(), 2);
}

#[test]
fn a_guard_taken_while_unwinding_does_not_poison() {
    struct Locks<'a>(&'a Mutex<u8>);
    impl Drop for Locks<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let mutex = Mutex::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _locks = Locks(&mutex);
        resume_unwind(Box::new(()));
    }));
    assert!(panicked.is_err() && !mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap(), 1);
}

#[test]
fn mutexes_of_unsized_data_can_be_borrowed_and_boxed() {
    let mutex: Box<Mutex<[u8]>> = Box::new(Mutex::new([1, 2, 3]));
    mutex.lock().unwrap()[0] = 9;
    let shown: &Mutex<dyn std::fmt::Debug> = &Mutex::new(5);
    assert_eq!(format!("{:?} {:?}", mutex.lock().unwrap(), &*shown.lock().unwrap()), "[9, 2, 3] 5");
}

#[test]
fn a_mutex_is_shown_with_its_data_or_as_locked() {
    let mutex = Mutex::new(1);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 1, poisoned: false, .. }");
    let guard = mutex.lock().unwrap();
    assert_eq!(format!("{mutex:?} {guard:?} {guard}"), "Mutex { data: \"<locked>\", poisoned: false, .. } 1 1");
}

#[test]
fn readers_share_and_a_writer_does_not() {
    let lock = RwLock::new(1);
    let (first, second) = (lock.read().unwrap(), lock.try_read().unwrap());
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    assert_eq!(*first + *second, 2);
    drop((first, second));
    let mut writer = lock.try_write().unwrap();
    *writer = 2;
    assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    drop(writer);
    assert_eq!(lock.into_inner().unwrap(), 2);
}

#[test]
fn a_writer_becomes_a_reader_that_lets_others_read() {
    let lock = RwLock::new(1);
    let mut writer = lock.write().unwrap();
    *writer = 2;
    let reader = RwLockWriteGuard::downgrade(writer);
    assert_eq!((*reader, *lock.try_read().unwrap()), (2, 2));
    assert!(lock.try_write().is_err());
    drop(reader);
    assert!(lock.try_write().is_ok());
}

#[test]
fn only_writers_poison_a_read_write_lock() {
    let lock = RwLock::new(1);
    let read = catch_unwind(AssertUnwindSafe(|| {
        let _reader = lock.read().unwrap();
        resume_unwind(Box::new(()));
    }));
    assert!(read.is_err() && !lock.is_poisoned());
    let written = catch_unwind(AssertUnwindSafe(|| {
        let _writer = lock.write().unwrap();
        resume_unwind(Box::new(()));
    }));
    assert!(written.is_err() && lock.is_poisoned());
    assert_eq!(**lock.read().unwrap_err().get_ref(), 1);
    assert!(lock.write().is_err());
    lock.clear_poison();
    assert!(lock.write().is_ok());
}

#[test]
fn readers_and_writers_of_many_threads_agree() {
    let lock = RwLock::new((0, 0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let mut pair = lock.write().unwrap();
                    pair.0 += 1;
                    pair.1 += 1;
                }
            });
            scope.spawn(|| {
                for _ in 0..300 {
                    let pair = lock.read().unwrap();
                    assert_eq!(pair.0, pair.1);
                }
            });
        }
    });
    assert_eq!(*lock.read().unwrap(), (600, 600));
}

#[test]
fn a_read_write_lock_is_shown_with_its_data_or_as_locked() {
    let lock = RwLock::new(1);
    let reader = lock.read().unwrap();
    assert_eq!(format!("{lock:?} {reader:?} {reader}"), "RwLock { data: 1, poisoned: false, .. } 1 1");
    drop(reader);
    let mut writer = lock.write().unwrap();
    *writer = 1;
    assert_eq!(format!("{lock:?} {writer:?} {writer}"), "RwLock { data: <locked>, poisoned: false, .. } 1 1");
}

#[test]
fn locks_come_from_values_and_defaults() {
    assert_eq!(*Mutex::from(3).lock().unwrap(), 3);
    assert_eq!(*Mutex::<u8>::default().lock().unwrap(), 0);
    assert_eq!(*RwLock::from(3).read().unwrap(), 3);
    assert_eq!(*RwLock::<u8>::default().get_mut().unwrap(), 0);
}
