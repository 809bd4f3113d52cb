//! The string form: `mc1.`, then base 32 of a header, the deviations, and a checksum.

use super::{Change, Deviation, Schedule};
use crate::options::MemoryModel;
use data_encoding::{Encoding, Specification};
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use thiserror::Error;

/// Why a string is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// Another version of the format.
    #[error(
        "the schedule has format `{found}`, this version of cargo-mc reads `mc1`; replay it with the version that made it"
    )]
    Version {
        /// What stands before the point.
        found: String,
    },
    /// No `mc1.` at its start.
    #[error("`{found}` is not a schedule: one starts with `mc1.`")]
    NotASchedule {
        /// The string, shortened.
        found: String,
    },
    /// A character outside of the alphabet.
    #[error("the schedule has a character at position {position} that none can have; copy all of it, and nothing else")]
    Character {
        /// From 1, in characters.
        position: usize,
    },
    /// The checksum is wrong, or it ends too early.
    #[error("the schedule is damaged or cut short (its checksum does not fit); copy all of it")]
    Damaged,
}

const PREFIX: &str = "mc1.";

/// The limits of spurious events that a schedule does not mention.
const USUAL: (u32, u32) = (1, 1);

fn alphabet() -> &'static Encoding {
    static ENCODING: OnceLock<Encoding> = OnceLock::new();
    ENCODING.get_or_init(|| {
        let mut specification = Specification::new();
        specification.symbols.push_str("abcdefghijkmnpqrstuvwxyz23456789");
        specification.encoding().expect("32 different characters")
    })
}

fn put(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn get(bytes: &mut &[u8]) -> Result<u32, ScheduleError> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or(ScheduleError::Damaged)?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return u32::try_from(value).map_err(|_| ScheduleError::Damaged);
        }
    }
    Err(ScheduleError::Damaged)
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = match self.memory_model {
            MemoryModel::Rc20 => 0,
            MemoryModel::Sc => 1,
            MemoryModel::Tso => 4,
        };
        let usual = self.spurious == USUAL;
        let switches = u8::from(self.allow_panics) << 1 | u8::from(!usual) << 3 | u8::from(self.uninit) << 4;
        let mut bytes = vec![model | switches];
        if !usual {
            put(&mut bytes, self.spurious.0);
            put(&mut bytes, self.spurious.1);
        }
        bytes.extend(self.digest.to_le_bytes());
        put(&mut bytes, self.learned.len() as u32);
        self.learned.iter().for_each(|key| bytes.extend(key.to_le_bytes()));
        put(&mut bytes, self.events);
        let mut last = 0;
        for deviation in &self.deviations {
            let (kind, value) = match deviation.change {
                Change::Thread(thread) => (0, thread),
                Change::Choice(choice) => (1, choice),
                Change::Stop { reads } => (2, reads),
            };
            // The distance to the deviation before, its kind, and its value.
            put(&mut bytes, (deviation.at - last) * 3 + kind);
            put(&mut bytes, value);
            last = deviation.at;
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        write!(f, "{PREFIX}{}", alphabet().encode(&bytes))
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let text = text.trim();
        let Some(body) = text.strip_prefix(PREFIX) else {
            let version = text.split_once('.').map(|(v, _)| v).filter(|v| {
                v.strip_prefix("mc").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
            });
            return Err(match version {
                Some(found) => ScheduleError::Version { found: found.to_owned() },
                None => ScheduleError::NotASchedule { found: text.chars().take(20).collect() },
            });
        };
        let bad = |c: char| !c.is_ascii() || !alphabet().specification().symbols.contains(c);
        if let Some(position) = body.chars().position(bad) {
            return Err(ScheduleError::Character { position: PREFIX.len() + position + 1 });
        }
        let bytes = alphabet().decode(body.as_bytes()).map_err(|_| ScheduleError::Damaged)?;
        let (mut bytes, sum) = bytes.split_last_chunk::<4>().ok_or(ScheduleError::Damaged)?;
        if crc32fast::hash(bytes).to_le_bytes() != *sum {
            return Err(ScheduleError::Damaged);
        }
        decode(&mut bytes)
    }
}

fn take_u16(bytes: &mut &[u8]) -> Result<u16, ScheduleError> {
    let (first, rest) = bytes.split_first_chunk::<2>().ok_or(ScheduleError::Damaged)?;
    *bytes = rest;
    Ok(u16::from_le_bytes(*first))
}

fn decode(bytes: &mut &[u8]) -> Result<Schedule, ScheduleError> {
    let flags = get(bytes)?;
    let memory_model = match flags & 5 {
        0 => MemoryModel::Rc20,
        1 => MemoryModel::Sc,
        4 => MemoryModel::Tso,
        _ => return Err(ScheduleError::Damaged),
    };
    let spurious = if flags & 8 == 8 { (get(bytes)?, get(bytes)?) } else { USUAL };
    let digest = take_u16(bytes)?;
    let keys = get(bytes)?;
    let learned = (0..keys).map(|_| take_u16(bytes)).collect::<Result<_, _>>()?;
    let events = get(bytes)?;
    let mut deviations = Vec::new();
    let mut last = 0u32;
    while !bytes.is_empty() {
        let head = get(bytes)?;
        last = last.checked_add(head / 3).ok_or(ScheduleError::Damaged)?;
        let change = match head % 3 {
            0 => Change::Thread(get(bytes)?),
            1 => Change::Choice(get(bytes)?),
            _ => Change::Stop { reads: get(bytes)? },
        };
        deviations.push(Deviation { at: last, change });
    }
    let (allow_panics, uninit) = (flags & 2 == 2, flags & 16 == 16);
    Ok(Schedule { memory_model, allow_panics, spurious, uninit, learned, deviations, events, digest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Schedule {
        let deviation = |at, change| Deviation { at, change };
        Schedule {
            memory_model: MemoryModel::Sc,
            allow_panics: true,
            spurious: USUAL,
            uninit: false,
            learned: vec![513, 7],
            deviations: vec![
                deviation(3, Change::Thread(2)),
                deviation(3, Change::Choice(400)),
                deviation(200, Change::Stop { reads: 2 }),
            ],
            events: 300,
            digest: 77,
        }
    }

    #[test]
    fn a_schedule_survives_its_string() {
        for memory_model in [MemoryModel::Rc20, MemoryModel::Sc, MemoryModel::Tso] {
            let schedule = Schedule { memory_model, ..example() };
            let text = schedule.to_string();
            assert_eq!(text.parse(), Ok(schedule));
            assert!(text.len() < 60, "{text}");
        }
        let schedule = Schedule { spurious: (0, 1_000), uninit: true, ..example() };
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }

    #[test]
    fn whoever_stops_later_is_known() {
        let named = Deviation { at: 200, change: Change::Thread(4) };
        let mut schedule = example();
        schedule.deviations.insert(2, named);
        assert_eq!(schedule.stop_of(4, 0), Some(2));
        assert_eq!(schedule.stop_of(4, 200), Some(2));
        assert_eq!(schedule.stop_of(4, 201), None, "it is over then");
        assert_eq!(schedule.stop_of(2, 0), None, "it makes another event");
    }

    #[test]
    fn every_damage_is_noticed() {
        let text = example().to_string();
        for end in 0..text.len() {
            assert!(text[..end].parse::<Schedule>().is_err(), "cut at {end}");
        }
        for at in PREFIX.len()..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'a' { b'b' } else { b'a' };
            assert!(String::from_utf8(bytes).unwrap().parse::<Schedule>().is_err(), "changed at {at}");
        }
    }

    #[test]
    fn another_version_and_other_text_are_told_apart() {
        assert_eq!("mc0.abc".parse::<Schedule>(), Err(ScheduleError::Version { found: "mc0".into() }));
        assert_eq!("mc2.abc".parse::<Schedule>(), Err(ScheduleError::Version { found: "mc2".into() }));
        assert_eq!("hello".parse::<Schedule>(), Err(ScheduleError::NotASchedule { found: "hello".into() }));
        assert_eq!("mc1.ab!".parse::<Schedule>(), Err(ScheduleError::Character { position: 7 }));
    }
}
