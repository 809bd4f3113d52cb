//! Loops that wait for another thread, and loops that only look as if they did.

use std::cell::Cell;
use std::sync::atomic::AtomicUsize as Plain;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::hint::spin_loop;
use mc::sync::atomic::{AtomicBool, AtomicUsize};
use mc::sync::{Arc, Mutex};
use mc::thread;
use mc_runtime::outcome::FailureKind::{Livelock, Panic};

use super::{fails, holds, proved};

/// Waits for a flag; whether it saw it.
type Loop = fn(&AtomicBool) -> bool;

/// `wait` is called with a flag that another thread sets, and returns whether it saw it; it gives up by itself otherwise.
/// Both must be found: that it saw it, and that it gave up.
#[track_caller]
fn gives_up(wait: Loop) {
    static WAIT: std::sync::Mutex<Option<Loop>> = std::sync::Mutex::new(None);
    static SEEN: [Plain; 2] = [const { Plain::new(0) }; 2];
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *WAIT.lock().unwrap() = Some(wait);
    SEEN.iter().for_each(|seen| seen.store(0, Relaxed));
    holds(|| {
        let wait = WAIT.lock().unwrap().unwrap();
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Release));
        SEEN[usize::from(wait(&flag))].fetch_add(1, Relaxed);
        thread.join().unwrap();
    });
    assert!(SEEN.iter().all(|seen| seen.load(Relaxed) > 0), "gave up, saw: {SEEN:?}");
}

#[test]
fn a_loop_that_gives_up_after_some_rounds_gives_up() {
    gives_up(|flag| (0..3).any(|_| flag.load(Acquire)));
    gives_up(|flag| {
        let mut left = 5;
        while !flag.load(Acquire) {
            spin_loop();
            left -= 1;
            if left == 0 {
                return false;
            }
        }
        true
    });
}

#[test]
fn a_counter_in_a_box_counts() {
    gives_up(|flag| {
        let mut rounds = Box::new(0);
        while !flag.load(Acquire) {
            *rounds += 1;
            if *rounds == 4 {
                return false;
            }
        }
        true
    });
}

#[test]
fn a_counter_in_a_vector_that_is_made_anew_counts() {
    gives_up(|flag| {
        let mut rounds = Vec::new();
        while !flag.load(Acquire) {
            rounds = vec![0; rounds.len() + 1];
            if rounds.len() == 4 {
                return false;
            }
        }
        true
    });
}

#[test]
fn a_counter_in_a_thread_local_counts() {
    gives_up(|flag| {
        std::thread_local!(static ROUNDS: Cell<u32> = const { Cell::new(0) });
        ROUNDS.set(0);
        while !flag.load(Acquire) {
            ROUNDS.set(ROUNDS.get() + 1);
            if ROUNDS.get() == 4 {
                return false;
            }
        }
        true
    });
    gives_up(|flag| {
        mc::thread_local!(static ROUNDS: Cell<u32> = const { Cell::new(0) });
        while !flag.load(Acquire) {
            ROUNDS.set(ROUNDS.get() + 1);
            if ROUNDS.get() == 4 {
                return false;
            }
        }
        true
    });
}

#[test]
fn a_counter_in_a_static_counts() {
    gives_up(|flag| {
        static ROUNDS: Plain = Plain::new(0);
        ROUNDS.store(0, Relaxed);
        while !flag.load(Acquire) {
            if ROUNDS.fetch_add(1, Relaxed) == 3 {
                return false;
            }
        }
        true
    });
    gives_up(|flag| {
        static mut ROUNDS: u32 = 0;
        let rounds = &raw mut ROUNDS;
        // SAFETY: used by this loop only, in one thread at a time.
        unsafe {
            rounds.write(0);
            while !flag.load(Acquire) {
                rounds.write(rounds.read() + 1);
                if rounds.read() == 4 {
                    return false;
                }
            }
        }
        true
    });
}

#[test]
fn a_counter_on_another_thread_s_heap_counts() {
    proved(1, || {
        let mut rounds = Box::new(0);
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !flag.load(Acquire) {
                    *rounds += 1;
                    if *rounds == 4 {
                        return;
                    }
                }
            });
        });
        assert_eq!(*rounds, 4);
    });
}

#[test]
fn a_counter_on_another_thread_s_stack_counts() {
    proved(1, || {
        let mut rounds = 0;
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !flag.load(Acquire) {
                    rounds += 1;
                    if rounds == 4 {
                        return;
                    }
                }
            });
        });
        assert_eq!(rounds, 4);
    });
}

#[test]
fn what_a_loop_does_after_it_gave_up_on_another_thread_s_stack_is_found() {
    fails(Panic, || {
        let mut rounds = [0; 4];
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            let (rounds, flag) = (&mut rounds, &flag);
            scope.spawn(move || {
                while !flag.load(Acquire) {
                    rounds[2] += 1;
                    assert!(rounds[2] < 4, "gave up");
                }
            });
            scope.spawn(move || flag.store(true, Release));
        });
    });
}

#[test]
fn a_loop_without_a_way_out_waits() {
    fn waits(wait: fn(&AtomicBool)) -> bool {
        gives_up_never(wait)
    }
    assert!(waits(|flag| while !flag.load(Acquire) {}));
    assert!(waits(|flag| while !flag.load(Acquire) {
        thread::yield_now();
    }));
    assert!(waits(|flag| while !flag.load(Acquire) {
        drop(vec![1, 2, 3]);
    }));
    assert!(waits(|flag| while flag.compare_exchange(true, false, AcqRel, Acquire).is_err() {
        spin_loop();
    }));
    assert!(waits(|flag| loop {
        while !flag.load(Relaxed) {}
        if flag.load(Acquire) {
            break;
        }
    }));
    // Waits longer and longer, up to a limit.
    assert!(waits(|flag| {
        let mut step = 0_u32;
        while !flag.load(Acquire) {
            (0..1 << step.min(3)).for_each(|_| spin_loop());
            if step <= 6 {
                step += 1;
            }
        }
    }));
}

/// Another thread sets the flag, so every execution ends.
fn gives_up_never(wait: fn(&AtomicBool)) -> bool {
    static WAIT: std::sync::Mutex<Option<fn(&AtomicBool)>> = std::sync::Mutex::new(None);
    *WAIT.lock().unwrap() = Some(wait);
    let set = holds(|| {
        let wait = WAIT.lock().unwrap().unwrap();
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Release));
        wait(&flag);
        thread.join().unwrap();
    });
    // Nobody does.
    fails(Livelock, || {
        let wait = WAIT.lock().unwrap().unwrap();
        wait(&AtomicBool::new(false));
    });
    set > 0
}

#[test]
fn a_loop_may_wait_for_two_flags() {
    holds(|| {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let threads = [0, 1].map(|n| {
            let flags = flags.clone();
            thread::spawn(move || flags[n].store(true, Release))
        });
        while !(flags[0].load(Acquire) && flags[1].load(Acquire)) {}
        for thread in threads {
            thread.join().unwrap();
        }
    });
    fails(Livelock, || {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let theirs = flags.clone();
        let thread = thread::spawn(move || theirs[1].store(true, Release));
        while !(flags[0].load(Acquire) && flags[1].load(Acquire)) {}
        thread.join().unwrap();
    });
}

#[test]
fn a_lock_that_spins_excludes() {
    holds(|| {
        let (lock, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let threads = [0, 1].map(|_| {
            let (lock, count) = (lock.clone(), count.clone());
            thread::spawn(move || {
                while lock.swap(true, Acquire) {}
                count.store(count.load(Relaxed) + 1, Relaxed);
                lock.store(false, Release);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(count.load(Relaxed), 2);
    });
}

#[test]
fn a_lock_that_nobody_releases_is_a_livelock() {
    fails(Livelock, || {
        let lock = Arc::new(AtomicBool::new(false));
        let threads = [0, 1].map(|_| {
            let lock = lock.clone();
            thread::spawn(move || while lock.swap(true, Acquire) {})
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn two_threads_that_wait_for_each_other_by_spinning_are_a_livelock() {
    fails(Livelock, || {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let threads = [0, 1].map(|n| {
            let flags = flags.clone();
            thread::spawn(move || {
                while !flags[1 - n].load(Acquire) {}
                flags[n].store(true, Release);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_bug_behind_a_loop_is_found() {
    fails(Panic, || {
        let (flag, data) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (theirs, their_data) = (flag.clone(), data.clone());
        let thread = thread::spawn(move || {
            their_data.store(42, Relaxed);
            theirs.store(true, Relaxed);
        });
        while !flag.load(Acquire) {}
        assert_eq!(data.load(Relaxed), 42);
        thread.join().unwrap();
    });
}

#[test]
fn a_loop_that_counts_in_a_shared_atomic_has_an_effect() {
    proved(1, || {
        let (flag, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
        while !flag.load(Relaxed) {
            if rounds.fetch_add(1, Relaxed) == 3 {
                flag.store(true, Relaxed);
            }
        }
    });
}

/// Each round of the loop has an effect: it takes the lock. Whoever it waits for has to come to its turn nevertheless.
#[test]
fn a_loop_that_does_not_wait_leaves_others_their_turn() {
    fails(Panic, || {
        let (mutex, done) = (Mutex::new(()), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _held = mutex.lock().unwrap();
                done.store(true, Release);
            });
            loop {
                match mutex.try_lock() {
                    Ok(_) if done.load(Acquire) => break,
                    Ok(_) => {}
                    Err(_) => panic!("it is taken"),
                }
            }
        });
    });
}
