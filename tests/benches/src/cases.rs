//! Which correct workloads are compared, and how many executions ours must make.
//!
//! Where `peers` says that a count is wrong, and it has become better, the line that it prints goes here.
//! Not here: what an optimal checker needs ([`crate::optimum`]), and workloads with a mistake ([`crate::bugs`]).

/// A correct workload with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// A name in `workloads.rs` or `more_workloads.rs`.
    pub workload: &'static str,
    /// Its parameters.
    pub parameters: &'static [usize],
    /// Complete executions that the engine makes, exactly.
    pub complete: u64,
    /// Blocked ones.
    pub blocked: u64,
    /// Small enough for CI.
    pub quick: bool,
}

const fn quick(workload: &'static str, parameters: &'static [usize], complete: u64, blocked: u64) -> Case {
    Case { workload, parameters, complete, blocked, quick: true }
}

const fn full(workload: &'static str, parameters: &'static [usize], complete: u64, blocked: u64) -> Case {
    Case { workload, parameters, complete, blocked, quick: false }
}

/// All cases, in the order of the table. Each workload is correct.
pub const CASES: &[Case] = &[
    quick("nothing", &[], 1, 0),
    quick("spawn_join", &[2], 1, 0),
    quick("inc", &[2], 1, 0),
    quick("inc", &[3], 1, 0),
    quick("inc_used", &[2], 1, 0),
    quick("inc_used", &[3], 1, 0),
    quick("inc", &[4], 1, 0),
    quick("inc", &[5], 1, 0),
    quick("inc", &[6], 1, 0),
    full("inc", &[7], 1, 0),
    full("inc", &[8], 1, 0),
    quick("update", &[2], 2, 2),
    quick("update", &[3], 6, 18),
    full("update", &[4], 24, 176),
    quick("inc_arc", &[2], 1, 0),
    quick("inc_arc", &[3], 1, 0),
    quick("inc_racy", &[2], 2, 0),
    quick("inc_racy", &[3], 6, 0),
    quick("sb", &[], 4, 0),
    quick("sb_sc", &[], 3, 0),
    quick("sb_fence", &[], 3, 0),
    quick("mp", &[], 2, 0),
    quick("two_plus_two_w", &[], 4, 0),
    quick("coherence", &[], 2, 0),
    quick("corr", &[], 72, 0),
    quick("iriw_sc", &[], 15, 0),
    quick("history", &[6], 8, 0),
    quick("history", &[7], 9, 0),
    quick("history", &[8], 10, 0),
    quick("mutex_inc", &[2, 1], 1, 0),
    quick("mutex_inc", &[2, 3], 10, 0),
    quick("mutex_inc", &[3, 1], 1, 0),
    full("mutex_inc", &[3, 2], 15, 0),
    full("mutex_inc", &[3, 4], 5_775, 0),
    quick("mutex_inc", &[4, 1], 1, 0),
    quick("mutex_indep", &[2], 1, 0),
    full("mutex_indep", &[4], 1, 0),
    quick("ww_indep", &[2, 2], 1, 0),
    full("ww_indep", &[2, 10], 1, 0),
    full("ww_indep", &[4, 10], 1, 0),
    quick("ww_indep", &[2, 600], 1, 0),
    quick("readers", &[2], 1, 0),
    quick("readers", &[3], 1, 0),
    quick("readers", &[7], 1, 0),
    quick("readers_used", &[2], 3, 0),
    quick("readers_used", &[3], 4, 0),
    quick("readers_used", &[7], 8, 0),
    quick("lastzero", &[2], 5, 0),
    quick("lastzero", &[3], 12, 0),
    full("lastzero", &[4], 28, 0),
    quick("lastzero", &[10], 3_328, 0),
    full("lastzero", &[15], 147_456, 0),
    quick("indexer", &[12], 8, 0),
    full("indexer", &[16], 32_768, 0),
    quick("ms_queue", &[2], 16, 24),
    full("ms_queue", &[3], 1_368, 6_514),
    quick("treiber", &[2], 22, 10),
    full("treiber", &[3], 4_632, 5_067),
    quick("mpmc", &[2], 8, 14),
    full("mpmc", &[3], 390, 1_123),
    quick("condvar_pc", &[1], 2, 0),
    quick("condvar_pc", &[2], 10, 0),
    quick("condvar_pc", &[3], 53, 0),
    quick("mpsc", &[2], 2, 0),
    quick("mpsc", &[3], 6, 0),
    quick("mpsc", &[4], 24, 0),
    quick("rwlock", &[1, 1], 2, 0),
    quick("rwlock", &[2, 1], 4, 0),
    quick("rwlock", &[2, 2], 18, 0),
    quick("spin_lock", &[2], 1, 0),
    quick("spin_lock", &[3], 1, 0),
    quick("spin_lock_each", &[3], 6, 0),
    full("spin_lock_each", &[6], 720, 0),
    quick("test_lock", &[2], 2, 6),
    quick("test_lock", &[3], 6, 54),
    quick("semaphore", &[2, 1], 2, 5),
    quick("semaphore", &[3, 1], 6, 70),
    full("semaphore", &[3, 2], 54, 148),
    full("semaphore", &[4, 2], 648, 4_604),
    quick("ticket_lock", &[2], 1, 0),
    quick("ticket_lock", &[3], 1, 0),
    quick("ticket_lock", &[4], 1, 0),
    full("ticket_lock", &[5], 1, 0),
    quick("seqlock", &[1], 2, 9),
    quick("seqlock", &[2], 3, 18),
    full("seqlock", &[3], 4, 27),
    quick("peterson", &[], 4, 6),
    quick("peterson_swap", &[], 4, 6),
    quick("philosophers", &[2], 2, 0),
    quick("philosophers", &[3], 6, 0),
    full("philosophers", &[4], 14, 0),
    quick("philosophers", &[14], 16_382, 0),
    quick("arc_drop", &[2], 2, 0),
    quick("arc_drop", &[3], 6, 0),
    full("arc_drop", &[4], 24, 0),
    quick("barrier", &[2], 2, 0),
    quick("barrier", &[3], 24, 0),
];

impl Case {
    /// As in `mutex_inc(3, 2)`.
    pub fn title(&self) -> String {
        title(self.workload, self.parameters)
    }

    /// The line of this case with other counts.
    pub fn line(&self, complete: u64, blocked: u64) -> String {
        let Self { workload, parameters, .. } = self;
        let speed = if self.quick { "quick" } else { "full" };
        format!("{speed}({workload:?}, &{parameters:?}, {complete}, {blocked}),")
    }
}

/// A workload with its parameters, as in `mutex_inc(3, 2)`.
pub fn title(workload: &str, parameters: &[usize]) -> String {
    let parameters: Vec<String> = parameters.iter().map(usize::to_string).collect();
    if parameters.is_empty() { workload.to_owned() } else { format!("{workload}({})", parameters.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_named_as_a_call_and_written_as_in_the_table() {
        let case = quick("mutex_inc", &[3, 2], 90, 0);
        assert_eq!((case.title().as_str(), title("sb", &[]).as_str()), ("mutex_inc(3, 2)", "sb"));
        assert_eq!(case.line(91, 7), "quick(\"mutex_inc\", &[3, 2], 91, 7),");
    }
}
