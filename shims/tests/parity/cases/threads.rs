use std::collections::HashSet;
use std::time::Duration;

use subject::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use subject::sync::{Arc, Barrier};
use subject::thread::{self, Builder};
use subject::time::{Instant, SystemTime, UNIX_EPOCH};

#[test]
fn a_thread_gives_its_result_to_whoever_joins_it() {
    assert_eq!(thread::spawn(|| 1 + 1).join().unwrap(), 2);
    let text = String::from("moved");
    assert_eq!(thread::spawn(move || text).join().unwrap(), "moved");
}

#[test]
fn a_panic_is_given_to_whoever_joins() {
    let payload = thread::spawn(|| std::panic::resume_unwind(Box::new(5_u8))).join().unwrap_err();
    assert_eq!(payload.downcast_ref::<u8>(), Some(&5));
}

#[test]
fn a_thread_without_a_handle_goes_on() {
    let done = Arc::new(Barrier::new(2));
    let theirs = done.clone();
    drop(thread::spawn(move || theirs.wait()));
    done.wait();
}

#[test]
fn a_builder_names_threads() {
    let named = Builder::new().name("worker".to_owned()).stack_size(64 * 1024);
    assert!(format!("{named:?}").starts_with("Builder"));
    let thread = named.spawn(|| thread::current().name().map(str::to_owned)).unwrap();
    assert_eq!(thread.thread().name(), Some("worker"));
    assert_eq!(thread.join().unwrap().as_deref(), Some("worker"));
    assert_eq!(thread::spawn(|| thread::current().name().map(str::to_owned)).join().unwrap(), None);
}

#[test]
fn a_name_with_a_zero_byte_panics() {
    let named = Builder::new().name("a\0b".to_owned());
    assert!(std::panic::catch_unwind(|| named.spawn(|| {})).is_err());
}

#[test]
fn a_thread_may_borrow_what_outlives_its_join() {
    let value = 5;
    // SAFETY: the thread is joined before `value` ends.
    let thread = unsafe { Builder::new().spawn_unchecked(|| value + 1) }.unwrap();
    assert_eq!(thread.join().unwrap(), 6);
}

#[test]
fn threads_have_identifiers_of_their_own() {
    let own = thread::current().id();
    assert_eq!(own, thread::current().id());
    let others: HashSet<_> = (0..4)
        .map(|_| {
            let thread = thread::spawn(|| thread::current().id());
            let id = thread.thread().id();
            assert_eq!(thread.join().unwrap(), id);
            id
        })
        .collect();
    assert_eq!((others.len(), others.contains(&own)), (4, false));
    assert!(format!("{own:?}").starts_with("ThreadId("));
    assert!(format!("{:?}", thread::current()).starts_with("Thread { id: ThreadId("));
}

#[test]
fn is_finished_turns_true() {
    let gate = Arc::new(Barrier::new(2));
    let theirs = gate.clone();
    let thread = thread::spawn(move || _ = theirs.wait());
    assert!(!thread.is_finished());
    gate.wait();
    while !thread.is_finished() {
        thread::yield_now();
    }
    assert_eq!(format!("{thread:?}"), "JoinHandle { .. }");
    thread.join().unwrap();
}

#[test]
fn a_token_given_before_the_park_is_kept() {
    thread::current().unpark();
    thread::park();
    thread::park_timeout(Duration::from_millis(1));
}

#[test]
fn an_unpark_wakes_a_parked_thread() {
    let rounds = Arc::new(AtomicUsize::new(0));
    let theirs = rounds.clone();
    let thread = thread::spawn(move || {
        while theirs.load(SeqCst) == 0 {
            thread::park();
        }
    });
    rounds.store(1, SeqCst);
    thread.thread().unpark();
    thread.join().unwrap();
}

#[test]
fn a_thread_knows_that_it_unwinds() {
    struct Asks<'a>(&'a AtomicUsize);
    impl Drop for Asks<'_> {
        fn drop(&mut self) {
            self.0.store(1 + usize::from(thread::panicking()), SeqCst);
        }
    }
    let seen = AtomicUsize::new(0);
    drop(Asks(&seen));
    assert_eq!(seen.load(SeqCst), 1);
    let result = std::panic::catch_unwind(|| {
        let _asks = Asks(&seen);
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(result.is_err());
    assert_eq!(seen.load(SeqCst), 2);
    assert!(!thread::panicking());
}

#[test]
fn sleeping_takes_the_time() {
    let start = Instant::now();
    thread::sleep(Duration::from_millis(3));
    assert!(start.elapsed() >= Duration::from_millis(3));
    thread::yield_now();
    subject::hint::spin_loop();
    assert!(thread::available_parallelism().unwrap().get() >= 1);
}

#[test]
fn instants_can_be_added_and_compared() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    assert!(later > now);
    assert_eq!(later - now, Duration::from_secs(1));
    assert_eq!(now.checked_duration_since(later), None);
    assert_eq!((now.saturating_duration_since(later), now.duration_since(later)), (Duration::ZERO, Duration::ZERO));
    assert_eq!(later.checked_sub(Duration::from_secs(1)), Some(now));
    let mut moved = now;
    moved += Duration::from_secs(3);
    moved -= Duration::from_secs(2);
    assert_eq!((moved, now.checked_add(Duration::from_secs(1))), (later, Some(later)));
    assert!(SystemTime::now().duration_since(UNIX_EPOCH).is_ok());
}
