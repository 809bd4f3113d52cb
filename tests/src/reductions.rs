//! Random programs of which a reduction leaves something out, explored with it and without: no outcome may change.
//!
//! Source: `docs/reductions.md`, "Unused results", "Equal values", "Observers", and "Symmetry" together with "Readers".

use mc_runtime::options::{MemoryModel, Options, Reductions};
use mc_runtime::outcome::{FailureKind, Outcome};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::{BTreeSet, HashSet};

use crate::interpret::{Apart, Finals, explore, explore_apart, explore_symmetric};
use crate::program::{Op, Order, Program, Value};

type NamedOp = Op<String, String>;

/// How many outcomes there is room for: more than any of these programs has.
const ROOM: usize = 4096;

/// What an exploration found.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    outcomes: BTreeSet<Vec<i64>>,
    failures: HashSet<FailureKind>,
    /// Complete executions.
    executions: u64,
}

impl Found {
    /// The same, in fewer executions or as many? Where some fail, hardly more: each of these is cut where it fails, which is elsewhere if others run first.
    pub fn is_less_of(&self, all: &Self) -> bool {
        let is_same = (&self.outcomes, &self.failures) == (&all.outcomes, &all.failures);
        let slack = if self.failures.is_empty() { 0 } else { all.executions / 8 };
        is_same && self.executions <= all.executions + slack
    }

    /// In fewer?
    pub fn is_fewer_than(&self, all: &Self) -> bool {
        self.executions < all.executions
    }
}

/// A program, and of what its outcomes are.
pub struct Sample {
    program: Program,
    columns: Vec<String>,
    told: Told,
}

/// How the outcomes of a program are told.
enum Told {
    /// By the body, all together.
    Together,
    /// Likewise, and threads with the same operations are symmetric.
    Symmetric,
    /// By each thread.
    Apart(Apart),
}

/// A program of two to four threads: most of what they do adds to one of two counters, and some of it finds out in which order.
pub fn unused(seed: u64) -> Sample {
    let mut rng = Pcg64::new(u128::from(seed), 3);
    // In some programs nobody looks at the counters before the end, in others everybody may.
    let looks = [0.0, 0.0, 0.05, 0.2][rng.random_range(0..4)];
    let fences = if rng.random_bool(0.2) { 0.15 } else { 0.0 };
    let threads = rng.random_range(2..=4);
    let most = if threads == 4 { 2 } else { 3 };
    let mut columns = Vec::new();
    let threads: Vec<Vec<NamedOp>> = (0..threads)
        .map(|thread| {
            let mut ops = Vec::new();
            for number in 0..rng.random_range(1..=most) {
                let register = format!("r{number}");
                let (op, reads) = op(&mut rng, &register, looks, fences);
                if reads {
                    columns.push(format!("{thread}:{register}"));
                }
                ops.push(op);
            }
            ops
        })
        .collect();
    let locations: BTreeSet<String> = threads.iter().flatten().filter_map(|op| op.location().cloned()).collect();
    columns.extend(locations);
    Sample { program: Program { threads }, columns, told: Told::Together }
}

/// An operation, and whether its register is of interest.
fn op(rng: &mut Pcg64, register: &str, looks: f64, fences: f64) -> (NamedOp, bool) {
    let pick = |rng: &mut Pcg64, orders: &[Order]| orders[rng.random_range(0..orders.len())];
    let counter = if rng.random_bool(0.7) { "a" } else { "b" };
    let (val, reg) = (Value::Given(rng.random_range(1..=4)), Some(register.to_owned()));
    if rng.random_bool(fences) {
        return (Op::Fence { ord: pick(rng, &[Order::Acq, Order::Rel, Order::AcqRel, Order::Sc]) }, false);
    }
    if rng.random_bool(looks) {
        let loc = counter.to_owned();
        let ord = pick(rng, &[Order::Rlx, Order::Rlx, Order::Sc]);
        return match rng.random_range(0..4) {
            0 => (Op::Load { loc, reg, ord }, true),
            1 => (Op::Store { loc, val, ord }, false),
            2 => (Op::Xchg { loc, val, reg, ord }, true),
            _ => (Op::Fadd { loc, val, reg, ord }, true),
        };
    }
    let loc = "x".to_owned();
    match rng.random_range(0..10) {
        0 => (Op::Store { loc, val, ord: pick(rng, &[Order::Rlx, Order::Rel, Order::Sc]) }, false),
        1 => (Op::Load { loc, reg, ord: pick(rng, &[Order::Rlx, Order::Acq, Order::Sc]) }, true),
        2 => (Op::Load { loc, reg: None, ord: pick(rng, &[Order::Rlx, Order::Acq]) }, false),
        _ => {
            let synchronises =
                if rng.random_bool(looks) { &[Order::Acq, Order::AcqRel] } else { &[Order::Rlx, Order::Rel] };
            let ord = pick(rng, synchronises);
            (Op::Fadd { loc: counter.to_owned(), val, reg: None, ord }, false)
        }
    }
}

/// A program of two or three threads: some write few values to two locations, the others read one of them several times, and perhaps the other.
pub fn values(seed: u64) -> Sample {
    let mut rng = Pcg64::new(u128::from(seed), 7);
    let relaxed = [0.5, 0.8, 1.0][rng.random_range(0..3)];
    let fences = if rng.random_bool(0.2) { 0.1 } else { 0.0 };
    let (mut threads, mut columns) = (Vec::new(), Vec::new());
    for thread in 0..rng.random_range(2..=3) {
        let mut ops: Vec<NamedOp> = Vec::new();
        let reader = thread == 0 || rng.random_bool(0.3);
        for number in 0..rng.random_range(if reader { 3..=4 } else { 2..=3 }) {
            if rng.random_bool(fences) {
                let orders = [Order::Acq, Order::Rel, Order::AcqRel, Order::Sc];
                ops.push(Op::Fence { ord: orders[rng.random_range(0..4)] });
                continue;
            }
            let reg = format!("r{number}");
            let (op, reads) = if reader {
                let loc = if number == 3 || number == 1 && rng.random_bool(0.2) { "y" } else { "x" }.to_owned();
                read(&mut rng, number, Op::Load { loc, reg: Some(reg.clone()), ord: Order::Rlx }, relaxed)
            } else {
                write(&mut rng, &reg, relaxed)
            };
            if reads {
                columns.push(format!("{thread}:{reg}"));
            }
            ops.push(op);
        }
        threads.push(ops);
    }
    let locations: BTreeSet<String> = threads.iter().flatten().filter_map(|op| op.location().cloned()).collect();
    columns.extend(locations);
    Sample { program: Program { threads }, columns, told: Told::Together }
}

/// A load, or what else could stand in its place; and whether its register is of interest.
fn read(rng: &mut Pcg64, number: usize, load: NamedOp, relaxed: f64) -> (NamedOp, bool) {
    let Op::Load { loc, reg, .. } = load else { unreachable!("it is a load") };
    let orders = [Order::Acq, Order::Sc];
    let ord = if rng.random_bool(relaxed) { Order::Rlx } else { orders[rng.random_range(0..2)] };
    let val = Value::Given(rng.random_range(0..=1));
    let op = match rng.random_range(0..6) {
        0 if number > 0 => Op::Xchg { loc, val, reg, ord },
        1..4 if number == 2 => {
            Op::Cas { loc, expected: Value::Register("r0".to_owned()), val, reg, ord, fail_ord: None }
        }
        4 => Op::Cas { loc, expected: Value::Given(2), val, reg, ord, fail_ord: None },
        _ => Op::Load { loc, reg, ord },
    };
    (op, true)
}

/// A write, and whether its register is of interest.
fn write(rng: &mut Pcg64, register: &str, relaxed: f64) -> (NamedOp, bool) {
    let loc = if rng.random_bool(0.6) { "x" } else { "y" }.to_owned();
    let (val, reg) = (Value::Given(rng.random_range(0..=1)), Some(register.to_owned()));
    let orders = [Order::Rel, Order::Sc];
    let ord = if rng.random_bool(relaxed) { Order::Rlx } else { orders[rng.random_range(0..2)] };
    match rng.random_range(0..6) {
        0 => (Op::Xchg { loc, val, reg, ord }, true),
        1 => (Op::Fadd { loc, val, reg, ord }, true),
        2 => (Op::Load { loc, reg, ord: ord.of_failure() }, true),
        _ => (Op::Store { loc, val, ord }, false),
    }
}

/// A program of two or three threads that most often only read, one or two others that write, and a body that does something, too, before it has joined all of them or afterwards.
pub fn observers(seed: u64) -> Sample {
    let mut rng = Pcg64::new(u128::from(seed), 11);
    let relaxed = [0.3, 0.7, 1.0][rng.random_range(0..3)];
    // In most programs they only read.
    let writes = if rng.random_bool(0.3) { 0.15 } else { 0.0 };
    let waits = [0.0, 0.0, 0.2, 0.6][rng.random_range(0..4)];
    let mut looks: Vec<bool> = vec![true, true];
    for more in [true, false, false] {
        if !more || rng.random_bool(0.3) {
            looks.insert(rng.random_range(0..=looks.len()), more);
        }
    }
    if looks.len() == 5 || rng.random_bool(0.5) {
        let writer = looks.iter().rposition(|looks| !looks).expect("there are two");
        looks.remove(writer);
    }
    let mut joins: Vec<usize> = (0..looks.len()).collect();
    if rng.random_bool(0.5) {
        joins.shuffle(&mut rng);
    }
    let acts_after = if rng.random_bool(0.6) { looks.len() } else { rng.random_range(0..looks.len()) };
    looks.push(false); // the body
    let (mut threads, mut columns) = (Vec::new(), Vec::new());
    for (thread, looks) in looks.iter().enumerate() {
        let mut ops: Vec<NamedOp> = Vec::new();
        for number in 0..rng.random_range(1..=3) {
            let reg = format!("r{number}");
            if *looks && number > 0 && rng.random_bool(writes) {
                ops.push(Op::If { reg: "r0".to_owned(), val: rng.random_range(0..=2), n: 1 });
                ops.push(write(&mut rng, &reg, relaxed).0);
                continue;
            }
            if rng.random_bool(0.1) {
                let orders = [Order::Acq, Order::Rel, Order::AcqRel, Order::Sc];
                ops.push(Op::Fence { ord: orders[rng.random_range(0..4)] });
                continue;
            }
            let (op, reads) =
                if *looks { look(&mut rng, &reg, relaxed, waits) } else { write(&mut rng, &reg, relaxed) };
            if reads {
                columns.push(format!("{thread}:{reg}"));
            }
            ops.push(op);
        }
        threads.push(ops);
    }
    let locations: BTreeSet<String> = threads.iter().flatten().filter_map(|op| op.location().cloned()).collect();
    columns.extend(locations);
    // Some return what they have seen.
    let apart = looks.into_iter().map(|looks| looks && rng.random_bool(0.9)).collect();
    Sample { program: Program { threads }, columns, told: Told::Apart(Apart { threads: apart, joins, acts_after }) }
}

/// A read, and whether its register is of interest.
fn look(rng: &mut Pcg64, register: &str, relaxed: f64, waits: f64) -> (NamedOp, bool) {
    let loc = if rng.random_bool(0.5) { "x" } else { "y" }.to_owned();
    let orders = [Order::Acq, Order::Sc];
    let ord = if rng.random_bool(relaxed) { Order::Rlx } else { orders[rng.random_range(0..2)] };
    let (val, reg) = (Value::Given(rng.random_range(0..=1)), Some(register.to_owned()));
    if rng.random_bool(waits) {
        return (Op::Await { loc, val, reg, ord }, true);
    }
    let op = match rng.random_range(0..10) {
        0 => Op::Cas { loc, expected: Value::Given(rng.random_range(1..=4)), val, reg, ord, fail_ord: None },
        _ => Op::Load { loc, reg, ord },
    };
    (op, true)
}

/// A program of up to four threads, in one or two groups of the same operations: they read and write under one or two reader-writer locks.
pub fn alike(seed: u64) -> Sample {
    let mut rng = Pcg64::new(u128::from(seed), 5);
    let (mut threads, mut columns) = (Vec::new(), Vec::new());
    let sizes: &[usize] = [&[2][..], &[3], &[2, 1], &[2, 2], &[1, 2], &[3, 1]][rng.random_range(0..6)];
    for size in sizes {
        let mut ops = Vec::new();
        let most = if sizes.iter().sum::<usize>() > 2 { 1 } else { 2 };
        for number in 0..rng.random_range(1..=most) {
            section(&mut rng, &format!("r{number}"), &mut ops);
        }
        for _ in 0..*size {
            let registers = ops.iter().filter_map(|op| if let Op::Load { reg, .. } = op { reg.as_ref() } else { None });
            columns.extend(registers.map(|register| format!("{}:{register}", threads.len())));
            threads.push(ops.clone());
        }
    }
    Sample { program: Program { threads }, columns, told: Told::Symmetric }
}

/// A section of a reader or of a writer, with one access in it or before it.
fn section(rng: &mut Pcg64, register: &str, ops: &mut Vec<NamedOp>) {
    let lock = || if rng.random_bool(0.8) { "l" } else { "m" }.to_owned();
    let (loc, x, reg) = ({ lock }(), "x".to_owned(), Some(register.to_owned()));
    let access = match rng.random_range(0..3) {
        0 => Op::Store { loc: x, val: Value::Given(rng.random_range(1..=2)), ord: Order::Rlx },
        1 => Op::Load { loc: x, reg, ord: Order::Rlx },
        _ => Op::Fadd { loc: x, val: Value::Given(1), reg, ord: Order::AcqRel },
    };
    let (acq, rel) = (Order::Acq, Order::Rel);
    let writes = rng.random_bool(0.6);
    let begin =
        if writes { Op::Wlock { loc: loc.clone(), ord: acq } } else { Op::Rlock { loc: loc.clone(), ord: acq } };
    let end = if writes { Op::Wunlock { loc, ord: rel } } else { Op::Runlock { loc, ord: rel } };
    ops.extend(if rng.random_bool(0.7) { [begin, access, end] } else { [access, begin, end] });
}

/// So many executions are made of a program at most. With the axioms, a few that have more take half of the time.
const MOST: Option<u64> = if cfg!(feature = "axioms") { Some(1_000) } else { None };

/// Explores a program; `None` if it has too many executions to be held against the axioms.
///
/// # Panics
/// If it cannot be run.
pub fn find(sample: &Sample, memory_model: MemoryModel, reductions: Reductions) -> Option<Found> {
    let program = sample.program.resolve(&sample.columns).expect("it can be run");
    let options =
        Options { memory_model, reductions, max_failures: u64::MAX, max_executions: MOST, ..Options::default() };
    let (Outcome { executions, failures, bounds, .. }, finals) = match &sample.told {
        Told::Together => explore(&program, &options, ROOM),
        Told::Symmetric => explore_symmetric(&program, &options, ROOM),
        Told::Apart(apart) => explore_apart(&program, apart, &options, ROOM),
    };
    if !bounds.is_empty() {
        assert!(MOST.is_some(), "nothing else limits it");
        return None;
    }
    let Finals::All(outcomes) = finals else { panic!("there is no room for all outcomes") };
    let failures = failures.iter().map(|failure| failure.kind).collect();
    Some(Found { outcomes, failures, executions })
}

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.program.fmt(f)
    }
}
