//! Many threads, and threads that start threads.

use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;

use mc::sync::Arc;
use mc::sync::atomic::AtomicUsize;
use mc::thread;
use mc_runtime::outcome::FailureKind::Contract;

use super::{fails, proved};

fn start<const N: usize>() {
    let threads: Vec<_> = (0..N).map(|n| thread::spawn(move || n)).collect();
    let sum: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(sum, N * (N - 1) / 2);
}

#[test]
fn as_many_threads_as_there_are_arenas_can_be_had() {
    proved(1, start::<8>);
    proved(1, start::<64>);
    proved(1, start::<255>);
    let failure = fails(Contract, start::<300>);
    assert!(failure.message.contains("256 threads"), "{failure:?}");
}

#[test]
fn eight_threads_that_only_read_have_one_execution() {
    proved(1, || {
        let number = Arc::new(AtomicUsize::new(7));
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let number = number.clone();
                thread::spawn(move || assert_eq!(number.load(Relaxed), 7))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn children_add_in_every_order() {
    // Two threads, each with a child; all four additions are unordered: 4!.
    proved(24, || {
        let count = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1].map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                let theirs = count.clone();
                let child = thread::spawn(move || theirs.fetch_add(1, Relaxed));
                count.fetch_add(1, Relaxed);
                child.join().unwrap();
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(count.load(Relaxed), 4);
    });
}

#[test]
fn parents_that_add_first_come_before_their_children() {
    // 4! / (2 * 2), and half of that, since the two parents are alike.
    proved(3, || {
        let count = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1].map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                let theirs = count.clone();
                count.fetch_add(1, Relaxed);
                let child = thread::spawn(move || theirs.fetch_add(1, Relaxed));
                child.join().unwrap();
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn children_that_are_joined_first_come_before_their_parents() {
    proved(6, || {
        let count = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1].map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                let theirs = count.clone();
                thread::spawn(move || theirs.fetch_add(1, Relaxed)).join().unwrap();
                count.fetch_add(1, Relaxed);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_chain_of_threads_has_the_executions_of_a_flat_program() {
    fn flat() {
        let count = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1, 2, 3].map(|_| {
            let count = count.clone();
            thread::spawn(move || black_box(count.fetch_add(1, Relaxed)))
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(count.load(Relaxed), 4);
    }
    fn link(count: &Arc<AtomicUsize>, left: usize) {
        if left > 0 {
            let theirs = count.clone();
            let next = thread::spawn(move || link(&theirs, left - 1));
            black_box(count.fetch_add(1, Relaxed));
            next.join().unwrap();
        }
    }
    fn chain() {
        let count = Arc::new(AtomicUsize::new(0));
        link(&count, 4);
        assert_eq!(count.load(Relaxed), 4);
    }
    proved(24, flat);
    proved(24, chain);
}

#[test]
fn a_thread_that_is_started_only_if_a_value_is_seen_is_known_by_its_spawn() {
    // The reader sees 0, 1 or 2, and starts a thread for 1 and 2; that one reads what may not be older.
    // 0: one. 1: the child sees 1 or 2. 2: one.
    proved(4, || {
        let number = Arc::new(AtomicUsize::new(0));
        let (writes, reads) = (number.clone(), number);
        let writer = thread::spawn(move || {
            writes.store(1, Relaxed);
            writes.store(2, Relaxed);
        });
        let reader = thread::spawn(move || {
            let seen = reads.load(Relaxed);
            if seen > 0 {
                let child = thread::spawn(move || reads.load(Relaxed));
                assert!(child.join().unwrap() >= seen);
            }
        });
        writer.join().unwrap();
        reader.join().unwrap();
    });
}
