//! Which `rustflags` cargo's configuration files have, and which compiler they name: read, because cargo has no stable command that tells.
//!
//! Files count from the working directory upwards, then in cargo's home; nearer ones first, as for cargo. `include` is followed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The flags of all files together. Of one key the nearest file's, which also says whether it is a text or a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfigFlags {
    pub(crate) build: Option<Value>,
    pub(crate) targets: BTreeMap<String, Value>,
    /// `build.rustc`.
    pub(crate) rustc: Option<PathBuf>,
}

/// Flags, in one of the two forms that cargo reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    List(Vec<String>),
}

impl Value {
    /// All flags in one line.
    pub(crate) fn joined(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::List(list) => list.join(" "),
        }
    }
}

/// Reads the files that cargo reads when it is started in `directory`. What cannot be read is left for cargo to complain about.
pub(crate) fn read(directory: &Path, home: Option<&Path>) -> ConfigFlags {
    let mut flags = ConfigFlags::default();
    let mut seen = BTreeSet::new();
    let folders = directory.ancestors().map(|directory| directory.join(".cargo"));
    for folder in folders.chain(home.map(Path::to_owned)) {
        // With both, cargo reads the one without an extension.
        let files = [folder.join("config"), folder.join("config.toml")];
        if let Some(file) = files.into_iter().find(|file| file.is_file()) {
            add(&mut flags, file, &mut seen);
        }
    }
    flags
}

fn add(flags: &mut ConfigFlags, file: PathBuf, seen: &mut BTreeSet<PathBuf>) {
    if !seen.insert(file.clone()) {
        return;
    }
    let Some(table) = std::fs::read_to_string(&file).ok().and_then(|text| text.parse::<toml::Table>().ok()) else {
        return;
    };
    let value = |table: &toml::Value| table.get("rustflags").and_then(flags_of);
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    if let Some(build) = table.get("build").and_then(value) {
        flags.build.get_or_insert(build);
    }
    if let Some(rustc) = table.get("build").and_then(|build| build.get("rustc")).and_then(toml::Value::as_str) {
        // A name is looked for in `PATH`; a path counts from beside the folder of the file.
        let base = folder.parent().filter(|_| rustc.contains('/')).unwrap_or(Path::new(""));
        flags.rustc.get_or_insert(base.join(rustc));
    }
    for (key, target) in table.get("target").and_then(toml::Value::as_table).into_iter().flatten() {
        if let Some(target) = value(target) {
            flags.targets.entry(key.clone()).or_insert(target);
        }
    }
    for included in table.get("include").map(includes).unwrap_or_default() {
        add(flags, folder.join(included), seen);
    }
}

fn flags_of(value: &toml::Value) -> Option<Value> {
    match value {
        toml::Value::String(text) => Some(Value::Text(text.clone())),
        toml::Value::Array(list) => {
            Some(Value::List(list.iter().filter_map(|flag| flag.as_str().map(str::to_owned)).collect()))
        }
        _ => None,
    }
}

/// A path, a table with a `path`, or a list of either.
fn includes(value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::String(path) => vec![path.clone()],
        toml::Value::Array(list) => list.iter().flat_map(includes).collect(),
        toml::Value::Table(table) => table.get("path").map(includes).unwrap_or_default(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearer_files_come_first_and_keys_of_all_files_count() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/b/.cargo/config.toml", "build.rustflags = \"-Cnear\"\ninclude = [{ path = \"more.toml\" }]");
        write("a/b/.cargo/more.toml", "[target.'cfg(unix)']\nrustflags = [\"-Cunix\"]");
        write(
            "a/.cargo/config.toml",
            "build.rustflags = [\"-Cfar\"]\nbuild.rustc = \"tools/rustc\"\n[target.x86_64-unknown-none]\nrustflags = [\"-Cnone\"]",
        );
        write("home/config.toml", "this is not TOML");
        let flags = read(&root.path().join("a/b"), Some(&root.path().join("home")));
        assert_eq!(flags.build, Some(Value::Text("-Cnear".to_owned())));
        assert_eq!(flags.rustc, Some(root.path().join("a/tools/rustc")));
        assert_eq!(flags.targets.keys().collect::<Vec<_>>(), ["cfg(unix)", "x86_64-unknown-none"]);
    }
}
