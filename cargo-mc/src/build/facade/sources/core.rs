//! `core` for the crates under test: the real one, but for what the checker controls.

#![no_std]
#![allow(deprecated)]

extern crate mc_facade;

pub use mc_facade::real_core::*;

pub mod sync {
    pub use mc_facade::real_core::sync::*;

    pub mod atomic {
        pub use mc_facade::mc::sync::atomic::*;
    }
}

pub mod hint {
    pub use mc_facade::mc::hint::spin_loop;
    pub use mc_facade::real_core::hint::*;
}
