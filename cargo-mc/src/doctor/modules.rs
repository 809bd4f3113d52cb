//! In which file a module is.
//!
//! Source: the Rust Reference, "Module source filenames" and "The path attribute".

use std::path::{Path, PathBuf};

/// Where one stands in the tree of modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// Of the file.
    folder: PathBuf,
    /// Where files of modules that are declared here are looked for.
    below: PathBuf,
    /// Inside of a module with a body.
    inline: bool,
}

impl Position {
    /// At the top of a crate's first file, of one that a `#[path]` names, or of a `mod.rs`.
    pub(super) fn root(file: &Path) -> Self {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        Self { below: folder.clone(), folder, inline: false }
    }

    /// At the top of the file of a module.
    pub(super) fn of_file(file: &Path) -> Self {
        let root = Self::root(file);
        if file.file_name().is_some_and(|name| name == "mod.rs") {
            return root;
        }
        Self { below: root.folder.join(file.file_stem().unwrap_or_default()), ..root }
    }

    /// Inside of `mod NAME { .. }`, or of one with a `#[path]`.
    pub(super) fn inside(&self, name: &str) -> Self {
        Self { below: self.below.join(name), inline: true, ..self.clone() }
    }

    /// The files that `mod NAME;` may mean.
    pub(super) fn files(&self, name: &str) -> [PathBuf; 2] {
        [self.below.join(format!("{name}.rs")), self.below.join(name).join("mod.rs")]
    }

    /// The file that `#[path = "PATH"] mod NAME;` means.
    pub(super) fn by_path(&self, path: &str) -> PathBuf {
        if self.inline { self.below.join(path) } else { self.folder.join(path) }
    }

    /// The file that `include!("PATH")` means.
    pub(super) fn included(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_a_root_and_of_a_mod_rs_are_beside_it() {
        for position in [Position::root(Path::new("src/lib.rs")), Position::of_file(Path::new("src/mod.rs"))] {
            assert_eq!(position.files("a"), ["src/a.rs", "src/a/mod.rs"].map(PathBuf::from));
            assert_eq!(position.by_path("b.rs"), Path::new("src/b.rs"));
        }
    }

    #[test]
    fn modules_of_another_file_are_below_its_name() {
        let position = Position::of_file(Path::new("src/a/b.rs"));
        assert_eq!(position.files("c")[0], Path::new("src/a/b/c.rs"));
        assert_eq!(position.by_path("c.rs"), Path::new("src/a/c.rs"));
    }

    #[test]
    fn a_module_with_a_body_is_one_folder_more() {
        let root = Position::root(Path::new("src/lib.rs")).inside("inline");
        assert_eq!(root.files("inner")[1], Path::new("src/inline/inner/mod.rs"));
        assert_eq!(root.by_path("other.rs"), Path::new("src/inline/other.rs"));
        let file = Position::of_file(Path::new("src/a/b.rs")).inside("inline");
        assert_eq!(file.by_path("other.rs"), Path::new("src/a/b/inline/other.rs"));
    }
}
