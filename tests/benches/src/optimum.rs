//! How many executions an optimal checker needs: one for each class of executions that differ only in the order of independent
//! operations, in which of several symmetric threads does what, or in what threads that only look see together, and none that is blocked. So it is known where ours makes more, and that nobody can make fewer.
//!
//! Source: the executable specification (`tests/spec/exploration.py`, `tests/spec/symmetry.py`, `tests/spec/readers.py`), asked for the small parameters under `rc20`. A formula
//! continues what it says; `lastzero` is also in Abdulla et al., POPL 2014, `indexer` in Flanagan and Godefroid, POPL 2005.
//! Where a thread waits in a loop, a wait without repeated rounds is taken for a lock.
//! Not here: workloads whose loops the specification cannot say (queues, `update`, `semaphore`, `test_lock`, `seqlock`, `peterson`).

/// The executions of a workload that are needed, where that is known.
pub fn optimum(workload: &str, parameters: &[usize]) -> Option<u64> {
    let numbers: Vec<u64> = parameters.iter().map(|n| *n as u64).collect();
    Some(match (workload, &numbers[..]) {
        ("nothing" | "spawn_join" | "mutex_indep" | "ww_indep", _) => 1,
        // Nobody looks at what they read.
        ("readers", _) => 1,
        // One order of n updates, or of n owners of a lock, by threads that are alike.
        ("inc" | "inc_used" | "inc_arc" | "spin_lock" | "ticket_lock", _) => 1,
        // Between the spawns, the counts of the `Arc` change: each order counts.
        ("arc_drop", &[n]) => factorial(n),
        // Each thread adds another number.
        ("spin_lock_each", &[n]) => factorial(n),
        ("mutex_inc", &[threads, times]) => {
            factorial(threads * times) / factorial(times).pow(threads as u32) / factorial(threads)
        }
        ("inc_racy", &[2]) => 2,
        ("inc_racy", &[3]) => 6,
        ("sb" | "two_plus_two_w", _) => 4,
        ("sb_sc" | "sb_fence", _) => 3,
        ("mp" | "coherence", _) => 2,
        ("corr", _) => 72,
        ("iriw_sc", _) => 15,
        // The flag is not seen, or it is seen with one of the n + 1 values.
        ("history", &[n]) => n + 2,
        // Each reader sees the store, or one of them does not: what they see together shows nowhere.
        ("readers_used", &[n]) => n + 1,
        // An order of the writers, and for each reader a place among them. Each thread has a number of its own, so none is like another.
        ("rwlock", &[readers, writers]) => factorial(writers) * (writers + 1).pow(readers as u32),
        ("lastzero", &[n]) => (n + 3) * (1 << n) / 4,
        // Each fork has a first owner; that all are taken in one direction round the table cannot be.
        ("philosophers", &[n]) => (1 << n) - 2,
        ("indexer", &[n]) => 8_u64.pow(n.saturating_sub(11) as u32),
        _ => return None,
    })
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;

    /// What the specification says.
    const SPECIFIED: &[(&str, &[usize], u64)] = &[
        ("inc", &[2], 1),
        ("inc", &[5], 1),
        ("history", &[6], 8),
        ("history", &[8], 10),
        ("mutex_inc", &[2, 3], 10),
        ("mutex_inc", &[3, 2], 15),
        ("mutex_inc", &[4, 1], 1),
        ("readers", &[7], 1),
        ("lastzero", &[2], 5),
        ("lastzero", &[3], 12),
        ("lastzero", &[4], 28),
        ("arc_drop", &[3], 6),
        ("philosophers", &[2], 2),
        ("philosophers", &[3], 6),
        ("philosophers", &[4], 14),
    ];

    #[test]
    fn the_formulas_say_what_the_specification_does() {
        for &(workload, parameters, executions) in SPECIFIED {
            assert_eq!(optimum(workload, parameters), Some(executions), "{workload}{parameters:?}");
        }
    }

    #[test]
    fn no_case_has_other_complete_executions_than_are_needed() {
        for case in CASES {
            if let Some(needed) = optimum(case.workload, case.parameters) {
                assert_eq!(case.complete, needed, "{}", case.title());
            }
        }
    }

    #[test]
    fn where_the_optimum_is_known_none_waits_in_vain() {
        for case in CASES {
            let known = optimum(case.workload, case.parameters).is_some();
            assert!(!known || case.blocked == 0, "{}", case.title());
        }
    }
}
