//! What `cargo mc` and a test under check say to each other, and to the user: what is asked ([`options`], [`settings`]), what was found ([`outcome`]), whether that is
//! good ([`judge`]), the worker's messages ([`message`]), who starts workers ([`client`]), and a counterexample as text ([`report`]).
//!
//! A crate of its own, so that the subcommand needs no checker, and so that only the checker is compiled with optimisations: what is here was two fifths of the code that went through them.
//! For the same reason nothing generic is public here that reads or writes messages.

pub mod client;
mod json;
pub mod judge;
pub mod message;
pub mod options;
pub mod outcome;
pub mod report;
pub mod settings;
