//! Does code with a `#[cfg(..)]` belong to a test on this host?
//!
//! Source: `rustc --print cfg`, the crate's enabled features, the `--cfg` of the user's own flags. Three-valued, because a build script may set a cfg that nobody knows without
//! running it, and because code under `cfg(mc)` is there in one way of checking and not in the other: what may be there is looked at.

use std::collections::BTreeSet;

use cargo_platform::{Cfg, CfgExpr};

/// What is known of a condition. Ordered, so that `all` is the least and `any` the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Truth {
    No,
    Maybe,
    Yes,
}

impl Truth {
    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Truth {
    fn from(known: bool) -> Self {
        if known { Self::Yes } else { Self::No }
    }
}

/// Differ between profiles, or between the two ways of checking.
const EITHER: [&str; 3] = ["mc", "debug_assertions", "overflow_checks"];
/// Set by tools or by flags, never by the build script of a crate, so that they are false where nobody set them.
const BY_FLAG: [&str; 12] = [
    "unix",
    "windows",
    "doc",
    "doctest",
    "docsrs",
    "miri",
    "kani",
    "clippy",
    "rustfmt",
    "fuzzing",
    "proc_macro",
    "tokio_unstable",
];

/// What holds for the code of one crate.
#[derive(Clone, Debug)]
pub(super) struct Cfgs {
    /// Of the host and of the user's flags.
    pub(super) host: BTreeSet<Cfg>,
    pub(super) features: BTreeSet<String>,
    /// Its build script may set more.
    pub(super) has_build_script: bool,
}

impl Cfgs {
    /// In code that is compiled with `cfg(test)`, or without.
    pub(super) fn holds(&self, condition: &CfgExpr, test: bool) -> Truth {
        let of = |condition: &CfgExpr| self.holds(condition, test);
        match condition {
            CfgExpr::Not(inner) => of(inner).not(),
            CfgExpr::All(all) => all.iter().map(of).min().unwrap_or(Truth::Yes),
            CfgExpr::Any(any) => any.iter().map(of).max().unwrap_or(Truth::No),
            CfgExpr::True => Truth::Yes,
            CfgExpr::False => Truth::No,
            CfgExpr::Value(Cfg::Name(name)) if name == "test" => test.into(),
            CfgExpr::Value(Cfg::Name(name)) if EITHER.contains(&name.as_str()) => Truth::Maybe,
            CfgExpr::Value(Cfg::KeyPair(key, value)) if key == "feature" => self.features.contains(value).into(),
            CfgExpr::Value(cfg) if self.host.contains(cfg) => Truth::Yes,
            CfgExpr::Value(cfg) => self.not_on_host(cfg),
        }
    }

    fn not_on_host(&self, cfg: &Cfg) -> Truth {
        let known = match cfg {
            Cfg::Name(name) => BY_FLAG.contains(&name.as_str()) || is_switch(name.as_str()),
            Cfg::KeyPair(key, _) => self.host.iter().any(|cfg| matches!(cfg, Cfg::KeyPair(known, _) if known == key)),
        };
        if known || !self.has_build_script { Truth::No } else { Truth::Maybe }
    }
}

/// The name of a cfg or a feature by which crates turn to another checker's types.
pub(super) fn is_switch(name: &str) -> bool {
    ["loom", "shuttle"].iter().any(|tool| name == *tool || name.ends_with(&format!("_{tool}")))
}

/// The switches that a condition asks for.
pub(super) fn switches(condition: &CfgExpr, found: &mut BTreeSet<String>) {
    match condition {
        CfgExpr::Not(inner) => switches(inner, found),
        CfgExpr::All(several) | CfgExpr::Any(several) => several.iter().for_each(|inner| switches(inner, found)),
        CfgExpr::Value(Cfg::Name(name)) if is_switch(name.as_str()) => {
            found.insert(name.to_string());
        }
        CfgExpr::Value(Cfg::KeyPair(key, value)) if key == "feature" && is_switch(value) => {
            found.insert(format!("feature = \"{value}\""));
        }
        CfgExpr::Value(_) | CfgExpr::True | CfgExpr::False => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(condition: &str, has_build_script: bool) -> Truth {
        let host = ["unix", "target_os=\"linux\"", "target_arch=\"x86_64\""].map(|line| line.parse().unwrap());
        let cfgs = Cfgs { host: host.into(), features: BTreeSet::from(["std".to_owned()]), has_build_script };
        cfgs.holds(&condition.parse().unwrap(), true)
    }

    #[test]
    fn what_the_host_and_the_features_say_is_known() {
        for yes in ["unix", "target_os = \"linux\"", "feature = \"std\"", "test", "not(windows)", "all()"] {
            assert_eq!(holds(yes, true), Truth::Yes, "{yes}");
        }
        for no in ["windows", "target_os = \"macos\"", "feature = \"rt\"", "not(test)", "loom", "crossbeam_loom"] {
            assert_eq!(holds(no, true), Truth::No, "{no}");
        }
    }

    #[test]
    fn what_a_build_script_may_set_may_hold() {
        assert_eq!(holds("has_futex", true), Truth::Maybe);
        assert_eq!(holds("not(has_futex)", true), Truth::Maybe);
        assert_eq!(holds("all(has_futex, windows)", true), Truth::No);
        assert_eq!(holds("any(has_futex, unix)", true), Truth::Yes);
        assert_eq!(holds("has_futex", false), Truth::No);
    }

    #[test]
    fn code_under_the_cfg_of_the_checker_is_looked_at_either_way() {
        assert_eq!([holds("mc", false), holds("not(mc)", false)], [Truth::Maybe; 2]);
    }

    #[test]
    fn switches_are_found_inside_of_conditions() {
        let mut found = BTreeSet::new();
        switches(&"all(not(crossbeam_loom), any(feature = \"shuttle\", gloom))".parse().unwrap(), &mut found);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["crossbeam_loom", "feature = \"shuttle\""]);
    }
}
