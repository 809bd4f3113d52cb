//! Blocking outside of a check: threads sleep in buckets, found by the address of the word that they wait for.
//!
//! Only what no checker controls comes here, so it is plain rather than fast. A bucket may be shared by several words;
//! whoever is woken looks at its own word again.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

struct Bucket {
    waiters: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Bucket {
    const fn new() -> Self {
        Self { waiters: AtomicUsize::new(0), lock: Mutex::new(()), wake: Condvar::new() }
    }
}

const COUNT: usize = 31;
static BUCKETS: [Bucket; COUNT] = [const { Bucket::new() }; COUNT];

fn bucket(at: *mut ()) -> &'static Bucket {
    &BUCKETS[(at.addr() >> 3) % COUNT]
}

/// Tries until `attempt` succeeds or `deadline` passes, asleep between calls of [`changed`] for the same address.
pub(crate) fn block<T>(at: *mut (), deadline: Option<Instant>, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    if let Some(done) = attempt() {
        return Some(done);
    }
    let bucket = bucket(at);
    bucket.waiters.fetch_add(1, Ordering::SeqCst);
    let mut held = bucket.lock.lock().unwrap_or_else(PoisonError::into_inner);
    let done = loop {
        // Either this attempt sees a change, or `changed` sees this waiter: both go through SeqCst.
        fence(Ordering::SeqCst);
        if let Some(done) = attempt() {
            break Some(done);
        }
        held = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => bucket.wake.wait(held).unwrap_or_else(PoisonError::into_inner),
            Some(left) if left.is_zero() => break None,
            Some(left) => bucket.wake.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0,
        };
    };
    drop(held);
    bucket.waiters.fetch_sub(1, Ordering::SeqCst);
    done
}

/// Wakes whoever waits for the word at `at`; to be called after each change of it.
pub(crate) fn changed(at: *mut ()) {
    fence(Ordering::SeqCst);
    let bucket = bucket(at);
    if bucket.waiters.load(Ordering::SeqCst) != 0 {
        // A waiter is either before its attempt or already asleep once this lock is held.
        drop(bucket.lock.lock().unwrap_or_else(PoisonError::into_inner));
        bucket.wake.notify_all();
    }
}
