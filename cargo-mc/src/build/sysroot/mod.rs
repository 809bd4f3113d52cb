//! `--std=real`: a copy of the toolchain's own libraries in which `core`, `alloc` and `std` are instrumented, as the crates under test are.
//!
//! The libraries that a toolchain ships hold LLVM bitcode of themselves, and the linker that it ships, `rust-lld`, runs LLVM's passes on bitcode. So nothing is compiled
//! from source, and what is known of the libraries (`lib.rmeta`) stays as it is: whatever was compiled against the shipped ones can be linked with these.
//! All other files of the copy are links to the toolchain's.
//! Not here: what the inserted calls do (`mc-runtime/src/instrumentation.rs`).

mod archive;

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::whole;
pub(crate) use archive::ArchiveError;

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SysrootError {
    #[error("`{} --print sysroot` does not say where the toolchain is", .rustc.display())]
    Unknown { rustc: PathBuf },
    #[error("cannot run `{}`: {source}", .program.display())]
    Run { program: PathBuf, source: io::Error },
    #[error("`{}`: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the toolchain has no `{}`, by which its libraries are instrumented", .path.display())]
    NoTool { path: PathBuf },
    #[error("the toolchain has {found} libraries named `lib{name}-*.rlib` in `{}`, instead of one", .folder.display())]
    Libraries { name: &'static str, found: usize, folder: PathBuf },
    #[error("`{}`: {source}", .path.display())]
    Archive { path: PathBuf, source: ArchiveError },
    #[error("`{}` does not do with {name} what it is to do, and ends with {status}\n{message}", .linker.display())]
    Passes { name: &'static str, linker: PathBuf, status: std::process::ExitStatus, message: String },
}

/// What is instrumented. What else the toolchain ships are parts of std that share nothing between threads.
const LIBRARIES: [&str; 3] = ["core", "alloc", "std"];
/// As for the crates under test, in one pipeline. The link is a relocatable one, so that it leaves every symbol as it was, but for the memory that std gets from the C
/// library past the global allocator: the checker gives it (`mc-runtime/src/exec/arena/c.rs`).
const LINKER: [&str; 11] = [
    "-flavor",
    "gnu",
    "-r",
    "--lto-newpm-passes=forceattrs,tsan-module,function(tsan)",
    "--mllvm=-force-attribute=sanitize_thread",
    "--lto-CGO2",
    "--wrap=malloc",
    "--wrap=calloc",
    "--wrap=realloc",
    "--wrap=posix_memalign",
    "--wrap=free",
];

/// A copy of a toolchain's libraries.
#[derive(Debug)]
pub(crate) struct Sysroot {
    /// For rustc's `--sysroot`.
    pub(crate) path: PathBuf,
    tools: Tools,
}

/// Programs that the toolchain ships.
#[derive(Debug)]
struct Tools {
    linker: PathBuf,
    objcopy: PathBuf,
    /// Where the libraries are that they need.
    libraries: PathBuf,
}

impl Sysroot {
    /// The one below `directory`, made if it is not there yet. `version` is what `rustc -vV` says.
    pub(crate) fn new(rustc: &Path, version: &str, host: &str, directory: &Path) -> Result<Self, SysrootError> {
        let toolchain = Toolchain::of(rustc, host)?;
        let tools = toolchain.tools()?;
        let shipped = LIBRARIES.map(|name| toolchain.library(name));
        let mut hasher = DefaultHasher::new();
        (version, LINKER, &toolchain.root).hash(&mut hasher);
        for library in &shipped {
            library.as_ref().ok().hash(&mut hasher); // their names end with their hashes
        }
        let path = directory.join(format!("sysroot-{:016x}", hasher.finish()));
        let failed = |(path, source)| SysrootError::Io { path, source };
        whole::folder(&path, failed, |copy| {
            toolchain.link(copy)?;
            let mut libraries = LIBRARIES.into_iter().zip(shipped);
            libraries.try_for_each(|(name, library)| toolchain.instrument(name, &library?, &tools.linker, copy))
        })?;
        Ok(Self { path, tools })
    }

    /// Makes one object of all that is in these libraries.
    pub(crate) fn link<'a>(
        &self,
        libraries: impl Iterator<Item = &'a PathBuf>,
        object: &Path,
    ) -> Result<(), SysrootError> {
        let Tools { linker, objcopy, libraries: needed } = &self.tools;
        let mut command = Command::new(linker);
        command.args(["-flavor", "gnu", "-r", "--whole-archive"]).args(libraries).arg("-o").arg(object);
        finish("the checker", linker, &mut command)?;
        // Its global allocator must not take the place of the program's, which comes to the same in the end: what std's `System` calls.
        let mut command = Command::new(objcopy);
        command.args(["--wildcard", "--weaken-symbol=*7___rustc*___rust_*"]).arg(object).env("LD_LIBRARY_PATH", needed);
        finish("the checker", objcopy, &mut command)
    }
}

/// Where a toolchain is, and for which machine.
struct Toolchain {
    root: PathBuf,
    host: String,
}

impl Toolchain {
    fn of(rustc: &Path, host: &str) -> Result<Self, SysrootError> {
        let output = Command::new(rustc).args(["--print", "sysroot"]).output();
        let output = output.map_err(|source| SysrootError::Run { program: rustc.to_owned(), source })?;
        let root = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        if !root.is_dir() {
            return Err(SysrootError::Unknown { rustc: rustc.to_owned() });
        }
        Ok(Self { root, host: host.to_owned() })
    }

    fn tools(&self) -> Result<Tools, SysrootError> {
        let tool = |name: &str| {
            let path = self.target(&self.root).join("bin").join(name);
            if path.is_file() { Ok(path) } else { Err(SysrootError::NoTool { path }) }
        };
        let libraries = self.root.join("lib");
        Ok(Tools { linker: tool("rust-lld")?, objcopy: tool("rust-objcopy")?, libraries })
    }

    /// In a sysroot, what is for this machine.
    fn target(&self, root: &Path) -> PathBuf {
        root.join("lib/rustlib").join(&self.host)
    }

    /// The library of a crate.
    fn library(&self, name: &'static str) -> Result<PathBuf, SysrootError> {
        let folder = self.target(&self.root).join("lib");
        let prefix = format!("lib{name}-");
        let is_it = |path: &PathBuf| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(&prefix) && file.ends_with(".rlib")
        };
        let mut found: Vec<PathBuf> = entries(&folder)?.into_iter().filter(is_it).collect();
        match (found.pop(), found.len()) {
            (Some(library), 0) => Ok(library),
            (last, others) => {
                Err(SysrootError::Libraries { name, found: others + usize::from(last.is_some()), folder })
            }
        }
    }

    /// Makes `copy` a sysroot whose files are those of the toolchain.
    fn link(&self, copy: &Path) -> Result<(), SysrootError> {
        let (from, to) = (self.target(&self.root), self.target(copy));
        let libraries = to.join("lib");
        fs::create_dir_all(&libraries).map_err(|source| SysrootError::Io { path: libraries.clone(), source })?;
        let files = entries(&from.join("lib"))?;
        let others = entries(&from)?.into_iter().filter(|path| !path.ends_with("lib"));
        let all = files.into_iter().map(|file| (file, &libraries)).chain(others.map(|file| (file, &to)));
        for (file, folder) in all {
            let link = folder.join(file.file_name().unwrap_or_default());
            symlink(&file, &link).map_err(|source| SysrootError::Io { path: link, source })?;
        }
        Ok(())
    }

    /// Puts the instrumented library in the place of the link to the shipped one.
    fn instrument(&self, name: &'static str, shipped: &Path, linker: &Path, copy: &Path) -> Result<(), SysrootError> {
        let broken = |source| SysrootError::Archive { path: shipped.to_owned(), source };
        let failed = |path: &Path, source| SysrootError::Io { path: path.to_owned(), source };
        let work = tempfile::tempdir_in(copy).map_err(|error| failed(copy, error))?;
        let mut members = archive::read(shipped).map_err(broken)?;
        for member in &mut members {
            if let Some(bitcode) = member.bitcode().map_err(broken)? {
                member.contents = run(name, linker, bitcode, work.path())?;
            }
        }
        let made = self.target(copy).join("lib").join(shipped.file_name().unwrap_or_default());
        fs::remove_file(&made).map_err(|error| failed(&made, error))?;
        archive::write(&made, members).map_err(|source| SysrootError::Archive { path: made, source })
    }
}

/// Runs the passes on bitcode; gives the object.
fn run(name: &'static str, linker: &Path, bitcode: &[u8], work: &Path) -> Result<Vec<u8>, SysrootError> {
    let (from, to) = (work.join("in.bc"), work.join("out.o"));
    fs::write(&from, bitcode).map_err(|source| SysrootError::Io { path: from.clone(), source })?;
    finish(name, linker, Command::new(linker).args(LINKER).arg(&from).arg("-o").arg(&to))?;
    fs::read(&to).map_err(|source| SysrootError::Io { path: to, source })
}

fn finish(name: &'static str, linker: &Path, command: &mut Command) -> Result<(), SysrootError> {
    let output = command.output().map_err(|source| SysrootError::Run { program: linker.to_owned(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    Err(SysrootError::Passes { name, linker: linker.to_owned(), status: output.status, message })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, SysrootError> {
    let failed = |source| SysrootError::Io { path: folder.to_owned(), source };
    let found = fs::read_dir(folder).map_err(failed)?.map(|entry| Ok(entry.map_err(failed)?.path()));
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rustc() -> PathBuf {
        std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()).into()
    }

    fn host() -> String {
        let output = Command::new(rustc()).arg("-vV").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
    }

    #[test]
    fn the_libraries_of_this_toolchain_are_instrumented_once() {
        let folder = tempfile::tempdir().unwrap();
        let made = Sysroot::new(&rustc(), "1", &host(), folder.path()).unwrap().path;
        let toolchain = Toolchain::of(&rustc(), &host()).unwrap();
        for name in LIBRARIES {
            let shipped = toolchain.library(name).unwrap();
            let library = toolchain.target(&made).join("lib").join(shipped.file_name().unwrap());
            assert!(!library.is_symlink());
            let bytes = fs::read(library).unwrap();
            let calls = |symbol: &[u8]| bytes.windows(symbol.len()).any(|bytes| bytes == symbol);
            assert!(calls(b"__tsan_read8"), "{name}");
        }
        let before = fs::metadata(&made).unwrap().modified().unwrap();
        assert_eq!(Sysroot::new(&rustc(), "1", &host(), folder.path()).unwrap().path, made);
        assert_eq!(fs::metadata(&made).unwrap().modified().unwrap(), before);
        assert_eq!(entries(folder.path()).unwrap(), [made], "nothing is left over");
    }

    #[test]
    fn a_toolchain_without_bitcode_or_linker_is_told_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let toolchain = Toolchain { root: folder.path().join("toolchain"), host: "machine".to_owned() };
        let libraries = toolchain.target(&toolchain.root).join("lib");
        fs::create_dir_all(&libraries).unwrap();
        let none = toolchain.library("std").unwrap_err().to_string();
        assert!(none.contains("0 libraries named `libstd-*.rlib`"), "{none}");
        let library = libraries.join("libstd-0.rlib");
        fs::write(&library, "!<arch>\n").unwrap();
        assert_eq!(toolchain.library("std").unwrap(), library);
        let no_linker = toolchain.tools().unwrap_err().to_string();
        assert!(no_linker.contains("rust-lld"), "{no_linker}");
        let copy = folder.path().join("copy");
        toolchain.link(&copy).unwrap();
        let broken = toolchain.instrument("std", &library, Path::new("rust-lld"), &copy).unwrap_err().to_string();
        assert!(broken.contains("there is no object in it"), "{broken}");
    }
}
