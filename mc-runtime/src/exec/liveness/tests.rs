//! The analysis on functions as they are compiled: each gets rubbish in all that is said to be dead, and must not notice.

use super::{Liveness, Places, dead};
use std::arch::{asm, naked_asm};
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// `rbx`, `rbp`, `r12` to `r15`, and where the caller goes on.
#[repr(C)]
struct Saved {
    registers: [u64; 6],
    code: u64,
}

thread_local! {
    /// What was found dead, call by call.
    static FOUND: RefCell<Vec<Places>> = const { RefCell::new(Vec::new()) };
    /// Whether its result is unused, call by call.
    static UNUSED: RefCell<Vec<bool>> = const { RefCell::new(Vec::new()) };
}

/// Reads the number at `at` and adds to it; the caller's dead places are spoiled.
#[unsafe(naked)]
extern "C-unwind" fn probe(at: &Cell<u64>, add: u64) -> u64 {
    naked_asm!(
        ".cfi_startproc",
        "push r15; push r14; push r13; push r12; push rbp; push rbx",
        "mov rdx, rsp",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 56",
        "call {probed}",
        "add rsp, 8; pop rbx; pop rbp; pop r12; pop r13; pop r14; pop r15",
        ".cfi_adjust_cfa_offset -56",
        "ret",
        ".cfi_endproc",
        probed = sym probed,
    )
}

extern "C-unwind" fn probed(at: &Cell<u64>, add: u64, saved: &mut Saved) -> u64 {
    let dead = dead(saved.code).expect("the function can be analysed");
    FOUND.with_borrow_mut(|found| found.push(dead));
    let stack = std::ptr::from_mut(saved).wrapping_add(1).addr();
    let unused = Liveness::default().is_unused(saved.code, stack, usize::MAX);
    UNUSED.with_borrow_mut(|found| found.push(unused));
    (0..6).filter(|n| dead.has_register(*n)).for_each(|n| saved.registers[n] = !0);
    let stack = std::ptr::from_mut(saved).wrapping_add(1).cast::<u64>();
    for slot in dead.slots() {
        // SAFETY: a word of the caller's frame that is dead; if it is not, the test fails.
        unsafe { stack.wrapping_add(slot).write_volatile(!0) };
    }
    at.replace(at.get() + add)
}

/// What `f` returns, and what was dead at each probe.
fn run(f: impl FnOnce(&[Cell<u64>; 2]) -> u64) -> (u64, Vec<Places>) {
    FOUND.take();
    let result = f(black_box(&[Cell::new(0), Cell::new(10)]));
    (result, FOUND.take())
}

#[inline(never)]
fn retries([top, next]: &[Cell<u64>; 2]) -> u64 {
    loop {
        let old = probe(top, 1);
        let new = probe(next, 1);
        if probe(top, 0) + old > 5 {
            return old * 100 + new;
        }
    }
}

#[test]
fn what_a_failed_retry_has_read_is_dead_when_it_reads_again() {
    let (result, found) = run(retries);
    assert_eq!(result, 312 + 1);
    assert!(found.iter().step_by(3).all(|dead| (*dead & Places::ALL_REGISTERS).0.count_ones() >= 2), "{found:?}");
}

#[inline(never)]
fn counts([top, _]: &[Cell<u64>; 2]) -> u64 {
    let mut rounds = 0;
    while probe(top, 0) == 0 {
        rounds += 1;
        if rounds == 3 {
            break;
        }
    }
    rounds
}

#[inline(never)]
fn remembers([top, _]: &[Cell<u64>; 2]) -> u64 {
    let mut last = u64::MAX;
    loop {
        let now = probe(top, 1);
        if now == 3 {
            return last;
        }
        last = now;
    }
}

#[inline(never)]
fn sees_twice([top, next]: &[Cell<u64>; 2]) -> u64 {
    let mut last = probe(next, 0);
    loop {
        let now = probe(next, u64::from(probe(top, 1) < 3));
        if now == last && now > 10 {
            return now;
        }
        last = now;
    }
}

#[inline(never)]
fn adds_floats([top, _]: &[Cell<u64>; 2]) -> u64 {
    let mut sum = 0.5;
    while probe(top, 1) < 4 {
        sum *= 2.0;
    }
    sum as u64
}

#[inline(never)]
fn keeps_many([top, next]: &[Cell<u64>; 2]) -> u64 {
    let mut kept: [u64; 8] = black_box([1, 2, 3, 4, 5, 6, 7, 8]);
    loop {
        let now = probe(top, 1);
        let other = probe(next, 1);
        if now == 4 {
            return kept.iter().fold(0, |all, one| all * 31 + one);
        }
        kept.rotate_left(1);
        kept[0] += other;
    }
}

#[inline(never)]
fn passes_on_stack([top, _]: &[Cell<u64>; 2]) -> u64 {
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "more than there are registers for")]
    fn last(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64) -> u64 {
        black_box([a, b, c, d, e, f, g, h])[7]
    }
    let mut old = 9;
    loop {
        let now = probe(top, 1);
        if last(now, 1, 2, 3, 4, 5, 6, old) == 2 {
            return now;
        }
        old = now;
    }
}

#[inline(never)]
fn through_a_reference([top, next]: &[Cell<u64>; 2]) -> u64 {
    #[inline(never)]
    fn round(top: &Cell<u64>, seen: &mut [u64; 2]) -> bool {
        *seen = [probe(top, 1), seen[0]];
        seen[0] == 4
    }
    let mut seen = [7, 7];
    while !round(top, &mut seen) && probe(next, 0) == 10 {}
    seen[1]
}

/// The address of the number is known from the first round on.
#[inline(never)]
fn shows_each_time([top, next]: &[Cell<u64>; 2]) -> u64 {
    let mut shown = 0;
    while probe(top, 1) < 3 {
        *black_box(&mut shown) += 1;
        probe(next, 1);
    }
    shown
}

/// The address is taken before a system call.
#[inline(never)]
fn knows_since_a_system_call([top, _]: &[Cell<u64>; 2]) -> u64 {
    let seen = Cell::new(0_u64);
    let known = black_box(&seen);
    // SAFETY: `getpid` has no arguments and changes nothing.
    unsafe { asm!("syscall", inout("rax") libc::SYS_getpid => _, out("rcx") _, out("r11") _, options(nostack)) };
    while probe(top, 1) < 3 {
        known.set(known.get() + 1);
    }
    known.get()
}

/// A jump by a table, as a `match` is compiled, leads to what reads the first word of its frame.
#[unsafe(naked)]
extern "C-unwind" fn jumps_by_a_table(at: &Cell<u64>) -> u64 {
    naked_asm!(
        ".cfi_startproc",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbx, -16",
        "sub rsp, 16",
        ".cfi_adjust_cfa_offset 16",
        "mov rbx, rdi",
        "mov qword ptr [rsp], 7",
        "xor eax, eax",
        "6: lea rcx, [rip + 5f]",
        "movsxd rax, dword ptr [rcx + 4 * rax]",
        "add rax, rcx",
        "jmp rax",
        "2: mov rdi, rbx",
        "mov esi, 1",
        "call {probe}",
        "inc rax",
        "jmp 6b",
        "3: mov rax, qword ptr [rsp]",
        "add rsp, 16",
        ".cfi_adjust_cfa_offset -16",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
        ".pushsection .rodata",
        ".balign 4",
        "5: .long 2b - 5b, 2b - 5b, 3b - 5b",
        ".popsection",
        probe = sym probe,
    )
}

/// Its loop stands in another part of the code, to which it jumps when it has made its frame, and knows an address in it.
#[unsafe(naked)]
extern "C-unwind" fn is_split(at: &Cell<u64>) -> u64 {
    naked_asm!(
        ".cfi_startproc",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbx, -16",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_offset rbp, -24",
        "push 0",
        ".cfi_adjust_cfa_offset 8",
        "mov rbx, rdi",
        "mov rbp, rsp",
        "jmp 7f",
        ".cfi_endproc",
        ".pushsection .text.part, \"ax\", @progbits",
        ".cfi_startproc",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset rbx, -16",
        ".cfi_offset rbp, -24",
        "7: mov rdi, rbx",
        "mov esi, 1",
        "call {probe}",
        "inc qword ptr [rbp]",
        "cmp rax, 2",
        "jb 7b",
        "mov rax, qword ptr [rbp]",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
        ".popsection",
        probe = sym probe,
    )
}

#[test]
fn what_is_read_later_is_not_dead() {
    for (f, expected) in [
        (counts as fn(&[Cell<u64>; 2]) -> u64, 3),
        (remembers, 2),
        (sees_twice, 13),
        (adds_floats, 8),
        (passes_on_stack, 3),
        (through_a_reference, 3),
        (shows_each_time, 3),
        (knows_since_a_system_call, 3),
        (|[top, _]| jumps_by_a_table(top), 7),
        (|[top, _]| is_split(top), 3),
    ] {
        let (result, found) = run(f);
        assert_eq!(result, expected, "{found:?}");
    }
    let mut kept = [1_u64, 2, 3, 4, 5, 6, 7, 8];
    for other in 10..14 {
        kept.rotate_left(1);
        kept[0] += other;
    }
    assert_eq!(run(keeps_many).0, kept.iter().fold(0, |all, one| all * 31 + one));
}

/// The assertion takes the addresses of both, once the loop is over.
#[inline(never)]
fn asserts([top, next]: &[Cell<u64>; 2]) -> u64 {
    loop {
        let before = probe(top, 1);
        let (first, second) = (probe(next, 1), probe(next, 0));
        if before == 2 {
            assert_eq!(first + 1, second, "nobody else adds");
            return first;
        }
    }
}

#[test]
fn what_an_assertion_shows_is_dead_when_it_is_read_again() {
    let (result, found) = run(asserts);
    assert_eq!(result, 12);
    let words: Vec<_> = found.iter().map(|dead| dead.slots().count()).collect();
    assert!(words.iter().step_by(3).all(|words| *words >= 2), "{words:?}");
}

struct Says<'a>(u64, &'a Cell<u64>);

impl Drop for Says<'_> {
    fn drop(&mut self) {
        self.1.set(self.0);
    }
}

#[inline(never)]
fn unwinds(top: &Cell<u64>, said: &Cell<u64>) {
    let mut last = Says(9, said);
    loop {
        let now = probe(top, 1);
        if now == 3 {
            resume_unwind(Box::new(()));
        }
        last.0 = now;
    }
}

#[test]
fn what_only_a_landing_pad_reads_is_not_dead() {
    let (result, _) = run(|[top, said]| {
        catch_unwind(AssertUnwindSafe(|| unwinds(top, said))).unwrap_err();
        said.get()
    });
    assert_eq!(result, 2);
}

/// Which results of the probes in `f` are never read.
fn unused(f: impl FnOnce(&[Cell<u64>; 2]) -> u64) -> Vec<bool> {
    UNUSED.take();
    black_box(f(black_box(&[Cell::new(0), Cell::new(10)])));
    UNUSED.take()
}

#[inline(never)]
fn throws_away([top, next]: &[Cell<u64>; 2]) -> u64 {
    probe(top, 1);
    let used = probe(next, 1);
    probe(top, 2);
    used
}

#[inline(never)]
fn reads_on_one_path([top, next]: &[Cell<u64>; 2]) -> u64 {
    let first = probe(top, 1);
    if next.get() == 11 { first } else { 3 }
}

#[inline(never)]
fn hands_on(at: &Cell<u64>) -> u64 {
    black_box(at).set(5);
    probe(at, 1)
}

#[inline(never)]
fn hands_on_again(at: &Cell<u64>) -> u64 {
    black_box(hands_on(at) as *const u8);
    hands_on(at)
}

#[inline(never)]
fn reads_a_part([top, _]: &[Cell<u64>; 2]) -> u64 {
    u64::from(probe(top, 1) as u8 == 7)
}

#[test]
fn a_result_is_unused_if_nobody_reads_any_of_it() {
    assert_eq!(unused(throws_away), [true, false, true]);
    assert_eq!(unused(reads_on_one_path), [false]);
    assert_eq!(unused(reads_a_part), [false]);
}

#[test]
fn a_result_that_is_handed_on_is_unused_if_nobody_reads_it_in_the_end() {
    fn drops([top, _]: &[Cell<u64>; 2]) -> u64 {
        hands_on_again(top);
        7
    }
    assert_eq!(unused(drops), [false, true]);
    assert_eq!(unused(|[top, _]| hands_on_again(top) + 1), [false, false]);
}

#[test]
fn words_are_counted_from_the_stack_pointer() {
    assert_eq!(Places::words(8, 16, true).slots().collect::<Vec<_>>(), [1]);
    assert_eq!(Places::words(4, 20, true).slots().collect::<Vec<_>>(), [1]);
    assert_eq!(Places::words(4, 20, false).slots().collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(Places::words(-16, 0, false), Places::NONE);
    assert_eq!(Places::with_slots(2).slots().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(Places::with_slots(64).slots().count(), 58);
}
