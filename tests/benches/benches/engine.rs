//! What the parts of the engine cost. Each figure is one thing: an execution, an event, a thread, a switch.
//!
//! A body begins (or ends, so that what stands before is replayed) with `mc::choose`, which makes as many executions of it in one check
//! as are wanted: what a check costs once is gone from the figure. Events, threads and switches are the difference of
//! two bodies, one with twice as many; what both have is gone too.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mc_runtime::check::check;
use mc_runtime::options::Options;
use mc_runtime::outcome::Verdict;
use std::sync::Arc;
use std::time::Duration;

mod workloads {
    use mc::hint::spin_loop as spin;
    use mc::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use mc::sync::{Arc, Condvar, Mutex, RwLock};
    use mc::thread;
    use std::hint::black_box as outcome;
    use std::sync::mpsc;

    #[expect(unreachable_pub, clippy::manual_is_multiple_of, reason = "the text is the same for every tool")]
    mod text {
        use super::*;
        include!("../workloads.rs");
    }
    pub(super) use text::body;
}

/// As `mc-shims` has it by default.
#[global_allocator]
static ALLOCATOR: mc_runtime::Allocator = mc_runtime::Allocator;

/// Alternatives of one choice: each waits in the frontier, so not too many at once.
const AT_ONCE: u64 = 2_000;

/// The time for `count` executions, of which `body` makes `each` for each value that it chooses.
fn executions(count: u64, each: u64, body: impl Fn(u64) + Send + Sync + 'static) -> Duration {
    let body = Arc::new(body);
    let (mut made, mut seconds) = (0, 0.0);
    while made < count {
        let alternatives = (count - made).div_ceil(each).clamp(100, AT_ONCE);
        let body = body.clone();
        let outcome = check(&Options::default(), move || body(alternatives));
        assert_eq!(
            (outcome.verdict, outcome.executions, outcome.blocked),
            (Verdict::Proved, alternatives * each, 0),
            "{:?}",
            outcome.failures.first().map(|failure| &failure.message)
        );
        made += outcome.executions;
        seconds += outcome.seconds;
    }
    Duration::from_secs_f64(seconds * count as f64 / made as f64)
}

/// The time for `count` of what `body` has `more` of for each time that its second argument says: once, and twice.
fn difference(count: u64, more: u64, body: impl Fn(u64, u64) + Copy + Send + Sync + 'static) -> Duration {
    let runs = count.div_ceil(more).max(100);
    let longer = executions(runs, 1, move |alternatives| body(alternatives, 2));
    let shorter = executions(runs, 1, move |alternatives| body(alternatives, 1));
    let one = longer.saturating_sub(shorter).as_secs_f64() / (runs * more) as f64;
    // At least a picosecond each: nothing can be made of a time of zero.
    Duration::from_secs_f64(one.max(1e-12) * count as f64)
}

fn execution(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine/execution");
    for (name, workload, parameters, each) in [
        ("inc2", "inc_arc", vec![2], 2),
        ("mutex3", "mutex_inc", vec![3, 1], 6),
        ("ms_queue2", "ms_queue", vec![2], 100),
    ] {
        let body: Arc<dyn Fn() + Send + Sync> = Arc::from(workloads::body(workload, &parameters).expect("a workload"));
        group.throughput(Throughput::Elements(1));
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|count| {
                let body = body.clone();
                executions(count, each, move |alternatives| {
                    mc::choose(0..alternatives);
                    body();
                })
            });
        });
    }
    group.finish();
}

/// A thread that stores to an atomic of its own, this many times.
fn stores(count: u64) {
    use mc::sync::atomic::{AtomicU64, Ordering};
    let work = move || {
        let own = AtomicU64::new(0);
        for value in 0..count {
            own.store(value, Ordering::Relaxed);
        }
    };
    mc::thread::spawn(work).join().expect("it does not panic");
}

fn event(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine/event");
    group.throughput(Throughput::Elements(1));
    // Among few of one location, and among many.
    for (size, more) in [("of_100", 100), ("of_1000", 1_000)] {
        let new = move |alternatives, times| {
            mc::choose(0..alternatives);
            stores(times * more);
        };
        let replayed = move |alternatives, times| {
            stores(times * more);
            mc::choose(0..alternatives);
        };
        group.bench_function(format!("new/{size}"), |b| b.iter_custom(|count| difference(count, more, new)));
        group.bench_function(format!("replayed/{size}"), |b| b.iter_custom(|count| difference(count, more, replayed)));
    }
    group.finish();
}

fn thread(criterion: &mut Criterion) {
    const THREADS: u64 = 50;
    let mut group = criterion.benchmark_group("engine/thread");
    group.throughput(Throughput::Elements(1));
    let body = |alternatives, times| {
        mc::choose(0..alternatives);
        for _ in 0..times * THREADS {
            mc::thread::spawn(|| ()).join().expect("it does not panic");
        }
    };
    group.bench_function("spawn_join", |b| b.iter_custom(|count| difference(count, THREADS, body)));
    group.finish();
}

/// Two threads wake each other in turn: a round trip is two switches, and four events.
fn switch(criterion: &mut Criterion) {
    const TRIPS: u64 = 200;
    let mut group = criterion.benchmark_group("engine/switch");
    group.throughput(Throughput::Elements(1));
    let pair = |times: u64| {
        let first = mc::thread::current();
        let other = mc::thread::spawn(move || {
            for _ in 0..times * TRIPS {
                mc::thread::park();
                first.unpark();
            }
        });
        for _ in 0..times * TRIPS {
            other.thread().unpark();
            mc::thread::park();
        }
        other.join().expect("it does not panic");
    };
    // On a thread that the shims made: the handle of the body itself is freed by what `#[mc::test]` puts around a body.
    let body = move |alternatives, times| {
        mc::choose(0..alternatives);
        mc::thread::spawn(move || pair(times)).join().expect("it does not panic");
    };
    group.bench_function("park_unpark", |b| b.iter_custom(|count| difference(count, TRIPS, body)));
    group.finish();
}

fn short() -> Criterion {
    let (warm_up, measurement) = (Duration::from_millis(500), Duration::from_secs(3));
    Criterion::default().sample_size(10).warm_up_time(warm_up).measurement_time(measurement).without_plots()
}

criterion_group! { name = engine; config = short(); targets = execution, event, thread, switch }
criterion_main!(engine);
