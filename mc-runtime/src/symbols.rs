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

/// File and line: the innermost place in code under test.
pub(crate) fn source(place: Where) -> Option<(String, u32)> {
    match place {
        Where::Source(site) => site.map(|site| (site.file().to_owned(), site.line())),
        Where::Code(trace) => {
            let calls = || trace.into_iter().filter(|address| *address != 0);
            let tested = calls().find(|address| owner(*address) == Owner::Test);
            look_up(tested.or_else(|| calls().next())?)
        }
    }
}

/// Is it the checker's own code, or std's that the checker has called? What its types do to memory is ordered by what they tell the engine.
pub(crate) fn is_checkers(place: Where) -> bool {
    let Where::Code(trace) = place else { return false };
    let mut owners = trace.into_iter().take_while(|address| *address != 0).map(owner);
    owners.find(|owner| *owner != Owner::Toolchain) == Some(Owner::Checker)
}

/// Where the code under test is that has called, through whatever, the function that asks.
pub(crate) fn caller() -> Option<(String, u32)> {
    let mut found = None;
    // SAFETY: only the thread that the engine runs on asks.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            let address = frame.ip().addr();
            found = look_up(address).filter(|_| is_linked(address) && owner(address) == Owner::Test);
            found.is_none()
        });
    }
    found
}

/// Is it code of the executable, as against a shared library?
pub(crate) fn is_linked(address: usize) -> bool {
    // By every linker.
    unsafe extern "C" {
        static __executable_start: u8;
        static etext: u8;
    }
    (((&raw const __executable_start).addr())..(&raw const etext).addr()).contains(&address)
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
            found = Some((shortened(&file.to_string_lossy()).to_owned(), line));
        }
    });
    found
}

/// Without the directory in which the test runs, as the compiler names files for panics.
fn shortened(file: &str) -> &str {
    static HERE: OnceLock<Option<String>> = OnceLock::new();
    let here = HERE.get_or_init(|| Some(format!("{}/", std::env::current_dir().ok()?.display())));
    here.as_ref().and_then(|here| file.strip_prefix(here.as_str())).unwrap_or(file)
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
