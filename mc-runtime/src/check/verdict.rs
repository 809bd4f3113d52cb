//! When a check ends, and what is known then.

use super::{Check, Event, sees_real_std};
use crate::options::Origin;
use crate::outcome::{Bound, Verdict};
use std::sync::atomic::Ordering;

/// How many samples are made when nobody says.
const SAMPLES: u64 = 10_000;

/// How many bytes may outlive the executions of a test, see `Origin::Foreign`.
const MOST_KEPT: usize = 1 << 30;

impl<F: FnMut(Event<'_>)> Check<F> {
    /// The frontier is empty.
    #[cold]
    #[inline(never)]
    pub(super) fn end(&mut self) -> Verdict {
        let options = &self.engine.options;
        self.cut.extend(self.too_long());
        let spurious = &self.engine.spurious;
        if spurious.wakeups_cut > 0 {
            self.cut.push(Bound::new("spurious_wakeups", options.spurious_wakeups.into(), spurious.wakeups_cut));
        }
        let failures_cut = spurious.sites.cut();
        if failures_cut > 0 {
            self.cut.push(Bound::new("spurious_failures", options.spurious_failures.into(), failures_cut));
        }
        let dropped = self.engine.explorer.frontier.dropped();
        if dropped > 0 {
            self.cut.push(Bound::new("queue_limit", options.queue_limit.map_or(0, |(n, _)| n), dropped));
        }
        let handed_over = &self.engine.handed_over;
        if handed_over.executions > 0 {
            let bound = Bound::new("address_reuse", 0, handed_over.executions);
            self.cut.push(Bound { spot: handed_over.first.clone(), ..bound });
        }
        if self.cut.is_empty() {
            self.cut.extend(self.in_vain());
        }
        if !self.sees_memory() {
            self.cut.push(Bound::new("instrument", 0, 1));
        }
        if sees_real_std() && !self.shares_nothing() {
            self.cut.push(Bound::new("real_std", 0, 1));
        }
        if !self.stays_within() {
            self.cut.push(Bound::new("system_calls", 0, 1));
        }
        match (self.failures.is_empty(), self.cut.is_empty()) {
            (false, _) => Verdict::Failed,
            (true, false) => Verdict::Bounded,
            (true, true) if self.shares_nothing() => Verdict::Ran,
            (true, true) => Verdict::Proved,
        }
    }

    /// Did executions have too many events?
    fn too_long(&self) -> Option<Bound> {
        let bound = Bound::new("max_events", self.engine.options.max_events, self.too_long);
        (self.too_long > 0).then(|| Bound { spot: self.busiest.clone(), ..bound })
    }

    fn in_vain(&self) -> Option<Bound> {
        in_vain((self.executions, self.blocked, self.failures.len()), self.engine.assumes)
    }

    /// Would a data race be seen?
    fn sees_memory(&self) -> bool {
        #[cfg(feature = "unmodified")]
        if self.engine.options.origin == Origin::Unmodified {
            return crate::instrumentation::is_on() || self.shares_nothing();
        }
        true
    }

    /// Is it known of every system call that it reaches out for nothing?
    fn stays_within(&self) -> bool {
        #[cfg(feature = "unmodified")]
        if self.engine.options.origin == Origin::Unmodified {
            return self.shares_nothing() || crate::system_calls::are_seen() && !self.engine.outside.ever;
        }
        true
    }

    /// A test that was written for no checker, and has no second thread: there is nothing to explore.
    fn shares_nothing(&self) -> bool {
        let alone = self.engine.explorer.graph.ranks().len() <= 1;
        self.engine.options.origin == Origin::Unmodified && (self.executions, self.blocked) == (1, 0) && alone
    }

    /// Whether a limit is reached.
    pub(super) fn limit(&mut self) -> Option<Verdict> {
        let seen = self.executions + self.blocked + self.too_long;
        let options = &self.engine.options;
        let sampling = self.engine.guide_samples();
        let no_limit = options.max_executions.is_none() && options.time_limit.is_none();
        let most = options.max_executions.or((sampling && no_limit).then_some(SAMPLES));
        if self.stop.load(Ordering::Relaxed) {
            std::hint::cold_path();
            return Some(if self.failures.is_empty() { Verdict::Interrupted } else { Verdict::Failed });
        }
        let (limit, value) = if most.is_some_and(|m| seen >= m) {
            ("max_executions", most.unwrap_or(0))
        } else if self.time_limit.is_over(self.engine.late, self.engine.order.len()) {
            ("time_limit", options.time_limit.unwrap_or(0))
        } else if self.engine.kept > MOST_KEPT {
            ("max_memory", MOST_KEPT as u64)
        } else {
            let most = options.max_memory.filter(|_| seen.is_multiple_of(256));
            ("max_memory", most.filter(|m| resident() > *m)?)
        };
        Some(self.at_limit(limit, value))
    }

    #[cold]
    #[inline(never)]
    fn at_limit(&mut self, limit: &str, value: u64) -> Verdict {
        let cut = self.engine.explorer.frontier.len() as u64 + 1;
        if self.engine.guide_samples() {
            if !self.failures.is_empty() {
                return Verdict::Failed;
            }
            self.cut.extend(self.too_long());
            let in_vain = self.in_vain();
            let verdict = if in_vain.is_some() { Verdict::Bounded } else { Verdict::Sampled };
            self.cut.extend(in_vain);
            return verdict;
        }
        self.cut.push(Bound::new(limit, value, cut));
        self.end()
    }
}

/// Whoever assumes what never holds would prove anything; and each execution that is given up has another one beside it that ends or fails, or else
/// something is wrong in here.
fn in_vain((executions, blocked, failures): (u64, u64, usize), assumes: bool) -> Option<Bound> {
    let limit = if assumes { "assume" } else { "no_end" };
    let in_vain = executions == 0 && blocked > 0 && (assumes || failures == 0);
    in_vain.then(|| Bound::new(limit, 0, blocked))
}

/// The memory of this process that is in use, in bytes; 0 where it cannot be told.
#[cold]
#[inline(never)]
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4096)
}

#[cfg(test)]
mod tests {
    use super::in_vain;

    #[test]
    fn where_no_execution_ends_nothing_is_proved() {
        let limit = |seen, assumes| in_vain(seen, assumes).map(|bound| bound.limit);
        assert_eq!(limit((0, 3, 0), false).as_deref(), Some("no_end"));
        assert_eq!(limit((0, 3, 0), true).as_deref(), Some("assume"));
        assert_eq!(limit((1, 3, 0), false), None);
        assert_eq!(limit((0, 0, 0), false), None);
        assert_eq!(limit((0, 3, 1), false), None, "it failed");
    }
}
