//! Where control may go within a function.

use super::function::{Function, Unwinding};
use super::returns::Returns;
use iced_x86::{FlowControl, Instruction, Mnemonic};

/// Is it a call that comes back or unwinds, as against one of the system?
pub(super) fn is_call(i: &Instruction) -> bool {
    matches!(i.flow_control(), FlowControl::Call | FlowControl::IndirectCall) && i.mnemonic() == Mnemonic::Call
}

/// Adds where the function may go on after one of its instructions.
pub(super) fn go_on(function: &Function, i: &Instruction, returns: &mut Returns<'_>, to: &mut Vec<u64>) {
    let target = Some(i.near_branch_target()).filter(|target| function.range.contains(target));
    match i.flow_control() {
        FlowControl::Next => to.push(i.next_ip()),
        FlowControl::UnconditionalBranch => to.extend(target),
        FlowControl::ConditionalBranch => to.extend(target.into_iter().chain([i.next_ip()])),
        FlowControl::IndirectBranch => to.extend(function.arms(i).into_iter().flatten()),
        _ if is_call(i) => {
            if let Unwinding::Lands(at) = function.unwinding(i) {
                to.push(at);
            }
            // A call at the very end of a function cannot come back.
            if i.next_ip() != function.range.end && returns.may_return(i) {
                to.push(i.next_ip());
            }
        }
        _ => {}
    }
}
