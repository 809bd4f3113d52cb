//! One function: its instructions, where its frame and its caller's registers are, and where it goes on when a call unwinds.

use super::Places;
use super::image::Image;
use super::landing::Landings;
use gimli::{CfaRule, Register, RegisterRule, UnwindContext};
use iced_x86::{Decoder, DecoderOptions, Instruction};
use std::ops::Range;

/// Longer ones are not looked at.
const LONGEST: u64 = 1 << 16;

/// The registers that calls preserve, as DWARF numbers them, in the order of [`Places`].
const PRESERVED: [Register; 6] = [Register(3), Register(6), Register(12), Register(13), Register(14), Register(15)];
const STACK_POINTER: Register = Register(7);

/// A function of the executable.
pub(super) struct Function {
    /// Where its code is.
    pub range: Range<u64>,
    /// All of it, in order.
    pub instructions: Vec<Instruction>,
    /// What its frame looks like, by address.
    rows: Vec<Row>,
    landings: Landings,
}

/// The frame while the code is in `range`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    range: Range<u64>,
    /// From the stack pointer to what it was before the call of this function; `None` if it is measured from elsewhere.
    pub size: Option<u64>,
    /// The registers of the caller that the frame keeps.
    pub saved: Places,
    /// How many bytes at its upper end are for these and for the return address.
    pub kept: u64,
}

/// Where control goes when a call unwinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwinding {
    /// To a landing pad of the function.
    Lands(u64),
    /// Through it, to its caller.
    Leaves,
}

impl Function {
    /// The function around an address.
    pub(super) fn around(image: &Image, address: u64) -> Option<Self> {
        let frame = image.frame(address)?;
        let start = frame.initial_address();
        let range = start..start.checked_add(frame.len())?;
        if frame.len() > LONGEST || !range.contains(&address) {
            return None;
        }
        let instructions: Vec<Instruction> =
            Decoder::with_ip(64, image.code(range.clone())?, start, DecoderOptions::NONE).iter().collect();
        let whole = instructions.iter().all(|i| !i.is_invalid()) && instructions.last()?.next_ip() == range.end;
        let landings = match frame.lsda() {
            Some(at) => Landings::parse(image.data(at.direct().ok()?)?, start)?,
            None => Landings::default(),
        };
        let (section, bases) = image.unwinding();
        let mut context = UnwindContext::new();
        let mut table = frame.rows(section, bases, &mut context).ok()?;
        let mut rows = Vec::new();
        while let Some(row) = table.next_row().ok()? {
            rows.push(Row::new(row)?);
        }
        whole.then_some(Function { range, instructions, rows, landings })
    }

    /// The number of the instruction that starts at `address`.
    pub(super) fn index(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, Instruction::ip).ok()
    }

    /// The frame at an instruction.
    pub(super) fn row(&self, address: u64) -> Option<&Row> {
        self.rows.iter().find(|row| row.range.contains(&address))
    }

    /// What an unwinding call does.
    pub(super) fn unwinding(&self, call: &Instruction) -> Unwinding {
        self.landings.of(call.next_ip() - 1).map_or(Unwinding::Leaves, Unwinding::Lands)
    }

    /// Is the address in it?
    pub(super) fn has(&self, address: u64) -> bool {
        self.range.contains(&address)
    }

    /// Is the frame made here, as against in another part of a function that the compiler has split?
    pub(super) fn makes_frame(&self) -> bool {
        self.instructions.first().is_some_and(|first| self.is_without_frame(first))
    }

    /// Is a jump out of the function the call of another one, in place of the return? The frame is given up by then.
    pub(super) fn calls_instead(&self, jump: &Instruction) -> bool {
        jump.near_branch_target() != 0 && self.is_without_frame(jump)
    }

    /// Is there no frame yet, or no more, at this instruction?
    pub(super) fn is_without_frame(&self, i: &Instruction) -> bool {
        self.row(i.ip()).is_some_and(|row| row.size == Some(8))
    }
}

impl Row {
    fn new(row: &gimli::UnwindTableRow<usize>) -> Option<Self> {
        let size = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                (*register == STACK_POINTER).then(|| u64::try_from(*offset)).transpose().ok()?
            }
            CfaRule::Expression(_) => None,
        };
        let (mut saved, mut kept) = (Places::NONE, 8);
        for (which, register) in PRESERVED.into_iter().enumerate() {
            match row.register(register) {
                None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => {}
                Some(RegisterRule::Offset(at)) => {
                    saved = saved | Places::register(which as u32);
                    kept = kept.max(u64::try_from(at.checked_neg()?).ok()?);
                }
                Some(_) => return None,
            }
        }
        Some(Row { range: row.start_address()..row.end_address(), size, saved, kept })
    }
}
