//! Goes through the source of a crate, from a target's first file along its modules, and notes what is found.
//!
//! Code that cannot be compiled on this host is left out, and so are the tests of crates that others use. Not here: what a path means (`paths`), and how macros are read (`macros`,
//! `expand`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprLit, ExprPath, File, ForeignItem, Item, ItemForeignMod, ItemMod, ItemStatic, Lit, Meta,
    Visibility,
};

use super::attributes::{self, Effective, Gate, Reader};
use super::cfg::{Cfgs, Truth};
use super::findings::{Findings, Kind, Place, Ways};
use super::macros::Known;
use super::modules::Position;
use super::names::{self, Names};
use super::paths;

/// What the source of a crate is read with.
pub(super) struct Walker<'a> {
    pub(super) reader: Reader<'a>,
    /// The package's directory.
    root: &'a Path,
    /// The name of our library in this crate, if it depends on it.
    mc: Option<&'a str>,
    /// The package only declares the functions of the system, for others to call.
    binding: bool,
    pub(super) found: Findings,
    pub(super) names: Names,
    pub(super) macros: BTreeMap<String, Known>,
    pub(super) position: Position,
    file: PathBuf,
    /// Inside of code that only tests have.
    test: bool,
    /// The ways of checking in which the code around is there.
    ways: Ways,
    /// Inside of a macro whose meaning is not known.
    pub(super) in_macro: bool,
    seen: BTreeSet<(PathBuf, bool, Ways)>,
}

/// The crate whose foreign functions count where they are called.
const BINDING: &str = "libc";

impl<'a> Walker<'a> {
    /// For the package `name` in `root`.
    pub(super) fn new(name: &str, root: &'a Path, cfgs: &'a Cfgs, builds_tests: bool, mc: Option<&'a str>) -> Self {
        Self {
            reader: Reader { cfgs, builds_tests, switches: BTreeSet::new() },
            root,
            mc,
            binding: name == BINDING,
            found: Findings::default(),
            names: Names::default(),
            macros: BTreeMap::new(),
            position: Position::root(root),
            file: PathBuf::new(),
            test: false,
            ways: Ways::BOTH,
            in_macro: false,
            seen: BTreeSet::new(),
        }
    }

    /// A target, from its first file on. `test`: it is nothing but tests.
    pub(super) fn target(&mut self, file: &Path, test: bool) {
        self.macros.clear();
        self.test = test;
        self.enter_file(file, Position::root(file), Span::call_site());
    }

    /// Notes something.
    pub(super) fn add(&mut self, kind: Kind, span: Span, what: impl Into<String>) {
        let file = self.file.strip_prefix(self.root).unwrap_or(&self.file).to_string_lossy().into_owned();
        let (line, what) = (span.start().line, what.into());
        self.found.add(kind, Place { file, line, what, test: self.test, ways: self.ways });
    }

    /// The switches that were met in this file.
    fn add_switches(&mut self) {
        let file = self.file.strip_prefix(self.root).unwrap_or(&self.file).to_string_lossy().into_owned();
        for (line, what) in std::mem::take(&mut self.reader.switches) {
            self.found.add(Kind::Switch, Place { file: file.clone(), line, what, test: false, ways: Ways::BOTH });
        }
    }

    /// Does something as if it stood in this file.
    pub(super) fn in_file(&mut self, file: &Path, position: Position, inside: impl FnOnce(&mut Self)) {
        self.add_switches();
        let before = (std::mem::replace(&mut self.file, file.to_owned()), self.position.clone());
        self.position = position;
        inside(self);
        self.add_switches();
        (self.file, self.position) = before;
    }

    /// A file that is part of this one, where `from` names it.
    pub(super) fn enter_file(&mut self, file: &Path, position: Position, from: Span) {
        if !self.seen.insert((file.to_owned(), self.test, self.ways)) {
            return;
        }
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                let missing = file.strip_prefix(self.root).unwrap_or(file).display();
                return self.add(Kind::Unreadable, from, format!("`{missing}`: {error}"));
            }
        };
        self.in_file(file, position, |walker| match syn::parse_file(&text) {
            Ok(file) => walker.visit_file(&file),
            Err(error) => {
                let what = format!("cannot be parsed ({error}): of this file only tokens were looked at");
                walker.add(Kind::Unreadable, error.span(), what);
                walker.scan(text.parse().unwrap_or_default());
            }
        });
    }

    /// Goes into something with attributes, if it is compiled.
    fn gated(&mut self, attributes: &[Attribute], inside: impl FnOnce(&mut Self)) {
        if attributes.is_empty() {
            return inside(self);
        }
        let effective = self.reader.effective(attributes);
        let gate = self.reader.gate(&effective);
        self.in_gate(gate, inside);
    }

    /// Goes into what a condition decides about.
    pub(super) fn in_gate(&mut self, gate: Gate, inside: impl FnOnce(&mut Self)) {
        let before = (self.test, self.ways);
        self.test |= gate.only_tests;
        self.ways.shims &= gate.shims != Truth::No;
        self.ways.std &= gate.std != Truth::No;
        if self.ways.shims || self.ways.std {
            inside(self);
        }
        (self.test, self.ways) = before;
    }

    fn is_compiled(&mut self, attributes: &[Attribute]) -> bool {
        let effective = self.reader.effective(attributes);
        self.reader.gate(&effective).there() != Truth::No
    }

    /// The items of a module.
    fn module_items(&mut self, items: &[Item]) {
        let compiled: Vec<&Item> = items.iter().filter(|item| self.is_compiled(attributes::of_item(item))).collect();
        self.names.enter(true, compiled.into_iter());
        items.iter().for_each(|item| self.visit_item(item));
        self.names.leave();
    }

    /// A path, in an expression or elsewhere.
    pub(super) fn path(&mut self, path: Vec<String>, span: Span, in_expression: bool) {
        for path in self.names.resolve(path) {
            self.found.names_mc |= self.mc.is_some_and(|mc| path.first().is_some_and(|first| first == mc));
            self.found.used.extend(paths::used(&path));
            if in_expression && let Some(kind) = paths::of_expression(&path) {
                self.add(kind, span, path.join("::"));
            }
        }
    }

    /// What is handed on under a name of the crate's own, which nobody follows, counts where it is handed on.
    fn re_export(&mut self, path: &[String], span: Span) {
        let inside: Vec<String> = path.iter().cloned().chain(["_".to_owned()]).collect();
        if let Some(kind) = paths::of_expression(path).or_else(|| paths::of_expression(&inside)) {
            self.add(kind, span, format!("use {}", path.join("::")));
        }
    }

    fn attributes_of_crate(&mut self, attributes: &[Effective]) {
        for Effective { meta, gate } in attributes {
            let certain = gate.shims == Truth::Yes || gate.std == Truth::Yes;
            self.in_gate(*gate, |walker| match meta {
                Meta::List(list) if list.path.is_ident("feature") && certain => {
                    walker.add(Kind::UnstableFeature, list.span(), format!("#![feature({})]", list.tokens));
                }
                Meta::Path(path) if path.is_ident("no_std") && !walker.test => {
                    walker.add(Kind::NoStd, path.span(), "#![no_std]");
                }
                _ => {}
            });
        }
    }

    fn attributes_of_item(&mut self, attributes: &[Effective]) {
        for Effective { meta, gate } in attributes {
            self.in_gate(*gate, |walker| match meta {
                Meta::Path(path) if path.is_ident("global_allocator") => {
                    walker.add(Kind::GlobalAllocator, path.span(), "#[global_allocator]");
                }
                Meta::Path(path) if path.is_ident("thread_local") => {
                    walker.add(Kind::ThreadLocal, path.span(), "#[thread_local]");
                }
                Meta::List(list) if list.path.is_ident("cfg") => {
                    let text = list.tokens.to_string();
                    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                    walker.found.names_mc |= walker.mc.is_some() && words.any(|word| word == "mc");
                }
                _ => {}
            });
        }
    }

    /// The file that `mod NAME;` names.
    fn module_file(&mut self, module: &ItemMod, path: Option<String>) {
        let name = module.ident.unraw().to_string();
        if let Some(path) = path {
            let file = self.position.by_path(&path);
            return self.enter_file(&file, Position::root(&file), module.span());
        }
        let files = self.position.files(&name);
        match files.iter().find(|file| file.is_file()) {
            Some(file) => self.enter_file(file, Position::of_file(file), module.span()),
            // What a macro makes of its tokens need not be a module here.
            None if self.in_macro => {}
            None => self.add(Kind::Unreadable, module.span(), format!("the file of `mod {name}` is not there")),
        }
    }
}

/// The text of `#[NAME = "TEXT"]`.
fn text(attributes: &[Effective], name: &str) -> Option<String> {
    let mut values = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident(name) => literal(&pair.value),
        _ => None,
    });
    values.next()
}

/// The text of a string.
pub(super) fn literal(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Walker<'_> {
    fn visit_file(&mut self, file: &'ast File) {
        let effective = self.reader.effective(&file.attrs);
        let gate = self.reader.gate(&effective);
        self.in_gate(gate, |walker| {
            walker.attributes_of_crate(&effective);
            walker.module_items(&file.items);
        });
    }

    fn visit_item(&mut self, item: &'ast Item) {
        let effective = self.reader.effective(attributes::of_item(item));
        let gate = self.reader.gate(&effective);
        self.in_gate(gate, |walker| {
            walker.attributes_of_item(&effective);
            match item {
                Item::Verbatim(tokens) => walker.scan(tokens.clone()),
                item => visit::visit_item(walker, item),
            }
        });
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let effective = self.reader.effective(&module.attrs);
        let path = text(&effective, "path");
        let Some((_, items)) = &module.content else { return self.module_file(module, path) };
        let name = path.unwrap_or_else(|| module.ident.unraw().to_string());
        let inside = self.position.inside(&name);
        let before = std::mem::replace(&mut self.position, inside);
        self.module_items(items);
        self.position = before;
    }

    fn visit_item_use(&mut self, declaration: &'ast syn::ItemUse) {
        for (name, mut path) in names::imports(&declaration.tree) {
            path.extend(name.is_none().then(|| "*".to_owned()));
            if !matches!(declaration.vis, Visibility::Inherited) {
                self.re_export(&path, declaration.span());
            }
            self.path(path, declaration.span(), false);
        }
    }

    fn visit_item_static(&mut self, item: &'ast ItemStatic) {
        if matches!(item.mutability, syn::StaticMutability::Mut(_)) {
            self.add(Kind::StaticMut, item.span(), item.ident.to_string());
        }
        visit::visit_item_static(self, item);
    }

    fn visit_item_foreign_mod(&mut self, block: &'ast ItemForeignMod) {
        let effective = self.reader.effective(&block.attrs);
        let libraries = effective.iter().filter(|attribute| attribute.meta.path().is_ident("link"));
        for library in libraries.filter_map(|attribute| link(&attribute.meta)) {
            self.add(Kind::NativeCode, block.span(), format!("links `{library}`"));
        }
        visit::visit_item_foreign_mod(self, block);
    }

    fn visit_foreign_item(&mut self, item: &'ast ForeignItem) {
        self.gated(attributes::of_foreign_item(item), |walker| {
            if let ForeignItem::Fn(function) = item
                && !walker.binding
            {
                let name = function.sig.ident.to_string();
                let kind = paths::of_system(&name).unwrap_or(Kind::ForeignFunction);
                walker.add(kind, function.span(), name);
            } else if let ForeignItem::Verbatim(tokens) = item
                && !walker.binding
                && tokens.clone().into_iter().any(|tree| tree.to_string() == "fn")
            {
                walker.add(Kind::ForeignFunction, tokens.span(), "of a form that is not known");
            }
        });
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        self.gated(attributes::of_impl_item(item), |walker| match item {
            syn::ImplItem::Verbatim(tokens) => walker.scan(tokens.clone()),
            item => visit::visit_impl_item(walker, item),
        });
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        self.gated(attributes::of_trait_item(item), |walker| match item {
            syn::TraitItem::Verbatim(tokens) => walker.scan(tokens.clone()),
            item => visit::visit_trait_item(walker, item),
        });
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let items: Vec<&Item> = block
            .stmts
            .iter()
            .filter_map(|statement| match statement {
                syn::Stmt::Item(item) => Some(item),
                _ => None,
            })
            .collect();
        let compiled: Vec<&Item> =
            items.into_iter().filter(|item| self.is_compiled(attributes::of_item(item))).collect();
        self.names.enter(false, compiled.into_iter());
        visit::visit_block(self, block);
        self.names.leave();
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        self.gated(attributes::of_statement(statement), |walker| visit::visit_stmt(walker, statement));
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        self.gated(attributes::of_expression(expression), |walker| match expression {
            Expr::Verbatim(tokens) => walker.scan(tokens.clone()),
            expression => visit::visit_expr(walker, expression),
        });
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.gated(&arm.attrs, |walker| visit::visit_arm(walker, arm));
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.gated(&field.attrs, |walker| visit::visit_field(walker, field));
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        self.gated(&field.attrs, |walker| visit::visit_field_value(walker, field));
    }

    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        if path.qself.is_none() {
            self.path(names::segments(&path.path), path.span(), true);
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.path(names::segments(path), path.span(), false);
        visit::visit_path(self, path);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        self.item_macro(item);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.inner_macro(call);
    }
}

/// The library of `#[link(name = "..")]`.
fn link(meta: &Meta) -> Option<String> {
    let Meta::List(list) = meta else { return None };
    let mut name = None;
    let read = list.parse_nested_meta(|part| {
        let value = part.value()?.parse::<Expr>()?;
        if part.path.is_ident("name") {
            name = literal(&value);
        }
        Ok(())
    });
    read.ok().and(name)
}
