use std::time::Duration;

use subject::sync::{Arc, Barrier, Condvar, Mutex};
use subject::thread;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(2);

#[test]
fn a_notification_wakes_a_waiter() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let other = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let mut ready = pair.0.lock().unwrap();
    while !*ready {
        ready = pair.1.wait(ready).unwrap();
    }
    drop(ready);
    other.join().unwrap();
}

#[test]
fn notify_all_wakes_every_waiter() {
    let (mutex, condvar) = (Mutex::new((0, false)), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut state = mutex.lock().unwrap();
                state.0 += 1;
                condvar.notify_all();
                drop(condvar.wait_while(state, |state| !state.1).unwrap());
            });
        }
        let mut state = condvar.wait_while(mutex.lock().unwrap(), |state| state.0 < 3).unwrap();
        state.1 = true;
        drop(state);
        condvar.notify_all();
    });
}

#[test]
fn one_notification_each_is_enough() {
    let (mutex, condvar) = (Mutex::new((0, 0)), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut state = mutex.lock().unwrap();
                state.0 += 1;
                let mut state = condvar.wait_while(state, |state| state.1 == 0).unwrap();
                state.1 -= 1;
            });
        }
        while mutex.lock().unwrap().0 < 4 {
            thread::yield_now();
        }
        for _ in 0..4 {
            mutex.lock().unwrap().1 += 1;
            condvar.notify_one();
        }
    });
    assert_eq!(*mutex.lock().unwrap(), (4, 0));
}

#[test]
fn a_notification_without_waiters_is_lost() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    condvar.notify_one();
    condvar.notify_all();
    let (_guard, result) = condvar.wait_timeout_while(mutex.lock().unwrap(), SHORT, |()| true).unwrap();
    assert!(result.timed_out());
}

#[test]
fn a_wait_with_a_time_out_ends_with_the_time() {
    let (mutex, condvar) = (Mutex::new(7), Condvar::new());
    let (guard, result) = condvar.wait_timeout_while(mutex.lock().unwrap(), SHORT, |_| true).unwrap();
    assert_eq!((*guard, result.timed_out(), result == result), (7, true, true));
    assert!(format!("{result:?}").starts_with("WaitTimeoutResult"));
    drop(guard);
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn a_wait_whose_condition_does_not_hold_does_not_wait() {
    let (mutex, condvar) = (Mutex::new(7), Condvar::new());
    let guard = condvar.wait_while(mutex.lock().unwrap(), |_| false).unwrap();
    let (_guard, result) = condvar.wait_timeout_while(guard, LONG, |_| false).unwrap();
    assert!(!result.timed_out());
}

#[test]
fn a_notification_comes_before_a_long_time_out() {
    let (mutex, condvar) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(SHORT);
            *mutex.lock().unwrap() = true;
            condvar.notify_one();
        });
        let (guard, result) = condvar.wait_timeout_while(mutex.lock().unwrap(), LONG, |ready| !*ready).unwrap();
        assert!(*guard && !result.timed_out());
    });
}

#[test]
#[expect(deprecated, reason = "std still has it")]
fn the_old_time_out_in_milliseconds_tells_whether_time_was_left() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let mut guard = mutex.lock().unwrap();
    loop {
        let (again, left) = condvar.wait_timeout_ms(guard, 1).unwrap();
        guard = again;
        if !left {
            break;
        }
    }
}

#[test]
fn a_mutex_that_is_poisoned_meanwhile_is_reported() {
    let (mutex, condvar) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let mut guard = mutex.lock().unwrap();
            *guard = 1;
            while !mutex.is_poisoned() {
                match condvar.wait_timeout(guard, SHORT) {
                    Ok((again, _)) => guard = again,
                    Err(_) => return true,
                }
            }
            false
        });
        while *mutex.lock().unwrap() == 0 {
            thread::yield_now();
        }
        let panics = scope.spawn(|| {
            let _guard = mutex.lock().unwrap();
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panics.join().is_err());
        condvar.notify_all();
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn a_barrier_has_one_leader_per_round() {
    let barrier = Barrier::new(3);
    let leaders = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 1..=20 {
                    if barrier.wait().is_leader() {
                        *leaders.lock().unwrap() += 1;
                    }
                    barrier.wait();
                    assert_eq!(*leaders.lock().unwrap(), round);
                    barrier.wait();
                }
            });
        }
    });
}

#[test]
fn a_barrier_with_more_comers_than_places_lets_them_through_in_groups() {
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| barrier.wait().is_leader())).collect();
        let leaders = threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>();
        assert_eq!(leaders, 3);
    });
}

#[test]
fn a_barrier_for_nobody_or_one_lets_everybody_lead() {
    assert!(Barrier::new(0).wait().is_leader());
    assert!(Barrier::new(1).wait().is_leader());
    assert_eq!(format!("{:?} {:?}", Barrier::new(1), Barrier::new(1).wait()), "Barrier { .. } BarrierWaitResult { is_leader: true }");
}
