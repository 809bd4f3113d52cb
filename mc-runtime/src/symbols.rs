//! Where code stands in the source, by the debug information of the executable.

use crate::exec::Where;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The folder of the checked types, whose generic code is compiled with the crates under test.
static CHECKER: OnceLock<&'static str> = OnceLock::new();

/// Says which folder that is.
pub(crate) fn set_checker(folder: &'static str) {
    CHECKER.get_or_init(|| folder);
}

/// For a message.
pub(crate) fn place(place: Where) -> String {
    source(place).map_or_else(|| "a place that is not known".to_owned(), |(file, line)| format!("{file}:{line}"))
}

/// File and line. Of code that was inlined, the innermost place that is not in the toolchain's own sources.
pub(crate) fn source(place: Where) -> Option<(String, u32)> {
    match place {
        Where::Source(site) => site.map(|site| (site.file().to_owned(), site.line())),
        Where::Code(address) => look_up(address),
    }
}

/// Is it the checker's own code? What that does to memory is ordered by what it tells the engine.
pub(crate) fn is_checkers(place: Where) -> bool {
    static KNOWN: Mutex<Option<FxHashMap<usize, bool>>> = Mutex::new(None);
    let (Where::Code(address), Some(folder)) = (place, CHECKER.get()) else { return false };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let look = || look_up(address).is_some_and(|(file, _)| file.starts_with(folder));
    *known.get_or_insert_default().entry(address).or_insert_with(look)
}

fn look_up(address: usize) -> Option<(String, u32)> {
    let mut found = None;
    // A return address is that of the next instruction.
    backtrace::resolve((address - 1) as *mut _, |symbol| {
        let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) else { return };
        let outside = |(file, _): &(String, u32)| !is_toolchains(file);
        if !found.as_ref().is_some_and(outside) {
            found = Some((file.to_string_lossy().into_owned(), line));
        }
    });
    found
}

/// Is it a file of std? They are named by the commit, or, where the sources are installed, by their place.
fn is_toolchains(file: &str) -> bool {
    file.starts_with("/rustc/") || file.contains("/rustlib/src/rust/library/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_in_the_source_and_that_of_std_is_told_from_it() {
        let (file, _) = look_up(look_up as *const () as usize + 16).unwrap();
        assert!(file.ends_with("symbols.rs"), "{file}");
        assert!(is_toolchains("/rustc/0123/library/core/src/cell.rs"));
        assert!(!is_toolchains("src/lib.rs"));
    }
}
