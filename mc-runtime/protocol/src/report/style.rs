//! The escape sequences of a report: one table, plain or ANSI.

/// What stands before and after words that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what it is for")]
pub struct Style {
    pub good: &'static str,
    pub bad: &'static str,
    pub warn: &'static str,
    pub strong: &'static str,
    pub dim: &'static str,
    pub reset: &'static str,
}

impl Style {
    /// Nothing.
    pub const PLAIN: Self = Self { good: "", bad: "", warn: "", strong: "", dim: "", reset: "" };
    /// For terminals.
    pub const ANSI: Self = Self {
        good: "\x1b[1;32m",
        bad: "\x1b[1;31m",
        warn: "\x1b[1;33m",
        strong: "\x1b[1m",
        dim: "\x1b[2m",
        reset: "\x1b[0m",
    };
}
