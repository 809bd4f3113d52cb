//! From the events of a trace to the cells of a table: words, places, and runs folded to what matters.

use super::Sources;
use crate::message::TraceEvent;
use crate::outcome::Site;

/// One line of the table: what one thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Which column, by position in [`threads`].
    pub(super) column: usize,
    pub(super) text: String,
    /// As `cell.rs:20`, or `:22` where the file is the one of the row before.
    pub(super) place: String,
    pub(super) note: String,
    pub(super) culprit: bool,
}

/// A column's thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) thread: u32,
    pub(super) title: String,
}

/// Longer runs of one thread without a culprit are folded to their ends.
const LONGEST_RUN: usize = 9;
/// What stays of each end.
const ENDS: usize = 3;
/// The longest block of events that is recognised when it repeats.
const LONGEST_BLOCK: usize = 6;

/// The threads that did something, in order.
pub(super) fn threads(trace: &[TraceEvent]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for event in trace {
        let known = columns.iter_mut().find(|column| column.thread == event.thread);
        let title = title(event);
        match known {
            // The name may be told only later.
            Some(column) if event.name.is_some() => column.title = title,
            Some(_) => {}
            None => columns.push(Column { thread: event.thread, title }),
        }
    }
    columns.sort_by_key(|column| column.thread);
    columns
}

fn title(event: &TraceEvent) -> String {
    match (event.thread, &event.name) {
        (0, _) => "main".to_owned(),
        (thread, Some(name)) => format!("T{thread} {name}"),
        (thread, None) => format!("T{thread}"),
    }
}

/// The rows, folded.
pub(super) fn rows(trace: &[TraceEvent], sources: &mut Sources) -> Vec<Row> {
    let columns = threads(trace);
    let mut rows = Vec::new();
    let mut file = String::new();
    let said: Vec<_> = trace.iter().filter(|event| !goes_without_saying(event)).cloned().collect();
    let mut rest = said.as_slice();
    while let Some(first) = rest.first() {
        let length = rest.iter().take_while(|event| event.thread == first.thread).count();
        let (turn, after) = rest.split_at(length);
        rest = after;
        let column = columns.iter().position(|column| column.thread == first.thread).unwrap_or_default();
        for piece in fold(turn) {
            rows.push(match piece {
                Piece::Event(event) => row(column, event, &mut file, sources),
                Piece::Remark(text) => Row { column, text, place: String::new(), note: String::new(), culprit: false },
            });
        }
    }
    rows
}

/// That a thread ends is seen from what it does.
fn goes_without_saying(event: &TraceEvent) -> bool {
    event.site.is_none() && event.note.is_none() && !event.culprit && event.text == "ends"
}

fn row(column: usize, event: &TraceEvent, file: &mut String, sources: &mut Sources) -> Row {
    Row {
        column,
        text: words(event, sources),
        place: event.site.as_ref().map(|site| place(site, file)).unwrap_or_default(),
        note: event.note.clone().unwrap_or_default(),
        culprit: event.culprit,
    }
}

/// `load(Acquire) = 1` becomes `READY.load(Acquire) = 1` where the source line says so; so does `Mutex::lock`, and what gives a lock back where the line that
/// took it does.
fn words(event: &TraceEvent, sources: &mut Sources) -> String {
    if let Some(lock) =
        event.taken.as_ref().and_then(|taken| sources.receiver(&taken.site, taken.column, &taken.method))
    {
        return format!("{lock} unlocked");
    }
    let (waits, text) = event.text.strip_prefix(WAITS).map_or(("", &*event.text), |text| (WAITS, text));
    let name_end = text.find(['(', ' ']).unwrap_or(text.len());
    let (name, rest) = text.split_at(name_end);
    let method = name.rsplit("::").next().unwrap_or(name);
    let is_call = rest.starts_with('(') || name.contains("::");
    let receiver =
        event.site.as_ref().filter(|_| is_call).and_then(|site| sources.receiver(site, event.column, method));
    match receiver {
        Some(receiver) if rest.starts_with('(') => format!("{waits}{receiver}.{method}{rest}"),
        Some(receiver) => format!("{waits}{receiver}.{method}(){rest}"),
        None => event.text.clone(),
    }
}

/// What a thread that is stuck does.
const WAITS: &str = "waits in ";

fn place(site: &Site, file: &mut String) -> String {
    if *file == site.file {
        return format!(":{}", site.line);
    }
    file.clone_from(&site.file);
    let name = site.file.rsplit(['/', '\\']).next().unwrap_or(&site.file);
    format!("{name}:{}", site.line)
}

enum Piece<'a> {
    Event(&'a TraceEvent),
    Remark(String),
}

/// Folds what one thread did without a switch: repeated blocks first, then what is still too long.
fn fold(turn: &[TraceEvent]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < turn.len() {
        let (block, times) = repetition(&turn[at..]);
        pieces.extend(turn[at..at + block].iter().map(Piece::Event));
        if times > 1 {
            let what = if block == 1 { String::new() } else { format!("these {block} lines, ") };
            pieces.push(Piece::Remark(format!("… {what}{} more times", times - 1)));
        }
        at += block * times;
    }
    shorten(pieces)
}

/// The block at the start of `events` that repeats most, and how often it stands there (at least once; twice is not worth a remark).
fn repetition(events: &[TraceEvent]) -> (usize, usize) {
    let same = |a: &TraceEvent, b: &TraceEvent| a.text == b.text && a.site == b.site && a.note == b.note && !a.culprit;
    (1..=LONGEST_BLOCK)
        .filter_map(|length| {
            let block = events.get(..length)?;
            let equal = |next: &&[TraceEvent]| next.len() == length && block.iter().zip(*next).all(|(a, b)| same(a, b));
            let times = events.chunks(length).take_while(equal).count();
            (times > 2).then_some((length, times))
        })
        .max_by_key(|(length, times)| (length * times, std::cmp::Reverse(*length)))
        .unwrap_or((1, 1))
}

fn shorten(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let matters = |piece: &Piece<'_>| matches!(piece, Piece::Event(event) if event.culprit || event.note.is_some());
    let mut kept = Vec::new();
    let mut run = Vec::new();
    for piece in pieces {
        if matters(&piece) {
            close(&mut run, &mut kept);
            kept.push(piece);
        } else {
            run.push(piece);
        }
    }
    close(&mut run, &mut kept);
    kept
}

fn close<'a>(run: &mut Vec<Piece<'a>>, kept: &mut Vec<Piece<'a>>) {
    if run.len() > LONGEST_RUN {
        let tail = run.split_off(run.len() - ENDS);
        let hidden = run.len() - ENDS;
        run.truncate(ENDS);
        run.push(Piece::Remark(format!("… {hidden} more events")));
        run.extend(tail);
    }
    kept.append(run);
}
