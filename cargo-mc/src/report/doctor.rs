//! `cargo mc doctor`: a table of the crates that there is something to say of, their findings, and what each kind means.

use std::collections::BTreeSet;
use std::io::{self, Write};

use comfy_table::{Table, presets};

use super::json::{CrateLine, FindingLine, Json, Line, PlaceLine};
use super::words::counted;
use super::{ReportError, Sink};
use crate::args::MessageFormat;
use crate::doctor::{Diagnosed, Diagnosis, Findings, Kind, Level, Place, Shims, Std, Used};

/// How many places of a kind are told; the others are counted.
const SHOWN: usize = 3;

/// Prints it.
pub(crate) fn diagnosis(diagnosis: &Diagnosis, format: MessageFormat) -> Result<(), ReportError> {
    match format {
        MessageFormat::Human => people(diagnosis, anstream::stdout()),
        MessageFormat::Json => lines(diagnosis, io::stdout()),
    }
}

/// The kinds that are told of a crate: all of what is selected, of others what is not controlled or not known.
fn told(found: &Findings, selected: bool) -> Vec<(Kind, &BTreeSet<Place>)> {
    let all = found.places.iter().map(|(kind, places)| (*kind, places));
    all.filter(|(kind, _)| selected || kind.advice().level() >= Level::Unknown).collect()
}

fn people(diagnosis: &Diagnosis, out: impl Write) -> Result<(), ReportError> {
    let mut sink = Sink::new(out);
    let selected = diagnosis.crates.iter().filter(|one| one.selected).count();
    let (packages, crates) = (counted(selected as u64, "package"), counted(diagnosis.crates.len() as u64, "crate"));
    sink.put(format_args!("{packages} selected, {crates} in the tests\n\n"));
    let (shown, folded): (Vec<&Diagnosed>, Vec<&Diagnosed>) =
        diagnosis.crates.iter().partition(|one| one.selected || !told(&one.findings, false).is_empty());
    table(&shown, &mut sink);
    fold(&folded, &mut sink);
    let mut kinds = BTreeSet::new();
    let workspace = ("the workspace".to_owned(), told(&diagnosis.workspace, true));
    let of_crates =
        shown.iter().map(|one| (format!("{} {}", one.name, one.version), told(&one.findings, one.selected)));
    for (name, found) in [workspace].into_iter().chain(of_crates).filter(|(_, found)| !found.is_empty()) {
        sink.put(format_args!("\n{name}\n"));
        for (kind, places) in found {
            kinds.insert(kind);
            sink.put(format_args!("    {:<17} {}\n", kind.name(), self::places(places)));
        }
    }
    meanings(&kinds, &mut sink);
    sink.end()
}

fn table(shown: &[&Diagnosed], sink: &mut Sink<impl Write>) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["CRATE", "VERSION", "WITH SHIMS", "WITH --std"]);
    for one in shown {
        table.add_row([one.name.as_str(), &one.version, shims(one.shims), std(one.std)]);
    }
    for line in table.lines() {
        sink.put(format_args!("{}\n", line.trim()));
    }
}

fn fold(folded: &[&Diagnosed], sink: &mut Sink<impl Write>) {
    if folded.is_empty() {
        return;
    }
    let has = if folded.len() == 1 { "has" } else { "have" };
    let other = counted(folded.len() as u64, "other crate");
    sink.put(format_args!("{other} {has} nothing that the checker cannot control"));
    match folded.iter().filter(|one| one.shims == Shims::NotSeen).count() {
        0 => sink.put(format_args!("\n")),
        1 => sink.put(format_args!("; 1 uses std's threads, locks or atomics, which only `--std` sees\n")),
        count => sink.put(format_args!("; {count} use std's threads, locks or atomics, which only `--std` sees\n")),
    }
}

fn shims(shims: Shims) -> &'static str {
    match shims {
        Shims::Controlled => "controlled",
        Shims::Nothing => "nothing to control",
        Shims::NotSeen => "not seen",
        Shims::Uncontrolled => "not all",
        Shims::Refused => "does not build",
    }
}

fn std(std: Std) -> &'static str {
    match std {
        Std::Facade => "facade",
        Std::Memory => "plain memory only",
        Std::Uncontrolled => "not all",
        Std::Refused => "does not build",
    }
}

/// `4 places: src/a.rs:3 asm!, src/a.rs:9 asm!, src/b.rs:1 asm!, ..`
fn places(places: &BTreeSet<Place>) -> String {
    let place = |place: &Place| {
        let only = only(place)
            .map_or(String::new(), |way| format!(" (only with {})", if way == "std" { "`--std`" } else { way }));
        format!("{}:{} {}{only}", place.file, place.line, place.what)
    };
    let first: Vec<String> = places.iter().take(SHOWN).map(place).collect();
    let more = if places.len() > SHOWN { ", .." } else { "" };
    let tests = if places.iter().all(|place| place.test) { " (in tests)" } else { "" };
    format!("{}{tests}: {}{more}", counted(places.len() as u64, "place"), first.join(", "))
}

fn meanings(kinds: &BTreeSet<Kind>, sink: &mut Sink<impl Write>) {
    if kinds.is_empty() {
        return;
    }
    sink.put(format_args!("\nWhat that means for a test that reaches it, and what to do\n"));
    for kind in kinds {
        let advice = kind.advice();
        sink.put(format_args!("{}: {}\n", kind.name(), advice.title));
        if advice.shims == advice.std {
            sink.put(format_args!("    either way  {}\n", advice.std.1));
        } else {
            sink.put(format_args!("    shims       {}\n    --std       {}\n", advice.shims.1, advice.std.1));
        }
        sink.put(format_args!("    do          {}\n", advice.remedy));
    }
    if kinds.iter().any(|kind| kind.advice().level() >= Level::Uncontrolled) {
        sink.put(format_args!(
            "\n`PROVED` speaks of what is controlled: a test that reaches anything else is not proved by it.\n"
        ));
    }
}

fn lines(diagnosis: &Diagnosis, out: impl Write) -> Result<(), ReportError> {
    let mut json = Json::new(out);
    let selected = diagnosis.crates.iter().filter(|one| one.selected).map(|one| one.name.as_str()).collect();
    json.put(&Line::doctor(selected, diagnosis.crates.len(), findings(&diagnosis.workspace)));
    for one in &diagnosis.crates {
        json.put(&Line::Crate(CrateLine {
            name: &one.name,
            version: &one.version,
            manifest: &one.manifest,
            selected: one.selected,
            shims: one.shims.name(),
            std: one.std.name(),
            uses: one.findings.used.iter().map(|used: &Used| used.name()).collect(),
            findings: findings(&one.findings),
        }));
    }
    json.done()
}

fn findings(found: &Findings) -> Vec<FindingLine<'_>> {
    found.places.iter().map(|(kind, places)| finding(*kind, places)).collect()
}

fn finding(kind: Kind, places: &BTreeSet<Place>) -> FindingLine<'_> {
    let advice = kind.advice();
    FindingLine {
        kind: kind.name(),
        title: advice.title,
        count: places.len(),
        places: places.iter().take(SHOWN).map(line_of).collect(),
        shims_level: advice.shims.0.name(),
        shims: advice.shims.1,
        std_level: advice.std.0.name(),
        std: advice.std.1,
        remedy: advice.remedy,
    }
}

/// The one way in which it is there.
fn only(place: &Place) -> Option<&'static str> {
    match (place.ways.shims, place.ways.std) {
        (true, false) => Some("shims"),
        (false, true) => Some("std"),
        _ => None,
    }
}

fn line_of(place: &Place) -> PlaceLine<'_> {
    PlaceLine { file: &place.file, line: place.line, what: &place.what, test: place.test, only: only(place) }
}
