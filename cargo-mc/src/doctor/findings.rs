//! What is found in a crate: of which kind, and where.

use std::collections::{BTreeMap, BTreeSet};

/// Something that the checker does not control in at least one of its two ways, or that is worth a note. In the order in which findings are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    GlobalAllocator,
    UnstableFeature,
    RustFlags,
    Unreadable,
    Generated,
    ForeignThread,
    BlockingCall,
    NativeCode,
    ForeignFunction,
    Assembly,
    Processor,
    ThreadLocal,
    Intrinsic,
    Clock,
    InputOutput,
    Futex,
    Random,
    StaticMut,
    StdThread,
    StandIn,
    Leak,
    CrateType,
    Switch,
    NoStd,
    PanicAbort,
}

/// Where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// From the directory of the package.
    pub(crate) file: String,
    pub(crate) line: usize,
    /// What is there: a name, or a few words.
    pub(crate) what: String,
    /// In code of tests only.
    pub(crate) test: bool,
    pub(crate) ways: Ways,
}

/// In which of the two ways of checking something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ways {
    pub(crate) shims: bool,
    pub(crate) std: bool,
}

impl Ways {
    pub(crate) const BOTH: Self = Self { shims: true, std: true };
}

/// What of std is used that `--std` replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Used {
    Atomics,
    Locks,
    Threads,
    ThreadLocals,
    Clock,
}

/// All of one crate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    pub(crate) places: BTreeMap<Kind, BTreeSet<Place>>,
    pub(crate) used: BTreeSet<Used>,
    /// It names types of `mc`, or has code under `cfg(mc)`.
    pub(crate) names_mc: bool,
}

impl Findings {
    pub(super) fn add(&mut self, kind: Kind, place: Place) {
        self.places.entry(kind).or_default().insert(place);
    }
}

impl Kind {
    /// In the order in which they are told.
    #[cfg(test)]
    pub(super) const ALL: [Self; 25] = [
        Self::GlobalAllocator,
        Self::UnstableFeature,
        Self::RustFlags,
        Self::Unreadable,
        Self::Generated,
        Self::ForeignThread,
        Self::BlockingCall,
        Self::NativeCode,
        Self::ForeignFunction,
        Self::Assembly,
        Self::Processor,
        Self::ThreadLocal,
        Self::Intrinsic,
        Self::Clock,
        Self::InputOutput,
        Self::Futex,
        Self::Random,
        Self::StaticMut,
        Self::StdThread,
        Self::StandIn,
        Self::Leak,
        Self::CrateType,
        Self::Switch,
        Self::NoStd,
        Self::PanicAbort,
    ];

    /// As programs read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::GlobalAllocator => "global_allocator",
            Self::UnstableFeature => "unstable_feature",
            Self::RustFlags => "rustflags",
            Self::Unreadable => "unreadable",
            Self::Generated => "generated",
            Self::ForeignThread => "foreign_thread",
            Self::BlockingCall => "blocking_call",
            Self::NativeCode => "native_code",
            Self::ForeignFunction => "foreign_function",
            Self::Assembly => "assembly",
            Self::Processor => "processor",
            Self::ThreadLocal => "thread_local",
            Self::Intrinsic => "intrinsic",
            Self::Clock => "clock",
            Self::InputOutput => "io",
            Self::Futex => "futex",
            Self::Random => "random",
            Self::StaticMut => "static_mut",
            Self::StdThread => "std_thread",
            Self::StandIn => "stand_in",
            Self::Leak => "leak",
            Self::CrateType => "crate_type",
            Self::Switch => "switch",
            Self::NoStd => "no_std",
            Self::PanicAbort => "panic_abort",
        }
    }
}

impl Used {
    /// As programs read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Atomics => "atomics",
            Self::Locks => "locks",
            Self::Threads => "threads",
            Self::ThreadLocals => "thread_locals",
            Self::Clock => "instant",
        }
    }
}
