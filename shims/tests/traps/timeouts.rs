//! Loops that give up after a time, on the virtual clock.

use std::sync::atomic::AtomicUsize as Plain;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::sync::atomic::{AtomicBool, AtomicUsize};
use mc::sync::{Arc, Condvar, Mutex, RwLock};
use mc::thread;
use mc::time::{Duration, Instant};
use mc_runtime::options::Options;
use mc_runtime::outcome::FailureKind::{Deadlock, Leak, Livelock, LostWakeup, Panic};
use mc_runtime::outcome::Verdict;

use super::{check_with, fails, holds};

#[test]
fn a_loop_that_sleeps_until_a_deadline_reaches_it() {
    fails(Panic, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Release));
        let deadline = Instant::now() + Duration::from_secs(1);
        while !flag.load(Acquire) {
            assert!(Instant::now() < deadline, "too late");
            thread::sleep(Duration::from_millis(300));
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_reader_that_waits_for_itself_to_leave_is_a_deadlock_although_others_look_at_the_time() {
    fails(Deadlock, || {
        let shared = Arc::new((RwLock::new(()), Mutex::new(false), Condvar::new()));
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            let mut done = theirs.1.lock().unwrap();
            while !*done {
                done = theirs.2.wait_timeout(done, Duration::from_secs(1)).unwrap().0;
            }
        });
        let _reader = shared.0.read().unwrap();
        drop(shared.0.write().unwrap());
        *shared.1.lock().unwrap() = true;
        thread.join().unwrap();
    });
}

#[test]
fn a_wait_that_has_a_time_ends_although_nobody_ends_it() {
    holds(|| {
        let (lock, condvar) = (Mutex::new(()), Condvar::new());
        let _late = condvar.wait_timeout(lock.lock().unwrap(), Duration::from_secs(1)).unwrap();
        thread::park_timeout(Duration::from_secs(1));
    });
    // Its end does not help the others.
    fails(Deadlock, || {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        thread::spawn(move || {
            let guard = theirs.lock().unwrap();
            thread::park_timeout(Duration::from_secs(1));
            std::mem::forget(guard);
        });
        drop(lock.lock().unwrap());
    });
}

#[test]
fn a_loop_that_counts_its_sleeps_ends() {
    holds(|| {
        let flag = AtomicBool::new(false);
        let start = Instant::now();
        while !flag.load(Acquire) && start.elapsed() < Duration::from_secs(1) {
            thread::sleep(Duration::from_millis(300));
        }
        assert!(start.elapsed() >= Duration::from_secs(1));
    });
}

#[test]
fn a_loop_that_sleeps_and_looks_at_no_clock_waits() {
    fails(Livelock, || {
        let flag = AtomicBool::new(false);
        while !flag.load(Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
    });
    holds(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_loop_that_only_looks_at_the_clock_is_not_proved_to_end() {
    let options = Options { max_events: 60, ..Options::default() };
    let outcome = check_with(&options, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Release));
        let deadline = Instant::now() + Duration::from_secs(1);
        while !flag.load(Acquire) {
            assert!(Instant::now() < deadline, "real time passes");
        }
        thread.join().unwrap();
    });
    assert_ne!(outcome.verdict, Verdict::Proved);
}

/// Whatever the thread that slept has done since is seen after the sleep.
#[test]
fn what_is_seen_of_a_thread_that_slept_is_seen_after_it() {
    const SECOND: Duration = Duration::from_secs(1);
    holds(|| {
        let start = Instant::now();
        let parked = thread::current();
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            thread::sleep(SECOND);
            theirs.store(true, Relaxed);
            parked.unpark();
        });
        if flag.load(Relaxed) {
            assert!(start.elapsed() >= SECOND);
        }
        thread::park();
        if flag.load(Relaxed) {
            thread::sleep(SECOND);
            assert!(start.elapsed() >= 2 * SECOND);
        }
        thread.join().unwrap();
    });
}

/// In the execution in which its time is over.
#[test]
fn a_leak_beside_whoever_waits_with_a_time_out_is_found() {
    fails(Leak, || {
        std::mem::forget(std::hint::black_box(Box::new(1_u8)));
        thread::park_timeout(Duration::from_secs(1));
    });
}

const SOME: Duration = Duration::from_millis(10);

#[test]
fn who_drops_last_is_seen_by_a_clock() {
    struct Late(Instant);
    impl Drop for Late {
        fn drop(&mut self) {
            assert!(self.0.elapsed() < SOME, "whoever has slept is the last");
        }
    }
    struct Slow;
    impl Drop for Slow {
        fn drop(&mut self) {
            thread::sleep(SOME);
        }
    }
    fails(Panic, || {
        let mine = Arc::new(Late(Instant::now()));
        let theirs = mine.clone();
        let thread = thread::spawn(move || drop(theirs));
        thread::sleep(SOME);
        drop(mine);
        thread.join().unwrap();
    });
    fails(Panic, || {
        let (mine, begin) = (Arc::new(Slow), Instant::now());
        let theirs = mine.clone();
        let thread = thread::spawn(move || drop(theirs));
        drop(mine);
        assert!(begin.elapsed() < SOME, "main is the last");
        thread.join().unwrap();
    });
}

/// Has somebody slept, as seen after each of two joins? `LATE`: which of the two is said not to happen.
fn looks_between_joins<const LATE: bool>() {
    let (first, begin) = (AtomicUsize::new(0), Instant::now());
    let seen = thread::scope(|scope| {
        let sleeps = || {
            if first.swap(1, Relaxed) == 0 {
                thread::sleep(SOME);
            }
        };
        let threads = [scope.spawn(sleeps), scope.spawn(sleeps)];
        threads.map(|thread| {
            thread.join().unwrap();
            begin.elapsed() >= SOME
        })
    });
    assert_ne!(seen, [!LATE, true]);
}

#[test]
fn a_clock_between_two_joins_tells_threads_apart() {
    fails(Panic, looks_between_joins::<false>);
    fails(Panic, looks_between_joins::<true>);
}

/// Is the first one to come the one that was spawned after a sleep? `LATE`: which is said not to happen.
fn sleeps_between_spawns<const LATE: bool>() {
    let (first, begin) = (AtomicUsize::new(0), Instant::now());
    let late = thread::scope(|scope| {
        let comes = || first.swap(1, Relaxed) == 0 && begin.elapsed() >= SOME;
        let one = scope.spawn(comes);
        thread::sleep(SOME);
        let other = scope.spawn(comes);
        one.join().unwrap() | other.join().unwrap()
    });
    assert_ne!(late, LATE);
}

#[test]
fn a_sleep_between_two_spawns_tells_threads_apart() {
    fails(Panic, sleeps_between_spawns::<false>);
    fails(Panic, sleeps_between_spawns::<true>);
}

type Pair = (Mutex<u32>, Condvar);

/// Waits, each time for a second at most, until there are so many.
fn wait_again(pair: &Pair, number: u32) {
    let mut there = pair.0.lock().unwrap();
    while *there < number {
        there = pair.1.wait_timeout(there, Duration::from_secs(1)).unwrap().0;
    }
}

fn add(pair: &Pair) {
    *pair.0.lock().unwrap() += 1;
    pair.1.notify_one();
}

#[test]
fn a_loop_of_waits_that_time_out_waits() {
    holds(|| {
        let pair = Pair::default();
        thread::scope(|scope| {
            scope.spawn(|| add(&pair));
            wait_again(&pair, 1);
        });
    });
    holds(|| {
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            let waits = scope.spawn(|| {
                while !flag.load(Acquire) {
                    thread::park_timeout(Duration::from_secs(1));
                }
            });
            flag.store(true, Release);
            waits.thread().unpark();
        });
    });
}

#[test]
fn who_waits_again_and_again_for_what_does_not_come_waits_for_ever() {
    fails(Livelock, || {
        let pair = Pair::default();
        thread::scope(|scope| {
            scope.spawn(|| pair.1.notify_all());
            wait_again(&pair, 1);
        });
    });
    fails(Livelock, || {
        let flag = AtomicBool::new(false);
        thread::current().unpark();
        while !flag.load(Acquire) {
            thread::park_timeout(Duration::from_secs(1));
        }
    });
}

/// The notification may be that of the waiter whose time is over.
#[test]
fn a_notification_may_be_taken_by_a_wait_that_times_out() {
    fails(LostWakeup, || {
        let pair = Pair::default();
        thread::scope(|scope| {
            scope.spawn(|| wait_again(&pair, 1));
            scope.spawn(|| drop(pair.1.wait_while(pair.0.lock().unwrap(), |there| *there == 0)));
            add(&pair);
        });
    });
}

#[test]
fn a_loop_that_counts_its_waits_gets_to_any_number() {
    fails(Panic, || {
        let pair = Pair::default();
        thread::scope(|scope| {
            scope.spawn(|| add(&pair));
            let mut there = pair.0.lock().unwrap();
            let mut waits = 0;
            while *there == 0 {
                let (again, result) = pair.1.wait_timeout(there, Duration::from_secs(1)).unwrap();
                there = again;
                waits += u32::from(result.timed_out());
                assert!(waits < 5);
            }
        });
    });
    fails(Panic, || {
        let pair = Pair::default();
        thread::scope(|scope| {
            scope.spawn(|| add(&pair));
            let begun = Instant::now();
            let mut there = pair.0.lock().unwrap();
            while *there == 0 {
                there = pair.1.wait_timeout(there, Duration::from_secs(1)).unwrap().0;
            }
            assert!(begun.elapsed() < Duration::from_secs(5));
        });
    });
}

#[test]
fn what_others_see_of_a_loop_of_waits_is_explored() {
    static BUSY: [Plain; 2] = [const { Plain::new(0) }; 2];
    let options = Options { max_events: 100, ..Options::default() };
    let outcome = check_with(&options, || {
        let pair = Pair::default();
        let busy = thread::scope(|scope| {
            let adds = scope.spawn(|| {
                let busy = pair.0.try_lock().is_err();
                add(&pair);
                busy
            });
            wait_again(&pair, 1);
            adds.join().unwrap()
        });
        BUSY[usize::from(busy)].fetch_add(1, Relaxed);
    });
    assert!(outcome.failures.is_empty(), "{outcome:?}");
    assert!(BUSY.iter().all(|busy| busy.load(Relaxed) > 0), "it was free, and it was taken: {BUSY:?}");
}
