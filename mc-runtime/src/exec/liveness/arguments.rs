//! Which arguments a function is never going to look at.
//!
//! Followed from the function's first instruction, as in `walk`, but for the registers that the C calling convention of x86-64 passes integers in (System V ABI, 3.2.3).
//! A call reads all that are still there: it may pass them on.

use super::effects::defines_register;
use super::function::Function;
use iced_x86::{
    Code, FlowControl, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpKind, Register,
};

/// The first argument's register is the lowest bit.
const REGISTERS: [Register; 5] = [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8];
const ALL: u8 = (1 << REGISTERS.len()) - 1;

/// Of the first five arguments of the function, which returns nothing, those that are overwritten on every path before they are read, as bits.
pub(super) fn unused(function: &Function) -> u8 {
    let mut info = InstructionInfoFactory::new();
    let mut live = 0;
    let mut seen = vec![0; function.instructions.len()];
    let mut open = vec![(function.range.start, ALL)];
    while let Some((at, held)) = open.pop() {
        let Some(index) = function.index(at) else {
            live |= held;
            continue;
        };
        let held = held & !seen[index] & !live;
        seen[index] |= held;
        if held == 0 {
            continue;
        }
        let i = &function.instructions[index];
        let (reads, overwrites) = effects(i, &mut info);
        live |= held & reads;
        let held = held & !reads & !overwrites;
        let target = i.near_branch_target();
        let inside = function.has(target);
        match i.flow_control() {
            FlowControl::Next => open.push((i.next_ip(), held)),
            FlowControl::UnconditionalBranch if inside => open.push((target, held)),
            FlowControl::ConditionalBranch if inside => open.extend([(target, held), (i.next_ip(), held)]),
            FlowControl::Return | FlowControl::Exception => {}
            FlowControl::Interrupt if i.code() == Code::Int3 => {}
            _ => live |= held,
        }
    }
    ALL & !live
}

fn bit(register: Register) -> u8 {
    REGISTERS.iter().position(|r| *r == register.full_register()).map_or(0, |n| 1 << n)
}

/// What an instruction reads, perhaps only in part, and what it overwrites as a whole.
fn effects(i: &Instruction, info: &mut InstructionInfoFactory) -> (u8, u8) {
    if i.mnemonic() == Mnemonic::Nop {
        return (0, 0);
    }
    let address = bit(i.memory_base()) | bit(i.memory_index());
    if defines_register(i) {
        let zeroes = matches!(i.mnemonic(), Mnemonic::Xor | Mnemonic::Sub);
        let operands = (1..i.op_count()).filter(|n| !zeroes && i.op_kind(*n) == OpKind::Register);
        return (operands.fold(address, |all, n| all | bit(i.op_register(n))), bit(i.op0_register()));
    }
    let used = info.info_options(i, InstructionInfoOptions::NO_MEMORY_USAGE).used_registers();
    (used.iter().fold(address, |all, r| all | bit(r.register())), 0)
}
