//! object-pool 0.6.0: a pool under one mutex of parking_lot.

use mc::sync::atomic::{AtomicUsize, Ordering};
use mc::thread;
use object_pool::Pool;

#[mc::test]
fn an_object_is_with_one_thread_at_a_time_and_comes_back() {
    let pool = Pool::new(1, || 0);
    let add = || {
        if let Some(mut object) = pool.try_pull() {
            *object += 1;
            return 1;
        }
        0
    };
    let added = thread::scope(|scope| {
        let other = scope.spawn(add);
        add() + other.join().unwrap()
    });
    assert!(added >= 1 && pool.len() == 1);
    assert_eq!(*pool.try_pull().unwrap(), added);
}

#[mc::test(expect = "panic")]
fn the_only_object_may_be_with_somebody_else() {
    let pool = Pool::new(1, || 0);
    thread::scope(|scope| {
        scope.spawn(|| *pool.try_pull().expect("an object") += 1);
        *pool.try_pull().expect("an object") += 1;
    });
}

#[mc::test]
fn an_empty_pool_makes_as_many_as_are_needed() {
    let (pool, made) = (Pool::new(0, || 0), AtomicUsize::new(0));
    let make = || {
        made.fetch_add(1, Ordering::Relaxed);
        0
    };
    thread::scope(|scope| {
        scope.spawn(|| drop(pool.pull(make)));
        drop(pool.pull(make));
    });
    assert_eq!(pool.len(), made.load(Ordering::Relaxed));
}
