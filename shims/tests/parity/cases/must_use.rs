// What std says must be used, must be used here, too: a line whose value nobody would miss makes the `expect` unfulfilled, which is a warning.

use subject::sync::atomic::{AtomicBool, AtomicU32};
use subject::sync::mpsc::{channel, sync_channel};
use subject::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, Weak};
use subject::thread::{self, Builder};
use subject::time::{Instant, SystemTime};

/// Each line by itself: one that is fine would hide behind one that is not.
macro_rules! must_use {
    ($($line:expr;)*) => {$({
        #[expect(unused_must_use, reason = "this is what is tested")]
        {
            $line;
        }
    })*};
}

#[test]
fn values_that_must_be_used() {
    let (arc, mutex, lock) = (Arc::new(1), Mutex::new(1), RwLock::new(1));
    let (weak, start) = (Arc::downgrade(&arc), Instant::now());
    must_use! {
        Arc::strong_count(&arc);
        Arc::weak_count(&arc);
        Arc::downgrade(&arc);
        Arc::as_ptr(&arc);
        Arc::ptr_eq(&arc, &arc);
        Arc::pin(1);
        Arc::<u8>::new_uninit();
        Arc::<u8>::new_zeroed();
        Arc::<[u8]>::new_uninit_slice(1);
        Weak::<u8>::new();
        weak.upgrade();
        weak.strong_count();
        weak.weak_count();
        weak.as_ptr();
        weak.ptr_eq(&weak);
        mutex.lock().unwrap();
        lock.read().unwrap();
        lock.write().unwrap();
        Condvar::new();
        Barrier::new(1);
        Barrier::new(1).wait().is_leader();
        OnceLock::<u8>::new();
        AtomicBool::new(true);
        AtomicU32::new(1);
        channel::<u8>();
        sync_channel::<u8>(1);
        Builder::new();
        thread::current();
        thread::current().id();
        thread::current().name();
        thread::panicking();
        Instant::now();
        start.duration_since(start);
        start.checked_duration_since(start);
        start.saturating_duration_since(start);
        start.elapsed();
        SystemTime::now();
    }
    let thread = thread::spawn(|| ());
    must_use!(thread.thread(););
    thread.join().unwrap();
}
