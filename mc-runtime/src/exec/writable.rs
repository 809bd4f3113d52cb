//! The writable data of the executable, and what its symbols say is in it.

use super::headers::Headers;
use memmap2::Mmap;
use object::{Object, ObjectSymbol};
use std::fs::File;
use std::ops::Range;
use std::sync::OnceLock;

/// The writable segments of the executable: `.data` and `.bss`. Where they begin, and their lengths.
pub(crate) fn data() -> &'static [(usize, usize)] {
    static DATA: OnceLock<Vec<(usize, usize)>> = OnceLock::new();
    DATA.get_or_init(|| {
        let headers = Headers::of_executable();
        // Less what is made read-only after relocation.
        let relro = headers.first(libc::PT_GNU_RELRO).unwrap_or_default();
        let writable = headers.of_kind(libc::PT_LOAD).filter(|(_, header)| header.p_flags & libc::PF_W != 0);
        let rest = writable.map(|(Range { start, end }, _)| {
            let start = if relro.contains(&start) { relro.end.min(end) } else { start };
            (start, end - start)
        });
        rest.collect()
    })
}

/// The part of [`data`] in which states of loops are compared: all but what no test sees, which may change at any time.
pub(super) fn compared() -> &'static [(usize, usize)] {
    static COMPARED: OnceLock<Vec<(usize, usize)>> = OnceLock::new();
    COMPARED.get_or_init(|| {
        // Without symbols nothing is left out.
        let mut runs = runs_of_the_checker(owned().unwrap_or_default());
        runs.retain(|(_, size)| *size >= WORTH_A_GAP);
        less(&runs)
    })
}

/// The checker's objects, those in one that follow each other, with the padding between them.
fn runs_of_the_checker(objects: &[(usize, usize, Owner)]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut goes_on = false;
    for &(at, size, owner) in objects {
        let is_checkers = owner == Owner::Checker;
        match runs.last_mut() {
            _ if !is_checkers => {}
            Some((start, len)) if goes_on && at < *start + *len + PADDING => *len = (*len).max(at + size - *start),
            _ => runs.push((at, size)),
        }
        goes_on = is_checkers;
    }
    runs
}

/// Between two objects that follow each other, and are closer, is nothing.
const PADDING: usize = 8;

/// The part of [`data`] that is of the test and of what it uses, but for std and the checker. `None` where the executable has no symbols, which would say what is whose.
pub(super) fn of_the_test() -> Option<&'static [(usize, usize)]> {
    static FOUND: OnceLock<Option<Vec<(usize, usize)>>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let others = owned()?.iter().filter(|(_, size, owner)| *owner != Owner::Test && *size > 0);
            Some(less(&others.map(|(at, size, _)| (*at, *size)).collect::<Vec<_>>()))
        })
        .as_deref()
}

/// [`data`] without some objects.
fn less(objects: &[(usize, usize)]) -> Vec<(usize, usize)> {
    data().iter().flat_map(|range| without(*range, objects)).collect()
}

/// All objects that have a symbol, if there are symbols. They are read once.
fn owned() -> Option<&'static [(usize, usize, Owner)]> {
    static OWNED: OnceLock<Option<Vec<(usize, usize, Owner)>>> = OnceLock::new();
    OWNED.get_or_init(|| objects(|symbol| Some(owner(symbol))).ok()).as_deref()
}

/// Whose a static is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// The checker's, of a library that only it uses, or what a backtrace has found out about the loaded objects: no test sees it.
    Checker,
    Std,
    /// The test's, or of what it uses.
    Test,
}

/// A run of so many bytes takes longer to compare than the gap that it leaves.
const WORTH_A_GAP: usize = 128;

/// Whose the static is that the symbol names.
fn owner(symbol: &str) -> Owner {
    // Without hashes.
    let path = format!("{:#}", rustc_demangle::demangle(symbol));
    let is_of = |path: &str, krate: &str| path.strip_prefix(krate).is_some_and(|rest| rest.starts_with("::"));
    let is_of_std = |path: &str| ["core", "alloc", "std"].iter().any(|krate| is_of(path, krate));
    let own = match path.strip_prefix('<').and_then(|path| path.split_once('>')) {
        None => path.as_str(),
        Some((implementation, _)) => match implementation.split_once(" as ") {
            None => implementation,
            // Whose trait it is, and what it is of, may implement it, too.
            Some((_, implemented)) if implemented.contains('<') || !is_of_std(implemented) => return Owner::Test,
            Some((of, _)) => of,
        },
    };
    let unseen = ["mc_runtime", "mc_protocol", "mc::checked", "iced_x86", "std::backtrace_rs"];
    match own {
        own if unseen.iter().any(|krate| is_of(own, krate)) => Owner::Checker,
        own if is_of_std(own) => Owner::Std,
        _ => Owner::Test,
    }
}

/// What is left of a range without some objects, which are sorted.
fn without((start, size): (usize, usize), objects: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let (mut from, end) = (start, start + size);
    let mut left = Vec::new();
    for (at, size) in objects.iter().filter(|(at, size)| start <= *at && at + size <= end) {
        if from < *at {
            left.push((from, at - from));
        }
        from = from.max(at + size);
    }
    if from < end {
        left.push((from, end - from));
    }
    left
}

/// The objects in [`data`], those of no bytes, too, of whose symbol `kind` says something, with that, sorted; an error where the executable has no symbols.
pub(super) fn objects<K: Ord>(kind: impl Fn(&str) -> Option<K>) -> Result<Vec<(usize, usize, K)>, String> {
    let failed = |why: &dyn std::fmt::Display| format!("the symbols of the test's executable cannot be read: {why}");
    let file = File::open("/proc/self/exe").map_err(|error| failed(&error))?;
    // SAFETY: nobody can write to the file of a program that runs; all is copied from it before this returns.
    let file = unsafe { Mmap::map(&file) }.map_err(|error| failed(&error))?;
    let file = object::File::parse(&*file).map_err(|error| failed(&error))?;
    let bias = Headers::of_executable().bias;
    let is_writable = |at, size| data().iter().any(|(start, len)| *start <= at && at + size <= start + len);
    let mut found: Vec<(usize, usize, K)> = file
        .symbols()
        .filter(|symbol| symbol.is_definition())
        .map(|symbol| (bias + symbol.address() as usize, symbol.size() as usize, symbol))
        .filter(|(at, size, _)| is_writable(*at, *size))
        .filter_map(|(at, size, symbol)| Some((at, size, kind(symbol.name().unwrap_or_default())?)))
        .collect();
    if file.symbols().next().is_none() {
        return Err(failed(&"it is stripped; set `strip = false` in the profile of tests"));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Where the executable begins in memory, and where it ends.
pub(crate) fn executable() -> (usize, usize) {
    let segments = || Headers::of_executable().of_kind(libc::PT_LOAD).map(|(range, _)| range);
    (segments().map(|s| s.start).min().unwrap_or(0), segments().map(|s| s.end).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_left_without_the_objects_in_it() {
        assert_eq!(without((100, 50), &[]), [(100, 50)]);
        assert_eq!(
            without((100, 50), &[(90, 10), (100, 8), (120, 10), (120, 4), (140, 10), (150, 8)]),
            [(108, 12), (130, 10)]
        );
        assert_eq!(without((100, 50), &[(100, 50)]), []);
        assert_eq!(without((100, 50), &[(90, 20), (140, 20)]), [(100, 50)], "they lie elsewhere");
    }

    #[test]
    fn objects_of_the_checker_are_one_where_they_follow_each_other() {
        use Owner::*;
        let objects = [(8, 8, Checker), (16, 1, Checker), (20, 4, Checker), (24, 8, Std), (32, 8, Checker)];
        assert_eq!(runs_of_the_checker(&objects), [(8, 16), (32, 8)]);
        // However small what is between them is, and where they have room for something that has no symbol.
        let objects =
            [(8, 1, Checker), (9, 1, Test), (12, 4, Checker), (24, 8, Checker), (24, 0, Test), (32, 8, Checker)];
        assert_eq!(runs_of_the_checker(&objects), [(8, 1), (12, 4), (24, 8), (32, 8)]);
        assert_eq!(runs_of_the_checker(&[]), []);
    }

    #[test]
    fn only_what_no_test_sees_is_not_compared() {
        let is_unseen = |symbol: &str| owner(symbol) == Owner::Checker;
        assert!(is_unseen("_ZN10mc_runtime4exec5arena4KEPT17h0123456789abcdefE"));
        assert!(is_unseen("_RNvNtNtCsgEUrKeu8pVn_10mc_runtime4exec5arena4KEPT"));
        assert!(is_unseen("_ZN2mc7checked4real7BUCKETS17h0123456789abcdefE"));
        assert!(is_unseen(
            "_ZN68_$LT$iced_x86..tables..TABLES$u20$as$u20$core..ops..deref..Deref$GT$5deref4LAZY17h0123456789abcdefE"
        ));
        assert!(is_unseen(
            "_RNvNvMs0_NtNtNtCsjrHSEGnQ3l9_3std12backtrace_rs9symbolize5gimliNtB7_5Cache11with_global14MAPPINGS_CACHE"
        ));
        for seen in [
            "_ZN5queue4HEAD17h0123456789abcdefE",
            "_ZN11mc_runtimes4HEAD17h0123456789abcdefE",
            "_ZN60_$LT$mc_runtime..X$u20$as$u20$queue..T$GT$1f4HEAD17h0123456789abcdefE",
            "_ZN60_$LT$mc_runtime..X$u20$as$u20$core..From$LT$queue..T$GT$$GT$1f4HEAD17h0123456789abcdefE",
            "_ZN60_$LT$queue..T$u20$as$u20$mc_runtime..X$GT$1f4HEAD17h0123456789abcdefE",
            "_ZN60_$LT$queue..T$LT$mc_runtime..X$GT$$GT$1f4HEAD17h0123456789abcdefE",
            "_ZN3std6thread7COUNTER17h0123456789abcdefE",
            "main",
        ] {
            assert!(!is_unseen(seen), "{seen}");
        }
        let owners = ["_ZN3std6thread7COUNTER17h0123456789abcdefE", "_ZN5queue4HEAD17h0123456789abcdefE"].map(owner);
        assert_eq!(owners, [Owner::Std, Owner::Test]);
    }

    #[test]
    fn a_static_of_a_test_is_compared_and_a_big_one_of_the_checker_is_not() {
        static mut SEEN: [u64; 100] = [1; 100];
        let is_compared = |at: usize| compared().iter().any(|(start, len)| (*start..start + len).contains(&at));
        assert!(!data().is_empty() && compared().len() > data().len());
        // Its path is of the checker's crate here, as all tests of this crate are.
        assert!(!is_compared((&raw mut SEEN).addr()));
        let bytes = |ranges: &[(usize, usize)]| ranges.iter().map(|(_, len)| len).sum::<usize>();
        assert!(bytes(compared()) + size_of::<[u64; 100]>() <= bytes(data()));
    }
}
