//! Where code stands in the source, by the debug information of the executable.

use crate::exec::Where;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::OnceLock;

/// The folders of the checker, whose generic code is compiled with the crates under test.
static CHECKER: OnceLock<[&str; 2]> = OnceLock::new();

/// Says where the checked types are.
pub(crate) fn set_checker(folder: &'static str) {
    CHECKER.get_or_init(|| [folder, env!("CARGO_MANIFEST_DIR")]);
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

/// The first of these addresses, a return address and those of the calls around it, that is in code under test. `None` where it is the checker that asked std for it:
/// what its own types do to memory is ordered by what they tell the engine.
pub(crate) fn users(code: usize, mut around: impl Iterator<Item = usize>) -> Option<usize> {
    let mut at = code;
    loop {
        match owner(at) {
            Owner::Test => return Some(at),
            Owner::Checker => return None,
            Owner::Toolchain => match around.next() {
                Some(next) => at = next,
                None => return Some(code),
            },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Test,
    Checker,
    Toolchain,
}

fn owner(address: usize) -> Owner {
    thread_local! {
        static KNOWN: RefCell<FxHashMap<usize, Owner>> = RefCell::default();
    }
    let look = || match look_up(address) {
        Some((file, _)) if is_toolchains(&file) => Owner::Toolchain,
        Some((file, _)) if CHECKER.get().is_some_and(|folders| folders.iter().any(|f| file.starts_with(f))) => {
            Owner::Checker
        }
        _ => Owner::Test,
    };
    KNOWN.with_borrow_mut(|known| *known.entry(address).or_insert_with(look))
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
