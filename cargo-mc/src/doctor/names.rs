//! What a path stands for, by the `use` declarations around it. Only those: nothing of other modules is looked up, so that a name that comes from elsewhere stays as it is written.

use std::collections::{BTreeMap, BTreeSet};

use syn::ext::IdentExt as _;
use syn::{Item, Path, UseTree};

/// The scopes around a place, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Names {
    scopes: Vec<Scope>,
}

#[derive(Debug, Default)]
struct Scope {
    /// A module: names of those around it are not seen.
    module: bool,
    imported: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    defined: BTreeSet<String>,
}

impl Names {
    /// Into a module, or into a block, with these items.
    pub(super) fn enter<'a>(&mut self, module: bool, items: impl Iterator<Item = &'a Item>) {
        let mut scope = Scope { module, ..Scope::default() };
        for item in items {
            match item {
                Item::Use(declaration) => {
                    for (name, path) in imports(&declaration.tree) {
                        match name {
                            Some(name) => drop(scope.imported.insert(name, path)),
                            None => scope.globs.push(path),
                        }
                    }
                }
                Item::ExternCrate(item) => {
                    let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name);
                    scope.imported.insert(name.to_string(), vec![item.ident.to_string()]);
                }
                other => scope.defined.extend(defined(other)),
            }
        }
        self.scopes.push(scope);
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// The scopes that can be seen from the innermost of the first `depth`, and how many are around the module that they are in.
    fn visible(&self, depth: usize) -> (&[Scope], usize) {
        let module = self.scopes[..depth].iter().rposition(|scope| scope.module).unwrap_or(0);
        (&self.scopes[module..depth], module)
    }

    /// What a path may stand for. More than one where a `*` may have brought it.
    pub(super) fn resolve(&self, path: Vec<String>) -> Vec<Vec<String>> {
        self.resolve_at(path, self.scopes.len())
    }

    fn resolve_at(&self, mut path: Vec<String>, depth: usize) -> Vec<Vec<String>> {
        /// An import that leads to another one.
        const STEPS: usize = 4;
        let (scopes, around) = self.visible(depth);
        for step in 0..STEPS {
            let Some(first) = path.first() else { break };
            let Some(full) = scopes.iter().rev().find_map(|scope| scope.imported.get(first)) else {
                let known = scopes.iter().any(|scope| scope.defined.contains(first));
                return if known || step > 0 { vec![path] } else { self.behind_globs(path, scopes, around) };
            };
            let next: Vec<String> = full.iter().chain(&path[1..]).cloned().collect();
            if next == path {
                break;
            }
            path = next;
        }
        vec![path]
    }

    /// A name that is neither imported nor defined: a `*` may have brought it, from another crate or from the module around.
    fn behind_globs(&self, path: Vec<String>, scopes: &[Scope], around: usize) -> Vec<Vec<String>> {
        let mut all = vec![path.clone()];
        for glob in scopes.iter().flat_map(|scope| &scope.globs) {
            match glob.first().map(String::as_str) {
                Some("super") if glob.len() == 1 && around > 0 => all.extend(self.resolve_at(path.clone(), around)),
                Some("super" | "self" | "crate") | None => {}
                Some(_) => all.push(glob.iter().chain(&path).cloned().collect()),
            }
        }
        all.sort();
        all.dedup();
        all
    }
}

/// The segments of a path.
pub(super) fn segments(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect()
}

/// What a `use` declaration brings: each name, none for a `*`, with its path.
pub(super) fn imports(tree: &UseTree) -> Vec<(Option<String>, Vec<String>)> {
    let mut found = Vec::new();
    flatten(tree, &[], &mut found);
    found
}

fn flatten(tree: &UseTree, before: &[String], found: &mut Vec<(Option<String>, Vec<String>)>) {
    let with = |name: &syn::Ident| before.iter().cloned().chain([name.unraw().to_string()]).collect::<Vec<_>>();
    // `use a::{self}` is `use a`.
    let named = |name: &syn::Ident| if name == "self" && !before.is_empty() { before.to_vec() } else { with(name) };
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &with(&path.ident), found),
        UseTree::Name(name) => {
            let path = named(&name.ident);
            found.push((path.last().cloned(), path));
        }
        UseTree::Rename(rename) => found.push((Some(rename.rename.unraw().to_string()), named(&rename.ident))),
        UseTree::Glob(_) => found.push((None, before.to_vec())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, found)),
    }
}

/// The name that an item defines.
fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Mod(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.unraw().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(items: &str, path: &str) -> Vec<String> {
        let file = syn::parse_file(items).unwrap();
        let mut names = Names::default();
        names.enter(true, file.items.iter());
        let path = segments(&syn::parse_str(path).unwrap());
        names.resolve(path).iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn imports_are_followed_under_their_new_names() {
        assert_eq!(resolved("use std::sync as s;", "s::Mutex"), ["std::sync::Mutex"]);
        assert_eq!(resolved("use std::{sync::{self}}; use sync::Mutex as M;", "M"), ["std::sync::Mutex"]);
        assert_eq!(resolved("extern crate libc as c;", "c::poll"), ["libc::poll"]);
        assert_eq!(resolved("use a::b; use b::a;", "a::c").len(), 1);
    }

    #[test]
    fn what_a_star_may_have_brought_is_one_of_several() {
        assert_eq!(resolved("use libc::*;", "poll"), ["libc::poll", "poll"]);
        assert_eq!(resolved("use libc::*; fn poll() {}", "poll"), ["poll"]);
    }

    #[test]
    fn tests_see_what_the_module_around_them_imports() {
        let [outer, inner] = ["use std::fs;", "use super::*;"].map(|text| syn::parse_file(text).unwrap());
        let mut names = Names::default();
        names.enter(true, outer.items.iter());
        names.enter(true, inner.items.iter());
        let path = vec!["fs".to_owned(), "read".to_owned()];
        assert!(names.resolve(path).contains(&["std", "fs", "read"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_module_does_not_see_the_imports_around_it() {
        let outer = syn::parse_file("use libc::poll;").unwrap();
        let mut names = Names::default();
        names.enter(true, outer.items.iter());
        names.enter(true, [].iter());
        assert_eq!(names.resolve(vec!["poll".to_owned()]), [["poll"]]);
        names.leave();
        names.enter(false, [].iter());
        assert_eq!(names.resolve(vec!["poll".to_owned()]), [["libc", "poll"]]);
    }
}
