//! Numbers, times and what came of a test, in words.

use std::fmt::Write as _;
use std::time::Duration;

use mc_protocol::judge::Judgement;
use mc_protocol::outcome::{Bound, Outcome, Spot, Verdict};

use crate::run::Finished;

/// `1,284`
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1,284`, `12.3k`, `3.1M`: for numbers that change while one looks.
pub(super) fn rounded(number: f64) -> String {
    match number {
        number if number < 10_000.0 => grouped(number as u64),
        number if number < 1e6 => format!("{:.1}k", number / 1e3),
        number if number < 1e9 => format!("{:.1}M", number / 1e6),
        number => format!("{:.1}G", number / 1e9),
    }
}

/// `0.4s`, `12m 03s`
pub(super) fn seconds(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1}s");
    }
    let whole = seconds as u64;
    if whole < 3600 {
        format!("{}m {:02}s", whole / 60, whole % 60)
    } else {
        format!("{}h {:02}m", whole / 3600, whole / 60 % 60)
    }
}

/// `1 execution`, `2 executions`
pub(super) fn counted(number: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// The word at the start of a test's line.
pub(super) fn status(finished: &Finished) -> &'static str {
    match (finished.judgement, finished.outcome.verdict) {
        (Judgement::FailedAsExpected(_), _) => "FAILED as expected",
        (Judgement::Failed | Judgement::Unfulfilled(_), _) => "FAILED",
        (Judgement::Uncheckable, _) => "UNCHECKABLE",
        (Judgement::Error, _) => "ERROR",
        (Judgement::Interrupted, _) => "INTERRUPTED",
        (_, Verdict::Bounded) => "BOUNDED",
        (_, Verdict::Sampled) => "SAMPLED",
        (_, Verdict::Ran) => "RAN",
        (_, _) => "PROVED",
    }
}

/// What follows the name of a test.
pub(super) fn details(finished: &Finished) -> String {
    let outcome = &finished.outcome;
    match finished.judgement {
        Judgement::FailedAsExpected(_) => found(outcome),
        Judgement::Failed | Judgement::Uncheckable => {
            let told = outcome.failures.first().map(|failure| failure.kind);
            let expected = finished.goal.expect.filter(|kind| told != Some(*kind));
            found(outcome) + &expected.map(|kind| format!("; {} was expected", kind.noun())).unwrap_or_default()
        }
        Judgement::Unfulfilled(kind) => {
            format!("no execution shows {}, which was expected: {}", kind.noun(), explored(finished))
        }
        Judgement::Inconclusive(required) => format!("{}; required: {required}", explored(finished)),
        Judgement::Interrupted => format!("{} so far", explored(finished)),
        Judgement::Error => {
            let message = finished.error.as_ref().map_or("could not be checked", |(message, _)| message.as_str());
            message.lines().next().unwrap_or_default().to_owned()
        }
        Judgement::Passed => explored(finished),
    }
}

fn found(outcome: &Outcome) -> String {
    let Some(failure) = outcome.failures.first() else { return "failed".to_owned() };
    let more = match outcome.failures.len() {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let kind = failure.kind;
    if failure.schedule.is_empty() {
        return format!("{kind} in execution {}{more}", grouped(failure.execution));
    }
    format!("{kind} in execution {} (schedule {}){more}", grouped(failure.execution), short(&failure.schedule))
}

fn explored(finished: &Finished) -> String {
    let (outcome, options) = (&finished.outcome, &finished.options);
    if outcome.verdict == Verdict::Ran {
        return "once: there is nothing to check".to_owned();
    }
    if outcome.verdict == Verdict::Sampled {
        let runs = counted(outcome.executions + outcome.blocked, "run");
        return format!("{runs}, {}, seed {:#x}{}", options.strategy, options.seed, bounds(&outcome.bounds));
    }
    let mut text = counted(outcome.executions, "execution");
    if outcome.blocked > 0 {
        let _ = write!(text, ", {} blocked", grouped(outcome.blocked));
    }
    text + &bounds(&outcome.bounds)
}

fn bounds(bounds: &[Bound]) -> String {
    bounds.iter().map(|limit| format!(", {}", bound(limit))).collect()
}

fn bound(bound: &Bound) -> String {
    let (value, cut) = (grouped(bound.value), grouped(bound.cut));
    match bound.limit.as_str() {
        "max_events" => {
            let by = bound.spot.as_ref().map(|it| format!(", most of them by {}", spot(it)));
            format!("{cut} cut at {value} events{}", by.unwrap_or_default())
        }
        "max_executions" => format!("stopped at {value}"),
        "time_limit" => format!("stopped after {}", bound.given()),
        "max_memory" => format!("stopped at {value} bytes of memory"),
        "queue_limit" => format!("{cut} dropped from a queue of {value}"),
        "assume" => "what `mc::assume` asks for held in no execution, so nothing was checked to its end".to_owned(),
        "address_reuse" => {
            let who = bound.spot.as_ref().map_or("a compare-exchange".to_owned(), spot);
            format!(
                "not known if memory that another thread has just freed is there again, which {who} could take for what was there"
            )
        }
        "no_end" => {
            "no execution came to its end, nor failed, which is a mistake of the checker: please report it".to_owned()
        }
        "instrument" => "plain memory was not looked at".to_owned(),
        "real_std" => "std's own code ran, of which not all is seen".to_owned(),
        "system_calls" => "what it does outside of itself is not known".to_owned(),
        "max_failures" => format!("stopped after {}", counted(bound.value, "failure")),
        other => format!("{cut} cut by {other} = {value}"),
    }
}

/// `T1 at src/pool.rs:31`.
pub(super) fn spot(Spot { thread, site }: &Spot) -> String {
    let site = site.as_ref().map(|site| format!(" at {}:{}", site.file, site.line));
    thread.clone() + &site.unwrap_or_default()
}

/// A schedule in a line of other things; whole ones stand in the report below.
fn short(schedule: &str) -> String {
    const SHOWN: usize = 24;
    if schedule.chars().count() <= SHOWN {
        return schedule.to_owned();
    }
    schedule.chars().take(SHOWN - 1).chain(['…']).collect()
}

/// While a test runs: `12.3k executions, 410.0k/s, about 1.2M, 3.0s left`.
pub(super) fn so_far(executions: u64, blocked: u64, estimate: Option<f64>, time: Duration) -> String {
    let done = (executions + blocked) as f64;
    let rate = done / time.as_secs_f64().max(0.001);
    let mut text = format!("{} executions, {}/s", rounded(done), rounded(rate));
    if let Some(estimate) = estimate.filter(|estimate| *estimate > done) {
        let left = seconds((estimate - done) / rate.max(0.001));
        let _ = write!(text, ", about {}, {left} left", rounded(estimate));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mc_protocol::outcome::Site;

    #[test]
    fn numbers_are_grouped_and_rounded() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([9_999.0, 12_345.0, 3_100_000.0].map(rounded), ["9,999", "12.3k", "3.1M"]);
        assert_eq!([0.04, 59.9, 61.0, 7200.0].map(seconds), ["0.0s", "59.9s", "1m 01s", "2h 00m"]);
    }

    #[test]
    fn a_time_limit_is_said_as_it_was_given() {
        let said = |value| bound(&Bound::new("time_limit", value, 1));
        assert_eq!([5, 1500, 90_000].map(said), ["stopped after 5ms", "stopped after 1500ms", "stopped after 90s"]);
    }

    #[test]
    fn a_comparison_that_could_tell_is_named() {
        let site = Some(Site { file: "src/stack.rs".to_owned(), line: 30 });
        let spot = Some(Spot { thread: "T2".to_owned(), site });
        let said = bound(&Bound { spot, ..Bound::new("address_reuse", 0, 3) });
        assert_eq!(
            said,
            "not known if memory that another thread has just freed is there again, which T2 at src/stack.rs:30 could take for what was there"
        );
    }

    #[test]
    fn progress_names_the_rate_and_what_is_left() {
        let text = so_far(1000, 0, Some(3000.0), Duration::from_secs(1));
        assert_eq!(text, "1,000 executions, 1,000/s, about 3,000, 2.0s left");
        assert_eq!(so_far(5, 5, Some(1.0), Duration::from_secs(1)), "10 executions, 10/s");
    }
}
