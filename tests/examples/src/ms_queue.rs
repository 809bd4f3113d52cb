//! An unbounded queue for any number of producers and consumers.
//!
//! Source: M. Michael and M. Scott, "Simple, Fast, and Practical Non-Blocking and Blocking Concurrent Queue Algorithms", PODC 1996.
//! Differs: nodes are freed with the queue (reclamation is in `treiber` and `hazard`), so no pointer comes back and needs no count.
//! Mistake: `pop` follows the link with a relaxed load and then reads the value (crossbeam issue 12, in its first `MsQueue`).

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicPtr, Ordering};

use crate::Correct;

/// How a consumer finds the next node.
pub trait Orders {
    /// Of the load of the link to it.
    const FOLLOW: Ordering;
}

impl Orders for Correct {
    const FOLLOW: Ordering = Ordering::Acquire;
}

/// Finds a node before its value is there.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedFollow;

impl Orders for RelaxedFollow {
    const FOLLOW: Ordering = Ordering::Relaxed;
}

struct Node<T> {
    next: AtomicPtr<Self>,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Node<T> {
    fn boxed(value: MaybeUninit<T>) -> *mut Self {
        let place = UnsafeCell::new(MaybeUninit::uninit());
        let node = Box::new(Self { next: AtomicPtr::new(ptr::null_mut()), value: place });
        // SAFETY: nobody else knows the node. (The write goes through the cell, where a checker sees it.)
        node.value.with_mut(|place| unsafe { place.write(value) });
        Box::into_raw(node)
    }
}

/// The queue.
pub struct Queue<T, O = Correct> {
    /// The node whose value was taken last, or the first one of all, which never had a value.
    head: AtomicPtr<Node<T>>,
    /// The last node or the one before it.
    tail: AtomicPtr<Node<T>>,
    first: *mut Node<T>,
    orders: PhantomData<fn() -> O>,
}

// SAFETY: values go from one thread to another, which `T: Send` allows; nobody gets a reference to a value in the queue, and
// one thread takes each: the one that moved `head` to its node.
unsafe impl<T: Send, O> Send for Queue<T, O> {}
// SAFETY: as above.
unsafe impl<T: Send, O> Sync for Queue<T, O> {}

impl<T, O: Orders> Queue<T, O> {
    /// An empty queue.
    pub fn new() -> Self {
        let first = Node::boxed(MaybeUninit::uninit());
        Self { head: AtomicPtr::new(first), tail: AtomicPtr::new(first), first, orders: PhantomData }
    }

    /// Puts a value at the end.
    pub fn push(&self, value: T) {
        let node = Node::boxed(MaybeUninit::new(value));
        loop {
            let tail = self.tail.load(Ordering::Acquire);
            // SAFETY: nodes live as long as the queue, and the acquiring load saw this one initialised.
            let link = unsafe { &(*tail).next };
            let next = link.load(Ordering::Acquire);
            if !next.is_null() {
                self.advance(tail, next);
            } else if link.compare_exchange(next, node, Ordering::Release, Ordering::Relaxed).is_ok() {
                self.advance(tail, node);
                return;
            }
        }
    }

    /// Takes the value at the front.
    pub fn pop(&self) -> Option<T> {
        loop {
            let head = self.head.load(Ordering::Acquire);
            let tail = self.tail.load(Ordering::Acquire);
            // SAFETY: nodes live as long as the queue, and the acquiring load saw this one initialised.
            let next = unsafe { &(*head).next }.load(O::FOLLOW);
            if next.is_null() {
                return None;
            }
            if head == tail {
                self.advance(tail, next);
            } else if self.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                // SAFETY: the node is there as long as the queue; that of `next` was initialised before it was linked.
                let node = unsafe { &*next };
                // SAFETY: the exchange succeeds for one thread only, which is thereby the owner of the value.
                return Some(node.value.with(|value| unsafe { value.read().assume_init() }));
            }
        }
    }

    /// Moves the tail on; somebody else may have done so.
    fn advance(&self, tail: *mut Node<T>, next: *mut Node<T>) {
        // The result is of no use: whoever needs the tail loads it again.
        let _ = self.tail.compare_exchange(tail, next, Ordering::Release, Ordering::Relaxed);
    }
}

impl<T, O: Orders> Default for Queue<T, O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, O> Drop for Queue<T, O> {
    fn drop(&mut self) {
        let head = self.head.load(Ordering::Relaxed);
        let mut taken = true;
        let mut at = self.first;
        while !at.is_null() {
            // SAFETY: every node is in the list that starts with `first` once, came from `Node::boxed`, and nobody else is left.
            let node = unsafe { Box::from_raw(at) };
            if !taken {
                // SAFETY: nodes behind `head` have a value.
                node.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
            }
            taken &= at != head;
            at = node.next.load(Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn push_and_pop<O: Orders>() {
        let queue = Queue::<Box<u32>, O>::new();
        let popped = thread::scope(|scope| {
            let consumer = scope.spawn(|| queue.pop());
            queue.push(Box::new(1));
            consumer.join().unwrap()
        });
        match popped {
            Some(value) => assert_eq!(*value, 1),
            None => assert_eq!(queue.pop().as_deref(), Some(&1)),
        }
        assert!(queue.pop().is_none());
    }

    #[mc::test]
    fn a_value_is_popped_once() {
        push_and_pop::<Correct>();
    }

    #[mc::test]
    fn values_of_one_producer_keep_their_order() {
        let queue = Queue::<u32>::new();
        let mut popped = thread::scope(|scope| {
            scope.spawn(|| [1, 2].map(|value| queue.push(value)));
            [queue.pop(), queue.pop()].into_iter().flatten().collect::<Vec<_>>()
        });
        popped.extend(std::iter::from_fn(|| queue.pop()));
        assert_eq!(popped, [1, 2]);
    }

    #[mc::test]
    fn values_of_two_producers_all_arrive() {
        let queue = Queue::<u32>::new();
        thread::scope(|scope| {
            scope.spawn(|| queue.push(1));
            queue.push(2);
        });
        let mut popped: Vec<u32> = std::iter::from_fn(|| queue.pop()).collect();
        popped.sort_unstable();
        assert_eq!(popped, [1, 2]);
    }

    #[mc::test]
    fn two_producers_and_a_consumer() {
        let queue = Queue::<u32>::new();
        let mut all = thread::scope(|scope| {
            scope.spawn(|| queue.push(1));
            scope.spawn(|| queue.push(2));
            [queue.pop(), queue.pop()].into_iter().flatten().collect::<Vec<_>>()
        });
        all.extend(std::iter::from_fn(|| queue.pop()));
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
    }

    #[mc::test(expect = "data_race")]
    fn a_relaxed_link_leads_to_a_value_that_is_being_written() {
        push_and_pop::<RelaxedFollow>();
    }
}
