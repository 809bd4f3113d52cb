//! `Cargo.lock` while a patch is in force: kept, and put back whatever happens.
//!
//! A copy lies in the target directory meanwhile, from which the next run puts it back if this one is killed. What cargo made of it is kept there
//! too, and taken again as long as the user's file stays the same: then nothing has to be looked up anew.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use super::StandInError;

/// The user's `Cargo.lock`.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// `None`: there is none.
    original: Option<Vec<u8>>,
    directory: PathBuf,
}

/// The user's file, while cargo has another one.
const SAVED: &str = "Cargo.lock.saved";
/// Stands for "there was none".
const ABSENT: &[u8] = b"# there was no Cargo.lock\n";
/// The user's file of the last run, and what cargo made of it.
const BEFORE: &str = "Cargo.lock.before";
const PATCHED: &str = "Cargo.lock.patched";

impl Lock {
    /// From now on cargo may change the file.
    pub(crate) fn hold(workspace: &Path, directory: &Path) -> Result<Self, StandInError> {
        let path = workspace.join("Cargo.lock");
        let directory = &directory.join("locks").join(key(workspace));
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| StandInError::Io { path, source }
        };
        fs::create_dir_all(directory).map_err(failed(directory))?;
        let saved = directory.join(SAVED);
        if let Some(left) = read(&saved).map_err(failed(&saved))? {
            put(&path, Some(left).filter(|text| text != ABSENT).as_deref()).map_err(failed(&path))?;
        }
        let original = read(&path).map_err(failed(&path))?;
        fs::write(&saved, original.as_deref().unwrap_or(ABSENT)).map_err(failed(&saved))?;
        let lock = Self { path, original, directory: directory.to_owned() };
        let before = read(&lock.directory.join(BEFORE)).ok().flatten();
        if before.as_deref() == Some(lock.original.as_deref().unwrap_or(ABSENT)) {
            let patched = lock.directory.join(PATCHED);
            if let Some(patched) = read(&patched).map_err(failed(&patched))? {
                put(&lock.path, Some(&patched)).map_err(failed(&lock.path))?;
            }
        }
        Ok(lock)
    }

    /// What it has now of other places than the workspace, as `name@version`: nothing, if it cannot be read.
    pub(super) fn packages(&self) -> BTreeSet<String> {
        let text = read(&self.path).ok().flatten().unwrap_or_default();
        let table: toml::Table = String::from_utf8_lossy(&text).parse().unwrap_or_default();
        let word = |package: &toml::Value, key| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        let packages = table.get("package").and_then(toml::Value::as_array).into_iter().flatten();
        let packages = packages.filter(|package| package.get("source").is_some());
        packages.filter_map(|p| Some(format!("{}@{}", word(p, "name")?, word(p, "version")?))).collect()
    }

    /// Keeps what cargo has made of it. If that fails, it is made again the next time.
    pub(crate) fn remember(&self) {
        if let Ok(Some(patched)) = read(&self.path) {
            let kept = fs::write(self.directory.join(PATCHED), patched);
            let before = self.original.as_deref().unwrap_or(ABSENT);
            let _ = kept.and_then(|()| fs::write(self.directory.join(BEFORE), before));
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If it cannot be written now, the copy is still there for the next run.
        if put(&self.path, self.original.as_deref()).is_ok() {
            let _ = fs::remove_file(self.directory.join(SAVED));
        }
    }
}

/// Workspaces may share a target directory: each has its own copies.
fn key(workspace: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    workspace.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn put(path: &Path, text: Option<&[u8]>) -> io::Result<()> {
    if read(path)?.as_deref() == text {
        return Ok(());
    }
    match text {
        Some(text) => fs::write(path, text),
        None => fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_put_back_and_what_cargo_made_of_it_is_taken_again() {
        let workspace = tempfile::tempdir().unwrap();
        let (path, directory) = (workspace.path().join("Cargo.lock"), workspace.path().join("target/mc/loom"));
        fs::write(&path, "theirs").unwrap();
        {
            let lock = Lock::hold(workspace.path(), &directory).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"theirs");
            fs::write(&path, "patched").unwrap();
            lock.remember();
        }
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        drop(Lock::hold(workspace.path(), &directory).inspect(|_| assert_eq!(fs::read(&path).unwrap(), b"patched")));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        fs::write(&path, "changed").unwrap();
        drop(Lock::hold(workspace.path(), &directory).inspect(|_| assert_eq!(fs::read(&path).unwrap(), b"changed")));
    }

    #[test]
    fn a_run_that_was_killed_is_made_good_by_the_next() {
        let workspace = tempfile::tempdir().unwrap();
        let (path, directory) = (workspace.path().join("Cargo.lock"), workspace.path().join("mc"));
        fs::write(&path, "theirs").unwrap();
        std::mem::forget(Lock::hold(workspace.path(), &directory).unwrap());
        fs::write(&path, "patched").unwrap();
        drop(Lock::hold(workspace.path(), &directory).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn workspaces_with_one_target_directory_do_not_get_each_others_file() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let directory = one.path().join("mc");
        fs::write(one.path().join("Cargo.lock"), "one").unwrap();
        fs::write(other.path().join("Cargo.lock"), "other").unwrap();
        std::mem::forget(Lock::hold(one.path(), &directory).unwrap());
        drop(Lock::hold(other.path(), &directory).unwrap());
        assert_eq!(fs::read(other.path().join("Cargo.lock")).unwrap(), b"other");
    }

    #[test]
    fn where_there_was_no_file_there_is_none_afterwards() {
        let workspace = tempfile::tempdir().unwrap();
        let path = workspace.path().join("Cargo.lock");
        let lock = Lock::hold(workspace.path(), &workspace.path().join("mc")).unwrap();
        fs::write(&path, "patched").unwrap();
        drop(lock);
        assert!(!path.exists());
    }
}
