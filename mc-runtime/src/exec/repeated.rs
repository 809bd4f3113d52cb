//! Loops of the real std that load again and again, a number of times or with a growing pause, before they do something else (`Mutex::lock`, mpsc's `Backoff`).
//!
//! What counts the rounds is different in each, so that they are not loops that `spin` knows. But nothing else in the loop depends on the round: to see a new value in a later
//! round comes to what it comes to in the first. So a load of std's that directly follows itself, in one call of its function, is no event: it reads what it has read. A loop that goes on for [`MOST`] rounds waits
//! for a write, and the thread stops there as in any other. That std has no loop for which this is wrong is looked up in its source, not proved: the bound `real_std` of the verdict.

use super::access::Accessed;
use super::{Engine, Frame, Step};
use crate::graph::Site;
use crate::operation::{Code, Operation};
use crate::symbols;

/// A load of std's that a thread has made last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeated {
    /// The number of the event.
    index: usize,
    at: usize,
    code: u64,
    stack: usize,
    /// The calls around the function that it is in.
    depth: usize,
    /// How often it was repeated since.
    times: u32,
}

/// More than `Mutex` and `RwLock` spin.
const MOST: u32 = 200;

impl Engine {
    /// The running thread comes to a load. If it is the one that it has just made, what that is answered.
    pub(super) fn repeat(&mut self, at: usize, operation: &Operation, frame: &Frame) -> Option<Step<Accessed>> {
        let position = self.me_ref().position;
        let last = self.me_ref().repeated.filter(|last| {
            operation.code == Code::Load
                && (last.index + 1, last.at, last.code, last.stack) == (position, at, frame.code, frame.stack())
                && self.told.calls.least >= last.depth
        })?;
        let decides = self.guide.decides();
        let me = self.me();
        if last.times < MOST {
            me.repeated = Some(Repeated { times: last.times + 1, ..last });
            let event = self.explorer.graph.event(self.current().event(last.index));
            let old = self.explorer.graph.value(event.location, event.rf);
            return Some(Step::Done(Accessed { old, wrote: false }));
        }
        me.repeated = None;
        // A sampler lets it look again.
        (!decides).then(|| me.repeats = Some(1));
        None
    }

    /// The running thread has made this access.
    pub(super) fn note_load(&mut self, at: usize, operation: &Operation, site: Site, frame: &Frame) {
        let is_one = operation.code == Code::Load && site.is_some() && symbols::is_toolchain_code(frame.code as usize);
        let (index, code, stack) = (self.me_ref().position - 1, frame.code, frame.stack());
        let repeated = is_one.then(|| {
            let depth = self.told.calls.around(frame.code as usize);
            self.told.calls.least = usize::MAX;
            Repeated { index, at, code, stack, depth, times: 0 }
        });
        self.me().repeated = repeated;
    }
}
