//! A bounded queue for any number of producers and consumers, one atomic number for each slot.
//!
//! Source: D. Vyukov, "Bounded MPMC queue", 1024cores.net.
//! Mistake: every operation is relaxed (filipdulic/bus-queue issue 3); here it is enough that the number of a slot is.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicUsize, Ordering};

use crate::Correct;

/// How a slot is handed over.
pub trait Orders {
    /// Of the store of a slot's number, when it was filled or emptied.
    const HAND_OVER: Ordering;
}

impl Orders for Correct {
    const HAND_OVER: Ordering = Ordering::Release;
}

/// A slot can be taken before it was filled.
#[derive(Clone, Copy, Debug)]
pub struct RelaxedHandOver;

impl Orders for RelaxedHandOver {
    const HAND_OVER: Ordering = Ordering::Relaxed;
}

struct Slot<T> {
    /// The position of the producer that may fill it, or that plus one for the consumer that may empty it.
    turn: AtomicUsize,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// The queue.
pub struct Queue<T, O = Correct> {
    slots: Box<[Slot<T>]>,
    head: AtomicUsize,
    tail: AtomicUsize,
    orders: PhantomData<fn() -> O>,
}

// SAFETY: values go from one thread to another, which `T: Send` allows; a slot belongs to the thread whose turn it is.
unsafe impl<T: Send, O> Sync for Queue<T, O> {}

impl<T, O: Orders> Queue<T, O> {
    /// An empty queue with room for `capacity` values, a power of two above 1.
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 1 && capacity.is_power_of_two(), "{capacity} slots");
        let slot = |turn| Slot { turn: AtomicUsize::new(turn), value: UnsafeCell::new(MaybeUninit::uninit()) };
        let slots = (0..capacity).map(slot).collect();
        Self { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), orders: PhantomData }
    }

    /// Puts a value in, or gives it back if the queue is full.
    pub fn push(&self, value: T) -> Result<(), T> {
        let Some((slot, position)) = self.claim(&self.tail, 0) else { return Err(value) };
        // SAFETY: it is this thread's turn, so nobody else uses the slot until the store below.
        slot.value.with_mut(|place| unsafe { place.write(MaybeUninit::new(value)) });
        slot.turn.store(position.wrapping_add(1), O::HAND_OVER);
        Ok(())
    }

    /// Takes the oldest value.
    pub fn pop(&self) -> Option<T> {
        let (slot, position) = self.claim(&self.head, 1)?;
        // SAFETY: it is this thread's turn, so the slot is full and nobody else uses it until the store below.
        let value = slot.value.with(|place| unsafe { place.read().assume_init() });
        slot.turn.store(position.wrapping_add(self.slots.len()), O::HAND_OVER);
        Some(value)
    }

    /// Makes the slot at the position in `end` this thread's, if its turn is that position plus `offset`.
    fn claim(&self, end: &AtomicUsize, offset: usize) -> Option<(&Slot<T>, usize)> {
        let mut position = end.load(Ordering::Relaxed);
        loop {
            let slot = &self.slots[position & (self.slots.len() - 1)];
            let turn = slot.turn.load(Ordering::Acquire);
            match turn.wrapping_sub(position.wrapping_add(offset)).cast_signed() {
                0 => {
                    let next = position.wrapping_add(1);
                    match end.compare_exchange_weak(position, next, Ordering::Relaxed, Ordering::Relaxed) {
                        Ok(_) => return Some((slot, position)),
                        Err(newer) => position = newer,
                    }
                }
                // The slot is still as it was a round ago: the queue is full, or empty.
                ..0 => return None,
                _ => position = end.load(Ordering::Relaxed),
            }
        }
    }
}

impl<T, O> Drop for Queue<T, O> {
    fn drop(&mut self) {
        let tail = self.tail.load(Ordering::Relaxed);
        let mut head = self.head.load(Ordering::Relaxed);
        while head != tail {
            let slot = &self.slots[head & (self.slots.len() - 1)];
            // SAFETY: slots from head to tail are full, and no other thread is left.
            slot.value.with_mut(|place| unsafe { (*place).assume_init_drop() });
            head = head.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn one_goes_through<O: Orders>() {
        let queue = Queue::<Box<u32>, O>::new(2);
        let popped = thread::scope(|scope| {
            let consumer = scope.spawn(|| queue.pop());
            assert!(queue.push(Box::new(1)).is_ok());
            consumer.join().unwrap()
        });
        let value = popped.or_else(|| queue.pop());
        assert_eq!(value.as_deref(), Some(&1));
    }

    #[mc::test]
    fn a_value_goes_through() {
        one_goes_through::<Correct>();
    }

    #[mc::test]
    fn two_producers_fill_two_slots() {
        let queue = Queue::<u32>::new(2);
        thread::scope(|scope| {
            scope.spawn(|| assert!(queue.push(1).is_ok()));
            assert!(queue.push(2).is_ok());
        });
        assert_eq!(queue.push(3), Err(3));
        let mut popped = [queue.pop().unwrap(), queue.pop().unwrap()];
        popped.sort_unstable();
        assert_eq!(popped, [1, 2]);
        assert_eq!(queue.pop(), None);
    }

    #[mc::test]
    fn two_consumers_take_a_value_once() {
        let queue = Queue::<u32>::new(2);
        assert!(queue.push(1).is_ok());
        let popped = thread::scope(|scope| {
            let other = scope.spawn(|| queue.pop());
            [queue.pop(), other.join().unwrap()]
        });
        assert_eq!(popped.into_iter().flatten().collect::<Vec<_>>(), [1]);
    }

    #[mc::test]
    fn a_slot_is_used_again_after_a_round() {
        let queue = Queue::<u32>::new(2);
        let taken = thread::scope(|scope| {
            let consumer = scope.spawn(|| [queue.pop(), queue.pop()]);
            let put = [1, 2, 3].map(|value| queue.push(value).is_ok());
            assert!(put[0] && put[1]);
            consumer.join().unwrap().into_iter().flatten().collect::<Vec<_>>()
        });
        assert_eq!(taken, [1, 2][..taken.len()]);
    }

    #[mc::test(expect = "data_race")]
    fn a_relaxed_hand_over_races() {
        one_goes_through::<RelaxedHandOver>();
    }
}
