//! What the process is made to tell the engine: panics of a test, and threads that it starts behind the engine's back.

use crate::exec::{Engine, Found, Guide, Panicked};
use crate::ops::with_engine;
use crate::options::Origin;
use crate::outcome::FailureKind;
use crate::system::{Function, Original};
use std::backtrace::Backtrace;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Panics of controlled threads are remembered instead of printed, from now on.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let message = info.payload_as_str().unwrap_or("a panic with a payload that is no text");
            if with_engine(|e| remember(e, message, info)).is_none() {
                crate::worker::models::panicked(message, info);
                before(info);
            }
        }));
    });
}

/// From now on a debugger stops where a panic of a replayed execution is raised, after it was printed.
pub(crate) fn stop_at_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            before(info);
            let message = info.payload_as_str().unwrap_or("a panic with a payload that is no text");
            with_engine(|e| {
                remember(e, message, info);
                stop_debugger(e, message);
            });
        }));
    });
}

/// Has a debugger had its chance?
pub(crate) fn has_stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// Panics are printed as ever, from now on, and what that does is no part of the test.
#[cfg(feature = "unmodified")]
pub(crate) fn print_apart() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| crate::ops::as_checker(|| before(info))));
}

fn remember(engine: &mut Engine, message: &str, info: &PanicHookInfo<'_>) {
    let site = info.location().map(|l| (l.file().to_owned(), l.line()));
    let slot = engine.current().slot();
    engine.threads[slot].panicked = Some(Panicked { message: message.to_owned(), site });
}

/// A debugger has its breakpoint here (`cargo mc replay --gdb`): the replayed execution fails, or panics, in the code that called this.
#[unsafe(no_mangle)]
#[inline(never)]
fn mc_failure(message: &str) {
    // SAFETY: no instruction; the compiler cannot leave the call out.
    unsafe { std::arch::asm!("/* {} */", in(reg) message.as_ptr(), options(nostack, preserves_flags)) };
}

static STOPPED: AtomicBool = AtomicBool::new(false);

/// A debugger stops here if an execution is replayed.
pub(crate) fn stop_debugger(engine: &Engine, message: &str) {
    if matches!(engine.guide, Guide::Follow(_)) {
        STOPPED.store(true, Ordering::Relaxed);
        mc_failure(message);
    }
}

pub(crate) type Start = extern "C" fn(*mut libc::c_void) -> *mut libc::c_void;
type Create =
    unsafe extern "C" fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut libc::c_void) -> libc::c_int;

/// In place of the C library's: a controlled thread that starts a real one makes the test uncheckable.
///
/// # Safety
/// As `pthread_create(3)`.
// A sanitizer has to see threads start, and takes the same place (`tests/sanitize.py`).
#[cfg_attr(not(mc_sanitizer), unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut libc::c_void,
) -> libc::c_int {
    #[cfg(feature = "unmodified")]
    if crate::instrumentation::is_on_in_std() && crate::ops::is_called_by_test() {
        // SAFETY: passed on from our caller.
        return unsafe { crate::unmodified::pthread::create(thread, attributes, start, argument) };
    }
    if !crate::check::sees_real_std() && with_engine(uncontrolled).is_some() {
        return libc::EAGAIN;
    }
    static REAL: Original = Original::new(c"pthread_create");
    let Some(real) = REAL.find() else { return libc::ENOSYS };
    // SAFETY: the C library's function of this name has this signature; passed on from our caller.
    unsafe { std::mem::transmute::<Function, Create>(real)(thread, attributes, start, argument) }
}

type SetSpecific = unsafe extern "C" fn(libc::pthread_key_t, *const libc::c_void) -> libc::c_int;

/// In place of the C library's: what it keeps is no part of the states by which rounds of a loop are told to be alike, so a round that changes it is like no other.
///
/// # Safety
/// As `pthread_setspecific(3)`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_setspecific(
    key: libc::pthread_key_t,
    value: *const libc::c_void,
) -> libc::c_int {
    with_engine(|e| e.threads.me().rounds.clear());
    static REAL: Original = Original::new(c"pthread_setspecific");
    let Some(real) = REAL.find() else { return libc::ENOSYS };
    // SAFETY: as in `pthread_create`.
    unsafe { std::mem::transmute::<Function, SetSpecific>(real)(key, value) }
}

fn uncontrolled(engine: &mut Engine) {
    let site = users_frame();
    let place = site.as_ref().map_or(String::new(), |(file, line)| format!(" at {file}:{line}"));
    let help = match engine.options.origin {
        Origin::Unmodified => "Threads that std makes are. Code that makes others cannot be checked as it is.",
        _ => "Use `mc::thread` there (or `#[mc::shim]` on the item), so that the thread is part of the check.",
    };
    let message = format!("uncontrolled: the test starts a real thread{place}, which cannot be scheduled\n{help}");
    let thread = engine.current();
    engine.record(Found { kind: FailureKind::Uncontrolled, message, thread, site });
}

/// The innermost place of the call stack that is neither the standard library's nor ours.
fn users_frame() -> Option<(String, u32)> {
    let trace = Backtrace::force_capture().to_string();
    let places = trace.lines().filter_map(|l| l.trim().strip_prefix("at "));
    let ours = |p: &&str| !["/rustc/", "/library/", "mc-runtime/src/", "shims/src/"].iter().any(|own| p.contains(own));
    let place = places.filter(ours).find(|p| !p.starts_with("/rustc"))?;
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
    Some((file.trim_start_matches("./").to_owned(), line))
}
