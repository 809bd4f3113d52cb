//! The tests of a binary: `#[mc::test]` puts a [`TestMeta`] of each into a link section, where workers and listings find them.

/// What `#[mc::test]` knows of a test at compile time.
#[derive(Debug)]
pub struct TestMeta {
    /// `module_path!()` of the test, the crate's name first.
    pub module: &'static str,
    /// The function's name.
    pub function: &'static str,
    /// Where it stands.
    pub file: &'static str,
    /// From 1.
    pub line: u32,
    /// Marked `#[ignore]`.
    pub ignored: bool,
    /// The options of the attribute, as `(name, value)`; checked by the macro.
    pub options: &'static [(&'static str, &'static str)],
}

impl TestMeta {
    /// The name under which libtest knows the test: the path without the crate.
    pub fn name(&self) -> String {
        match self.module.split_once("::") {
            Some((_, rest)) => format!("{rest}::{}", self.function),
            None => self.function.to_owned(),
        }
    }
}
