//! The worker's side: what a test binary does when it was started with [`ENVIRONMENT`] set.
//!
//! Not here: the exploration (`check`), what happens when the process dies (`crash`), and the other end (`client`).

use super::{crash, replay};
use crate::check::{self, Event};
use crate::message::{ENVIRONMENT, Message, Replayed, Task, TestInfo};
use crate::meta::TestMeta;
use crate::options::{Options, Strategy};
use std::env;
use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

/// Where the protocol goes: the worker's standard output, moved out of the way before `main`.
static PROTOCOL: AtomicI32 = AtomicI32::new(-1);

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

// SAFETY (link section): entries of `mc_tests` are of this type everywhere, see `registered`. This one makes the section exist.
#[used]
#[unsafe(link_section = "mc_tests")]
static NO_TEST: Option<&'static TestMeta> = None;

unsafe extern "Rust" {
    #[link_name = "__start_mc_tests"]
    static FIRST: Option<&'static TestMeta>;
    #[link_name = "__stop_mc_tests"]
    static END: Option<&'static TestMeta>;
}

/// The checked tests of this binary.
fn registered() -> impl Iterator<Item = &'static TestMeta> {
    let (first, end) = (&raw const FIRST, &raw const END);
    let len = (end as usize - first as usize) / size_of::<Option<&'static TestMeta>>();
    // SAFETY: the linker puts these symbols at the bounds of the section, which holds only `Option<&TestMeta>` (`NO_TEST`) and
    // `&TestMeta` (what `#[mc::test]` makes), of one layout.
    unsafe { std::slice::from_raw_parts(first, len) }.iter().filter_map(|meta| *meta)
}

/// Runs before `main`, in every binary with checked tests: a worker keeps its pipe, and answers a listing at once.
extern "C" fn before_main() {
    let Some(task) = env::var_os(ENVIRONMENT) else { return };
    // SAFETY: plain system calls on the standard descriptors, before any other thread exists.
    let kept = unsafe {
        let kept = libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3);
        libc::dup2(2, 1);
        kept
    };
    PROTOCOL.store(kept, Ordering::Relaxed);
    if let Ok(Task::List) = Task::from_text(&task.to_string_lossy()) {
        send(&Message::Tests { tests: registered().map(info).collect() });
        // SAFETY: nothing is open that would have to be closed.
        unsafe { libc::_exit(0) };
    }
}

fn info(meta: &'static TestMeta) -> TestInfo {
    let options = meta.options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    TestInfo { name: meta.name(), file: meta.file.to_owned(), line: meta.line, ignored: meta.ignored, options }
}

/// Sends a message. A client that is gone ends the worker.
pub(super) fn send(message: &Message) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let line = message.to_text() + "\n";
    // SAFETY: the descriptor that `before_main` made; nobody closes it, so neither does this.
    let mut pipe = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(PROTOCOL.load(Ordering::Relaxed)) });
    if pipe.write_all(line.as_bytes()).is_err() {
        finish(1);
    }
}

/// Before the process is replaced: the protocol is standard output again.
pub(super) fn give_back_pipe() {
    // SAFETY: a plain system call on descriptors that are open.
    unsafe { libc::dup2(PROTOCOL.load(Ordering::Relaxed), 1) };
}

/// Ends the worker at once.
pub(super) fn finish(code: i32) -> ! {
    // SAFETY: ends the process; what the test left behind is of no interest.
    unsafe { libc::_exit(code) }
}

/// What `#[mc::test]` calls under `cfg(mc)`: in a worker the task, otherwise the check in a worker of its own.
///
/// # Panics
/// If the test does not come to what its attribute says (outside of a worker).
#[track_caller]
pub fn run_test(meta: &'static TestMeta, body: impl Fn() + Send + Sync + 'static) {
    crate::check::refuse_within_another();
    let Some(task) = env::var_os(ENVIRONMENT) else { return crate::plain::check(meta) };
    let task = match Task::from_text(&task.to_string_lossy()) {
        Ok(task) => task,
        Err(error) => refuse(format!("`{ENVIRONMENT}` holds no task: {error}"), 96),
    };
    let body = Arc::new(body);
    match task {
        Task::List => refuse("the list of tests was asked for, not a test".to_owned(), 96),
        Task::Check { options } => serve_check(options, body),
        Task::Replay { options, schedule } => replay::serve(options, &schedule, body),
    }
}

/// The task cannot be done.
pub(super) fn refuse(message: String, exit_code: u8) -> ! {
    send(&Message::Error { message, exit_code });
    finish(i32::from(exit_code))
}

/// Nothing can be checked in this process.
///
/// # Panics
/// Where nobody listens.
#[cfg(feature = "unmodified")]
pub(crate) fn cannot_begin(message: String) -> ! {
    assert!(has_client(), "{message}");
    refuse(message, 96)
}

/// Set when the client asks to stop.
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn on_stop(_signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// From now on the client can ask to stop.
pub(super) fn serve_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::signal(signal, on_stop as *const () as libc::sighandler_t) };
    }
}

/// Is this process a worker?
pub(super) fn has_client() -> bool {
    PROTOCOL.load(Ordering::Relaxed) >= 0
}

fn serve_check(options: Options, body: crate::exec::run::TestBody) -> ! {
    if options.queue_limit.is_some() && !matches!(options.strategy, Strategy::Bfs | Strategy::Random) {
        refuse(
            "`queue_limit` counts for the strategies `bfs` and `random` only; the frontier of the others needs none"
                .to_owned(),
            96,
        );
    }
    serve_signals();
    send(&Message::Started);
    crash::watch(options.hang_limit);
    let engine = check::engine(&options);
    let tell = |event: Event<'_>| match event {
        Event::Progress { executions, blocked, estimate, frontier } => {
            send(&Message::Progress { executions, blocked, estimate, frontier });
        }
        Event::Failure(failure) => send(&Message::Failure(failure.clone())),
    };
    let outcome = crash::exploring(|| check::run(engine, body, &STOP, tell));
    send(&Message::Done(outcome));
    finish(0)
}

/// The end of a replay.
pub(super) fn replayed(how: Replayed) -> ! {
    send(&Message::Replayed(how));
    finish(0)
}
