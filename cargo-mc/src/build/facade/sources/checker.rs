//! The one crate that the facades are made from: compiled with the real std.

pub extern crate alloc as real_alloc;
pub extern crate core as real_core;
pub extern crate std as real_std;

pub use mc;
