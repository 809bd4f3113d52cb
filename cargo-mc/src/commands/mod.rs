//! The commands: each takes what was typed and comes to an exit code.

mod debug;
mod doctor;
mod list;
mod replay;
mod test;

pub(crate) use doctor::doctor;
pub(crate) use list::list;
pub(crate) use replay::replay;
pub(crate) use test::test;
