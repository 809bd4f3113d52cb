//! One worker process: its lines, its end, and its signals.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::Binary;
use crate::message::{ENVIRONMENT, Task};

/// Where the standard error of a worker goes, and with it what the body prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Hidden,
    Shown,
}

pub(super) enum Next {
    Line(String),
    Nothing,
    Ended(ExitStatus),
}

/// Dropping it ends the process.
pub(super) struct Process {
    child: Child,
    lines: Receiver<String>,
    /// Set once the child is reaped: from then on its number may belong to somebody else.
    ended: Option<ExitStatus>,
}

/// Lines that wait to be read before the worker waits too.
const BACKLOG: usize = 1024;
/// What a worker that has said its last word has to end by itself.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long lines are waited for once the process has ended, if something that it started keeps the pipe open.
const DRAIN: Duration = Duration::from_millis(200);

impl Process {
    pub(super) fn start(binary: &Binary, task: &Task, arguments: &[&str], output: Output) -> std::io::Result<Self> {
        let mut command = Command::new(&binary.executable);
        command.args(arguments).envs(environment(binary, task));
        if let Some(directory) = &binary.directory {
            command.current_dir(directory);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(match output {
            Output::Hidden => Stdio::null(),
            Output::Shown => Stdio::inherit(),
        });
        // A group of its own: Ctrl-C reaches this process only, which then decides; and everything that a body starts ends with it.
        command.process_group(0);
        set_up(&mut command);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("no pipe"))?;
        let (sender, lines) = sync_channel(BACKLOG);
        std::thread::Builder::new().name("mc-worker-lines".to_owned()).spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut bytes = Vec::new();
            while reader.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
                let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                if sender.send(line).is_err() {
                    break;
                }
                bytes.clear();
            }
        })?;
        Ok(Self { child, lines, ended: None })
    }

    /// The next line; [`Next::Ended`] only after the last one.
    pub(super) fn next(&mut self, patience: Duration) -> Next {
        match self.lines.recv_timeout(if self.ended.is_some() { DRAIN } else { patience }) {
            Ok(line) => return Next::Line(line),
            Err(RecvTimeoutError::Disconnected) => {
                if let Some(status) = self.reap(patience) {
                    return Next::Ended(status);
                }
            }
            Err(RecvTimeoutError::Timeout) => match self.ended {
                Some(status) => return Next::Ended(status),
                None => self.ended = self.child.try_wait().ok().flatten(),
            },
        }
        Next::Nothing
    }

    /// Asks it to stop.
    pub(super) fn interrupt(&mut self) {
        self.signal(libc::SIGINT);
    }

    /// It has said its last word: give it a moment to end, then end it.
    pub(super) fn finish(mut self) {
        self.reap(FAREWELL);
    }

    fn reap(&mut self, patience: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        let mut pause = Duration::from_micros(200);
        while self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
            if self.ended.is_some() || begun.elapsed() >= patience {
                break;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        self.ended
    }

    fn signal(&mut self, signal: i32) {
        if self.ended.is_some() {
            return;
        }
        let Ok(process) = i32::try_from(self.child.id()) else { return };
        // SAFETY: `kill` takes no pointers. The number is that of our child's group: the child was not reaped (`ended` is `None`
        // until it is, checked above), so the number is not yet anybody else's.
        unsafe { libc::kill(-process, signal) };
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing can be done about a process that cannot be ended, and nothing depends on it.
        self.signal(libc::SIGKILL);
        if self.ended.is_none() {
            let _ = self.child.wait();
        }
    }
}

/// What a worker's environment has on top of this process's.
pub(super) fn environment(binary: &Binary, task: &Task) -> Vec<(String, String)> {
    let mut variables = binary.environment.clone();
    variables.push((ENVIRONMENT.to_owned(), task.to_text()));
    // Stack traces that a body takes would fill std's cache of symbols, which outlives executions, from the heap of one.
    variables.push(("RUST_LIB_BACKTRACE".to_owned(), "0".to_owned()));
    variables
}

/// The executable and its stacks are at the same addresses each time: what a test makes of an address is the same in a replay. A worker does not outlive the one who would read its words, however that one ends. An interrupt reaches it, also where this process was started with
/// interrupts ignored, as a shell does in the background: a handler can be set then, but not in a shell.
fn set_up(command: &mut Command) {
    let set = || {
        // SAFETY: plain system calls that change only the calling process; they keep no pointers.
        unsafe {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            #[cfg(target_os = "linux")]
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            #[cfg(target_os = "linux")]
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        }
        Ok(())
    };
    // SAFETY: `set` runs in the child between fork and exec, where only async-signal-safe calls are allowed: it makes three
    // system calls, allocates nothing and takes no lock.
    unsafe { command.pre_exec(set) };
}
