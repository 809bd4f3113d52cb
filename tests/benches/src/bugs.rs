//! Workloads with a mistake, and who looks for it: exhaustively all three tools, by samples ours and shuttle.

use crate::cases::title;

/// A workload that must fail.
#[derive(Clone, Copy, Debug)]
pub struct Bug {
    /// A name in `workloads.rs`.
    pub workload: &'static str,
    /// Its parameters.
    pub parameters: &'static [usize],
    /// What a report of this mistake says, under one tool or another, so that it is not mistaken for a limit of the tool.
    pub says: &'static [&'static str],
}

impl Bug {
    /// As in `deep(4, 8)`.
    pub fn title(&self) -> String {
        title(self.workload, self.parameters)
    }
}

const fn bug(workload: &'static str, parameters: &'static [usize], says: &'static [&'static str]) -> Bug {
    Bug { workload, parameters, says }
}

const ORDER: &[&str] = &["last to first"];
const DEEP: &[&str] = &["the deep bug"];
const TWO_OWNERS: &[&str] = &["two owners"];
const BOTH_ENTERED: &[&str] = &["both were in the critical section"];

/// What is looked for exhaustively.
pub const BUGS: &[Bug] = &[
    bug("racy_publish", &[], &["published, but not visible"]),
    bug("peterson_fence", &[], BOTH_ENTERED),
    bug("lost_wakeup", &[], &["lost wake-up", "deadlock"]),
    bug("abba_deadlock", &[], &["deadlock"]),
    bug("aba_treiber", &[], TWO_OWNERS),
    bug("order_bug", &[3], ORDER),
    bug("order_bug", &[4], ORDER),
    bug("order_bug", &[6], ORDER),
    bug("deep", &[3, 0], DEEP),
    bug("deep", &[4, 4], DEEP),
    bug("deep", &[4, 8], DEEP),
    bug("deep", &[8, 8], DEEP),
    bug("deep", &[1, 64], DEEP),
];

/// What is looked for by samples. Second, the preemptions that it takes, and one: the depth for `pct` under both tools.
pub const SAMPLED: &[(Bug, u32)] = &[
    (bug("aba_treiber", &[], TWO_OWNERS), 3),
    (bug("order_bug", &[4], ORDER), 4),
    (bug("deep", &[3, 0], DEEP), 5),
    (bug("deep", &[4, 4], DEEP), 7),
    (bug("deep", &[4, 8], DEEP), 7),
    (bug("deep", &[8, 8], DEEP), 15),
    (bug("deep", &[1, 64], DEEP), 2),
];

/// Correct workloads for the rate of the samplers.
pub const RATED: &[(&str, &[usize])] =
    &[("inc", &[2]), ("mutex_inc", &[3, 2]), ("ms_queue", &[2]), ("lastzero", &[4]), ("ww_indep", &[4, 10])];

/// A tool that has samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Ours.
    Mc,
    /// shuttle.
    Shuttle,
}

/// The samplers of each tool, the only place that lists them. `pct` gets the depth of the workload.
const SAMPLERS: [(Tool, &str); 5] =
    [(Tool::Mc, "walk"), (Tool::Mc, "pct"), (Tool::Shuttle, "random"), (Tool::Shuttle, "urw"), (Tool::Shuttle, "pct")];

/// All samplers as the tools name them, for a mistake of this depth.
pub fn samplers(depth: u32) -> Vec<(Tool, String)> {
    let named = |mode: &str| if mode == "pct" { format!("pct:{depth}") } else { mode.to_owned() };
    SAMPLERS.iter().map(|(tool, mode)| (*tool, named(mode))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pct_is_told_the_depth() {
        let ours: Vec<_> =
            samplers(7).into_iter().filter(|(tool, _)| *tool == Tool::Mc).map(|(_, mode)| mode).collect();
        assert_eq!(ours, ["walk", "pct:7"]);
    }
}
