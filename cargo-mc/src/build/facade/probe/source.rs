//! The self-test of `--std`: compiled as a user's crate is, in each edition. What each test must come to is in `expected.rs` beside this file.

extern crate core;

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::Ordering::*;
    use std::sync::atomic::{AtomicPtr, AtomicU32};
    use std::sync::{mpsc, Arc, Condvar, Mutex, OnceLock, RwLock};
    use std::thread;
    use std::time::{Duration, Instant};

    static WORD: AtomicU32 = AtomicU32::new(0);
    static OTHER: AtomicU32 = AtomicU32::new(0);
    static mut PLAIN: u64 = 0;

    fn beside(act: fn()) {
        let thread = thread::spawn(act);
        act();
        thread.join().unwrap();
    }

    mod named {
        #[test]
        fn is_run() {}
    }

    #[test]
    #[ignore]
    fn is_ignored() {}

    #[test]
    #[should_panic(expected = "boo")]
    fn panics() {
        panic!("boo");
    }

    #[test]
    #[should_panic(expected = "boo")]
    fn panics_otherwise() {
        panic!("ah");
    }

    #[test]
    #[should_panic]
    fn does_not_panic() {}

    #[test]
    fn returns() -> Result<(), String> {
        Ok(())
    }

    #[test]
    fn returns_an_error() -> Result<(), String> {
        Err("no".to_owned())
    }

    #[test]
    fn counts() {
        beside(|| {
            ::core::hint::black_box(WORD.fetch_add(1, Relaxed));
        });
    }

    /// The same types under both names.
    #[test]
    fn reads_what_is_old() {
        let word: &'static ::core::sync::atomic::AtomicU32 = &WORD;
        let thread = thread::spawn(move || {
            word.store(1, Relaxed);
            OTHER.store(1, Relaxed);
        });
        let seen = OTHER.load(Relaxed);
        assert!(seen == 0 || word.load(Relaxed) == 1);
        thread.join().unwrap();
    }

    #[test]
    fn locks() {
        static LOCK: Mutex<u32> = Mutex::new(0);
        beside(|| *LOCK.lock().unwrap() += 1);
    }

    #[test]
    fn reads_and_writes() {
        static LOCK: RwLock<u32> = RwLock::new(0);
        let thread = thread::spawn(|| *LOCK.write().unwrap() += 1);
        assert!(*LOCK.read().unwrap() < 2);
        thread.join().unwrap();
    }

    #[test]
    fn initialises() {
        static CELL: OnceLock<u32> = OnceLock::new();
        beside(|| assert_eq!(*CELL.get_or_init(|| 5), 5));
    }

    #[test]
    fn waits() {
        static READY: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
        let thread = thread::spawn(|| {
            *READY.0.lock().unwrap() = true;
            READY.1.notify_one();
        });
        let mut ready = READY.0.lock().unwrap();
        while !*ready {
            ready = READY.1.wait(ready).unwrap();
        }
        drop(ready);
        thread.join().unwrap();
    }

    #[test]
    fn sends() {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
    }

    thread_local! {
        static BARE: Cell<u32> = const { Cell::new(3) };
    }
    std::thread_local!(static NAMED: Cell<u32> = Cell::new(4));

    #[test]
    fn has_values_of_its_own() {
        beside(|| {
            WORD.fetch_add(1, SeqCst);
            let before = (BARE.with(|bare| bare.replace(5)), NAMED.with(|named| named.replace(6)));
            WORD.fetch_add(1, SeqCst);
            assert_eq!(before, (3, 4));
            assert_eq!((BARE.with(Cell::get), NAMED.with(Cell::get)), (5, 6));
        });
    }

    /// Only where the clock is not the real one, to the nanosecond.
    #[test]
    fn sleeps_for_an_hour() {
        let hour = Duration::from_secs(3600);
        let begun = Instant::now();
        thread::sleep(hour);
        assert_eq!(begun.elapsed(), hour);
    }

    #[test]
    fn races() {
        // SAFETY: none: two threads write at once, which must be found before it happens.
        beside(|| unsafe { PLAIN += 1 });
    }

    #[test]
    fn races_with_many_at_once() {
        static mut NUMBERS: [u64; 4] = [0; 4];
        let numbers = || std::hint::black_box(&raw mut NUMBERS);
        // SAFETY: none: two threads write, which must be found where the other one writes all of them at once, too.
        let thread = thread::spawn(move || unsafe { (*numbers())[2] = 1 });
        // SAFETY: as above.
        unsafe { *numbers() = [1; 4] };
        thread.join().unwrap();
    }

    #[test]
    fn races_with_three_bytes() {
        static mut BYTES: [u8; 3] = [0; 3];
        let bytes = || std::hint::black_box(&raw mut BYTES);
        // SAFETY: none: two threads access them, which must be found of any size.
        let thread = thread::spawn(move || unsafe { (*bytes())[2] = 1 });
        // SAFETY: as above.
        unsafe { bytes().write_volatile([1; 3]) };
        thread.join().unwrap();
    }

    #[test]
    fn reads_what_is_freed() {
        let place = Box::into_raw(Box::new(5_u32));
        static PLACE: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
        PLACE.store(place, Relaxed);
        // SAFETY: none: it may be freed by then, which must be found before it is read.
        let thread = thread::spawn(|| assert_eq!(unsafe { *PLACE.load(Relaxed) }, 5));
        // SAFETY: it came from `into_raw`, and nobody else frees it.
        drop(unsafe { Box::from_raw(place) });
        thread.join().unwrap();
    }

    /// A clone and a drop.
    #[test]
    fn shares() {
        let shared = Arc::new(5);
        let other = shared.clone();
        let thread = thread::spawn(move || assert_eq!(*other, 5));
        drop(shared);
        thread.join().unwrap();
    }

    /// Either is the last owner, or neither, where both look too early.
    #[test]
    fn counts_owners() {
        let shared = Arc::new(5);
        let other = shared.clone();
        let thread = thread::spawn(move || Arc::try_unwrap(other).is_ok());
        let mine = Arc::try_unwrap(shared).is_ok();
        assert!(!(thread.join().unwrap() && mine));
    }

    unsafe extern "C" {
        fn syscall(number: i64, ...) -> i64;
        fn usleep(microseconds: u32) -> i32;
    }
    const FUTEX: i64 = 202;

    #[test]
    fn waits_for_a_futex() {
        let thread = thread::spawn(|| {
            WORD.store(1, Release);
            // SAFETY: wakes whoever waits there; the kernel reads nothing.
            unsafe { syscall(FUTEX, WORD.as_ptr(), 129, 1, 0_usize, 0_usize, 0_usize) };
        });
        while WORD.load(Acquire) == 0 {
            // SAFETY: waits at a word that is there for ever.
            unsafe { syscall(FUTEX, WORD.as_ptr(), 128, 0, 0_usize, 0_usize, 0_usize) };
        }
        thread.join().unwrap();
    }

    #[test]
    fn reaches_out() {
        // SAFETY: takes a number.
        thread::spawn(|| assert_eq!(unsafe { usleep(1) }, 0)).join().unwrap();
    }
}
