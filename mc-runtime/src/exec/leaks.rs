//! What is still allocated at the end of an execution.

use super::{Engine, Found, arena, state};
use crate::ids::ThreadId;
use crate::options::Origin;
use crate::outcome::FailureKind;

impl Engine {
    /// What is lost is a leak.
    #[inline]
    pub(super) fn look_for_leaks(&mut self) {
        if self.heap.as_ref().is_some_and(|h| h.any_live()) {
            self.look_at_live();
        }
    }

    #[inline(never)]
    fn look_at_live(&mut self) {
        let Some(heap) = self.heap.as_ref().filter(|h| !h.rehearsal && !self.options.allow_leaks) else { return };
        let mut live: Vec<(usize, arena::Block)> = heap.live().collect();
        match self.options.origin {
            Origin::Own => {}
            Origin::Foreign => live.retain(|(_, block)| block.tracked),
            Origin::Unmodified => lose_reachable(&mut live),
        }
        if live.is_empty() || self.failure.is_some() {
            return;
        }
        let bytes: usize = live.iter().map(|(_, b)| b.size).sum();
        let mut lines =
            vec![format!("leak: {} of {bytes} bytes still allocated at the end", count(live.len(), "block"))];
        for (slot, block) in live.iter().take(5) {
            let thread = ThreadId(*slot as u32);
            let after = block.events.checked_sub(1).map(|last| thread.event(last as usize));
            let site = after.filter(|id| self.explorer.graph.contains(*id)).and_then(|id| self.explorer.graph.site(id));
            let place = site.map_or(String::new(), |s| format!(", after {}:{}", s.file(), s.line()));
            lines.push(format!("{} bytes allocated by {}{place}", block.size, self.thread_name(thread)));
        }
        let thread = ThreadId(live[0].0 as u32);
        self.record(Found { kind: FailureKind::Leak, message: lines.join("\n"), thread, site: None });
    }
}

/// Leaves those to which no static points, nor what a static points to: what a global table keeps is no leak. What looks like an address is taken for one.
fn lose_reachable(live: &mut Vec<(usize, arena::Block)>) {
    let mut blocks: Vec<arena::Block> = live.iter().map(|(_, block)| *block).collect();
    blocks.sort_unstable_by_key(|block| block.start);
    let find = |at: usize| {
        let index = blocks.partition_point(|block| block.start <= at).checked_sub(1)?;
        (at < blocks[index].start + blocks[index].size.max(1)).then_some(index)
    };
    let mut reached = vec![false; blocks.len()];
    let mut todo: Vec<usize> = state::pointers(|at| find(at).is_some()).into_iter().filter_map(find).collect();
    while let Some(index) = todo.pop() {
        if !std::mem::replace(&mut reached[index], true) {
            todo.extend(blocks[index].words().filter_map(find));
        }
    }
    live.retain(|(_, block)| find(block.start).is_none_or(|index| !reached[index]));
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
