//! From the text of an option to its value: counts, durations, sizes, strategies.

use std::fmt;

use crate::options::{Drop, MemoryModel, Reductions, Strategy};

/// What the text of an option should have been, for a message that starts with `expected`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected(pub &'static str);

impl fmt::Display for Expected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

impl std::error::Error for Expected {}

const DURATION: Expected = Expected("a duration above 0 such as `500ms`, `90s`, `10m` or `1h30m`");
const SIZE: Expected = Expected("a size above 0 such as `512M`, `4G` or `1500MB`");
const STRATEGY: Expected =
    Expected("`dfs`, `bfs`, `random`, `walk`, `pos` or `pct:N` (N priority changes, such as `pct:3`)");
const QUEUE: Expected = Expected("a whole number above 0, alone or followed by `:newest`, `:oldest` or `:random`");

/// A whole number above 0; `_` and `,` may group digits.
pub fn count(text: &str) -> Result<u64, Expected> {
    digits(text).filter(|count| *count > 0).ok_or(Expected("a whole number above 0"))
}

/// A seed, decimal or hexadecimal with `0x`.
pub fn seed(text: &str) -> Result<u64, Expected> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(&hex.replace('_', ""), 16).ok(),
        None => digits(text),
    };
    parsed.ok_or(Expected("a whole number of 64 bits, such as `42` or `0x5eed`"))
}

/// A duration in milliseconds: numbers with units, one after another.
pub fn duration(text: &str) -> Result<u64, Expected> {
    let mut rest = text.trim();
    let mut total = 0u64;
    while !rest.is_empty() {
        let (number, unit, after) = quantity(rest).ok_or(DURATION)?;
        let scale = match unit {
            "ms" => 1,
            "s" | "sec" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(DURATION),
        };
        total = number.checked_mul(scale).and_then(|part| total.checked_add(part)).ok_or(DURATION)?;
        rest = after.trim_start();
    }
    if total == 0 { Err(DURATION) } else { Ok(total) }
}

/// The text of a [`duration`], in the largest unit of which it is a whole number.
pub fn of_duration(milliseconds: u64) -> String {
    let units = [("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    let whole = units.into_iter().find(|(_, scale)| milliseconds > 0 && milliseconds.is_multiple_of(*scale));
    let (unit, scale) = whole.unwrap_or(("ms", 1));
    format!("{}{unit}", milliseconds / scale)
}

/// A size in bytes. `K`, `M`, `G`, `T` (and `KiB`, ...) are powers of 1024; `KB`, ... are powers of 1000.
pub fn size(text: &str) -> Result<u64, Expected> {
    let (number, unit, after) = quantity(text.trim()).ok_or(SIZE)?;
    let unit = unit.to_ascii_lowercase();
    let (letter, base) = match unit.as_str() {
        "" | "b" => ("", 1),
        "k" | "m" | "g" | "t" => (unit.as_str(), 1024u64),
        _ => match (unit.strip_suffix("ib"), unit.strip_suffix('b')) {
            (Some(letter), _) => (letter, 1024),
            (None, Some(letter)) => (letter, 1000),
            (None, None) => return Err(SIZE),
        },
    };
    let power = match letter {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(SIZE),
    };
    let bytes = base.checked_pow(power).and_then(|scale| number.checked_mul(scale));
    bytes.filter(|bytes| *bytes > 0 && after.is_empty()).ok_or(SIZE)
}

/// A strategy as on the command line.
pub fn strategy(text: &str) -> Result<Strategy, Expected> {
    match text {
        "dfs" => Ok(Strategy::Dfs),
        "bfs" => Ok(Strategy::Bfs),
        "random" => Ok(Strategy::Random),
        "walk" => Ok(Strategy::Walk),
        "pos" => Ok(Strategy::Pos),
        _ => {
            let depth = text.strip_prefix("pct:").and_then(|depth| depth.parse().ok());
            depth.filter(|depth| *depth > 0).map(Strategy::Pct).ok_or(STRATEGY)
        }
    }
}

/// All reductions but those that are named, with commas between.
pub fn all_reductions_but(text: &str) -> Result<Reductions, Expected> {
    text.split(',').try_fold(Reductions::default(), |left, name| Ok(left.without(name.trim().parse()?)))
}

/// A memory model by its name.
pub fn memory_model(text: &str) -> Result<MemoryModel, Expected> {
    match text {
        "rc20" => Ok(MemoryModel::Rc20),
        "sc" => Ok(MemoryModel::Sc),
        "tso" => Ok(MemoryModel::Tso),
        _ => Err(Expected("`rc20`, `sc` or `tso`")),
    }
}

/// `N`, or `N:newest`, `N:oldest`, `N:random`. A full frontier loses the newest unless it is said.
pub fn queue_limit(text: &str) -> Result<(u64, Drop), Expected> {
    let (limit, drop) = text.split_once(':').unwrap_or((text, "newest"));
    let drop = match drop {
        "newest" => Drop::Newest,
        "oldest" => Drop::Oldest,
        "random" => Drop::Random,
        _ => return Err(QUEUE),
    };
    Ok((count(limit).map_err(|_| QUEUE)?, drop))
}

/// How often something may happen: a whole number, which may be 0.
pub fn times(text: &str) -> Result<u32, Expected> {
    digits(text.trim()).and_then(|number| number.try_into().ok()).ok_or(Expected("a whole number below 4294967296"))
}

fn digits(text: &str) -> Option<u64> {
    let starts_with_digit = text.starts_with(|first: char| first.is_ascii_digit());
    starts_with_digit.then(|| text.replace(['_', ','], "").parse().ok()).flatten()
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
    fn durations_need_a_unit_and_are_above_zero() {
        assert_eq!(duration("10m"), Ok(600_000));
        assert_eq!(duration("1h30m"), Ok(5_400_000));
        assert_eq!(duration("250 ms"), Ok(250));
        for wrong in ["", "10", "0s", "m", "-1s", "1y", "1.5s", "99999999999999999999d", "18446744073709551615d"] {
            assert_eq!(duration(wrong), Err(DURATION), "{wrong}");
        }
    }

    #[test]
    fn a_duration_is_told_as_it_is_given() {
        for given in ["5ms", "1500ms", "2s", "90s", "10m", "2h", "90m"] {
            assert_eq!(of_duration(duration(given).unwrap()), given);
        }
        assert_eq!(of_duration(0), "0ms");
    }

    #[test]
    fn sizes_have_binary_and_decimal_units() {
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(size("4GiB"), Ok(4 << 30));
        assert_eq!(size("4GB"), Ok(4_000_000_000));
        assert_eq!(size("1024"), Ok(1024));
        for wrong in ["", "0", "G", "4X", "4 G x", "-4G", "99999999999T", "4Gb4"] {
            assert_eq!(size(wrong), Err(SIZE), "{wrong}");
        }
    }

    #[test]
    fn strategies_and_limits_are_strict() {
        assert_eq!(strategy("pct:3"), Ok(Strategy::Pct(3)));
        assert_eq!(strategy("pos"), Ok(Strategy::Pos));
        for wrong in ["pct", "pct:0", "pct:-1", "pos:3", "DFS", ""] {
            assert_eq!(strategy(wrong), Err(STRATEGY), "{wrong}");
        }
        assert_eq!(queue_limit("8"), Ok((8, Drop::Newest)));
        assert_eq!(queue_limit("8:random"), Ok((8, Drop::Random)));
        assert!(queue_limit("0").is_err() && queue_limit("8:").is_err() && queue_limit("x:oldest").is_err());
    }

    #[test]
    fn counts_may_be_grouped_and_seeds_hexadecimal() {
        assert_eq!(count("10_000"), Ok(10_000));
        assert!(count("0").is_err() && count("-1").is_err() && count("+1").is_err() && count("1e3").is_err());
        assert_eq!(seed("0x5eed"), Ok(0x5eed));
        assert_eq!(seed("0"), Ok(0));
        assert!(seed("seed").is_err());
    }
}
