//! The table: each of std's items as done, different for a reason, or missing.

use super::page::STD_S_OWN;
use super::{Items, Key, VERSION};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How an item of std's stands here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The same, to rustdoc.
    Done,
    /// Not the same, for this reason; with our signature, if there is one.
    Differs {
        /// From `parity/differs.txt`.
        reason: String,
    },
    /// Not here, or not the same and nobody says why.
    Missing {
        /// Ours, where there is one.
        ours: Option<String>,
    },
}

/// One item of std's.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which.
    pub key: Key,
    /// std's signature.
    pub theirs: String,
    /// How it stands.
    pub status: Status,
}

/// `ours` against `theirs`, and the reasons that explain nothing any more.
pub fn compare(theirs: &Items, ours: &Items, reasons: &BTreeMap<Key, String>) -> (Vec<Row>, Vec<Key>) {
    let row = |(key, signature): (&Key, &String)| {
        let mine = ours.get(key);
        let std_s_own = Key { item: key.item.clone(), member: STD_S_OWN.to_owned() };
        let same = mine == Some(signature) || ours.contains_key(&std_s_own);
        let status = match (same, reasons.get(key)) {
            (true, _) => Status::Done,
            (false, Some(reason)) => Status::Differs { reason: reason.clone() },
            (false, None) => Status::Missing { ours: mine.cloned() },
        };
        Row { key: key.clone(), theirs: signature.clone(), status }
    };
    let rows: Vec<Row> = theirs.iter().map(row).collect();
    let differs = |key: &Key| rows.iter().any(|row| row.key == *key && matches!(row.status, Status::Differs { .. }));
    let stale = reasons.keys().filter(|key| !differs(key)).cloned().collect();
    (rows, stale)
}

/// The table as a page.
pub fn markdown(rows: &[Row]) -> String {
    let count = |wanted: fn(&Status) -> bool| rows.iter().filter(|row| wanted(&row.status)).count();
    let done = count(|status| matches!(status, Status::Done));
    let differ = count(|status| matches!(status, Status::Differs { .. }));
    let missing = count(|status| matches!(status, Status::Missing { .. }));
    let mut page = format!(
        "# Parity with std {VERSION}\n\n\
         Every public, stable item of `std::cell`, `hint`, `sync`, `sync::atomic`, `sync::mpsc`, `thread` and `time`, with its methods, variants and trait\n\
         implementations, auto traits included, against `mc` under `--cfg mc`: **{done} done, {differ} differ, {missing} missing**.\n\n\
         Made by `cargo run -p mc-tests --bin parity` from what rustdoc says of both; `tests/tests/parity.rs` fails when it is out of date. *Done* means: the\n\
         same path, signature, `const`ness, bounds and negative implementations. What it does is compared by running one source against both\n\
         (`shims/tests/parity`). Methods of implemented traits belong to their traits, and blanket implementations come by themselves: neither is listed.\n"
    );
    let mut items: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        items.entry(&row.key.item).or_default().push(row);
    }
    let mut module = "";
    for (item, rows) in items {
        let of = item.rsplit_once("::").map_or("", |(of, _)| of);
        if of != module {
            module = of;
            let _ = writeln!(page, "\n## `{of}`");
        }
        entry(&mut page, item, &rows);
    }
    page
}

fn entry(page: &mut String, item: &str, rows: &[&Row]) {
    let name = item.rsplit("::").next().unwrap_or(item);
    let shown =
        |row: &Row| if row.key.member.is_empty() { "itself".to_owned() } else { format!("`{}`", row.key.member) };
    let done: Vec<_> = rows.iter().filter(|row| row.status == Status::Done).map(|row| shown(row)).collect();
    let kind = rows.iter().find(|row| row.key.member.is_empty()).and_then(|row| row.theirs.split(' ').next());
    let _ = writeln!(page, "\n### {} `{name}`", kind.unwrap_or("item"));
    if !done.is_empty() {
        let _ = writeln!(page, "\ndone: {}", done.join(", "));
    }
    let mut listed = false;
    for row in rows {
        let line = match &row.status {
            Status::Done => continue,
            Status::Differs { reason } => format!("differs: {}: {reason}", shown(row)),
            Status::Missing { ours: None } => format!("**missing**: {}: `{}`", shown(row), row.theirs),
            Status::Missing { ours: Some(ours) } => {
                format!("**missing**: {}: `{}`, not `{ours}`", shown(row), row.theirs)
            }
        };
        let _ = writeln!(page, "{}- {line}", if listed { "" } else { "\n" });
        listed = true;
    }
}
