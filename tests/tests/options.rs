//! What the macros accept as options is what the runtime understands.
//!
//! Here, and not beside the code: a unit test of the macros would have the engine compiled once more, as a dependency of a program that the compiler runs.

#[expect(dead_code, reason = "what else the macros ask of a value")]
#[path = "../../mc-macros/src/values.rs"]
mod values;

use mc_runtime::outcome::FailureKind;
use mc_runtime::settings;
use values::{KINDS, OPTIONS};

#[test]
fn options_and_texts_are_those_of_the_runtime() {
    assert_eq!(OPTIONS.map(|(name, _)| name), settings::NAMES);
    assert_eq!(KINDS, FailureKind::ALL.map(|kind| kind.name()));
    let texts = [
        "10m",
        "1h30m",
        "250 ms",
        "0s",
        "10",
        "1_0s",
        "4G",
        "4GiB",
        "4Gb",
        "4GBB",
        "4 kb",
        "0",
        "1,000",
        "8:oldest",
        "8:",
        "pct:3",
        "pct:0",
        "PCT:3",
        "walk",
        "pos",
        "pos:3",
        "tso",
        "sc",
        "SC",
        "rc20",
        "leak",
        "data-race",
        "proved",
        "bounded",
        "coroutines",
        "os",
        "await",
        "barrier",
        "observer",
        "readers",
        "retry",
        "symmetry",
        "unused",
        "value",
        "all",
        "retry,unused",
        "retry, all",
        "retry,",
        "",
        " ",
        "µs",
        "1d 2h",
        "99999999999T",
        "18446744073709551615d",
    ];
    for (name, form) in OPTIONS.into_iter().filter(|(_, form)| form.takes_strings()) {
        for text in texts {
            let understood = settings::Layer::default().set(name, text).is_ok();
            assert_eq!(form.accepts(text), understood, "{name} = {text:?}");
        }
    }
}
