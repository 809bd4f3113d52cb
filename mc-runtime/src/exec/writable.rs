//! The writable data of the executable, and what its symbols say is in it.

use memmap2::Mmap;
use object::{Object, ObjectSymbol};
use std::fs::File;
use std::ptr;
use std::sync::OnceLock;

/// The writable segments of the executable: `.data` and `.bss`. Where they begin, and their lengths.
pub(crate) fn data() -> &'static [(usize, usize)] {
    static DATA: OnceLock<Vec<(usize, usize)>> = OnceLock::new();
    DATA.get_or_init(|| {
        let mut found = Vec::new();
        // SAFETY: `visit` only reads the headers that it is given, and writes to the vector that is passed through.
        unsafe { libc::dl_iterate_phdr(Some(visit), ptr::from_mut(&mut found).cast()) };
        found
    })
}

/// Collects the writable segments of the first object, which is the executable, less what is made read-only after relocation.
extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the dynamic loader passes a valid description, and `found` is the vector of `data`.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<(usize, usize)>>()) };
    // SAFETY: that many headers stand there.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let range = |h: &libc::Elf64_Phdr| {
        let start = (info.dlpi_addr + h.p_vaddr) as usize;
        (start, start + h.p_memsz as usize)
    };
    let relro = headers.iter().find(|h| h.p_type == libc::PT_GNU_RELRO).map(range).unwrap_or((0, 0));
    for header in headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_W != 0) {
        let (start, end) = range(header);
        let start = if (relro.0..relro.1).contains(&start) { relro.1.min(end) } else { start };
        found.push((start, end - start));
    }
    1 // the executable comes first; no more
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
    let bias = load_address();
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
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the dynamic loader passes a valid description with that many headers, and `found` is the pair below.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<(usize, usize)>()) };
        // SAFETY: as above.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        for header in headers.iter().filter(|h| h.p_type == libc::PT_LOAD) {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            *found = (found.0.min(start), found.1.max(start + header.p_memsz as usize));
        }
        1 // the executable comes first; no more
    }
    static RANGE: OnceLock<(usize, usize)> = OnceLock::new();
    *RANGE.get_or_init(|| {
        let mut found = (usize::MAX, 0usize);
        // SAFETY: `visit` only reads the headers that it is given, and writes to the pair that is passed through.
        unsafe { libc::dl_iterate_phdr(Some(visit), ptr::from_mut(&mut found).cast()) };
        found
    })
}

/// How far the executable lies above the addresses that its file gives.
fn load_address() -> usize {
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the dynamic loader passes a valid description, and `found` is the number below.
        unsafe { *found.cast::<usize>() = (*info).dlpi_addr as usize };
        1 // the executable comes first; no more
    }
    let mut found = 0usize;
    // SAFETY: `visit` only reads the header that it is given, and writes to the number that is passed through.
    unsafe { libc::dl_iterate_phdr(Some(visit), ptr::from_mut(&mut found).cast()) };
    found
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
