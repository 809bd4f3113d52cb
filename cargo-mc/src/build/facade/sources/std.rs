//! `std` for the crates under test: the real one, but for what the checker controls. What is named here counts over what a `*` brings in.

#![no_std]
#![allow(deprecated)]

extern crate mc_facade;

pub use mc_facade::mc::thread_local;
pub use mc_facade::real_std::*;

pub mod sync {
    pub use mc_facade::mc::sync::{
        Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, ONCE_INIT, Once, OnceLock, OnceState, RwLock,
        RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
    };
    pub use mc_facade::real_std::sync::*;

    pub mod atomic {
        pub use mc_facade::mc::sync::atomic::*;
    }

    pub mod mpsc {
        pub use mc_facade::mc::sync::mpsc::*;
    }
}

pub mod thread {
    pub use mc_facade::mc::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId, available_parallelism,
        current, panicking, park, park_timeout, park_timeout_ms, scope, sleep, sleep_ms, spawn, yield_now,
    };
    pub use mc_facade::real_std::thread::*;
}

pub mod time {
    pub use mc_facade::mc::time::Instant;
    pub use mc_facade::real_std::time::*;
}

pub mod hint {
    pub use mc_facade::mc::hint::spin_loop;
    pub use mc_facade::real_std::hint::*;
}

/// The macros of std come through its preludes, so that `thread_local!` is replaced there, too.
pub mod prelude {
    pub mod v1 {
        pub use mc_facade::mc::thread_local;
        pub use mc_facade::real_std::prelude::v1::*;
    }

    pub mod rust_2015 {
        pub use mc_facade::mc::thread_local;
        pub use mc_facade::real_std::prelude::rust_2015::*;
    }

    pub mod rust_2018 {
        pub use mc_facade::mc::thread_local;
        pub use mc_facade::real_std::prelude::rust_2018::*;
    }

    pub mod rust_2021 {
        pub use mc_facade::mc::thread_local;
        pub use mc_facade::real_std::prelude::rust_2021::*;
    }

    pub mod rust_2024 {
        pub use mc_facade::mc::thread_local;
        pub use mc_facade::real_std::prelude::rust_2024::*;
    }
}
