//! Does code with a `#[cfg(..)]` belong to a test on this host?
//!
//! Source: `rustc --print cfg`, the crate's enabled features, the `--cfg` of the user's own flags. Three-valued, because a build script may set a cfg that nobody knows without
//! running it: what may be there is looked at.

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

/// Differ between profiles.
const EITHER: [&str; 2] = ["debug_assertions", "overflow_checks"];
/// Set by tools or by flags, never by the build script of a crate, so that they are false where nobody set them.
const BY_FLAG: [&str; 11] =
    ["unix", "windows", "doc", "doctest", "docsrs", "miri", "kani", "clippy", "rustfmt", "fuzzing", "proc_macro"];

/// What holds for the code of one crate.
#[derive(Clone, Debug)]
pub(super) struct Cfgs {
    /// Of the host and of the user's flags.
    pub(super) host: BTreeSet<Cfg>,
    pub(super) features: BTreeSet<String>,
    pub(super) script: Script,
}

/// What a build script may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// There is none.
    Absent,
    /// Only what is named in its text, which this is.
    Names(String),
    /// Anything.
    Any,
}

impl Script {
    /// By its text. Names that it makes up, or leaves to another package or file, can be any.
    pub(super) fn new(text: &str, has_dependencies: bool) -> Self {
        let made_up = ["rustc-cfg={", "include!", "mod "].iter().any(|sign| text.contains(sign));
        let parts = text.split("rustc-cfg=").skip(1);
        let partly = parts.filter_map(|rest| rest.split('"').next()).any(|name| name.contains('{'));
        if has_dependencies || made_up || partly { Self::Any } else { Self::Names(text.to_owned()) }
    }

    fn may_set(&self, name: &str) -> bool {
        match self {
            Self::Absent => false,
            Self::Names(text) => text.contains(name),
            Self::Any => true,
        }
    }
}

/// How a crate is built: with `cfg(test)`, with `cfg(mc)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Built {
    pub(super) test: bool,
    pub(super) mc: bool,
}

impl Cfgs {
    /// In code that is built so.
    pub(super) fn holds(&self, condition: &CfgExpr, built: Built) -> Truth {
        let of = |condition: &CfgExpr| self.holds(condition, built);
        match condition {
            CfgExpr::Not(inner) => of(inner).not(),
            CfgExpr::All(all) => all.iter().map(of).min().unwrap_or(Truth::Yes),
            CfgExpr::Any(any) => any.iter().map(of).max().unwrap_or(Truth::No),
            CfgExpr::True => Truth::Yes,
            CfgExpr::False => Truth::No,
            CfgExpr::Value(Cfg::Name(name)) if name == "test" => built.test.into(),
            CfgExpr::Value(Cfg::Name(name)) if name == "mc" => built.mc.into(),
            CfgExpr::Value(Cfg::Name(name)) if EITHER.contains(&name.as_str()) => Truth::Maybe,
            CfgExpr::Value(Cfg::KeyPair(key, value)) if key == "feature" => self.features.contains(value).into(),
            CfgExpr::Value(cfg) if self.host.contains(cfg) => Truth::Yes,
            CfgExpr::Value(cfg) => self.not_on_host(cfg),
        }
    }

    fn not_on_host(&self, cfg: &Cfg) -> Truth {
        let (name, known) = match cfg {
            Cfg::Name(name) => (name, BY_FLAG.contains(&name.as_str()) || is_switch(name.as_str())),
            Cfg::KeyPair(key, _) => {
                (key, self.host.iter().any(|cfg| matches!(cfg, Cfg::KeyPair(known, _) if known == key)))
            }
        };
        if !known && self.script.may_set(name.as_str()) { Truth::Maybe } else { Truth::No }
    }
}

/// The name of a cfg or a feature by which crates turn to another checker's types.
pub(super) fn is_switch(name: &str) -> bool {
    ["loom", "shuttle"].iter().any(|tool| name == *tool || name.ends_with(&format!("_{tool}")))
}

/// The switches that a condition asks for, each with the flags that turn it on for a check.
pub(super) fn switches(condition: &CfgExpr, found: &mut BTreeSet<String>) {
    match condition {
        CfgExpr::Not(inner) => switches(inner, found),
        CfgExpr::All(several) | CfgExpr::Any(several) => several.iter().for_each(|inner| switches(inner, found)),
        CfgExpr::Value(Cfg::Name(name)) if is_switch(name.as_str()) => {
            let tool = tool(name.as_str());
            let flag = if name.as_str() == tool { format!("--{tool}") } else { format!("--{tool}={name}") };
            found.insert(format!("cfg({name}) `{flag}`"));
        }
        CfgExpr::Value(Cfg::KeyPair(key, value)) if key == "feature" && is_switch(value) => {
            found.insert(format!("feature = \"{value}\" `--{} --features {value}`", tool(value)));
        }
        CfgExpr::Value(_) | CfgExpr::True | CfgExpr::False => {}
    }
}

/// The checker that a switch turns to.
fn tool(switch: &str) -> &'static str {
    if switch.ends_with("loom") { "loom" } else { "shuttle" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: Built = Built { test: true, mc: false };

    fn holds(condition: &str, script: Script, built: Built) -> Truth {
        let host = ["unix", "target_os=\"linux\"", "target_arch=\"x86_64\""].map(|line| line.parse().unwrap());
        let cfgs = Cfgs { host: host.into(), features: BTreeSet::from(["std".to_owned()]), script };
        cfgs.holds(&condition.parse().unwrap(), built)
    }

    #[test]
    fn what_the_host_and_the_features_say_is_known() {
        for yes in ["unix", "target_os = \"linux\"", "feature = \"std\"", "test", "not(windows)", "all()", "not(mc)"] {
            assert_eq!(holds(yes, Script::Any, TEST), Truth::Yes, "{yes}");
        }
        for no in ["windows", "target_os = \"macos\"", "feature = \"rt\"", "not(test)", "loom", "crossbeam_loom", "mc"]
        {
            assert_eq!(holds(no, Script::Any, TEST), Truth::No, "{no}");
        }
        assert_eq!(holds("all(mc, not(test))", Script::Any, Built { test: false, mc: true }), Truth::Yes);
    }

    #[test]
    fn what_a_build_script_may_set_may_hold() {
        for (condition, expected) in [
            ("has_futex", Truth::Maybe),
            ("not(has_futex)", Truth::Maybe),
            ("all(has_futex, windows)", Truth::No),
            ("any(has_futex, unix)", Truth::Yes),
        ] {
            assert_eq!(holds(condition, Script::Any, TEST), expected, "{condition}");
        }
        assert_eq!(holds("has_futex", Script::Absent, TEST), Truth::No);
    }

    #[test]
    fn a_build_script_sets_what_it_names_unless_it_makes_names_up() {
        let plain = Script::new("fn main() { println!(\"cargo:rustc-cfg=has_futex\"); }", false);
        assert_eq!(holds("has_futex", plain.clone(), TEST), Truth::Maybe);
        assert_eq!(holds("has_epoll", plain, TEST), Truth::No);
        for text in ["println!(\"cargo:rustc-cfg={name}\");", "println!(\"cargo:rustc-cfg=has_{name}\");", "mod probe;"]
        {
            assert_eq!(Script::new(text, false), Script::Any, "{text}");
        }
        assert_eq!(Script::new("", true), Script::Any);
    }

    #[test]
    fn switches_are_found_inside_of_conditions() {
        let mut found = BTreeSet::new();
        switches(&"all(not(crossbeam_loom), any(feature = \"shuttle\", gloom))".parse().unwrap(), &mut found);
        let expected =
            ["cfg(crossbeam_loom) `--loom=crossbeam_loom`", "feature = \"shuttle\" `--shuttle --features shuttle`"];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}
