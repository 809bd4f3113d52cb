//! Files that a test reads: they tell the same in every execution.

use super::Fate;
use crate::ops;
use libc::c_int;

/// A file or a folder, as against what others write to meanwhile.
pub(super) fn is_file(file: c_int) -> bool {
    // SAFETY: a zeroed `stat` is a valid one, which the call fills in.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        libc::fstat(file, &mut stat) == 0 && is_of_file(&stat)
    }
}

fn is_of_file(stat: &libc::stat) -> bool {
    [libc::S_IFREG, libc::S_IFDIR].contains(&(stat.st_mode & libc::S_IFMT))
}

/// Reading, or going to another place, of what is open.
pub(super) fn moves(file: c_int) -> Fate {
    match is_file(file) {
        false => Fate::Refused,
        true if ops::with_engine(|e| e.moves_in_file(file)) == Some(true) => Fate::Made,
        true => Fate::Shared,
    }
}

/// For reading. Closed at the end of the execution, should the test have no chance to.
pub(super) fn open(folder: c_int, path: usize, flags: usize) -> Fate {
    const CHANGES: c_int = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC | libc::O_TMPFILE & !libc::O_DIRECTORY;
    let (path, flags) = (path as *const libc::c_char, flags as c_int);
    if flags & CHANGES != libc::O_RDONLY {
        return Fate::Refused;
    }
    // SAFETY: a zeroed `stat` is a valid one; the path is the caller's, who gives it to the kernel.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstatat(folder, path, &mut stat, 0) == 0 && !is_of_file(&stat) {
            return Fate::Refused;
        }
        let file = libc::openat(folder, path, flags);
        if file < 0 {
            return Fate::Answered(-*libc::__errno_location() as isize);
        }
        ops::with_engine(|e| e.open_file(file));
        Fate::Answered(file as isize)
    }
}
