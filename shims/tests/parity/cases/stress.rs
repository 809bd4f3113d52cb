// Many rounds on real threads: what holds at every moment, and that nobody waits for ever.

use std::collections::VecDeque;
use std::time::Duration;

use subject::cell::RefCell;
use subject::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use subject::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
use subject::thread;

const THREADS: usize = 4;
const ROUNDS: usize = 2_000;

/// What runs on each of the threads, with its number.
fn on_all(work: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        let work = &work;
        (0..THREADS).for_each(|n| drop(scope.spawn(move || work(n))));
    });
}

#[test]
fn a_queue_of_a_mutex_and_two_condvars() {
    let queue = Mutex::new(VecDeque::new());
    let (has_items, has_room) = (Condvar::new(), Condvar::new());
    let taken = AtomicUsize::new(0);
    on_all(|n| {
        for round in 0..ROUNDS {
            if n % 2 == 0 {
                let mut items = has_room.wait_while(queue.lock().unwrap(), |items| items.len() == 3).unwrap();
                items.push_back(round);
                has_items.notify_one();
            } else {
                let mut items = queue.lock().unwrap();
                let item = loop {
                    match items.pop_front() {
                        Some(item) => break item,
                        None => items = has_items.wait_timeout(items, Duration::from_secs(5)).unwrap().0,
                    }
                };
                drop(items);
                taken.fetch_add(item, Relaxed);
                has_room.notify_all();
            }
        }
    });
    assert_eq!(taken.load(Relaxed), THREADS / 2 * (0..ROUNDS).sum::<usize>());
    assert!(queue.into_inner().unwrap().is_empty());
}

#[test]
fn a_writer_is_alone() {
    let both = RwLock::new((0, 0));
    let readers = AtomicUsize::new(0);
    on_all(|n| {
        for round in 0..ROUNDS {
            if (n + round) % 3 == 0 {
                let mut held = both.write().unwrap();
                assert_eq!(readers.load(Relaxed), 0);
                held.0 += 1;
                held.1 += 1;
            } else if let Ok(held) = both.try_read().or_else(|_| both.read()) {
                readers.fetch_add(1, Relaxed);
                assert_eq!(held.0, held.1);
                readers.fetch_sub(1, Relaxed);
            }
        }
    });
    let rounds = (0..THREADS).map(|n| (0..ROUNDS).filter(|round| (n + round) % 3 == 0).count()).sum();
    assert_eq!(both.into_inner().unwrap(), (rounds, rounds));
}

#[test]
fn tokens_go_to_and_fro() {
    let turn = Arc::new(AtomicUsize::new(0));
    let main = thread::current();
    let theirs = turn.clone();
    let other = thread::spawn(move || {
        for round in 0..ROUNDS {
            while theirs.load(Acquire) != 2 * round + 1 {
                thread::park();
            }
            theirs.store(2 * round + 2, Release);
            main.unpark();
        }
    });
    for round in 0..ROUNDS {
        turn.store(2 * round + 1, Release);
        other.thread().unpark();
        while turn.load(Acquire) != 2 * round + 2 {
            thread::park_timeout(Duration::from_secs(5));
        }
    }
    other.join().unwrap();
}

type Send = Box<dyn Fn(usize, usize) + std::marker::Send>;

fn messages_arrive_in_order(senders: Vec<Send>, receiver: mpsc::Receiver<(usize, usize)>) {
    let mut last = [None; THREADS];
    thread::scope(|scope| {
        for (n, send) in senders.into_iter().enumerate() {
            scope.spawn(move || (0..ROUNDS).for_each(|round| send(n, round)));
        }
        for (n, round) in receiver {
            assert!(last[n] < Some(round));
            last[n] = Some(round);
        }
    });
    assert_eq!(last, [Some(ROUNDS - 1); THREADS]);
}

#[test]
fn messages_arrive_in_the_order_of_their_sender() {
    let (sender, receiver) = mpsc::channel();
    let of = |sender: mpsc::Sender<_>| Box::new(move |n, round| sender.send((n, round)).unwrap()) as Send;
    let senders = (0..THREADS).map(|_| of(sender.clone())).collect();
    drop(sender);
    messages_arrive_in_order(senders, receiver);
    for bound in [0, 1, 64] {
        let (sender, receiver) = mpsc::sync_channel(bound);
        let of = |sender: mpsc::SyncSender<_>| Box::new(move |n, round| sender.send((n, round)).unwrap()) as Send;
        let senders = (0..THREADS).map(|_| of(sender.clone())).collect();
        drop(sender);
        messages_arrive_in_order(senders, receiver);
    }
}

#[test]
fn each_round_of_a_barrier_has_one_leader_and_each_once_runs_once() {
    let barrier = Barrier::new(THREADS);
    let onces: Vec<_> = (0..ROUNDS).map(|_| Once::new()).collect();
    let (leaders, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
    on_all(|_| {
        for once in &onces {
            if barrier.wait().is_leader() {
                leaders.fetch_add(1, Relaxed);
            }
            once.call_once(|| {
                calls.fetch_add(1, Relaxed);
            });
        }
    });
    assert_eq!((leaders.into_inner(), calls.into_inner()), (ROUNDS, ROUNDS));
}

#[test]
fn a_cell_and_a_lazy_value_are_made_once_for_all() {
    let made = AtomicUsize::new(0);
    let make = || Box::new(made.fetch_add(1, Relaxed));
    let cells: Vec<_> = (0..ROUNDS).map(|_| (OnceLock::new(), LazyLock::new(make))).collect();
    let sums: Vec<_> = (0..THREADS).map(|_| AtomicUsize::new(0)).collect();
    on_all(|n| {
        for (cell, lazy) in &cells {
            sums[n].fetch_add(**cell.get_or_init(make) + ***lazy, Relaxed);
        }
    });
    assert_eq!(made.load(Relaxed), 2 * ROUNDS);
    let all = (0..2 * ROUNDS).sum::<usize>();
    assert!(sums.into_iter().all(|sum| sum.into_inner() == all));
}

#[test]
fn what_a_thread_has_for_itself_is_dropped_before_its_join() {
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    struct Live(Box<usize>);
    impl Drop for Live {
        fn drop(&mut self) {
            LIVE.fetch_sub(*self.0, Relaxed);
        }
    }
    subject::thread_local! {
        static OWN: RefCell<Option<Live>> = const { RefCell::new(None) };
    }
    for _ in 0..ROUNDS / 20 {
        let start = |n| {
            thread::spawn(move || {
                LIVE.fetch_add(n, Relaxed);
                OWN.set(Some(Live(Box::new(n))));
            })
        };
        let threads: Vec<_> = (1..=THREADS).map(start).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(LIVE.load(Relaxed), 0);
    }
}

#[test]
fn what_is_upgraded_is_alive() {
    struct Live(Box<AtomicBool>);
    impl Drop for Live {
        fn drop(&mut self) {
            self.0.store(false, Relaxed);
        }
    }
    for _ in 0..ROUNDS / 10 {
        let owner = Arc::new(Live(Box::new(AtomicBool::new(true))));
        let weak = Arc::downgrade(&owner);
        let owner = Mutex::new(Some(owner));
        on_all(|n| {
            if n == 0 {
                drop(owner.lock().unwrap().take());
            } else {
                while let Some(live) = Weak::upgrade(&weak) {
                    assert!(live.0.load(Relaxed));
                    drop(live);
                    thread::yield_now();
                }
            }
        });
    }
}
