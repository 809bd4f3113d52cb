//! How often the engine allocates for an execution, once it is warm: never.
//!
//! What a body allocates comes from the arenas of the checker's allocator. So what reaches the system while a check runs is
//! the engine's own, and the difference of a long check and a short one is what it does for each execution.
//! `MC_SHOW_ALLOCATIONS=1 cargo test --test allocations` shows where they are made.

use mc::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use mc::sync::atomic::{AtomicBool, AtomicU64};
use mc_runtime::check::check;
use mc_runtime::options::Options;
use mc_runtime::outcome::Verdict;
use std::alloc::{GlobalAlloc, Layout};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::AtomicU64 as Counter;

/// The checker's allocator, with a count of what it did not serve from the arenas.
struct Counting;

static COUNT: Counter = Counter::new(0);
/// From which count on the places are shown, a few of them.
static SHOW: Counter = Counter::new(u64::MAX);

thread_local! {
    static SHOWING: Cell<bool> = const { Cell::new(false) };
}

/// The address space of the arenas: `BASE` of the runtime's `exec::arena`, and 16 regions of a terabyte.
const ARENAS: std::ops::Range<usize> = 0x2000_0000_0000..0x3000_0000_0000;

fn count(block: *mut u8) -> *mut u8 {
    if !ARENAS.contains(&block.addr()) && !SHOWING.get() {
        let before = COUNT.fetch_add(1, Relaxed);
        let from = SHOW.load(Relaxed);
        if before >= from && before - from < 24 && !SHOWING.replace(true) {
            say(&format!("allocation:\n{}", Backtrace::force_capture()));
            SHOWING.set(false);
        }
    }
    block
}

// SAFETY: everything is handed on to the checker's allocator, which is one.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller's promises are the inner one's.
        count(unsafe { mc_runtime::Allocator.alloc(layout) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above; the block is from the inner one.
        unsafe { mc_runtime::Allocator.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        count(unsafe { mc_runtime::Allocator.realloc(block, layout, size) })
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What libtest does not capture, so that the figure is seen though the test passes.
fn say(what: &str) {
    writeln!(std::io::stderr(), "{what}").expect("standard error is open");
}

/// How many allocations of the system a check with this many executions of `body` for each of its outcomes makes.
fn allocations(alternatives: u64, body: fn()) -> (u64, u64) {
    let before = COUNT.load(Relaxed);
    let outcome = check(&Options::default(), move || {
        // Two choices, so that the frontier is as long in a check of few as in one of many.
        mc::choose(0..alternatives / 100);
        mc::choose(0..100_u64);
        body();
    });
    assert_eq!(outcome.verdict, Verdict::Proved, "{:?}", outcome.failures);
    (COUNT.load(Relaxed) - before, outcome.executions)
}

/// Allocations for each execution, by the difference of a check and one with twice as many executions.
fn per_execution(what: &str, body: fn()) -> f64 {
    allocations(1_000, body);
    let (few, short) = allocations(1_000, body);
    let (many, long) = allocations(2_000, body);
    let each = (many as f64 - few as f64) / (long - short) as f64;
    say(&format!("{what}: {each} allocations for each of {} executions ({few} in {short})", long - short));
    if each >= 0.01 && std::env::var_os("MC_SHOW_ALLOCATIONS").is_some() {
        SHOW.store(COUNT.load(Relaxed) + few, Relaxed);
        allocations(2_000, body);
        SHOW.store(u64::MAX, Relaxed);
    }
    each
}

fn one_thread() {
    let x = AtomicU64::new(0);
    x.store(1, Relaxed);
    assert_eq!(x.fetch_add(1, Relaxed), 1);
}

fn two_threads() {
    let x = mc::sync::Arc::new(AtomicU64::new(0));
    let threads = [0, 1].map(|_| {
        let x = x.clone();
        mc::thread::spawn(move || x.fetch_add(1, Relaxed))
    });
    threads.into_iter().for_each(|t| assert!(t.join().is_ok()));
    assert_eq!(x.load(Relaxed), 2);
}

fn three_threads_and_a_lock() {
    let m = mc::sync::Mutex::new(0);
    mc::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| *m.lock().expect("nobody panics") += 1);
        }
    });
    assert_eq!(m.into_inner().expect("nobody panics"), 3);
}

fn a_lock_that_spins() {
    let (taken, held) = (AtomicBool::new(false), AtomicU64::new(0));
    mc::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while taken.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                    mc::hint::spin_loop();
                }
                held.store(held.load(Relaxed) + 1, Relaxed);
                taken.store(false, Release);
            });
        }
    });
    assert_eq!(held.load(Relaxed), 2);
}

#[test]
fn a_warm_engine_allocates_nothing_for_an_execution() {
    let bodies: [(&str, fn()); 4] = [
        ("one thread", one_thread),
        ("two threads", two_threads),
        ("three threads and a lock", three_threads_and_a_lock),
        ("two threads and a lock that spins", a_lock_that_spins),
    ];
    for (what, body) in bodies {
        assert_eq!(per_execution(what, body), 0.0, "{what}");
    }
}
