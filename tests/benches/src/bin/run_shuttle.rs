//! One workload under one of shuttle's schedulers: the exhaustive one, or a sampler.

use mc_benches::child::{EXHAUSTIVE, Request, execution, run_peer};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler, UrwRandomScheduler};
use std::sync::Arc;

#[expect(unreachable_pub, clippy::manual_is_multiple_of, reason = "the text is the same for every tool")]
mod workloads {
    use shuttle::hint::spin_loop as spin;
    use shuttle::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use shuttle::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
    use shuttle::thread;
    use std::hint::black_box as outcome;
    include!("../../workloads.rs");
    include!("../../more_workloads.rs");
}

fn scheduler(request: &Request) -> Box<dyn Scheduler + Send> {
    // What limits executions is the count of the body's.
    const MANY: usize = usize::MAX;
    let seed = request.seed;
    match request.mode.split_once(':').unwrap_or((&request.mode, "")) {
        (EXHAUSTIVE, _) => Box::new(DfsScheduler::new(None, false)),
        ("random", _) => Box::new(RandomScheduler::new_from_seed(seed, MANY)),
        ("urw", _) => Box::new(UrwRandomScheduler::new_from_seed(seed, MANY)),
        ("pct", depth) => Box::new(PctScheduler::new_from_seed(seed, depth.parse().expect("a depth"), MANY)),
        (other, _) => panic!("shuttle has no scheduler {other}"),
    }
}

fn main() {
    let request = Request::of_this_process();
    let body = workloads::workload(&request.workload, &request.parameters).expect("a workload of that name");
    let body: Arc<dyn Fn() + Send + Sync> = Arc::from(body);
    run_peer(&request, || {
        let body = body.clone();
        let mut config = shuttle::Config::new();
        config.silence_warnings = true;
        config.failure_persistence = shuttle::FailurePersistence::None;
        let explored = move || {
            execution();
            body();
        };
        shuttle::Runner::new(scheduler(&request), config).run(explored);
    })
}
