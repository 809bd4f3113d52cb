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
        let is_unseen = |(_, size, owner): &&(usize, usize, Owner)| *owner == Owner::Checker && *size >= WORTH_A_GAP;
        less(others().into_iter().flatten().filter(is_unseen))
    })
}

/// The part of [`data`] that is of the test and of what it uses, but for std and the checker. `None` where the executable has no symbols, which would say what is whose.
pub(super) fn of_the_test() -> Option<&'static [(usize, usize)]> {
    static FOUND: OnceLock<Option<Vec<(usize, usize)>>> = OnceLock::new();
    FOUND.get_or_init(|| Some(less(others()?.iter()))).as_deref()
}

/// [`data`] without some objects.
fn less<'a>(objects: impl Iterator<Item = &'a (usize, usize, Owner)>) -> Vec<(usize, usize)> {
    let objects: Vec<_> = objects.map(|(at, size, _)| (*at, *size)).collect();
    data().iter().flat_map(|range| without(*range, &objects)).collect()
}

/// The objects that are not the test's, if there are symbols. They are read once.
fn others() -> Option<&'static [(usize, usize, Owner)]> {
    static OTHERS: OnceLock<Option<Vec<(usize, usize, Owner)>>> = OnceLock::new();
    OTHERS.get_or_init(|| objects(owner).ok()).as_deref()
}

/// Whose a static is that is not the test's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// The checker's, of a library that only it uses, or what a backtrace has found out about the loaded objects: no test sees it.
    Checker,
    Std,
}

/// An object of so many bytes takes longer to compare than the gap that it leaves.
const WORTH_A_GAP: usize = 128;

/// Whose the static is that the symbol names.
fn owner(symbol: &str) -> Option<Owner> {
    // Without hashes.
    let path = format!("{:#}", rustc_demangle::demangle(symbol));
    let is_of = |path: &str, krate: &str| path.strip_prefix(krate).is_some_and(|rest| rest.starts_with("::"));
    let is_of_std = |path: &str| ["core", "alloc", "std"].iter().any(|krate| is_of(path, krate));
    let own = match path.strip_prefix('<').and_then(|path| path.split_once('>')) {
        None => path.as_str(),
        Some((implementation, _)) => match implementation.split_once(" as ") {
            None => implementation,
            // Whose trait it is, and what it is of, may implement it, too.
            Some((_, implemented)) if implemented.contains('<') || !is_of_std(implemented) => return None,
            Some((of, _)) => of,
        },
    };
    let unseen = ["mc_runtime", "mc::checked", "iced_x86", "std::backtrace_rs"];
    match own {
        own if unseen.iter().any(|krate| is_of(own, krate)) => Some(Owner::Checker),
        own if is_of_std(own) => Some(Owner::Std),
        _ => None,
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

/// The objects in [`data`] of whose symbol `kind` says something, with that, sorted; an error where the executable has no symbols.
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
        .filter(|symbol| symbol.is_definition() && symbol.size() > 0)
        .map(|symbol| (bias + symbol.address() as usize, symbol.size() as usize, symbol))
        .filter(|(at, size, _)| is_writable(*at, *size))
        .filter_map(|(at, size, symbol)| Some((at, size, kind(symbol.name().ok()?)?)))
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
    fn only_what_no_test_sees_is_not_compared() {
        let is_unseen = |symbol: &str| owner(symbol) == Some(Owner::Checker);
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
        assert_eq!(owners, [Some(Owner::Std), None]);
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
