//! `mc::parking_lot`: the same cases against parking_lot itself (without `--cfg mc`) and against the checked types outside of a check
//! (`behaviour`, `stress`), and what the checker says of small programs (`checked`, `condvars`).
#![cfg(feature = "parking_lot")]

mod behaviour;
#[cfg(mc)]
mod checked;
#[cfg(mc)]
#[path = "../common/mod.rs"]
mod common;
#[cfg(mc)]
mod condvars;
#[cfg(mc)]
mod orders;
mod stress;
