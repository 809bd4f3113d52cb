//! `std` where it is the toolchain's own: for what it brings with it, which is the checker that the instrumented code calls.

#![no_std]
#![allow(deprecated)]

extern crate mc_facade;

pub use mc_facade::real_std::*;
