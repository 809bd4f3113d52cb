//! What is said of a worker that ended, or fell silent, without telling why.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use crate::options::Options;
use crate::outcome::{Failure, FailureKind};

/// It died. The schedule is lost with it: a worker that can still say it does so as it dies.
pub(super) fn died(status: &ExitStatus) -> Failure {
    let message = match (status.signal(), status.code()) {
        (Some(libc::SIGKILL), _) => {
            "the process was killed (SIGKILL), probably because the machine had no memory left\n\
             its schedule could not be saved; `--max-memory` ends the test before that, with its schedule"
                .to_owned()
        }
        (Some(signal), _) => {
            format!("the process was ended by {}\nits schedule could not be saved", signal_name(signal))
        }
        (None, Some(code)) => {
            format!("the process exited with code {code} in the middle of the check\nits schedule could not be saved")
        }
        (None, None) => format!("the process ended: {status}\nits schedule could not be saved"),
    };
    failure(FailureKind::Crash, message)
}

/// It said nothing for too long.
pub(super) fn hung(options: &Options) -> Failure {
    let message = format!(
        "the process did not answer for more than {} ms (`hang_limit`) and was ended\nits schedule could not be saved",
        options.hang_limit
    );
    failure(FailureKind::Hang, message)
}

fn failure(kind: FailureKind, message: String) -> Failure {
    Failure { kind, message, thread: "main".to_owned(), site: None, schedule: String::new(), execution: 1 }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT (abort)",
        libc::SIGSEGV => "SIGSEGV (invalid memory access)",
        libc::SIGBUS => "SIGBUS (invalid memory access)",
        libc::SIGILL => "SIGILL (illegal instruction)",
        libc::SIGFPE => "SIGFPE (arithmetic error)",
        libc::SIGTERM => "SIGTERM",
        libc::SIGINT => "SIGINT",
        libc::SIGHUP => "SIGHUP",
        libc::SIGXCPU => "SIGXCPU (CPU time limit)",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}
