//! How one part of the engine is timed, and the bodies that have many of one part: for `engine`, which has criterion judge the figures,
//! and for `budget`, which puts them beside their aims.
//!
//! A body begins (or ends, so that what stands before is replayed) with `mc::choose`, which makes as many executions of it in one check
//! as are wanted: what a check costs once is gone from the figure. Events, threads and switches are the difference of
//! two bodies, one with twice as many; what both have is gone too.

use mc::sync::atomic::{AtomicU64, Ordering::Relaxed};
use mc_runtime::check::check;
use mc_runtime::options::Options;
use mc_runtime::outcome::Verdict;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// Alternatives of one choice: each waits in the frontier, so not too many at once.
const AT_ONCE: u64 = 2_000;

/// The time for `count` executions, of which `body` makes `each` for each value that it chooses.
pub(crate) fn executions(count: u64, each: u64, body: impl Fn(u64) + Send + Sync + 'static) -> Duration {
    let body = Arc::new(body);
    let (mut made, mut seconds) = (0, 0.0);
    while made < count {
        let alternatives = (count - made).div_ceil(each).clamp(100, AT_ONCE);
        let body = body.clone();
        // Who is woken for no reason makes executions of its own.
        let options = Options { spurious_wakeups: 0, ..Options::default() };
        let outcome = check(&options, move || body(alternatives));
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
pub(crate) fn difference(count: u64, more: u64, body: impl Fn(u64, u64) + Copy + Send + Sync + 'static) -> Duration {
    let runs = count.div_ceil(more).max(100);
    let longer = executions(runs, 1, move |alternatives| body(alternatives, 2));
    let shorter = executions(runs, 1, move |alternatives| body(alternatives, 1));
    let one = longer.saturating_sub(shorter).as_secs_f64() / (runs * more) as f64;
    // At least a picosecond each, and a nanosecond in all: nothing can be made of a time of zero, which is what a busy machine makes of a small count.
    Duration::from_secs_f64(one.max(1e-12) * count as f64).max(Duration::from_nanos(1))
}

/// What a thread does to an atomic of its own, again and again.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// A store.
    Store,
    /// An addition.
    FetchAdd,
    /// A load and a store in turn: a loop of loads alone would be looked at for spinning.
    LoadStore,
}

/// So many threads, each of which makes this many events on an atomic of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Events {
    pub(crate) operation: Operation,
    pub(crate) threads: u64,
    pub(crate) each: u64,
}

impl Events {
    /// Makes them, `times` as many.
    fn make(self, times: u64) {
        let count = self.each * times;
        let work = move || {
            let own = AtomicU64::new(0);
            match self.operation {
                Operation::Store => (0..count).for_each(|value| own.store(value, Relaxed)),
                // An update whose result nobody reads would be no event.
                Operation::FetchAdd => (0..count).for_each(|_| _ = black_box(own.fetch_add(1, Relaxed))),
                Operation::LoadStore => (0..count / 2).for_each(|_| own.store(own.load(Relaxed) + 1, Relaxed)),
            }
        };
        let threads: Vec<_> = (0..self.threads).map(|_| mc::thread::spawn(work)).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
    }

    /// The time for `count` events that are new in each execution.
    pub(crate) fn new_ones(self, count: u64) -> Duration {
        difference(count, self.each * self.threads, move |alternatives, times| {
            mc::choose(0..alternatives);
            self.make(times);
        })
    }

    /// The time for `count` events that are replayed in each execution.
    pub(crate) fn replayed(self, count: u64) -> Duration {
        difference(count, self.each * self.threads, move |alternatives, times| {
            self.make(times);
            mc::choose(0..alternatives);
        })
    }
}

/// The time for `count` threads that do nothing, one after the other.
pub(crate) fn threads(count: u64) -> Duration {
    const THREADS: u64 = 50;
    difference(count, THREADS, |alternatives, times| {
        mc::choose(0..alternatives);
        for _ in 0..times * THREADS {
            mc::thread::spawn(|| ()).join().expect("it does not panic");
        }
    })
}

/// The time for `count` round trips of two threads that wake each other in turn: two switches and four events each.
pub(crate) fn round_trips(count: u64) -> Duration {
    const TRIPS: u64 = 200;
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
    difference(count, TRIPS, move |alternatives, times| {
        mc::choose(0..alternatives);
        mc::thread::spawn(move || pair(times)).join().expect("it does not panic");
    })
}
