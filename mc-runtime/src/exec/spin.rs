//! Spin loops, proved: a thread that comes back to the same load with the same state, having only read since, will do so for ever.
//!
//! The state is the place in the code, the registers that a call preserves, the stack from the caller of the load to its base, the stacks of the other threads (it may count
//! in what they lend it), the arenas, the writable data and the thread-locals of the executable. Nothing else ran in between, so equal states (by a 128-bit digest) mean that the round had no effect. The thread then
//! stops for good before its second read; a later write revisits the first one, as for an `await` of the specification.
//! States are digested only at loads that are known to be in loops: when one is learned, the exploration starts again.

use super::arena::Heap;
use std::collections::VecDeque;
use std::panic::Location;
use std::ptr;
use std::sync::OnceLock;
use xxhash_rust::xxh3::Xxh3;

/// The registers and the stack pointer of a thread at an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    /// The lowest address of the stack that is compared.
    pub stack: usize,
    /// The registers that calls preserve, and where the code is.
    pub registers: [u64; 7],
}

/// What a loop could change, besides its own frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    /// The end of the running thread's stack.
    pub base: usize,
    /// What the other threads use of theirs.
    pub others: &'a [(usize, usize)],
    /// The arenas.
    pub heap: Option<&'a Heap>,
}

/// A load since the last event with an effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    site: *const Location<'static>,
    stack: usize,
    digest: Option<u128>,
}

/// What is known of a thread that is about to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spin {
    /// It goes on.
    No,
    /// The round since the last load here had no effect.
    Repeats {
        /// How many reads the round made.
        reads: u32,
    },
    /// It was here before, and states were not yet compared here.
    Learned,
}

/// How many loads back a round may have begun.
const LONGEST: usize = 256;

/// The loads that are known to be in loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    known: Vec<*const Location<'static>>,
    /// The farthest from the base of a stack that a load was made.
    deepest: usize,
}

impl Loops {
    /// Are there any?
    pub(super) fn any(&self) -> bool {
        !self.known.is_empty()
    }

    /// How much of a stack must be as new when a thread starts: what an earlier execution left there must not make a difference.
    pub(super) fn compared(&self) -> usize {
        if self.any() { (self.deepest + 4096).next_multiple_of(4096) } else { 0 }
    }

    /// A thread comes to a load.
    pub(super) fn arrive(
        &mut self,
        rounds: &VecDeque<Round>,
        site: &'static Location<'static>,
        frame: Frame,
        around: Around<'_>,
    ) -> Spin {
        self.deepest = self.deepest.max(around.base.saturating_sub(frame.stack));
        let site = ptr::from_ref(site);
        let same = |r: &Round| r.site == site && r.stack == frame.stack;
        if !rounds.iter().any(same) {
            return Spin::No;
        }
        if !self.known.contains(&site) {
            self.known.push(site);
            return Spin::Learned;
        }
        let digest = Some(digest(&frame, around));
        match rounds.iter().rev().position(|r| same(r) && r.digest == digest) {
            Some(back) => Spin::Repeats { reads: back as u32 + 1 },
            None => Spin::No,
        }
    }

    /// The thread makes the load.
    pub(super) fn remember(
        &self,
        rounds: &mut VecDeque<Round>,
        site: &'static Location<'static>,
        frame: Frame,
        around: Around<'_>,
    ) {
        let site = ptr::from_ref(site);
        let digest = self.known.contains(&site).then(|| digest(&frame, around));
        if rounds.len() == LONGEST {
            rounds.pop_front();
        }
        rounds.push_back(Round { site, stack: frame.stack, digest });
    }
}

fn digest(frame: &Frame, around: Around<'_>) -> u128 {
    let Around { base, others, heap } = around;
    let mut hasher = Xxh3::new();
    for register in frame.registers {
        hasher.update(&register.to_ne_bytes());
    }
    let mut memory = |start: usize, len: usize| {
        // SAFETY: the ranges are the calling thread's own stack above its current frame, those of suspended threads, handed-out memory of the arenas, and the executable's writable
        // segments: all mapped and readable. No other thread runs; bytes that were never written are read as whatever they hold.
        hasher.update(unsafe { std::slice::from_raw_parts(start as *const u8, len) });
    };
    memory(frame.stack, base.saturating_sub(frame.stack));
    for (start, end) in others {
        memory(*start, end.saturating_sub(*start));
    }
    for (start, len) in heap.into_iter().flat_map(Heap::memory) {
        memory(start, len);
    }
    for (start, len) in data() {
        memory(*start, *len);
    }
    let (start, len) = thread_locals();
    memory(start, len);
    hasher.digest128()
}

/// The executable's thread-locals of this thread of the operating system.
fn thread_locals() -> (usize, usize) {
    static SIZE: OnceLock<usize> = OnceLock::new();
    let size = *SIZE.get_or_init(|| {
        let mut size = 0usize;
        // SAFETY: `visit_tls` only reads the headers that it is given, and writes to the number that is passed through.
        unsafe { libc::dl_iterate_phdr(Some(visit_tls), ptr::from_mut(&mut size).cast()) };
        size
    });
    let end: usize;
    // SAFETY: the x86-64 ABI for thread-local storage: the word at `fs:0` is the thread pointer, and the executable's block ends there.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) end, options(nostack, readonly, preserves_flags)) };
    (end - size, size)
}

/// The size of the executable's thread-local block.
extern "C" fn visit_tls(info: *mut libc::dl_phdr_info, _size: usize, found: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the dynamic loader passes a valid description, and `found` is the number of `thread_locals`.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<usize>()) };
    // SAFETY: that many headers stand there.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    if let Some(tls) = headers.iter().find(|h| h.p_type == libc::PT_TLS) {
        *found = (tls.p_memsz as usize).next_multiple_of(tls.p_align.max(1) as usize);
    }
    1 // the executable comes first; no more
}

/// The writable segments of the executable: `.data` and `.bss`.
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
