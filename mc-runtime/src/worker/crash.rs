//! When a worker dies: the failure is told with its schedule before the process ends.
//!
//! The handlers read the engine while it is stopped in the middle of the test's code, and allocate. That is not async-signal-safe in general; a
//! process that is about to die loses nothing by trying, and an alarm ends it if it hangs there.

use super::NO_SNAPSHOTS;
use super::replay::NO_REHEARSAL;
use super::server::{finish, has_client, send};
use crate::check::make_failure;
use crate::exec::{Bounds, Engine, Found, Guide};
use crate::message::{Message, Replayed};
use crate::outcome::FailureKind;
use std::ffi::CString;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

/// The engine whose execution runs; null between executions.
static RUNNING: AtomicPtr<Engine> = AtomicPtr::new(ptr::null_mut());
/// The execution that runs, counted from 1.
static EXECUTION: AtomicU64 = AtomicU64::new(0);
/// The rehearsal of a replay runs.
static REHEARSAL: AtomicBool = AtomicBool::new(false);

/// An execution of `engine` begins, or (null) ends.
pub(crate) fn running(engine: *mut Engine) {
    RUNNING.store(engine, Ordering::Release);
    if !engine.is_null() {
        // In a worker, nobody else counts.
        EXECUTION.store(EXECUTION.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// The rehearsal of a replay begins or ends: a crash in it starts the worker again, without one.
pub(super) fn rehearse(now: bool) {
    REHEARSAL.store(now, Ordering::Release);
}

/// Called before `main`, by which std sees that stacks which overflow are not its business: it would give each thread a stack for that signal, in place of ours, and would
/// remember the threads of a test beyond their execution.
#[cfg(feature = "unmodified")]
pub(crate) fn come_before_std() {
    extern "C" fn as_ever(signal: libc::c_int) {
        // SAFETY: what the process does without anybody's handler; the instruction is then tried again.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: a handler of the right signature, and there was none before `main`.
        unsafe { libc::signal(signal, as_ever as *const () as usize) };
    }
}

/// Watches over this process from now on: what ends it in the middle of an execution, and hangs of more than `limit` milliseconds.
pub(crate) fn watch(limit: u64) {
    if WATCHED.swap(true, Ordering::AcqRel) {
        return;
    }
    let signals = [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];
    for signal in signals {
        // SAFETY: a zeroed `sigaction` is a valid one; the handler has the signature that `SA_SIGINFO` asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESETHAND;
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }
    // SAFETY: a function of the right signature, which stays where it is.
    unsafe { libc::atexit(on_exit) };
    let watchdog = move || {
        let mut last = (ptr::null_mut(), 0, (0, 0));
        // How often in a row nothing was seen to happen, and how often nothing but what is no operation.
        let (mut still, mut busy) = (0, 0);
        loop {
            std::thread::sleep(Duration::from_millis((limit / LOOKS).max(1)));
            let engine = RUNNING.load(Ordering::Acquire);
            // SAFETY: only the counters, behind their own `Arc`, are read; the engine lives until the process ends.
            let made = unsafe { engine.as_ref() }.map_or((0, 0), |e| e.progress.counts());
            let now = (engine, EXECUTION.load(Ordering::Relaxed), made);
            let is_same = !engine.is_null() && (now.0, now.1, now.2.0) == (last.0, last.1, last.2.0);
            busy = if is_same { busy + 1 } else { 0 };
            still = if is_same && now.2 == last.2 { still + 1 } else { 0 };
            last = now;
            if still == 0 && EXPLORING.load(Ordering::Acquire) && has_client() {
                send(&Message::Working);
            }
            if still >= LOOKS {
                let waits = if all_sleep() { WAITS } else { "" };
                last_words(FailureKind::Hang, hang(limit, &format!("(limit `hang_limit`){waits}")));
            }
            if busy >= LOOKS * BUSY {
                let but = format!("but went on with plain memory or hints (limit: {BUSY} times `hang_limit`)");
                last_words(FailureKind::Hang, hang(limit * BUSY, &but));
            }
        }
    };
    std::thread::Builder::new().name("mc-watchdog".to_owned()).spawn(watchdog).expect("a thread for the watchdog");
}

/// How often the watchdog looks within the limit.
const LOOKS: u64 = 4;

/// How many times the limit a thread may make no operation where it tells of plain accesses, which makes it slow, or gives hints.
const BUSY: u64 = 10;

fn hang(milliseconds: u64, but: &str) -> String {
    let seconds = Duration::from_millis(milliseconds).as_secs_f64();
    format!("hang: the thread made no operation for {seconds} s {but}")
}

/// Why a thread may sleep that makes no operation.
const WAITS: &str = "\nIt sleeps in the system, for something that the checker does not control: a lock or channel of std's own in a test of `mc`'s types, say, \
    whose owner waits for its turn; or I/O, or a real thread.\n`cargo mc doctor` names what of that is in the crate.";

/// Do all other threads of the process sleep? What the system does not tell is no sleep.
fn all_sleep() -> bool {
    // SAFETY: asks for a number.
    let own = unsafe { libc::gettid() }.to_string();
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return false };
    let others = threads.flatten().filter(|thread| thread.file_name().to_str() != Some(&own));
    let sleeps = |stat: String| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'));
    others.map(|thread| std::fs::read_to_string(thread.path().join("stat"))).all(|stat| stat.is_ok_and(sleeps))
}

/// Is an exploration under way? Between two of them the code of a test runs, of which nothing is known.
static EXPLORING: AtomicBool = AtomicBool::new(false);

/// Explores, and tells the client from time to time that this goes on.
pub(super) fn exploring<R>(explore: impl FnOnce() -> R) -> R {
    EXPLORING.store(true, Ordering::Release);
    let result = explore();
    EXPLORING.store(false, Ordering::Release);
    result
}

/// Are signals handled here?
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Does [`watch`] handle signals of this process? Then each thread of the operating system needs a stack for them: they must survive an overflow of the one it is on.
pub(crate) fn is_watched() -> bool {
    WATCHED.load(Ordering::Acquire)
}

/// Gives the calling thread of the operating system a stack for signals, if it needs one.
pub(crate) fn use_signal_stack() {
    const SIZE: usize = 256 << 10;
    if is_watched() {
        let stack = Box::leak(vec![0u8; SIZE].into_boxed_slice());
        // SAFETY: memory of that size that is never freed.
        unsafe { use_signal_stack_at(stack.as_mut_ptr().addr(), SIZE) };
    }
}

/// Lets signals of the calling thread of the operating system be handled on this stack.
///
/// # Safety
/// The memory is nobody else's while the thread lives.
pub(crate) unsafe fn use_signal_stack_at(start: usize, size: usize) {
    let stack = libc::stack_t { ss_sp: start as *mut libc::c_void, ss_flags: 0, ss_size: size };
    // SAFETY: our caller's promise.
    unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
}

extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    prepare_to_die();
    let engine = RUNNING.load(Ordering::Acquire);
    // SAFETY: the kernel's description of a signal of this kind has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    // SAFETY: the engine is stopped in this very thread, or (a signal to another thread) as good as; the process ends here.
    let (bounds, exhausted) = match unsafe { engine.as_ref() } {
        Some(e) => (e.stack, e.heap.as_ref().is_some_and(|h| h.exhausted)),
        None => (Bounds::default(), false),
    };
    const GUARD: usize = 64 << 10;
    let overflow = matches!(signal, libc::SIGSEGV | libc::SIGBUS)
        && (bounds.limit.saturating_sub(GUARD)..bounds.limit + GUARD).contains(&address)
        && bounds.base != 0;
    let (kind, message) = if overflow {
        let size = (bounds.base - bounds.limit) >> 10;
        (FailureKind::StackOverflow, format!("stack overflow: the thread needs more than its stack of {size} KiB"))
    } else if exhausted && signal == libc::SIGABRT {
        (FailureKind::Crash, "out of memory: the test allocates more than `max_memory` allows".to_owned())
    } else {
        (FailureKind::Crash, format!("crash: {}", name(signal, address)))
    };
    last_words(kind, message);
}

/// The process ends as somebody wants it to. Is that a thread of the execution that runs? Under `cargo test` it may also be a test beside it.
extern "C" fn on_exit() {
    let is_of_test = crate::ops::ask_engine(|_| ()).is_some();
    if !is_of_test || RUNNING.load(Ordering::Acquire).is_null() {
        return;
    }
    prepare_to_die();
    last_words(FailureKind::Crash, "crash: the test ended the process (`std::process::exit`)".to_owned());
}

/// What follows is no part of the test.
fn prepare_to_die() {
    // The test must not call this.
    crate::exec::arena::switch(ptr::null_mut());
    // SAFETY: ends the process should the rest of this hang.
    unsafe { libc::alarm(5) };
    if REHEARSAL.load(Ordering::Acquire) {
        start_again(NO_REHEARSAL);
    }
}

fn name(signal: libc::c_int, address: usize) -> String {
    match signal {
        libc::SIGSEGV => format!("segmentation fault (SIGSEGV) at address {address:#x}"),
        libc::SIGBUS => format!("bus error (SIGBUS) at address {address:#x}"),
        libc::SIGABRT => "aborted (SIGABRT)".to_owned(),
        libc::SIGILL => "illegal instruction (SIGILL)".to_owned(),
        libc::SIGTRAP => "trap (SIGTRAP)".to_owned(),
        _ => "arithmetic error (SIGFPE)".to_owned(),
    }
}

/// Tells of the failure of the execution that runs, and ends the process; or has its task done again without snapshots, if it went on from one.
fn last_words(kind: FailureKind, message: String) -> ! {
    let engine = RUNNING.load(Ordering::Acquire);
    // SAFETY: as in `on_signal`.
    if let Some(engine) = unsafe { engine.as_ref() } {
        // What a snapshot does not hold may have ended it.
        if engine.goes_on_from_snapshot() && has_client() {
            send(&Message::Again);
            start_again(NO_SNAPSHOTS);
        }
        let panicked = engine.threads.get(engine.current().slot()).and_then(|t| t.panicked.clone());
        let message = match panicked.filter(|_| kind == FailureKind::Crash) {
            Some(panicked) => format!("{message}\nafter a panic: {}", panicked.message),
            None => message,
        };
        let site = engine.last_site();
        let found = Found { kind, message, thread: engine.current(), site };
        let failure = make_failure(engine, found, EXECUTION.load(Ordering::Relaxed).saturating_sub(1).max(1));
        match engine.guide {
            _ if !has_client() => crate::models::last_words(&failure),
            Guide::Follow(_) => send(&Message::Replayed(Replayed::Failed(failure))),
            _ => send(&Message::Failure(failure)),
        }
    }
    finish(70)
}

/// Replaces the process by one that does its task without what this variable says.
pub(super) fn start_again(without: &str) -> ! {
    super::server::give_back_pipe();
    let own = CString::new("/proc/self/exe").expect("no zero byte");
    let text = |s: std::ffi::OsString| CString::new(s.into_encoded_bytes()).expect("no zero byte");
    let arguments: Vec<CString> = std::env::args_os().map(text).collect();
    let mut environment: Vec<CString> = std::env::vars_os()
        .map(|(name, value)| {
            let mut both = name;
            both.push("=");
            both.push(value);
            text(both)
        })
        .collect();
    environment.push(CString::new(format!("{without}=1")).expect("no zero byte"));
    let pointers = |all: &[CString]| {
        let mut pointers: Vec<*const libc::c_char> = all.iter().map(|s| s.as_ptr()).collect();
        pointers.push(ptr::null());
        pointers
    };
    let (arguments, environment) = (pointers(&arguments), pointers(&environment));
    // SAFETY: the strings and the arrays, which end with null, live until the call, which does not return unless it fails.
    unsafe {
        libc::alarm(0); // the new process would inherit it
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        libc::execve(own.as_ptr(), arguments.as_ptr(), environment.as_ptr());
    }
    finish(70)
}
