//! The written style of this repository, where a test can tell. Each rule is one test, and names every place that breaks it.
//!
//! Source: the style page of the design. Looked at: the Rust files of the packages, but not `fixtures` (packages that tests
//! compile, with mistakes on purpose), `ui` (code that must not compile) and `workloads.rs` (the same text for every tool that is measured).
//! Not here: what rustfmt and the lints of the workspace find.
#![cfg(not(mc))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

const PACKAGES: [&str; 5] = ["cargo-mc", "mc-runtime", "mc-macros", "shims", "tests"];
const LINES_OF_A_FILE: usize = 500;
const LINES_OF_A_FUNCTION: usize = 70;
const BANNED_MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];
/// Where the field has a better word: execution.
const BANNED_WORDS: [&str; 4] = ["iteration", "iterations", "permutation", "permutations"];
/// Names with such a word that others have given, and that we have to use.
const NAMES_OF_OTHERS: [&str; 1] = ["max_permutations"]; // loom's

/// The other packages of ours that each package may use, except in its own tests.
const MAY_USE: [(&str, &[&str]); 7] = [
    ("mc-protocol", &[]),
    ("mc-runtime", &["mc-protocol"]),
    ("mc-macros", &[]),
    ("mc-shims", &["mc-runtime", "mc-macros"]),
    ("cargo-mc", &["mc-protocol"]),
    ("mc-tests", &["mc-runtime", "mc-macros", "mc-shims", "cargo-mc"]),
    ("mc-examples", &["mc-shims"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace").to_owned()
}

/// One source file.
struct Source {
    /// From the root of the repository.
    name: String,
    text: String,
}

impl Source {
    fn place(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.name)
    }

    fn tokens(&self) -> TokenStream {
        self.text.parse().unwrap_or_else(|e| panic!("{} is not Rust: {e}", self.name))
    }
}

fn sources() -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    for package in PACKAGES {
        collect(&root, &root.join(package), &mut found);
    }
    assert!(found.len() >= PACKAGES.len(), "every package has a file");
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let file = path.file_name().and_then(|name| name.to_str()).expect("a name in UTF-8");
        if ["target", "fixtures", "ui", "workloads.rs"].contains(&file) {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            found.push(Source { name, text: fs::read_to_string(&path).expect("text") });
        }
    }
}

/// Runs a rule over all files and fails with all that it says.
fn enforce(rule: impl Fn(&Source) -> Vec<String>) {
    let broken: Vec<String> = sources().iter().flat_map(rule).collect();
    assert!(broken.is_empty(), "{} places\n{}", broken.len(), broken.join("\n"));
}

/// Calls `visit` with every run of neighbouring tokens, from the outermost group inwards. Those of macros are seen too.
fn each_group(tokens: TokenStream, visit: &mut impl FnMut(&[TokenTree])) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    visit(&trees);
    for tree in trees {
        if let TokenTree::Group(group) = tree {
            each_group(group.stream(), visit);
        }
    }
}

fn is_punct(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn is_ident(tree: &TokenTree, wanted: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == wanted)
}

#[test]
fn no_file_is_longer_than_500_lines() {
    enforce(|source| {
        let lines = source.text.lines().count();
        let long = (lines > LINES_OF_A_FILE).then(|| source.place(1, &format!("{lines} lines")));
        long.into_iter().collect()
    });
}

struct Lengths<'a> {
    source: &'a Source,
    found: Vec<String>,
}

impl Lengths<'_> {
    fn measure(&mut self, name: &Ident, first: Span, last: Span) {
        let (first, last) = (first.start().line, last.end().line);
        let lines = last + 1 - first;
        if lines > LINES_OF_A_FUNCTION {
            self.found.push(self.source.place(first, &format!("`{name}` has {lines} lines")));
        }
    }
}

impl<'ast> Visit<'ast> for Lengths<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig.ident, item.sig.fn_token.span, item.block.brace_token.span.close());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig.ident, item.sig.fn_token.span, item.block.brace_token.span.close());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.measure(&item.sig.ident, item.sig.fn_token.span, block.brace_token.span.close());
        }
        visit::visit_trait_item_fn(self, item);
    }
}

fn long_functions(source: &Source) -> Vec<String> {
    let file = syn::parse_file(&source.text).unwrap_or_else(|e| panic!("{} is not Rust: {e}", source.name));
    let mut lengths = Lengths { source, found: Vec::new() };
    lengths.visit_file(&file);
    lengths.found
}

#[test]
fn no_function_is_longer_than_70_lines() {
    enforce(long_functions);
}

/// The lines (from 1) of `unsafe` blocks and `unsafe impl`s.
fn unsafe_lines(source: &Source) -> Vec<usize> {
    let mut lines = Vec::new();
    each_group(source.tokens(), &mut |trees| {
        for pair in trees.windows(2) {
            let block = matches!(&pair[1], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            if is_ident(&pair[0], "unsafe") && (block || is_ident(&pair[1], "impl")) {
                lines.push(pair[0].span().start().line);
            }
        }
    });
    lines.sort_unstable();
    lines
}

/// Does a comment with `SAFETY:` stand before the statement that has `unsafe` in this line?
fn is_justified(lines: &[&str], unsafe_line: usize) -> bool {
    let mut above = lines[..unsafe_line - 1].iter().rev().map(|line| line.trim()).peekable();
    // The statement may have begun in an earlier line: go up to what ends another one.
    let ends = |line: &str| line.is_empty() || line.ends_with([';', '{', '}', ',']);
    let comment = |line: &&str| line.starts_with("//");
    while above.next_if(|line| !comment(line) && (!ends(line) || line.starts_with("#["))).is_some() {}
    above.take_while(comment).any(|line| line.contains("SAFETY:"))
}

fn unjustified(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let places = unsafe_lines(source).into_iter().filter(|line| !is_justified(&lines, *line));
    places.map(|line| source.place(line, "`unsafe` without `// SAFETY:` before it")).collect()
}

#[test]
fn every_unsafe_block_and_impl_says_why_it_is_sound() {
    enforce(unjustified);
}

fn banned_macros(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    each_group(source.tokens(), &mut |trees| {
        for pair in trees.windows(2) {
            if let TokenTree::Ident(name) = &pair[0]
                && is_punct(&pair[1], '!')
                && BANNED_MACROS.iter().any(|banned| name == banned)
            {
                found.push(source.place(name.span().start().line, &format!("`{name}!`")));
            }
        }
    });
    found
}

#[test]
fn no_macro_stands_for_code_that_is_missing_or_only_for_debugging() {
    enforce(banned_macros);
}

/// The words of an identifier, in lower case: `nextHTTPItem_2` is `next`, `httpitem`, `2`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower_before = false;
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && lower_before) {
            words.push(String::new());
        }
        lower_before = letter.is_lowercase();
        if letter != '_' {
            words.last_mut().expect("there is one").extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn banned_words(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    each_group(source.tokens(), &mut |trees| {
        for tree in trees {
            if let TokenTree::Ident(name) = tree
                && !NAMES_OF_OTHERS.iter().any(|others| name == others)
                && words(&name.to_string()).iter().any(|word| BANNED_WORDS.contains(&word.as_str()))
            {
                found.push(source.place(name.span().start().line, &format!("`{name}`")));
            }
        }
    });
    found
}

#[test]
fn no_identifier_has_a_word_that_the_field_does_not_use() {
    enforce(banned_words);
}

fn crate_globs(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    each_group(source.tokens(), &mut |trees| {
        for window in trees.windows(5) {
            let [use_token, krate, colon, _, star] = window else { unreachable!("windows of five") };
            if is_ident(use_token, "use") && is_ident(krate, "crate") && is_punct(colon, ':') && is_punct(star, '*') {
                found.push(source.place(use_token.span().start().line, "`use crate::*` hides what a module needs"));
            }
        }
    });
    found
}

#[test]
fn no_module_imports_its_whole_crate() {
    enforce(crate_globs);
}

#[test]
fn packages_depend_on_each_other_in_one_direction_only() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root());
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let is_ours = |name: &str| packages.iter().any(|package| package["name"] == name);
    let mut broken = Vec::new();
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let allowed = MAY_USE.iter().find(|(user, _)| *user == name).map(|(_, used)| *used);
        let Some(allowed) = allowed else {
            broken.push(format!("`{name}` is not in the table of who may use whom"));
            continue;
        };
        let used = package["dependencies"].as_array().expect("dependencies");
        for used in used.iter().filter(|dependency| dependency["kind"] != "dev") {
            let used = used["name"].as_str().expect("a name");
            if is_ours(used) && !allowed.contains(&used) {
                broken.push(format!("`{name}` may not use `{used}`"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The rules themselves, on text that breaks them.
mod rules {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "a.rs".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_comment_counts_only_right_before_the_statement_of_its_unsafe() {
        let good = source(
            "fn f() {\n    // SAFETY: it is\n    // so.\n    #[cold]\n    let a =\n        unsafe { g() };\n}\n\
             // SAFETY: yes.\nunsafe impl Send for A {}",
        );
        assert_eq!(unjustified(&good), [""; 0]);
        let bad = source(
            "fn f() {\n    // SAFETY: of the first.\n    unsafe { g() };\n    unsafe { g() };\n}\nmacro_rules! m { () => { unsafe { g() } } }\n\
             unsafe impl Send for A {}",
        );
        let expected = [4, 6, 7].map(|line| bad.place(line, "`unsafe` without `// SAFETY:` before it"));
        assert_eq!(unjustified(&bad), expected);
    }

    #[test]
    fn a_function_is_measured_from_its_name_to_its_brace() {
        let body = "    g();\n".repeat(68);
        assert_eq!(long_functions(&source(&format!("/// Docs.\nfn f() {{\n{body}}}"))), [""; 0]);
        let long = source(&format!("impl A {{ fn f() {{\n{body}    g();\n}} }}"));
        assert_eq!(long_functions(&long), ["a.rs:1: `f` has 71 lines"]);
    }

    #[test]
    fn words_macros_and_globs_are_found_inside_of_macros_but_not_in_text() {
        let bad =
            source("macro_rules! m { () => { use crate::*; todo!(\"\"); let next_iteration = maxPermutations; } }");
        assert_eq!(banned_words(&bad), ["a.rs:1: `next_iteration`", "a.rs:1: `maxPermutations`"]);
        assert_eq!(banned_macros(&bad), ["a.rs:1: `todo!`"]);
        assert_eq!(crate_globs(&bad).len(), 1);
        let good = source("// todo!() iteration\nfn f() { g(\"use crate::*; dbg!(permutation)\"); use crate::a::*; }");
        assert_eq!([banned_words(&good), banned_macros(&good), crate_globs(&good)].concat(), [""; 0]);
    }
}
