//! Loads and stores.

use mc::sync::atomic::{AtomicU32, Ordering, fence};
use mc::thread;

/// Each of two threads stores to its own variable and loads the other's; what they load.
fn store_buffering(order: Ordering, between: impl Fn() + Sync) -> [u32; 2] {
    let order_of_load = if order == Ordering::Release { Ordering::Acquire } else { order };
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let side = |mine: &AtomicU32, other: &AtomicU32| {
        mine.store(1, order);
        between();
        other.load(order_of_load)
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| side(&x, &y));
        let second = side(&y, &x);
        [first.join().unwrap(), second]
    })
}

#[mc::test]
fn store_buffering_with_seq_cst_shows_one_store_at_least() {
    assert_ne!(store_buffering(Ordering::SeqCst, || ()), [0, 0]);
}

#[mc::test]
fn store_buffering_with_full_fences_shows_one_store_at_least() {
    assert_ne!(store_buffering(Ordering::Relaxed, || fence(Ordering::SeqCst)), [0, 0]);
}

#[mc::test(expect = "panic")]
fn store_buffering_with_relaxed_hides_both_stores() {
    assert_ne!(store_buffering(Ordering::Relaxed, || ()), [0, 0]);
}

#[mc::test(expect = "panic")]
fn store_buffering_with_release_and_acquire_hides_both_stores() {
    assert_ne!(store_buffering(Ordering::Release, || ()), [0, 0]);
}

#[mc::test(memory_model = "sc")]
fn store_buffering_with_relaxed_is_right_where_memory_is_sequentially_consistent() {
    assert_ne!(store_buffering(Ordering::Relaxed, || ()), [0, 0]);
}

/// Stores data, then a flag; who sees the flag looks for the data.
fn message_passing(publish: Ordering, see: Ordering) {
    let (data, flag) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(42, Ordering::Relaxed);
            flag.store(1, publish);
        });
        if flag.load(see) == 1 {
            assert_eq!(data.load(Ordering::Relaxed), 42);
        }
    });
}

#[mc::test]
fn message_passing_with_release_and_acquire_delivers() {
    message_passing(Ordering::Release, Ordering::Acquire);
}

#[mc::test(expect = "panic")]
fn message_passing_with_relaxed_loses_the_message() {
    message_passing(Ordering::Relaxed, Ordering::Relaxed);
}

#[mc::test(expect = "panic")]
fn message_passing_without_acquire_loses_the_message() {
    message_passing(Ordering::Release, Ordering::Relaxed);
}

/// Two threads store, two others look in opposite order; true if these saw the stores in different orders.
fn readers_disagree(store: Ordering, load: Ordering) -> bool {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let read = |first: &AtomicU32, second: &AtomicU32| (first.load(load), second.load(load));
    thread::scope(|scope| {
        scope.spawn(|| x.store(1, store));
        scope.spawn(|| y.store(1, store));
        let reader = scope.spawn(|| read(&x, &y));
        let other = read(&y, &x);
        (reader.join().unwrap(), other) == ((1, 0), (1, 0))
    })
}

#[mc::test]
fn readers_agree_on_the_order_of_seq_cst_stores() {
    assert!(!readers_disagree(Ordering::SeqCst, Ordering::SeqCst));
}

#[mc::test(expect = "panic")]
fn readers_disagree_on_the_order_of_release_stores() {
    assert!(!readers_disagree(Ordering::Release, Ordering::Acquire));
}
