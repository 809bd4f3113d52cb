//! A bounded queue for one producer and one consumer.
//!
//! Source: L. Lamport, "Specifying Concurrent Program Modules", TOPLAS 1983, with C11 orderings.
//! Mistake: the consumer's relaxed load of the producer's index (rust-embedded/heapless issue 5).

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicUsize, Ordering};

use crate::Correct;

/// How the consumer learns of new values.
pub trait Orders {
    /// Of the consumer's load of the tail.
    const SEE_TAIL: Ordering;
}

impl Orders for Correct {
    const SEE_TAIL: Ordering = Ordering::Acquire;
}

/// The consumer sees that a value is there, but not the value.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedConsumer;

impl Orders for RelaxedConsumer {
    const SEE_TAIL: Ordering = Ordering::Relaxed;
}

/// The queue. [`Ring::split`] gives its two ends.
pub struct Ring<T, const N: usize, O = Correct> {
    slots: [UnsafeCell<MaybeUninit<T>>; N],
    /// How many values were taken; written by the consumer only.
    head: AtomicUsize,
    /// How many values were put in; written by the producer only.
    tail: AtomicUsize,
    orders: PhantomData<fn() -> O>,
}

// SAFETY: values go from one thread to another, which `T: Send` allows; no two threads ever have a reference to one slot, for
// the ends are not `Clone` and take `&mut self`: the producer only touches slots that are free, the consumer those that are full.
unsafe impl<T: Send, const N: usize, O> Sync for Ring<T, N, O> {}

/// The end that puts values in.
pub struct Producer<'a, T, const N: usize, O>(&'a Ring<T, N, O>);

/// The end that takes values out.
pub struct Consumer<'a, T, const N: usize, O>(&'a Ring<T, N, O>);

impl<T, const N: usize, O: Orders> Ring<T, N, O> {
    /// An empty queue for `N` values.
    pub fn new() -> Self {
        const { assert!(N.is_power_of_two(), "indices wrap around") };
        let slots = std::array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit()));
        Self { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), orders: PhantomData }
    }

    /// The two ends, for two threads.
    pub fn split(&mut self) -> (Producer<'_, T, N, O>, Consumer<'_, T, N, O>) {
        (Producer(self), Consumer(self))
    }
}

impl<T, const N: usize, O: Orders> Default for Ring<T, N, O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize, O: Orders> Producer<'_, T, N, O> {
    /// Puts `value` in, or gives it back if the queue is full.
    pub fn push(&mut self, value: T) -> Result<(), T> {
        let tail = self.0.tail.load(Ordering::Relaxed);
        if tail.wrapping_sub(self.0.head.load(Ordering::Acquire)) == N {
            return Err(value);
        }
        self.0.slots[tail % N].with_mut(|slot| {
            // SAFETY: the slot is free (checked above) and stays so until the store below; nobody else puts values in.
            unsafe { slot.write(MaybeUninit::new(value)) }
        });
        self.0.tail.store(tail.wrapping_add(1), Ordering::Release);
        Ok(())
    }
}

impl<T, const N: usize, O: Orders> Consumer<'_, T, N, O> {
    /// Takes the oldest value.
    pub fn pop(&mut self) -> Option<T> {
        let head = self.0.head.load(Ordering::Relaxed);
        if head == self.0.tail.load(O::SEE_TAIL) {
            return None;
        }
        // SAFETY: the slot was filled before the tail that was read came to be, and nobody else takes values out.
        let value = self.0.slots[head % N].with(|slot| unsafe { slot.read().assume_init() });
        self.0.head.store(head.wrapping_add(1), Ordering::Release);
        Some(value)
    }
}

impl<T, const N: usize, O> Drop for Ring<T, N, O> {
    fn drop(&mut self) {
        let tail = self.tail.load(Ordering::Relaxed);
        let mut head = self.head.load(Ordering::Relaxed);
        while head != tail {
            // SAFETY: slots from head to tail are full, and no other thread is left.
            self.slots[head % N].with_mut(|slot| unsafe { (*slot).assume_init_drop() });
            head = head.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use mc::{hint, thread};

    use super::*;

    fn two_values_arrive_in_order<O: Orders>() {
        let mut ring = Ring::<Box<u32>, 1, O>::new();
        let (mut producer, mut consumer) = ring.split();
        thread::scope(|scope| {
            scope.spawn(move || {
                for value in [1, 2] {
                    let mut value = Box::new(value);
                    while let Err(back) = producer.push(value) {
                        value = back;
                        hint::spin_loop();
                    }
                }
            });
            for expected in [1, 2] {
                let value = loop {
                    match consumer.pop() {
                        Some(value) => break value,
                        None => hint::spin_loop(),
                    }
                };
                assert_eq!(*value, expected);
            }
        });
    }

    #[mc::test]
    fn values_arrive_in_order() {
        two_values_arrive_in_order::<Correct>();
    }

    #[mc::test]
    fn a_full_ring_refuses_and_an_empty_one_has_nothing() {
        let mut ring = Ring::<u32, 2>::new();
        let (mut producer, mut consumer) = ring.split();
        let (put, taken) = thread::scope(|scope| {
            let put = scope.spawn(move || [1, 2, 3].into_iter().filter(|value| producer.push(*value).is_ok()).count());
            let taken: Vec<u32> = (0..2).filter_map(|_| consumer.pop()).collect();
            (put.join().unwrap(), taken)
        });
        assert!(put == 2 || (put == 3 && !taken.is_empty()));
        assert_eq!(taken, [1, 2][..taken.len()]);
    }

    #[mc::test(expect = "data_race")]
    fn a_relaxed_consumer_reads_a_value_that_is_being_written() {
        two_values_arrive_in_order::<RelaxedConsumer>();
    }
}
