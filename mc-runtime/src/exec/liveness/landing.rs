//! The landing pads of a function: its language-specific data area, in the form that gcc and LLVM give it.
//!
//! Source: Itanium C++ ABI, exception handling tables; `library/std/src/sys/personality/dwarf/eh.rs` reads the same.

use std::ops::Range;

/// The calls that unwind into the function itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Landings {
    by_call: Vec<(Range<u64>, u64)>,
}

const OMITTED: u8 = 0xff;
const ULEB128: u8 = 0x01;
const UDATA4: u8 = 0x03;

impl Landings {
    /// `None` if it is not understood.
    pub(super) fn parse(area: &[u8], function: u64) -> Option<Self> {
        let mut area = Reader(area);
        if area.byte()? != OMITTED {
            return None; // landing pads are counted from elsewhere
        }
        if area.byte()? != OMITTED {
            area.uleb128()?; // where the types are
        }
        let encoding = area.byte()?;
        let length = area.uleb128()? as usize;
        let mut calls = Reader(area.0.get(..length)?);
        let mut by_call = Vec::new();
        while !calls.0.is_empty() {
            let [start, length, pad] = [calls.offset(encoding)?, calls.offset(encoding)?, calls.offset(encoding)?];
            calls.uleb128()?; // what is done there
            if pad != 0 {
                let start = function.checked_add(start)?;
                by_call.push((start..start.checked_add(length)?, function.checked_add(pad)?));
            }
        }
        Some(Landings { by_call })
    }

    /// Where the call that contains `address` lands.
    pub(super) fn of(&self, address: u64) -> Option<u64> {
        self.by_call.iter().find(|(range, _)| range.contains(&address)).map(|(_, pad)| *pad)
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn uleb128(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn offset(&mut self, encoding: u8) -> Option<u64> {
        match encoding {
            ULEB128 => self.uleb128(),
            UDATA4 => Some(u64::from(u32::from_le_bytes([self.byte()?, self.byte()?, self.byte()?, self.byte()?]))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_with_a_pad_land_there_and_others_do_not() {
        // no lpstart, no types, uleb128; [0x10, +4) lands at 0x80, [0x14, +0x20) nowhere
        let area = [0xff, 0xff, 0x01, 9, 0x10, 4, 0x80, 1, 0, 0x14, 0x20, 0, 0];
        let landings = Landings::parse(&area, 0x1000).unwrap();
        assert_eq!([0x1010, 0x1013, 0x1014].map(|at| landings.of(at)), [Some(0x1080), Some(0x1080), None]);
    }

    #[test]
    fn what_is_cut_off_or_encoded_otherwise_is_not_understood() {
        assert!(Landings::parse(&[0xff, 0xff, 0x01, 9, 0x10], 0).is_none());
        assert!(Landings::parse(&[0x00, 0xff, 0x01, 0], 0).is_none());
        assert!(Landings::parse(&[0xff, 0xff, 0x1b, 4, 1, 2, 3, 0], 0).is_none());
    }
}
