//! A double-ended queue of tasks: its owner pushes and takes at one end, others steal from the other.
//!
//! Source: N. M. Lê, A. Pop, A. Cohen and F. Zappa Nardelli, "Correct and Efficient Work-Stealing for Weak Memory Models",
//! PPoPP 2013, after D. Chase and Y. Lev, SPAA 2005. A task is a word (an index or an address).
//! Mistakes: no full fence in `take`, as if memory were sequentially consistent (SPAA 2005); the grown array is published with
//! a relaxed store (PPoPP 2013, figure 1; found by CDSChecker: B. Norris and B. Demsky, OOPSLA 2013).

use std::marker::PhantomData;
use std::ptr;

use mc::sync::atomic::{AtomicIsize, AtomicPtr, AtomicUsize, Ordering, fence};

use crate::Correct;

/// What the owner does for the thieves.
pub trait Orders {
    /// Of the store of a grown array.
    const GROW: Ordering = Ordering::Release;

    /// Between the owner's claim of the last task and its look at the thieves'.
    fn claim() {
        fence(Ordering::SeqCst);
    }
}

impl Orders for Correct {}

/// The owner's claim may come after its look, so that two threads get one task.
#[derive(Clone, Copy, Debug)]
pub struct NoFence;

impl Orders for NoFence {
    fn claim() {}
}

/// A thief may find the new array before the tasks in it.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedGrow;

impl Orders for RelaxedGrow {
    const GROW: Ordering = Ordering::Relaxed;
}

/// A circular array, and the one before it, which thieves may still look at.
struct Array {
    slots: Box<[AtomicUsize]>,
    smaller: *mut Self,
}

impl Array {
    fn boxed(capacity: usize, smaller: *mut Self) -> *mut Self {
        let slots = (0..capacity).map(|_| AtomicUsize::new(0)).collect();
        Box::into_raw(Box::new(Self { slots, smaller }))
    }

    fn slot(&self, index: isize) -> &AtomicUsize {
        &self.slots[index.cast_unsigned() & (self.slots.len() - 1)]
    }
}

/// The queue. [`Deque::split`] gives its two ends.
pub struct Deque<O = Correct> {
    /// The oldest task; grows by one for each that is stolen.
    top: AtomicIsize,
    /// One behind the newest task; written by the owner only.
    bottom: AtomicIsize,
    array: AtomicPtr<Array>,
    orders: PhantomData<fn() -> O>,
}

/// The end of the owner.
pub struct Worker<'a, O>(&'a Deque<O>);

/// The end of the thieves.
pub struct Stealer<'a, O>(&'a Deque<O>);

impl<O> Clone for Stealer<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Stealer<'_, O> {}

/// What came of an attempt to steal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stolen {
    /// There is nothing.
    Empty,
    /// Somebody else was faster: try again.
    Retry,
    /// A task.
    Task(usize),
}

impl<O: Orders> Deque<O> {
    /// An empty queue with room for `capacity` tasks, a power of two, before it grows.
    pub fn new(capacity: usize) -> Self {
        assert!(capacity.is_power_of_two(), "{capacity} slots");
        let array = AtomicPtr::new(Array::boxed(capacity, ptr::null_mut()));
        Self { top: AtomicIsize::new(0), bottom: AtomicIsize::new(0), array, orders: PhantomData }
    }

    /// The two ends, for several threads.
    pub fn split(&mut self) -> (Worker<'_, O>, Stealer<'_, O>) {
        (Worker(self), Stealer(self))
    }

    /// The array that `order` finds.
    fn array(&self, order: Ordering) -> &Array {
        // SAFETY: arrays are freed with the queue only, and an array that another thread stored was made before (`GROW`).
        unsafe { &*self.array.load(order) }
    }
}

impl<O: Orders> Worker<'_, O> {
    /// Puts a task at the owner's end.
    pub fn push(&mut self, task: usize) {
        let deque = self.0;
        let bottom = deque.bottom.load(Ordering::Relaxed);
        let top = deque.top.load(Ordering::Acquire);
        let mut array = deque.array(Ordering::Relaxed);
        if (bottom - top).cast_unsigned() == array.slots.len() {
            array = self.grow(array, top..bottom);
        }
        array.slot(bottom).store(task, Ordering::Relaxed);
        fence(Ordering::Release);
        deque.bottom.store(bottom + 1, Ordering::Relaxed);
    }

    fn grow(&self, array: &Array, tasks: std::ops::Range<isize>) -> &Array {
        let larger = Array::boxed(array.slots.len() * 2, self.0.array.load(Ordering::Relaxed));
        // SAFETY: it was just made.
        let grown = unsafe { &*larger };
        for index in tasks {
            grown.slot(index).store(array.slot(index).load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.0.array.store(larger, O::GROW);
        grown
    }

    /// Takes the task that was pushed last.
    pub fn take(&mut self) -> Option<usize> {
        let deque = self.0;
        let bottom = deque.bottom.load(Ordering::Relaxed) - 1;
        let array = deque.array(Ordering::Relaxed);
        deque.bottom.store(bottom, Ordering::Relaxed);
        O::claim();
        let top = deque.top.load(Ordering::Relaxed);
        if top < bottom {
            return Some(array.slot(bottom).load(Ordering::Relaxed));
        }
        let mut task = None;
        if top == bottom {
            let last = array.slot(bottom).load(Ordering::Relaxed);
            // The last task: thieves may be at it too.
            let won = deque.top.compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed).is_ok();
            task = won.then_some(last);
        }
        deque.bottom.store(bottom + 1, Ordering::Relaxed);
        task
    }
}

impl<O: Orders> Stealer<'_, O> {
    /// Takes the oldest task.
    pub fn steal(self) -> Stolen {
        let deque = self.0;
        let top = deque.top.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        let bottom = deque.bottom.load(Ordering::Acquire);
        if top >= bottom {
            return Stolen::Empty;
        }
        let task = deque.array(Ordering::Acquire).slot(top).load(Ordering::Relaxed);
        match deque.top.compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => Stolen::Task(task),
            Err(_) => Stolen::Retry,
        }
    }
}

impl<O> Drop for Deque<O> {
    fn drop(&mut self) {
        let mut array = self.array.load(Ordering::Relaxed);
        while !array.is_null() {
            // SAFETY: each came from `Array::boxed` and is in the list once, and nobody else is left.
            array = unsafe { Box::from_raw(array) }.smaller;
        }
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    /// Pushes two tasks, takes one while another thread tries to steal two, then takes the rest.
    fn take_and_steal<O: Orders>(capacity: usize) {
        let mut deque = Deque::<O>::new(capacity);
        let (mut worker, stealer) = deque.split();
        worker.push(1);
        let mut tasks = thread::scope(|scope| {
            let thief = scope.spawn(move || [stealer.steal(), stealer.steal()]);
            worker.push(2);
            let mut tasks: Vec<usize> = worker.take().into_iter().collect();
            for stolen in thief.join().unwrap() {
                if let Stolen::Task(task) = stolen {
                    tasks.push(task);
                }
            }
            tasks
        });
        tasks.extend(std::iter::from_fn(|| worker.take()));
        tasks.sort_unstable();
        assert_eq!(tasks, [1, 2]);
    }

    #[mc::test]
    fn every_task_is_done_once() {
        take_and_steal::<Correct>(2);
    }

    #[mc::test]
    fn every_task_is_done_once_while_the_array_grows() {
        take_and_steal::<Correct>(1);
    }

    #[mc::test]
    fn two_thieves_do_not_get_the_same_task() {
        let mut deque = Deque::<Correct>::new(2);
        let (mut worker, stealer) = deque.split();
        worker.push(1);
        worker.push(2);
        let stolen = thread::scope(|scope| {
            let thieves = [(); 2].map(|()| scope.spawn(move || stealer.steal()));
            thieves.map(|thief| thief.join().unwrap())
        });
        assert!(stolen[0] != stolen[1] || stolen[0] == Stolen::Retry);
    }

    #[mc::test]
    fn the_owner_and_two_thieves_share_two_tasks() {
        let mut deque = Deque::<Correct>::new(2);
        let (mut worker, stealer) = deque.split();
        worker.push(1);
        worker.push(2);
        let mut tasks = thread::scope(|scope| {
            let thieves = [(); 2].map(|()| scope.spawn(move || stealer.steal()));
            let mut tasks: Vec<usize> = worker.take().into_iter().collect();
            for thief in thieves {
                if let Stolen::Task(task) = thief.join().unwrap() {
                    tasks.push(task);
                }
            }
            tasks
        });
        tasks.extend(std::iter::from_fn(|| worker.take()));
        tasks.sort_unstable();
        assert_eq!(tasks, [1, 2]);
    }

    #[mc::test(expect = "panic")]
    fn without_the_fence_a_task_is_done_twice() {
        take_and_steal::<NoFence>(2);
    }

    #[mc::test(expect = "data_race")]
    fn a_relaxed_store_of_the_array_shows_slots_without_tasks() {
        take_and_steal::<RelaxedGrow>(1);
    }
}
