//! One workload under loom, without its bounds and with its exhaustive search; it has no samplers.

use mc_benches::child::{Request, execution, run_peer};
use std::sync::Arc;

#[expect(unreachable_pub, clippy::manual_is_multiple_of, reason = "the text is the same for every tool")]
mod workloads {
    use loom::hint::spin_loop as spin;
    use loom::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use loom::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
    use loom::thread;
    use std::hint::black_box as outcome;
    include!("../../workloads.rs");
    include!("../../more_workloads.rs");
}

fn main() {
    let request = Request::of_this_process();
    let body = workloads::workload(&request.workload, &request.parameters).expect("a workload of that name");
    let body: Arc<dyn Fn() + Send + Sync> = Arc::from(body);
    run_peer(&request, || {
        let body = body.clone();
        loom::model::Builder::new().check(move || {
            execution();
            body();
        });
    })
}
