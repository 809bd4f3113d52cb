//! `std::cell`. `UnsafeCell` and `Cell` report their accesses, to be compared with the others by happens-before.
//!
//! `RefCell`, `OnceCell` and `LazyCell` are std's: no thread but their own can reach them without unsafe code.

pub use std::cell::{BorrowError, BorrowMutError, LazyCell, OnceCell, Ref, RefCell, RefMut};

pub use copy::Cell;
pub use unsafe_cell::UnsafeCell;

mod copy;
mod unsafe_cell;
