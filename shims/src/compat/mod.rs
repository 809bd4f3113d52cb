//! The names of other tools, so that what was written for them is checked as it is.
//!
//! There only with the checker (`--cfg mc`, or the feature `checked`): without it these names would promise a check that nobody makes.

pub mod loom;
#[cfg(feature = "shuttle")]
pub mod shuttle;
