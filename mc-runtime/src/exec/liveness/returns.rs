//! Which calls never return: those of functions without a way back, such as the panics of std.

use super::function::Function;
use super::image::Image;
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction};
use rustc_hash::FxHashMap;

/// Where `_Unwind_Resume` is. (A declaration of it would be taken for that of the compiler, whose calls of it unwind.)
fn resume() -> u64 {
    // SAFETY: the name of a symbol, as C has strings.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_Unwind_Resume".as_ptr()) as u64 }
}

/// What is known of functions, by address.
pub(super) struct Returns<'a> {
    image: &'a Image,
    resume: u64,
    known: FxHashMap<u64, bool>,
}

impl<'a> Returns<'a> {
    pub(super) fn new(image: &'a Image) -> Self {
        Returns { image, resume: resume(), known: FxHashMap::default() }
    }

    /// May control come back from this call?
    pub(super) fn may_return(&mut self, call: &Instruction) -> bool {
        let target = match call.code() {
            Code::Call_rel32_64 => Some(call.near_branch_target()),
            Code::Call_rm64 => self.constant_target(call),
            _ => None,
        };
        let Some(target) = target.map(|t| self.behind_stub(t)) else { return true };
        if target == self.resume {
            return false;
        }
        let image = self.image;
        *self.known.entry(target).or_insert_with(|| may_return(image, target))
    }

    /// The target of a jump or call through a word that never changes.
    fn constant_target(&self, i: &Instruction) -> Option<u64> {
        self.image.pointer(i.is_ip_rel_memory_operand().then(|| i.ip_rel_memory_address())?)
    }

    /// Calls into shared libraries go through a stub that only jumps.
    fn behind_stub(&self, target: u64) -> u64 {
        let follow = || {
            let code = self.image.code(target..target.checked_add(16)?)?;
            let mut decoder = Decoder::with_ip(64, code, target, DecoderOptions::NONE);
            let first = decoder.decode();
            let jump = if first.code() == Code::Endbr64 { decoder.decode() } else { first };
            (jump.code() == Code::Jmp_rm64).then(|| self.constant_target(&jump)).flatten()
        };
        follow().unwrap_or(target)
    }
}

/// Is there any way out of the function at `start` but by unwinding? A call at its very end cannot come back.
fn may_return(image: &Image, start: u64) -> bool {
    let Some(function) = Function::around(image, start).filter(|f| f.range.start == start) else { return true };
    let ends = function.instructions.last().map(Instruction::flow_control);
    let leaves = |i: &Instruction| match i.flow_control() {
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall | FlowControl::Exception => false,
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => !function.has(i.near_branch_target()),
        FlowControl::Interrupt => i.code() != Code::Int3,
        _ => true,
    };
    matches!(ends, None | Some(FlowControl::Next | FlowControl::ConditionalBranch))
        || function.instructions.iter().any(leaves)
}
