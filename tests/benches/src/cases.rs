//! Which workloads are compared, and how many executions ours must make.

/// A workload with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// A name in `workloads.rs`.
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
    quick("inc", &[2], 2, 0),
    quick("inc", &[3], 6, 0),
    quick("inc", &[4], 24, 0),
    full("inc", &[5], 120, 0),
    quick("inc_arc", &[2], 2, 0),
    full("inc_arc", &[3], 6, 0),
    quick("sb", &[], 4, 0),
    quick("sb_sc", &[], 3, 0),
    quick("mp", &[], 2, 0),
    quick("mutex_inc", &[2, 1], 2, 0),
    quick("mutex_inc", &[3, 1], 6, 0),
    full("mutex_inc", &[3, 2], 90, 0),
    quick("mutex_indep", &[2], 1, 0),
    full("mutex_indep", &[4], 1, 0),
    quick("ww_indep", &[2, 2], 1, 0),
    full("ww_indep", &[4, 10], 1, 0),
    quick("readers", &[3], 8, 0),
    quick("lastzero", &[3], 12, 0),
    full("lastzero", &[4], 28, 0),
    quick("ms_queue", &[2], 100, 0),
    full("ms_queue", &[3], 588_456, 300),
    quick("treiber", &[2], 38, 8),
    full("treiber", &[3], 40_696, 15_068),
    quick("condvar_pc", &[1], 2, 0),
    full("condvar_pc", &[2], 10, 0),
    quick("rwlock", &[1, 1], 2, 0),
    quick("rwlock", &[2, 1], 14, 0),
    quick("spin_lock", &[2], 2, 2),
    quick("ticket_lock", &[2], 2, 2),
    full("ticket_lock", &[3], 6, 24),
    quick("seqlock", &[1], 15, 5),
    full("seqlock", &[2], 225, 175),
    quick("peterson_swap", &[], 10, 7),
    quick("philosophers", &[3], 6, 0),
    quick("arc_drop", &[3], 6, 0),
    quick("barrier", &[2], 2, 0),
    full("barrier", &[3], 24, 0),
];

impl Case {
    /// As in `mutex_inc(3, 2)`.
    pub fn title(&self) -> String {
        let parameters: Vec<String> = self.parameters.iter().map(usize::to_string).collect();
        if parameters.is_empty() {
            self.workload.to_owned()
        } else {
            format!("{}({})", self.workload, parameters.join(", "))
        }
    }
}
