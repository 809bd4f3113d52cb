//! Tests that check models in the middle of themselves: the client's side. libtest runs such a test, so that its exit code says whether the test is content.

use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use super::{Attention, Binary, ClientError, End, Output, died};
use crate::judge::{Goal, Judgement, Required, judge};
use crate::message::{ENVIRONMENT, Message, Task};
use crate::options::Options;
use crate::outcome::{Failure, FailureKind, Outcome, Site, Verdict};

/// What libtest exits with when a test fails.
const FAILED: i32 = 101;

/// A test as libtest lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Marked `#[ignore]`.
    pub ignored: bool,
}

impl Binary {
    /// All of libtest's tests, checked or not; none if the binary is not one of libtest's.
    pub fn list_all(&self) -> Result<Vec<Listed>, ClientError> {
        let all = self.names(&["--list", "--format", "terse"])?;
        let ignored = self.names(&["--list", "--format", "terse", "--ignored"])?;
        Ok(all.into_iter().map(|name| Listed { ignored: ignored.contains(&name), name }).collect())
    }

    fn names(&self, arguments: &[&str]) -> Result<Vec<String>, ClientError> {
        let mut command = Command::new(&self.executable);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.env_remove(ENVIRONMENT).stdin(Stdio::null()).stderr(Stdio::null());
        let output =
            command.output().map_err(|source| ClientError::Start { executable: self.executable.clone(), source })?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    /// Runs a test of libtest's, and explores each model that it comes to. The outcomes of all are added up. Each must come to what is `asked` for, or else to
    /// what the test itself says.
    pub fn check_models(
        &self,
        test: &str,
        options: &Options,
        asked: Option<Required>,
        control: Attention<'_>,
    ) -> Result<Outcome, ClientError> {
        let begun = Instant::now();
        let task = Task::Check { options: options.clone() };
        let mut heard = Heard { asked, ..Heard::default() };
        let end = self.attend(test, &task, options, Output::Hidden, control, &mut |message| {
            heard.listen(message);
            false
        })?;
        let mut outcome = match end {
            End::Answered | End::Stopped => heard.unfinished(Verdict::Interrupted, None),
            End::Hung => heard.unfinished(Verdict::Failed, Some(died::hung(options))),
            End::Died(status) => heard.ended(&status),
        };
        outcome.seconds = begun.elapsed().as_secs_f64();
        Ok(outcome)
    }
}

/// What a worker has said.
#[derive(Default)]
struct Heard {
    asked: Option<Required>,
    /// The weakest that models must come to, and the strongest that one of them missed.
    required: Option<Required>,
    missed: Option<Required>,
    /// Of the models that are done.
    models: Option<Outcome>,
    /// A model is not done.
    begun: bool,
    /// Its failures.
    failures: Vec<Failure>,
    executions: u64,
    panicked: Option<(String, Option<Site>)>,
}

impl Heard {
    fn listen(&mut self, message: &Message) {
        match message {
            Message::Again => *self = Heard { asked: self.asked, ..Heard::default() },
            Message::Started => self.begun = true,
            Message::Model { outcome, require } => {
                self.begun = false;
                self.failures.clear();
                self.require(outcome, self.asked.unwrap_or(*require));
                match &mut self.models {
                    Some(models) => models.add(outcome.clone()),
                    None => self.models = Some(outcome.clone()),
                }
            }
            Message::Failure(failure) => self.failures.push(failure.clone()),
            Message::Progress { executions, .. } => self.executions = *executions,
            Message::Panicked { message, site } => self.panicked = Some((message.clone(), site.clone())),
            _ => {}
        }
    }

    fn require(&mut self, outcome: &Outcome, require: Required) {
        self.required = Some(self.required.map_or(require, |weakest| weakest.min(require)));
        if let Judgement::Inconclusive(missed) = judge(outcome, Goal { expect: None, require }) {
            self.missed = self.missed.max(Some(missed));
        }
    }

    /// The process ended in the middle of a model.
    fn unfinished(self, verdict: Verdict, otherwise: Option<Failure>) -> Outcome {
        let failed = !self.failures.is_empty();
        let mut rest = Outcome::of(if failed { Verdict::Failed } else { verdict });
        let before = self.models.as_ref().map_or(0, |models| models.executions);
        rest.executions = self.executions.saturating_sub(before);
        rest.failures = if failed { self.failures } else { otherwise.into_iter().collect() };
        let mut all = self.models.unwrap_or_else(|| Outcome::of(Verdict::Ran));
        all.add(rest);
        all
    }

    /// libtest has ended.
    fn ended(self, status: &ExitStatus) -> Outcome {
        if self.begun || !(status.success() || status.code() == Some(FAILED)) {
            return self.unfinished(Verdict::Failed, Some(died::died(status)));
        }
        let called = self.models.is_some();
        let mut outcome = self.models.unwrap_or_else(|| Outcome { executions: 1, ..Outcome::of(Verdict::Ran) });
        outcome.required = self.missed.or(self.required);
        let failed = !outcome.failures.is_empty();
        match (status.success(), failed) {
            (true, wanted) => outcome.wanted = wanted,
            (false, true) => {}
            (false, false) => {
                let (message, site) = match self.panicked {
                    Some((message, site)) => (format!("{message}\noutside of the models of the test"), site),
                    None if called => {
                        ("the test has `#[should_panic]`, but no execution of its models panics".to_owned(), None)
                    }
                    None => ("the test fails without having checked a model; `cargo test` says how".to_owned(), None),
                };
                let (thread, schedule) = ("main".to_owned(), String::new());
                let failure = Failure { kind: FailureKind::Panic, message, thread, site, schedule, execution: 1 };
                outcome.add(Outcome { failures: vec![failure], ..Outcome::of(Verdict::Failed) });
            }
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn failure() -> Failure {
        let (thread, schedule) = ("main".to_owned(), String::new());
        let message = "one".to_owned();
        Failure { kind: FailureKind::Deadlock, message, thread, site: None, schedule, execution: 3 }
    }

    fn model(verdict: Verdict, failures: Vec<Failure>) -> Message {
        required(verdict, failures, Required::Proved)
    }

    fn required(verdict: Verdict, failures: Vec<Failure>, require: Required) -> Message {
        Message::Model { outcome: Outcome { executions: 5, failures, ..Outcome::of(verdict) }, require }
    }

    fn ended(messages: &[Message], code: i32) -> Outcome {
        let mut heard = Heard::default();
        messages.iter().for_each(|message| heard.listen(message));
        heard.ended(&ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn models_add_up_and_the_weaker_verdict_counts() {
        let outcome = ended(&[model(Verdict::Proved, vec![]), model(Verdict::Bounded, vec![])], 0);
        assert_eq!((outcome.verdict, outcome.executions, outcome.wanted), (Verdict::Bounded, 10, false));
    }

    #[test]
    fn each_model_must_come_to_what_the_test_says_of_it() {
        let judged = |messages: &[Message]| {
            let outcome = ended(messages, 0);
            judge(&outcome, Goal { expect: None, require: Required::Proved }.or_own(&outcome))
        };
        let sampled = required(Verdict::Sampled, vec![], Required::Sampled);
        let bounded = required(Verdict::Bounded, vec![], Required::Bounded);
        assert_eq!(judged(&[sampled.clone(), model(Verdict::Proved, vec![]), bounded]), Judgement::Passed);
        let missed = Judgement::Inconclusive(Required::Proved);
        assert_eq!(judged(&[sampled.clone(), model(Verdict::Bounded, vec![])]), missed);
        let mut heard = Heard { asked: Some(Required::Bounded), ..Heard::default() };
        heard.listen(&sampled);
        assert_eq!(heard.ended(&ExitStatus::from_raw(0)).required, Some(Required::Bounded));
    }

    #[test]
    fn what_a_worker_said_before_it_began_again_does_not_count() {
        let before = [Message::Started, model(Verdict::Proved, vec![]), Message::Started, Message::Failure(failure())];
        let after = [Message::Again, Message::Started, model(Verdict::Bounded, vec![])];
        let messages: Vec<Message> = before.into_iter().chain(after).collect();
        let outcome = ended(&messages, 0);
        assert_eq!((outcome.verdict, outcome.executions, outcome.failures.len()), (Verdict::Bounded, 5, 0));
    }

    #[test]
    fn a_failure_with_which_libtest_is_content_is_wanted() {
        let failed = model(Verdict::Failed, vec![failure()]);
        assert!(ended(std::slice::from_ref(&failed), 0).wanted);
        let outcome = ended(&[Message::Failure(failure()), failed], 101);
        assert_eq!((outcome.verdict, outcome.wanted, outcome.failures.len()), (Verdict::Failed, false, 1));
    }

    #[test]
    fn a_test_that_fails_elsewhere_fails() {
        let panicked = Message::Panicked { message: "left".to_owned(), site: None };
        let outcome = ended(&[model(Verdict::Proved, vec![]), panicked], 101);
        assert!(outcome.failures[0].message.starts_with("left\noutside"));
        let outcome = ended(&[model(Verdict::Proved, vec![])], 101);
        assert!(outcome.failures[0].message.contains("should_panic"));
        assert_eq!(ended(&[], 101).verdict, Verdict::Failed);
    }

    #[test]
    fn a_test_without_a_model_has_run() {
        let outcome = ended(&[], 0);
        assert_eq!((outcome.verdict, outcome.executions), (Verdict::Ran, 1));
    }

    #[test]
    fn a_process_that_ends_in_a_model_has_proved_nothing_however_it_ends() {
        let outcome = ended(&[Message::Started, model(Verdict::Proved, vec![]), Message::Started], 0);
        assert_eq!((outcome.verdict, outcome.failures[0].kind), (Verdict::Failed, FailureKind::Crash));
        assert_eq!(ended(&[Message::Started], 0).verdict, Verdict::Failed);
    }

    #[test]
    fn a_worker_that_dies_in_a_model_leaves_its_last_words() {
        let outcome = ended(&[model(Verdict::Proved, vec![]), Message::Failure(failure())], 70);
        assert_eq!((outcome.verdict, outcome.failures.len()), (Verdict::Failed, 1));
        let outcome = ended(&[Message::Started], 70);
        assert_eq!(outcome.failures[0].kind, FailureKind::Crash);
    }
}
