//! The bench room: what the engine costs, and what the same programs cost under other checkers.
//!
//! The README has the commands, one for each file of `benches/`. Each tool runs in a process of its own (`src/bin/`), so that the peak
//! of its memory, its panics and its allocator are its own; this library is what they and the drivers share, and uses no checker itself.

pub mod bugs;
pub mod cases;
pub mod child;
pub mod machine;
pub mod measurement;
pub mod optimum;
pub mod plot;
pub mod results;
pub mod table;
