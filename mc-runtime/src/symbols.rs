//! Where code stands in the source, by the debug information of the executable.

use crate::exec::{Trace, Where};
use crate::place::is_of_toolchain;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

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
            let tested = |address: &usize| owner(*address) == Owner::Test && is_linked(*address);
            calls().filter(tested).chain(calls()).find_map(look_up)
        }
    }
}

/// Is it the checker's own code, or std's that the checker has called? What its types do to memory is ordered by what they tell the engine.
pub(crate) fn is_checkers(place: Where) -> bool {
    let Where::Code(trace) = place else { return false };
    let mut owners = trace.into_iter().take_while(|address| *address != 0).map(owner);
    owners.find(|owner| *owner != Owner::Toolchain) == Some(Owner::Checker)
}

/// Is an operation in these calls one of an `Arc` or a `Weak`, which have no others than on their counts?
pub(crate) fn is_arcs(trace: Trace) -> bool {
    around_atomics(trace).is_some_and(is_arc)
}

/// Is it one of `Arc::into_inner`, which tells its caller whether that was the last owner?
pub(crate) fn is_into_inner(trace: Trace) -> bool {
    around_atomics(trace).is_some_and(is_in_into_inner)
}

/// What has called the functions that do nothing but one atomic operation.
fn around_atomics(trace: Trace) -> Option<usize> {
    trace.into_iter().take_while(|address| *address != 0).find(|address| !is_in_atomics(*address))
}

fn is_in_into_inner(address: usize) -> bool {
    static KNOWN: Known<bool> = Known::new();
    KNOWN.get(address, || {
        let mut found = false;
        each_symbol(address, |symbol| {
            let file = symbol.filename().map(|file| file.to_string_lossy().into_owned());
            let name = symbol.name().map(|name| name.to_string());
            let is_std = file.is_some_and(|file| is_of_toolchain(&file) && file.ends_with("/alloc/src/sync.rs"));
            found |= is_std && name.is_some_and(|name| name.contains("into_inner"));
        });
        found
    })
}

fn is_arc(address: usize) -> bool {
    static KNOWN: Known<bool> = Known::new();
    KNOWN.get(address, || {
        let mut found = None;
        // From the innermost of the functions that were inlined there.
        each_file(address, |file, _| {
            if found.is_none() && !file.ends_with(ATOMICS) {
                found = Some(is_of_toolchain(file) && file.ends_with("/alloc/src/sync.rs"));
            }
        });
        found == Some(true)
    })
}

const ATOMICS: &str = "/core/src/sync/atomic.rs";

/// Is it in a function that does nothing but one atomic operation?
pub(crate) fn is_in_atomics(address: usize) -> bool {
    static KNOWN: Known<bool> = Known::new();
    KNOWN.get(address, || {
        let mut outermost = false;
        each_file(address, |file, _| outermost = file.ends_with(ATOMICS));
        outermost
    })
}

/// What was found out about addresses. Threads of a test come and go, so it is kept for the process.
struct Known<T> {
    /// Of those that were asked for last, by their low bits: the address and, in the lowest two bits, what is known. 0: nothing.
    recent: [AtomicUsize; RECENT],
    all: Mutex<FxHashMap<usize, T>>,
}

const RECENT: usize = 1024;

/// Something that two bits can say.
trait Brief: Copy {
    fn bits(self) -> usize;
    fn of(bits: usize) -> Self;
}

impl Brief for bool {
    fn bits(self) -> usize {
        usize::from(self)
    }

    fn of(bits: usize) -> Self {
        bits != 0
    }
}

impl<T: Brief> Known<T> {
    const fn new() -> Self {
        Self { recent: [const { AtomicUsize::new(0) }; RECENT], all: Mutex::new(FxHashMap::with_hasher(FxBuildHasher)) }
    }

    /// Asked for each access of plain memory, so without a lock as a rule.
    fn get(&self, address: usize, look: impl FnOnce() -> T) -> T {
        let recent = &self.recent[address % RECENT];
        let last = recent.load(Ordering::Relaxed);
        if last >> 2 == address {
            return T::of(last & 3);
        }
        let known = *self.all.lock().unwrap_or_else(PoisonError::into_inner).entry(address).or_insert_with(look);
        recent.store(address << 2 | known.bits(), Ordering::Relaxed);
        known
    }
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

impl Brief for Owner {
    fn bits(self) -> usize {
        self as usize
    }

    fn of(bits: usize) -> Self {
        [Self::Test, Self::Checker, Self::Toolchain][bits]
    }
}

/// Is it code of the toolchain's libraries, whoever it was compiled for?
pub(crate) fn is_toolchain_code(address: usize) -> bool {
    owner(address) == Owner::Toolchain
}

fn owner(address: usize) -> Owner {
    static KNOWN: Known<Owner> = Known::new();
    let look = || match look_up(address) {
        Some((file, _)) if is_of_toolchain(&file) => Owner::Toolchain,
        Some((file, _)) if CHECKER.get().is_some_and(|folders| folders.iter().any(|f| file.starts_with(f))) => {
            Owner::Checker
        }
        _ => Owner::Test,
    };
    KNOWN.get(address, look)
}

fn look_up(address: usize) -> Option<(String, u32)> {
    let mut found = None;
    each_file(address, |file, line| {
        let outside = |(file, _): &(String, u32)| !is_of_toolchain(file);
        if !found.as_ref().is_some_and(outside) {
            found = Some((shortened(file).to_owned(), line));
        }
    });
    found
}

/// Calls `look` with the place of the address in each function that was inlined there, the innermost first.
fn each_file(address: usize, mut look: impl FnMut(&str, u32)) {
    each_symbol(address, |symbol| {
        if let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) {
            look(&file.to_string_lossy(), line);
        }
    });
}

fn each_symbol(address: usize, look: impl FnMut(&backtrace::Symbol)) {
    // A return address is that of the next instruction.
    backtrace::resolve((address - 1) as *mut _, look);
}

/// Without the directory in which the test runs, as the compiler names files for panics.
fn shortened(file: &str) -> &str {
    static HERE: OnceLock<Option<String>> = OnceLock::new();
    let here = HERE.get_or_init(|| Some(format!("{}/", std::env::current_dir().ok()?.display())));
    here.as_ref().and_then(|here| file.strip_prefix(here.as_str())).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_looked_for_once() {
        static KNOWN: Known<Owner> = Known::new();
        let never = || unreachable!("it is known");
        // Addresses that differ in their high bits only take each other's place among the recent ones.
        let all = [(5, Owner::Checker), (5 + RECENT, Owner::Toolchain), (5 + 2 * RECENT, Owner::Test)];
        for (address, owner) in all {
            assert!(KNOWN.get(address, || owner) == owner);
        }
        for (address, owner) in all.into_iter().chain(all) {
            assert!(KNOWN.get(address, never) == owner && KNOWN.get(address, never) == owner);
        }
    }

    #[test]
    fn code_is_found_in_the_source() {
        let (file, _) = look_up(look_up as *const () as usize + 16).unwrap();
        assert!(file.ends_with("symbols.rs"), "{file}");
    }
}
