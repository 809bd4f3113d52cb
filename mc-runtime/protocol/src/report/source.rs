//! The user's source lines, and which object an operation in them is on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::outcome::Site;

/// Reads source files once.
#[derive(Debug)]
pub struct Sources {
    roots: Vec<PathBuf>,
    /// `None`: not to be found.
    files: BTreeMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Files are looked for as they are named, then below each of `roots` and the directories above it.
    pub fn new(roots: &[PathBuf]) -> Self {
        Self { roots: roots.to_vec(), files: BTreeMap::new() }
    }

    /// The text of a line.
    pub fn line(&mut self, site: &Site) -> Option<&str> {
        if !self.files.contains_key(&site.file) {
            self.files.insert(site.file.clone(), read(&self.roots, &site.file));
        }
        let lines = self.files.get(&site.file)?.as_ref()?;
        lines.get((site.line as usize).checked_sub(1)?).map(String::as_str)
    }

    /// The expression before `.method(` on the line of `site`: `self.head` in `let head = self.head.load(Acquire);`.
    /// `None` where it is not on this line, or where there are several and `column` (see `TraceEvent`) says of none that it is the one.
    pub fn receiver(&mut self, site: &Site, column: u32, method: &str) -> Option<String> {
        let line = self.line(site)?;
        let call = format!(".{method}(");
        let dot = line.char_indices().nth((column as usize).wrapping_sub(2)).map(|(at, _)| at);
        let at = dot.filter(|at| line[*at..].starts_with(&call)).or_else(|| only(line, &call))?;
        let receiver = &line[start_of_expression(&line[..at])..at];
        let shown = !receiver.is_empty() && receiver.chars().count() <= LONGEST_RECEIVER;
        shown.then(|| receiver.to_owned())
    }
}

fn only(line: &str, call: &str) -> Option<usize> {
    let at = line.find(call)?;
    (!line[at + 1..].contains(call)).then_some(at)
}

/// Longer expressions are left out.
const LONGEST_RECEIVER: usize = 24;

fn read(roots: &[PathBuf], file: &str) -> Option<Vec<String>> {
    let candidates = roots.iter().flat_map(|root| root.ancestors()).map(|directory| directory.join(file));
    let text = std::iter::once(Path::new(file).to_owned()).chain(candidates).find_map(|path| {
        let text = std::fs::read(path).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    })?;
    Some(text.lines().map(str::to_owned).collect())
}

/// Where the path expression at the end of `text` starts: names, dots, `::`, indices and calls, back to anything else.
fn start_of_expression(text: &str) -> usize {
    let mut depth = 0usize;
    let mut start = text.len();
    for (at, character) in text.char_indices().rev() {
        match character {
            ')' | ']' => depth += 1,
            '(' | '[' if depth == 0 => break,
            '(' | '[' => depth -= 1,
            _ if depth > 0 => {}
            '.' | ':' | '_' => {}
            _ if character.is_alphanumeric() => {}
            _ => break,
        }
        start = at;
    }
    if depth == 0 { start } else { text.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(line: &str, method: &str) -> Option<String> {
        receiver_at(line, 0, method)
    }

    fn receiver_at(line: &str, column: u32, method: &str) -> Option<String> {
        let files = BTreeMap::from([("x.rs".to_owned(), Some(vec![line.to_owned()]))]);
        let site = Site { file: "x.rs".to_owned(), line: 1 };
        Sources { roots: Vec::new(), files }.receiver(&site, column, method)
    }

    #[test]
    fn the_receiver_is_the_path_before_the_call() {
        assert_eq!(receiver("    let h = self.head.load(Acquire);", "load").as_deref(), Some("self.head"));
        assert_eq!(receiver("if !READY.load(Acquire) {", "load").as_deref(), Some("READY"));
        assert_eq!(
            receiver("    slots[i & (n - 1)].seq.store(1, Release);", "store").as_deref(),
            Some("slots[i & (n - 1)].seq")
        );
        assert_eq!(receiver("f(lock.lock().unwrap());", "lock").as_deref(), Some("lock"));
    }

    #[test]
    fn a_line_with_two_or_none_names_nobody() {
        assert_eq!(receiver("x.load(Relaxed) + y.load(Relaxed)", "load"), None);
        assert_eq!(receiver("        .load(Relaxed)", "load"), None);
        assert_eq!(receiver("bump!(x)", "load"), None);
    }

    #[test]
    fn a_column_tells_which_of_two_it_is() {
        let line = "ä.load(Relaxed) + b.load(Relaxed)";
        assert_eq!(receiver_at(line, 3, "load").as_deref(), Some("ä"));
        assert_eq!(receiver_at(line, 21, "load").as_deref(), Some("b"));
        assert_eq!([0, 1, 2, 20, 22, 90].map(|column| receiver_at(line, column, "load")), [const { None }; 6]);
        assert_eq!(receiver_at("twice!(b.load(Relaxed))", 1, "load").as_deref(), Some("b"), "a macro's place");
    }

    #[test]
    fn files_are_found_in_the_directories_above_a_root() {
        let mut sources = Sources::new(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("src")]);
        let site = Site { file: "mc-runtime/protocol/src/report/source.rs".to_owned(), line: 1 };
        assert_eq!(
            sources.line(&site),
            Some("//! The user's source lines, and which object an operation in them is on.")
        );
        assert_eq!(sources.line(&Site { line: 0, ..site.clone() }), None);
        assert_eq!(sources.line(&Site { file: "no/such/file.rs".to_owned(), line: 1 }), None);
    }
}
