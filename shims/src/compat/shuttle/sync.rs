//! `shuttle::sync`: this crate's, but for `Arc`, which is std's there too.

pub use std::sync::{Arc, Weak};

pub use crate::sync::*;
