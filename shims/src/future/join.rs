//! Several futures as one. Each has a waker of its own and is polled only after that was used, so that no future lives on the wake-ups of another.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::block_on::Signal;
use super::waker::{Wake, waker};
use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Waits for both.
///
/// ```
/// assert_eq!(mc::future::block_on(mc::future::join(async { 1 }, async { "two" })), (1, "two"));
/// ```
pub async fn join<A: Future, B: Future>(first: A, second: B) -> (A::Output, B::Output) {
    let (mut one, mut two) = (None, None);
    {
        let first = pin!(async { one = Some(first.await) });
        let second = pin!(async { two = Some(second.await) });
        let futures: [Pin<&mut dyn Future<Output = ()>>; 2] = [first, second];
        All::new(futures.into_iter()).await;
    }
    (one.expect("it has ended"), two.expect("it has ended"))
}

/// Waits for all; what they came to, in their order.
///
/// ```
/// use mc::future::{block_on, join_all};
/// assert_eq!(block_on(join_all((0..3).map(|n| async move { n * n }))), [0, 1, 4]);
/// ```
pub async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut all = All::new(futures.into_iter().map(Box::pin));
    std::future::poll_fn(|context| Pin::new(&mut all).poll(context)).await;
    all.parts.into_iter().filter_map(|part| part.output).collect()
}

/// What wakes one of several.
struct Part {
    /// It was woken, or never polled.
    due: AtomicBool,
    /// Who polls them all.
    whole: Waker,
}

impl Wake for Part {
    #[track_caller]
    fn wake(this: Arc<Self>) {
        Self::wake_by_ref(&this);
    }

    #[track_caller]
    fn wake_by_ref(this: &Arc<Self>) {
        this.due.store(true, Ordering::Release);
        this.whole.wake_by_ref();
    }
}

/// One of several futures.
struct Running<F: Future> {
    /// Until it has ended.
    future: Option<F>,
    output: Option<F::Output>,
    part: Option<(Arc<Part>, Waker)>,
}

impl<F: Future + Unpin> Running<F> {
    /// Polls it if it was woken; whether it has ended.
    fn poll(&mut self, whole: &Waker) -> bool {
        let Some(future) = &mut self.future else { return true };
        // Another waker of the whole makes this a task that was never polled.
        if self.part.as_ref().is_none_or(|(part, _)| !part.whole.will_wake(whole)) {
            let part = Arc::new(Part { due: AtomicBool::new(true), whole: whole.clone() });
            self.part = Some((part.clone(), waker(part)));
        }
        let (part, waker) = self.part.as_ref().expect("made above");
        let due = part.due.swap(false, Ordering::Acquire);
        if !due && !Signal::looks_again() {
            return false;
        }
        // Without its own, and the one beside it. (The poll may leave another.)
        let others = if due { 0 } else { Arc::strong_count(part) - 2 };
        let Poll::Ready(output) = Pin::new(future).poll(&mut Context::from_waker(waker)) else { return false };
        if !due {
            Signal::looked(true, others);
        }
        (self.future, self.output) = (None, Some(output));
        true
    }
}

struct All<F: Future> {
    parts: Vec<Running<F>>,
}

// No part is pinned in place: those that must be are behind pointers.
impl<F: Future> Unpin for All<F> {}

impl<F: Future + Unpin> All<F> {
    fn new(futures: impl Iterator<Item = F>) -> Self {
        Self { parts: futures.map(|future| Running { future: Some(future), output: None, part: None }).collect() }
    }
}

impl<F: Future + Unpin> Future for All<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let ended = self.parts.iter_mut().map(|running| running.poll(context.waker())).filter(|ended| *ended).count();
        if ended == self.parts.len() { Poll::Ready(()) } else { Poll::Pending }
    }
}
