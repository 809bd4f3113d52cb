//! What a path means for the checker, once it is known from which crate it comes: std, or a binding to the system.
//!
//! Source for what `--std` replaces of std: `build/facade/sources/std.rs`. Of the system, functions that make threads, wait, tell the time or give random bytes count; the others do what any
//! foreign function does and are not told apart.

use super::findings::{Kind, Used};

/// Crates through which others call the system.
const SYSTEM: [&str; 6] = ["libc", "nix", "rustix", "syscalls", "sc", "linux_raw_sys"];
const STD: [&str; 3] = ["std", "core", "alloc"];

const THREADS: [&str; 7] = ["pthread_create", "clone", "clone3", "fork", "vfork", "posix_spawn", "posix_spawnp"];
const BLOCKING: &[&str] = &[
    "accept",
    "accept4",
    "clock_nanosleep",
    "connect",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "flock",
    "futex_wait",
    "futex_waitv",
    "io_uring_enter",
    "lockf",
    "mq_receive",
    "mq_send",
    "mq_timedreceive",
    "msgrcv",
    "msgsnd",
    "nanosleep",
    "pause",
    "poll",
    "ppoll",
    "pread",
    "pread64",
    "preadv",
    "pselect",
    "pselect6",
    "pthread_barrier_wait",
    "pthread_cond_broadcast",
    "pthread_cond_signal",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_once",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock",
    "pthread_spin_lock",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "select",
    "sem_post",
    "sem_timedwait",
    "sem_wait",
    "semop",
    "semtimedop",
    "sigsuspend",
    "sigtimedwait",
    "sigwait",
    "sigwaitinfo",
    "sleep",
    "usleep",
    "wait",
    "wait4",
    "waitid",
    "waitpid",
    "write",
    "writev",
];
const CLOCKS: [&str; 6] = ["clock_gettime", "clock_gettime_dynamic", "ftime", "gettimeofday", "time", "times"];
/// Data without a socket.
const PLAIN_NET: [&str; 9] = [
    "AddrParseError",
    "IpAddr",
    "Ipv4Addr",
    "Ipv6Addr",
    "Shutdown",
    "SocketAddr",
    "SocketAddrV4",
    "SocketAddrV6",
    "ToSocketAddrs",
];
const LOCKS: [&str; 10] =
    ["*", "Barrier", "Condvar", "LazyLock", "Mutex", "Once", "OnceLock", "OnceState", "RwLock", "mpsc"];
/// What std has of the compiler's intrinsics for everybody.
const STABLE_INTRINSICS: [&str; 4] = ["copy", "copy_nonoverlapping", "transmute", "write_bytes"];

/// What a function of the system, declared or called by this name, does.
pub(super) fn of_system(name: &str) -> Option<Kind> {
    let call = name.strip_prefix("SYS_").unwrap_or(name);
    match call {
        "futex" => Some(Kind::Futex),
        call if THREADS.contains(&call) => Some(Kind::ForeignThread),
        call if BLOCKING.contains(&call) => Some(Kind::BlockingCall),
        call if CLOCKS.contains(&call) => Some(Kind::Clock),
        "getrandom" => Some(Kind::Random),
        // A fence of all threads.
        "membarrier" => Some(Kind::Assembly),
        // Its answer comes from within the C library, where `getrandom` is not the checker's.
        "getentropy" => Some(Kind::Processor),
        _ => None,
    }
}

/// What an expression does that names this.
pub(super) fn of_expression(path: &[String]) -> Option<Kind> {
    let (last, before) = path.split_last()?;
    if let Some(at) = before.iter().position(|segment| SYSTEM.contains(&segment.as_str())) {
        // rustix makes its system calls by itself, so that a futex of it is none that the checker answers.
        let own = before[at] == "rustix" && before.iter().any(|segment| segment == "futex");
        return if own { Some(Kind::BlockingCall) } else { of_system(last) };
    }
    if last == "leak" && before.last().is_some_and(|owner| ["Box", "String", "Vec"].contains(&owner.as_str())) {
        return Some(Kind::Leak);
    }
    let at = before.iter().position(|segment| STD.contains(&segment.as_str()))?;
    if !last.starts_with(|first: char| first.is_lowercase() || first == '_') {
        return None; // a type or a constant, which does nothing by itself
    }
    let rest: Vec<&str> = path[at + 1..].iter().map(String::as_str).collect();
    match rest.as_slice() {
        ["time", "SystemTime", ..] => Some(Kind::Clock),
        ["fs", ..] | ["process", "Command", ..] | ["os", "unix", "net", ..] | ["io", "stdin", ..] => {
            Some(Kind::InputOutput)
        }
        ["net", item, ..] if !PLAIN_NET.contains(item) => Some(Kind::InputOutput),
        ["thread", "spawn" | "scope", ..] | ["thread", "Builder", ..] => Some(Kind::StdThread),
        ["intrinsics", name] if !STABLE_INTRINSICS.contains(name) => Some(Kind::Intrinsic),
        ["arch", .., name] => of_processor(name),
        _ => None,
    }
}

fn of_processor(name: &str) -> Option<Kind> {
    match name {
        "_rdtsc" | "__rdtscp" => Some(Kind::Processor),
        "_mm_mfence" | "_mm_sfence" | "_mm_lfence" => Some(Kind::Assembly),
        name if name.starts_with("_rdrand") || name.starts_with("_rdseed") => Some(Kind::Processor),
        name if name.starts_with("_mm_stream") => Some(Kind::Assembly),
        _ => None,
    }
}

/// What of std's a path names that `--std` replaces, wherever it stands.
pub(super) fn used(path: &[String]) -> Option<Used> {
    let at = path.iter().position(|segment| STD.contains(&segment.as_str()))?;
    let rest: Vec<&str> = path[at + 1..].iter().map(String::as_str).collect();
    match rest.as_slice() {
        ["sync", "atomic", ..] => Some(Used::Atomics),
        ["sync", item, ..] if LOCKS.contains(item) => Some(Used::Locks),
        ["thread", "LocalKey", ..] => Some(Used::ThreadLocals),
        ["thread", item, ..] if *item != "Result" => Some(Used::Threads),
        ["time", "Instant", ..] => Some(Used::Clock),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn calls_of_the_system_are_told_apart_by_what_they_do() {
        for (text, kind) in [
            ("libc::pthread_create", Some(Kind::ForeignThread)),
            ("crate::sys::libc::epoll_wait", Some(Kind::BlockingCall)),
            ("libc::SYS_futex", Some(Kind::Futex)),
            ("libc::SYS_io_uring_enter", Some(Kind::BlockingCall)),
            ("libc::SYS_membarrier", Some(Kind::Assembly)),
            ("rustix::thread::futex::wait", Some(Kind::BlockingCall)),
            ("nix::sys::wait::waitpid", Some(Kind::BlockingCall)),
            ("libc::getrandom", Some(Kind::Random)),
            ("libc::getentropy", Some(Kind::Processor)),
            ("Box::leak", Some(Kind::Leak)),
            ("libc::getpid", None),
            ("std::time::SystemTime::now", Some(Kind::Clock)),
            ("std::time::Instant::now", None),
            ("std::time::SystemTime::UNIX_EPOCH", None),
            ("std::fs::File", None),
            ("std::net::Ipv4Addr::new", None),
            ("std::net::TcpStream::connect", Some(Kind::InputOutput)),
            ("core::arch::x86_64::_rdtsc", Some(Kind::Processor)),
            ("core::intrinsics::atomic_xadd", Some(Kind::Intrinsic)),
            ("std::intrinsics::transmute", None),
            ("mine::read", None),
            ("read", None),
        ] {
            assert_eq!(of_expression(&path(text)), kind, "{text}");
        }
    }

    #[test]
    fn what_the_facade_replaces_is_known() {
        for (text, expected) in [
            ("core::sync::atomic::AtomicU8", Some(Used::Atomics)),
            ("std::sync::mpsc::channel", Some(Used::Locks)),
            ("std::sync::Arc", None),
            ("std::thread::current", Some(Used::Threads)),
            ("std::thread::Result", None),
            ("std::vec::Vec", None),
        ] {
            assert_eq!(used(&path(text)), expected, "{text}");
        }
    }

    #[test]
    fn tables_are_sorted_so_that_nothing_is_in_them_twice() {
        for table in [&THREADS[..], BLOCKING, &CLOCKS, &PLAIN_NET, &LOCKS] {
            let mut names = table.to_vec();
            names.dedup();
            assert_eq!(names, table);
        }
        assert!(BLOCKING.is_sorted());
    }
}
