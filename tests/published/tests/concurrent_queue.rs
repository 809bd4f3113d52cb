//! concurrent-queue 2.5.0: queues for any number of producers and consumers, one per capacity: single, bounded, unbounded.

use concurrent_queue::{ConcurrentQueue, PopError};
use mc::sync::Arc;
use mc::thread;

/// One pushes, the other pops; what was pushed comes out once.
fn push_and_pop(queue: ConcurrentQueue<Box<u32>>) {
    let queue = Arc::new(queue);
    let producer = thread::spawn({
        let queue = Arc::clone(&queue);
        move || assert!(queue.push(Box::new(7)).is_ok())
    });
    let popped = queue.pop().ok();
    producer.join().unwrap();
    assert_eq!(popped.or_else(|| queue.pop().ok()).as_deref(), Some(&7));
    assert!(matches!(queue.pop(), Err(PopError::Empty)));
}

#[mc::test]
fn a_value_goes_through_a_single_slot() {
    push_and_pop(ConcurrentQueue::bounded(1));
}

#[mc::test]
fn a_value_goes_through_a_bounded_queue() {
    push_and_pop(ConcurrentQueue::bounded(2));
}

#[mc::test]
fn a_value_goes_through_an_unbounded_queue() {
    push_and_pop(ConcurrentQueue::unbounded());
}

#[mc::test]
fn two_producers_compete_for_one_slot() {
    let queue = Arc::new(ConcurrentQueue::bounded(1));
    let other = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.push(1).is_ok()
    });
    let first = queue.push(2).is_ok();
    let second = other.join().unwrap();
    assert!(first != second);
    assert_eq!(queue.pop(), Ok(if first { 2 } else { 1 }));
}

#[mc::test]
fn a_closed_queue_refuses_or_keeps_the_value() {
    let queue = Arc::new(ConcurrentQueue::bounded(1));
    let other = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.push(1).is_ok()
    });
    queue.close();
    let expected = if other.join().unwrap() { Ok(1) } else { Err(PopError::Closed) };
    assert_eq!(queue.pop(), expected);
}
