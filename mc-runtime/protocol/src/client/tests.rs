//! The client against `fake-worker.sh`, which plays one part for each test name.

use super::*;
use crate::outcome::FailureKind;

fn fake() -> Binary {
    Binary::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/client/fake-worker.sh"))
}

fn check(test: &str) -> Result<Outcome, ClientError> {
    check_with(test, &Options::default(), &mut |_| Control::Continue)
}

fn check_with(test: &str, options: &Options, control: Attention<'_>) -> Result<Outcome, ClientError> {
    fake().check(test, options, control)
}

#[test]
fn the_outcome_is_the_one_of_done_and_messages_are_handed_on() {
    let mut seen = 0;
    let outcome = check_with("proved", &Options::default(), &mut |message| {
        seen += usize::from(message.is_some());
        Control::Continue
    });
    let outcome = outcome.unwrap();
    assert_eq!((outcome.verdict, outcome.executions, seen), (Verdict::Proved, 7, 3));
}

#[test]
fn a_worker_that_tells_its_failure_and_dies_is_a_failed_test_with_its_schedule() {
    let outcome = check("segfault").unwrap();
    assert_eq!(outcome.verdict, Verdict::Failed);
    assert_eq!((outcome.failures.len(), outcome.failures[0].schedule.as_str()), (1, "mc1.abc"));
    assert_eq!(outcome.executions, 40);
}

#[test]
fn a_worker_that_is_killed_is_a_crash_without_a_schedule() {
    let outcome = check("killed").unwrap();
    let failure = &outcome.failures[0];
    assert_eq!((failure.kind, failure.schedule.as_str(), failure.execution), (FailureKind::Crash, "", 42));
    assert!(failure.message.contains("SIGKILL"), "{}", failure.message);
}

#[test]
fn what_a_worker_said_before_it_began_again_does_not_count() {
    let outcome = check("again").unwrap();
    let failure = &outcome.failures[0];
    assert_eq!((outcome.failures.len(), outcome.executions, failure.execution), (1, 3, 5));
    assert!(failure.message.contains("SIGKILL"), "{}", failure.message);
}

#[test]
fn an_exit_in_the_middle_is_a_crash_that_names_the_code() {
    let outcome = check("exits").unwrap();
    assert!(outcome.failures[0].message.contains("exited with code 3"));
}

#[test]
fn a_stop_gets_what_the_worker_knows() {
    let mut control = |message: Option<&Message>| match message {
        Some(Message::Progress { .. }) => Control::Stop,
        _ => Control::Continue,
    };
    let outcome = check_with("stoppable", &Options::default(), &mut control).unwrap();
    assert_eq!((outcome.verdict, outcome.executions), (Verdict::Interrupted, 5));
}

#[test]
fn a_worker_that_does_not_stop_is_killed_and_what_it_said_counts() {
    let mut control = |message: Option<&Message>| match message {
        Some(Message::Progress { .. }) => Control::Stop,
        _ => Control::Continue,
    };
    let outcome = check_with("deaf", &Options::default(), &mut control).unwrap();
    assert_eq!((outcome.verdict, outcome.executions), (Verdict::Interrupted, 9));
}

#[test]
fn a_refusal_and_an_unknown_message_are_errors() {
    let refused = check("refused").unwrap_err();
    assert_eq!((refused.exit_code(), refused.to_string().as_str()), (122, "the schedule is damaged"));
    assert!(matches!(check("newer").unwrap_err(), ClientError::Protocol { .. }));
    assert!(matches!(check("ordinary").unwrap_err(), ClientError::Silent { .. }));
    let missing = Binary::new("/nonexistent/binary").check("x", &Options::default(), &mut |_| Control::Continue);
    assert!(matches!(missing.unwrap_err(), ClientError::Start { .. }));
}

#[test]
fn tests_are_listed_and_a_binary_that_knows_nothing_has_none() {
    let tests = fake().list().unwrap().unwrap();
    assert_eq!((tests.len(), tests[0].name.as_str()), (1, "queue::spsc"));
    assert_eq!(Binary::new("/bin/true").list().unwrap(), None);
}

#[test]
fn a_replay_gives_the_events_and_the_end() {
    let replay = |test| fake().replay(test, &Options::default(), "mc1.x", Print::Hidden, &mut |_| Control::Continue);
    let (events, replayed) = replay("replayed").unwrap();
    assert_eq!((events.len(), replayed), (1, Replayed::Passed));
    let (events, replayed) = replay("aborts").unwrap();
    let Replayed::Failed(failure) = replayed else { panic!("{replayed:?}") };
    assert_eq!((events.len(), failure.kind, failure.schedule.as_str()), (1, FailureKind::Crash, "mc1.x"));
    assert!(failure.message.contains("SIGABRT"));
}
