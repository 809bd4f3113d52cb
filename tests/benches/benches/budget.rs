//! What the parts of the engine cost beside what they may: one table, the fourth section of `RESULTS.md`. Nothing is asserted.
//!
//! The aims are those of the design's budget, for one core of the reference machine. Each figure is the median of some repetitions.
//! Not here: how a part is timed (`parts`), and how sure the figures are (`engine`, by criterion).

mod parts;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use mc_benches::machine;
use mc_benches::results::{self, Section};
use parts::{Events, Operation};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// As `mc-shims` has it by default.
#[global_allocator]
static ALLOCATOR: mc_runtime::Allocator = mc_runtime::Allocator;

const REPETITIONS: usize = 15;

/// Nanoseconds of one, when `time` says what `count` of them take.
fn nanoseconds(count: u64, time: impl Fn(u64) -> Duration) -> f64 {
    let mut all: Vec<f64> = (0..REPETITIONS).map(|_| time(count).as_secs_f64() * 1e9 / count as f64).collect();
    all.sort_by(f64::total_cmp);
    all[REPETITIONS / 2]
}

/// The time for `count` round trips to a coroutine of the library that the engine uses, and back.
fn switches(count: u64) -> Duration {
    let mut coroutine: Coroutine<(), (), ()> = Coroutine::new(|suspender: &Yielder<(), ()>, ()| {
        loop {
            suspender.suspend(());
        }
    });
    let started = Instant::now();
    for _ in 0..count {
        assert!(matches!(coroutine.resume(()), CoroutineResult::Yield(())), "it never ends");
    }
    let took = started.elapsed();
    // SAFETY: nothing on its stack owns anything: it only ever suspends itself.
    unsafe { coroutine.force_reset() };
    took
}

const NOTES: &str = "\
Each thread has an atomic of its own, with 100 to 200 events unless another number is named. Allocations for each execution, aim 0:
`cargo test --test allocations`. A frontier linear in events and alternatives: the section on memory.
";

fn main() {
    let mut rows: Vec<(String, Option<u64>, f64)> = Vec::new();
    rows.push(("a coroutine switch, round trip".to_owned(), Some(10), nanoseconds(1_000_000, switches)));
    let events = |operation, threads, each| Events { operation, threads, each };
    for (name, events) in [
        ("store, 1 thread", events(Operation::Store, 1, 100)),
        ("store, 4 threads", events(Operation::Store, 4, 100)),
        ("store, 1 thread, 1,000 events", events(Operation::Store, 1, 1_000)),
        ("fetch_add, 1 thread", events(Operation::FetchAdd, 1, 100)),
        ("fetch_add, 4 threads", events(Operation::FetchAdd, 4, 100)),
        ("load or store, 1 thread", events(Operation::LoadStore, 1, 100)),
        ("load or store, 4 threads", events(Operation::LoadStore, 4, 100)),
    ] {
        let replayed = nanoseconds(200_000, |count| events.replayed(count));
        let new = nanoseconds(200_000, |count| events.new_ones(count));
        rows.push((format!("{name}: replayed"), Some(25), replayed));
        rows.push((format!("{name}: new"), Some(60), new));
    }
    rows.push(("a thread: spawn, end, join, pooled".to_owned(), Some(250), nanoseconds(20_000, parts::threads)));
    let trips = nanoseconds(50_000, parts::round_trips);
    rows.push(("park and unpark, round trip: two switches, four new events".to_owned(), None, trips));

    let machine = machine::describe();
    let mut text = format!("{machine}\n\n| what | aim, ns | measured, ns | measured / aim |\n|---|--:|--:|--:|\n");
    for (what, aim, measured) in rows {
        let of = aim.map_or("-".to_owned(), |aim| format!("{:.1}", measured / aim as f64));
        let aim = aim.map_or("-".to_owned(), |aim| aim.to_string());
        writeln!(text, "| {what} | {aim} | {measured:.0} | {of} |").expect("a string");
    }
    text += &format!("\nMedians of {REPETITIONS}. {NOTES}");
    results::write(Section::Budget, &text).expect("the table can be written");
    println!("{text}");
}
