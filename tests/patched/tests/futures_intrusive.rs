//! futures-intrusive 0.5.0: futures whose state is under a raw mutex of parking_lot.

use futures_intrusive::channel::Channel;
use futures_intrusive::sync::{ManualResetEvent, Mutex, Semaphore};
use mc::future::block_on;
use mc::thread;

#[mc::test]
fn an_event_that_is_set_lets_the_waiter_go_on() {
    let event = ManualResetEvent::new(false);
    thread::scope(|scope| {
        scope.spawn(|| event.set());
        block_on(event.wait());
        assert!(event.is_set());
    });
}

#[mc::test(expect = "deadlock")]
fn an_event_that_is_reset_at_once_may_be_missed() {
    let event = ManualResetEvent::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            event.set();
            event.reset();
        });
        block_on(event.wait());
    });
}

#[mc::test]
fn two_tasks_add_under_a_mutex() {
    let mutex = Mutex::new(0, true);
    let add = || block_on(async { *mutex.lock().await += 1 });
    thread::scope(|scope| {
        scope.spawn(add);
        add();
    });
    assert_eq!(*mutex.try_lock().unwrap(), 2);
}

#[mc::test]
fn a_channel_of_one_place_keeps_the_order() {
    let channel = Channel::<u8, [u8; 1]>::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            block_on(async {
                channel.send(1).await.unwrap();
                channel.send(2).await.unwrap();
            });
            channel.close();
        });
        block_on(async {
            assert_eq!(channel.receive().await, Some(1));
            assert_eq!(channel.receive().await, Some(2));
            assert_eq!(channel.receive().await, None);
        });
    });
}

#[mc::test]
fn a_semaphore_hands_its_permit_on() {
    let semaphore = Semaphore::new(true, 1);
    let held = mc::sync::atomic::AtomicBool::new(false);
    let enter = || {
        block_on(async {
            let _permit = semaphore.acquire(1).await;
            assert!(!held.swap(true, mc::sync::atomic::Ordering::Relaxed));
            held.store(false, mc::sync::atomic::Ordering::Relaxed);
        });
    };
    thread::scope(|scope| {
        scope.spawn(enter);
        enter();
    });
    assert_eq!(semaphore.permits(), 1);
}
