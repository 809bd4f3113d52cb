//! Many rounds on real threads: what holds at every moment, and that nobody waits for ever.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use mc::parking_lot::{
    Condvar, FairMutex, FairMutexGuard, Mutex, MutexGuard, Once, ReentrantMutex, RwLock, RwLockReadGuard,
    RwLockUpgradableReadGuard, RwLockWriteGuard,
};

const THREADS: usize = 4;
const ROUNDS: usize = 1_000;
/// For what comes at last; only a failure waits so long.
const LONG: Duration = Duration::from_secs(600);

/// What runs on each of the threads, with its number.
fn on_all(work: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        let work = &work;
        (0..THREADS).for_each(|n| drop(scope.spawn(move || work(n))));
    });
}

/// Two threads that do this at once would lose an item, or free one twice.
fn replace(items: &mut VecDeque<Box<usize>>) {
    let first = items.pop_front().expect("there is one");
    items.push_back(Box::new(*first + 1));
}

fn one_item() -> VecDeque<Box<usize>> {
    [Box::new(0)].into()
}

#[test]
fn a_mutex_excludes_however_it_is_taken_under_stress() {
    let mutex = Mutex::new(one_item());
    on_all(|n| {
        for round in 0..ROUNDS {
            let mut held = match (n + round) % 3 {
                0 => mutex.lock(),
                1 => mutex.try_lock().unwrap_or_else(|| mutex.lock()),
                _ => mutex.try_lock_for(LONG).expect("it is free at last"),
            };
            replace(&mut held);
            match round % 3 {
                0 => MutexGuard::unlock_fair(held),
                1 => MutexGuard::bump(&mut held),
                _ => drop(held),
            }
        }
    });
    assert_eq!(mutex.into_inner(), [Box::new(THREADS * ROUNDS)]);
}

#[test]
fn a_fair_mutex_excludes_under_stress() {
    let mutex = FairMutex::new(one_item());
    on_all(|_| {
        for _ in 0..ROUNDS / 2 {
            let mut held = mutex.lock();
            replace(&mut held);
            FairMutexGuard::bump(&mut held);
            replace(&mut held);
        }
    });
    assert_eq!(mutex.into_inner(), [Box::new(THREADS * ROUNDS)]);
}

#[test]
fn a_reentrant_mutex_excludes_until_its_last_guard_goes_under_stress() {
    let mutex = ReentrantMutex::new(RefCell::new(one_item()));
    on_all(|n| {
        for round in 0..ROUNDS {
            let outer = if n % 2 == 0 { mutex.lock() } else { mutex.try_lock().unwrap_or_else(|| mutex.lock()) };
            let before = *outer.borrow()[0];
            let inner = mutex.try_lock().expect("held by this thread");
            replace(&mut inner.borrow_mut());
            // Which of the guards is the last makes no difference.
            let (first, last) = if round % 2 == 0 { (inner, outer) } else { (outer, inner) };
            drop(first);
            assert_eq!(*last.borrow()[0], before + 1);
        }
    });
    assert_eq!(mutex.into_inner().into_inner(), [Box::new(THREADS * ROUNDS)]);
}

/// What a writer sets, both or neither, and how many threads read.
struct Both {
    lock: RwLock<(Box<usize>, Box<usize>)>,
    readers: AtomicUsize,
}

impl Both {
    fn read(&self, held: &(Box<usize>, Box<usize>)) {
        self.readers.fetch_add(1, Relaxed);
        assert_eq!(held.0, held.1);
        self.readers.fetch_sub(1, Relaxed);
    }

    fn write(&self, held: &mut (Box<usize>, Box<usize>)) {
        assert_eq!(self.readers.load(Relaxed), 0);
        *held = (Box::new(*held.0 + 1), Box::new(*held.1 + 1));
    }

    /// How often it has written.
    fn work(&self, way: usize) -> usize {
        match way {
            0 => self.write(&mut self.lock.try_write_for(LONG).expect("it is free at last")),
            1 => {
                let mut writer = self.lock.write();
                self.write(&mut writer);
                let written = *writer.0;
                let reader = RwLockWriteGuard::downgrade(writer);
                assert_eq!(*reader.0, written);
                self.read(&reader);
            }
            2 => {
                let reader = self.lock.upgradable_read();
                let seen = *reader.0;
                let mut writer = RwLockUpgradableReadGuard::upgrade(reader);
                assert_eq!(*writer.0, seen);
                self.write(&mut writer);
                self.read(&RwLockWriteGuard::downgrade_to_upgradable(writer));
            }
            3 => match RwLockUpgradableReadGuard::try_upgrade(self.lock.upgradable_read()) {
                Ok(mut writer) => self.write(&mut writer),
                Err(reader) => {
                    self.read(&RwLockUpgradableReadGuard::downgrade(reader));
                    return 0;
                }
            },
            4 => {
                let mut reader = self.lock.try_read().unwrap_or_else(|| self.lock.read());
                self.read(&reader);
                RwLockReadGuard::bump(&mut reader);
                self.read(&reader);
                self.read(&self.lock.read_recursive());
                return 0;
            }
            _ => {
                self.read(&self.lock.try_read_for(LONG).expect("nobody writes for ever"));
                return 0;
            }
        }
        1
    }
}

#[test]
fn a_writer_is_alone_however_it_became_one_under_stress() {
    let both = Both { lock: RwLock::new((Box::new(0), Box::new(0))), readers: AtomicUsize::new(0) };
    let writes = AtomicUsize::new(0);
    on_all(|n| {
        for round in 0..ROUNDS {
            writes.fetch_add(both.work((n + round) % 6), Relaxed);
        }
    });
    let writes = writes.into_inner();
    assert!(writes >= THREADS * (ROUNDS / 6) * 3);
    assert_eq!(both.lock.into_inner(), (Box::new(writes), Box::new(writes)));
}

#[test]
fn a_queue_of_a_mutex_and_two_condition_variables_under_stress() {
    let queue = Mutex::new(VecDeque::new());
    let (has_items, has_room) = (Condvar::new(), Condvar::new());
    let taken = AtomicUsize::new(0);
    on_all(|n| {
        for round in 0..ROUNDS {
            let mut items = queue.lock();
            if n % 2 == 0 {
                has_room.wait_while(&mut items, |items| items.len() == 3);
                items.push_back(Box::new(round));
                has_items.notify_one();
            } else {
                assert!(!has_items.wait_while_for(&mut items, |items| items.is_empty(), LONG).timed_out());
                taken.fetch_add(*items.pop_front().expect("it was waited for"), Relaxed);
                drop(items);
                has_room.notify_all();
            }
        }
    });
    assert_eq!(taken.into_inner(), THREADS / 2 * (0..ROUNDS).sum::<usize>());
    assert!(queue.into_inner().is_empty());
}

#[test]
fn threads_take_turns_under_stress() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    on_all(|n| {
        for round in 0..ROUNDS / 2 {
            let mut turn = turn.lock();
            changed.wait_while(&mut turn, |turn| *turn != THREADS * round + n);
            *turn += 1;
            changed.notify_all();
        }
    });
    assert_eq!(turn.into_inner(), THREADS * (ROUNDS / 2));
}

#[test]
fn something_is_done_once_after_it_has_failed_once_under_stress() {
    let all: Vec<_> = (0..ROUNDS).map(|_| (Once::new(), Mutex::new(one_item()))).collect();
    let barrier = Barrier::new(THREADS);
    on_all(|_| {
        for (once, items) in &all {
            barrier.wait();
            let attempt = || {
                once.call_once_force(|_| {
                    // Nobody else is at it.
                    let mut items = items.try_lock().expect("free");
                    replace(&mut items);
                    if *items[0] == 1 {
                        resume_unwind(Box::new(()));
                    }
                });
            };
            while !once.state().done() {
                _ = catch_unwind(AssertUnwindSafe(attempt));
            }
        }
    });
    assert!(all.into_iter().all(|(_, items)| items.into_inner() == [Box::new(2)]));
}
