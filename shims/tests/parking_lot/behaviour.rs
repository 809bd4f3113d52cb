//! What parking_lot does, case by case; derived from its documentation.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use mc::parking_lot::lock_api::{
    RawMutex as _, RawMutexFair as _, RawRwLock as _, RawRwLockRecursive as _, RawRwLockUpgradeTimed as _,
};
use mc::parking_lot::{
    Condvar, FairMutex, FairMutexGuard, MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex,
    MutexGuard, Once, OnceState, RawMutex, RawRwLock, ReentrantMutex, ReentrantMutexGuard, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard, const_fair_mutex, const_mutex, const_reentrant_mutex, const_rwlock,
};

const SHORT: Duration = Duration::from_millis(5);
/// For what must happen at once; only a failure waits so long.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_mutex_excludes_does_not_poison_and_says_whether_it_is_held() {
    let mutex = Mutex::new(1);
    let failed = catch_unwind(AssertUnwindSafe(|| {
        let _guard = mutex.lock();
        panic!("while it is held");
    }));
    assert!(failed.is_err() && !mutex.is_locked());
    let mut guard = mutex.lock();
    *guard = 2;
    assert!(mutex.is_locked() && mutex.try_lock().is_none());
    assert!(mutex.try_lock_for(SHORT).is_none() && mutex.try_lock_until(Instant::now() + SHORT).is_none());
    MutexGuard::unlock_fair(guard);
    assert_eq!(mutex.try_lock_for(LONG).as_deref(), Some(&2));
    assert_eq!(mutex.try_lock_for(Duration::MAX).as_deref(), Some(&2));
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 2 }");
    assert_eq!(mutex.into_inner(), 2);
}

#[test]
fn a_guard_can_be_mapped_bumped_unlocked_for_a_while_leaked_and_forced() {
    let mut mutex = const_mutex((1, "one"));
    let mut number: MappedMutexGuard<'_, i32> = MutexGuard::map(mutex.lock(), |pair| &mut pair.0);
    *number = 2;
    drop(number);
    let Err(mut guard) = MutexGuard::try_map(mutex.lock(), |_| None::<&mut i32>) else { panic!("mapped nothing") };
    MutexGuard::bump(&mut guard);
    assert!(MutexGuard::unlocked(&mut guard, || mutex.try_lock().is_some()));
    std::mem::forget(guard);
    assert!(mutex.is_locked());
    // SAFETY: the guard that held the lock was forgotten.
    unsafe { mutex.force_unlock() };
    assert!(!mutex.is_locked());
    assert_eq!(mutex.data_ptr().cast_const(), std::ptr::from_ref(mutex.get_mut()));
    assert_eq!(*mutex.get_mut(), (2, "one"));
}

#[test]
fn threads_add_up_under_every_kind_of_mutex() {
    static PLAIN: Mutex<u32> = const_mutex(0);
    static FAIR: FairMutex<u32> = const_fair_mutex(0);
    static LOCK: RwLock<u32> = const_rwlock(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    *PLAIN.lock() += 1;
                    let mut fair = FAIR.lock();
                    *fair += 1;
                    FairMutexGuard::bump(&mut fair);
                    drop(fair);
                    let reader = LOCK.upgradable_read();
                    *RwLockUpgradableReadGuard::upgrade(reader) += 1;
                }
            });
        }
    });
    assert_eq!((*PLAIN.lock(), *FAIR.lock(), *LOCK.read()), (400, 400, 400));
}

#[test]
fn a_reentrant_mutex_lets_its_holder_in_again_and_nobody_else() {
    let mutex = const_reentrant_mutex(1);
    let first = mutex.lock();
    let second: ReentrantMutexGuard<'_, i32> = mutex.try_lock().expect("held by this thread");
    assert!(mutex.is_locked() && mutex.is_owned_by_current_thread());
    let other = |mutex: &ReentrantMutex<i32>| {
        std::thread::scope(|scope| scope.spawn(|| mutex.try_lock().is_some()).join().expect("no panic"))
    };
    assert!(!other(&mutex));
    drop(first);
    assert!(!other(&mutex));
    assert_eq!(*second, 1);
    drop(second);
    assert!(other(&mutex) && !mutex.is_locked());
}

#[test]
fn readers_share_writers_do_not_and_an_upgradable_reader_is_the_only_one_of_its_kind() {
    let lock = RwLock::new(1);
    let reader = lock.read();
    assert!(lock.try_read().is_some() && lock.try_write().is_none());
    assert!(lock.try_write_for(SHORT).is_none() && lock.try_write_until(Instant::now() + SHORT).is_none());
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    let upgradable = lock.upgradable_read();
    assert!(lock.try_upgradable_read().is_none() && lock.try_upgradable_read_for(SHORT).is_none());
    assert!(lock.try_read().is_some() && lock.try_read_recursive().is_some());
    let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect_err("there is a reader");
    let upgradable = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, SHORT).expect_err("there is a reader");
    drop(reader);
    let mut writer = RwLockUpgradableReadGuard::upgrade(upgradable);
    *writer = 2;
    assert!(lock.is_locked_exclusive() && lock.try_read().is_none() && lock.try_read_recursive_for(SHORT).is_none());
    let upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
    assert!(lock.try_upgradable_read().is_none());
    let reader = RwLockUpgradableReadGuard::downgrade(upgradable);
    assert!(lock.try_upgradable_read().is_some() && lock.try_write().is_none());
    drop(reader);
    let mut reader = RwLockWriteGuard::downgrade(lock.write());
    RwLockReadGuard::bump(&mut reader);
    assert_eq!(*reader, 2);
    assert_eq!(format!("{lock:?}"), "RwLock { data: 2 }");
}

#[test]
fn the_guards_of_a_lock_can_be_mapped() {
    let lock = RwLock::new((1, 2));
    *MappedRwLockWriteGuard::map(RwLockWriteGuard::map(lock.write(), |pair| pair), |pair| &mut pair.1) = 3;
    let second: MappedRwLockReadGuard<'_, i32> = RwLockReadGuard::map(lock.read(), |pair| &pair.1);
    assert_eq!((*second, lock.try_write().is_some()), (3, false));
    drop(second);
    assert!(lock.try_write().is_some());
}

/// Waits until `done`, which another thread will make true.
fn until(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < LONG, "it does not come");
        std::thread::yield_now();
    }
}

#[test]
fn a_writer_that_waits_keeps_new_readers_away_but_not_recursive_ones() {
    let lock = RwLock::new(0);
    std::thread::scope(|scope| {
        let reader = lock.read();
        let writer = scope.spawn(|| *lock.write() = 1);
        until(|| lock.try_read().is_none());
        assert!(lock.try_read_recursive().is_some() && lock.is_locked_exclusive());
        drop(reader);
        writer.join().expect("no panic");
    });
    assert_eq!(*lock.read(), 1);
}

#[test]
fn a_writer_that_gives_up_lets_readers_in_again() {
    let lock = RwLock::new(0);
    let reader = lock.read();
    assert!(lock.try_write_for(SHORT).is_none());
    assert!(lock.try_read().is_some());
    drop(reader);
    assert!(lock.try_write().is_some());
}

#[test]
fn raw_locks_work_without_data() {
    let mutex = RawMutex::INIT;
    mutex.lock();
    assert!(!mutex.try_lock());
    // SAFETY: taken above.
    unsafe { mutex.unlock_fair() };
    let lock = RawRwLock::INIT;
    lock.lock_shared();
    lock.lock_shared_recursive();
    assert!(!lock.try_lock_exclusive());
    // SAFETY: taken above, twice.
    unsafe { lock.unlock_shared() };
    // SAFETY: the second.
    unsafe { lock.unlock_shared() };
    use mc::parking_lot::lock_api::RawRwLockUpgrade as _;
    lock.lock_upgradable();
    // SAFETY: taken above.
    assert!(unsafe { lock.try_upgrade_until(Instant::now() + LONG) });
    // SAFETY: it was upgraded.
    unsafe { lock.unlock_exclusive() };
    assert!(!lock.is_locked());
}

#[test]
fn a_condition_variable_says_whom_it_woke() {
    let (mutex, condvar) = (Mutex::new(0), Condvar::new());
    assert!(!condvar.notify_one());
    assert_eq!(condvar.notify_all(), 0);
    std::thread::scope(|scope| {
        let (waiting, waits) = mpsc::channel();
        for _ in 0..3 {
            let (waiting, mutex, condvar) = (waiting.clone(), &mutex, &condvar);
            scope.spawn(move || {
                let mut guard = mutex.lock();
                waiting.send(()).expect("somebody listens");
                condvar.wait(&mut guard);
                *guard += 1;
            });
        }
        for _ in 0..3 {
            waits.recv().expect("three come");
        }
        // Whoever has sent holds the mutex until it waits.
        drop(mutex.lock());
        assert!(condvar.notify_one());
        assert_eq!(condvar.notify_all(), 2);
    });
    assert_eq!((*mutex.lock(), format!("{condvar:?}")), (3, "Condvar { .. }".to_owned()));
}

#[test]
fn a_wait_with_a_time_out_ends() {
    let (mutex, condvar) = (Mutex::new(false), Condvar::new());
    let mut guard = mutex.lock();
    assert!(condvar.wait_for(&mut guard, SHORT).timed_out());
    assert!(condvar.wait_until(&mut guard, Instant::now() + SHORT).timed_out());
    assert!(condvar.wait_while_for(&mut guard, |ready| !*ready, SHORT).timed_out());
    assert!(condvar.wait_while_until(&mut guard, |ready| !*ready, Instant::now() + SHORT).timed_out());
    *guard = true;
    assert!(!condvar.wait_while_for(&mut guard, |ready| !*ready, LONG).timed_out());
    condvar.wait_while(&mut guard, |ready| !*ready);
}

#[test]
fn a_condition_variable_is_for_one_mutex_at_a_time() {
    let (first, second, condvar) = (Mutex::new(false), Mutex::new(()), Condvar::new());
    let (waiting, waits) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = first.lock();
            waiting.send(()).expect("somebody listens");
            condvar.wait_while(&mut guard, |done| !*done);
        });
        waits.recv().expect("it comes");
        drop(first.lock());
        let refused = catch_unwind(AssertUnwindSafe(|| condvar.wait(&mut second.lock())));
        assert!(refused.is_err() && !second.is_locked());
        *first.lock() = true;
        assert_eq!(condvar.notify_all(), 1);
    });
    // Nobody waits any more, so another one will do.
    assert!(condvar.wait_for(&mut second.lock(), SHORT).timed_out());
}

#[test]
fn something_is_done_once_or_again_after_a_panic() {
    let once = Once::new();
    assert_eq!(once.state(), OnceState::New);
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("the first fails")))).is_err());
    assert!(once.state().poisoned());
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err());
    once.call_once_force(|state| {
        assert_eq!((state, once.state()), (OnceState::Poisoned, OnceState::InProgress));
    });
    assert!(once.state().done());
    once.call_once(|| unreachable!("done"));
    assert_eq!(format!("{once:?}"), "Once { state: Done }");
}

#[cfg(feature = "parking_lot_arc_lock")]
#[test]
fn a_guard_can_own_its_lock() {
    let mutex = std::sync::Arc::new(Mutex::new(1));
    let guard = mutex.lock_arc();
    assert!(mutex.try_lock_arc().is_none());
    drop(guard);
    let lock = std::sync::Arc::new(RwLock::new(1));
    let reader = lock.read_arc();
    assert!(lock.try_write_arc().is_none());
    drop(reader);
    assert!(lock.try_upgradable_read_arc().is_some());
}

#[test]
fn locks_are_shared_between_threads_and_guards_are_not() {
    fn shared<T: Send + Sync>() {}
    shared::<(Mutex<u8>, FairMutex<u8>, ReentrantMutex<u8>, RwLock<u8>, Condvar, Once)>();
    #[cfg(feature = "parking_lot_send_guard")]
    shared::<(MutexGuard<'_, u8>, RwLockReadGuard<'_, u8>)>();
}
