//! A module in a file.
