//! What the value of an option may look like: the same forms that flags and the environment take (`mc_runtime::settings`; `tests/tests/options.rs` compares).

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A whole number of 64 bits.
    Number,
    /// A whole number above 0.
    Count,
    /// A whole number of 32 bits.
    Times,
    /// A [`Form::Count`], or a string with a colon and which item is lost.
    Queue,
    /// A string with a duration.
    Duration,
    /// A string with a size.
    Size,
    /// A string with the name of a strategy.
    Strategy,
    /// A string that is one of these words.
    Word(&'static [&'static str]),
    /// A string that is one of these words, or several with commas between.
    Words(&'static [&'static str]),
    /// Nothing, `true` or `false`.
    Flag,
}

/// The kinds of failure, as `expect` takes them.
pub(crate) const KINDS: [&str; 17] = [
    "panic",
    "deadlock",
    "lost_wakeup",
    "livelock",
    "data_race",
    "leak",
    "use_after_free",
    "double_free",
    "out_of_bounds",
    "uninit",
    "crash",
    "stack_overflow",
    "hang",
    "nondeterminism",
    "uncontrolled",
    "contract",
    "monitor",
];

/// Every option with the form of its value.
pub(crate) const OPTIONS: [(&str, Form); 19] = [
    ("memory_model", Form::Word(&["rc20", "sc", "tso"])),
    ("strategy", Form::Strategy),
    ("seed", Form::Number),
    ("max_executions", Form::Count),
    ("max_events", Form::Count),
    ("time_limit", Form::Duration),
    ("max_memory", Form::Size),
    ("max_failures", Form::Count),
    ("queue_limit", Form::Queue),
    ("hang_limit", Form::Duration),
    ("allow_panics", Form::Flag),
    ("allow_leaks", Form::Flag),
    ("spurious_failures", Form::Times),
    ("spurious_wakeups", Form::Times),
    ("threads", Form::Word(&["coroutines", "os"])),
    ("snapshots", Form::Times),
    (
        "no_reduction",
        Form::Words(&[
            "await", "barrier", "observer", "poll", "readers", "retry", "symmetry", "unused", "value", "all",
        ]),
    ),
    ("expect", Form::Word(&KINDS)),
    ("require", Form::Word(&["proved", "bounded", "sampled"])),
];

impl Form {
    /// Does this form come as a number without quotes?
    pub(crate) fn takes_numbers(self) -> bool {
        matches!(self, Self::Number | Self::Count | Self::Times | Self::Queue)
    }

    /// Does this form come as a string?
    pub(crate) fn takes_strings(self) -> bool {
        matches!(self, Self::Queue | Self::Duration | Self::Size | Self::Strategy | Self::Word(_) | Self::Words(_))
    }

    /// In a message, after "expected".
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Number => "a whole number of 64 bits without quotes, such as `42` or `0x5eed`".to_owned(),
            Self::Count => "a whole number above 0 without quotes, such as `10_000`".to_owned(),
            Self::Times => "a whole number below 4294967296 without quotes, such as `2`".to_owned(),
            Self::Queue => "a whole number above 0, or a string such as `\"100:newest\"`, `\"100:oldest\"` or `\"100:random\"`".to_owned(),
            Self::Duration => "a string with a duration above 0, such as `\"500ms\"`, `\"90s\"` or `\"1h30m\"`".to_owned(),
            Self::Size => "a string with a size above 0, such as `\"512M\"`, `\"4G\"` or `\"1500MB\"`".to_owned(),
            Self::Strategy => "`\"dfs\"`, `\"bfs\"`, `\"random\"`, `\"walk\"`, `\"pos\"` or `\"pct:N\"` (N priority changes, such as `\"pct:3\"`)".to_owned(),
            Self::Word(words) => one_of(words.iter().map(|word| format!("`\"{word}\"`"))),
            Self::Words(words) => format!("{}, or several in a string, with commas between", Self::Word(words).expected()),
            Self::Flag => "nothing (the name alone), `true` or `false`".to_owned(),
        }
    }

    /// Is this text, out of a string, right?
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Number | Self::Count | Self::Times | Self::Flag => false,
            Self::Queue => {
                let (limit, drop) = text.split_once(':').unwrap_or((text, "newest"));
                matches!(drop, "newest" | "oldest" | "random") && is_count(limit)
            }
            Self::Duration => duration(text).is_some_and(|total| total > 0),
            Self::Size => size(text).is_some_and(|total| total > 0),
            Self::Strategy => {
                let depth = text.strip_prefix("pct:").and_then(|depth| depth.parse::<u32>().ok());
                matches!(text, "dfs" | "bfs" | "random" | "walk" | "pos") || depth.is_some_and(|depth| depth > 0)
            }
            Self::Word(words) => words.contains(&text),
            Self::Words(words) => text.split(',').all(|word| words.contains(&word.trim())),
        }
    }
}

/// "a, b or c".
pub(crate) fn one_of(words: impl IntoIterator<Item = String>) -> String {
    let mut words: Vec<String> = words.into_iter().collect();
    match words.pop() {
        None => String::new(),
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} or {last}", words.join(", ")),
    }
}

/// The word that `typed` was probably meant to be: at most a third of its letters differ.
pub(crate) fn nearest<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = words.into_iter().map(|word| (distance(typed, word), word)).min()?;
    (best.0 <= typed.chars().count().max(3) / 3).then_some(best.1)
}

/// How many letters must be put in, taken out or replaced to come from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

fn is_count(text: &str) -> bool {
    digits(text).is_some_and(|count| count > 0)
}

fn digits(text: &str) -> Option<u64> {
    let starts_with_digit = text.starts_with(|first: char| first.is_ascii_digit());
    starts_with_digit.then(|| text.replace(['_', ','], "").parse().ok()).flatten()
}

/// Milliseconds: numbers with units, one after another.
fn duration(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total = 0u64;
    while !rest.is_empty() {
        let (number, unit, after) = quantity(rest)?;
        let scale = match unit {
            "ms" => 1,
            "s" | "sec" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(scale)?)?;
        rest = after.trim_start();
    }
    Some(total)
}

/// Bytes: a number and perhaps a unit, `K` to `T`, `KB`, `KiB`.
fn size(text: &str) -> Option<u64> {
    let (number, unit, after) = quantity(text.trim())?;
    let unit = unit.to_ascii_lowercase();
    let base = if unit.len() == 2 { 1000u64 } else { 1024 };
    let power = match unit.as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    after.is_empty().then(|| number.checked_mul(base.pow(power))).flatten()
}

/// The number and the unit at the start of `text`, and what follows.
fn quantity(text: &str) -> Option<(u64, &str, &str)> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let number = digits(&text[..unit])?;
    let tail = text[unit..].trim_start();
    let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
    Some((number, &tail[..end], &tail[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_that_flags_take() {
        let accepts = |form: Form, texts: &[&str]| texts.iter().all(|text| form.accepts(text));
        assert!(accepts(Form::Duration, &["10m", "1h30m", "250 ms", "90s"]));
        assert!(accepts(Form::Size, &["4G", "4GiB", "4GB", "1024", "1500MB"]));
        assert!(accepts(Form::Strategy, &["dfs", "bfs", "random", "walk", "pos", "pct:3"]));
        assert!(accepts(Form::Queue, &["8", "8:random", "100:oldest", "1_000:newest"]));
        let refuses = |form: Form, texts: &[&str]| !texts.iter().any(|text| form.accepts(text));
        assert!(refuses(Form::Duration, &["", "10", "0s", "m", "-1s", "1y", "1.5s", "99999999999999999999d"]));
        assert!(refuses(Form::Size, &["", "0", "G", "4X", "4 G x", "-4G", "99999999999T", "4Gb4"]));
        assert!(refuses(Form::Strategy, &["pct", "pct:0", "pct:-1", "DFS", ""]));
        assert!(refuses(Form::Queue, &["0", "8:", "x:oldest"]));
    }

    #[test]
    fn a_typing_error_finds_its_word_and_nonsense_none() {
        let names = || OPTIONS.iter().map(|(name, _)| *name);
        assert_eq!(nearest("max_execution", names()), Some("max_executions"));
        assert_eq!(nearest("memorymodel", names()), Some("memory_model"));
        assert_eq!(nearest("xyzzy", names()), None);
        assert_eq!(nearest("datarace", KINDS), Some("data_race"));
    }
}
