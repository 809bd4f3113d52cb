//! `Condvar`, `Barrier`, and time-outs.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicBool, AtomicUsize as Checked};
use mc::sync::{Barrier, Condvar, Mutex, mpsc};
use mc::thread;
use mc::time::{Duration, Instant};
use mc_runtime::options::{Options, Reduction, Reductions};
use mc_runtime::outcome::{FailureKind, Verdict};

use super::{check_with, fails, proved, results};

#[test]
fn a_waiter_is_woken_or_does_not_wait() {
    // The waiter comes second, or first and is notified, or first and finds the value without a notification.
    proved(3, || {
        let (ready, condvar) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                *ready.lock().unwrap() = true;
                condvar.notify_one();
            });
            assert!(*condvar.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap());
        });
    });
}

#[test]
fn nothing_but_the_mutex_orders_what_a_notification_is_about() {
    // As std has it: a notification is told to nobody else, and orders nothing.
    fails(FailureKind::DataRace, || {
        let (condvar, number, noted) = (Condvar::new(), UnsafeCell::new(0), AtomicBool::new(false));
        let number = &Plain(number);
        thread::scope(|scope| {
            scope.spawn(|| {
                number.0.with_mut(|number| {
                    // SAFETY: the checker finds out that it is not.
                    unsafe { *number = 1 };
                });
                condvar.notify_one();
                noted.store(true, Relaxed);
            });
            if noted.load(Relaxed) {
                condvar.notify_one();
                // SAFETY: as above.
                number.0.with(|number| unsafe { *number });
            }
        });
    });
    fails(FailureKind::Panic, || {
        let (condvar, mutex, number, noted) = (Condvar::new(), Mutex::new(()), Checked::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                number.store(1, Relaxed);
                condvar.notify_all();
                noted.store(true, Relaxed);
            });
            if noted.load(Relaxed) {
                let (_guard, result) = condvar.wait_timeout(mutex.lock().unwrap(), Duration::from_millis(1)).unwrap();
                assert!(!result.timed_out() || number.load(Relaxed) == 1);
            }
        });
    });
}

struct Plain(UnsafeCell<u32>);
// SAFETY: accesses are what is checked.
unsafe impl Sync for Plain {}

#[test]
fn a_wait_without_a_condition_may_lose_its_notification() {
    let found = [FailureKind::Deadlock, FailureKind::LostWakeup];
    let outcome = super::check(|| {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| condvar.notify_one());
            drop(condvar.wait(mutex.lock().unwrap()).unwrap());
        });
    });
    assert!(outcome.failures.len() == 1 && found.contains(&outcome.failures[0].kind), "{outcome:?}");
}

#[test]
fn notify_one_may_wake_either_of_two_waiters() {
    static WOKEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let woken = results(&WOKEN, || {
        let (state, condvar) = (Mutex::new((0, None)), Condvar::new());
        thread::scope(|scope| {
            for number in 0..2 {
                let (state, condvar) = (&state, &condvar);
                scope.spawn(move || {
                    let mut state = state.lock().unwrap();
                    state.0 += 1;
                    condvar.notify_all();
                    let mut state = condvar.wait_while(state, |state| state.0 != 3).unwrap();
                    state.1.get_or_insert(number);
                });
            }
            let mut guard = condvar.wait_while(state.lock().unwrap(), |state| state.0 < 2).unwrap();
            guard.0 = 3;
            drop(guard);
            condvar.notify_one();
            condvar.notify_all();
        });
        WOKEN[state.into_inner().unwrap().1.unwrap()].fetch_add(1, Relaxed);
    });
    assert_eq!(woken, [true, true]);
}

#[test]
fn a_time_out_may_come_before_the_notification_or_after() {
    static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let seen = results(&SEEN, || {
        let (ready, condvar) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                *ready.lock().unwrap() = true;
                condvar.notify_one();
            });
            let hour = Duration::from_secs(3600);
            let (guard, result) = condvar.wait_timeout_while(ready.lock().unwrap(), hour, |ready| !*ready).unwrap();
            assert_eq!(result.timed_out(), !*guard);
            SEEN[usize::from(result.timed_out())].fetch_add(1, Relaxed);
        });
    });
    assert_eq!(seen, [true, true]);
}

#[test]
fn a_time_out_moves_the_virtual_clock() {
    proved(1, || {
        let start = Instant::now();
        thread::sleep(Duration::from_secs(3600));
        assert_eq!(start.elapsed(), Duration::from_secs(3600));
    });
}

#[test]
fn a_thread_starts_no_earlier_than_what_its_spawner_has_seen() {
    proved(1, || {
        let second = Duration::from_secs(1);
        let start = Instant::now();
        let (sender, receiver) = mpsc::channel();
        let sleeper = thread::spawn(move || {
            thread::sleep(second);
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        let later = thread::spawn(move || assert!(start.elapsed() >= second));
        sleeper.join().unwrap();
        later.join().unwrap();
    });
}

#[test]
fn a_barrier_has_one_leader_whoever_it_is() {
    // Who comes first.
    proved(2, || {
        let barrier = Barrier::new(2);
        let leaders = thread::scope(|scope| {
            let threads = [0, 1].map(|_| scope.spawn(|| usize::from(barrier.wait().is_leader())));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(leaders[0] + leaders[1], 1);
    });
}

#[test]
fn a_barrier_to_which_somebody_does_not_come_is_a_deadlock() {
    fails(FailureKind::Deadlock, || {
        Barrier::new(2).wait();
    });
}

#[test]
fn a_park_takes_its_token_whenever_it_comes() {
    // Or it returns without one.
    proved(2, || {
        let main = thread::current();
        let thread = thread::spawn(move || main.unpark());
        thread::park();
        thread.join().unwrap();
    });
}

#[test]
fn a_park_without_an_unpark_is_a_deadlock() {
    fails(FailureKind::Deadlock, thread::park);
}

/// The time is over at last: only waiting for ever is no execution.
#[test]
fn whoever_waits_with_a_time_out_is_not_stuck() {
    const SECOND: Duration = Duration::from_secs(1);
    proved(1, || thread::park_timeout(SECOND));
    // Or it wakes for no reason.
    proved(2, || {
        let (lock, condvar) = (Mutex::new(()), Condvar::new());
        drop(condvar.wait_timeout(lock.lock().unwrap(), SECOND).unwrap());
    });
}

/// Nor does it hide who is: there is the execution in which its time is over.
#[test]
fn others_are_stuck_beside_whoever_waits_with_a_time_out() {
    const SECOND: Duration = Duration::from_secs(1);
    fails(FailureKind::Deadlock, || {
        let thread = thread::spawn(thread::park);
        thread::park_timeout(SECOND);
        thread.join().unwrap();
    });
    fails(FailureKind::LostWakeup, || {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| drop(condvar.wait(mutex.lock().unwrap()).unwrap()));
            condvar.notify_one();
            thread::park_timeout(SECOND);
        });
    });
}

/// Two that have taken each other's mutex are stuck whatever others do, even if these wait again and again.
#[test]
fn mutexes_in_two_orders_are_a_deadlock_beside_a_watchdog() {
    fails(FailureKind::Deadlock, || {
        let (a, b, done, condvar) = (Mutex::new(()), Mutex::new(()), Mutex::new(0), Condvar::new());
        let both = |first: &Mutex<()>, second: &Mutex<()>| {
            let _first = first.lock().unwrap();
            drop(second.lock().unwrap());
            *done.lock().unwrap() += 1;
            condvar.notify_one();
        };
        thread::scope(|scope| {
            scope.spawn(|| both(&a, &b));
            scope.spawn(|| both(&b, &a));
            let mut count = done.lock().unwrap();
            while *count < 2 {
                count = condvar.wait_timeout(count, Duration::from_secs(1)).unwrap().0;
            }
        });
    });
}

#[test]
fn a_channel_that_is_waited_at_with_a_time_out_need_get_nothing() {
    proved(1, || {
        let (sender, receiver) = mc::sync::mpsc::channel::<u8>();
        assert!(receiver.recv_timeout(Duration::from_secs(1)).is_err());
        drop(sender);
    });
}

#[test]
fn a_park_with_a_time_out_that_has_its_token_ends_either_way() {
    proved(2, || {
        thread::current().unpark();
        thread::park_timeout(Duration::from_secs(1));
    });
}

#[test]
fn whoever_drops_the_last_handle_of_a_thread_frees_it_after_all_unparks() {
    // Three updates of the token, the park not first: 3! - 2. Or the park returns without one: 2 orders of the others.
    proved(6, || {
        let parked = thread::spawn(thread::park);
        let handle = parked.thread().clone();
        thread::spawn(move || handle.unpark());
        parked.thread().unpark();
    });
}

#[test]
fn who_comes_first_to_a_barrier_makes_no_difference() {
    fn meet<const N: usize>(rounds: usize) {
        let barrier = Barrier::new(N);
        let said = [0; N].map(Checked::new);
        thread::scope(|scope| {
            for me in 0..N {
                let (barrier, said) = (&barrier, &said);
                scope.spawn(move || {
                    for round in 1..=rounds {
                        said[me].store(round, Relaxed);
                        barrier.wait();
                        assert!(said.iter().all(|s| s.load(Relaxed) >= round));
                        barrier.wait();
                    }
                });
            }
        });
    }
    // Nobody can tell the orders apart.
    proved(1, || meet::<6>(2));
    proved(1, || meet::<2>(1));
    let reductions = Reductions::default().without(Reduction::Barrier);
    let all = check_with(&Options { reductions, ..Options::default() }, || meet::<2>(1));
    assert_eq!((all.verdict, all.executions), (Verdict::Proved, 4)); // who comes first, twice
}

#[test]
fn what_comes_before_a_barrier_still_races() {
    fails(FailureKind::DataRace, || {
        let (barrier, cell) = (Barrier::new(2), mc::cell::UnsafeCell::new(0));
        let shared = Shared(&cell);
        thread::scope(|scope| {
            for _ in 0..2 {
                let (barrier, shared) = (&barrier, &shared);
                scope.spawn(move || {
                    shared.0.with_mut(|_| ());
                    barrier.wait();
                });
            }
        });
    });
}

#[test]
fn what_comes_before_a_barrier_happens_before_what_comes_after() {
    proved(1, || {
        let (barrier, cell) = (Barrier::new(3), mc::cell::UnsafeCell::new(0));
        let shared = Shared(&cell);
        thread::scope(|scope| {
            for me in 0..3 {
                let (barrier, shared) = (&barrier, &shared);
                scope.spawn(move || {
                    for round in 0..3 {
                        if me == round {
                            shared.0.with_mut(|_| ());
                        }
                        barrier.wait();
                        shared.0.with(|_| ());
                        barrier.wait();
                    }
                });
            }
        });
    });
}

#[test]
fn it_matters_who_comes_first_when_not_all_can_meet() {
    static MET: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    let met = results(&MET, || {
        let (barrier, first) = (Barrier::new(2), Checked::new(0));
        thread::scope(|scope| {
            for me in 0..3 {
                let (barrier, first) = (&barrier, &first);
                scope.spawn(move || {
                    barrier.wait();
                    first.fetch_or(1 << me, Relaxed);
                });
            }
            // Two of them meet; the third waits for us.
            let seen = loop {
                let seen = first.load(Relaxed);
                if seen.count_ones() == 2 {
                    break seen;
                }
            };
            barrier.wait();
            MET[(7 ^ seen).trailing_zeros() as usize].fetch_add(1, Relaxed);
        });
    });
    assert_eq!(met, [true; 3]);
}

/// Threads that share a cell under the eyes of the checker.
struct Shared<'a>(&'a mc::cell::UnsafeCell<i32>);

// SAFETY: the checker runs one thread at a time, and nothing is done with the pointers.
unsafe impl Sync for Shared<'_> {}
