//! What is wrong with a round that leads nowhere is found although it is left out, and nothing that is right is called wrong.

use std::hint::black_box;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::sync::Arc;
use mc::sync::atomic::{AtomicU8, AtomicUsize};
use mc::thread;
use mc_runtime::options::{Options, Reduction, Reductions};
use mc_runtime::outcome::FailureKind::{self, DataRace, DoubleFree, UseAfterFree};

use super::{atomics, common};

/// With and without the reduction, that is what is wrong.
#[track_caller]
fn is_found(kind: Option<FailureKind>, body: fn()) {
    let retry = Reductions::default().without(Reduction::Retry);
    for reductions in [Reductions::default(), retry, retry.without(Reduction::All)] {
        let outcome = common::explore(&Options { reductions, ..Options::default() }, body);
        assert_eq!(outcome.failures.first().map(|failure| failure.kind), kind, "{reductions:?} {outcome:?}");
    }
}

#[test]
fn what_is_freed_once_before_the_loop_is_not_freed_twice() {
    alone!();
    is_found(None, || {
        let count = atomics([0]);
        let theirs = count.clone();
        let other = thread::spawn(move || black_box(theirs[0].fetch_add(1, Relaxed)));
        let boxed = black_box(Box::new(1_usize));
        let mut old = count[0].load(Relaxed);
        drop(boxed);
        while let Err(newer) = count[0].compare_exchange(old, old + 2, Relaxed, Relaxed) {
            old = newer;
        }
        other.join().unwrap();
    });
}

/// Another thread changes the location; what is called frees a box each time, and is called once afterwards.
fn free_again(retry: impl FnOnce(&AtomicUsize, &dyn Fn())) {
    let count = atomics([0]);
    let theirs = count.clone();
    let other = thread::spawn(move || black_box(theirs[0].fetch_add(1, Relaxed)));
    let boxed = black_box(Box::into_raw(Box::new(0_u64)));
    // SAFETY: none, which is what is to be found.
    let free = || drop(unsafe { Box::from_raw(boxed) });
    retry(&count[0], &free);
    free();
    other.join().unwrap();
}

#[test]
fn what_each_round_frees_is_freed_twice() {
    alone!();
    is_found(Some(DoubleFree), || {
        free_again(|count, free| {
            let mut old = count.load(Relaxed);
            while let Err(newer) = count.compare_exchange(old, old + 2, Relaxed, Relaxed) {
                free();
                old = newer;
            }
        });
    });
    is_found(Some(DoubleFree), || {
        free_again(|count, free| {
            while count.compare_exchange(count.load(Relaxed), 2, Relaxed, Relaxed).is_err() {
                free();
            }
        });
    });
}

/// A cell, a location, and whether the first thread has done what it does.
struct Shared {
    cell: UnsafeCell<usize>,
    count: AtomicUsize,
    done: AtomicUsize,
}

// SAFETY: none, which is what is to be found.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    fn look(&self) {
        // SAFETY: as above.
        self.cell.with(|at| black_box(unsafe { *at }));
    }

    /// Another thread writes to the cell once it sees that this one is done; nothing orders that.
    fn race(retry: impl FnOnce(&Shared)) {
        let (count, done) = Default::default();
        let shared = Arc::new(Shared { cell: UnsafeCell::new(0), count, done });
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.count.store(5, Relaxed);
            if theirs.done.load(Relaxed) == 1 {
                // SAFETY: as above.
                theirs.cell.with_mut(|at| unsafe { *at = 1 });
            }
        });
        retry(&shared);
        shared.done.store(1, Relaxed);
        other.join().unwrap();
    }
}

#[test]
fn a_race_with_what_only_such_a_round_reads_is_found() {
    alone!();
    is_found(Some(DataRace), || {
        Shared::race(|shared| {
            let mut old = shared.count.load(Relaxed);
            while let Err(newer) = shared.count.compare_exchange(old, old + 1, Relaxed, Relaxed) {
                shared.look();
                old = newer;
            }
        });
    });
    is_found(Some(DataRace), || {
        Shared::race(|shared| {
            loop {
                let old = shared.count.load(Relaxed);
                if shared.count.compare_exchange(old, old + 1, Relaxed, Relaxed).is_ok() {
                    break;
                }
                shared.look();
            }
        });
    });
    is_found(Some(DataRace), || {
        Shared::race(|shared| {
            while shared.count.load(Relaxed) == 0 {
                shared.look();
            }
        });
    });
    is_found(Some(DataRace), || {
        Shared::race(|shared| {
            while shared.count.compare_exchange(5, 6, Relaxed, Relaxed).is_err() {
                shared.look();
            }
        });
    });
}

/// Its first byte.
fn part_of(whole: &AtomicUsize) -> &AtomicU8 {
    // SAFETY: it lives as long; that it is accessed by itself, too, is what is tested.
    unsafe { AtomicU8::from_ptr(ptr::from_ref(whole).cast_mut().cast()) }
}

/// An atomic, a part of it, and what `race` needs to have the part loaded in rounds only, and the atomic stored to once the loop is over; nothing orders the two.
fn race_of_sizes(retry: impl FnOnce(&AtomicUsize, &AtomicU8), store: fn(&AtomicUsize, &AtomicU8)) {
    let values = atomics([0, 0, 0]);
    let theirs = values.clone();
    let other = thread::spawn(move || {
        theirs[0].store(5, Relaxed);
        if theirs[1].load(Relaxed) == 1 {
            store(&theirs[2], part_of(&theirs[2]));
        }
    });
    retry(&values[0], part_of(&values[2]));
    values[1].store(1, Relaxed);
    other.join().unwrap();
}

#[test]
fn a_race_with_a_part_that_only_such_a_round_reads_is_found() {
    alone!();
    fn exchange(count: &AtomicUsize, part: &AtomicU8) {
        let mut old = count.load(Relaxed);
        while let Err(newer) = count.compare_exchange(old, old + 1, Relaxed, Relaxed) {
            black_box(part.load(Relaxed));
            old = newer;
        }
    }
    fn wait(count: &AtomicUsize, part: &AtomicU8) {
        while count.load(Relaxed) == 0 {
            black_box(part.load(Relaxed));
        }
    }
    fn wait_to_exchange(count: &AtomicUsize, part: &AtomicU8) {
        while count.compare_exchange(5, 6, Relaxed, Relaxed).is_err() {
            black_box(part.load(Relaxed));
        }
    }
    fn wait_and_look(count: &AtomicUsize, part: &AtomicU8) {
        while count.load(Relaxed) == 0 {
            part.load(Relaxed);
        }
    }
    fn store_whole(whole: &AtomicUsize, _: &AtomicU8) {
        whole.store(1, Relaxed);
    }
    fn store_part(_: &AtomicUsize, part: &AtomicU8) {
        part.store(1, Relaxed);
    }
    is_found(Some(DataRace), || race_of_sizes(exchange, store_whole));
    is_found(Some(DataRace), || race_of_sizes(wait, store_whole));
    is_found(Some(DataRace), || race_of_sizes(wait_to_exchange, store_whole));
    is_found(Some(DataRace), || race_of_sizes(wait_and_look, store_whole));
    is_found(None, || race_of_sizes(exchange, store_part));
    is_found(None, || race_of_sizes(wait, store_part));
    is_found(None, || race_of_sizes(wait_to_exchange, store_part));
    is_found(None, || race_of_sizes(wait_and_look, store_part));
}

/// One thread goes round until it is done, which the body says at once; another does something that is not ordered with a round.
fn beside_rounds(wait: fn(&Shared), other: fn(&Shared)) {
    let (count, done) = Default::default();
    let shared = Arc::new(Shared { cell: UnsafeCell::new(0), count, done });
    let [waiting, theirs] = [shared.clone(), shared.clone()];
    let waiting = thread::spawn(move || wait(&waiting));
    let other = thread::spawn(move || other(&theirs));
    shared.done.store(1, Relaxed);
    waiting.join().unwrap();
    other.join().unwrap();
}

/// The round that is left out saw an old value, so that the thread could go on without it.
#[test]
fn a_race_with_what_a_round_reads_that_saw_an_old_value_is_found() {
    alone!();
    fn wait(shared: &Shared, round: fn(&Shared)) {
        while shared.done.load(Relaxed) == 0 {
            round(shared);
        }
    }
    fn write(shared: &Shared) {
        // SAFETY: none, which is what is to be found.
        shared.cell.with_mut(|at| unsafe { *at = 1 });
    }
    fn look_at_part(shared: &Shared) {
        black_box(part_of(&shared.count).load(Relaxed));
    }
    fn load_part(shared: &Shared) {
        part_of(&shared.count).load(Relaxed);
    }
    fn store(shared: &Shared) {
        shared.count.store(1, Relaxed);
    }
    is_found(Some(DataRace), || beside_rounds(|shared| wait(shared, Shared::look), write));
    is_found(None, || beside_rounds(|shared| wait(shared, Shared::look), Shared::look));
    is_found(Some(DataRace), || beside_rounds(|shared| wait(shared, look_at_part), store));
    is_found(Some(DataRace), || beside_rounds(|shared| wait(shared, load_part), store));
    is_found(Some(DataRace), || {
        beside_rounds(
            |shared| {
                while shared.done.compare_exchange(1, 2, Relaxed, Relaxed).is_err() {
                    shared.look()
                }
            },
            write,
        );
    });
}

#[test]
fn memory_that_a_round_reads_that_saw_an_old_value_is_not_freed_too_early() {
    alone!();
    is_found(Some(UseAfterFree), || {
        let values = atomics([0, 0]);
        let [freeing, waiting, going] = [values.clone(), values.clone(), values];
        let boxed = Box::into_raw(Box::new(UnsafeCell::new(0_usize))).expose_provenance();
        let freeing = thread::spawn(move || {
            freeing[0].store(1, Relaxed);
            while freeing[1].load(Acquire) == 0 {}
            // SAFETY: made above, and freed once.
            drop(unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<UnsafeCell<usize>>(boxed)) });
        });
        let waiting = thread::spawn(move || {
            while waiting[0].load(Relaxed) == 0 {
                // SAFETY: none, which is what is to be found.
                let cell = unsafe { &*ptr::with_exposed_provenance::<UnsafeCell<usize>>(boxed) };
                // SAFETY: as above.
                cell.with(|at| black_box(unsafe { *at }));
            }
        });
        let going = thread::spawn(move || going[1].store(1, Release));
        for thread in [freeing, waiting, going] {
            thread.join().unwrap();
        }
    });
}

/// Two threads with an atomic.
fn both(one: fn(&AtomicUsize), other: fn(&AtomicUsize)) {
    let values = atomics([0]);
    let theirs = values.clone();
    let one = thread::spawn(move || one(&values[0]));
    let other = thread::spawn(move || other(&theirs[0]));
    one.join().unwrap();
    other.join().unwrap();
}

#[test]
fn a_race_of_sizes_with_a_read_that_waits_is_found() {
    alone!();
    fn store_both(whole: &AtomicUsize) {
        whole.store(0x100, Relaxed);
        part_of(whole).store(1, Release);
    }
    is_found(Some(DataRace), || both(|whole| while part_of(whole).load(Acquire) == 0 {}, store_both));
    is_found(Some(DataRace), || {
        both(|whole| while part_of(whole).compare_exchange(1, 2, Acquire, Relaxed).is_err() {}, store_both);
    });
    is_found(Some(DataRace), || {
        both(
            |whole| while whole.load(Acquire) != 0x100 {},
            |whole| {
                part_of(whole).store(0, Relaxed);
                whole.store(0x100, Release);
            },
        );
    });
}

#[test]
fn memory_that_only_such_a_round_reads_is_not_freed_too_early() {
    alone!();
    is_found(Some(UseAfterFree), || {
        let values = atomics([0, 0]);
        let theirs = values.clone();
        let boxed = Box::into_raw(Box::new(AtomicUsize::new(1))).expose_provenance();
        // SAFETY: made above, and freed once.
        let free = move || drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<AtomicUsize>(boxed)) });
        let other = thread::spawn(move || {
            theirs[0].store(5, Relaxed);
            let last = theirs[1].load(Relaxed) == 1;
            if last {
                free();
            }
            last
        });
        // SAFETY: none, which is what is to be found.
        let look = || unsafe { &*std::ptr::with_exposed_provenance::<AtomicUsize>(boxed) }.load(Relaxed);
        let mut old = values[0].load(Relaxed);
        while let Err(newer) = values[0].compare_exchange(old, old + 2, Relaxed, Relaxed) {
            black_box(look());
            old = newer;
        }
        values[1].store(1, Relaxed);
        if !other.join().unwrap() {
            free();
        }
    });
}
