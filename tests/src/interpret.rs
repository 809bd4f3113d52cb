//! Runs a litmus program as real code: one checked thread per thread of the program, checked atomics and mutexes for
//! its locations. What is found is what the engine explores, through the same shims that users take.
//!
//! Source: the meaning of the operations is that of `next_op` and `rmw_result` in `tests/spec/exploration.py`.
//! Invariants:
//! - the body's own thread makes no events but spawns and joins, so that executions can be counted;
//! - nothing here allocates in an execution and keeps it: what is collected goes into memory reserved beforehand.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard as StdMutexGuard, PoisonError};

use mc::sync::atomic::{AtomicI32, AtomicI64, Ordering, fence};
use mc::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use mc_runtime::ops::{self, Guard, Label, Test, Update, Width};
use mc_runtime::options::Options;
use mc_runtime::outcome::Outcome;

use crate::program::{Column, Kind, LIMIT, LocationId, Op, Order, RegisterId, Resolved, Value};

/// The distinct outcomes of complete executions.
#[derive(Debug, PartialEq, Eq)]
pub enum Finals {
    /// All of them.
    All(BTreeSet<Vec<i64>>),
    /// There are more than there was room for; these are some.
    TooMany(BTreeSet<Vec<i64>>),
}

/// Explores the executions of `program`, by default all of them, failures included. Room is made for `room` outcomes.
///
/// # Panics
/// If a thread of an earlier exploration panicked while it held what is collected: a mistake in this file.
pub fn explore(program: &Resolved, options: &Options, room: usize) -> (Outcome, Finals) {
    let collected = StdMutex::new(Collected::with_room(program.columns.len(), room));
    // An execution that goes on from a snapshot must not count owners of what outlives it: it has none.
    // SAFETY: the check is over, and its threads with it, before either ends.
    let (program, rows) = unsafe { (&*std::ptr::from_ref(program), &*std::ptr::from_ref(&collected)) };
    let outcome = mc_runtime::check::check(options, move || body(program, rows));
    let collected = lock(&collected);
    let rows = collected.rows().map(<[i64]>::to_vec).collect();
    (outcome, if collected.overflowed { Finals::TooMany(rows) } else { Finals::All(rows) })
}

/// As [`explore`], but threads with the same operations are symmetric: what each ended with is kept where nobody sees whose it is, and sorted for the outcome.
///
/// # Panics
/// As [`explore`].
pub fn explore_symmetric(program: &Resolved, options: &Options, room: usize) -> (Outcome, Finals) {
    let collected = Arc::new(StdMutex::new(Collected::with_room(program.columns.len(), room)));
    let kept = Arc::new(StdMutex::new(Vec::with_capacity(program.threads.len())));
    let (program, rows) = (Arc::new(program.clone()), Arc::clone(&collected));
    let outcome = mc_runtime::check::check(options, move || symmetric_body(&program, &rows, &kept));
    let collected = lock(&collected);
    let rows = collected.rows().map(<[i64]>::to_vec).collect();
    (outcome, if collected.overflowed { Finals::TooMany(rows) } else { Finals::All(rows) })
}

/// Which threads keep what they end with to themselves.
#[derive(Clone, Debug)]
pub struct Apart {
    /// These; others return it.
    pub threads: Vec<bool>,
    /// In which order the others are joined.
    pub joins: Vec<usize>,
    /// After so many joins the body itself does what the last thread of the program does.
    pub acts_after: usize,
}

/// As [`explore`], but each thread for itself tells how it ended, and the body how it has ended itself, with those whose ends it knows: a row for each, with [`UNKNOWN`] for what others know.
///
/// # Panics
/// As [`explore`].
pub fn explore_apart(program: &Resolved, apart: &Apart, options: &Options, room: usize) -> (Outcome, Finals) {
    let collected = Arc::new(StdMutex::new(Collected::with_room(program.columns.len(), room)));
    let (program, rows, apart) = (Arc::new(program.clone()), Arc::clone(&collected), apart.clone());
    let outcome = mc_runtime::check::check(options, move || apart_body(&program, &rows, &apart));
    let collected = lock(&collected);
    let rows = collected.rows().map(<[i64]>::to_vec).collect();
    (outcome, if collected.overflowed { Finals::TooMany(rows) } else { Finals::All(rows) })
}

/// What another one knows.
const UNKNOWN: i64 = -1;

fn apart_body(program: &Arc<Resolved>, collected: &Arc<StdMutex<Collected>>, apart: &Apart) {
    let locations: Arc<[Location]> = program.locations.iter().map(|kind| Location::new(*kind)).collect();
    let own = program.threads.len() - 1;
    let mut handles = Vec::with_capacity(own);
    for thread in 0..own {
        let (program, locations, collected) = (Arc::clone(program), Arc::clone(&locations), Arc::clone(collected));
        let handle = if apart.threads[thread] {
            mc::thread::spawn(move || {
                let end = run_thread(&program.threads[thread], &locations);
                let value = |column: &Column| match *column {
                    Column::Register(of, register) if of == thread => end.registers[register.0],
                    _ => UNKNOWN,
                };
                lock(&collected).add(program.columns.iter().map(value));
                None
            })
        } else {
            mc::thread::spawn(move || Some(run_thread(&program.threads[thread], &locations)))
        };
        handles.push(Some(handle));
    }
    let mut ends: [Option<End>; LIMIT] = [const { None }; LIMIT];
    for before in 0..=own {
        if before == apart.acts_after {
            ends[own] = Some(run_thread(&program.threads[own], &locations));
        }
        if let Some(&thread) = apart.joins.get(before) {
            let handle = handles[thread].take().expect("each is joined once");
            ends[thread] = handle.join().expect("a thread of a litmus program does not panic");
        }
    }
    let value = |column: &Column| match *column {
        Column::Register(thread, register) => ends[thread].as_ref().map_or(UNKNOWN, |end| end.registers[register.0]),
        Column::Location(id) => locations[id.0].after_all(),
    };
    lock(collected).add(program.columns.iter().map(value));
}

/// How threads ended, each with the first thread that has its operations.
type Kept = StdMutex<Vec<(usize, End)>>;

fn symmetric_body(program: &Arc<Resolved>, collected: &StdMutex<Collected>, kept: &Arc<Kept>) {
    let keep = |kept: &Kept, end| kept.lock().unwrap_or_else(PoisonError::into_inner).push(end);
    kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let locations: Arc<[Location]> = program.locations.iter().map(|kind| Location::new(*kind)).collect();
    let first = |ops| program.threads.iter().position(|first| first == ops).expect("it is one of them");
    let mut handles = Vec::with_capacity(program.threads.len());
    for ops in &program.threads {
        let (class, program, locations, kept) =
            (first(ops), Arc::clone(program), Arc::clone(&locations), Arc::clone(kept));
        handles.push(mc::thread::spawn(move || keep(&kept, (class, run_thread(&program.threads[class], &locations)))));
    }
    for handle in handles {
        handle.join().expect("a thread of a litmus program does not panic");
    }
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.sort_unstable_by_key(|a| (a.0, a.1.registers));
    let end = |thread: usize| {
        let class = first(&program.threads[thread]);
        let before = program.threads[..thread].iter().filter(|ops| first(ops) == class).count();
        &kept.iter().filter(|end| end.0 == class).nth(before).expect("each of them ended").1
    };
    let value = |column: &Column| match *column {
        Column::Register(thread, register) => end(thread).registers[register.0],
        Column::Location(id) => match &locations[id.0] {
            Location::Lock(_) => i64::from(kept.iter().any(|(_, end)| end.holds[id.0])),
            atomic => atomic.after_all(),
        },
    };
    lock(collected).add(program.columns.iter().map(value));
}

/// Distinct rows of equal width (0 where a program has neither registers nor locations), in memory that was reserved when it was made.
struct Collected {
    width: usize,
    rows: usize,
    values: Vec<i64>,
    overflowed: bool,
}

impl Collected {
    fn with_room(width: usize, rows: usize) -> Self {
        // One row more: a new row is written before it is compared.
        Self { width, rows: 0, values: Vec::with_capacity(width * (rows + 1)), overflowed: false }
    }

    fn row(&self, row: usize) -> &[i64] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    fn rows(&self) -> impl Iterator<Item = &[i64]> {
        (0..self.rows).map(|row| self.row(row))
    }

    fn add(&mut self, row: impl Iterator<Item = i64>) {
        if self.overflowed {
            return;
        }
        let start = self.values.len();
        self.values.extend(row);
        assert_eq!(self.values.len(), start + self.width, "a value for each column");
        if self.rows().any(|row| row == &self.values[start..]) {
            self.values.truncate(start);
        } else if self.values.capacity() - self.values.len() < self.width {
            self.values.truncate(start);
            self.overflowed = true;
        } else {
            self.rows += 1;
        }
    }
}

fn lock(collected: &StdMutex<Collected>) -> StdMutexGuard<'_, Collected> {
    collected.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The body of the check: makes the locations, runs the threads, collects how they ended.
fn body(program: &'static Resolved, collected: &StdMutex<Collected>) {
    let locations: Arc<[Location]> = program.locations.iter().map(|kind| Location::new(*kind)).collect();
    let mut handles = Vec::with_capacity(program.threads.len());
    for thread in 0..program.threads.len() {
        let locations = Arc::clone(&locations);
        handles.push(mc::thread::spawn(move || run_thread(&program.threads[thread], &locations)));
    }
    let mut ends = Vec::with_capacity(handles.len());
    for handle in handles {
        ends.push(handle.join().expect("a thread of a litmus program does not panic"));
    }
    let value = |column: &Column| match *column {
        Column::Register(thread, register) => ends[thread].registers[register.0],
        Column::Location(id) => match &locations[id.0] {
            Location::Lock(_) => i64::from(ends.iter().any(|end| end.holds[id.0])),
            atomic => atomic.after_all(),
        },
    };
    lock(collected).add(program.columns.iter().map(value));
}

/// How a thread ended.
struct End {
    registers: [i64; LIMIT],
    /// The locks that it did not unlock.
    holds: [bool; LIMIT],
}

enum Location {
    Atomic(AtomicI64),
    Guarded(AtomicI32),
    Lock(Mutex<()>),
    Shared(RwLock<()>),
}

/// As the word of a guarded location; programs keep to small values.
fn narrow(value: i64) -> i32 {
    i32::try_from(value).expect("values of guarded locations have 32 bits")
}

impl Location {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Atomic => Self::Atomic(AtomicI64::new(0)),
            Kind::Guarded => Self::Guarded(AtomicI32::new(0)),
            Kind::Lock => Self::Lock(Mutex::new(())),
            Kind::Shared => Self::Shared(RwLock::new(())),
        }
    }

    fn store(&self, value: i64, order: Ordering) {
        match self {
            Self::Atomic(at) => at.store(value, order),
            Self::Guarded(_) | Self::Lock(_) | Self::Shared(_) => {
                unreachable!("`Program::resolve` refuses a store to them")
            }
        }
    }

    fn load(&self, order: Ordering) -> i64 {
        match self {
            Self::Atomic(at) => at.load(order),
            Self::Guarded(at) => at.load(order).into(),
            Self::Lock(_) | Self::Shared(_) => unreachable!("`Program::resolve` refuses a load of a lock"),
        }
    }

    /// Reads until it reads `value`: one read of the specification, if the engine sees at the second load that the round before it
    /// had no effect. So the loop must leave everything as it was before its first load: its own function, the load last (in
    /// a `while` the compiler makes a load of its own for the first round), compiled optimised in every profile.
    #[inline(never)]
    fn spin_until(&self, value: i64, order: Ordering) {
        let Self::Atomic(at) = self else { unreachable!("`Program::resolve` refuses to await anything else") };
        loop {
            mc::hint::spin_loop();
            if at.load(order) == value {
                return;
            }
        }
    }

    fn add(&self, value: i64, order: Ordering) -> i64 {
        match self {
            Self::Atomic(at) => at.fetch_add(value, order),
            Self::Guarded(at) => at.fetch_add(narrow(value), order).into(),
            Self::Lock(_) | Self::Shared(_) => unreachable!("`Program::resolve` refuses an addition to a lock"),
        }
    }

    fn swap(&self, value: i64, order: Ordering) -> i64 {
        match self {
            Self::Atomic(at) => at.swap(value, order),
            Self::Guarded(at) => at.swap(narrow(value), order).into(),
            Self::Lock(_) | Self::Shared(_) => unreachable!("`Program::resolve` refuses an exchange on a lock"),
        }
    }

    fn compare_exchange(&self, expected: i64, new: i64, orders: [Ordering; 2]) -> i64 {
        let [success, failure] = orders;
        match self {
            Self::Atomic(at) => at.compare_exchange(expected, new, success, failure).unwrap_or_else(|old| old),
            Self::Guarded(at) => {
                let old = at.compare_exchange(narrow(expected), narrow(new), success, failure);
                old.unwrap_or_else(|old| old).into()
            }
            Self::Lock(_) | Self::Shared(_) => unreachable!("`Program::resolve` refuses an exchange on a lock"),
        }
    }

    fn wait_add(&self, test: Test, value: i64, order: Ordering) -> i64 {
        let Self::Guarded(at) = self else { unreachable!("`Program::resolve` makes what is waited for guarded") };
        let update = Update::KeepAdd { keep: u32::MAX, add: narrow(value).cast_unsigned() };
        let old = ops::wait(at.as_ptr().cast(), Width::W32, Guard { test, update }, order, Label::Atomic);
        let old = u32::try_from(old.expect("the thread is under control")).expect("a word of 32 bits");
        old.cast_signed().into()
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        let Self::Lock(mutex) = self else { unreachable!("`Program::resolve` makes what is locked a lock") };
        mutex.lock().expect("nobody panics while holding it")
    }

    fn shared(&self) -> &RwLock<()> {
        let Self::Shared(lock) = self else {
            unreachable!("`Program::resolve` makes what has readers a reader-writer lock")
        };
        lock
    }

    /// The last value in modification order, when every thread has been joined.
    fn after_all(&self) -> i64 {
        match self {
            // SAFETY: reads a live atomic of this type without an event. All threads that had access to it were joined by the only
            // caller, `body`, and this is the thread that joined them, so nobody writes to it any more.
            Self::Atomic(at) => unsafe { at.as_ptr().read() },
            // SAFETY: as above.
            Self::Guarded(at) => unsafe { at.as_ptr().read() }.into(),
            Self::Lock(_) | Self::Shared(_) => unreachable!("`body` knows who holds a lock"),
        }
    }
}

/// What the operations of one thread read and write, besides locations.
struct Thread<'a> {
    locations: &'a [Location],
    registers: [i64; LIMIT],
    guards: [Option<MutexGuard<'a, ()>>; LIMIT],
    writers: [Option<RwLockWriteGuard<'a, ()>>; LIMIT],
    readers: [[Option<RwLockReadGuard<'a, ()>>; NESTED]; LIMIT],
}

/// The most sections of readers of one lock that a thread is in.
const NESTED: usize = 4;

fn run_thread(ops: &[Op<LocationId, RegisterId>], locations: &[Location]) -> End {
    let (guards, writers) = ([const { None }; LIMIT], [const { None }; LIMIT]);
    let readers = [const { [const { None }; NESTED] }; LIMIT];
    let mut thread = Thread { locations, registers: [0; LIMIT], guards, writers, readers };
    let mut next = 0;
    while let Some(op) = ops.get(next) {
        next += 1 + thread.run(op);
    }
    let holds = std::array::from_fn(|location| thread.guards[location].is_some());
    // A lock that the program does not unlock stays locked.
    std::mem::forget((thread.guards, thread.writers, thread.readers));
    End { registers: thread.registers, holds }
}

impl Thread<'_> {
    fn value(&self, value: Value<RegisterId>) -> i64 {
        match value {
            Value::Given(value) => value,
            Value::Register(register) => self.registers[register.0],
        }
    }

    fn set(&mut self, register: Option<RegisterId>, value: i64) {
        if let Some(register) = register {
            self.registers[register.0] = value;
        }
    }

    /// Does one operation and says how many of those that follow are skipped.
    fn run(&mut self, op: &Op<LocationId, RegisterId>) -> usize {
        let locations = self.locations;
        let at = |location: LocationId| &locations[location.0];
        match *op {
            Op::Store { loc, val, ord } => at(loc).store(self.value(val), ord.std()),
            // Nobody reads these results, not even to throw them away.
            Op::Fadd { loc, val, reg: None, ord } => {
                at(loc).add(self.value(val), ord.std());
            }
            Op::Load { loc, reg: None, ord } => {
                at(loc).load(ord.std());
            }
            Op::Load { loc, reg, ord } => self.set(reg, at(loc).load(ord.std())),
            Op::Fadd { loc, val, reg, ord } => self.set(reg, at(loc).add(self.value(val), ord.std())),
            Op::Xchg { loc, val, reg, ord } => self.set(reg, at(loc).swap(self.value(val), ord.std())),
            Op::Cas { loc, expected, val, reg, ord, fail_ord } => {
                let orders = [ord, fail_ord.unwrap_or(ord.of_failure())].map(Order::std);
                self.set(reg, at(loc).compare_exchange(self.value(expected), self.value(val), orders));
            }
            Op::Fence { ord } => fence(ord.std()),
            Op::Choose { n, reg } => {
                let chosen = mc::choose(0..n);
                self.set(reg, i64::try_from(chosen).expect("a small choice"));
            }
            Op::Await { loc, val, reg, ord } => {
                let value = self.value(val);
                at(loc).spin_until(value, ord.std());
                self.set(reg, value);
            }
            Op::Lock { loc, .. } => self.guards[loc.0] = Some(at(loc).lock()),
            Op::Unlock { loc, .. } => drop(self.guards[loc.0].take().expect("unlocks what it holds")),
            Op::Rlock { loc, .. } => {
                let guard = at(loc).shared().read().expect("nobody panics while holding it");
                let free = self.readers[loc.0].iter_mut().find(|reader| reader.is_none());
                *free.expect("no more than four sections are nested") = Some(guard);
            }
            Op::Runlock { loc, .. } => {
                let mut readers = self.readers[loc.0].iter_mut().rev().filter_map(Option::take);
                drop(readers.next().expect("leaves what it has joined"));
            }
            Op::Wlock { loc, .. } => {
                self.writers[loc.0] = Some(at(loc).shared().write().expect("nobody panics while holding it"));
            }
            Op::Wunlock { loc, .. } => drop(self.writers[loc.0].take().expect("unlocks what it holds")),
            Op::Downgrade { loc, .. } => {
                let writer = self.writers[loc.0].take().expect("downgrades what it holds");
                self.readers[loc.0][0] = Some(RwLockWriteGuard::downgrade(writer));
            }
            Op::WaitAdd { loc, lo, hi, val, reg, ord } => {
                let old = at(loc).wait_add(Test::Range { lo, hi }, self.value(val), ord.std());
                self.set(reg, old);
            }
            Op::If { reg, val, n } => return if self.registers[reg.0] == val { 0 } else { n },
        }
        0
    }
}
