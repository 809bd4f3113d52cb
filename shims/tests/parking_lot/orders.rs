//! What parking_lot's operations do not order, read off its source (0.12.5): found by the checker, not hidden by it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mc::cell::UnsafeCell;
use mc::parking_lot::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard};
use mc::sync::atomic::{AtomicBool, Ordering::Relaxed};
use mc::thread;
use mc_runtime::outcome::FailureKind;

use crate::checked::{fails, proved};

const SECOND: Duration = Duration::from_secs(1);

/// Plain memory beside a lock.
#[derive(Default)]
struct Plain(UnsafeCell<u32>);

// SAFETY: the checker looks at every access.
unsafe impl Sync for Plain {}

impl Plain {
    fn write(&self) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn read(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
}

#[test]
fn who_gives_up_that_it_may_write_releases_nothing() {
    fails(FailureKind::DataRace, || {
        let (plain, lock) = (Plain::default(), RwLock::new(()));
        let writes = || {
            let guard = lock.upgradable_read();
            plain.write();
            drop(RwLockUpgradableReadGuard::downgrade(guard));
        };
        thread::scope(|scope| {
            scope.spawn(writes);
            writes();
        });
    });
}

/// A reader beside one that may become the writer, and writes if it `upgrades`.
fn reads_beside(upgrades: impl for<'a> Fn(RwLockUpgradableReadGuard<'a, ()>) -> Option<RwLockWriteGuard<'a, ()>>) {
    let (plain, lock) = (Plain::default(), RwLock::new(()));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _guard = lock.read();
            plain.read();
        });
        let _guard = upgrades(lock.upgradable_read()).inspect(|_| plain.write());
    });
}

#[test]
fn an_upgrade_that_may_fail_does_not_acquire_from_readers_that_have_gone() {
    let bodies = [
        || reads_beside(|guard| RwLockUpgradableReadGuard::try_upgrade(guard).ok()),
        || reads_beside(|guard| RwLockUpgradableReadGuard::try_upgrade_for(guard, SECOND).ok()),
    ];
    for body in bodies {
        fails(FailureKind::DataRace, body);
    }
    // Another one does. The reader comes and goes before the guard, between it and the upgrade, or after both; or it comes before the upgrade and goes after it has begun.
    proved(6, || reads_beside(|guard| Some(RwLockUpgradableReadGuard::upgrade(guard))));
}

#[test]
fn who_knows_of_a_waiter_by_a_relaxed_flag_may_not_see_it() {
    fails(FailureKind::LostWakeup, || {
        let (state, told, changed) = (Mutex::new((false, false)), AtomicBool::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut state = state.lock();
                state.0 = true;
                if !state.1 {
                    changed.wait(&mut state);
                }
            });
            let teller = scope.spawn(|| {
                let mut state = state.lock();
                if state.0 {
                    told.store(true, Relaxed);
                } else {
                    state.1 = true;
                }
            });
            let is_told = told.load(Relaxed);
            if is_told {
                changed.notify_one();
            }
            teller.join().unwrap();
            if !is_told {
                state.lock().1 = true;
                changed.notify_one();
            }
        });
    });
}

#[test]
fn a_waiter_that_is_notified_leaves_its_mutex_to_the_condvar_no_more() {
    let outcome = crate::checked::check(|| {
        let (ready, other, changed) = (Mutex::new(false), Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut ready = ready.lock();
                while !*ready {
                    changed.wait(&mut ready);
                }
            });
            *ready.lock() = true;
            changed.notify_all();
            changed.wait_for(&mut other.lock(), SECOND);
        });
    });
    assert!(outcome.failures.is_empty(), "{outcome:?}");
}

#[test]
fn who_is_refused_with_another_mutex_leaves_that_of_the_waiter_known() {
    let outcome = crate::checked::check(|| {
        let (own, other, changed) = (Mutex::new((false, false)), Mutex::new((false, false)), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut state = own.lock();
                state.0 = true;
                while !state.1 {
                    changed.wait(&mut state);
                }
            });
            if own.lock().0 {
                let refused = |mutex: &Mutex<_>| {
                    let wait = || changed.wait_for(&mut mutex.lock(), SECOND);
                    catch_unwind(AssertUnwindSafe(wait)).is_err()
                };
                assert_eq!([&other, &other, &own].map(refused), [true, true, false]);
            }
            own.lock().1 = true;
            changed.notify_all();
        });
    });
    assert!(outcome.failures.is_empty(), "{outcome:?}");
}
