//! How `--cfg mc` reaches rustc without any of the user's own flags being lost.
//!
//! Cargo takes flags from the first of these that exists: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`, all matching
//! `target.*.rustflags` together, `build.rustflags`. So `mc` is added to each place that the user's flags may come from, and
//! exactly those: the variables where they are set; otherwise `build.rustflags` *and* every `target.*.rustflags` that some
//! configuration file or variable has. Cargo joins lists of one key, so whichever place it then takes has both. Which targets
//! match is left to cargo: nothing is evaluated here.

use std::collections::BTreeMap;

use super::config::{ConfigFlags, Value};

/// What `cargo mc` adds: the cfg of the checker, that of a suite for another one, and those that the user asks for. What a suite forbids in its own code
/// (`#![deny(warnings)]`) was not said of our types.
pub(crate) fn ours(suite: Option<&str>, more: &[String]) -> Vec<String> {
    let mut flags = cfgs(["mc"].into_iter().chain(suite).chain(more.iter().map(String::as_str)));
    if suite.is_some() {
        flags.extend(["--cap-lints", "warn"].map(str::to_owned));
    }
    flags
}

/// What `cargo mc test --std` adds: the crates are as they are, without the cfg of the checker.
pub(crate) fn of_facade(facade: &[String], more: &[String]) -> Vec<String> {
    facade.iter().cloned().chain(cfgs(more.iter().map(String::as_str))).collect()
}

fn cfgs<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut flags = Vec::new();
    for cfg in names {
        flags.extend(["--cfg".to_owned(), cfg.to_owned()]);
        if !cfg.contains('=') {
            flags.extend(["--check-cfg".to_owned(), format!("cfg({cfg})")]);
        }
    }
    flags
}

/// What a call of cargo gets for our flags.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Injection {
    pub(crate) environment: Vec<(String, String)>,
    /// Each for a `--config`.
    pub(crate) config: Vec<String>,
}

/// A flag of ours has a blank in it, and one place of the user's flags is a text, in which blanks divide flags.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{flag}` has a blank in it, which `{place}` cannot carry, for it is a text in which blanks divide flags\n  \
     = help: make that a list, or have the flags in `RUSTFLAGS`; or take paths without blanks (`--target-dir`)"
)]
pub(crate) struct Blank {
    flag: String,
    place: String,
}

/// Works it out from the environment and the configuration files' flags.
pub(crate) fn inject(
    environment: &BTreeMap<String, String>,
    config: &ConfigFlags,
    ours: &[String],
) -> Result<Injection, Blank> {
    let variable = |name: &str, separator| {
        let theirs = environment.get(name)?.split(separator);
        let theirs =
            theirs.map(|flag| if separator == ' ' { flag.trim() } else { flag }).filter(|flag| !flag.is_empty());
        let all: Vec<_> = theirs.chain(ours.iter().map(String::as_str)).collect();
        Some(vec![("CARGO_ENCODED_RUSTFLAGS".to_owned(), all.join("\x1f"))])
    };
    let variable = variable("CARGO_ENCODED_RUSTFLAGS", '\x1f').or_else(|| variable("RUSTFLAGS", ' '));
    if let Some(environment) = variable {
        return Ok(Injection { environment, config: Vec::new() });
    }
    let is_target = |name: &str| name.starts_with("CARGO_TARGET_") && name.ends_with("_RUSTFLAGS");
    let from_variables = environment.iter().filter(|(name, _)| is_target(name));
    let environment: Result<_, Blank> =
        from_variables.map(|(name, flags)| Ok((name.clone(), appended(name, flags, ours)?))).collect();
    let build = std::iter::once(("build.rustflags".to_owned(), config.build.as_ref()));
    let targets = config.targets.iter().map(|(key, flags)| (format!("target.{}.rustflags", quoted(key)), Some(flags)));
    let config: Result<_, Blank> = build.chain(targets).map(|(key, theirs)| setting(&key, theirs, ours)).collect();
    Ok(Injection { environment: environment?, config: config? })
}

/// Whether flags ask for aborting panics, which neither libtest nor the checker can live with.
pub(crate) fn aborts_on_panic(environment: &BTreeMap<String, String>, config: &ConfigFlags) -> bool {
    of_user(environment, config).join(" ").contains("panic=abort")
}

/// All that some variable or file says. Which of them cargo takes is not looked at.
pub(crate) fn of_user(environment: &BTreeMap<String, String>, config: &ConfigFlags) -> Vec<String> {
    let variables = environment.iter().filter(|(name, _)| name.ends_with("RUSTFLAGS")).map(|(_, flags)| flags.clone());
    let files = config.build.iter().chain(config.targets.values()).map(Value::joined);
    let flags = variables.chain(files);
    flags.flat_map(|flags| flags.split(['\x1f', ' ']).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Cargo joins lists of one key, but a text replaces a text (and may not meet a list): then theirs is repeated.
fn setting(key: &str, theirs: Option<&Value>, ours: &[String]) -> Result<String, Blank> {
    Ok(match theirs {
        Some(Value::Text(flags)) => format!("{key}={}", toml::Value::String(appended(key, flags, ours)?)),
        Some(Value::List(_)) | None => {
            let ours = ours.iter().map(|flag| toml::Value::String(flag.clone())).collect();
            format!("{key}={}", toml::Value::Array(ours))
        }
    })
}

fn appended(place: &str, flags: &str, ours: &[String]) -> Result<String, Blank> {
    match ours.iter().find(|flag| flag.contains(char::is_whitespace)) {
        Some(flag) => Err(Blank { flag: flag.clone(), place: place.to_owned() }),
        None => Ok(format!("{flags} {}", ours.join(" ")).trim_start().to_owned()),
    }
}

fn quoted(key: &str) -> String {
    toml::Value::String(key.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn variables_that_cargo_prefers_are_extended_and_the_rest_is_left_alone() {
        let both = environment(&[("CARGO_ENCODED_RUSTFLAGS", "-Cdebuginfo=1"), ("RUSTFLAGS", "-Cx")]);
        let injection = inject(&both, &ConfigFlags::default(), &ours(None, &[])).unwrap();
        let encoded = "-Cdebuginfo=1\x1f--cfg\x1fmc\x1f--check-cfg\x1fcfg(mc)";
        assert_eq!(injection.environment, [("CARGO_ENCODED_RUSTFLAGS".to_owned(), encoded.to_owned())]);
        assert!(injection.config.is_empty());
        for (theirs, all) in [("", "--cfg\x1fmc"), (" -Cx  -Cy\n", "-Cx\x1f-Cy\x1f--cfg\x1fmc")] {
            let flags = &ours(None, &[])[..2];
            let injection = inject(&environment(&[("RUSTFLAGS", theirs)]), &ConfigFlags::default(), flags).unwrap();
            assert_eq!(injection.environment, [("CARGO_ENCODED_RUSTFLAGS".to_owned(), all.to_owned())]);
        }
    }

    #[test]
    fn every_key_that_has_flags_gets_ours_too() {
        let config = ConfigFlags {
            build: Some(Value::Text("--cfg mine".to_owned())),
            targets: BTreeMap::from([("cfg(target_os = \"linux\")".to_owned(), Value::List(vec!["-Ca".to_owned()]))]),
            ..ConfigFlags::default()
        };
        let variables = environment(&[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-Cb")]);
        let injection = inject(&variables, &config, &ours(None, &[])).unwrap();
        assert_eq!(injection.environment[0].1, "-Cb --cfg mc --check-cfg cfg(mc)");
        assert_eq!(injection.config[0], r#"build.rustflags="--cfg mine --cfg mc --check-cfg cfg(mc)""#);
        let target = r#"target.'cfg(target_os = "linux")'.rustflags=["--cfg", "mc", "--check-cfg", "cfg(mc)"]"#;
        assert_eq!(injection.config[1], target);
    }

    #[test]
    fn a_blank_is_carried_by_all_but_texts() {
        let flag = ["-La b".to_owned()];
        let list = ConfigFlags { build: Some(Value::List(vec!["-Ca".to_owned()])), ..ConfigFlags::default() };
        let text = ConfigFlags { build: Some(Value::Text("-Ca".to_owned())), ..ConfigFlags::default() };
        let (none, variable) = (environment(&[]), environment(&[("RUSTFLAGS", "-Cx")]));
        assert_eq!(inject(&none, &list, &flag).unwrap().config, [r#"build.rustflags=["-La b"]"#]);
        assert_eq!(inject(&variable, &text, &flag).unwrap().environment[0].1, "-Cx\x1f-La b");
        let refused = inject(&none, &text, &flag).unwrap_err().to_string();
        assert!(refused.starts_with("`-La b` has a blank in it, which `build.rustflags` cannot carry"), "{refused}");
    }

    #[test]
    fn aborting_panics_are_seen_wherever_flags_come_from() {
        let none = ConfigFlags::default();
        assert!(aborts_on_panic(&environment(&[("RUSTFLAGS", "-C panic=abort")]), &none));
        let list = ConfigFlags { build: Some(Value::List(vec!["-Cpanic=abort".to_owned()])), ..ConfigFlags::default() };
        assert!(aborts_on_panic(&environment(&[]), &list));
        assert!(!aborts_on_panic(&environment(&[("RUSTFLAGS", "-C panic=unwind")]), &none));
    }

    #[test]
    fn a_suite_has_its_own_cfg_and_may_deny_warnings() {
        let flags = ours(Some("loom"), &["tokio_unstable".to_owned(), "with=\"value\"".to_owned()]).join(" ");
        let expected = "--cfg mc --check-cfg cfg(mc) --cfg loom --check-cfg cfg(loom) --cfg tokio_unstable \
                        --check-cfg cfg(tokio_unstable) --cfg with=\"value\" --cap-lints warn";
        assert_eq!(flags, expected);
    }
}
