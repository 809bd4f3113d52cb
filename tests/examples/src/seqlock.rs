//! Words that are read without writing anything: a reader starts again if a writer was there in the meantime.
//!
//! Source: H. Boehm, "Can Seqlocks Get Along with Programming Language Memory Models?", MSPC 2012 (fig. 6 for the reader).
//! Mistakes: the reader validates with an acquiring load for want of a fence, which the paper warns of; the writer has no
//! release fence (the discussion of crossbeam-utils pull request 39).

use std::marker::PhantomData;

use mc::hint;
use mc::sync::atomic::{AtomicUsize, Ordering, fence};

use crate::Correct;

/// What keeps the words between the two looks at the sequence number.
pub trait Orders {
    /// The second look of a reader.
    fn validate(sequence: &AtomicUsize) -> usize {
        fence(Ordering::Acquire);
        sequence.load(Ordering::Relaxed)
    }

    /// Between a writer's first store to the sequence number and its words.
    fn begin_write() {
        fence(Ordering::Release);
    }
}

impl Orders for Correct {}

/// An acquiring load keeps nothing behind that stands *before* it.
#[derive(Clone, Copy, Debug)]
pub struct NoReaderFence;

impl Orders for NoReaderFence {
    fn validate(sequence: &AtomicUsize) -> usize {
        sequence.load(Ordering::Acquire)
    }
}

/// Words may be seen before the odd sequence number that should tell of them.
#[derive(Clone, Copy, Debug)]
pub struct NoWriterFence;

impl Orders for NoWriterFence {
    fn begin_write() {}
}

/// `N` words, read and written together.
pub struct SeqLock<const N: usize, O = Correct> {
    /// Odd while somebody writes.
    sequence: AtomicUsize,
    words: [AtomicUsize; N],
    orders: PhantomData<fn() -> O>,
}

impl<const N: usize, O: Orders> SeqLock<N, O> {
    /// With these words.
    pub fn new(words: [usize; N]) -> Self {
        Self { sequence: AtomicUsize::new(0), words: words.map(AtomicUsize::new), orders: PhantomData }
    }

    /// The words as some writer left them, unless a writer is in the way.
    pub fn try_read(&self) -> Option<[usize; N]> {
        let before = self.sequence.load(Ordering::Acquire);
        if before % 2 == 1 {
            return None;
        }
        let words = self.words.each_ref().map(|word| word.load(Ordering::Relaxed));
        (O::validate(&self.sequence) == before).then_some(words)
    }

    /// The words as some writer left them.
    pub fn read(&self) -> [usize; N] {
        loop {
            if let Some(words) = self.try_read() {
                return words;
            }
            hint::spin_loop();
        }
    }

    /// Replaces the words.
    pub fn write(&self, words: [usize; N]) {
        let mut sequence = self.sequence.load(Ordering::Relaxed);
        loop {
            let odd = sequence | 1;
            if sequence == odd {
                hint::spin_loop();
                sequence = self.sequence.load(Ordering::Relaxed);
                continue;
            }
            match self.sequence.compare_exchange(sequence, odd, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(newer) => sequence = newer,
            }
        }
        O::begin_write();
        for (word, value) in self.words.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
        self.sequence.store(sequence.wrapping_add(2), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use mc::thread;

    use super::*;

    fn a_reader_sees_words_of_one_writer<O: Orders>() {
        let lock = SeqLock::<2, O>::new([0, 0]);
        thread::scope(|scope| {
            scope.spawn(|| lock.write([1, 1]));
            if let Some([a, b]) = lock.try_read() {
                assert_eq!(a, b);
            }
        });
        assert_eq!(lock.read(), [1, 1]);
    }

    #[mc::test]
    fn reads_are_never_torn() {
        a_reader_sees_words_of_one_writer::<Correct>();
    }

    #[mc::test]
    fn writers_exclude_each_other() {
        let lock = SeqLock::<2>::new([0, 0]);
        thread::scope(|scope| {
            scope.spawn(|| lock.write([1, 1]));
            lock.write([2, 2]);
        });
        let [a, b] = lock.read();
        assert_eq!(a, b);
    }

    #[mc::test]
    fn a_reader_among_two_writers_sees_one_of_them() {
        let lock = SeqLock::<2>::new([0, 0]);
        thread::scope(|scope| {
            for value in [1, 2] {
                scope.spawn({
                    let lock = &lock;
                    move || lock.write([value, value])
                });
            }
            if let Some([a, b]) = lock.try_read() {
                assert_eq!(a, b);
            }
        });
    }

    #[mc::test]
    fn a_reader_waits_for_the_writer() {
        let lock = SeqLock::<2>::new([0, 0]);
        thread::scope(|scope| {
            scope.spawn(|| lock.write([1, 1]));
            let [a, b] = lock.read();
            assert_eq!(a, b);
        });
    }

    #[mc::test(expect = "panic")]
    fn without_the_fence_of_the_reader_a_read_is_torn() {
        a_reader_sees_words_of_one_writer::<NoReaderFence>();
    }

    #[mc::test(expect = "panic")]
    fn without_the_fence_of_the_writer_a_read_is_torn() {
        a_reader_sees_words_of_one_writer::<NoWriterFence>();
    }
}
