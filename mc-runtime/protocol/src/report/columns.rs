//! The table itself: threads side by side where they fit, one below the other where they do not.

use super::cells::{Column, Row};
use super::{MARGIN, Style, View, put};

/// What stands between two columns.
const GAP: usize = 3;
/// No column is narrower.
const NARROWEST: usize = 14;
/// Words beyond this are cut before a table is given up.
const WIDEST: usize = 48;

pub(super) fn write(out: &mut String, columns: &[Column], rows: &[Row], view: &View) {
    let widths: Vec<usize> = (0..columns.len()).map(|column| width(column, &columns[column], rows)).collect();
    let total = MARGIN.len() + widths.iter().map(|width| width + GAP).sum::<usize>();
    if total <= view.width.max(60) {
        side_by_side(out, columns, rows, &widths, view.style);
    } else {
        listed(out, columns, rows, view.style);
    }
    out.push('\n');
}

fn width(column: usize, head: &Column, rows: &[Row]) -> usize {
    let own = rows.iter().filter(|row| row.column == column);
    let cells =
        own.map(|row| count(&clipped(&row.text)) + if row.place.is_empty() { 0 } else { 1 + count(&row.place) });
    cells.chain([count(&head.title), NARROWEST]).max().unwrap_or(NARROWEST)
}

fn side_by_side(out: &mut String, columns: &[Column], rows: &[Row], widths: &[usize], style: Style) {
    let Style { strong, reset, .. } = style;
    let mut heads = String::new();
    for (head, width) in columns.iter().zip(widths) {
        put(&mut heads, format_args!("{}{}", head.title, blanks(width + GAP - count(&head.title))));
    }
    put(out, format_args!("{MARGIN}{strong}{}{reset}\n", heads.trim_end()));
    for row in rows {
        let before: usize = widths[..row.column].iter().map(|width| width + GAP).sum();
        let text = clipped(&row.text);
        let between = widths[row.column] - count(&text) - count(&row.place);
        put(out, format_args!("{MARGIN}{}", blanks(before)));
        cell(out, row, &text, between, style);
    }
}

fn listed(out: &mut String, columns: &[Column], rows: &[Row], style: Style) {
    let Style { strong, reset, .. } = style;
    let head = columns.iter().map(|column| count(&column.title)).max().unwrap_or_default();
    let widest = rows.iter().map(|row| count(&clipped(&row.text))).max().unwrap_or_default();
    let mut last = None;
    for row in rows {
        let title = if last == Some(row.column) { "" } else { &columns[row.column].title };
        last = Some(row.column);
        put(out, format_args!("{MARGIN}{strong}{title}{reset}{}", blanks(head + GAP - count(title))));
        let text = clipped(&row.text);
        let between = widest + 2 - count(&text);
        cell(out, row, &text, between, style);
    }
}

fn cell(out: &mut String, row: &Row, text: &str, between: usize, style: Style) {
    let Style { bad, dim, reset, .. } = style;
    let (start, end) = if row.culprit { (bad, reset) } else { ("", "") };
    put(out, format_args!("{start}{text}{end}"));
    if !row.place.is_empty() {
        put(out, format_args!("{}{dim}{}{reset}", blanks(between), row.place));
    }
    if !row.note.is_empty() {
        put(out, format_args!("   {}", row.note));
    }
    out.push('\n');
}

/// Without its middle, if it is too long: what an operation came to stands at its end.
fn clipped(text: &str) -> String {
    let len = count(text);
    if len <= WIDEST {
        return text.to_owned();
    }
    let result = text.rfind(" = ").map_or(0, |at| count(&text[at..]));
    let end = if result <= WIDEST / 2 { result } else { 0 };
    let (first, last) = (text.chars().take(WIDEST - 1 - end), text.chars().skip(len - end));
    first.chain(['…']).chain(last).collect()
}

fn count(text: &str) -> usize {
    text.chars().count()
}

fn blanks(width: usize) -> String {
    " ".repeat(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_keeps_its_result() {
        let long = "a_queue_with_a_long_name.compare_exchange(0, 1, ";
        let cut = clipped(&format!("{long}Acquire, Relaxed) = Err(17)"));
        assert_eq!((cut.as_str(), count(&cut)), ("a_queue_with_a_long_name.compare_exch… = Err(17)", WIDEST));
        assert_eq!(clipped(&long.repeat(2)), format!("{}…", &long[..WIDEST - 1]));
        let result = format!(" = Ok(\"{}\")", "é".repeat(40));
        assert_eq!(clipped(&format!("{long}{result}")), format!("{}…", &long[..WIDEST - 1]), "the result is longer");
        assert_eq!(clipped("x.load(Acquire) = 1"), "x.load(Acquire) = 1");
    }
}
