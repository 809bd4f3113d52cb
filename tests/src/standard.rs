//! Litmus programs as plain Rust over std's types: a `#[test]` each, for `cargo mc test --std`.

use std::fmt::Write as _;

use crate::program::{Kind, LocationId, Op, Order, RegisterId, Resolved, Value};

/// What all tests of a file need.
pub const HEAD: &str = "\
#![allow(unused)]

use std::hint::{black_box, spin_loop};
use std::mem::forget;
use std::sync::atomic::{AtomicI64, Ordering, fence};
use std::sync::{Mutex, MutexGuard};
use std::thread::{JoinHandle, spawn};

/// Takes a pointer, so that `spawn` is compiled once, and not for each thread of each program.
fn start(body: fn()) -> JoinHandle<()> {
    spawn(body)
}

/// The load comes last, so that each round leaves everything as it was before it.
#[inline(never)]
fn spin_until(at: &AtomicI64, value: i64, order: Ordering) -> i64 {
    loop {
        spin_loop();
        if at.load(order) == value {
            return value;
        }
    }
}
";

/// The test `name`; `None` where the program does what std has no function for.
pub fn test(name: &str, program: &Resolved) -> Option<String> {
    let mut text = format!("\n#[test]\nfn {name}() {{\n");
    for (number, kind) in program.locations.iter().enumerate() {
        let (kind, value) = match kind {
            Kind::Atomic => ("AtomicI64", "AtomicI64::new(0)"),
            Kind::Lock => ("Mutex<()>", "Mutex::new(())"),
            Kind::Guarded | Kind::Shared => return None,
        };
        let _ = writeln!(text, "    static L{number}: {kind} = {value};");
    }
    for (number, ops) in program.threads.iter().enumerate() {
        let _ = writeln!(text, "    let t{number} = start(|| {{");
        text.push_str("        let mut r = [0_i64; 16];\n");
        text.push_str("        let mut g: [Option<MutexGuard<'static, ()>>; 16] = [const { None }; 16];\n");
        operations(&mut text, ops)?;
        text.push_str("        black_box(&mut r);\n        forget(g);\n    });\n");
    }
    for number in 0..program.threads.len() {
        let _ = writeln!(text, "    t{number}.join().unwrap();");
    }
    text.push_str("}\n");
    Some(text)
}

fn operations(text: &mut String, ops: &[Op<LocationId, RegisterId>]) -> Option<()> {
    let mut next = 0;
    while let Some(op) = ops.get(next) {
        next += 1;
        if let Op::If { reg, val, n } = op {
            let end = (next + n).min(ops.len());
            let _ = writeln!(text, "        if r[{}] == {val} {{", reg.0);
            operations(text, &ops[next..end])?;
            text.push_str("        }\n");
            next = end;
            continue;
        }
        let _ = writeln!(text, "        {};", operation(op)?);
    }
    Some(())
}

fn operation(op: &Op<LocationId, RegisterId>) -> Option<String> {
    let order = |order: Order| format!("Ordering::{:?}", order.std());
    let value = |value: &Value<RegisterId>| match value {
        Value::Given(value) => value.to_string(),
        Value::Register(register) => format!("r[{}]", register.0),
    };
    let set = |register: &Option<RegisterId>, what: String| match register {
        Some(register) => format!("r[{}] = {what}", register.0),
        // An operation whose result nobody reads is no event.
        None => format!("black_box({what})"),
    };
    Some(match op {
        Op::Store { loc, val, ord } => format!("L{}.store({}, {})", loc.0, value(val), order(*ord)),
        Op::Load { loc, reg, ord } => set(reg, format!("L{}.load({})", loc.0, order(*ord))),
        Op::Fadd { loc, val, reg, ord } => set(reg, format!("L{}.fetch_add({}, {})", loc.0, value(val), order(*ord))),
        Op::Xchg { loc, val, reg, ord } => set(reg, format!("L{}.swap({}, {})", loc.0, value(val), order(*ord))),
        Op::Cas { loc, expected, val, reg, ord, fail_ord } => {
            let failure = order(fail_ord.unwrap_or(ord.of_failure()));
            let (expected, val, success) = (value(expected), value(val), order(*ord));
            let call = format!("L{}.compare_exchange({expected}, {val}, {success}, {failure})", loc.0);
            set(reg, format!("{call}.unwrap_or_else(|old| old)"))
        }
        Op::Fence { ord } => format!("fence({})", order(*ord)),
        Op::Await { loc, val, reg, ord } => {
            set(reg, format!("spin_until(&L{}, {}, {})", loc.0, value(val), order(*ord)))
        }
        Op::Lock { loc, .. } => format!("g[{0}] = Some(L{0}.lock().unwrap())", loc.0),
        Op::Unlock { loc, .. } => format!("drop(g[{}].take())", loc.0),
        Op::Choose { .. } | Op::WaitAdd { .. } | Op::If { .. } => return None,
        Op::Rlock { .. } | Op::Runlock { .. } | Op::Wlock { .. } | Op::Wunlock { .. } | Op::Downgrade { .. } => {
            return None;
        }
    })
}
