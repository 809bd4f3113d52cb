//! What one instruction reads and overwrites, of the registers that calls preserve and of the words on the stack.
//!
//! Overwriting is believed of a few plain instructions only; every other mention of a place reads it.

use super::Places;
use iced_x86::{Code, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpKind, Register};

/// What an instruction does, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effects {
    /// Reads, perhaps only in part.
    pub reads: Places,
    /// Overwrites as a whole.
    pub overwrites: Places,
    /// How it moves the stack pointer.
    pub moves: i64,
}

/// The bit of a register, whatever part of it is named.
fn preserved(register: Register) -> Places {
    match register.full_register() {
        Register::RBX => Places::register(0),
        Register::RBP => Places::register(1),
        Register::R12 => Places::register(2),
        Register::R13 => Places::register(3),
        Register::R14 => Places::register(4),
        Register::R15 => Places::register(5),
        _ => Places::NONE,
    }
}

fn is_stack_pointer(register: Register) -> bool {
    register.full_register() == Register::RSP
}

fn operands(i: &Instruction) -> impl Iterator<Item = u32> {
    0..i.op_count()
}

fn registers(i: &Instruction) -> impl Iterator<Item = Register> + '_ {
    operands(i).filter(|n| i.op_kind(*n) == OpKind::Register).map(|n| i.op_register(n))
}

fn has_memory_operand(i: &Instruction) -> bool {
    operands(i).any(|n| i.op_kind(n) == OpKind::Memory)
}

/// Is the first operand a whole register that gets a new value from the others?
pub(super) fn defines_register(i: &Instruction) -> bool {
    let whole = i.op_count() > 0
        && i.op0_kind() == OpKind::Register
        && i.op0_register().is_gpr()
        && i.op0_register().size() >= 4;
    whole
        && match i.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd | Mnemonic::Lea | Mnemonic::Pop => {
                true
            }
            Mnemonic::Xor | Mnemonic::Sub => i.op1_kind() == OpKind::Register && i.op1_register() == i.op0_register(),
            Mnemonic::Imul => i.op_count() == 3,
            _ => false,
        }
}

/// Does it only write to its memory operand, which is the first one?
fn only_stores(i: &Instruction) -> bool {
    use Mnemonic::{Mov, Movapd, Movaps, Movdqa, Movdqu, Movupd, Movups};
    let store = [Mov, Movapd, Movaps, Movdqa, Movdqu, Movupd, Movups];
    i.op_count() == 2 && i.op0_kind() == OpKind::Memory && store.contains(&i.mnemonic())
}

/// Is it an addition to the stack pointer?
fn moves_stack_pointer(i: &Instruction) -> Option<i64> {
    if i.op_count() != 2 || i.op0_kind() != OpKind::Register || i.op0_register() != Register::RSP {
        return None;
    }
    let immediate =
        || matches!(i.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate32to64).then(|| i.immediate(1) as i64);
    match i.mnemonic() {
        Mnemonic::Add => immediate(),
        Mnemonic::Sub => immediate().map(|n| -n),
        Mnemonic::Lea => {
            let plain = i.memory_base() == Register::RSP && i.memory_index() == Register::None;
            plain.then(|| i.memory_displacement64() as i64)
        }
        _ => None,
    }
}

/// Could the address of a part of the frame be known elsewhere after this, or the stack pointer be something that is not followed?
pub(super) fn takes_address(i: &Instruction) -> bool {
    if moves_stack_pointer(i).is_some() || i.mnemonic() == Mnemonic::Nop {
        return false;
    }
    let plain_stack = match i.code() {
        Code::Push_r64 | Code::Push_rm64 | Code::Pushq_imm8 | Code::Pushq_imm32 | Code::Pop_r64 => true,
        Code::Call_rel32_64 | Code::Call_rm64 | Code::Retnq => true,
        _ => !i.is_stack_instruction(),
    };
    let in_memory = has_memory_operand(i)
        && is_stack_pointer(i.memory_base())
        && (i.mnemonic() == Mnemonic::Lea || i.memory_index() != Register::None || i.memory_base() != Register::RSP);
    !plain_stack || registers(i).any(is_stack_pointer) || in_memory
}

/// What an instruction does, whose words are counted from `depth` bytes below the stack pointer.
pub(super) fn effects(i: &Instruction, depth: i64, info: &mut InstructionInfoFactory) -> Effects {
    let mut effects = Effects::default();
    if i.mnemonic() == Mnemonic::Nop {
        return effects;
    }
    if defines_register(i) {
        effects.overwrites = preserved(i.op0_register());
        let zeroes = matches!(i.mnemonic(), Mnemonic::Xor | Mnemonic::Sub);
        if !zeroes {
            effects.reads = registers(i).skip(1).fold(Places::NONE, |all, r| all | preserved(r));
        }
    } else {
        let options = InstructionInfoOptions::NO_MEMORY_USAGE;
        let used = info.info_options(i, options).used_registers();
        let implicit = used.iter().fold(Places::NONE, |all, r| all | preserved(r.register()));
        effects.reads = registers(i).fold(implicit, |all, r| all | preserved(r));
    }
    if has_memory_operand(i) {
        effects.reads = effects.reads | preserved(i.memory_base()) | preserved(i.memory_index());
        let size = i.memory_size().size() as i64;
        if is_stack_pointer(i.memory_base()) && i.mnemonic() != Mnemonic::Lea {
            let from = depth + i.memory_displacement64() as i64;
            if only_stores(i) && size > 0 {
                effects.overwrites = effects.overwrites | Places::words(from, from + size, true);
            } else {
                effects.reads =
                    effects.reads | if size > 0 { Places::words(from, from + size, false) } else { EVERY_WORD };
            }
        }
    }
    if i.code() == Code::Pop_r64 {
        effects.reads = effects.reads | Places::words(depth, depth + 8, false);
    }
    let is_call = matches!(i.mnemonic(), Mnemonic::Call | Mnemonic::Ret);
    effects.moves = moves_stack_pointer(i).unwrap_or(if is_call { 0 } else { i64::from(i.stack_pointer_increment()) });
    effects
}

/// All words of the stack.
pub(super) const EVERY_WORD: Places = Places(!Places::ALL_REGISTERS.0);

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn decode(bytes: &[u8]) -> Instruction {
        Decoder::new(64, bytes, DecoderOptions::NONE).decode()
    }

    fn of(bytes: &[u8]) -> Effects {
        effects(&decode(bytes), 0, &mut InstructionInfoFactory::new())
    }

    const RBX: Places = Places(1);
    const RBP: Places = Places(2);
    const WORD_1: Places = Places(1 << 7);

    #[test]
    fn a_whole_register_is_overwritten_a_part_of_it_is_read() {
        assert_eq!(of(&[0x89, 0xc3]), Effects { overwrites: RBX, ..Effects::default() }); // mov ebx, eax
        assert_eq!(of(&[0x88, 0xc3]).reads, RBX); // mov bl, al
        assert_eq!(of(&[0x66, 0x89, 0xc3]).reads, RBX); // mov bx, ax
        assert_eq!(of(&[0x31, 0xdb]), Effects { overwrites: RBX, ..Effects::default() }); // xor ebx, ebx
        assert_eq!(of(&[0x31, 0xeb]).reads, RBX | RBP); // xor ebx, ebp
        assert_eq!(of(&[0x48, 0x0f, 0x44, 0xd8]).reads, RBX); // cmove rbx, rax
        assert_eq!(of(&[0x48, 0x8d, 0x5b, 0x08]), Effects { reads: RBX, overwrites: RBX, moves: 0 }); // lea rbx, [rbx+8]
        assert_eq!(of(&[0x5b]), Effects { reads: Places(1 << 6), overwrites: RBX, moves: 8 }); // pop rbx
    }

    #[test]
    fn what_is_not_named_is_read_too() {
        assert_eq!(of(&[0x48, 0x0f, 0xc7, 0x0f]).reads, RBX); // cmpxchg16b [rdi]
        assert_eq!(of(&[0x0f, 0xa2]).reads, RBX); // cpuid
        assert_eq!(of(&[0xd7]).reads, RBX); // xlatb
    }

    #[test]
    fn words_are_overwritten_as_a_whole_and_read_in_part() {
        assert_eq!(of(&[0x48, 0x89, 0x44, 0x24, 0x08]), Effects { overwrites: WORD_1, ..Effects::default() }); // mov [rsp+8], rax
        assert_eq!(of(&[0x89, 0x44, 0x24, 0x08]), Effects::default()); // mov [rsp+8], eax
        assert_eq!(of(&[0x8a, 0x44, 0x24, 0x0f]).reads, WORD_1); // mov al, [rsp+15]
        assert_eq!(of(&[0x48, 0xff, 0x44, 0x24, 0x08]).reads, WORD_1); // inc qword [rsp+8]
        assert_eq!(of(&[0x0f, 0x29, 0x04, 0x24]).overwrites, Places(0b11 << 6)); // movaps [rsp], xmm0
    }

    #[test]
    fn an_address_of_the_frame_in_a_register_is_seen() {
        assert!(takes_address(&decode(&[0x48, 0x8d, 0x44, 0x24, 0x08]))); // lea rax, [rsp+8]
        assert!(takes_address(&decode(&[0x48, 0x89, 0xe0]))); // mov rax, rsp
        assert!(takes_address(&decode(&[0x54]))); // push rsp
        assert!(takes_address(&decode(&[0x48, 0x8b, 0x04, 0xc4]))); // mov rax, [rsp+rax*8]
        assert!(takes_address(&decode(&[0x48, 0x83, 0xe4, 0xf0]))); // and rsp, -16
        assert!(takes_address(&decode(&[0xc9]))); // leave
        assert!(!takes_address(&decode(&[0x48, 0x83, 0xec, 0x18]))); // sub rsp, 24
        assert!(!takes_address(&decode(&[0x48, 0x8b, 0x44, 0x24, 0x08]))); // mov rax, [rsp+8]
        assert!(!takes_address(&decode(&[0x53]))); // push rbx
    }
}
