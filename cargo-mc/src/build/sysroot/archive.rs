//! Libraries of Rust as archives of objects that hold bitcode.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use ar_archive_writer::{ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream};
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSection as _};

/// Why a library has no instrumented copy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it cannot be read: {0}")]
    Format(#[from] object::Error),
    #[error("its object `{0}` holds no LLVM bitcode (no section `.llvmbc`)")]
    NoBitcode(String),
    #[error("there is no object in it")]
    Empty,
}

/// The section in which rustc keeps it.
const BITCODE: &str = ".llvmbc";

/// A file of an archive.
pub(super) struct Member {
    name: String,
    pub(super) contents: Vec<u8>,
}

impl Member {
    /// The bitcode that it holds, if it is an object; other members are such as `lib.rmeta`.
    pub(super) fn bitcode(&self) -> Result<Option<&[u8]>, ArchiveError> {
        if !self.name.ends_with(".o") {
            return Ok(None);
        }
        let object = object::File::parse(&*self.contents)?;
        let section = object.section_by_name(BITCODE).map(|section| section.data()).transpose()?;
        let none = || ArchiveError::NoBitcode(self.name.clone());
        Ok(Some(section.filter(|bitcode| !bitcode.is_empty()).ok_or_else(none)?))
    }
}

/// What is in the archive, one object at least.
pub(super) fn read(path: &Path) -> Result<Vec<Member>, ArchiveError> {
    let data = fs::read(path)?;
    let archive = ArchiveFile::parse(&*data)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        members.push(Member { name, contents: member.data(&*data)?.to_owned() });
    }
    if !members.iter().any(|member| member.name.ends_with(".o")) {
        return Err(ArchiveError::Empty);
    }
    Ok(members)
}

/// Makes an archive of them.
pub(super) fn write(path: &Path, members: Vec<Member>) -> Result<(), ArchiveError> {
    let mut file = BufWriter::new(File::create(path)?);
    let new = |member: Member| NewArchiveMember::new(member.contents, &DEFAULT_OBJECT_READER, member.name);
    let members: Vec<_> = members.into_iter().map(new).collect();
    write_archive_to_stream(&mut file, &members, ArchiveKind::Gnu, false, None)?;
    Ok(file.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_of_rust_is_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rlib");
        let refused = |contents: &[u8]| {
            fs::write(&path, contents).unwrap();
            read(&path).err().unwrap().to_string()
        };
        assert!(refused(b"text").contains("it cannot be read"));
        assert_eq!(refused(b"!<arch>\n"), "there is no object in it");
    }

    #[test]
    fn members_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rlib");
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        let member = |name: &str, contents: &[u8]| Member { name: name.to_owned(), contents: contents.to_owned() };
        write(&path, vec![member("lib.rmeta", b"meta"), member("own.with.a.name.that.is.long.o", &own)]).unwrap();
        let members = read(&path).unwrap();
        assert_eq!((members[0].name.as_str(), members[0].contents.as_slice()), ("lib.rmeta", &b"meta"[..]));
        assert_eq!(members[0].bitcode().unwrap(), None);
        assert_eq!(members[1].contents, own);
        let none = members[1].bitcode().unwrap_err().to_string();
        assert!(none.contains("`own.with.a.name.that.is.long.o` holds no LLVM bitcode"), "{none}");
    }
}
