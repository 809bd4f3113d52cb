//! Every path from the place where a call returns, with what is not yet overwritten on it.

use super::Places;
use super::effects::{effects, takes_address};
use super::function::{Function, Unwinding};
use super::returns::Returns;
use iced_x86::{Code, FlowControl, Instruction, InstructionInfoFactory, Mnemonic};

/// A path has come to an instruction.
#[derive(Clone, Copy)]
struct Arrival {
    at: u64,
    /// How far the stack pointer is above where it was at the start.
    depth: i64,
    /// What still holds its value of the start.
    held: Places,
}

struct Walk<'a> {
    function: &'a Function,
    live: Places,
    /// By instruction: how deep it was first come to, and with what.
    seen: Vec<Option<(i64, Places)>>,
    open: Vec<Arrival>,
}

/// What is dead at `start`.
pub(super) fn dead(function: &Function, start: u64, returns: &mut Returns<'_>) -> Places {
    let all = Places::with_slots(slots(function, start));
    let seen = vec![None; function.instructions.len()];
    let mut walk = Walk { function, live: Places::NONE, seen, open: Vec::new() };
    walk.open.push(Arrival { at: start, depth: 0, held: all });
    let mut info = InstructionInfoFactory::new();
    while let Some(mut here) = walk.open.pop() {
        let Some(instruction) = walk.enter(&mut here) else { continue };
        let effects = effects(instruction, here.depth, &mut info);
        walk.reads(here.held & effects.reads);
        here.held = here.held.without(effects.reads | effects.overwrites);
        walk.leave(instruction, Arrival { depth: here.depth + effects.moves, ..here }, returns);
    }
    all.without(walk.live)
}

/// How many words above the stack pointer can be looked at: none if anybody but the instructions that name them could reach them.
fn slots(function: &Function, start: u64) -> u32 {
    let elsewhere = |i: &Instruction| {
        let jump = matches!(i.flow_control(), FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch);
        jump && !function.range.contains(&i.near_branch_target()) && !function.is_without_frame(i.ip())
    };
    if function.instructions.iter().any(|i| takes_address(i) || elsewhere(i)) {
        return 0;
    }
    let Some(row) = function.row(start) else { return 0 };
    row.size.map_or(0, |size| (size.saturating_sub(row.kept) / 8).min(64) as u32)
}

impl<'a> Walk<'a> {
    /// The instruction that a path has come to, if there is something new to learn from it.
    fn enter(&mut self, here: &mut Arrival) -> Option<&'a Instruction> {
        let Some(index) = self.function.index(here.at) else {
            self.reads(here.held);
            return None;
        };
        let (depth, before) = self.seen[index].unwrap_or((here.depth, Places::NONE));
        if depth != here.depth {
            self.reads(here.held.without(Places::ALL_REGISTERS));
        }
        here.held = here.held.without(before | self.live);
        self.seen[index] = Some((depth, before | here.held));
        (!here.held.is_empty()).then(|| &self.function.instructions[index])
    }

    /// Where control goes after an instruction.
    fn leave(&mut self, i: &Instruction, after: Arrival, returns: &mut Returns<'_>) {
        let next = Arrival { at: i.next_ip(), ..after };
        match i.flow_control() {
            FlowControl::Next => self.open.push(next),
            FlowControl::UnconditionalBranch => self.jump(i, after),
            FlowControl::IndirectBranch => self.jump_anywhere(i, after),
            FlowControl::ConditionalBranch => {
                self.jump(i, after);
                self.open.push(next);
            }
            FlowControl::Call | FlowControl::IndirectCall if i.mnemonic() == Mnemonic::Call => {
                self.unwind(i, after);
                // A call at the very end of a function cannot come back.
                if next.at != self.function.range.end && returns.may_return(i) {
                    self.open.push(next);
                }
            }
            FlowControl::Return => self.reads(after.held & Places::ALL_REGISTERS),
            FlowControl::Exception => {}
            FlowControl::Interrupt if i.code() == Code::Int3 => {}
            _ => self.reads(after.held),
        }
    }

    fn jump(&mut self, i: &Instruction, after: Arrival) {
        let target = i.near_branch_target();
        if self.function.range.contains(&target) {
            self.open.push(Arrival { at: target, ..after });
        } else if target != 0 && self.function.is_without_frame(i.ip()) {
            self.reads(after.held & Places::ALL_REGISTERS); // a call in place of the return
        } else {
            self.reads(after.held);
        }
    }

    /// By a table, as a `match` is compiled: to any instruction at which the frame has this size. Without a frame, it may be a call in place of the return.
    fn jump_anywhere(&mut self, i: &Instruction, after: Arrival) {
        let function = self.function;
        let size = function.row(i.ip()).and_then(|row| row.size).filter(|_| !function.is_without_frame(i.ip()));
        match size {
            Some(size) => self.open.extend(function.instructions_with_frame(size).map(|at| Arrival { at, ..after })),
            None => self.reads(after.held),
        }
    }

    fn unwind(&mut self, call: &Instruction, after: Arrival) {
        match self.function.unwinding(call) {
            Unwinding::Lands(at) => {
                if after.depth != 0 {
                    self.reads(after.held.without(Places::ALL_REGISTERS));
                }
                self.open.push(Arrival { at, ..after });
            }
            Unwinding::Leaves => {
                let saved = self.function.row(call.next_ip() - 1).map_or(Places::NONE, |row| row.saved);
                self.reads((after.held & Places::ALL_REGISTERS).without(saved));
            }
        }
    }

    fn reads(&mut self, places: Places) {
        self.live = self.live | places;
    }
}
