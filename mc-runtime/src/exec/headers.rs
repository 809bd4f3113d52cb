//! The program headers of the executable of this process, as the dynamic loader has them.

use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

/// The headers, which are mapped for as long as the process lives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    /// How far the executable lies above the addresses that its file gives.
    pub bias: usize,
    all: &'static [libc::Elf64_Phdr],
}

impl Headers {
    /// Those of this process.
    pub(super) fn of_executable() -> Self {
        static FOUND: OnceLock<Headers> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let mut found = Headers { bias: 0, all: &[] };
            // SAFETY: `visit` only reads what it is given, and writes to what is passed through.
            unsafe { libc::dl_iterate_phdr(Some(visit), ptr::from_mut(&mut found).cast()) };
            found
        })
    }

    /// Those of a kind (`PT_LOAD` and the like), each with the addresses that it is about.
    pub(super) fn of_kind(self, kind: u32) -> impl Iterator<Item = (Range<usize>, &'static libc::Elf64_Phdr)> {
        self.all.iter().filter(move |header| header.p_type == kind).map(move |header| {
            let start = self.bias + header.p_vaddr as usize;
            (start..start + header.p_memsz as usize, header)
        })
    }

    /// The addresses that the first of a kind is about.
    pub(super) fn first(self, kind: u32) -> Option<Range<usize>> {
        self.of_kind(kind).next().map(|(range, _)| range)
    }
}

/// Looks at the first object, which is the executable.
extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the dynamic loader passes a valid description, and `found` is what `of_executable` passed.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Headers>()) };
    found.bias = info.dlpi_addr as usize;
    // SAFETY: that many headers stand there, in a segment that stays mapped and that nobody writes to.
    found.all = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    1 // no more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_in_a_segment_that_can_be_run_and_a_static_in_one_that_can_be_written() {
        static mut WRITTEN: u32 = 1;
        let flags_at = |at: usize| {
            let mut segments = Headers::of_executable().of_kind(libc::PT_LOAD);
            segments.find(|(range, _)| range.contains(&at)).map(|(_, header)| header.p_flags)
        };
        let code = Headers::of_executable as *const () as usize;
        assert_eq!(flags_at(code), Some(libc::PF_R | libc::PF_X));
        assert_eq!(flags_at((&raw const WRITTEN).addr()), Some(libc::PF_R | libc::PF_W));
        assert_eq!(flags_at(0), None);
        assert!(Headers::of_executable().first(libc::PT_GNU_EH_FRAME).is_some());
    }
}
