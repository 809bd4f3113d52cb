//! Which tests are to be checked that were not written for this checker.

use super::stand_in::{LOOM, SHUTTLE, StandIn};
use crate::args::{BuildArgs, Std};

/// Tests other than those of `#[mc::test]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// A suite for another checker.
    Suite(Suite),
    /// All tests of the crates, which are built as they are: `--std`.
    AsTheyAre(Std),
}

impl Others {
    /// What the flags name; clap lets no two of them through.
    pub(super) fn asked_for(args: &BuildArgs) -> Option<Self> {
        let as_they_are = args.std.or_else(|| args.dep.is_some().then_some(Std::Checked));
        Suite::asked_for(args).map(Self::Suite).or_else(|| as_they_are.map(Self::AsTheyAre))
    }

    /// How they are asked for again.
    pub(crate) fn flag(&self) -> String {
        match self {
            Self::Suite(suite) => suite.flag(),
            Self::AsTheyAre(Std::Checked) => "--std".to_owned(),
            Self::AsTheyAre(Std::Real) => "--std=real".to_owned(),
        }
    }
}

/// A suite, as `--loom` or `--shuttle` ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suite {
    pub(super) stand_in: &'static StandIn,
    /// What the crate has its switch on.
    pub(super) cfg: String,
}

impl Suite {
    /// The one that the flags name.
    fn asked_for(args: &BuildArgs) -> Option<Self> {
        let all = [(&args.loom, &LOOM), (&args.shuttle, &SHUTTLE)];
        all.into_iter().find_map(|(cfg, stand_in)| Some(Self { stand_in, cfg: cfg.clone()? }))
    }

    /// The package that it is written for.
    pub(crate) fn name(&self) -> &'static str {
        self.stand_in.name
    }

    fn flag(&self) -> String {
        let (name, cfg) = (self.name(), &self.cfg);
        if cfg == name { format!("--{name}") } else { format!("--{name}={cfg}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_asks_for_the_same_again() {
        let args = BuildArgs { shuttle: Some("shuttle".to_owned()), ..BuildArgs::default() };
        assert_eq!(Suite::asked_for(&args).unwrap().flag(), "--shuttle");
        let args = BuildArgs { loom: Some("oneshot_loom".to_owned()), ..BuildArgs::default() };
        assert_eq!(Suite::asked_for(&args).unwrap().flag(), "--loom=oneshot_loom");
        assert_eq!(Suite::asked_for(&BuildArgs::default()), None);
    }
}
