//! std's public items against ours: both are read from the documentation that rustdoc makes, which knows every path, signature, bound and trait
//! implementation as the compiler does.
//!
//! std's side is in `parity/std.txt`, so that no documentation of std is needed to compare; where the toolchain has it, the list itself is checked.
//! Not here: how an item behaves. The same source runs against both in `shims/tests/parity`.

mod page;
mod signature;
pub mod sources;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use table::{Row, Status, compare, markdown};

/// The modules that are compared, below the root of either crate.
const MODULES: [&str; 7] = ["cell", "hint", "sync", "sync/atomic", "sync/mpsc", "thread", "time"];

/// The version of std that the list is of.
pub const VERSION: &str = "1.95.0";

/// What names an item, or a member of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// As `sync::mpsc::Receiver`.
    pub item: String,
    /// As `recv`, or `impl Debug for Receiver<T>`; empty for the item itself.
    pub member: String,
}

/// Keys with their signatures, normalised.
pub type Items = BTreeMap<Key, String>;

/// The list cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ParityError {
    /// A page of the documentation is missing.
    #[error("`{path}` cannot be read: {why}")]
    Read {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        why: std::io::Error,
    },
    /// Our documentation cannot be made.
    #[error("`cargo doc` of `mc-shims` failed:\n{0}")]
    Document(String),
}

fn read(path: &Path) -> Result<String, ParityError> {
    std::fs::read_to_string(path).map_err(|why| ParityError::Read { path: path.to_owned(), why })
}

/// The public, stable items below `root`, the directory of a crate's documentation.
pub fn items(root: &Path) -> Result<Items, ParityError> {
    let mut items = Items::new();
    for module in MODULES {
        let directory = root.join(module);
        let Ok(index) = read(&directory.join("index.html")) else { continue };
        for (kind, name) in page::listed(&index) {
            if kind == "mod" {
                continue;
            }
            let item = format!("{}::{name}", module.replace('/', "::"));
            page::members(&directory.join(format!("{kind}.{name}.html")), &kind, &item, &mut items)?;
        }
    }
    let macros = [("macro", "thread_local")];
    for (kind, name) in macros {
        if root.join(format!("{kind}.{name}.html")).exists() {
            items.insert(Key { item: name.to_owned(), member: String::new() }, kind.to_owned());
        }
    }
    Ok(items)
}

/// The text of a list: one item a line, fields separated by tabs.
pub fn to_text(items: &Items) -> String {
    let mut text = format!(
        "# The public, stable items of std {VERSION}, made by `cargo run -p mc-tests --bin parity`: item, member, normalised signature.\n"
    );
    for (Key { item, member }, signature) in items {
        text.push_str(&format!("{item}\t{member}\t{signature}\n"));
    }
    text
}

/// The list of a text that [`to_text`] made.
pub fn from_text(text: &str) -> Items {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| {
        let mut fields = line.splitn(3, '\t').map(str::to_owned);
        Some((Key { item: fields.next()?, member: fields.next()? }, fields.next()?))
    });
    fields.collect()
}

/// Why what differs does, by item and member: the lines of `parity/differs.txt`.
pub fn reasons(text: &str) -> BTreeMap<Key, String> {
    from_text(text)
}
