//! `RESULTS.md`: each command writes the section that is its own, and leaves those of the others.

use std::fs;
use std::io;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/RESULTS.md");

/// The sections, in the order in which they stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Correct workloads under each tool.
    Peers,
    /// Workloads with a mistake under each tool.
    Bugs,
    /// The largest resident set.
    Memory,
    /// What the parts of the engine cost, and what they may.
    Budget,
}

const SECTIONS: [(Section, &str); 4] = [
    (Section::Peers, "# Ours and the peers'"),
    (Section::Bugs, "# Finding mistakes"),
    (Section::Memory, "# Memory of ours"),
    (Section::Budget, "# Budget of the engine"),
];

/// Replaces the text below the heading of a section.
pub fn write(section: Section, body: &str) -> io::Result<()> {
    let before = fs::read_to_string(PATH).unwrap_or_default();
    fs::write(PATH, replaced(&before, section, body))
}

fn replaced(file: &str, section: Section, body: &str) -> String {
    let mut text = Vec::new();
    for (other, heading) in SECTIONS {
        let body = if other == section { Some(body) } else { body_of(file, heading) };
        text.extend(body.map(|body| format!("{heading}\n\n{}\n", body.trim())));
    }
    text.join("\n")
}

/// What stands between this heading and the next of the first level.
fn body_of<'a>(file: &'a str, heading: &str) -> Option<&'a str> {
    let rest = &file[file.find(&format!("{heading}\n"))? + heading.len()..];
    Some(&rest[..rest.find("\n# ").unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_where_it_stands_and_the_others_stay() {
        let first = replaced("", Section::Bugs, "found");
        assert_eq!(first, "# Finding mistakes\n\nfound\n");
        let both = replaced(&first, Section::Peers, "slow\n## and more");
        assert_eq!(both, "# Ours and the peers'\n\nslow\n## and more\n\n# Finding mistakes\n\nfound\n");
        assert_eq!(replaced(&both, Section::Bugs, "found"), both);
    }
}
