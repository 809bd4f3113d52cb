//! One workload under shuttle's exhaustive scheduler.

use mc_benches::child::{Request, execution, run_peer};
use shuttle::scheduler::DfsScheduler;
use std::sync::Arc;

#[expect(unreachable_pub, clippy::manual_is_multiple_of, reason = "the text is the same for every tool")]
mod workloads {
    use shuttle::hint::spin_loop as spin;
    use shuttle::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use shuttle::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
    use shuttle::thread;
    use std::hint::black_box as outcome;
    include!("../../workloads.rs");
}

fn main() {
    let request = Request::of_this_process();
    let body = workloads::body(&request.workload, &request.parameters).expect("a workload of that name");
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
        shuttle::Runner::new(DfsScheduler::new(None, false), config).run(explored);
    })
}
