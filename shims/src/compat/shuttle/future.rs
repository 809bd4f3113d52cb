//! `shuttle::future`: each task is a thread that runs its future.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use mc_runtime::ops;

use crate::future::AtomicWaker;
pub use crate::future::block_on;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, PoisonError};
use crate::thread;

/// What a task and its handles share.
struct Shared<T> {
    result: Mutex<Option<Result<T, JoinError>>>,
    /// Who waits for the result.
    joiner: AtomicWaker,
    abort: Arc<Abort>,
}

#[derive(Default)]
struct Abort {
    asked: AtomicBool,
    ended: AtomicBool,
    task: AtomicWaker,
}

/// Starts a task.
#[track_caller]
pub fn spawn<F>(fut: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_local(fut)
}

/// Lets a future that need not be `Send` go to another thread of a check.
struct Movable<T>(T);

// SAFETY: only made in `spawn_local`, which makes sure that the calling thread is one of a check. All threads of a check are run by one thread of the
// operating system, one at a time.
unsafe impl<T> Send for Movable<T> {}

impl<T> Movable<T> {
    /// A closure that calls this takes all of it along.
    fn into_inner(self) -> T {
        self.0
    }
}

/// Starts a task that need not be `Send`.
///
/// # Panics
/// Outside of a check.
#[track_caller]
pub fn spawn_local<F>(fut: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    assert!(ops::controlled() || ops::inert(), "a task of shuttle is started outside of a check");
    let abort = Arc::new(Abort::default());
    let shared = Arc::new(Shared { result: Mutex::new(None), joiner: AtomicWaker::new(), abort });
    let task = Movable((fut, shared.clone()));
    let thread = thread::spawn(move || {
        let (fut, shared) = task.into_inner();
        run(fut, &shared);
    });
    drop(thread);
    JoinHandle { shared }
}

fn run<F: Future>(fut: F, shared: &Shared<F::Output>) {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut fut = pin!(fut);
        block_on(poll_fn(|context| {
            shared.abort.task.register_by_ref(context.waker());
            if shared.abort.asked.load(Ordering::Acquire) {
                return Poll::Ready(Err(JoinError::Cancelled));
            }
            fut.as_mut().poll(context).map(Ok)
        }))
    }));
    let (result, panicked) = match done {
        Ok(result) => (result, None),
        Err(payload) => (Err(JoinError::Panicked), Some(ops::caught(payload))),
    };
    *shared.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    shared.abort.ended.store(true, Ordering::Release);
    shared.joiner.wake();
    drop::<Option<Box<dyn Any + Send>>>(panicked);
}

/// Waits for a task by `.await`, and can end it.
pub struct JoinHandle<T> {
    shared: Arc<Shared<T>>,
}

// SAFETY: threads of a check are run by one thread of the operating system, one at a time; outside of one there is no such handle.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// Ends the task when it is polled next.
    #[track_caller]
    pub fn abort(&self) {
        self.abort_handle().abort();
    }

    /// Has the task ended?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.shared.abort.ended.load(Ordering::Acquire)
    }

    /// What can end the task without waiting for it.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(self.shared.abort.clone())
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.shared.joiner.register_by_ref(context.waker());
        match self.shared.result.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(result) => Poll::Ready(result),
            None => Poll::Pending,
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Can end a task.
#[derive(Clone)]
pub struct AbortHandle(Arc<Abort>);

impl AbortHandle {
    /// Ends the task when it is polled next.
    #[track_caller]
    pub fn abort(&self) {
        self.0.asked.store(true, Ordering::Release);
        self.0.task.wake();
    }

    /// Has the task ended?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.ended.load(Ordering::Acquire)
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").finish_non_exhaustive()
    }
}

/// Why a task has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum JoinError {
    /// It was ended.
    Cancelled,
    /// It panicked, which is a failure unless the test allows it.
    Panicked,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JoinError::Cancelled => "task was cancelled",
            JoinError::Panicked => "task panicked",
        })
    }
}

impl Error for JoinError {}

/// Lets others run.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
