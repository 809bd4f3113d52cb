//! Which system calls stay within the test: those that tell the same each time, or nothing, and wait for nobody.

use super::{Call, Fate, SET_SYSCALL_USER_DISPATCH, files};
use crate::ops;
use libc::c_int;
use syscalls::Sysno;

pub(super) fn permitted(call: &Call) -> Fate {
    let [first, second, third, ..] = call.arguments;
    let Some(what) = call.what else { return Fate::Refused };
    let made = match what {
        // Memory.
        Sysno::mmap | Sysno::munmap | Sysno::mremap | Sysno::mprotect | Sysno::madvise | Sysno::brk => true,
        // Who and where this process is.
        Sysno::getpid | Sysno::getppid | Sysno::gettid | Sysno::getuid | Sysno::geteuid => true,
        Sysno::getgid | Sysno::getegid | Sysno::getcwd | Sysno::uname | Sysno::sysinfo => true,
        Sysno::getcpu | Sysno::sched_getaffinity | Sysno::sched_yield | Sysno::getrusage | Sysno::prlimit64 => true,
        Sysno::clock_gettime | Sysno::clock_getres | Sysno::gettimeofday | Sysno::time => true,
        // Itself, and its end.
        Sysno::rt_sigaction | Sysno::arch_prctl | Sysno::rseq => true,
        Sysno::sigaltstack => first == 0, // the checker's own handlers need the one that is there
        Sysno::prctl => first as c_int != SET_SYSCALL_USER_DISPATCH,
        Sysno::set_robust_list | Sysno::set_tid_address | Sysno::exit | Sysno::exit_group => true,
        Sysno::tgkill => third as c_int == libc::SIGABRT,
        // Output, which the checker keeps back.
        Sysno::write | Sysno::writev | Sysno::fsync => {
            [libc::STDOUT_FILENO, libc::STDERR_FILENO].contains(&(first as c_int))
        }
        Sysno::ioctl => second as u64 == libc::TCGETS,
        Sysno::futex => second as c_int & !libc::FUTEX_PRIVATE_FLAG == libc::FUTEX_WAKE,
        // SAFETY: the caller gives the buffer to the kernel.
        Sysno::getrandom => return Fate::Answered(unsafe { ops::fill_random(first as *mut u8, second) } as isize),
        // Files that are read.
        Sysno::stat | Sysno::lstat | Sysno::newfstatat | Sysno::statx | Sysno::fstat | Sysno::access => true,
        Sysno::faccessat | Sysno::faccessat2 | Sysno::readlink | Sysno::readlinkat => true,
        Sysno::pread64 => files::is_file(first as c_int),
        Sysno::read | Sysno::readv | Sysno::lseek | Sysno::getdents64 => {
            return files::moves(first as c_int);
        }
        Sysno::fcntl => [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL].contains(&(second as c_int)),
        Sysno::close => {
            ops::with_engine(|e| e.close_file(first as c_int));
            true
        }
        Sysno::open => return files::open(libc::AT_FDCWD, first, second),
        Sysno::openat => return files::open(first as c_int, second, third),
        _ => false,
    };
    if made { Fate::Made } else { Fate::Refused }
}
