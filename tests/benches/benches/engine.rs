//! What the parts of the engine cost, by criterion. Each figure is one thing: an execution, an event, a thread, a switch.
//!
//! Not here: how a part is timed (`parts`), and what it may cost (`budget`).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use parts::{Events, Operation, executions};
use std::sync::Arc;
use std::time::Duration;

mod parts;

mod workloads {
    use mc::hint::spin_loop as spin;
    use mc::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use mc::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
    use mc::thread;
    use std::hint::black_box as outcome;

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

fn event(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine/event");
    group.throughput(Throughput::Elements(1));
    let events = |operation, threads, each| Events { operation, threads, each };
    for (size, events) in [
        // Among few of one location, and among many.
        ("of_100", events(Operation::Store, 1, 100)),
        ("of_1000", events(Operation::Store, 1, 1_000)),
        ("of_4_threads", events(Operation::Store, 4, 100)),
        ("fetch_add_of_4_threads", events(Operation::FetchAdd, 4, 100)),
        ("load_store_of_4_threads", events(Operation::LoadStore, 4, 100)),
    ] {
        group.bench_function(format!("new/{size}"), |b| b.iter_custom(|count| events.new_ones(count)));
        group.bench_function(format!("replayed/{size}"), |b| b.iter_custom(|count| events.replayed(count)));
    }
    group.finish();
}

fn thread(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine/thread");
    group.throughput(Throughput::Elements(1));
    group.bench_function("spawn_join", |b| b.iter_custom(parts::threads));
    group.finish();
}

/// A round trip is two switches, and four events.
fn switch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine/switch");
    group.throughput(Throughput::Elements(1));
    group.bench_function("park_unpark", |b| b.iter_custom(parts::round_trips));
    group.finish();
}

fn short() -> Criterion {
    let (warm_up, measurement) = (Duration::from_millis(500), Duration::from_secs(3));
    Criterion::default().sample_size(10).warm_up_time(warm_up).measurement_time(measurement).without_plots()
}

criterion_group! { name = engine; config = short(); targets = execution, event, thread, switch }
criterion_main!(engine);
