//! Concurrent structures, checked by `cargo mc test`.
