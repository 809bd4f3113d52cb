//! Programs that every checker of weak memory is measured by: what is right must be proved, what is wrong must be found.
//!
//! Source: the litmus tests of J. Alglave, L. Maranget and M. Tautschnig, "Herding Cats", TOPLAS 2014, with C11 orderings; the
//! rest are the usual suspects of lock-based and lock-free code.

mod litmus;
mod locks;
mod pointers;
