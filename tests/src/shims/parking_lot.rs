//! Cases of `mc::parking_lot`, as `spec/shims_parking_lot.py` has them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use mc::parking_lot::{
    Condvar, FairMutex, Mutex, MutexGuard, Once, ReentrantMutex, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};
use mc::time::Duration;

use super::{Case, on_threads};

const SECOND: Duration = Duration::from_secs(1);

macro_rules! cases_of_mutexes {
    ($($type:ident: $name:literal),* $(,)?) => {&[$(
        (concat!($name, "::lock"), || on_threads($type::new(()), [|m| drop(m.lock()); 2])),
        (concat!($name, "::try_lock"), || on_threads($type::new(()), [|m| drop(m.lock()), |m| drop(m.try_lock())])),
        (concat!($name, "::try_lock_for"), || {
            on_threads($type::new(()), [|m| drop(m.lock()), |m| drop(m.try_lock_for(SECOND))]);
        }),
        (concat!($name, "::try_lock_for of two"), || {
            on_threads($type::new(()), [|m| drop(m.try_lock_for(SECOND)); 2]);
        }),
        (concat!($name, "::try_lock_for, for ever"), || {
            on_threads($type::new(()), [|m| drop(m.lock()), |m| drop(m.try_lock_for(Duration::MAX))]);
        }),
        (concat!($name, "::is_locked"), || on_threads($type::new(()), [|m| drop(m.lock()), |m| _ = m.is_locked()])),
    )*]};
}

pub(super) const MUTEXES: &[Case] = cases_of_mutexes! {
    Mutex: "parking_lot::Mutex",
    FairMutex: "parking_lot::FairMutex",
    ReentrantMutex: "parking_lot::ReentrantMutex",
};

pub(super) const CASES: &[Case] = &[
    ("parking_lot::MutexGuard::bump", || on_threads(Mutex::new(()), [|m| MutexGuard::bump(&mut m.lock()), lock])),
    ("parking_lot::MutexGuard::unlocked", || {
        on_threads(Mutex::new(()), [|m| MutexGuard::unlocked(&mut m.lock(), || ()), lock]);
    }),
    ("parking_lot::ReentrantMutex::lock again", || on_threads(ReentrantMutex::new(()), [lock_again; 2])),
    ("parking_lot::RwLock::read", || on_threads(RwLock::new(0), [read, read])),
    ("parking_lot::RwLock::write", || on_threads(RwLock::new(0), [write, read])),
    ("parking_lot::RwLock::write of three", || on_threads(RwLock::new(0), [write, write, read])),
    ("parking_lot::RwLock::write beside two readers", || on_threads(RwLock::new(0), [write, read, read])),
    ("parking_lot::RwLock::read_recursive", || on_threads(RwLock::new(0), [write, read_twice])),
    ("parking_lot::RwLock::read_recursive beside a reader", || {
        on_threads(RwLock::new(0), [write, read_twice, read]);
    }),
    ("parking_lot::RwLock::try_read", || on_threads(RwLock::new(0), [write, try_read])),
    ("parking_lot::RwLock::try_read beside a reader", || on_threads(RwLock::new(0), [write, read, try_read])),
    ("parking_lot::RwLock::try_read_recursive beside a reader", || {
        on_threads(RwLock::new(0), [write, read, |l| drop(l.try_read_recursive())]);
    }),
    ("parking_lot::RwLock::try_write", || on_threads(RwLock::new(0), [read, |l| drop(l.try_write())])),
    ("parking_lot::RwLock::is_locked", || on_threads(RwLock::new(0), [write, |l| _ = l.is_locked()])),
    ("parking_lot::RwLock::is_locked_exclusive", || on_threads(RwLock::new(0), [write, look_while_reading])),
    ("parking_lot::RwLock::try_read_for", || {
        on_threads(RwLock::new(0), [write, |l| drop(l.try_read_for(SECOND))]);
    }),
    ("parking_lot::RwLock::try_read_recursive_for", || {
        on_threads(RwLock::new(0), [write, |l| drop(l.try_read_recursive_for(SECOND))]);
    }),
    ("parking_lot::RwLock::try_write_for", || on_threads(RwLock::new(0), [read, try_write_for])),
    ("parking_lot::RwLock::try_write_for beside two readers", || {
        on_threads(RwLock::new(0), [try_write_for, read, read]);
    }),
    ("parking_lot::RwLock::try_write_for, and a try_read after a reader", || {
        on_threads(RwLock::new(0), [try_write_for, read_try_read]);
    }),
    ("parking_lot::RwLock::try_write_for, and a try_write after a reader", || {
        on_threads(RwLock::new(0), [try_write_for, read_try_write]);
    }),
    ("parking_lot::RwLock::try_write_for, and is_locked after a reader", || {
        on_threads(RwLock::new(0), [try_write_for, read_is_locked]);
    }),
    ("parking_lot::RwLock::try_write_for of two, one after a reader", || {
        on_threads(RwLock::new(0), [try_write_for, read_try_write_for]);
    }),
    ("parking_lot::RwLock::upgradable_read", || on_threads(RwLock::new(0), [upgradable_read, upgradable_read])),
    ("parking_lot::RwLock::upgradable_read beside a reader", || {
        on_threads(RwLock::new(0), [upgradable_read, read]);
    }),
    ("parking_lot::RwLock::try_upgradable_read", || on_threads(RwLock::new(0), [read, try_upgradable_read])),
    ("parking_lot::RwLock::try_upgradable_read of two", || {
        on_threads(RwLock::new(0), [upgradable_read, try_upgradable_read]);
    }),
    ("parking_lot::RwLock::try_upgradable_read_for", || {
        on_threads(RwLock::new(0), [upgradable_read, |l| drop(l.try_upgradable_read_for(SECOND))]);
    }),
    ("parking_lot::RwLockReadGuard::bump", || {
        on_threads(RwLock::new(0), [write, |l| RwLockReadGuard::bump(&mut l.read())]);
    }),
    ("parking_lot::RwLockWriteGuard::downgrade", || on_threads(RwLock::new(0), [downgrade, write])),
    ("parking_lot::RwLockWriteGuard::downgrade beside a reader", || {
        on_threads(RwLock::new(0), [downgrade, read, write]);
    }),
    ("parking_lot::RwLockWriteGuard::downgrade_to_upgradable", || {
        on_threads(RwLock::new(0), [|l| drop(RwLockWriteGuard::downgrade_to_upgradable(l.write())), read]);
    }),
    ("parking_lot::RwLockUpgradableReadGuard::upgrade", || on_threads(RwLock::new(0), [upgrade, upgrade])),
    ("parking_lot::RwLockUpgradableReadGuard::upgrade beside a reader", || {
        on_threads(RwLock::new(0), [upgrade, read]);
    }),
    ("parking_lot::RwLockUpgradableReadGuard::upgrade beside two readers", || {
        on_threads(RwLock::new(0), [upgrade, read, read]);
    }),
    ("parking_lot::RwLockUpgradableReadGuard::try_upgrade", || {
        let try_upgrade = |l: &RwLock<u32>| drop(RwLockUpgradableReadGuard::try_upgrade(l.upgradable_read()));
        on_threads(RwLock::new(0), [try_upgrade, read]);
    }),
    ("parking_lot::RwLockUpgradableReadGuard::try_upgrade_for", || {
        on_threads(RwLock::new(0), [try_upgrade_for, read]);
    }),
    ("parking_lot::RwLockUpgradableReadGuard::try_upgrade_for, and a try_read after a reader", || {
        on_threads(RwLock::new(0), [try_upgrade_for, read_try_read]);
    }),
    ("parking_lot::RwLockUpgradableReadGuard::downgrade", || {
        on_threads(RwLock::new(0), [|l| drop(RwLockUpgradableReadGuard::downgrade(l.upgradable_read())), write]);
    }),
    ("parking_lot::Condvar::wait", || on_threads(Ready::default(), [set_for_one, wait])),
    ("parking_lot::Condvar::wait of two, notify_all", || on_threads(Ready::default(), [set_for_all, wait, wait])),
    ("parking_lot::Condvar::wait of two, notify_one", || on_threads(Ready::default(), [set_for_two, wait, wait])),
    ("parking_lot::Condvar::wait_for", || on_threads(Ready::default(), [set_for_one, wait_for])),
    ("parking_lot::Condvar::wait_for of one of two", || {
        on_threads(Ready::default(), [set_for_two, wait, wait_for]);
    }),
    ("parking_lot::Condvar::wait_while_for", || {
        let wait_while = |r: &Ready| _ = r.1.wait_while_for(&mut r.0.lock(), |ready| !*ready, SECOND);
        on_threads(Ready::default(), [set_for_all, wait_while]);
    }),
    ("parking_lot::Once::call_once", || on_threads(Once::new(), [|o| o.call_once(|| ()); 2])),
    ("parking_lot::Once::call_once of three", || on_threads(Once::new(), [|o| o.call_once(|| ()); 3])),
    ("parking_lot::Once::call_once_force", || {
        on_threads(Once::new(), [call_in_vain, |o| o.call_once_force(|_| ())]);
    }),
    ("parking_lot::Once::state", || on_threads(Once::new(), [|o| o.call_once(|| ()), |o| _ = o.state()])),
];

fn lock(mutex: &Mutex<()>) {
    drop(mutex.lock());
}

fn lock_again(mutex: &ReentrantMutex<()>) {
    let _held = mutex.lock();
    drop((mutex.lock(), mutex.try_lock().expect("held by this thread")));
}

fn read(lock: &RwLock<u32>) {
    assert!(*lock.read() < 3);
}

fn read_twice(lock: &RwLock<u32>) {
    let first = lock.read();
    assert_eq!(*first, *lock.read_recursive());
}

fn try_read(lock: &RwLock<u32>) {
    drop(lock.try_read());
}

fn look_while_reading(lock: &RwLock<u32>) {
    let _reader = lock.read();
    _ = lock.is_locked_exclusive();
}

fn read_try_read(lock: &RwLock<u32>) {
    read(lock);
    try_read(lock);
}

fn read_try_write(lock: &RwLock<u32>) {
    read(lock);
    drop(lock.try_write());
}

fn read_is_locked(lock: &RwLock<u32>) {
    read(lock);
    _ = lock.is_locked();
}

fn read_try_write_for(lock: &RwLock<u32>) {
    read(lock);
    try_write_for(lock);
}

fn write(lock: &RwLock<u32>) {
    *lock.write() += 1;
}

fn try_write_for(lock: &RwLock<u32>) {
    drop(lock.try_write_for(SECOND));
}

fn downgrade(lock: &RwLock<u32>) {
    drop(RwLockWriteGuard::downgrade(lock.write()));
}

fn upgradable_read(lock: &RwLock<u32>) {
    drop(lock.upgradable_read());
}

fn try_upgradable_read(lock: &RwLock<u32>) {
    drop(lock.try_upgradable_read());
}

fn upgrade(lock: &RwLock<u32>) {
    *RwLockUpgradableReadGuard::upgrade(lock.upgradable_read()) += 1;
}

fn try_upgrade_for(lock: &RwLock<u32>) {
    drop(RwLockUpgradableReadGuard::try_upgrade_for(lock.upgradable_read(), SECOND));
}

#[derive(Default)]
struct Ready(Mutex<bool>, Condvar);

fn set_for_one(ready: &Ready) {
    *ready.0.lock() = true;
    ready.1.notify_one();
}

fn set_for_two(ready: &Ready) {
    set_for_one(ready);
    ready.1.notify_one();
}

fn set_for_all(ready: &Ready) {
    *ready.0.lock() = true;
    ready.1.notify_all();
}

fn wait(ready: &Ready) {
    ready.1.wait_while(&mut ready.0.lock(), |ready| !*ready);
}

fn wait_for(ready: &Ready) {
    let mut guard = ready.0.lock();
    if !*guard {
        ready.1.wait_for(&mut guard, SECOND);
    }
}

fn call_in_vain(once: &Once) {
    let call = || once.call_once(|| resume_unwind(Box::new(())));
    _ = catch_unwind(AssertUnwindSafe(call));
}
