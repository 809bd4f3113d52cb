//! The executable in memory: its code, its unwind tables, and the words in it that never change.

use crate::exec::headers::Headers;
use gimli::{
    BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian, ParsedEhFrameHdr,
    UnwindSection,
};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

/// Bytes of the executable.
pub(super) type Bytes = EndianSlice<'static, LittleEndian>;

/// The executable of this process.
pub(super) struct Image {
    segments: Vec<(Range<u64>, u32)>,
    relro: Range<u64>,
    bases: BaseAddresses,
    index: ParsedEhFrameHdr<Bytes>,
    frames: EhFrame<Bytes>,
}

impl Image {
    /// `None` if it has no unwind tables that can be searched.
    pub(super) fn of_this_process() -> Option<&'static Self> {
        static IMAGE: OnceLock<Option<Image>> = OnceLock::new();
        IMAGE.get_or_init(Self::load).as_ref()
    }

    fn load() -> Option<Self> {
        let headers = Headers::of_executable();
        let wide = |Range { start, end }: Range<usize>| start as u64..end as u64;
        let segments: Vec<_> =
            headers.of_kind(libc::PT_LOAD).map(|(range, header)| (wide(range), header.p_flags)).collect();
        let relro = wide(headers.first(libc::PT_GNU_RELRO).unwrap_or_default());
        let index = headers.first(libc::PT_GNU_EH_FRAME).map(|range| range.start as u64);
        let until_end = |start: u64| {
            let end = segments.iter().map(|(range, _)| range).find(|range| range.contains(&start))?.end;
            // SAFETY: the rest of a readable segment of the executable, mapped for good; nobody writes to the unwind tables.
            let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, (end - start) as usize) };
            Some(EndianSlice::new(bytes, LittleEndian))
        };
        let bases = BaseAddresses::default().set_eh_frame_hdr(index?);
        let parsed = EhFrameHdr::from(until_end(index?)?).parse(&bases, 8).ok()?;
        let frames = parsed.eh_frame_ptr().direct().ok()?;
        let bases = bases.set_eh_frame(frames);
        let frames = EhFrame::from(until_end(frames)?);
        Some(Image { segments, relro, bases, index: parsed, frames })
    }

    /// What the unwind tables say about the code at `address`.
    pub(super) fn frame(&self, address: u64) -> Option<FrameDescriptionEntry<Bytes>> {
        let table = self.index.table()?;
        table.fde_for_address(&self.frames, &self.bases, address, EhFrame::cie_from_offset).ok()
    }

    /// For reading the rows of a [`frame`](Self::frame).
    pub(super) fn unwinding(&self) -> (&EhFrame<Bytes>, &BaseAddresses) {
        (&self.frames, &self.bases)
    }

    /// The code in `[start, end)`.
    pub(super) fn code(&self, range: Range<u64>) -> Option<&'static [u8]> {
        self.bytes(range, libc::PF_R | libc::PF_X)
    }

    /// Read-only data from `start` to the end of its segment.
    pub(super) fn data(&self, start: u64) -> Option<&'static [u8]> {
        let end = self.segments.iter().map(|(range, _)| range).find(|range| range.contains(&start))?.end;
        self.bytes(start..end, libc::PF_R)
    }

    /// A pointer that the dynamic loader has set and made read-only.
    pub(super) fn pointer(&self, at: u64) -> Option<u64> {
        let fits = self.relro.start <= at && at.checked_add(8)? <= self.relro.end && at.is_multiple_of(8);
        // SAFETY: an aligned word of a segment of the executable, which is mapped for good and was made read-only before `main`.
        fits.then(|| unsafe { ptr::read(at as *const u64) })
    }

    fn bytes(&self, range: Range<u64>, flags: u32) -> Option<&'static [u8]> {
        let fits =
            |s: &&(Range<u64>, u32)| s.0.start <= range.start && range.start <= range.end && range.end <= s.0.end;
        let (_, has) = self.segments.iter().find(fits)?;
        let right = has & flags == flags && has & libc::PF_W == 0;
        // SAFETY: inside of a readable segment of the executable that nobody writes to, mapped for good.
        right.then(|| unsafe {
            std::slice::from_raw_parts(range.start as *const u8, (range.end - range.start) as usize)
        })
    }
}
