//! When the time of a check is over, without a look at the clock before each of a million short executions.

use std::time::{Duration, Instant};

/// The end of a check's time.
#[derive(Debug)]
pub(crate) struct TimeLimit {
    end: Option<Instant>,
    /// When the clock was looked at last.
    looked: Instant,
    /// After how many events it is looked at, and how many of them are left.
    stride: usize,
    left: usize,
}

/// As long as fewer than twice as many events take less time than this, more of them may pass from look to look.
const SHORT: Duration = Duration::from_millis(1);
const LONGEST_STRIDE: usize = 1024;

impl TimeLimit {
    /// From `started` on, if that is a time which can be counted to.
    pub(crate) fn new(started: Instant, milliseconds: Option<u64>) -> Self {
        let end = milliseconds.and_then(|ms| started.checked_add(Duration::from_millis(ms)));
        TimeLimit { end, looked: started, stride: 1, left: 0 }
    }

    /// The end, if there is one.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.end
    }

    /// Is the time over, after an execution of so many events? `late`: it has found it over.
    pub(crate) fn is_over(&mut self, late: bool, events: usize) -> bool {
        let Some(end) = self.end else { return false };
        if late {
            return true;
        }
        if self.left > events {
            self.left -= events + 1;
            return false;
        }
        self.look(end)
    }

    #[cold]
    fn look(&mut self, end: Instant) -> bool {
        let now = Instant::now();
        let short = now - self.looked < SHORT;
        self.stride = if short { (2 * self.stride).min(LONGEST_STRIDE) } else { 1 };
        (self.looked, self.left) = (now, self.stride);
        now >= end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_past_is_seen_at_the_first_look_and_by_who_is_late() {
        let started = Instant::now();
        assert!(TimeLimit::new(started, Some(0)).is_over(false, 0));
        let mut hour = TimeLimit::new(started, Some(3_600_000));
        assert!(!hour.is_over(false, 0));
        assert!(hour.is_over(true, 0));
        assert!(!TimeLimit::new(started, None).is_over(true, 0));
    }

    #[test]
    fn long_executions_are_each_followed_by_a_look() {
        let start = Instant::now();
        let mut limit = TimeLimit::new(start, Some(3_600_000));
        limit.looked = start.checked_sub(SHORT).expect("a moment before");
        assert!(!limit.is_over(false, 0));
        assert_eq!((limit.stride, limit.left), (1, 1));
        (limit.looked, limit.stride) = (Instant::now() + SHORT, 1000); // as if no time had passed
        assert!(!limit.is_over(false, 1));
        assert_eq!((limit.stride, limit.left), (LONGEST_STRIDE, LONGEST_STRIDE));
        assert!(!limit.is_over(false, 500));
        assert_eq!(limit.left, LONGEST_STRIDE - 501);
    }

    #[test]
    fn after_many_short_executions_a_long_one_is_followed_by_a_look() {
        let mut limit = TimeLimit::new(Instant::now(), Some(0));
        limit.left = LONGEST_STRIDE;
        assert!(!limit.is_over(false, 2));
        assert!(limit.is_over(false, LONGEST_STRIDE));
    }
}
