//! `loom::cell`.

pub use crate::cell::Cell;
pub use unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};

mod unsafe_cell;
