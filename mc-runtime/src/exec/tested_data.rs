//! What the crates under test keep in statics of any type: remembered before the first execution, put back after each.
//!
//! Not here: statics of the checker's own types, which are dropped as well as put back (`memory`), and thread-locals, which shims keep per thread of the test.

use super::writable;
use std::ptr;
use std::sync::OnceLock;

/// The crates of the toolchain: what std keeps is made once per process, as in the real world.
const TOOLCHAIN: [&str; 18] = [
    "std",
    "core",
    "alloc",
    "test",
    "proc_macro",
    "std_detect",
    "panic_unwind",
    "panic_abort",
    "unwind",
    "compiler_builtins",
    "hashbrown",
    "addr2line",
    "gimli",
    "object",
    "miniz_oxide",
    "rustc_demangle",
    "cfg_if",
    "libc",
];

/// Of this process, once it was asked for.
static REMEMBERED: OnceLock<TestedData> = OnceLock::new();

/// Statics, and what they held.
#[derive(Debug)]
struct TestedData {
    ranges: Vec<(usize, Vec<u8>)>,
}

/// Remembers what all crates but those of the toolchain and of the checker keep in statics, for tests of [`Origin::Unmodified`](crate::options::Origin).
pub(crate) fn remember(checker: &[&str]) -> Result<(), String> {
    if REMEMBERED.get().is_none() {
        let _ = REMEMBERED.set(TestedData::remember(checker)?);
    }
    Ok(())
}

/// Puts it back.
pub(super) fn restore() {
    if let Some(data) = REMEMBERED.get() {
        data.restore();
    }
}

impl TestedData {
    /// Those of this process, as they are now; an error where the executable has no symbols that name them.
    fn remember(checker: &[&str]) -> Result<Self, String> {
        let ranges = writable::objects(|symbol| is_tested(symbol, checker).then_some(()))?;
        // SAFETY: whole objects in the writable data of the executable, which is mapped for good; read as plain bytes while no thread of a test runs.
        let bytes = |at, size| unsafe { std::slice::from_raw_parts(at as *const u8, size) }.to_vec();
        Ok(Self { ranges: ranges.into_iter().map(|(at, size, ())| (at, bytes(at, size))).collect() })
    }

    /// Puts them back.
    fn restore(&self) {
        for (at, bytes) in &self.ranges {
            // SAFETY: as in `remember`: these very objects. The execution is over, so nobody has a reference into them.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), *at as *mut u8, bytes.len()) };
        }
    }
}

/// Does the symbol belong to a crate under test?
fn is_tested(symbol: &str, checker: &[&str]) -> bool {
    let Ok(demangled) = rustc_demangle::try_demangle(symbol) else { return false };
    let path = demangled.to_string();
    let owner = crate_of(&path);
    !owner.is_empty() && !checker.contains(&owner) && !TOOLCHAIN.contains(&owner)
}

/// The crate that a demangled path begins with: that of the type in `<crate::Type as Trait>::function::STATIC`.
fn crate_of(path: &str) -> &str {
    let mut rest = path;
    while let Some(inner) =
        ["<", "&", "*const ", "*mut ", "mut ", "dyn ", "[", "("].iter().find_map(|p| rest.strip_prefix(p))
    {
        rest = inner;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    if rest[end..].starts_with("::") || rest[end..].starts_with('[') { &rest[..end] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crate_of_a_static_is_that_of_its_path() {
        assert_eq!(crate_of("queue::list::HEAD::h0123456789abcdef"), "queue");
        assert_eq!(crate_of("<queue::List as core::default::Default>::default::EMPTY"), "queue");
        assert_eq!(crate_of("<&mut queue::List>::f::X"), "queue");
        assert_eq!(crate_of("queue[8a7b]::HEAD"), "queue");
        assert_eq!(crate_of("<u8 as queue::Trait>::X"), "");
        assert_eq!(crate_of("main"), "");
    }

    #[test]
    fn statics_are_put_back_and_those_of_the_toolchain_are_not_looked_at() {
        static mut COUNT: [u64; 2] = [1, 2];
        let count = &raw mut COUNT;
        let remembered = TestedData::remember(&[]).unwrap();
        assert!(remembered.ranges.iter().any(|(at, bytes)| *at == count.addr() && bytes.len() == 16));
        // Only this one: other tests of this process run meanwhile.
        let range = remembered.ranges.into_iter().filter(|(at, _)| *at == count.addr()).collect();
        // SAFETY: nobody else knows it.
        unsafe { *count = [3, 4] };
        TestedData { ranges: range }.restore();
        // SAFETY: as above.
        assert_eq!(unsafe { *count }, [1, 2]);
        assert!(!is_tested("_ZN3std6thread7COUNTER17h0123456789abcdefE", &[]));
    }
}
