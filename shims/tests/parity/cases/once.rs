use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use subject::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use subject::sync::{LazyLock, Once, OnceLock};
use subject::thread;

static ONCE: Once = Once::new();
static CELL: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<Vec<u8>> = LazyLock::new(|| vec![1, 2]);

#[test]
fn statics_are_initialised_at_their_first_use() {
    ONCE.call_once(|| {});
    assert!(ONCE.is_completed());
    assert_eq!(CELL.get_or_init(|| "made".to_owned()), "made");
    assert_eq!(LAZY.len(), 2);
}

#[test]
fn one_of_many_calls_runs_and_all_see_it_done() {
    let (once, runs) = (Once::new(), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                once.call_once(|| {
                    thread::yield_now();
                    runs.fetch_add(1, SeqCst);
                });
                assert_eq!(runs.load(SeqCst), 1);
            });
        }
    });
}

#[test]
fn a_panic_poisons_a_once_and_force_repairs_it() {
    let once = Once::new();
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| resume_unwind(Box::new(()))))).is_err());
    assert!(!once.is_completed());
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| {}))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| once.wait())).is_err());
    let seen = Cell::new(false);
    once.call_once_force(|state| seen.set(state.is_poisoned()));
    assert!(seen.get() && once.is_completed());
    once.call_once_force(|_| unreachable!());
    once.wait();
    once.wait_force();
}

#[test]
fn a_wait_ends_with_the_call() {
    let once = Once::new();
    thread::scope(|scope| {
        scope.spawn(|| once.call_once(thread::yield_now));
        once.wait();
        assert!(once.is_completed());
    });
}

#[test]
fn the_state_of_a_first_call_is_shown() {
    let once = Once::new();
    once.call_once_force(|state| assert_eq!(format!("{state:?}"), "OnceState { poisoned: false }"));
    assert_eq!(format!("{once:?}"), "Once { .. }");
}

#[test]
fn a_cell_is_set_once() {
    let mut cell = OnceLock::new();
    assert!(cell.get().is_none() && cell.get_mut().is_none());
    assert_eq!(cell.set(1), Ok(()));
    assert_eq!(cell.set(2), Err(2));
    assert_eq!(*cell.get_or_init(|| 3), 1);
    *cell.get_mut().unwrap() = 4;
    assert_eq!(cell.take(), Some(4));
    assert_eq!(cell.get(), None);
    assert_eq!(cell.set(5), Ok(()));
    assert_eq!(cell.into_inner(), Some(5));
}

#[test]
fn a_cell_whose_initialisation_panics_stays_empty() {
    let cell = OnceLock::new();
    assert!(catch_unwind(AssertUnwindSafe(|| cell.get_or_init(|| resume_unwind(Box::new(()))))).is_err());
    assert_eq!(cell.get(), None::<&u8>);
    assert_eq!(*cell.get_or_init(|| 1), 1);
}

#[test]
fn waiters_get_the_value_that_another_thread_sets() {
    let cell = OnceLock::new();
    thread::scope(|scope| {
        scope.spawn(|| cell.set(1));
        assert_eq!(*cell.wait(), 1);
    });
}

#[test]
fn cells_compare_clone_and_show_their_values() {
    let cell = OnceLock::from(1);
    assert!(cell == cell.clone() && cell != OnceLock::default());
    assert_eq!(format!("{cell:?} {:?}", OnceLock::<u8>::new()), "OnceLock(1) OnceLock(<uninit>)");
}

#[test]
fn a_cell_may_borrow_from_what_is_dropped_before_it() {
    let cell = OnceLock::new();
    let text = String::from("borrowed");
    cell.set(text.as_str()).unwrap();
    assert_eq!(cell.get().copied(), Some("borrowed"));
}

#[test]
fn cells_drop_their_values_once() {
    struct Drops<'a>(&'a AtomicUsize);
    impl Drop for Drops<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let drops = AtomicUsize::new(0);
    drop(OnceLock::from(Drops(&drops)));
    let lazy = LazyLock::new(|| Drops(&drops));
    LazyLock::force(&lazy);
    drop(lazy);
    drop(LazyLock::new(|| Drops(&drops)));
    assert_eq!(drops.load(SeqCst), 2);
}

#[test]
fn a_lazy_value_is_made_by_the_first_who_asks() {
    let runs = AtomicUsize::new(0);
    let lazy = LazyLock::new(|| runs.fetch_add(1, SeqCst));
    assert!(LazyLock::get(&lazy).is_none());
    thread::scope(|scope| {
        scope.spawn(|| LazyLock::force(&lazy));
        scope.spawn(|| LazyLock::force(&lazy));
    });
    assert_eq!((*lazy, LazyLock::get(&lazy), runs.load(SeqCst)), (0, Some(&0), 1));
}

#[test]
fn a_lazy_value_can_be_made_and_changed_through_exclusive_access() {
    let mut lazy = LazyLock::new(|| 1);
    assert!(LazyLock::get_mut(&mut lazy).is_none());
    *LazyLock::force_mut(&mut lazy) += 1;
    *lazy += 1;
    assert_eq!(LazyLock::get_mut(&mut lazy), Some(&mut 3));
    assert_eq!(*LazyLock::force(&lazy), 3);
}

#[test]
fn a_lazy_value_whose_function_panics_is_poisoned() {
    let lazy: LazyLock<u8> = LazyLock::new(|| resume_unwind(Box::new(())));
    assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
    let mut lazy: LazyLock<u8> = LazyLock::new(|| resume_unwind(Box::new(())));
    assert!(catch_unwind(AssertUnwindSafe(|| *LazyLock::force_mut(&mut lazy))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| *LazyLock::force_mut(&mut lazy))).is_err());
}

#[test]
fn lazy_values_are_shown_when_they_are_there() {
    let lazy = LazyLock::<u8>::default();
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    assert_eq!(format!("{} {lazy:?}", *lazy), "0 LazyLock(0)");
}
