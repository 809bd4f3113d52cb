//! `block_on`, its wakers, and `AtomicWaker`.

use std::future::poll_fn;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use mc::future::{AtomicWaker, Wake, block_on, join, join_all, waker};
use mc::sync::atomic::AtomicBool;
use mc::sync::{Arc, Mutex};
use mc::thread;
use mc_runtime::outcome::{FailureKind, Outcome, Verdict};

use super::{check, fails, proved, results};

#[test]
fn a_future_that_is_ready_has_one_execution() {
    proved(1, || assert_eq!(block_on(async { 42 }), 42));
}

/// The future registers its waker and then looks; the other thread sets the flag and then wakes.
fn handed_over(polls: &'static [AtomicUsize; 4]) {
    let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            shared.0.store(true, Ordering::Release);
            shared.1.wake();
        }
    });
    let mut count = 0;
    block_on(poll_fn(|context| {
        count += 1;
        shared.1.register_by_ref(context.waker());
        if shared.0.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }));
    polls[count].fetch_add(1, Ordering::Relaxed);
    other.join().unwrap();
}

#[test]
fn a_future_is_polled_once_twice_or_with_a_spurious_poll_three_times() {
    static POLLS: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
    assert_eq!(results(&POLLS, || handed_over(&POLLS)), [false, true, true, true]);
}

#[test]
fn a_future_that_looks_before_it_registers_is_a_lost_wake_up() {
    let outcome = check(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.0.store(true, Ordering::Release);
                shared.1.wake();
            }
        });
        block_on(poll_fn(|context| {
            if shared.0.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            shared.1.register_by_ref(context.waker());
            Poll::Pending
        }));
        other.join().unwrap();
    });
    lost(&outcome, "one waker of it is kept");
}

/// A future that is ready sleeps for ever; what is known of its wakers.
#[track_caller]
fn lost(outcome: &Outcome, wakers: &str) {
    assert_eq!(outcome.failures.len(), 1, "{outcome:?}");
    let failure = &outcome.failures[0];
    assert_eq!(failure.kind, FailureKind::LostWakeup, "{failure:?}");
    assert!(failure.message.contains("is ready, and nobody will wake it"), "{failure:?}");
    assert!(failure.message.contains(wakers), "{failure:?}");
}

#[test]
fn a_waker_that_is_dropped_instead_of_woken_is_a_lost_wake_up() {
    let outcome = check(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.0.store(true, Ordering::Release);
                drop(shared.1.take_waker());
            }
        });
        block_on(flag(&shared));
        other.join().unwrap();
    });
    lost(&outcome, "nobody has a waker of it");
}

/// Ready when the flag is set; whoever sets it must wake.
async fn flag(shared: &(AtomicBool, AtomicWaker)) {
    poll_fn(|context| {
        shared.1.register_by_ref(context.waker());
        if shared.0.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[test]
fn two_tasks_that_share_a_place_for_one_waker_lose_a_wake_up() {
    let outcome = check(|| {
        let shared = (AtomicBool::new(false), AtomicWaker::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                shared.0.store(true, Ordering::Release);
                shared.1.wake();
            });
            block_on(join(flag(&shared), flag(&shared)));
        });
    });
    lost(&outcome, "nobody has a waker of it");
}

#[test]
fn tasks_with_a_waker_each_are_all_woken() {
    let outcome = check(|| {
        let shared = [(); 2].map(|()| (AtomicBool::new(false), AtomicWaker::new()));
        thread::scope(|scope| {
            scope.spawn(|| {
                for (flag, waker) in &shared {
                    flag.store(true, Ordering::Release);
                    waker.wake();
                }
            });
            block_on(join_all(shared.iter().map(flag)));
        });
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}

#[test]
fn a_future_that_is_not_ready_either_says_so() {
    let outcome = check(|| block_on(poll_fn(|_| Poll::<()>::Pending)));
    assert!(outcome.failures[0].message.contains("is not ready either"), "{outcome:?}");
}

#[test]
fn a_future_that_would_have_to_wait_is_not_asked_again() {
    // The other thread keeps the mutex that a poll takes, and waits itself.
    let outcome = check(|| {
        let (mutex, waker) = (Mutex::new(false), AtomicWaker::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let _held = mutex.lock().unwrap();
                thread::park();
            });
            block_on(poll_fn(|context| {
                waker.register_by_ref(context.waker());
                if *mutex.lock().unwrap() { Poll::Ready(()) } else { Poll::Pending }
            }));
        });
    });
    assert_eq!(outcome.failures.len(), 1, "{outcome:?}");
    assert_eq!(outcome.failures[0].kind, FailureKind::Deadlock, "{outcome:?}");
    assert!(!outcome.failures[0].message.contains("ready"), "{outcome:?}");
}

/// A channel for one message, as a user would write it.
mod oneshot {
    use std::task::{Context, Poll, Waker};

    use super::{Arc, Mutex};

    #[derive(Default)]
    struct Shared {
        message: Option<u32>,
        closed: bool,
        waker: Option<Waker>,
    }

    pub(super) struct Sender(Arc<Mutex<Shared>>);
    pub(super) struct Receiver(Arc<Mutex<Shared>>);

    pub(super) fn channel() -> (Sender, Receiver) {
        let shared = Arc::<Mutex<Shared>>::default();
        (Sender(shared.clone()), Receiver(shared))
    }

    impl Sender {
        pub(super) fn send(self, message: u32) {
            self.0.lock().unwrap().message = Some(message);
        }
    }

    impl Drop for Sender {
        fn drop(&mut self) {
            let mut shared = self.0.lock().unwrap();
            shared.closed = true;
            let waker = shared.waker.take();
            drop(shared);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    impl Future for Receiver {
        type Output = Option<u32>;

        fn poll(self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
            let mut shared = self.0.lock().unwrap();
            let message = shared.message.take();
            if message.is_some() || shared.closed {
                return Poll::Ready(message);
            }
            shared.waker = Some(context.waker().clone());
            Poll::Pending
        }
    }
}

#[test]
fn messages_of_two_channels_arrive_whichever_comes_first() {
    let outcome = check(|| {
        let ((first, one), (second, two)) = (oneshot::channel(), oneshot::channel());
        let other = thread::spawn(move || {
            first.send(1);
            drop(second);
        });
        assert_eq!(block_on(join(one, two)), (Some(1), None));
        other.join().unwrap();
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}

#[test]
fn a_waker_is_made_of_what_is_to_be_done() {
    struct Count(mc::sync::atomic::AtomicUsize);
    impl Wake for Count {
        fn wake(this: Arc<Self>) {
            this.0.fetch_add(1, Ordering::AcqRel);
        }
    }
    // Two increments in two orders.
    proved(2, || {
        let count = Arc::new(Count(mc::sync::atomic::AtomicUsize::new(0)));
        let first = waker(count.clone());
        let second = first.clone();
        assert_eq!(first.data(), second.data());
        let other = thread::spawn(move || second.wake());
        first.wake_by_ref();
        other.join().unwrap();
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_future_that_nobody_can_wake_is_a_deadlock() {
    fails(FailureKind::Deadlock, || block_on(poll_fn(|_| Poll::<()>::Pending)));
}

#[test]
fn a_waker_outlives_its_future_and_wakes_nobody() {
    // Where the waker is given away is ordered by the join: nothing can differ.
    proved(1, || {
        let kept = Arc::new(Mutex::new(None::<Waker>));
        block_on(poll_fn(|context| {
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::Ready(())
        }));
        let waker = kept.lock().unwrap().take().unwrap();
        assert_eq!(waker.data(), waker.clone().data());
        thread::spawn(move || waker.wake()).join().unwrap();
    });
}

#[test]
fn a_wake_before_the_wait_is_kept() {
    // Once woken spuriously and once by the wake.
    proved(2, || {
        let mut polled = false;
        block_on(poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
}

#[test]
fn outside_of_a_check_a_thread_sleeps_until_it_is_woken() {
    static WAKER: AtomicWaker = AtomicWaker::new();
    static READY: StdMutex<bool> = StdMutex::new(false);
    let other = std::thread::spawn(|| {
        *READY.lock().unwrap() = true;
        WAKER.wake();
    });
    block_on(poll_fn(|context| {
        WAKER.register_by_ref(context.waker());
        if *READY.lock().unwrap() { Poll::Ready(()) } else { Poll::Pending }
    }));
    other.join().unwrap();
}
