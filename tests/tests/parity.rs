//! The table of parity with std, `docs/parity.md`, says what is so.
#![cfg(not(mc))]

use std::io::Write;

use mc_tests::parity::{self, Status, sources};

const AGAIN: &str = "run `cargo run -p mc-tests --bin parity`";

/// Where libtest does not hide it from whoever runs the tests.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn the_table_is_what_the_compiler_says_of_both() {
    if !sources::is_version() {
        return say(&format!("SKIPPED: the toolchain is not {}, whose rustdoc the list is from", parity::VERSION));
    }
    let read = |path: std::path::PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let theirs = parity::from_text(&read(sources::list()));
    let ours = sources::our_items(env!("CARGO_TARGET_TMPDIR"), "mc").unwrap_or_else(|e| panic!("{e}"));
    assert!(theirs.len() > 1200 && ours.len() > 1200, "{} and {} items were read", theirs.len(), ours.len());
    let reasons = parity::reasons(&read(sources::reasons()));
    let (rows, stale) = parity::compare(&theirs, &ours, &reasons);
    let missing: Vec<_> = rows.iter().filter(|row| matches!(row.status, Status::Missing { .. })).collect();
    assert!(missing.is_empty(), "missing, or different without a reason in `tests/parity/differs.txt`: {missing:#?}");
    assert!(stale.is_empty(), "`tests/parity/differs.txt` explains what does not differ: {stale:#?}");
    assert!(parity::markdown(&rows) == read(sources::table()), "`docs/parity.md` is out of date: {AGAIN}");
}

#[test]
fn the_list_is_what_the_documentation_of_the_toolchain_says() {
    let Some(theirs) = sources::std_items().unwrap_or_else(|e| panic!("{e}")) else {
        return say(&format!("SKIPPED: the toolchain has no documentation of std {}", parity::VERSION));
    };
    let listed = std::fs::read_to_string(sources::list()).unwrap_or_default();
    assert!(parity::to_text(&theirs) == listed, "`tests/parity/std.txt` is out of date: {AGAIN}");
}

#[test]
fn an_item_that_goes_missing_or_changes_is_noticed() {
    let list = "sync::Lock\tnew\tpub const fn new(T) -> Self\nsync::Lock\tlock\tpub fn lock(&self)\n";
    let ours = "sync::Lock\tnew\tpub fn new(T) -> Self\n";
    let (theirs, ours) = (parity::from_text(list), parity::from_text(ours));
    let status = |reasons: &str| {
        let (rows, stale) = parity::compare(&theirs, &ours, &parity::reasons(reasons));
        (rows.into_iter().map(|row| row.status).collect::<Vec<_>>(), stale.len())
    };
    let ours = Some("pub fn new(T) -> Self".to_owned());
    assert_eq!(status("").0, [Status::Missing { ours: None }, Status::Missing { ours: ours.clone() }]);
    let reason = "sync::Lock\tnew\treports";
    let differs = Status::Differs { reason: "reports".to_owned() };
    assert_eq!(status(reason), (vec![Status::Missing { ours: None }, differs], 0));
    assert_eq!(status("sync::Lock\tunlock\tgone").1, 1);
}
