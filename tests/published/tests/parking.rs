//! parking 2.2.1: a thread parks until somebody unparks it.

use mc::thread;

#[mc::test]
fn an_unpark_before_or_after_is_not_lost() {
    let (parker, unparker) = parking::pair();
    let other = thread::spawn(move || parker.park());
    unparker.unpark();
    other.join().unwrap();
}

#[mc::test]
fn two_unparkers_leave_one_token_at_most() {
    let (parker, unparker) = parking::pair();
    let second = unparker.clone();
    let other = thread::spawn(move || second.unpark());
    let first = unparker.unpark();
    parker.park();
    let second = other.join().unwrap();
    assert!(first || second);
}

#[mc::test(expect = "deadlock")]
fn one_token_does_not_last_for_two_parks() {
    let (parker, unparker) = parking::pair();
    let other = thread::spawn(move || unparker.unpark());
    parker.park();
    parker.park();
    other.join().unwrap();
}
