//! What shuttle 0.9 has beyond 0.8, as a suite uses it.

use mc_shuttle_suite::{Counter, Lossy};
use shuttle::scheduler::UrwRandomScheduler;
use shuttle::sync::Arc;
use shuttle::{Config, Runner, check_urw, thread};

fn counted() {
    let counter = Arc::new(Counter::default());
    let other = thread::spawn({
        let counter = counter.clone();
        move || counter.add()
    });
    counter.add();
    other.join().unwrap();
    assert_eq!(counter.get(), 2);
}

fn lost() {
    let counter = Arc::new(Lossy::default());
    let other = thread::spawn({
        let counter = counter.clone();
        move || counter.add()
    });
    counter.add();
    other.join().unwrap();
    assert_eq!(counter.get(), 2, "an update is lost");
}

#[test]
fn a_counter_counts_in_executions_drawn_evenly() {
    check_urw(counted, 100);
    Runner::new(UrwRandomScheduler::new_from_seed(7, 50), Config::new()).run(counted);
}

#[test]
#[should_panic(expected = "an update is lost")]
fn a_lost_update_is_found_in_executions_drawn_evenly() {
    check_urw(lost, 500);
}
