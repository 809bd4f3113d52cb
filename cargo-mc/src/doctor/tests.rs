//! What is found in which source, and what is not.

use std::collections::BTreeSet;
use std::fs;

use super::cfg::{Cfgs, Script};
use super::findings::{Findings, Used};
use super::walk::Walker;

fn cfgs() -> Cfgs {
    let host = ["unix", "target_os=\"linux\"", "target_arch=\"x86_64\"", "target_pointer_width=\"64\""];
    let host = host.map(|cfg| cfg.parse().unwrap());
    Cfgs { host: host.into(), features: BTreeSet::from(["rt".to_owned()]), script: Script::Absent }
}

/// What is found in a package with these files, the first of which is that of its library.
fn found_in(files: &[(&str, &str)], builds_tests: bool) -> Findings {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let cfgs = cfgs();
    let mut walker = Walker::new("demo", folder.path(), &cfgs, builds_tests, Some("mc"));
    walker.target(&folder.path().join(files[0].0), false);
    walker.found
}

/// One word for each place: `kind:line`, with the file where it is not the first.
fn told(found: &Findings) -> Vec<String> {
    let places = found.places.iter().flat_map(|(kind, places)| places.iter().map(move |place| (kind, place)));
    places
        .map(|(kind, place)| {
            let file = if place.file == "src/lib.rs" { String::new() } else { format!("{}:", place.file) };
            format!("{}:{file}{}", kind.name(), place.line)
        })
        .collect()
}

fn kinds(source: &str) -> Vec<String> {
    told(&found_in(&[("src/lib.rs", source)], true))
}

#[test]
fn each_kind_is_found_where_it_is() {
    let table: &[(&str, &[&str])] = &[
        ("use std::arch::asm;\nfn f() { unsafe { asm!(\"nop\") } }", &["assembly:2"]),
        ("core::arch::global_asm!(\"nop\");", &["assembly:1"]),
        ("#[unsafe(naked)] extern \"C\" fn f() { core::arch::naked_asm!(\"ret\") }", &["assembly:1"]),
        ("fn f() { unsafe { std::arch::x86_64::_mm_mfence() } }", &["assembly:1"]),
        ("extern \"C\" {\n    fn deflate();\n    static VERSION: u8;\n}", &["foreign_function:2"]),
        ("unsafe extern \"C\" { fn pthread_create(); fn epoll_wait(); }", &["foreign_thread:1", "blocking_call:1"]),
        (
            "unsafe extern \"C\" { pub safe fn f(); unsafe fn g(); safe static A: u8; type T; }",
            &["foreign_function:1", "foreign_function:1"],
        ),
        ("pub macro m() { asm!(); libc::poll() }", &["blocking_call:1", "assembly:1"]),
        ("#[link(name = \"z\", kind = \"static\")] unsafe extern \"C\" {}", &["native_code:1"]),
        (
            "use libc::{poll as wait, SYS_futex};\nfn f() { wait(); libc::syscall(SYS_futex); }",
            &["blocking_call:2", "futex:2"],
        ),
        ("use libc::*;\nfn f() { unsafe { pthread_create() } }", &["foreign_thread:2"]),
        (
            "fn f() { rustix::thread::futex::wait(); nix::sys::wait::waitpid(); }",
            &["blocking_call:1", "blocking_call:1"],
        ),
        ("fn f() { ::libc::getrandom(); libc::clock_gettime(); }", &["clock:1", "random:1"]),
        ("static mut COUNT: u8 = 0;", &["static_mut:1"]),
        ("#[thread_local]\nstatic A: u8 = 0;", &["thread_local:1"]),
        ("fn f() { core::intrinsics::atomic_xadd() }", &["intrinsic:1"]),
        ("#[global_allocator]\nstatic A: S = S;", &["global_allocator:1"]),
        ("#![feature(never_type)]", &["unstable_feature:1"]),
        ("#![cfg_attr(not(windows), no_std)]", &["no_std:1"]),
        ("use std::time::{Instant, SystemTime};\nfn f() { SystemTime::now(); Instant::now(); }", &["clock:2"]),
        ("use std::{fs, process::Command};\nfn f() { fs::read(0);\nCommand::new(0); }", &["io:2", "io:3"]),
        ("fn f() { std::net::TcpStream::connect(0); std::io::stdin(); }", &["io:1", "io:1"]),
        ("fn f() { core::arch::x86_64::_rdtsc(); }", &["processor:1"]),
        ("fn f() { std::thread::spawn(g); std::thread::Builder::new(); }", &["std_thread:1", "std_thread:1"]),
        ("pub(crate) mod thread { pub(crate) use std::thread::{Builder, yield_now}; }", &["std_thread:1"]),
        ("#[cfg(not(crossbeam_loom))] fn f() {}\nfn g() { if cfg!(shuttle) {} }", &["switch:1", "switch:2"]),
        ("include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));", &["generated:1"]),
        ("mod missing;", &["unreadable:1"]),
    ];
    for (source, expected) in table {
        assert_eq!(kinds(source), *expected, "{source}");
    }
}

#[test]
fn what_only_looks_like_it_is_not_found() {
    for source in [
        "// asm!(), libc::poll(), static mut A\n/* pthread_create() */\n/// `std::fs::read`, `#![feature(x)]`\nfn f() {}",
        "fn f() -> &'static str { \"libc::pthread_create(); asm!()\" }",
        "fn pthread_create() {} fn read() {} fn f() { pthread_create(); read(); self::read(); crate::read(); }",
        "use libc::*; fn poll() {} fn f() { poll() }",
        "use mine::poll; mod mine { pub fn poll() {} } fn f() { poll(); mine::poll(); }",
        "macro_rules! asm { () => {} } asm!();",
        "fn f(epoll: E) { epoll.wait(); epoll.read(); }",
        "extern \"C\" fn called_by_others() {}",
        "static A: u8 = 0; fn f<T: 'static>(a: &'static mut T) {}",
        "fn f(_: std::fs::File, _: std::time::SystemTime) -> std::net::IpAddr { std::net::Ipv4Addr::new(0) }",
        "thread_local! { static A: u8 = 0; }",
        "fn f() { std::intrinsics::transmute(0); std::process::exit(0); libc::getpid(); }",
        "mod libc { pub fn nothing() {} }",
        "fn f() { stringify!(libc::poll()); include_str!(\"asm.txt\"); }",
        "use std::thread; fn f() { thread::yield_now(); thread::sleep(d); }",
    ] {
        assert_eq!(kinds(source), [""; 0], "{source}");
    }
}

#[test]
fn code_that_is_not_built_on_this_host_is_left_out() {
    for source in [
        "#![cfg(windows)] static mut A: u8 = 0;",
        "#[cfg(windows)] static mut A: u8 = 0;",
        "#[cfg(target_os = \"macos\")] mod missing;",
        "#[cfg(not(feature = \"rt\"))] use libc::poll; fn f() { poll() }",
        "fn f() { #[cfg(windows)] libc::poll(); #[cfg(windows)] { libc::poll() } #[cfg(windows)] let a = libc::poll(); }",
        "fn f() { match 0 { #[cfg(windows)] 0 => libc::poll(), _ => {} } S { #[cfg(windows)] a: libc::poll() }; }",
        "struct S; impl S { #[cfg(windows)] fn f() { libc::poll() } }",
        "unsafe extern \"C\" { #[cfg(windows)] fn f(); }",
        "cfg_if::cfg_if! { if #[cfg(unix)] { fn f() {} } else { fn f() { libc::poll() } } }",
        "cfg_select! { windows => { static mut A: u8 = 0; } _ => {} }",
        "macro_rules! cfg_net { ($($item:item)*) => { $( #[cfg(feature = \"net\")] $item )* } } cfg_net! { mod net; static mut A: u8 = 0; }",
        "#[cfg_attr(windows, global_allocator)] static A: S = S;",
    ] {
        assert_eq!(kinds(source), [""; 0], "{source}");
    }
}

#[test]
fn macros_are_looked_into_as_far_as_that_can_be_done() {
    let table: &[(&str, &[&str])] = &[
        ("macro_rules! m { () => {\n$crate::libc::pthread_create() } }", &["foreign_thread:2"]),
        ("macro_rules! m { () => { asm!(\"nop\"); static mut A: u8 = 0; } }", &["assembly:1", "static_mut:1"]),
        ("fn f() { assert!(\nlibc::poll() == 0, \"{}\", 1) }", &["blocking_call:2"]),
        ("lazy_static! { static ref A: u8 = libc::poll(); }", &["blocking_call:1"]),
        (
            "macro_rules! syscall { ($f:ident $a:tt) => { libc::$f $a } } fn f() {\nsyscall!(epoll_wait(0)); }",
            &["blocking_call:2"],
        ),
        ("cfg_rt! { static mut A: u8 = 0; mod made; }", &["static_mut:1"]),
        ("cfg_if::cfg_if! { if #[cfg(windows)] {} else { fn f() { libc::poll() } } }", &["blocking_call:1"]),
        ("cfg_select! { unix => { static mut A: u8 = 0; } _ => {} }", &["static_mut:1"]),
    ];
    for (source, expected) in table {
        assert_eq!(kinds(source), *expected, "{source}");
    }
}

#[test]
fn modules_are_followed_into_their_files() {
    let files = [
        (
            "src/lib.rs",
            "mod a; #[path = \"odd/other.rs\"] mod b; mod c { mod d; } include!(\"more.rs\"); static mut L: u8 = 0;",
        ),
        ("src/a.rs", "pub mod inner;"),
        ("src/a/inner/mod.rs", "static mut A: u8 = 0;"),
        ("src/odd/other.rs", "\nstatic mut B: u8 = 0;"),
        ("src/c/d.rs", "fn f( { libc::poll() "),
        ("src/more.rs", "static mut M: u8 = 0;"),
    ];
    let expected = [
        "unreadable:src/c/d.rs:1",
        "static_mut:src/a/inner/mod.rs:1",
        "static_mut:1",
        "static_mut:src/more.rs:1",
        "static_mut:src/odd/other.rs:2",
    ];
    assert_eq!(told(&found_in(&files, false)), expected);
}

#[test]
fn a_file_that_is_no_rust_of_today_is_said_so_and_its_tokens_are_looked_at() {
    let source = "type Action = Fn(&u8) + Send + Sync;\nfn f() { libc::poll() }";
    assert_eq!(kinds(source), ["unreadable:1", "blocking_call:2"]);
}

#[test]
fn tests_count_where_they_are_checked_and_are_marked() {
    let source = "#[cfg(test)] mod tests { #[test] fn f() { std::fs::read(0); } } #[test] fn g() { libc::poll() }\nfn h() { std::fs::read(0); }";
    let found = found_in(&[("src/lib.rs", source)], true);
    let marked: Vec<_> = found.places.values().flatten().map(|place| (place.line, place.test)).collect();
    assert_eq!(marked, [(1, true), (1, true), (2, false)]);
    assert_eq!(told(&found_in(&[("src/lib.rs", source)], false)), ["io:2"]);
}

#[test]
fn what_the_cfg_of_the_checker_decides_counts_in_one_way() {
    let source = "#[cfg(mc)] static mut A: u8 = 0;\n#[cfg(not(mc))] static mut B: u8 = 0;\nstatic mut C: u8 = 0;";
    let found = found_in(&[("src/lib.rs", source)], true);
    let ways: Vec<_> = found.places.values().flatten().map(|place| (place.ways.shims, place.ways.std)).collect();
    assert_eq!(ways, [(true, false), (false, true), (true, true)]);
    assert!(found.names_mc);
}

#[test]
fn what_std_replaces_is_told_apart() {
    let used = |source: &str| found_in(&[("src/lib.rs", source)], true).used.into_iter().collect::<Vec<_>>();
    assert_eq!(used("use core::sync::atomic::AtomicU8; use std::sync::{Arc, Mutex};"), [Used::Atomics, Used::Locks]);
    assert_eq!(
        used("use std::{sync, time}; fn f(_: sync::RwLock<u8>) { time::Instant::now(); }"),
        [Used::Locks, Used::Clock]
    );
    assert_eq!(
        used("fn f() { std::thread::park(); } thread_local! { static A: u8 = 0 }"),
        [Used::Threads, Used::ThreadLocals]
    );
    assert_eq!(used("use std::sync::Arc; use mine::sync::Mutex;"), []);
    let mc = |source: &str| found_in(&[("src/lib.rs", source)], true).names_mc;
    assert!(
        mc("use mc::sync::Mutex;")
            && mc("#[cfg(test)] mod t { #[mc::test] fn f() {} }")
            && !mc("use std::sync::Mutex;")
    );
}
