//! The heap of a test.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc::cell::UnsafeCell;
use mc::sync::Arc;
use mc::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};
use mc::thread;
use mc_runtime::outcome::FailureKind::{DataRace, DoubleFree, Leak, UseAfterFree};

use super::{fails, proved};

/// A pointer that threads may share.
struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

// SAFETY: the tests are about what goes wrong with it.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    fn get(self) -> *mut T {
        self.0
    }
}

fn boxed<T>(value: T) -> Shared<T> {
    Shared(black_box(Box::into_raw(Box::new(value))))
}

fn free<T>(at: Shared<T>) {
    // SAFETY: on purpose not, in some tests; the block is from `boxed`.
    drop(unsafe { Box::from_raw(at.get()) });
}

/// The byte of a word at an offset.
fn byte(word: &AtomicU32, offset: usize) -> &AtomicU8 {
    // SAFETY: the byte is in the word, and lives as long. That both are accessed at once is what the tests are about.
    unsafe { &*std::ptr::from_ref(word).cast::<AtomicU8>().add(offset) }
}

#[test]
fn unordered_atomic_accesses_of_different_sizes_are_a_race() {
    for offset in [0, 1, 3] {
        OFFSET.store(offset, Relaxed);
        let failure = fails(DataRace, || {
            let word = Arc::new(AtomicU32::new(0));
            let theirs = word.clone();
            let thread = thread::spawn(move || byte(&theirs, OFFSET.load(Relaxed)).store(1, Relaxed));
            let seen = word.load(Relaxed);
            thread.join().unwrap();
            assert_eq!(seen, 0);
        });
        assert!(failure.message.contains("of 4 bytes") && failure.message.contains("of 1 bytes"), "{failure:?}");
    }
    // Not at the same time, not the same bytes, or both only read.
    proved(1, || {
        let word = Arc::new(AtomicU32::new(0));
        let theirs = word.clone();
        thread::spawn(move || byte(&theirs, 1).store(1, Relaxed)).join().unwrap();
        assert_eq!(word.load(Relaxed), 1 << 8);
        word.store(2, Relaxed);
        assert_eq!(byte(&word, 0).load(Relaxed), 2);
    });
    proved(1, || {
        let word = Arc::new(AtomicU32::new(0));
        let theirs = word.clone();
        let thread = thread::spawn(move || byte(&theirs, 1).store(1, Relaxed));
        byte(&word, 2).store(1, Relaxed);
        thread.join().unwrap();
    });
    proved(1, || {
        let word = Arc::new(AtomicU32::new(7));
        let theirs = word.clone();
        let thread = thread::spawn(move || assert_eq!(byte(&theirs, 0).load(Relaxed), 7));
        assert_eq!(word.load(Relaxed), 7);
        thread.join().unwrap();
    });
}

/// Which byte the running test accesses.
static OFFSET: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

#[test]
fn an_access_may_come_after_the_free() {
    fails(UseAfterFree, || {
        let at = boxed(AtomicUsize::new(0));
        // SAFETY: none.
        let thread = thread::spawn(move || unsafe { &*at.get() }.store(1, Relaxed));
        free(at);
        thread.join().unwrap();
    });
}

#[test]
fn an_access_that_does_not_happen_before_the_free_is_one_after_it() {
    fails(UseAfterFree, || {
        let at = boxed(AtomicUsize::new(0));
        // SAFETY: none.
        let thread = thread::spawn(move || unsafe { &*at.get() }.store(1, Relaxed));
        // SAFETY: live until the next statement.
        let done = unsafe { &*at.get() }.load(Relaxed) == 1;
        if done {
            free(at);
        }
        thread.join().unwrap();
        if !done {
            free(at);
        }
    });
}

#[test]
fn who_has_freed_the_memory_is_told() {
    const STORE: u32 = line!() + 5;
    let used = fails(UseAfterFree, || {
        let at = boxed(AtomicUsize::new(0));
        let thread = thread::spawn(move || {
            // SAFETY: live until the next statement.
            unsafe { &*at.get() }.store(1, Relaxed);
            free(at);
        });
        thread.join().unwrap();
        // SAFETY: none.
        unsafe { &*at.get() }.load(Relaxed);
    });
    let by = format!("T1 has freed it, after its operation at {}:{STORE}", file!());
    assert_eq!(used.message.lines().collect::<Vec<_>>(), ["load(Relaxed) of an atomic in memory that was freed", &by]);

    const OTHER: u32 = line!() + 3;
    let freed = fails(DoubleFree, || {
        let (at, other) = (boxed(0), AtomicUsize::new(0));
        other.store(1, Relaxed);
        free(at);
        free(at);
    });
    let by = format!("memory was freed twice\nmain has freed it, after its operation at {}:{OTHER}", file!());
    assert_eq!(freed.message, by);
}

#[test]
fn a_freed_block_is_not_used_by_its_own_thread() {
    fails(UseAfterFree, || {
        let at = boxed(AtomicUsize::new(0));
        // SAFETY: live.
        unsafe { &*at.get() }.store(1, Relaxed);
        free(at);
        // SAFETY: none.
        unsafe { &*at.get() }.store(2, Relaxed);
    });
}

#[test]
fn a_block_that_was_freed_at_once_is_not_used() {
    fails(UseAfterFree, || {
        let at = boxed(AtomicUsize::new(0));
        free(at);
        // SAFETY: none.
        unsafe { &*at.get() }.store(2, Relaxed);
    });
}

#[test]
fn a_cell_that_was_freed_is_not_used() {
    fails(UseAfterFree, || {
        let at = boxed(UnsafeCell::new(0));
        // SAFETY: live.
        unsafe { &*at.get() }.with_mut(|_| ());
        free(at);
        // SAFETY: none.
        unsafe { &*at.get() }.with_mut(|_| ());
    });
}

#[test]
fn a_block_is_not_freed_twice() {
    fails(DoubleFree, || {
        let at = boxed(1_u64);
        free(at);
        free(at);
    });
}

#[test]
fn a_block_is_not_freed_twice_with_an_event_in_between() {
    fails(DoubleFree, || {
        let (at, flag) = (boxed(1_u64), AtomicBool::new(false));
        flag.store(true, Relaxed);
        free(at);
        flag.store(false, Relaxed);
        free(at);
    });
}

#[test]
fn two_threads_do_not_free_one_block() {
    fails(DoubleFree, || {
        let at = boxed(1_u64);
        let thread = thread::spawn(move || free(at));
        free(at);
        thread.join().unwrap();
    });
}

#[test]
fn only_one_of_two_owners_frees() {
    proved(2, || {
        let (at, taken) = (boxed(1_u64), Arc::new(AtomicBool::new(false)));
        let theirs = taken.clone();
        let end = move |taken: &AtomicBool| {
            if taken.swap(true, AcqRel) {
                free(at);
            }
        };
        let thread = thread::spawn(move || end(&theirs));
        end(&taken);
        thread.join().unwrap();
    });
}

#[test]
fn what_is_not_freed_is_a_leak() {
    fails(Leak, || std::mem::forget(black_box(Box::new(1_u8))));
    fails(Leak, || thread::spawn(|| std::mem::forget(black_box(vec![1, 2, 3]))).join().unwrap());
    fails(Leak, || assert_eq!(Box::leak(black_box(Box::new([0_u64; 1000]))).len(), 1000));
    fails(Leak, || {
        struct Circle(std::cell::RefCell<Option<std::rc::Rc<Circle>>>);
        let circle = std::rc::Rc::new(Circle(None.into()));
        circle.0.replace(Some(circle.clone()));
    });
}

#[test]
fn a_leak_in_one_interleaving_is_found() {
    fails(Leak, || {
        let slot = Arc::new(AtomicPtr::new(ptr::null_mut()));
        let theirs = slot.clone();
        let thread = thread::spawn(move || theirs.store(boxed(1_u64).get(), Release));
        let found = slot.load(Acquire);
        if !found.is_null() {
            free(Shared(found));
        }
        thread.join().unwrap();
    });
}

#[test]
fn large_blocks_and_growing_ones_are_kept() {
    proved(2, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            let mut large = vec![0_u8; 100 << 20];
            large[99 << 20] = 7;
            theirs.store(true, Relaxed);
            assert_eq!((large[0], large[50 << 20], large[99 << 20]), (0, 0, 7));
        });
        let mut grows = Vec::new();
        for n in 0..10_000_u32 {
            grows.push(n);
        }
        black_box(flag.load(Relaxed));
        assert!(grows.iter().copied().eq(0..10_000));
        thread.join().unwrap();
    });
}

#[test]
fn alignment_and_empty_types_are_as_std_has_them() {
    #[repr(align(4096))]
    struct Page(#[expect(dead_code, reason = "only its place counts")] u8);
    struct Nothing;
    proved(1, || {
        let pages = [Box::new(Page(1)), Box::new(Page(2))];
        assert!(pages.iter().all(|page| ptr::from_ref::<Page>(page).addr().is_multiple_of(4096)));
        let (_nothing, _none): (Box<Nothing>, Vec<u64>) = (Box::new(Nothing), Vec::with_capacity(0));
        let layout = Layout::from_size_align(3, 1 << 16).unwrap();
        // SAFETY: a layout that is not empty; freed with the same.
        unsafe {
            let at = alloc(layout);
            assert_eq!(at.addr() % (1 << 16), 0);
            dealloc(at, layout);
        }
    });
}

#[test]
fn zeroed_memory_is_zero_in_every_execution() {
    proved(2, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Relaxed));
        let mut zeroed = vec![0_u64; 1 << 12];
        assert!(zeroed.iter().all(|word| *word == 0));
        zeroed.fill(if flag.load(Relaxed) { 1 } else { 2 });
        thread.join().unwrap();
    });
}

#[test]
fn what_is_made_once_per_process_is_no_leak() {
    #[expect(clippy::print_stdout, reason = "the buffer of standard output is made once")]
    fn print(seen: bool) {
        println!("{:?} {seen}", std::thread::current());
    }
    static ONCE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    proved(2, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Relaxed));
        let map: HashMap<u8, u8> = [(1, 2)].into();
        assert_eq!((ONCE.get_or_init(|| vec![1; 100]).len(), map[&1]), (100, 2));
        print(flag.load(Relaxed));
        thread.join().unwrap();
    });
}

#[test]
fn what_is_hashed_in_one_interleaving_is_no_leak() {
    proved(2, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let thread = thread::spawn(move || theirs.store(true, Relaxed));
        if flag.load(Relaxed) {
            let _map: HashMap<u8, u8> = [(1, 2)].into();
        }
        thread.join().unwrap();
    });
}

struct Shares(UnsafeCell<u64>);

// SAFETY: the tests are about what goes wrong with it.
unsafe impl Sync for Shares {}

impl Shares {
    fn read(&self) -> u64 {
        // SAFETY: as long as nobody writes.
        self.0.with(|value| unsafe { *value })
    }

    fn change<R>(&self, f: impl FnOnce(*mut u64) -> R) -> R {
        self.0.with_mut(f)
    }
}

#[test]
fn an_access_of_a_cell_lasts_until_its_closure_returns() {
    fails(DataRace, || {
        let (ready, shared) = (AtomicBool::new(false), Shares(UnsafeCell::new(0)));
        thread::scope(|scope| {
            scope.spawn(|| {
                shared.change(|value| {
                    ready.store(true, Release);
                    // SAFETY: it is not.
                    unsafe { *value = 1 }
                })
            });
            if ready.load(Acquire) {
                shared.read();
            }
        });
    });
    proved(2, || {
        let (ready, shared) = (AtomicBool::new(false), Shares(UnsafeCell::new(0)));
        thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: nobody reads yet.
                shared.change(|value| unsafe { *value = 1 });
                ready.store(true, Release);
            });
            if ready.load(Acquire) {
                assert_eq!(shared.read(), 1);
            }
        });
    });
}

#[test]
fn an_access_of_a_cell_within_another_one_of_the_same_thread_is_no_race() {
    proved(1, || {
        let shared = Shares(UnsafeCell::new(1));
        let seen = shared.change(|value| {
            let seen = shared.read();
            // SAFETY: no reference is left.
            unsafe { *value += seen };
            seen
        });
        assert_eq!((seen, shared.read()), (1, 2));
    });
}
