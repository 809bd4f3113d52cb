//! Where control may go within a function.

use super::function::{Function, Unwinding};
use super::returns::Returns;
use iced_x86::{Code, FlowControl, Instruction, Mnemonic};

/// Is it a call that comes back or unwinds, as against one of the system?
pub(super) fn is_call(i: &Instruction) -> bool {
    matches!(i.flow_control(), FlowControl::Call | FlowControl::IndirectCall) && i.mnemonic() == Mnemonic::Call
}

/// Adds where the function may go on after one of its instructions. Whether that is all: where control leaves the function without ending it, or is not understood, it may come back anywhere.
pub(super) fn go_on(function: &Function, i: &Instruction, returns: &mut Returns<'_>, to: &mut Vec<u64>) -> bool {
    match i.flow_control() {
        FlowControl::Next => to.push(i.next_ip()),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            if i.flow_control() == FlowControl::ConditionalBranch {
                to.push(i.next_ip());
            }
            if !function.has(i.near_branch_target()) {
                return function.calls_instead(i);
            }
            to.push(i.near_branch_target());
        }
        FlowControl::Return | FlowControl::Exception => {}
        FlowControl::Interrupt => return i.code() == Code::Int3,
        _ if is_call(i) => {
            if let Unwinding::Lands(at) = function.unwinding(i) {
                to.push(at);
            }
            // A call at the very end of a function cannot come back.
            if i.next_ip() != function.range.end && returns.may_return(i) {
                to.push(i.next_ip());
            }
        }
        _ => return false,
    }
    true
}
