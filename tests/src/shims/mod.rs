//! Small cases of each shim, std's here: `spec/shims.py` has the same in the specification's operations, and so how many executions each must have.
//!
//! Not here: what a case must not do (`shims/tests/checked`), and atomics and fences, which are the specification's own operations (`interpret`).

use std::collections::BTreeMap;

use mc::cell::Cell;
use mc::sync::atomic::{AtomicU32, Ordering::Relaxed};
use mc::sync::mpsc::{channel, sync_channel};
use mc::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard};
use mc::thread;
use mc::time::{Duration, Instant};
use mc_runtime::options::{MemoryModel, Options, Reduction, Reductions};
use mc_runtime::outcome::{Outcome, Verdict};
use serde::Deserialize;

use crate::corpus::spec_folder;

mod future;
mod parking_lot;

/// What the specification says of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Counts {
    /// Executions in which every thread ended.
    pub complete: u64,
    /// Executions in which one waits for ever.
    pub blocked: u64,
}

/// By case, and then by memory model.
///
/// # Panics
/// If the file is not what `shims.py` writes.
pub fn specified() -> BTreeMap<String, BTreeMap<String, Counts>> {
    let text = std::fs::read_to_string(spec_folder().join("shims.json")).expect("it is in the repository");
    serde_json::from_str(&text).expect("as `shims.py` writes it")
}

/// Explores a case with nothing that the specification does not have: no reduction, and nobody is woken for no reason.
pub fn explore(case: fn(), memory_model: MemoryModel) -> Outcome {
    let reductions = Reductions::default().without(Reduction::All);
    let options = Options { memory_model, reductions, spurious_wakeups: 0, ..Options::default() };
    mc_runtime::check::check(&options, move || mc::__private::run_body(case))
}

/// What is different, if anything.
pub fn difference(name: &str, case: fn(), model: MemoryModel, counts: Counts) -> Option<String> {
    let outcome = explore(case, model);
    let found = Counts { complete: outcome.executions, blocked: outcome.blocked };
    let same = (outcome.verdict, found) == (Verdict::Proved, counts);
    (!same).then(|| format!("{name} under {model}: {found:?}, expected {counts:?}: {:?}", outcome.failures))
}

/// A case and its name in `shims.json`.
type Case = (&'static str, fn());

/// All that `shims.py` has.
pub fn cases() -> impl Iterator<Item = Case> {
    [CASES, parking_lot::MUTEXES, parking_lot::CASES, future::CASES].into_iter().flatten().copied()
}

const CASES: &[Case] = &[
    ("Mutex::lock", || on_threads(Mutex::new(0), [lock, lock])),
    ("Mutex::lock twice", || on_threads(Mutex::new(0), [|m| (lock(m), lock(m)).1, lock])),
    ("Mutex::try_lock", || on_threads(Mutex::new(0), [lock, |m| drop(m.try_lock().map(|mut held| *held += 1))])),
    ("RwLock::read", || on_threads(RwLock::new(0), [read, read])),
    ("RwLock::write", || on_threads(RwLock::new(0), [write, read])),
    ("RwLock::write of three", || on_threads(RwLock::new(0), [write, write, read])),
    ("RwLock::try_read", || on_threads(RwLock::new(0), [write, |l| drop(l.try_read().map(|held| *held))])),
    ("RwLock::try_write", || on_threads(RwLock::new(0), [read, |l| drop(l.try_write().map(|mut held| *held += 1))])),
    ("RwLockWriteGuard::downgrade", || on_threads(RwLock::new(0), [downgrade, write])),
    ("Once::call_once", || on_threads(Once::new(), [|o| o.call_once(|| ()); 2])),
    ("Once::call_once of three", || on_threads(Once::new(), [|o| o.call_once(|| ()); 3])),
    ("Once::is_completed", || on_threads(Once::new(), [|o| o.call_once(|| ()), |o| _ = o.is_completed()])),
    ("Once::wait", || on_threads(Once::new(), [|o| o.call_once(|| ()), |o| o.wait()])),
    ("OnceLock::get_or_init", || on_threads(OnceLock::new(), [|cell| _ = cell.get_or_init(|| 1); 2])),
    ("LazyLock::force", || on_threads(LazyLock::new(|| 1), [|lazy| assert_eq!(**lazy, 1); 2])),
    ("Barrier::wait", || on_threads(Barrier::new(2), [|b| _ = b.wait().is_leader(); 2])),
    ("Barrier::wait of three", || on_threads(Barrier::new(3), [|b| _ = b.wait().is_leader(); 3])),
    ("Condvar::wait", || on_threads(Ready::default(), [set, |r| drop(r.wait())])),
    ("Condvar::wait_timeout", || on_threads(Ready::default(), [set, |r| r.wait_timeout()])),
    ("mpsc::channel", || channel_of_two(1)),
    ("mpsc::channel, two each", || channel_of_two(2)),
    ("mpsc::sync_channel", || bounded_channel(1)),
    ("mpsc::sync_channel without room", || bounded_channel(0)),
    ("mpsc::Sender of two, dropped", senders_go),
    ("thread::park", || park(1)),
    ("thread::park, two tokens", || park(2)),
    ("thread::park_timeout", park_timeout),
    ("JoinHandle::is_finished", is_finished),
    ("Arc::strong_count", strong_count),
    ("Arc::into_inner", || two_owners(|arc| _ = Arc::into_inner(arc))),
    ("Arc::try_unwrap", || two_owners(|arc| _ = Arc::try_unwrap(arc))),
    ("Weak::upgrade", upgrade),
    ("thread_local, Cell, Instant", no_events),
];

/// One thread for each of these, with the same value.
fn on_threads<T: Sync, const N: usize>(shared: T, parts: [fn(&T); N]) {
    thread::scope(|scope| {
        for part in parts {
            let shared = &shared;
            scope.spawn(move || part(shared));
        }
    });
}

fn lock(mutex: &Mutex<u32>) {
    *mutex.lock().unwrap() += 1;
}

fn read(lock: &RwLock<u32>) {
    assert!(*lock.read().unwrap() < 3);
}

fn write(lock: &RwLock<u32>) {
    *lock.write().unwrap() += 1;
}

fn downgrade(lock: &RwLock<u32>) {
    drop(RwLockWriteGuard::downgrade(lock.write().unwrap()));
}

#[derive(Default)]
struct Ready(Mutex<bool>, Condvar);

fn set(ready: &Ready) {
    *ready.0.lock().unwrap() = true;
    ready.1.notify_one();
}

impl Ready {
    fn wait(&self) -> mc::sync::MutexGuard<'_, bool> {
        let ready = self.0.lock().unwrap();
        if *ready { ready } else { self.1.wait(ready).unwrap() }
    }

    fn wait_timeout(&self) {
        let ready = self.0.lock().unwrap();
        if !*ready {
            drop(self.1.wait_timeout(ready, Duration::from_secs(1)).unwrap());
        }
    }
}

fn channel_of_two(each: usize) {
    let (sender, receiver) = channel();
    let threads = [0, 1].map(|n| {
        let sender = sender.clone();
        thread::spawn(move || (0..each).for_each(|message| sender.send((n, message)).unwrap()))
    });
    (0..2 * each).for_each(|_| _ = receiver.recv().unwrap());
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn bounded_channel(bound: usize) {
    let (sender, receiver) = sync_channel(bound);
    let thread = thread::spawn(move || (0..2).for_each(|n| sender.send(n).unwrap()));
    assert_eq!([receiver.recv(), receiver.recv()], [Ok(0), Ok(1)]);
    thread.join().unwrap();
}

fn senders_go() {
    let (sender, receiver) = channel::<u8>();
    let other = sender.clone();
    let threads = [sender, other].map(|sender| thread::spawn(move || drop(sender)));
    assert!(receiver.recv().is_err());
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn park_timeout() {
    let main = thread::current();
    let thread = thread::spawn(move || main.unpark());
    thread::park_timeout(Duration::from_secs(1));
    thread.join().unwrap();
}

fn park(tokens: usize) {
    let main = thread::current();
    let threads: Vec<_> = (0..tokens).map(|_| main.clone()).map(|main| thread::spawn(move || main.unpark())).collect();
    thread::park();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn is_finished() {
    let thread = thread::spawn(|| ());
    _ = thread.is_finished();
    thread.join().unwrap();
}

fn strong_count() {
    let arc = Arc::new(AtomicU32::new(0));
    let theirs = arc.clone();
    let thread = thread::spawn(move || drop(theirs));
    assert!(Arc::strong_count(&arc) <= 2);
    drop(arc);
    thread.join().unwrap();
}

fn two_owners(end: fn(Arc<AtomicU32>)) {
    let arc = Arc::new(AtomicU32::new(0));
    let theirs = arc.clone();
    let thread = thread::spawn(move || end(theirs));
    end(arc);
    thread.join().unwrap();
}

fn upgrade() {
    let arc = Arc::new(AtomicU32::new(0));
    let weak = Arc::downgrade(&arc);
    let thread = thread::spawn(move || drop(arc));
    if let Some(arc) = weak.upgrade() {
        assert_eq!(arc.load(Relaxed), 0);
    }
    thread.join().unwrap();
}

fn no_events() {
    mc::thread_local! {
        static LOCAL: Cell<u32> = const { Cell::new(0) };
    }
    on_threads((), [|()| LOCAL.set(LOCAL.get() + Instant::now().elapsed().subsec_nanos()); 2]);
}
