//! Whether a thread asks for a lock that another, a writer whose time is over, may have yet to give back.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use mc_runtime::ops;

/// The two kinds of threads at one lock. They are noted beside the events and come to the same in whatever order the events are made.
pub(super) struct Asked {
    asking: Threads,
    giving_up: Threads,
}

/// Each says whether one thread asks and another gives up, by now.
impl Asked {
    pub(super) const fn new() -> Self {
        Self { asking: Threads::none(), giving_up: Threads::none() }
    }

    /// The calling thread asks for the lock and will not wait.
    pub(super) fn by_this_thread(&self) -> bool {
        self.asking.add_this();
        self.met()
    }

    /// The calling thread wanted to write, and its time was over while others read.
    pub(super) fn gives_up(&self) -> bool {
        self.giving_up.add_this();
        self.met()
    }

    fn met(&self) -> bool {
        let (asking, giving_up) = (self.asking.0.load(Relaxed), self.giving_up.0.load(Relaxed));
        let both = asking != Threads::NONE && giving_up != Threads::NONE;
        both && (asking == Threads::SEVERAL || asking != giving_up)
    }
}

/// None, the number of one, or that there are several.
struct Threads(AtomicU32);

impl Threads {
    const NONE: u32 = u32::MAX;
    const SEVERAL: u32 = u32::MAX - 1;

    const fn none() -> Self {
        Self(AtomicU32::new(Self::NONE))
    }

    fn add_this(&self) {
        let Some(this) = ops::current() else { return };
        let known = self.0.load(Relaxed);
        let now = if known == Self::NONE || known == this.0 { this.0 } else { Self::SEVERAL };
        self.0.store(now, Relaxed);
    }
}
