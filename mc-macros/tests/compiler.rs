//! `#[mc::test]` and `#[mc::shim]` as people meet them: with the compiler, in crates of their own.
//!
//! Not here: what they expand to (unit tests).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A package of `fixtures`, copied to where its lock file and its build disturb nobody.
struct Fixture {
    folder: PathBuf,
}

impl Fixture {
    fn new(name: &str, copy: &str) -> Self {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = package.parent().expect("the package lies in the workspace");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(copy);
        let from = package.join("tests/fixtures").join(name);
        fs::create_dir_all(folder.join("src")).expect("a folder");
        fs::copy(from.join("src/lib.rs"), folder.join("src/lib.rs")).expect("a source");
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
        let manifest = fs::read_to_string(from.join("Cargo.toml")).expect("a manifest");
        let root = root.to_str().expect("a path in UTF-8");
        fs::write(folder.join("Cargo.toml"), manifest.replace("../../../..", root)).expect("a manifest");
        Self { folder }
    }

    /// Runs cargo there with these flags for the compiler.
    fn cargo(&self, arguments: &[&str], rustflags: &str) -> Output {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(arguments).current_dir(&self.folder).env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", rustflags);
        let output = command.output().expect("cargo runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// The functions of this package in assembly, without what depends on how it was compiled.
    fn assembly(&self, features: &str) -> Vec<String> {
        let file = self.folder.join("functions.s");
        let emit = format!("--emit=asm={}", file.display());
        self.cargo(
            &["rustc", "--release", "--features", features, "--", &emit, "-Ccodegen-units=1", "-Cdebuginfo=0"],
            "",
        );
        ["take_ticket", "add", "wait_for"]
            .map(|name| body(&fs::read_to_string(&file).expect("assembly"), name))
            .to_vec()
    }
}

/// The instructions from the label of a function to its end.
fn body(assembly: &str, name: &str) -> String {
    let label = format!("{name}:");
    let mut lines = assembly.lines().skip_while(|line| *line != label).skip(1);
    let instructions: Vec<String> =
        lines.by_ref().take_while(|line| !line.contains(".cfi_endproc")).map(masked).collect();
    assert!(instructions.len() > 3 && lines.next().is_some(), "`{name}` is in the assembly");
    instructions.join("\n")
}

/// The line without the hash in a mangled name.
fn masked(line: &str) -> String {
    line.split('\t').map(|word| if word.contains("_ZN") || word.contains("_R") { "symbol" } else { word }).collect()
}

#[test]
fn errors_stand_where_the_user_made_the_mistake() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

#[test]
fn a_crate_without_unsafe_code_and_with_every_warning_denied_compiles_and_passes() {
    let strict = Fixture::new("strict", "macros-strict");
    let output = strict.cargo(&["test", "--lib"], "");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("3 passed; 0 failed; 2 ignored"), "{stdout}");
    let output = strict.cargo(&["test", "--lib"], "--cfg mc");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("4 passed; 0 failed; 1 ignored"), "{stdout}");
}

#[test]
fn without_the_cfg_the_types_of_mc_compile_to_the_instructions_of_std() {
    let std = Fixture::new("plain", "macros-plain-std").assembly("");
    let mc = Fixture::new("plain", "macros-plain-mc").assembly("mc");
    assert_eq!(std, mc);
}
