//! What is on disk whole or not at all, however many processes make it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Has `fill` make a folder elsewhere and puts it in its place, if there is none yet. What comes of the system goes through `failed`.
pub(super) fn folder<E>(
    path: &Path,
    failed: impl Fn((PathBuf, io::Error)) -> E,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    if path.is_dir() {
        return Ok(());
    }
    let made = temporary(path.parent().unwrap_or(Path::new("."))).map_err(&failed)?;
    fill(made.path())?;
    match fs::rename(made.path(), path) {
        // Somebody else was faster, with the same.
        Err(_) if path.is_dir() => {}
        renamed => {
            renamed.map_err(|source| failed((path.to_owned(), source)))?;
            let _ = made.keep(); // there is nothing left to remove
        }
    }
    Ok(())
}

/// A folder for the time of a run, in `directory`.
pub(super) fn temporary(directory: &Path) -> Result<TempDir, (PathBuf, io::Error)> {
    let made = fs::create_dir_all(directory).and_then(|()| tempfile::tempdir_in(directory));
    made.map_err(|source| (directory.to_owned(), source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_folder_is_made_once_and_nothing_is_left_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("made");
        let make = |text: &'static str| {
            folder(&path, |(_, error)| error, |made| fs::write(made.join("file"), text)).unwrap();
            fs::read_to_string(path.join("file")).unwrap()
        };
        assert_eq!([make("first"), make("second")], ["first", "first"]);
        assert_eq!(names(root.path()), ["made"]);
    }

    #[test]
    fn who_is_late_takes_what_is_there_and_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("made");
        let late = |made: &Path| {
            fs::create_dir(&path)?;
            fs::write(path.join("theirs"), "")?;
            fs::write(made.join("ours"), "")
        };
        folder(&path, |(_, error)| error, late).unwrap();
        assert_eq!((names(root.path()), names(&path)), (vec!["made".to_owned()], vec!["theirs".to_owned()]));
    }

    #[test]
    fn what_cannot_be_made_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("made");
        let fails = |_: &Path| Err(io::Error::other("no"));
        assert_eq!(folder(&path, |(_, error)| error, fails).unwrap_err().to_string(), "no");
        assert!(names(root.path()).is_empty());
    }
}
