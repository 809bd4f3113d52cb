//! Conformance and end-to-end tests of cargo-mc.
