//! Every path from the place where a call returns, with what is not yet overwritten on it.

use super::Places;
use super::effects::{EVERY_WORD, effects, takes_address};
use super::flow::{go_on, is_call};
use super::function::{Function, Unwinding};
use super::returns::Returns;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory};

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
    let all = Places::with_slots(slots(function, start, returns));
    let seen = vec![None; function.instructions.len()];
    let mut walk = Walk { function, live: Places::NONE, seen, open: Vec::new() };
    walk.open.push(Arrival { at: start, depth: 0, held: all });
    let (mut info, mut next) = (InstructionInfoFactory::new(), Vec::new());
    while let Some(mut here) = walk.open.pop() {
        let Some(instruction) = walk.enter(&mut here) else { continue };
        let effects = effects(instruction, here.depth, &mut info);
        let reads = if takes_address(instruction) { effects.reads | EVERY_WORD } else { effects.reads };
        walk.reads(here.held & reads);
        here.held = here.held.without(reads | effects.overwrites);
        let after = Arrival { depth: here.depth + effects.moves, ..here };
        if go_on(function, instruction, returns, &mut next) {
            walk.leave(instruction, after);
        } else {
            walk.reads(after.held);
        }
        walk.open.extend(next.drain(..).map(|at| Arrival { at, ..after }));
    }
    all.without(walk.live)
}

/// How many words above the stack pointer can be looked at: none if anybody but the instructions that name them could reach them by then.
fn slots(function: &Function, start: u64, returns: &mut Returns<'_>) -> u32 {
    // To another part of the function, which may take an address and come back.
    let elsewhere = |i: &Instruction| match i.flow_control() {
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            !function.has(i.near_branch_target()) && !function.calls_instead(i)
        }
        FlowControl::IndirectBranch => !function.is_without_frame(i),
        _ => is_call(i) && matches!(function.unwinding(i), Unwinding::Lands(at) if !function.has(at)),
    };
    let is_whole = function.makes_frame() && !function.instructions.iter().any(elsewhere);
    if !is_whole || may_know_address(function, start, returns) {
        return 0;
    }
    let Some(row) = function.row(start) else { return 0 };
    row.size.map_or(0, |size| (size.saturating_sub(row.kept) / 8).min(64) as u32)
}

/// Does a path lead to `start` on which the address of a part of the frame is taken? One that only a panic takes, for its message, does not lead back into a loop.
fn may_know_address(function: &Function, start: u64, returns: &mut Returns<'_>) -> bool {
    let mut seen = vec![false; function.instructions.len()];
    let mut open = Vec::new();
    let mut is_followed =
        function.instructions.iter().filter(|i| takes_address(i)).all(|i| go_on(function, i, returns, &mut open));
    while let (true, Some(at)) = (is_followed, open.pop()) {
        let Some(index) = function.index(at).filter(|_| at != start) else { return true };
        if !std::mem::replace(&mut seen[index], true) {
            is_followed = go_on(function, &function.instructions[index], returns, &mut open);
        }
    }
    !is_followed
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

    /// What is read where control leaves the function after an instruction, or may do so.
    fn leave(&mut self, i: &Instruction, after: Arrival) {
        let registers = after.held & Places::ALL_REGISTERS;
        match i.flow_control() {
            FlowControl::Return => self.reads(registers),
            // The call of another function in place of the return.
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
                if !self.function.has(i.near_branch_target()) =>
            {
                self.reads(registers);
            }
            _ if is_call(i) => self.unwind(i, after),
            _ => {}
        }
    }

    fn unwind(&mut self, call: &Instruction, after: Arrival) {
        match self.function.unwinding(call) {
            Unwinding::Lands(_) if after.depth == 0 => {}
            Unwinding::Lands(_) => self.reads(after.held.without(Places::ALL_REGISTERS)),
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
