//! The explorer against the specification's corpus, without running any code: programs are interpreted event by event.

use super::*;
use crate::operation::Order;
use crate::ops::{Guard, Label, Rmw, Test, Update, Width};
use crate::options::{Options, Strategy};
use serde_json::Value;
use std::collections::HashMap;

/// What a thread does next.
enum Step {
    Access(Operation, LocationId),
    Choose(u64),
    Fence(Order),
    Blocked,
    Ended,
}

struct Program {
    threads: Vec<Vec<Value>>,
    locations: HashMap<String, LocationId>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    complete: u64,
    blocked: u64,
}

fn order(op: &Value, field: &str) -> Option<Order> {
    Some(match op[field].as_str()? {
        "rlx" => Order::Relaxed,
        "acq" => Order::Acquire,
        "rel" => Order::Release,
        "acqrel" => Order::AcqRel,
        _ => Order::SeqCst,
    })
}

impl Program {
    fn new(program: &Value) -> Self {
        let threads: Vec<Vec<Value>> =
            program.as_array().unwrap().iter().map(|t| t.as_array().unwrap().clone()).collect();
        let mut locations = HashMap::new();
        for op in threads.iter().flatten() {
            if let Some(name) = op["loc"].as_str() {
                let next = LocationId(locations.len() as u32);
                locations.entry(name.to_owned()).or_insert(next);
            }
        }
        Program { threads, locations }
    }

    fn step(&self, graph: &Graph, t: usize) -> Step {
        let thread = ThreadId(t as u32 + 1);
        let events = graph.thread(thread);
        let mut regs: HashMap<&str, u64> = HashMap::new();
        let (mut i, mut k) = (0, 0);
        let ops = &self.threads[t];
        while k < ops.len() {
            let op = &ops[k];
            if op["op"] == "if" {
                let holds = regs.get(op["reg"].as_str().unwrap()).copied().unwrap_or(0) == value(&op["val"]);
                k += if holds { 1 } else { 1 + op["n"].as_u64().unwrap() as usize };
                continue;
            }
            let Some(event) = events.get(i) else { return self.operation(op, &regs) };
            let got = if event.reads() { graph.value(event.location, event.rf) } else { event.value };
            if op["op"] == "await" && got != operand(op, "val", &regs) {
                return Step::Blocked;
            }
            if let Some(reg) = op["reg"].as_str() {
                regs.insert(reg, got);
            }
            (i, k) = (i + 1, k + 1);
        }
        if events.len() > i { Step::Blocked } else { Step::Ended }
    }

    fn operation(&self, op: &Value, regs: &HashMap<&str, u64>) -> Step {
        let operand = |field: &str| operand(op, field, regs);
        let order_of = order(op, "ord").unwrap_or(Order::Relaxed);
        let make = |code, a, b| Operation {
            a,
            b,
            code,
            order: order_of,
            failure: order(op, "fail_ord").unwrap_or(order_of),
            width: Width::W32,
            label: Label::Atomic,
        };
        let guarded = |test, add: u64| {
            let update = Update::KeepAdd { keep: !0, add: add as u32 };
            Operation::guarded(Guard { test, update }, Width::W32, order_of, Label::Atomic)
        };
        let operation = match op["op"].as_str().unwrap() {
            "store" => make(Code::Store, operand("val"), 0),
            "unlock" => make(Code::Store, 0, 0),
            "load" | "await" => make(Code::Load, 0, 0),
            "fadd" => make(Code::Rmw(Rmw::Add), operand("val"), 0),
            "xchg" => make(Code::Rmw(Rmw::Swap), operand("val"), 0),
            "cas" => make(Code::CompareExchange, operand("expected"), operand("val")),
            "lock" => guarded(Test::Mask { mask: !0, want: 0 }, 1),
            "wait_add" => guarded(Test::Range { lo: operand("lo") as i32, hi: operand("hi") as i32 }, operand("val")),
            "choose" => return Step::Choose(op["n"].as_u64().unwrap()),
            "fence" => return Step::Fence(order_of),
            other => panic!("unknown operation {other}"),
        };
        Step::Access(operation, self.locations[op["loc"].as_str().unwrap()])
    }
}

/// A number, or the register that is named.
fn operand(op: &Value, field: &str, regs: &HashMap<&str, u64>) -> u64 {
    match &op[field] {
        Value::String(reg) => regs.get(reg.as_str()).copied().unwrap_or(0),
        number => value(number),
    }
}

fn value(number: &Value) -> u64 {
    u64::from(number.as_i64().unwrap() as i32 as u32)
}

/// Extends the graph to the end of an execution; returns whether every thread ended.
fn run(explorer: &mut Explorer, program: &Program) -> bool {
    let n = program.threads.len();
    while explorer.graph.thread(ThreadId::MAIN).len() < n {
        let slot = explorer.graph.free_slot();
        explorer.graph.add_plain(ThreadId::MAIN, &Operation::plain(Code::Spawn), u64::from(slot.0), None);
    }
    'leftmost: loop {
        for t in 0..n {
            let thread = ThreadId(t as u32 + 1);
            match program.step(&explorer.graph, t) {
                Step::Ended | Step::Blocked => continue,
                Step::Access(operation, location) => {
                    if explorer.must_wait(&operation, location) {
                        continue;
                    }
                    explorer.add_access(thread, &operation, location, &[], None);
                }
                Step::Choose(n) => {
                    explorer.add_choice(thread, &Operation { a: n, ..Operation::plain(Code::Choose) }, None);
                }
                Step::Fence(order) => {
                    let fence = Operation { order, failure: order, ..Operation::plain(Code::Fence) };
                    explorer.graph.add_plain(thread, &fence, 0, None);
                }
            }
            continue 'leftmost;
        }
        break;
    }
    let mut ended = true;
    for t in 0..n {
        match program.step(&explorer.graph, t) {
            Step::Ended => {}
            Step::Access(operation, location) => {
                ended = false;
                explorer.add_overtakes(ThreadId(t as u32 + 1), operation, location, None, &[]);
            }
            _ => ended = false,
        }
    }
    ended
}

fn explore(program: &Value, model: MemoryModel, strategy: Strategy) -> Counts {
    let program = Program::new(program);
    let mut explorer = Explorer::new(model, Frontier::new(&Options { strategy, seed: 1, ..Options::default() }));
    for location in (0..program.locations.len() as u32).map(LocationId) {
        explorer.graph.set_initial(location, 0);
    }
    let mut counts = Counts::default();
    loop {
        let ended = run(&mut explorer, &program);
        if ended {
            counts.complete += 1
        } else {
            counts.blocked += 1
        }
        if explorer.next() == Next::Done {
            return counts;
        }
    }
}

fn corpus(file: &str) -> Option<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/spec/");
    std::fs::read_to_string(format!("{path}{file}")).ok()
}

/// What `tso.json` says of a program, in the form that the corpora have for the other models.
fn tso(file: &Value, corpus: &str, name: &str) -> Value {
    let [complete, blocked] = [0, 1].map(|n| file[corpus][name][n].as_u64().expect("every program is in tso.json"));
    serde_json::json!({ "complete": complete, "blocked": blocked })
}

fn check(name: &str, case: &Value, strategy: Strategy) {
    for (model, key) in [(MemoryModel::Rc20, "rc20"), (MemoryModel::Sc, "sc"), (MemoryModel::Tso, "tso")] {
        let expect = &case["expect"][key];
        let want =
            Counts { complete: expect["complete"].as_u64().unwrap(), blocked: expect["blocked"].as_u64().unwrap() };
        if want.complete + want.blocked > 2_000 && cfg!(debug_assertions) {
            continue; // the axioms are checked at every step
        }
        assert_eq!(
            explore(&case["program"], model, strategy),
            want,
            "{name} under {key} by {strategy:?}: {}",
            case["program"]
        );
    }
}

#[test]
fn the_litmus_corpus_has_the_counts_of_the_specification() {
    let text = corpus("litmus.json").expect("tests/spec/litmus.json is part of the repository");
    let mut cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let tso_file: Value = serde_json::from_str(&corpus("tso.json").unwrap()).unwrap();
    for case in &mut cases {
        case["expect"]["tso"] = tso(&tso_file, "litmus", case["name"].as_str().unwrap());
    }
    for strategy in [Strategy::Dfs, Strategy::Bfs, Strategy::Random] {
        for case in &cases {
            check(case["name"].as_str().unwrap(), case, strategy);
        }
    }
}

#[test]
fn random_programs_have_the_counts_of_the_specification() {
    let text = corpus("random.jsonl").expect("tests/spec/random.jsonl is part of the repository");
    let tso_file: Value = serde_json::from_str(&corpus("tso.json").unwrap()).unwrap();
    for line in text.lines() {
        let mut case: Value = serde_json::from_str(line).unwrap();
        case["expect"]["tso"] = tso(&tso_file, "random", &case["seed"].to_string());
        check(&format!("{} {}", case["family"], case["seed"]), &case, Strategy::Dfs);
    }
}

/// Two updates that have read the same write: whatever leaves both leads nowhere, and there is no end of that.
#[test]
fn what_no_revisit_restores_is_not_followed() {
    const THREADS: usize = 12;
    let add = serde_json::json!([{ "op": "fadd", "loc": "x", "val": 1, "ord": "rlx" }]);
    let program = Program::new(&Value::Array(vec![add; THREADS]));
    let mut explorer = Explorer::new(MemoryModel::Rc20, Frontier::new(&Options::default()));
    let mut rng = rand_pcg::Pcg64::new(1, 2);
    let mut most = 0;
    for _ in 0..100 {
        explorer.restart();
        explorer.graph.set_initial(LocationId(0), 0);
        loop {
            run(&mut explorer, &program);
            let before = explorer.taken;
            if explorer.keep_one(&mut rng) == 0 || explorer.next() == Next::Done {
                break;
            }
            most = most.max(explorer.taken - before);
        }
    }
    assert!((2..=THREADS as u64).contains(&most), "{most} items for one prefix");
}
