//! One workload under cargo-mc's engine, in this process.

use mc_benches::child::{AT_ONCE, Request, finish};
use mc_benches::measurement::{End, Measurement};
use mc_runtime::check::check;
use mc_runtime::options::Options;
use mc_runtime::outcome::{Outcome, Verdict};
use mc_runtime::settings;
use std::sync::Arc;
use std::time::Instant;

#[expect(unreachable_pub, clippy::manual_is_multiple_of, reason = "the text is the same for every tool")]
mod workloads {
    use ::std::hint::black_box as outcome;
    use mc::hint::spin_loop as spin;
    use mc::sync::atomic::{AtomicBool, AtomicUsize, fence};
    use mc::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
    use mc::thread;

    /// What `#[mc::shim]` makes of the paths in a module: an `Arc` of std is unknown to the engine, so what the last owner frees
    /// would not be ordered after what the others did.
    mod std {
        pub(crate) use ::std::collections;
        pub(crate) mod sync {
            pub(crate) use mc::sync::{Arc, atomic};
        }
    }

    include!("../../workloads.rs");
    include!("../../more_workloads.rs");
}

/// As `mc-shims` has it by default.
#[global_allocator]
static ALLOCATOR: mc_runtime::Allocator = mc_runtime::Allocator;

fn main() {
    let request = Request::of_this_process();
    let body = workloads::workload(&request.workload, &request.parameters).expect("a workload of that name");
    let body: Arc<dyn Fn() + Send + Sync> = Arc::from(body);
    let times = request.times;
    let strategy = settings::strategy(&request.mode).expect("a strategy of that name");
    let started = Instant::now();
    let mut checks = 0;
    loop {
        let body = body.clone();
        let rest = request.limit.saturating_sub(started.elapsed()).as_millis() as u64;
        let (max_executions, seed) = (request.executions, request.seed);
        let time_limit = Some(rest.max(1));
        // The others know no spurious wake-ups.
        let spurious_wakeups = 0;
        let options = Options { max_executions, time_limit, strategy, seed, spurious_wakeups, ..Options::default() };
        let outcome = check(&options, move || {
            choose(times);
            body();
        });
        checks += 1;
        let end = match outcome.verdict {
            Verdict::Proved => End::Complete,
            Verdict::Failed => End::Failed,
            _ => End::Truncated,
        };
        if end != End::Complete || started.elapsed() >= request.repeat {
            // The limit of time may cut a repetition: the counts are of that one, and so is the time.
            let seconds = if end == End::Truncated { outcome.seconds } else { started.elapsed().as_secs_f64() };
            let checks = if end == End::Truncated { 1 } else { checks };
            let detail = detail(&outcome);
            // A failure is found in the execution that it names, whatever else was made of that one.
            let (complete, blocked) = match outcome.failures.first() {
                Some(failure) => (failure.execution, 0),
                None => (outcome.executions, outcome.blocked),
            };
            finish(Measurement { end, complete, blocked, checks, seconds, peak_kib: 0, detail })
        }
    }
}

/// One of `times` alternatives. Each waits in the frontier, so many are chosen in two steps.
fn choose(times: u64) {
    if times > AT_ONCE {
        assert_eq!(times % AT_ONCE, 0, "{times} is not made of whole steps");
        mc::choose(0..times / AT_ONCE);
    }
    if times > 1 {
        mc::choose(0..times.min(AT_ONCE));
    }
}

fn detail(outcome: &Outcome) -> String {
    outcome.failures.first().map_or(String::new(), |failure| format!("{:?}: {}", failure.kind, failure.message))
}
