//! What `cargo mc test --std` needs beside the checked types: a place for libtest, and answers for code that asks the system by itself.

mod clock;
mod futex;
pub mod harness;
mod pthread;
mod system;
