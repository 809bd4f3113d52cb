//! Pointers and indices that come back, and memory that goes.

use std::array;

use mc::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use mc::thread;

use crate::arc::{Arc, Orders};

const NONE: usize = u32::MAX as usize;

/// A stack of the indices below `N`. With `TAGGED`, every change of the head gives it a new number.
struct IndexStack<const N: usize, const TAGGED: bool> {
    /// The number in the upper half, the index on top in the lower.
    head: AtomicU64,
    below: [AtomicUsize; N],
}

impl<const N: usize, const TAGGED: bool> IndexStack<N, TAGGED> {
    /// All indices, 0 on top.
    fn full() -> Self {
        let below = array::from_fn(|index| AtomicUsize::new(if index + 1 < N { index + 1 } else { NONE }));
        Self { head: AtomicU64::new(0), below }
    }

    fn index(head: u64) -> usize {
        (head & u64::from(u32::MAX)) as usize
    }

    fn replaced(head: u64, index: usize) -> u64 {
        let number = (head >> 32).wrapping_add(u64::from(TAGGED));
        number << 32 | index as u64
    }

    fn pop(&self) -> Option<usize> {
        let mut head = self.head.load(Ordering::Acquire);
        while Self::index(head) != NONE {
            let top = Self::index(head);
            let next = Self::replaced(head, self.below[top].load(Ordering::Relaxed));
            match self.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(top),
                Err(newer) => head = newer,
            }
        }
        None
    }

    fn push(&self, index: usize) {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            self.below[index].store(Self::index(head), Ordering::Relaxed);
            let next = Self::replaced(head, index);
            match self.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(newer) => head = newer,
            }
        }
    }
}

/// One thread pops; the other pops twice and puts the first back, so that the head is as it was, but not what is below it.
fn pop_while_the_top_comes_back<const TAGGED: bool>() {
    let stack = IndexStack::<3, TAGGED>::full();
    let held = thread::scope(|scope| {
        let other = scope.spawn(|| stack.pop());
        let first = stack.pop();
        let second = stack.pop();
        if let Some(index) = first {
            stack.push(index);
        }
        [second, other.join().unwrap()]
    });
    let mut all: Vec<usize> =
        held.into_iter().flatten().chain(array::from_fn::<_, 3, _>(|_| stack.pop()).into_iter().flatten()).collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2]);
}

#[mc::test(expect = "panic")]
fn an_index_that_comes_back_is_taken_for_the_same_stack() {
    pop_while_the_top_comes_back::<false>();
}

#[mc::test]
fn a_number_beside_the_index_tells_the_difference() {
    pop_while_the_top_comes_back::<true>();
}

/// An `Arc` as many are written: the decrement releases, but the last owner does not acquire.
struct NoFence;

impl Orders for NoFence {
    fn acquire() {}
}

#[mc::test(expect = "data_race")]
fn an_arc_without_the_acquire_fence_drops_under_a_reader() {
    let first = Arc::<u32, NoFence>::new(1);
    let second = first.clone();
    let other = thread::spawn(move || assert_eq!(*second, 1));
    assert_eq!(*first, 1);
    drop(first);
    other.join().unwrap();
}
