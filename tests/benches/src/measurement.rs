//! What a tool did with a workload, and the line in which its process says so.

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything was explored.
    Complete,
    /// The limit of time or executions came first.
    Truncated,
    /// The tool reported a failure. Of a correct workload that is a false alarm, or a limit of the tool. The executions are those
    /// up to the one that failed.
    Failed,
    /// The process said nothing.
    Crashed,
}

const ENDS: [(End, &str); 4] =
    [(End::Complete, "complete"), (End::Truncated, "truncated"), (End::Failed, "failed"), (End::Crashed, "crashed")];

impl End {
    /// As the line has it.
    pub fn name(self) -> &'static str {
        ENDS.iter().find(|(end, _)| *end == self).map_or("", |(_, name)| name)
    }
}

/// One tool, one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// How the last check ended.
    pub end: End,
    /// Complete executions of one check.
    pub complete: u64,
    /// Executions of one check that ended with a thread that waits. The peers do not tell them from complete ones.
    pub blocked: u64,
    /// How often the check was made; a short one is repeated, so that its time means something.
    pub checks: u64,
    /// Of all checks together.
    pub seconds: f64,
    /// The largest resident set of the process.
    pub peak_kib: u64,
    /// The first line of a failure.
    pub detail: String,
}

impl Measurement {
    /// No line came from the process.
    pub fn crashed(detail: &str) -> Self {
        let detail = detail.lines().next().unwrap_or_default().to_owned();
        Self { end: End::Crashed, complete: 0, blocked: 0, checks: 0, seconds: 0.0, peak_kib: 0, detail }
    }

    /// Executions of one check, of both kinds.
    pub fn executions(&self) -> u64 {
        self.complete + self.blocked
    }

    /// Seconds of one check.
    pub fn seconds_per_check(&self) -> f64 {
        self.seconds / self.checks.max(1) as f64
    }

    /// Executions per second.
    pub fn rate(&self) -> f64 {
        self.executions() as f64 / self.seconds_per_check().max(1e-9)
    }

    /// Together with the same measured again.
    #[must_use]
    pub fn and(&self, again: &Self) -> Self {
        Self { checks: self.checks + again.checks, seconds: self.seconds + again.seconds, ..self.clone() }
    }

    /// The line, without its end.
    pub fn to_line(&self) -> String {
        let Self { end, complete, blocked, checks, seconds, peak_kib, detail } = self;
        let detail = detail.lines().next().unwrap_or_default();
        format!("measured {} {complete} {blocked} {checks} {seconds} {peak_kib} {detail}", end.name())
    }

    /// Reads the line again.
    pub fn from_line(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("measured ")?.splitn(7, ' ');
        let name = words.next()?;
        let end = ENDS.iter().find(|(_, n)| *n == name)?.0;
        let mut number = || words.next()?.parse::<u64>().ok();
        let (complete, blocked, checks) = (number()?, number()?, number()?);
        let seconds = words.next()?.parse().ok()?;
        let peak_kib = words.next()?.parse().ok()?;
        let detail = words.next().unwrap_or_default().to_owned();
        Some(Self { end, complete, blocked, checks, seconds, peak_kib, detail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_as_what_it_was_written_from() {
        let detail = "both read 0".to_owned();
        let end = End::Failed;
        let written = Measurement { end, complete: 3, blocked: 1, checks: 2, seconds: 0.5, peak_kib: 2048, detail };
        assert_eq!(Measurement::from_line(&written.to_line()), Some(written.clone()));
        assert_eq!((written.executions(), written.rate()), (4, 16.0));
        assert_eq!(Measurement::from_line("measured twice"), None);
    }
}
