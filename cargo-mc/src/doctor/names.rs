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

    /// Those that can be seen, from the innermost outwards.
    fn visible(&self) -> impl Iterator<Item = &Scope> {
        let mut outside = false;
        self.scopes.iter().rev().take_while(move |scope| {
            let seen = !outside;
            outside |= scope.module;
            seen
        })
    }

    /// What a path may stand for. More than one where a `*` may have brought it.
    pub(super) fn resolve(&self, path: Vec<String>) -> Vec<Vec<String>> {
        /// An import that leads to another one.
        const STEPS: usize = 4;
        let mut path = path;
        for step in 0..STEPS {
            let Some(first) = path.first() else { break };
            let Some(full) = self.visible().find_map(|scope| scope.imported.get(first)) else {
                if step == 0 && !self.visible().any(|scope| scope.defined.contains(first)) {
                    let globs = self.visible().flat_map(|scope| &scope.globs);
                    let behind = globs.map(|glob| glob.iter().chain(&path).cloned().collect());
                    return behind.chain([path.clone()]).collect();
                }
                break;
            };
            let next: Vec<String> = full.iter().chain(&path[1..]).cloned().collect();
            if next == path {
                break;
            }
            path = next;
        }
        vec![path]
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
