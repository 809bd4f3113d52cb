//! Reports of small traces written by hand.

use super::*;
use crate::message::Taken;
use crate::outcome::FailureKind;

fn event(thread: u32, name: Option<&str>, text: &str, line: u32) -> TraceEvent {
    let site = Some(Site { file: "src/cell.rs".to_owned(), line });
    let name = name.map(str::to_owned);
    TraceEvent { thread, name, text: text.to_owned(), site, column: 0, note: None, culprit: false, taken: None }
}

fn view(width: usize) -> View {
    View {
        test: "cell::publish".to_owned(),
        name: "cell::publish".to_owned(),
        replay: "cargo mc replay".to_owned(),
        recorded: Some("target/mc/failures/cell__publish.json".to_owned()),
        roots: Vec::new(),
        width,
        style: Style::PLAIN,
    }
}

fn publish() -> (Failure, Vec<TraceEvent>) {
    let (writer, reader) = (Some("writer"), Some("reader"));
    let mut stale = event(2, reader, "load(Relaxed) = 0", 29);
    stale.note = Some("stale: 42 exists".to_owned());
    stale.culprit = true;
    let trace = vec![
        event(0, None, "spawn T1", 20),
        event(0, None, "spawn T2", 26),
        event(1, writer, "store(42, Relaxed)", 22),
        event(1, writer, "store(1, Relaxed)", 23),
        event(2, reader, "load(Acquire) = 1", 28),
        stale,
        event(2, reader, "panicked", 30),
    ];
    let failure = Failure {
        kind: FailureKind::Panic,
        message: "assertion failed: left: 0, right: 42\nthe store at :22 is not ordered before the load at :29\nwith \
                  Release at :23 it would be"
            .to_owned(),
        thread: "T2 reader".to_owned(),
        site: Some(Site { file: "src/cell.rs".to_owned(), line: 30 }),
        schedule: "mc1.7hq2".to_owned(),
        execution: 2,
    };
    (failure, trace)
}

#[test]
fn threads_stand_side_by_side_with_places_and_notes() {
    let (failure, trace) = publish();
    insta::assert_snapshot!(render(&failure, &trace, &view(120)));
}

#[test]
fn threads_that_do_not_fit_stand_one_below_the_other() {
    let (failure, trace) = publish();
    insta::assert_snapshot!(render(&failure, &trace, &view(60)));
}

#[test]
fn a_lock_is_called_as_the_line_that_takes_it_calls_it() {
    // `_lines`, in this file.
    let site = |line| Some(Site { file: file!().to_owned(), line });
    let first = line!() + 2;
    let _lines = "
        let both = a.lock() + self.b.lock();
        c.write();
    ";
    let at = |text: &str, line, column| TraceEvent { site: site(line), column, ..event(1, None, text, 1) };
    let unlocks = |text: &str, method: &str, line, column| TraceEvent {
        site: None,
        taken: site(line).map(|site| Taken { method: method.to_owned(), site, column }),
        ..event(1, None, text, 1)
    };
    let trace = [
        at("Mutex::lock", first, 22),
        unlocks("Mutex unlocked", "lock", first, 22),
        unlocks("Mutex unlocked", "lock", first, 0),
        unlocks("RwLock write guard dropped", "write", first + 1, 0),
        at("waits in Mutex::lock", first, 38),
    ];
    let mut sources = Sources::new(&[env!("CARGO_MANIFEST_DIR").into()]);
    let told: Vec<_> = cells::rows(&trace, &mut sources).into_iter().map(|row| row.text).collect();
    assert_eq!(told, ["a.lock()", "a unlocked", "Mutex unlocked", "c unlocked", "waits in self.b.lock()"]);
}

#[test]
fn repeated_blocks_and_long_runs_are_folded_but_not_what_matters() {
    let (failure, _) = publish();
    let mut trace: Vec<_> = (0..40).map(|turn| event(1, None, "load(Relaxed) = 0", 10 + turn % 2)).collect();
    trace.extend((0..30).map(|index| event(2, None, &format!("store({index}, Relaxed)"), 100 + index)));
    trace[65].culprit = true;
    insta::assert_snapshot!(render(&failure, &trace, &view(120)));
}

#[test]
fn colours_change_nothing_else() {
    let (failure, trace) = publish();
    let coloured = render(&failure, &trace, &View { style: Style::ANSI, ..view(120) });
    let Style { bad, strong, dim, reset, .. } = Style::ANSI;
    let plain = [bad, strong, dim, reset].iter().fold(coloured.clone(), |text, code| text.replace(code, ""));
    assert_ne!(coloured, plain);
    assert_eq!(plain, render(&failure, &trace, &view(120)));
}

#[test]
fn a_failure_without_trace_or_schedule_says_so() {
    let (failure, _) = publish();
    let failure = Failure { schedule: String::new(), site: None, ..failure };
    insta::assert_snapshot!(render(&failure, &[], &view(120)));
}
