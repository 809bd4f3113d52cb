//! A stack whose popped nodes are freed as soon as nobody else is in `pop`.
//!
//! Source: R. Treiber, "Coping with Parallelism", IBM RJ 5118, 1986; reclamation as in A. Williams, "C++ Concurrency in Action",
//! section 7.2.2.
//! Mistake: the count of threads is not looked at again after the list of nodes to free was taken (the book's figure 7.1 shows
//! why it must be).

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::Correct;

/// What is known before nodes are freed.
pub trait Reclaim {
    /// Look again whether another thread has come into `pop`?
    const RECHECK: bool;
}

impl Reclaim for Correct {
    const RECHECK: bool = true;
}

/// Frees nodes that a thread may have found in the meantime.
#[derive(Clone, Copy, Debug)]
pub struct NoRecheck;

impl Reclaim for NoRecheck {
    const RECHECK: bool = false;
}

struct Node<T> {
    value: UnsafeCell<MaybeUninit<T>>,
    /// Below it in the stack, later the next one in the list of those to free.
    next: AtomicPtr<Self>,
}

/// The stack.
pub struct Stack<T, R = Correct> {
    head: AtomicPtr<Node<T>>,
    /// How many threads are in `pop`, and so may look at a node that is not in the stack any more.
    popping: AtomicUsize,
    /// Popped nodes that somebody may look at.
    retired: AtomicPtr<Node<T>>,
    reclaim: PhantomData<fn() -> R>,
}

// SAFETY: values go from one thread to another, which `T: Send` allows; nobody gets a reference to one in the stack.
unsafe impl<T: Send, R> Send for Stack<T, R> {}
// SAFETY: as above.
unsafe impl<T: Send, R> Sync for Stack<T, R> {}

impl<T, R: Reclaim> Stack<T, R> {
    /// An empty stack.
    pub const fn new() -> Self {
        Self {
            head: AtomicPtr::new(ptr::null_mut()),
            popping: AtomicUsize::new(0),
            retired: AtomicPtr::new(ptr::null_mut()),
            reclaim: PhantomData,
        }
    }

    /// Puts a value on top.
    pub fn push(&self, value: T) {
        let place = UnsafeCell::new(MaybeUninit::uninit());
        let node = Box::into_raw(Box::new(Node { value: place, next: AtomicPtr::new(ptr::null_mut()) }));
        // SAFETY: nobody else knows the node before the exchange.
        let fresh = unsafe { &*node };
        // SAFETY: as above. (The write goes through the cell, where a checker sees it.)
        fresh.value.with_mut(|place| unsafe { place.write(MaybeUninit::new(value)) });
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            fresh.next.store(head, Ordering::Relaxed);
            match self.head.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(newer) => head = newer,
            }
        }
    }

    /// Takes the value on top.
    pub fn pop(&self) -> Option<T> {
        self.popping.fetch_add(1, Ordering::SeqCst);
        let mut head = self.head.load(Ordering::SeqCst);
        while !head.is_null() {
            // SAFETY: the node was in the stack after this thread had been counted, so it is not freed before it has left.
            let next = unsafe { &*head }.next.load(Ordering::Relaxed);
            match self.head.compare_exchange(head, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => break,
                Err(newer) => head = newer,
            }
        }
        let value = (!head.is_null()).then(|| {
            // SAFETY: this thread has taken the node out of the stack, and is still counted.
            let node = unsafe { &*head };
            // SAFETY: only who takes a node out moves its value out, so once.
            node.value.with(|value| unsafe { value.read().assume_init() })
        });
        self.leave(head);
        value
    }

    /// Counts this thread out, and frees `node` and what was retired before if it was the only one.
    fn leave(&self, node: *mut Node<T>) {
        if self.popping.load(Ordering::SeqCst) != 1 {
            self.retire(node, node);
            self.popping.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        // Nobody else could look at `node`, and nobody will: it is out of the stack.
        let retired = self.retired.swap(ptr::null_mut(), Ordering::SeqCst);
        let alone = self.popping.fetch_sub(1, Ordering::SeqCst) == 1;
        if alone || !R::RECHECK {
            free(retired);
        } else if !retired.is_null() {
            let mut last = retired;
            // SAFETY: the list belongs to this thread since the exchange.
            while let Some(next) = ptr::NonNull::new(unsafe { &*last }.next.load(Ordering::Relaxed)) {
                last = next.as_ptr();
            }
            self.retire(retired, last);
        }
        if !node.is_null() {
            // SAFETY: the node came from `push`, and no other thread was in `pop` after it had left the stack.
            drop(unsafe { Box::from_raw(node) });
        }
    }

    /// Adds the nodes from `first` to `last` to those that are to be freed.
    fn retire(&self, first: *mut Node<T>, last: *mut Node<T>) {
        if first.is_null() {
            return;
        }
        let mut next = self.retired.load(Ordering::Relaxed);
        loop {
            // SAFETY: the nodes belong to this thread until the exchange.
            unsafe { &*last }.next.store(next, Ordering::Relaxed);
            match self.retired.compare_exchange(next, first, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return,
                Err(newer) => next = newer,
            }
        }
    }
}

/// Frees a list of nodes whose values were moved out.
fn free<T>(mut node: *mut Node<T>) {
    while !node.is_null() {
        // SAFETY: the list belongs to this thread, and each node in it came from `push`.
        let free = unsafe { Box::from_raw(node) };
        node = free.next.load(Ordering::Relaxed);
    }
}

impl<T, R: Reclaim> Default for Stack<T, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, R> Drop for Stack<T, R> {
    fn drop(&mut self) {
        let mut node = self.head.load(Ordering::Relaxed);
        while !node.is_null() {
            // SAFETY: nobody else is left; each node in the stack came from `push` and has its value.
            let free = unsafe { Box::from_raw(node) };
            // SAFETY: as above.
            free.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
            node = free.next.load(Ordering::Relaxed);
        }
        free(self.retired.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    #[mc::test]
    fn a_value_is_popped_once() {
        let stack = Stack::<Box<u32>>::new();
        stack.push(Box::new(1));
        let popped = thread::scope(|scope| {
            let other = scope.spawn(|| stack.pop());
            [stack.pop(), other.join().unwrap()]
        });
        assert_eq!(popped.iter().flatten().map(|value| **value).collect::<Vec<_>>(), [1]);
    }

    #[mc::test]
    fn what_is_pushed_is_popped() {
        let stack = Stack::<u32>::new();
        let popped = thread::scope(|scope| {
            scope.spawn(|| stack.push(1));
            stack.push(2);
            stack.pop()
        });
        let mut all: Vec<u32> = popped.into_iter().chain(std::iter::from_fn(|| stack.pop())).collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
    }

    #[mc::test]
    fn two_threads_pop_two_values_each() {
        let stack = Stack::<u32>::new();
        stack.push(1);
        stack.push(2);
        let popped = thread::scope(|scope| {
            let other = scope.spawn(|| [stack.pop(), stack.pop()]);
            let mine = [stack.pop(), stack.pop()];
            mine.into_iter().chain(other.join().unwrap()).flatten().collect::<Vec<_>>()
        });
        assert!(popped == [1, 2] || popped == [2, 1]);
    }

    #[mc::test(expect = "use_after_free")]
    fn without_another_look_a_node_is_freed_under_a_reader() {
        let stack = Stack::<u32, NoRecheck>::new();
        stack.push(1);
        stack.push(2);
        thread::scope(|scope| {
            scope.spawn(|| stack.pop());
            scope.spawn(|| stack.pop());
            stack.pop();
        });
    }
}
