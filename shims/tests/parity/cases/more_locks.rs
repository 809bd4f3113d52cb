// More of `Mutex`, `RwLock`, `Condvar`, `Barrier`, `Once` and what is made once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use subject::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use subject::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, PoisonError, RwLock, RwLockWriteGuard, TryLockError,
};
use subject::thread;

/// Panics while it holds what `hold` gives.
fn poison<G>(hold: impl FnOnce() -> G) {
    let poisoned = catch_unwind(AssertUnwindSafe(|| {
        let _held = hold();
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(poisoned.is_err());
}

#[test]
fn a_guard_gives_the_lock_back_at_the_end_of_its_block() {
    let mutex = Mutex::new(1);
    {
        let mut held = mutex.lock().unwrap();
        *held = 2;
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
    }
    assert_eq!(*mutex.try_lock().unwrap(), 2);
}

#[test]
fn a_temporary_guard_is_dropped_with_its_statement() {
    let mutex = Mutex::new(vec![1]);
    mutex.lock().unwrap().push(2);
    assert_eq!(mutex.lock().unwrap().len(), 2);
}

#[test]
fn exclusive_access_to_a_lock_needs_no_locking() {
    let (mut mutex, mut lock) = (Mutex::new(1), RwLock::new(1));
    *mutex.get_mut().unwrap() += 1;
    *lock.get_mut().unwrap() += 2;
    assert_eq!((mutex.into_inner().unwrap(), lock.into_inner().unwrap()), (2, 3));
}

#[test]
fn poison_is_seen_by_every_way_to_the_data() {
    let mut mutex = Mutex::new(5);
    poison(|| mutex.lock().unwrap());
    assert_eq!(**mutex.lock().unwrap_err().get_ref(), 5);
    assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
    assert_eq!(*mutex.get_mut().unwrap_err().into_inner(), 5);
    assert_eq!(mutex.into_inner().unwrap_err().into_inner(), 5);
}

#[test]
fn poison_can_be_cleared_after_a_repair() {
    let mutex = Mutex::new(0);
    poison(|| mutex.lock().unwrap());
    let mut data = mutex.lock().unwrap_or_else(|mut error| {
        **error.get_mut() = 1;
        mutex.clear_poison();
        error.into_inner()
    });
    *data += 1;
    drop(data);
    assert!(!mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap(), 2);
}

#[test]
fn a_read_write_lock_that_is_poisoned_is_so_for_readers_too() {
    let lock = RwLock::new(3);
    poison(|| lock.write().unwrap());
    assert!(lock.is_poisoned() && lock.read().is_err() && lock.try_read().is_err());
    assert!(lock.write().is_err() && matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
    lock.clear_poison();
    assert_eq!(*lock.read().unwrap(), 3);
}

#[test]
fn a_panicking_reader_poisons_nothing() {
    let lock = RwLock::new(3);
    poison(|| lock.read().unwrap());
    assert!(!lock.is_poisoned() && lock.write().is_ok());
}

#[test]
fn poison_errors_say_what_std_s_say() {
    let error = PoisonError::new(7);
    assert_eq!(format!("{error} {error:?}"), "poisoned lock: another task failed inside PoisonError { .. }");
    assert_eq!((*error.get_ref(), error.into_inner()), (7, 7));
    let error: TryLockError<u8> = PoisonError::new(1).into();
    assert_eq!(format!("{error} {error:?}"), "poisoned lock: another task failed inside \"Poisoned(..)\"");
    let error = TryLockError::<u8>::WouldBlock;
    assert_eq!(format!("{error} {error:?}"), "try_lock failed because the operation would block \"WouldBlock\"");
}

#[test]
fn readers_hold_off_a_writer_and_a_writer_holds_off_readers() {
    let lock = RwLock::new(1);
    let (one, other) = (lock.read().unwrap(), lock.read().unwrap());
    assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
    assert_eq!(*one + *other, 2);
    drop((one, other));
    let writer = lock.try_write().unwrap();
    assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
    drop(writer);
}

#[test]
fn nobody_writes_between_a_write_and_the_read_that_it_becomes() {
    let lock = Arc::new(RwLock::new(0));
    let mut writer = lock.write().unwrap();
    let theirs = lock.clone();
    let thread = thread::spawn(move || *theirs.write().unwrap() = 2);
    *writer = 1;
    let reader = RwLockWriteGuard::downgrade(writer);
    // Whether another reader gets it beside a writer that waits is left open.
    assert_eq!((*reader, lock.try_write().is_err()), (1, true));
    drop(reader);
    thread.join().unwrap();
    assert_eq!(*lock.read().unwrap(), 2);
}

#[test]
fn guards_are_shown_as_their_data() {
    let (mutex, lock) = (Mutex::new(5), RwLock::new("text"));
    let held = mutex.lock().unwrap();
    assert_eq!(format!("{held} {held:?}"), "5 5");
    assert_eq!(format!("{0} {0:?}", lock.read().unwrap()), "text \"text\"");
    assert_eq!(format!("{0} {0:?}", lock.write().unwrap()), "text \"text\"");
}

#[test]
fn a_poisoned_lock_is_shown_as_such() {
    let (mutex, lock) = (Mutex::new(5), RwLock::new(6));
    poison(|| (mutex.lock().unwrap(), lock.write().unwrap()));
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 5, poisoned: true, .. }");
    assert_eq!(format!("{lock:?}"), "RwLock { data: 6, poisoned: true, .. }");
}

#[test]
fn a_queue_of_bounded_length_passes_everything_on() {
    let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new(), Condvar::new()));
    let theirs = shared.clone();
    let thread = thread::spawn(move || {
        for n in 0..20 {
            let mut queue = theirs.1.wait_while(theirs.0.lock().unwrap(), |queue| queue.len() == 2).unwrap();
            queue.insert(0, n);
            theirs.2.notify_one();
        }
    });
    for n in 0..20 {
        let mut queue = shared.2.wait_while(shared.0.lock().unwrap(), |queue| queue.is_empty()).unwrap();
        assert_eq!(queue.pop(), Some(n));
        shared.1.notify_one();
    }
    thread.join().unwrap();
}

#[test]
fn a_wait_while_something_holds_can_time_out() {
    let (mutex, condvar) = (Mutex::new(true), Condvar::new());
    let short = Duration::from_millis(2);
    let (held, result) = condvar.wait_timeout_while(mutex.lock().unwrap(), short, |pending| *pending).unwrap();
    assert!(*held && result.timed_out());
    drop(held);
    let (held, result) = condvar.wait_timeout_while(mutex.lock().unwrap(), short, |pending| !*pending).unwrap();
    assert!(*held && !result.timed_out());
    assert_eq!(format!("{result:?}"), "WaitTimeoutResult(false)");
}

#[test]
fn a_condition_may_change_what_it_looks_at() {
    let (mutex, condvar) = (Mutex::new(3), Condvar::new());
    let left = condvar.wait_while(mutex.lock().unwrap(), |n| {
        *n -= 3;
        *n != 0
    });
    assert_eq!(*left.unwrap(), 0);
    assert_eq!(format!("{condvar:?} {:?}", Condvar::default()), "Condvar { .. } Condvar { .. }");
}

#[test]
fn one_barrier_serves_for_many_rounds() {
    let (barrier, count, leaders) = (Barrier::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 1..=5 {
                    count.fetch_add(1, SeqCst);
                    leaders.fetch_add(usize::from(barrier.wait().is_leader()), SeqCst);
                    assert!(count.load(SeqCst) >= 3 * round);
                    barrier.wait();
                }
            });
        }
    });
    assert_eq!((count.into_inner(), leaders.into_inner()), (15, 5));
    assert_eq!(
        format!("{barrier:?} {:?}", Barrier::new(1).wait()),
        "Barrier { .. } BarrierWaitResult { is_leader: true }"
    );
}

#[test]
fn what_is_called_once_is_done_when_the_call_returns() {
    static ONCE: Once = Once::new();
    static VALUE: AtomicUsize = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                ONCE.call_once(|| VALUE.store(5, Relaxed));
                assert_eq!((VALUE.load(Relaxed), ONCE.is_completed()), (5, true));
            });
        }
    });
    assert_eq!(format!("{ONCE:?}"), "Once { .. }");
}

#[test]
fn a_once_that_failed_can_be_forced() {
    let once = Once::new();
    poison(|| once.call_once(|| std::panic::resume_unwind(Box::new(()))));
    assert!(!once.is_completed() && catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err());
    let seen = AtomicBool::new(false);
    once.call_once_force(|state| seen.store(state.is_poisoned(), Relaxed));
    assert!(seen.into_inner() && once.is_completed());
    once.call_once(|| unreachable!("it is done"));
    once.wait();
    once.wait_force();
}

#[test]
fn a_cell_that_is_set_twice_gives_the_second_value_back() {
    let cell = OnceLock::new();
    assert_eq!((cell.get(), cell.set(1), cell.set(2), cell.get()), (None, Ok(()), Err(2), Some(&1)));
    assert_eq!((cell.get_or_init(|| 3), cell.wait()), (&1, &1));
    assert_eq!(cell.into_inner(), Some(1));
}

#[test]
fn a_cell_that_is_taken_can_be_set_again() {
    let mut cell = OnceLock::from(1);
    *cell.get_mut().unwrap() += 1;
    assert_eq!((cell.take(), cell.take(), cell.get()), (Some(2), None, None));
    assert_eq!((cell.set(3), cell.clone().into_inner(), cell == OnceLock::from(3)), (Ok(()), Some(3), true));
    assert_eq!(format!("{cell:?} {:?}", OnceLock::<u8>::new()), "OnceLock(3) OnceLock(<uninit>)");
}

#[test]
fn only_one_of_many_makes_the_value_of_a_cell() {
    let (cell, made) = (OnceLock::new(), AtomicUsize::new(0));
    thread::scope(|scope| {
        for n in 0..6 {
            let (cell, made) = (&cell, &made);
            scope.spawn(move || {
                cell.get_or_init(|| {
                    made.fetch_add(1, SeqCst);
                    n
                })
            });
        }
    });
    assert!(made.into_inner() == 1 && *cell.get().unwrap() < 6);
}

#[test]
fn a_lazy_value_may_use_what_it_captures() {
    let base = String::from("ba");
    let lazy = LazyLock::new(move || base + "se");
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    assert_eq!((lazy.len(), lazy.as_str()), (4, "base"));
    assert_eq!((format!("{lazy:?}"), LazyLock::force(&lazy).as_str()), ("LazyLock(\"base\")".to_owned(), "base"));
}

#[test]
fn a_lazy_static_is_made_by_whoever_comes_first() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static TABLE: LazyLock<Vec<usize>> = LazyLock::new(|| {
        MADE.fetch_add(1, SeqCst);
        (0..5).map(|n| n * n).collect()
    });
    let threads = [1, 2, 3].map(|n| thread::spawn(move || TABLE[n]));
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [1, 4, 9]);
    assert_eq!(MADE.load(SeqCst), 1);
}
