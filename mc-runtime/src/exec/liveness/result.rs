//! What becomes of the result of a call that returned: is it ever read?

use super::effects::defines_register;
use super::flow::is_call;
use super::function::Function;
use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess, Register,
};

/// What a function does with a result that it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// On no path is any of it read.
    Unused,
    /// It may be.
    Used,
    /// On some path it is still there when the function returns, whose frame is so large, with the address where it returns to.
    Returned { frame: u64 },
}

/// Follows every path from `start`, where `rax` holds a result.
pub(super) fn fate(function: &Function, start: u64) -> Fate {
    let mut info = InstructionInfoFactory::new();
    let mut seen = vec![false; function.instructions.len()];
    let (mut open, mut returns) = (vec![start], false);
    while let Some(at) = open.pop() {
        let Some(index) = function.index(at) else { return Fate::Used };
        if std::mem::replace(&mut seen[index], true) {
            continue;
        }
        let instruction = &function.instructions[index];
        if reads(instruction, &mut info) {
            return Fate::Used;
        }
        if overwrites(instruction) {
            continue;
        }
        let (target, next) = (instruction.near_branch_target(), instruction.next_ip());
        match instruction.flow_control() {
            FlowControl::Next => open.push(next),
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch if !function.has(target) => {
                return Fate::Used;
            }
            FlowControl::UnconditionalBranch => open.push(target),
            FlowControl::ConditionalBranch => open.extend([target, next]),
            // Who is called puts a result of its own there, and so does who unwinds.
            _ if is_call(instruction) => {}
            FlowControl::Exception => {}
            FlowControl::Return => returns = true,
            _ => return Fate::Used,
        }
    }
    let frame = || function.row(start).and_then(|row| row.size);
    match returns {
        false => Fate::Unused,
        true => frame().map_or(Fate::Used, |frame| Fate::Returned { frame }),
    }
}

fn is_result(register: Register) -> bool {
    register.full_register() == Register::RAX
}

/// Any part of it, or perhaps.
fn reads(i: &Instruction, info: &mut InstructionInfoFactory) -> bool {
    if i.mnemonic() == Mnemonic::Nop || i.flow_control() == FlowControl::Return {
        return false;
    }
    let used = info.info_options(i, InstructionInfoOptions::NO_MEMORY_USAGE).used_registers();
    used.iter().any(|r| is_result(r.register()) && !matches!(r.access(), OpAccess::Write | OpAccess::CondWrite))
}

/// All of it.
fn overwrites(i: &Instruction) -> bool {
    defines_register(i) && is_result(i.op0_register())
}
