//! The bench room: what the engine costs, and what the same programs cost under other checkers.
//!
//! `cargo bench --bench peers` compares (`-- --quick` for the small cases), `cargo bench --bench engine` measures the engine's
//! parts, `cargo test` counts allocations. Each tool runs in a process of its own (`src/bin/`), so that the peak of its memory, its
//! panics and its allocator are its own; this library is what they and the driver share, and uses no checker itself.

pub mod cases;
pub mod child;
pub mod machine;
pub mod measurement;
pub mod table;
