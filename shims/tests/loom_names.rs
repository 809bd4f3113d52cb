//! All that loom 0.7.2 documents is there, and is used in the same way: this text compiles with loom itself, too, where it does not run, since some of that is unfinished
//! there. What the names do is in `loom.rs`.
#![cfg(mc)]

use mc::compat::loom;

use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::time::Duration;

macro_rules! names {
    ($($path:path),* $(,)?) => {$({
        #[expect(unused_imports, reason = "that it is there is what is tested")]
        use $path as _named;
    })*};
}

macro_rules! integers {
    ($($name:ident: $integer:ty),*) => {$(
        let mut atomic = loom::sync::atomic::$name::new(1);
        atomic.store(2, Relaxed);
        let _: [$integer; 5] = [
            atomic.load(Relaxed),
            // SAFETY: there is one thread.
            unsafe { atomic.unsync_load() },
            atomic.with_mut(|value| *value),
            atomic.swap(1, AcqRel),
            atomic.compare_and_swap(1, 2, AcqRel),
        ];
        let exchanged: [Result<$integer, $integer>; 3] = [
            atomic.compare_exchange(2, 3, AcqRel, Acquire),
            atomic.compare_exchange_weak(2, 3, AcqRel, Acquire),
            atomic.fetch_update(AcqRel, Acquire, |value| Some(value)),
        ];
        assert!(exchanged.iter().any(Result::is_ok));
        for update in [
            loom::sync::atomic::$name::fetch_add, loom::sync::atomic::$name::fetch_sub, loom::sync::atomic::$name::fetch_and,
            loom::sync::atomic::$name::fetch_nand, loom::sync::atomic::$name::fetch_or, loom::sync::atomic::$name::fetch_xor,
            loom::sync::atomic::$name::fetch_max, loom::sync::atomic::$name::fetch_min,
        ] {
            update(&atomic, 0, Relaxed);
        }
        let _: $integer = atomic.into_inner();
    )*};
}

fn atomics() {
    integers!(
        AtomicI8: i8, AtomicI16: i16, AtomicI32: i32, AtomicI64: i64, AtomicIsize: isize, AtomicU8: u8, AtomicU16: u16, AtomicU32: u32, AtomicU64: u64,
        AtomicUsize: usize
    );
    let flag = loom::sync::atomic::AtomicBool::new(false);
    flag.store(true, Relaxed);
    // SAFETY: there is one thread.
    let plain = unsafe { flag.unsync_load() };
    let seen = [plain, flag.load(Relaxed), flag.swap(true, AcqRel), flag.compare_and_swap(true, true, AcqRel)];
    assert_eq!(seen, [true; 4]);
    flag.compare_exchange(true, false, AcqRel, Acquire).unwrap();
    let _ = flag.compare_exchange_weak(false, true, AcqRel, Acquire);
    flag.fetch_update(AcqRel, Acquire, |_| Some(true)).unwrap();
    let old = [
        flag.fetch_and(true, Relaxed),
        flag.fetch_nand(false, Relaxed),
        flag.fetch_or(true, Relaxed),
        flag.fetch_xor(false, Relaxed),
    ];
    assert_eq!((old, flag.into_inner()), ([true; 4], true));
    let mut value = 1;
    let mut pointer = loom::sync::atomic::AtomicPtr::new(&raw mut value);
    pointer.store(&raw mut value, Relaxed);
    let here = pointer.load(Relaxed);
    // SAFETY: there is one thread.
    let plain = unsafe { pointer.unsync_load() };
    let seen =
        [plain, pointer.with_mut(|at| *at), pointer.swap(here, AcqRel), pointer.compare_and_swap(here, here, AcqRel)];
    assert_eq!(seen, [here; 4]);
    pointer.compare_exchange(here, here, AcqRel, Acquire).unwrap();
    let _ = pointer.compare_exchange_weak(here, here, AcqRel, Acquire);
    pointer.fetch_update(AcqRel, Acquire, Some).unwrap();
    assert_eq!(pointer.into_inner(), here);
    loom::sync::atomic::fence(AcqRel);
    loom::sync::atomic::spin_loop_hint();
}

fn cells() {
    let cell = loom::cell::Cell::new(1);
    cell.set(2);
    cell.swap(&loom::cell::Cell::new(3));
    assert_eq!((cell.get(), cell.replace(4), cell.take(), cell.into_inner()), (3, 3, 4, 0));
    let cell = loom::cell::UnsafeCell::new(1);
    cell.with(|_| ());
    cell.with_mut(|_| ());
    let read: loom::cell::ConstPtr<i32> = cell.get();
    // SAFETY: there is one thread.
    assert_eq!((unsafe { *read.deref() }, read.with(|at| at.is_null())), (1, false));
    drop(read);
    let write: loom::cell::MutPtr<i32> = cell.get_mut();
    // SAFETY: as above.
    unsafe { *write.deref() = 2 };
    assert!(!write.with(|at| at.is_null()));
    drop(write);
    assert_eq!(cell.into_inner(), 2);
    let mut track = loom::alloc::Track::new(1);
    *track.get_mut() += *track.get_ref();
    assert_eq!(track.into_inner(), 2);
    let layout = loom::alloc::Layout::new::<u64>();
    for allocated in [loom::alloc::alloc, loom::alloc::alloc_zeroed] {
        // SAFETY: the layout has a size, and the block is freed once, with it.
        let block = unsafe { allocated(layout) };
        // SAFETY: as above.
        unsafe { loom::alloc::dealloc(block, layout) };
    }
}

fn arcs() {
    use loom::sync::Arc;
    let mut arc = Arc::new(1);
    *Arc::get_mut(&mut arc).unwrap() = 2;
    let raw = Arc::into_raw(arc.clone());
    assert_eq!(raw, Arc::as_ptr(&arc));
    // SAFETY: the pointer is that of an owner that was given away, and takes one more in between.
    unsafe { Arc::increment_strong_count(raw) };
    // SAFETY: as above.
    unsafe { Arc::decrement_strong_count(raw) };
    // SAFETY: as above.
    let again = unsafe { Arc::from_raw(raw) };
    assert!(Arc::ptr_eq(&arc, &again) && Arc::strong_count(&arc) == 2);
    drop(again);
    assert_eq!(Arc::try_unwrap(arc).unwrap(), 2);
    let shared: Arc<dyn Fn() -> i32> = Arc::from_std(std::sync::Arc::new(|| 3));
    assert_eq!((shared(), *Arc::pin(4)), (3, 4));
}

fn locks() {
    let mut mutex = loom::sync::Mutex::new(1);
    *mutex.get_mut().unwrap() = 2;
    let condvar = loom::sync::Condvar::new();
    condvar.notify_one();
    condvar.notify_all();
    let (held, over): (loom::sync::MutexGuard<'_, i32>, loom::sync::WaitTimeoutResult) =
        condvar.wait_timeout(mutex.lock().unwrap(), Duration::ZERO).unwrap();
    let _ = over.timed_out();
    drop(held);
    drop(mutex.try_lock().unwrap());
    assert_eq!(mutex.into_inner().unwrap(), 2);
    let mut lock = loom::sync::RwLock::new(1);
    *lock.get_mut().unwrap() = 2;
    let read: loom::sync::RwLockReadGuard<'_, i32> = lock.read().unwrap();
    drop((read, lock.try_read().unwrap()));
    let write: loom::sync::RwLockWriteGuard<'_, i32> = lock.write().unwrap();
    drop(write);
    drop(lock.try_write().unwrap());
    assert_eq!(lock.into_inner().unwrap(), 2);
    let notify = loom::sync::Notify::new();
    notify.notify();
    notify.wait();
    loom::sync::Barrier::new(1).wait();
    let (sender, receiver) = loom::sync::mpsc::channel();
    (0..3).for_each(|n| sender.send(n).unwrap());
    let _: (&loom::sync::mpsc::Sender<i32>, &loom::sync::mpsc::Receiver<i32>) = (&sender, &receiver);
    assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(0), Ok(1)));
    let _ = receiver.recv_timeout(Duration::from_secs(1));
}

loom::lazy_static! {
    static ref LAZY: i32 = 1;
}
loom::thread_local! {
    static LOCAL: i32 = 1;
}

fn threads() {
    let thread: loom::thread::JoinHandle<i32> = loom::thread::spawn(|| 1);
    let _: (&loom::thread::Thread, loom::thread::ThreadId) = (thread.thread(), thread.thread().id());
    thread.thread().unpark();
    assert_eq!(thread.join().unwrap(), 1);
    let thread = loom::thread::Builder::new()
        .name("name".to_owned())
        .stack_size(1 << 16)
        .spawn(|| loom::thread::park())
        .unwrap();
    assert_eq!(thread.thread().name(), Some("name"));
    thread.thread().unpark();
    thread.join().unwrap();
    let _ = loom::thread::current();
    loom::thread::yield_now();
    loom::hint::spin_loop();
    let local: &loom::thread::LocalKey<i32> = &LOCAL;
    assert_eq!((local.with(|value| *value), local.try_with(|value| *value).unwrap(), *LAZY), (1, 1, 1));
    let waker = loom::future::AtomicWaker::new();
    assert_eq!(loom::future::block_on(async { 1 }), 1);
    waker.register_by_ref(std::task::Waker::noop());
    waker.register(std::task::Waker::noop().clone());
    assert!(waker.take_waker().is_some());
    waker.wake();
    loom::stop_exploring();
    loom::explore();
    loom::skip_branch();
}

#[test]
fn all_names_of_loom_are_there() {
    names!(
        loom::MAX_THREADS,
        loom::model,
        loom::hint::unreachable_unchecked,
        loom::lazy_static::AccessError,
        loom::lazy_static::Lazy,
        loom::thread::AccessError,
        loom::lazy_static,
        loom::thread_local,
        loom::model::model,
    );
    let mut builder = loom::model::Builder::new();
    builder.max_threads = 3;
    builder.max_branches = 1_000;
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.preemption_bound = None;
    builder.checkpoint_file = None;
    builder.checkpoint_interval = 1;
    builder.expect_explicit_explore = false;
    (builder.location, builder.log) = (false, false);
    for part in [atomics, cells, arcs, locks, threads] {
        builder.check(part);
    }
}
