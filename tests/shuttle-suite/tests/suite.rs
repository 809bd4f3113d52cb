//! A suite as people write it for shuttle. Nothing in it knows what runs it.

use std::collections::HashSet;

use mc_shuttle_suite::{Counter, Gate, Lossy};
use shuttle::current::me;
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Barrier, Mutex, RwLock};
use shuttle::{
    Config, MaxSteps, PortfolioRunner, Runner, check_dfs, check_pct, check_random, check_random_with_seed,
    check_uncontrolled_nondeterminism, future, thread,
};

/// So many threads add one each, and all are counted.
fn counted(threads: usize) {
    let counter = Arc::new(Counter::default());
    let all: Vec<_> = (0..threads)
        .map(|_| {
            let counter = counter.clone();
            thread::spawn(move || counter.add())
        })
        .collect();
    all.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(counter.get(), threads);
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
fn a_counter_counts_in_random_executions() {
    check_random(|| counted(3), 200);
    check_random_with_seed(|| counted(2), 7, 50);
    check_pct(|| counted(3), 200, 3);
}

#[test]
fn a_counter_counts_in_all_executions() {
    // The closure captures, and a test may have several checks.
    for threads in [1, 2] {
        check_dfs(move || counted(threads), None);
    }
    check_dfs(|| counted(3), Some(50));
}

#[test]
#[should_panic(expected = "an update is lost")]
fn a_lost_update_is_found_in_random_executions() {
    check_random(lost, 500);
}

#[test]
#[should_panic(expected = "an update is lost")]
fn a_lost_update_is_found_by_priorities() {
    check_pct(lost, 500, 2);
}

#[test]
#[should_panic(expected = "an update is lost")]
fn a_lost_update_is_found_in_all_executions() {
    check_dfs(lost, None);
}

#[test]
#[should_panic(expected = "deadlock")]
fn locks_in_opposite_orders_are_a_deadlock() {
    check_random(
        || {
            let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
            let other = thread::spawn({
                let locks = locks.clone();
                move || {
                    let _second = locks.1.lock().unwrap();
                    *locks.0.lock().unwrap() += 1;
                }
            });
            {
                let _first = locks.0.lock().unwrap();
                *locks.1.lock().unwrap() += 1;
            }
            other.join().unwrap();
        },
        500,
    );
}

#[test]
fn threads_pass_a_gate_and_meet_at_a_barrier() {
    check_random(
        || {
            let gate = Gate::default();
            let barrier = Barrier::new(2);
            let leaders = AtomicUsize::new(0);
            let meet = || {
                if barrier.wait().is_leader() {
                    leaders.fetch_add(1, Ordering::SeqCst);
                }
            };
            thread::scope(|scope| {
                scope.spawn(|| {
                    gate.pass();
                    meet();
                });
                gate.open();
                meet();
            });
            assert_eq!(leaders.load(Ordering::SeqCst), 1);
        },
        100,
    );
}

#[test]
fn readers_see_the_whole_of_a_write() {
    check_dfs(
        || {
            let lock = Arc::new(RwLock::new((0, 0)));
            let writer = thread::spawn({
                let lock = lock.clone();
                move || *lock.write().unwrap() = (1, 1)
            });
            let (one, two) = *lock.read().unwrap();
            assert_eq!(one, two);
            writer.join().unwrap();
        },
        None,
    );
}

#[test]
fn relaxed_accesses_are_sequentially_consistent() {
    check_random(
        || {
            let both = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
            let other = thread::spawn({
                let both = both.clone();
                move || {
                    both.0.store(true, Ordering::Relaxed);
                    both.1.load(Ordering::Relaxed)
                }
            });
            both.1.store(true, Ordering::Relaxed);
            let mine = both.0.load(Ordering::Relaxed);
            assert!(other.join().unwrap() || mine);
        },
        300,
    );
}

#[test]
fn random_data_is_part_of_an_execution() {
    check_random(|| assert!(thread_rng().gen_range(0..10) < 10), 50);
    // Both values come up, in different executions.
    let seen = std::sync::Arc::new(std::sync::Mutex::new(HashSet::new()));
    check_random_with_seed(
        {
            let seen = seen.clone();
            move || {
                seen.lock().unwrap().insert(thread_rng().r#gen::<bool>());
            }
        },
        1,
        50,
    );
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[test]
#[should_panic(expected = "random data")]
fn random_data_is_refused_where_everything_is_explored() {
    check_dfs(|| assert!(thread_rng().gen_range(0..10) < 10), None);
}

shuttle::thread_local! {
    static OWN: std::cell::Cell<u32> = std::cell::Cell::new(0);
}

shuttle::lazy_static! {
    static ref SHARED: Mutex<u32> = Mutex::new(0);
}

#[test]
fn statics_start_afresh_in_each_execution() {
    check_random(
        || {
            let add = || {
                OWN.with(|own| own.set(own.get() + 1));
                *SHARED.lock().unwrap() += OWN.with(|own| own.get());
            };
            let other = thread::spawn(add);
            add();
            other.join().unwrap();
            assert_eq!(*SHARED.lock().unwrap(), 2);
        },
        50,
    );
}

#[test]
fn tasks_are_awaited() {
    check_random(
        || {
            let sum = future::block_on(async {
                let tasks = [1, 2].map(|value| future::spawn(async move { value }));
                let mut sum = 0;
                for task in tasks {
                    future::yield_now().await;
                    sum += task.await.unwrap();
                }
                sum
            });
            assert_eq!(sum, 3);
        },
        50,
    );
}

#[test]
#[should_panic(expected = "the second thread came first")]
fn threads_that_are_alike_are_told_apart_by_their_numbers() {
    let body = || {
        let count = Arc::new(AtomicUsize::new(0));
        let comes = |count: Arc<AtomicUsize>| {
            let is_first = count.fetch_add(1, Ordering::SeqCst) == 0;
            assert!(!is_first || usize::from(me()) != 2, "the second thread came first");
        };
        let threads = [count.clone(), count].map(|count| thread::spawn(move || comes(count)));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    check_dfs(body, None);
}

#[test]
fn a_runner_says_how_many_executions_it_made() {
    let runs = Runner::new(RandomScheduler::new(20), Config::new()).run(|| counted(2));
    assert_eq!(runs, 20);
    let runs = Runner::new(PctScheduler::new(2, 20), Config::new()).run(|| counted(2));
    assert_eq!(runs, 20);
    check_uncontrolled_nondeterminism(|| counted(2), 10);
}

#[test]
fn a_portfolio_runs_all_of_its_schedulers() {
    let mut portfolio = PortfolioRunner::new(true, Config::new());
    portfolio.add(RandomScheduler::new(20));
    portfolio.add(PctScheduler::new(2, 20));
    portfolio.add(DfsScheduler::new(Some(20), false));
    portfolio.run(|| counted(2));
}

#[test]
#[should_panic(expected = "max_steps")]
fn an_execution_that_is_too_long_fails() {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(100);
    let long = || {
        let value = AtomicUsize::new(0);
        while value.fetch_add(1, Ordering::SeqCst) < 1_000 {}
    };
    Runner::new(RandomScheduler::new(1), config).run(long);
}
