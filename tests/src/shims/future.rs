//! Cases of `mc::future`, as `spec/shims_future.py` has them.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use mc::future::{AtomicWaker, Wake, block_on, join, join_all, waker};
use mc::sync::Arc;
use mc::sync::atomic::AtomicU32;
use mc::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use mc::thread;

use super::{Case, on_threads};

pub(super) const CASES: &[Case] = &[
    ("future::AtomicWaker::wake", || on_threads(AtomicWaker::new(), [register, AtomicWaker::wake])),
    ("future::AtomicWaker::wake of two", || {
        on_threads(AtomicWaker::new(), [register, AtomicWaker::wake, AtomicWaker::wake]);
    }),
    ("future::AtomicWaker::register again", || {
        on_threads(AtomicWaker::new(), [|place| (register(place), register(place)).1, AtomicWaker::wake]);
    }),
    ("future::block_on", || on_threads(Flag::default(), [Flag::set, |flag| block_on(flag.reaches(1))])),
    ("future::block_on, woken by itself", woken_by_itself),
    ("future::block_on, woken by two", || {
        on_threads(Flag::default(), [Flag::count, Flag::count, |flag| block_on(flag.reaches(2))]);
    }),
    ("future::join", || {
        on_threads(Flags::default(), [set_both, |[a, b]| _ = block_on(join(a.reaches(1), b.reaches(1)))])
    }),
    ("future::join_all", || on_threads(Flags::default(), [set_both, all_set])),
    ("future::waker, dropped", || two_wakers(drop)),
    ("future::waker, cloned", || two_wakers(|waker| drop(waker.clone()))),
    ("future::waker, woken", || two_wakers(Waker::wake)),
    ("future::waker, woken by reference", || two_wakers(|waker| waker.wake_by_ref())),
];

struct Count(AtomicU32);

impl Wake for Count {
    fn wake(this: Arc<Self>) {
        this.0.fetch_add(1, Relaxed);
    }
}

fn register(place: &AtomicWaker) {
    place.register(waker(Arc::new(Count(AtomicU32::new(0)))));
}

#[derive(Default)]
struct Flag(AtomicU32, AtomicWaker);
type Flags = [Flag; 2];

impl Flag {
    fn set(&self) {
        self.0.store(1, Release);
        self.1.wake();
    }

    fn count(&self) {
        self.0.fetch_add(1, Release);
        self.1.wake();
    }

    async fn reaches(&self, value: u32) {
        poll_fn(|context| {
            self.1.register_by_ref(context.waker());
            if self.0.load(Acquire) == value { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

fn set_both(flags: &Flags) {
    flags.iter().for_each(Flag::set);
}

fn all_set(flags: &Flags) {
    _ = block_on(join_all(flags.iter().map(|flag| flag.reaches(1))));
}

fn woken_by_itself() {
    let mut polls = 0;
    block_on(poll_fn(|context| {
        polls += 1;
        context.waker().wake_by_ref();
        if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
    }));
}

/// Counts that its task was woken, and its end.
struct Seen(Arc<AtomicU32>);

impl Wake for Seen {
    fn wake(this: Arc<Self>) {
        this.0.fetch_add(1, Relaxed);
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn two_wakers(end: fn(Waker)) {
    let waker = waker(Arc::new(Seen(Arc::default())));
    let theirs = waker.clone();
    let thread = thread::spawn(move || end(theirs));
    drop(waker);
    thread.join().unwrap();
}
