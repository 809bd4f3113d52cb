//! What a finding means for a verdict, in both ways of checking, and what can be done.
//!
//! Source: `docs/unmodified.md`, the facades (`build/facade/sources`), the system calls that are answered (`shims/src/unmodified`), `mc-runtime/src/hooks.rs` for real threads.

use super::findings::{Findings, Kind, Ways};

/// How bad it is, in one of the two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// The checker controls it.
    Controlled,
    /// Good to know.
    Note,
    /// This report could not look at it.
    Unknown,
    /// Not under control: a test that reaches it is not proved.
    Uncontrolled,
    /// Nothing can be checked with it.
    Refused,
}

impl Level {
    /// As programs read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Controlled => "controlled",
            Self::Note => "note",
            Self::Unknown => "unknown",
            Self::Uncontrolled => "uncontrolled",
            Self::Refused => "refused",
        }
    }
}

/// What there is to say of a kind of finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advice {
    pub(crate) title: &'static str,
    /// With `mc`'s types.
    pub(crate) shims: (Level, &'static str),
    /// With `--std`.
    pub(crate) std: (Level, &'static str),
    pub(crate) remedy: &'static str,
}

impl Advice {
    fn same(title: &'static str, meaning: (Level, &'static str), remedy: &'static str) -> Self {
        Self { title, shims: meaning, std: meaning, remedy }
    }

    /// In the worse of the two ways.
    pub(crate) fn level(&self) -> Level {
        self.shims.0.max(self.std.0)
    }
}

const OTHER_CODE: &str =
    "have the test do without it: other code under a cfg of yours, which `--cfg NAME` sets for a check only";

impl Kind {
    /// What there is to say of it.
    pub(crate) fn advice(self) -> Advice {
        match self {
            Self::GlobalAllocator | Self::UnstableFeature | Self::RustFlags | Self::PanicAbort => self.of_builds(),
            Self::Unreadable | Self::Generated | Self::CrateType | Self::Switch | Self::NoStd => self.of_reading(),
            Self::ForeignThread
            | Self::BlockingCall
            | Self::NativeCode
            | Self::ForeignFunction
            | Self::Assembly
            | Self::Processor => self.of_foreign_code(),
            Self::Clock | Self::InputOutput => self.of_the_world(),
            Self::ThreadLocal
            | Self::Intrinsic
            | Self::Futex
            | Self::Random
            | Self::StaticMut
            | Self::StdThread
            | Self::StandIn
            | Self::Leak => self.of_rust(),
        }
    }

    fn of_builds(self) -> Advice {
        use Level::{Note, Refused, Uncontrolled};
        match self {
            Self::GlobalAllocator => Advice {
                title: "an allocator of its own",
                shims: (
                    Uncontrolled,
                    "two allocators do not link; without the checker's, leaks, double frees and uses after free are not found",
                ),
                std: (Refused, "does not link: the checker is the allocator"),
                remedy: "`mc-shims = { .., default-features = false }` takes the checker's out; for `--std`, put it under `#[cfg(not(NAME))]` and add `--cfg NAME`",
            },
            Self::UnstableFeature => Advice::same(
                "an unstable feature of the language",
                (Refused, "does not compile on stable Rust"),
                "turn it off by a feature or a version of the crate that does without",
            ),
            Self::RustFlags => Advice::same(
                "`panic=abort` in the flags for rustc",
                (Refused, "an error: a test that panics must unwind to be checked"),
                "take it out of `RUSTFLAGS` and of `rustflags` in cargo's configuration",
            ),
            _ => Advice::same(
                "aborting panics in a profile",
                (Note, "does not count: cargo leaves it out of tests"),
                "nothing",
            ),
        }
    }

    fn of_reading(self) -> Advice {
        use Level::{Controlled, Note, Unknown};
        match self {
            Self::Unreadable => Advice::same(
                "source that could not be read",
                (Unknown, "what is in it may be missing in this report"),
                "look at it, or build with `cargo test` to see whether rustc can",
            ),
            Self::Generated => Advice::same(
                "source that is made by the build",
                (Unknown, "what is in it is not in this report; it is checked as other code is"),
                "look at it in the target directory",
            ),
            Self::CrateType => Advice {
                title: "a library that is more than a Rust library",
                shims: (
                    Note,
                    "tests link the Rust library; what a program in another language does with it is not checked",
                ),
                std: (Note, "likewise; a procedural macro runs in the compiler, with the real std, and is not checked"),
                remedy: "nothing, for tests in Rust",
            },
            Self::Switch => Advice {
                title: "a switch to the types of loom or shuttle",
                shims: (Note, "its suite, if it has one, is checked as it is written"),
                std: (Controlled, "the switch is off: the crate is checked as it is built for users"),
                remedy: "`cargo mc test --release` with the flags that stand after the place",
            },
            _ => Advice {
                title: "no std",
                shims: (Note, "its atomics are seen where they are those of `mc` only"),
                std: (
                    Controlled,
                    "atomics of `core` are replaced; a lock of its own is checked as what it is, loops over atomics",
                ),
                remedy: "nothing",
            },
        }
    }

    fn of_foreign_code(self) -> Advice {
        use Level::Uncontrolled;
        match self {
            Self::ForeignThread => Advice {
                title: "threads or processes made by the system",
                shims: (
                    Uncontrolled,
                    "a thread by `pthread_create` is `uncontrolled` (exit code 121); `clone` and `fork` are not noticed",
                ),
                std: (Uncontrolled, "`uncontrolled`, with the place; processes only where the test has threads"),
                remedy: OTHER_CODE,
            },
            Self::BlockingCall => Advice {
                title: "calls that wait in the system",
                shims: (
                    Uncontrolled,
                    "what is waited for is not explored, and all threads of the test wait along: a `hang` where it takes long",
                ),
                std: (Uncontrolled, "`uncontrolled`, with the place, where the test has threads"),
                remedy: OTHER_CODE,
            },
            Self::NativeCode => Advice::same(
                "code in other languages",
                (
                    Uncontrolled,
                    "its accesses to memory are not compared, its own threads and waits are not explored: `PROVED` does not speak of them",
                ),
                OTHER_CODE,
            ),
            Self::ForeignFunction => Advice::same(
                "functions that are not Rust's",
                (
                    Uncontrolled,
                    "what they do to memory is not compared, what they wait for is not explored: `PROVED` does not speak of them",
                ),
                OTHER_CODE,
            ),
            Self::Assembly => Advice {
                title: "assembly, fences and stores of the processor",
                shims: (
                    Uncontrolled,
                    "its accesses are not compared, nothing is ordered by it, and a system call in it is the real one",
                ),
                std: (
                    Uncontrolled,
                    "its accesses are not compared, and nothing is ordered by it; its system calls are looked at",
                ),
                remedy: OTHER_CODE,
            },
            _ => Advice::same(
                "values that differ between runs (time stamps, random numbers)",
                (Uncontrolled, "two executions may differ: `nondeterminism` where it matters"),
                "`mc::choose` in a test instead; or other code under a cfg of yours, which `--cfg NAME` sets",
            ),
        }
    }

    fn of_the_world(self) -> Advice {
        use Level::Uncontrolled;
        match self {
            Self::Clock => Advice::same(
                "the real time (`SystemTime`, `clock_gettime`)",
                (Uncontrolled, "two executions may differ: `nondeterminism` where it matters"),
                "with the shims, `mc::time::SystemTime`; for `--std`, `std::time::Instant`: both are virtual",
            ),
            _ => Advice {
                title: "files, sockets, processes",
                shims: (
                    Uncontrolled,
                    "real: an execution meets what the last one left (`nondeterminism` where it matters), and a wait is a `hang`",
                ),
                std: (
                    Uncontrolled,
                    "files may be read; all else is `uncontrolled`, with the place, where the test has threads",
                ),
                remedy: OTHER_CODE,
            },
        }
    }

    fn of_rust(self) -> Advice {
        use Level::{Controlled, Note, Uncontrolled};
        match self {
            Self::Leak => Advice::same(
                "memory that is leaked on purpose",
                (Note, "a `leak`; with `--std` not if a static points to it, directly or through other memory"),
                "`--allow-leaks`, or `allow_leaks` in the attribute of a test",
            ),
            Self::ThreadLocal => Advice::same(
                "`#[thread_local]`",
                (Uncontrolled, "one for all threads of a test, which share a thread of the system"),
                "`--threads os`, or `thread_local!`",
            ),
            Self::Intrinsic => Advice {
                title: "intrinsics of the compiler",
                shims: (Uncontrolled, "not seen"),
                std: (Uncontrolled, "seen by the instrumentation only: `max`, `min` and spurious failures are not"),
                remedy: "the types of `core::sync::atomic`",
            },
            Self::Futex => Advice {
                title: "futexes by the `syscall` of the C library",
                shims: (Uncontrolled, "the wait is a real one: a `hang`"),
                std: (Controlled, "`WAIT`, `WAKE` and their `BITSET` forms are explored, others are `uncontrolled`"),
                remedy: "`--std`",
            },
            Self::Random => Advice {
                title: "random bytes of the system",
                shims: (Uncontrolled, "two executions may differ: `nondeterminism` where it matters"),
                std: (Controlled, "the same in every execution"),
                remedy: "`--std`, or a fixed seed",
            },
            Self::StaticMut => Advice {
                title: "`static mut`",
                shims: (
                    Uncontrolled,
                    "accesses are not compared, so that a data race is not found, and what one execution leaves the next one meets",
                ),
                std: (
                    Controlled,
                    "every access is compared, and the first value is put back (`BOUNDED` at best with `--instrument atomics`)",
                ),
                remedy: "`--std`; with the shims, `mc::cell::UnsafeCell` in a static",
            },
            Self::StdThread => Advice {
                title: "threads of std",
                shims: (Uncontrolled, "a test that starts one there is `uncontrolled` (exit code 121)"),
                std: (Controlled, "explored"),
                remedy: "`--std`; with the shims, `mc::thread` or `#[mc::shim]` on the item",
            },
            _ => Advice {
                title: "locks of parking_lot",
                shims: (Uncontrolled, "its locks are not seen: a thread that waits for one is a `hang`"),
                std: (Controlled, "explored, with their futexes"),
                remedy: "`--std`; or in a package that is built for checks only: `[patch.crates-io]`, `parking_lot = { git = \"https://github.com/cargo-mc/cargo-mc\" }`",
            },
        }
    }
}

/// A crate, as it stands when tests are written with `mc`'s types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shims {
    /// It uses them.
    Controlled,
    /// It has nothing of what threads share, as far as can be told.
    Nothing,
    /// It uses std's own, which are not seen.
    NotSeen,
    /// It has something that is not controlled, whatever types it uses.
    Uncontrolled,
    /// Does not build.
    Refused,
}

/// A crate under `--std`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Std {
    /// What it uses of std is replaced; plain memory is instrumented.
    Facade,
    /// Plain memory is all there is, and is instrumented.
    Memory,
    /// It has something that is not controlled.
    Uncontrolled,
    /// Does not build.
    Refused,
}

/// The worst of what is found and `there` in one of the ways, by what is `said` of it.
fn worst(found: &Findings, there: impl Fn(Ways) -> bool, said: impl Fn(&Advice) -> Level) -> Level {
    let kinds = found.places.iter().filter(|(_, places)| places.iter().any(|place| there(place.ways)));
    kinds.map(|(kind, _)| said(&kind.advice())).max().unwrap_or(Level::Controlled)
}

impl Shims {
    pub(super) fn of(found: &Findings) -> Self {
        match worst(found, |ways| ways.shims, |advice| advice.shims.0) {
            Level::Refused => Self::Refused,
            Level::Uncontrolled => Self::Uncontrolled,
            _ if found.names_mc => Self::Controlled,
            _ if found.used.is_empty() => Self::Nothing,
            _ => Self::NotSeen,
        }
    }

    /// As programs read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Controlled => "controlled",
            Self::Nothing => "nothing",
            Self::NotSeen => "not_seen",
            Self::Uncontrolled => "uncontrolled",
            Self::Refused => "refused",
        }
    }
}

impl Std {
    pub(super) fn of(found: &Findings) -> Self {
        match worst(found, |ways| ways.std, |advice| advice.std.0) {
            Level::Refused => Self::Refused,
            Level::Uncontrolled => Self::Uncontrolled,
            _ if found.used.is_empty() && !found.names_mc => Self::Memory,
            _ => Self::Facade,
        }
    }

    /// As programs read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Facade => "facade",
            Self::Memory => "memory",
            Self::Uncontrolled => "uncontrolled",
            Self::Refused => "refused",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_every_kind_with_its_title_and_levels() {
        let page = include_str!("../../../docs/doctor.md");
        for kind in Kind::ALL {
            let advice = kind.advice();
            let (shims, std) = (advice.shims.0.name(), advice.std.0.name());
            let line = format!("| `{}` | {} | {shims} | {std} |", kind.name(), advice.title);
            assert!(page.contains(&line), "{line}");
        }
    }

    #[test]
    fn every_kind_has_an_advice_of_its_own() {
        let titles: std::collections::BTreeSet<_> = Kind::ALL.into_iter().map(|kind| kind.advice().title).collect();
        assert_eq!(titles.len(), Kind::ALL.len());
    }

    #[test]
    fn a_crate_is_as_controlled_as_the_worst_of_what_is_there_in_a_way() {
        use crate::doctor::findings::{Place, Used};
        let place = |ways| Place { file: String::new(), line: 1, what: String::new(), test: false, ways };
        let mut found = Findings::default();
        assert_eq!((Shims::of(&found), Std::of(&found)), (Shims::Nothing, Std::Memory));
        found.used.insert(Used::Locks);
        assert_eq!((Shims::of(&found), Std::of(&found)), (Shims::NotSeen, Std::Facade));
        found.names_mc = true;
        found.add(Kind::StaticMut, place(Ways { shims: false, std: true }));
        assert_eq!((Shims::of(&found), Std::of(&found)), (Shims::Controlled, Std::Facade));
        found.add(Kind::StaticMut, place(Ways::BOTH));
        assert_eq!((Shims::of(&found), Std::of(&found)), (Shims::Uncontrolled, Std::Facade));
        found.add(Kind::GlobalAllocator, place(Ways { shims: true, std: false }));
        assert_eq!(Std::of(&found), Std::Facade);
        found.add(Kind::Assembly, place(Ways::BOTH));
        assert_eq!(Std::of(&found), Std::Uncontrolled);
        found.add(Kind::UnstableFeature, place(Ways::BOTH));
        assert_eq!((Shims::of(&found), Std::of(&found)), (Shims::Refused, Std::Refused));
    }
}
