//! Crates from the registry, as they were published, checked through the switch that they have for loom.
//!
//! `cargo mc test` in this folder. The tests are in `tests/`, one file for each crate, with its own loom suite as the example.
