//! Of each crate a use that is right, and one that is wrong (`.._misused`), which must be found.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

/// Runs both, on two threads.
fn both<T: Send + Sync + 'static>(shared: T, there: fn(&T), here: fn(&T)) -> Arc<T> {
    let shared = Arc::new(shared);
    let other = shared.clone();
    let thread = thread::spawn(move || there(&other));
    here(&shared);
    thread.join().unwrap();
    shared
}

/// What its users must order themselves.
struct Plain(UnsafeCell<u32>);

// SAFETY: it is not safe, which is what the tests are about.
unsafe impl Sync for Plain {}

impl Plain {
    const fn new() -> Self {
        Plain(UnsafeCell::new(0))
    }

    fn add(&self) -> u32 {
        // SAFETY: as above.
        unsafe {
            *self.0.get() += 1;
            *self.0.get()
        }
    }
}

mod parking_lot {
    use super::*;
    use ::parking_lot::{Condvar, Mutex};

    #[test]
    fn condvar() {
        both(
            (Mutex::new(false), Condvar::new()),
            |(ready, changed)| {
                *ready.lock() = true;
                changed.notify_one();
            },
            |(ready, changed)| {
                let mut ready = ready.lock();
                while !*ready {
                    changed.wait(&mut ready);
                }
            },
        );
    }

    #[test]
    fn mutex() {
        let counter = both(Mutex::new(0), |n| *n.lock() += 1, |n| *n.lock() += 1);
        assert_eq!(*counter.lock(), 2);
    }

    #[test]
    fn mutex_misused() {
        both((Mutex::new(()), Mutex::new(())), |(a, b)| drop((a.lock(), b.lock())), |(a, b)| drop((b.lock(), a.lock())));
    }
}

mod crossbeam_channel {
    use super::*;
    use ::crossbeam_channel::bounded;

    #[test]
    fn rendezvous() {
        let (sender, receiver) = bounded(0);
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
    }

    #[test]
    fn one() {
        let (sender, receiver) = bounded(1);
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
    }

    #[test]
    fn one_misused() {
        let (sender, receiver) = bounded(1);
        let kept = sender.clone();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.iter().count(), 1);
        thread.join().unwrap();
        drop(kept);
    }
}

mod crossbeam_epoch {
    use super::*;
    use ::crossbeam_epoch::{Atomic, Owned, pin};

    fn replace(at: &Atomic<u32>) {
        let guard = pin();
        let old = at.swap(Owned::new(2), std::sync::atomic::Ordering::AcqRel, &guard);
        // SAFETY: nobody can reach it any more but who has pinned before.
        unsafe { guard.defer_destroy(old) };
    }

    #[test]
    fn replaced() {
        let at = both(Atomic::new(1), replace, |at| {
            let guard = pin();
            // SAFETY: never null, and not destroyed while this thread is pinned.
            let value = unsafe { *at.load(Acquire, &guard).deref() };
            assert!(value == 1 || value == 2);
        });
        // SAFETY: nobody else has it.
        drop(unsafe { std::ptr::read(&*at).into_owned() });
    }

    #[test]
    fn replaced_misused() {
        let at = both(
            Atomic::new(1),
            |at| {
                let guard = pin();
                let old = at.swap(Owned::new(2), std::sync::atomic::Ordering::AcqRel, &guard);
                // SAFETY: none: another thread may have it.
                drop(unsafe { old.into_owned() });
            },
            |at| {
                let guard = pin();
                // SAFETY: as above.
                assert!(unsafe { *at.load(Acquire, &guard).deref() } > 0);
            },
        );
        // SAFETY: nobody else has it.
        drop(unsafe { std::ptr::read(&*at).into_owned() });
    }
}

mod arc_swap {
    use super::*;
    use ::arc_swap::ArcSwap;

    #[test]
    fn loaded() {
        both(ArcSwap::from_pointee(1), |at| at.store(Arc::new(2)), |at| assert!(**at.load() > 0));
    }

    #[test]
    fn loaded_misused() {
        let add = |at: &ArcSwap<u32>| at.store(Arc::new(**at.load() + 1));
        let counter = both(ArcSwap::from_pointee(0), add, add);
        assert_eq!(**counter.load(), 2);
    }
}

mod once_cell {
    use super::*;
    use ::once_cell::sync::OnceCell;

    #[test]
    fn once() {
        let calls = both((OnceCell::new(), AtomicUsize::new(0)), init, init);
        assert_eq!(calls.1.load(Relaxed), 1);
    }

    fn init((cell, calls): &(OnceCell<u32>, AtomicUsize)) {
        assert_eq!(*cell.get_or_init(|| calls.fetch_add(1, Relaxed) as u32), 0);
    }

    #[test]
    fn once_misused() {
        both((OnceCell::new(), Plain::new()), |(cell, _)| cell.set(1).unwrap(), |(cell, _)| cell.set(2).unwrap());
    }
}

mod dashmap {
    use super::*;
    use ::dashmap::DashMap;

    fn map() -> DashMap<u32, u32> {
        let map = DashMap::with_shard_amount(2);
        map.insert(1, 0);
        map
    }

    #[test]
    fn entry() {
        let map = both(map(), |map| *map.get_mut(&1).unwrap() += 1, |map| *map.entry(1).or_insert(0) += 1);
        assert_eq!(*map.get(&1).unwrap(), 2);
    }

    #[test]
    fn entry_misused() {
        let add = |map: &DashMap<u32, u32>| {
            let seen = *map.get(&1).unwrap();
            map.insert(1, seen + 1);
        };
        assert_eq!(*both(map(), add, add).get(&1).unwrap(), 2);
    }
}

mod flume {
    use super::*;

    #[test]
    fn unbounded() {
        let (sender, receiver) = ::flume::unbounded();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.iter().count(), 1);
        thread.join().unwrap();
    }

    #[test]
    fn bounded_misused() {
        let (sender, receiver) = ::flume::bounded(1);
        let thread = thread::spawn(move || (sender.send(1).unwrap(), sender.send(2).unwrap()));
        thread.join().unwrap();
        assert_eq!(receiver.iter().count(), 2);
    }
}

mod event_listener {
    use super::*;
    use ::event_listener::{Event, Listener as _};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn listened() {
        both(
            (AtomicBool::new(false), Event::new()),
            |(flag, event)| {
                flag.store(true, Release);
                event.notify(1);
            },
            |(flag, event)| {
                while !flag.load(Acquire) {
                    let listener = event.listen();
                    if !flag.load(Acquire) {
                        listener.wait();
                    }
                }
            },
        );
    }

    #[test]
    fn listened_misused() {
        both(
            (AtomicBool::new(false), Event::new()),
            |(flag, event)| {
                flag.store(true, Release);
                event.notify(1);
            },
            |(flag, event)| {
                if !flag.load(Acquire) {
                    event.listen().wait();
                }
            },
        );
    }
}

mod rayon_core {
    use super::*;
    use ::rayon_core::ThreadPoolBuilder;

    #[test]
    fn joined() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| ::rayon_core::join(|| 1, || 2)), (1, 2));
    }

    #[test]
    fn spawned_misused() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let plain = Arc::new(Plain::new());
        let other = plain.clone();
        pool.spawn(move || drop(other.add()));
        plain.add();
    }
}

mod tokio {
    use super::*;
    use ::tokio::sync::{Mutex, Notify, mpsc, oneshot};
    use std::task::{Context, Poll, Wake};

    struct Unpark(thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        let waker = Arc::new(Unpark(thread::current())).into();
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(value) => return value,
                Poll::Pending => thread::park(),
            }
        }
    }

    #[test]
    fn channel() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(block_on(receiver.recv()), Some(1));
        thread.join().unwrap();
    }

    #[test]
    fn once() {
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(block_on(receiver), Ok(1));
        thread.join().unwrap();
    }

    #[test]
    fn locked() {
        let counter = both(Mutex::new(0), |n| *block_on(n.lock()) += 1, |n| *block_on(n.lock()) += 1);
        assert_eq!(*block_on(counter.lock()), 2);
    }

    #[test]
    fn notified_misused() {
        // `notify_waiters` keeps no permit for who comes later.
        both(Notify::new(), |notify| notify.notify_waiters(), |notify| block_on(notify.notified()));
    }
}
