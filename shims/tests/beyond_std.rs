//! What is here beyond std, outside of a check.

use std::future::poll_fn;
use std::panic::catch_unwind;
use std::task::Poll;

use mc::cell::UnsafeCell;
use mc::future::{AtomicWaker, Wake, block_on, join, waker};
use mc::sync::Arc;
use mc::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use mc::thread;

#[test]
fn choices_give_the_first_value() {
    assert_eq!(mc::choose(3..7), 3);
    assert_eq!(mc::choose(-2_i8..=2), -2);
    assert_eq!(mc::choose(0..=usize::MAX - 1), 0);
    assert_eq!(*mc::choose_from(&["a", "b"]), "a");
    let items = [1, 2, 3];
    assert_eq!(items[mc::choose(0..items.len())], 1);
    assert_eq!(items[mc::choose(1..3)], 2);
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "what is tested")]
fn choices_from_nothing_panic_where_they_are_asked_for() {
    let text = |result: std::thread::Result<()>| *result.unwrap_err().downcast::<&str>().unwrap();
    assert!(text(catch_unwind(|| _ = mc::choose(2..2))).contains("empty range"));
    assert!(text(catch_unwind(|| _ = mc::choose(2..=1))).contains("empty range"));
    assert!(text(catch_unwind(|| _ = mc::choose(i32::MIN..i32::MIN))).contains("empty range"));
    assert!(text(catch_unwind(|| _ = mc::choose_from::<String>(&[]))).contains("empty slice"));
}

#[test]
fn an_assumption_that_does_not_hold_panics_without_a_checker() {
    mc::assume(true);
    assert!(catch_unwind(|| mc::assume(false)).is_err());
}

#[test]
fn an_unsafe_cell_runs_its_closures() {
    let cell = UnsafeCell::new(1);
    // SAFETY: nobody else uses the cell.
    cell.with_mut(|value| unsafe { *value += 1 });
    // SAFETY: as above.
    assert_eq!(cell.with(|value| unsafe { *value }), 2);
    assert_eq!(size_of::<UnsafeCell<u8>>(), 1);
}

#[test]
fn an_arc_is_unsized_on_request() {
    trait Speak {
        fn speak(&self) -> u8;
    }
    impl Speak for u8 {
        fn speak(&self) -> u8 {
            *self
        }
    }
    let concrete = Arc::new(7_u8);
    let speaker: Arc<dyn Speak> = mc::unsize!(concrete.clone(), dyn Speak);
    let weak = Arc::downgrade(&speaker);
    assert_eq!((speaker.speak(), Arc::strong_count(&concrete)), (7, 2));
    drop((speaker, concrete));
    assert!(weak.upgrade().is_none());
    let slice: Arc<[u8]> = mc::unsize!(Arc::new([1, 2]), [u8]);
    assert_eq!(*slice, [1, 2]);
}

mod tests_of_the_attribute {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    #[mc::test]
    fn a_body_runs() {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        RUNS.fetch_add(1, SeqCst);
        assert!(RUNS.load(SeqCst) > 0);
    }

    #[mc::test]
    fn a_body_may_return_a_result() -> Result<(), std::num::ParseIntError> {
        let parsed: u8 = "7".parse()?;
        assert_eq!(parsed, 7);
        Ok(())
    }

    /// `cargo mc` looks at failures itself, and there it is `expect = "panic"`.
    #[cfg(not(mc))]
    #[mc::test]
    #[should_panic(expected = "wrong")]
    fn a_body_may_panic() {
        panic!("wrong");
    }
}

/// Without a checker the names are std's own types, at no cost.
#[cfg(not(mc))]
#[test]
fn without_the_checker_the_types_are_std_s() {
    let _: std::sync::Mutex<u8> = mc::sync::Mutex::new(1);
    let _: std::sync::RwLock<u8> = mc::sync::RwLock::new(1);
    let _: std::sync::Arc<dyn std::fmt::Debug> = mc::sync::Arc::new(1);
    let _: std::sync::atomic::AtomicUsize = mc::sync::atomic::AtomicUsize::new(1);
    let _: std::sync::Condvar = mc::sync::Condvar::new();
    let _: std::sync::OnceLock<u8> = mc::sync::OnceLock::new();
    let _: std::sync::mpsc::Sender<u8> = mc::sync::mpsc::channel().0;
    let _: std::thread::JoinHandle<u8> = mc::thread::spawn(|| 1);
    let _: std::cell::Cell<u8> = mc::cell::Cell::new(1);
    let _: std::time::Instant = mc::time::Instant::now();
    mc::thread_local!(static KEY: u8 = const { 1 });
    let _: &std::thread::LocalKey<u8> = &KEY;
}

/// With it they are not, so that nothing escapes.
#[cfg(mc)]
#[test]
fn with_the_checker_the_types_are_its_own() {
    fn name<T>(_: &T) -> &'static str {
        std::any::type_name::<T>()
    }
    assert!(name(&mc::sync::Mutex::new(1)).starts_with("mc::"));
    assert!(name(&mc::sync::Arc::new(1)).starts_with("mc::"));
    assert!(name(&mc::sync::atomic::AtomicU8::new(1)).starts_with("mc::"));
    assert!(name(&mc::thread::spawn(|| ())).starts_with("mc::"));
}

#[test]
fn a_future_is_run_to_its_end() {
    let waker = mc::future::AtomicWaker::new();
    let mut polls = 0;
    let output = mc::future::block_on(std::future::poll_fn(|context| {
        polls += 1;
        waker.register_by_ref(context.waker());
        waker.wake();
        if polls == 2 { std::task::Poll::Ready(7) } else { std::task::Poll::Pending }
    }));
    assert_eq!((output, polls), (7, 2));
    assert!(waker.take_waker().is_none());
}

#[test]
fn two_threads_wake_each_others_futures_under_stress() {
    const ROUNDS: usize = 2_000;
    let turn = AtomicUsize::new(0);
    let wakers = [AtomicWaker::new(), AtomicWaker::new()];
    let play = |me: usize| {
        for round in (me..ROUNDS).step_by(2) {
            block_on(poll_fn(|context| {
                wakers[me].register_by_ref(context.waker());
                if turn.load(Acquire) == round { Poll::Ready(()) } else { Poll::Pending }
            }));
            turn.store(round + 1, Release);
            wakers[1 - me].wake();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| play(0));
        scope.spawn(|| play(1));
    });
    assert_eq!(turn.into_inner(), ROUNDS);
}

#[test]
fn a_future_of_two_is_woken_by_both_under_stress() {
    const ROUNDS: usize = 1_000;
    /// Which round somebody has reached, for one who waits for it.
    #[derive(Default)]
    struct Reached(AtomicUsize, AtomicWaker);
    impl Reached {
        async fn wait(&self, round: usize) {
            poll_fn(|context| {
                self.1.register_by_ref(context.waker());
                if self.0.load(Acquire) >= round { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }

        fn set(&self, round: usize) {
            self.0.store(round, Release);
            self.1.wake();
        }
    }
    let (asked, answered) = <([Reached; 2], [Reached; 2])>::default();
    thread::scope(|scope| {
        for (asked, answered) in asked.iter().zip(&answered) {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    block_on(asked.wait(round));
                    answered.set(round);
                }
            });
        }
        for round in 1..=ROUNDS {
            asked.iter().for_each(|asked| asked.set(round));
            block_on(join(answered[0].wait(round), answered[1].wait(round)));
        }
    });
}

#[test]
fn a_waker_is_used_or_dropped_once_under_stress() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 1_000;
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    /// How often it was woken.
    struct Task(Box<AtomicUsize>);
    impl Wake for Task {
        fn wake(this: Arc<Self>) {
            this.0.fetch_add(1, Relaxed);
        }
    }
    impl Drop for Task {
        fn drop(&mut self) {
            assert!(self.0.load(Relaxed) <= 2, "a waker and its clone");
            LIVE.fetch_sub(1, Relaxed);
        }
    }
    let places = [AtomicWaker::new(), AtomicWaker::new()];
    thread::scope(|scope| {
        for n in 0..THREADS {
            let places = &places;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    LIVE.fetch_add(1, Relaxed);
                    let waker = waker(Arc::new(Task(Box::new(AtomicUsize::new(0)))));
                    let place = &places[round % 2];
                    match (n + round) % 3 {
                        0 => place.register(waker),
                        1 => places.iter().for_each(|place| place.register_by_ref(&waker)),
                        _ => place.take_waker().into_iter().for_each(|taken| taken.wake_by_ref()),
                    }
                    places[n % 2].wake();
                }
            });
        }
    });
    drop(places);
    assert_eq!(LIVE.load(Relaxed), 0);
}

/// That it compiles is the test.
#[mc::test(seed = 0, spurious_failures = 0, spurious_wakeups = 0, snapshots = 0)]
fn options_that_may_be_none_may_be_0() {
    assert_eq!(thread::spawn(|| 1).join().unwrap(), 1);
}
