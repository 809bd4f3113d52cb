//! Litmus programs: a list of threads, each a list of operations on named locations and registers.
//!
//! Source: the format that the head of `tests/spec/exploration.py` describes.
//! Differs: names become numbers ([`Program::resolve`]) before anything runs, so that running a program allocates nothing.
//! Not here: what a program does (`interpret`), what is expected of it ([`crate::corpus`]).

use std::fmt;
use std::sync::atomic::Ordering;

use serde::Deserialize;

/// A memory ordering as the format spells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// `Relaxed`, also where none is written.
    #[default]
    Rlx,
    /// `Acquire`
    Acq,
    /// `Release`
    Rel,
    /// `AcqRel`
    AcqRel,
    /// `SeqCst`
    Sc,
}

impl Order {
    /// The ordering that std's functions take.
    pub fn std(self) -> Ordering {
        match self {
            Self::Rlx => Ordering::Relaxed,
            Self::Acq => Ordering::Acquire,
            Self::Rel => Ordering::Release,
            Self::AcqRel => Ordering::AcqRel,
            Self::Sc => Ordering::SeqCst,
        }
    }

    /// The ordering of a compare-exchange that fails, when only that of success is written: what is left of it for a read.
    pub fn of_failure(self) -> Self {
        match self {
            Self::Rlx | Self::Rel => Self::Rlx,
            Self::Acq | Self::AcqRel => Self::Acq,
            Self::Sc => Self::Sc,
        }
    }
}

/// A value: given, or that of a register of the same thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Value<R> {
    /// A constant.
    Given(i64),
    /// What the register holds; 0 if it was not set.
    Register(R),
}

/// One operation, over locations named by `L` and registers named by `R`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields, bound = "L: Deserialize<'de>, R: Deserialize<'de>")]
#[expect(missing_docs, reason = "the fields are those of the format")]
pub enum Op<L, R> {
    /// Writes `val`.
    Store {
        loc: L,
        val: Value<R>,
        #[serde(default)]
        ord: Order,
    },
    /// Reads.
    Load {
        loc: L,
        reg: Option<R>,
        #[serde(default)]
        ord: Order,
    },
    /// Adds `val`.
    Fadd {
        loc: L,
        val: Value<R>,
        reg: Option<R>,
        #[serde(default)]
        ord: Order,
    },
    /// Replaces the value.
    Xchg {
        loc: L,
        val: Value<R>,
        reg: Option<R>,
        #[serde(default)]
        ord: Order,
    },
    /// Replaces the value if it is `expected`.
    Cas {
        loc: L,
        expected: Value<R>,
        val: Value<R>,
        reg: Option<R>,
        #[serde(default)]
        ord: Order,
        fail_ord: Option<Order>,
    },
    /// A fence.
    Fence { ord: Order },
    /// One of `0..n`.
    Choose { n: usize, reg: Option<R> },
    /// Reads until it reads `val`.
    Await {
        loc: L,
        val: Value<R>,
        reg: Option<R>,
        #[serde(default)]
        ord: Order,
    },
    /// Locks; 0 is free, 1 is held. Acquires.
    Lock { loc: L, ord: Order },
    /// Unlocks what the thread has locked. Releases.
    Unlock { loc: L, ord: Order },
    /// Waits until the value is within `lo` and `hi`, then adds `val`.
    WaitAdd {
        loc: L,
        lo: i32,
        hi: i32,
        val: Value<R>,
        reg: Option<R>,
        #[serde(default)]
        ord: Order,
    },
    /// Joins the readers of a reader-writer lock. Acquires.
    Rlock { loc: L, ord: Order },
    /// Leaves the readers, which the thread has joined. Releases.
    Runlock { loc: L, ord: Order },
    /// Locks a reader-writer lock. Acquires.
    Wlock { loc: L, ord: Order },
    /// Unlocks it, as the writer that holds it. Releases.
    Wunlock { loc: L, ord: Order },
    /// As the writer that holds it, becomes a reader. Releases.
    Downgrade { loc: L, ord: Order },
    /// Skips the next `n` operations unless the register holds `val`.
    If { reg: R, val: i64, n: usize },
}

/// A program as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Program {
    /// The operations of each thread.
    pub threads: Vec<Vec<Op<String, String>>>,
}

/// A location of a resolved program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationId(pub usize);

/// A register of one thread of a resolved program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterId(pub usize);

/// What a location is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An atomic of 64 bits.
    Atomic,
    /// A 32-bit word that guarded read-modify-writes wait for.
    Guarded,
    /// A mutex.
    Lock,
    /// A reader-writer lock.
    Shared,
}

/// What one column of a table of outcomes shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A register of the thread with this number.
    Register(usize, RegisterId),
    /// A location.
    Location(LocationId),
}

/// A program with numbers instead of names. Every number is below its bound: that of locations is `locations.len()`
/// and at most [`LIMIT`], as is that of the registers of each thread.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The operations of each thread.
    pub threads: Vec<Vec<Op<LocationId, RegisterId>>>,
    /// What each location is made of.
    pub locations: Vec<Kind>,
    /// The columns of an outcome.
    pub columns: Vec<Column>,
}

/// The most locations, and the most registers of one thread.
pub const LIMIT: usize = 16;

/// Why a program cannot be run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Two kinds of operations on one location.
    #[error(
        "location `{0}` is used in two ways that exclude each other (lock, reader-writer lock, guarded, stored to)"
    )]
    MixedLocation(String),
    /// More than [`LIMIT`].
    #[error("more than {LIMIT} locations, or registers of one thread")]
    TooManyNames,
    /// Not `thread:register`, and not a location.
    #[error("column `{0}` names neither a register, as in `0:a`, nor a location")]
    UnknownColumn(String),
    /// `lock` that does not acquire or `unlock` that does not release.
    #[error("a lock acquires and an unlock releases, with no other ordering")]
    LockOrder,
}

impl Program {
    /// Does a thread wait in a spin loop?
    pub fn awaits(&self) -> bool {
        self.threads.iter().flatten().any(|op| matches!(op, Op::Await { .. }))
    }

    /// Numbers the names; `columns` are those of an outcome, as in litmus.json.
    pub fn resolve(&self, columns: &[String]) -> Result<Resolved, ProgramError> {
        let mut locations = Names::default();
        let mut registers = Vec::new();
        let mut threads = Vec::new();
        let mut kinds = Vec::new();
        for ops in &self.threads {
            let mut names = Names::default();
            let resolved = ops.iter().map(|op| op.resolve(&mut locations, &mut names)).collect();
            threads.push(resolved);
            registers.push(names);
        }
        if locations.0.len() > LIMIT || registers.iter().any(|r| r.0.len() > LIMIT) {
            return Err(ProgramError::TooManyNames);
        }
        for name in &locations.0 {
            kinds.push(self.kind(name)?);
        }
        let columns = columns.iter().map(|c| column(c, &locations, &registers)).collect::<Result<_, _>>()?;
        Ok(Resolved { threads, locations: kinds, columns })
    }

    fn kind(&self, location: &String) -> Result<Kind, ProgramError> {
        let (mut lock, mut shared, mut guarded, mut read, mut stored) = (false, false, false, false, false);
        for op in self.threads.iter().flatten().filter(|op| op.location() == Some(location)) {
            match op {
                Op::Lock { ord, .. } | Op::Rlock { ord, .. } | Op::Wlock { ord, .. } if *ord != Order::Acq => {
                    return Err(ProgramError::LockOrder);
                }
                Op::Unlock { ord, .. }
                | Op::Runlock { ord, .. }
                | Op::Wunlock { ord, .. }
                | Op::Downgrade { ord, .. }
                    if *ord != Order::Rel =>
                {
                    return Err(ProgramError::LockOrder);
                }
                Op::Lock { .. } | Op::Unlock { .. } => lock = true,
                Op::Rlock { .. }
                | Op::Runlock { .. }
                | Op::Wlock { .. }
                | Op::Wunlock { .. }
                | Op::Downgrade { .. } => shared = true,
                Op::WaitAdd { .. } => guarded = true,
                Op::Store { .. } | Op::Await { .. } => stored = true,
                _ => read = true,
            }
        }
        match (lock, shared, guarded, read, stored) {
            (true, false, false, false, false) => Ok(Kind::Lock),
            (false, true, false, false, false) => Ok(Kind::Shared),
            (false, false, true, _, false) => Ok(Kind::Guarded),
            (false, false, false, ..) => Ok(Kind::Atomic),
            _ => Err(ProgramError::MixedLocation(location.clone())),
        }
    }
}

fn column(name: &str, locations: &Names, registers: &[Names]) -> Result<Column, ProgramError> {
    let unknown = || ProgramError::UnknownColumn(name.to_owned());
    let Some((thread, register)) = name.split_once(':') else {
        return locations.find(name).map(|l| Column::Location(LocationId(l))).ok_or_else(unknown);
    };
    let thread: usize = thread.parse().map_err(|_| unknown())?;
    let found = registers.get(thread).and_then(|names| names.find(register));
    found.map(|r| Column::Register(thread, RegisterId(r))).ok_or_else(unknown)
}

/// Names, numbered in the order in which they were met.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|n| n == name)
    }

    fn number(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }
}

impl<L, R> Op<L, R> {
    /// The location that it accesses.
    pub(crate) fn location(&self) -> Option<&L> {
        match self {
            Self::Store { loc, .. }
            | Self::Load { loc, .. }
            | Self::Fadd { loc, .. }
            | Self::Xchg { loc, .. }
            | Self::Cas { loc, .. }
            | Self::Await { loc, .. }
            | Self::Lock { loc, .. }
            | Self::Unlock { loc, .. }
            | Self::Rlock { loc, .. }
            | Self::Runlock { loc, .. }
            | Self::Wlock { loc, .. }
            | Self::Wunlock { loc, .. }
            | Self::Downgrade { loc, .. }
            | Self::WaitAdd { loc, .. } => Some(loc),
            Self::Fence { .. } | Self::Choose { .. } | Self::If { .. } => None,
        }
    }
}

impl Op<String, String> {
    fn resolve(&self, locations: &mut Names, registers: &mut Names) -> Op<LocationId, RegisterId> {
        let mut at = |name: &str| LocationId(locations.number(name));
        let registers = std::cell::RefCell::new(registers);
        let register = |name: &String| RegisterId(registers.borrow_mut().number(name));
        let reg = |name: &Option<String>| name.as_ref().map(register);
        let value = |value: &Value<String>| match value {
            Value::Given(v) => Value::Given(*v),
            Value::Register(name) => Value::Register(register(name)),
        };
        match self {
            Self::Store { loc, val, ord } => Op::Store { loc: at(loc), val: value(val), ord: *ord },
            Self::Load { loc, reg: r, ord } => Op::Load { loc: at(loc), reg: reg(r), ord: *ord },
            Self::Fadd { loc, val, reg: r, ord } => Op::Fadd { loc: at(loc), val: value(val), reg: reg(r), ord: *ord },
            Self::Xchg { loc, val, reg: r, ord } => Op::Xchg { loc: at(loc), val: value(val), reg: reg(r), ord: *ord },
            Self::Cas { loc, expected, val, reg: r, ord, fail_ord } => Op::Cas {
                loc: at(loc),
                expected: value(expected),
                val: value(val),
                reg: reg(r),
                ord: *ord,
                fail_ord: *fail_ord,
            },
            Self::Fence { ord } => Op::Fence { ord: *ord },
            Self::Choose { n, reg: r } => Op::Choose { n: *n, reg: reg(r) },
            Self::Await { loc, val, reg: r, ord } => {
                Op::Await { loc: at(loc), val: value(val), reg: reg(r), ord: *ord }
            }
            Self::Lock { loc, ord } => Op::Lock { loc: at(loc), ord: *ord },
            Self::Unlock { loc, ord } => Op::Unlock { loc: at(loc), ord: *ord },
            Self::Rlock { loc, ord } => Op::Rlock { loc: at(loc), ord: *ord },
            Self::Runlock { loc, ord } => Op::Runlock { loc: at(loc), ord: *ord },
            Self::Wlock { loc, ord } => Op::Wlock { loc: at(loc), ord: *ord },
            Self::Wunlock { loc, ord } => Op::Wunlock { loc: at(loc), ord: *ord },
            Self::Downgrade { loc, ord } => Op::Downgrade { loc: at(loc), ord: *ord },
            Self::WaitAdd { loc, lo, hi, val, reg: r, ord } => {
                Op::WaitAdd { loc: at(loc), lo: *lo, hi: *hi, val: value(val), reg: reg(r), ord: *ord }
            }
            Self::If { reg: r, val, n } => Op::If { reg: register(r), val: *val, n: *n },
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, ops) in self.threads.iter().enumerate() {
            writeln!(f, "  thread {number}")?;
            for op in ops {
                writeln!(f, "    {op}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Op<String, String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Load { reg: Some(reg), .. }
        | Self::Fadd { reg: Some(reg), .. }
        | Self::Xchg { reg: Some(reg), .. }
        | Self::Cas { reg: Some(reg), .. }
        | Self::Choose { reg: Some(reg), .. }
        | Self::Await { reg: Some(reg), .. }
        | Self::WaitAdd { reg: Some(reg), .. } = self
        {
            write!(f, "{reg} = ")?;
        }
        match self {
            Self::Store { loc, val, ord } => write!(f, "{loc}.store({val}, {ord:?})"),
            Self::Load { loc, ord, .. } => write!(f, "{loc}.load({ord:?})"),
            Self::Fadd { loc, val, ord, .. } => write!(f, "{loc}.add({val}, {ord:?})"),
            Self::Xchg { loc, val, ord, .. } => write!(f, "{loc}.swap({val}, {ord:?})"),
            Self::Cas { loc, expected, val, ord, fail_ord, .. } => {
                write!(f, "{loc}.cas({expected}, {val}, {ord:?}, {:?})", fail_ord.unwrap_or(ord.of_failure()))
            }
            Self::Fence { ord } => write!(f, "fence({ord:?})"),
            Self::Choose { n, .. } => write!(f, "choose({n})"),
            Self::Await { loc, val, ord, .. } => write!(f, "{loc}.await({val}, {ord:?})"),
            Self::Lock { loc, .. } => write!(f, "{loc}.lock()"),
            Self::Unlock { loc, .. } => write!(f, "{loc}.unlock()"),
            Self::Rlock { loc, .. } => write!(f, "{loc}.read()"),
            Self::Runlock { loc, .. } => write!(f, "{loc}.end of a read()"),
            Self::Wlock { loc, .. } => write!(f, "{loc}.write()"),
            Self::Wunlock { loc, .. } => write!(f, "{loc}.end of the write()"),
            Self::Downgrade { loc, .. } => write!(f, "{loc}.downgrade()"),
            Self::WaitAdd { loc, lo, hi, val, ord, .. } => write!(f, "{loc}.wait_add({lo}, {hi}, {val}, {ord:?})"),
            Self::If { reg, val, n } => write!(f, "if {reg} == {val}: the next {n}"),
        }
    }
}

impl fmt::Display for Value<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(value) => write!(f, "{value}"),
            Self::Register(name) => f.write_str(name),
        }
    }
}
