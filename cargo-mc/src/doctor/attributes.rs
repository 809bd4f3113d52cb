//! Attributes as they count: what `cfg_attr` adds is taken out of it, and `cfg` is evaluated.

use std::collections::BTreeSet;

use cargo_platform::CfgExpr;
use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ForeignItem, ImplItem, Item, Meta, Stmt, Token, TraitItem};

use super::cfg::{self, Built, Cfgs, Truth};

/// An attribute, and whether it is there.
pub(super) struct Effective {
    pub(super) meta: Meta,
    pub(super) gate: Gate,
}

/// Whether something is compiled, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gate {
    /// With the types of `mc`.
    pub(super) shims: Truth,
    /// With `--std`.
    pub(super) std: Truth,
    /// In builds of tests only.
    pub(super) only_tests: bool,
}

impl Gate {
    /// Nothing decides.
    pub(super) const OPEN: Self = Self { shims: Truth::Yes, std: Truth::Yes, only_tests: false };
    /// Nobody knows.
    pub(super) const UNKNOWN: Self = Self { shims: Truth::Maybe, std: Truth::Maybe, only_tests: false };

    /// In either way.
    pub(super) fn there(self) -> Truth {
        self.shims.max(self.std)
    }

    /// One inside of the other.
    fn and(self, other: Self) -> Self {
        Self {
            shims: self.shims.min(other.shims),
            std: self.std.min(other.std),
            only_tests: self.only_tests || other.only_tests,
        }
    }
}

/// How attributes are read: for a crate that is built with `cfg(test)` as well as without, or for one that others use.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) cfgs: &'a Cfgs,
    pub(super) builds_tests: bool,
    /// Conditions that turn to another checker, with their lines, since this was last emptied.
    pub(super) switches: BTreeSet<(usize, String)>,
}

impl Reader<'_> {
    /// What a condition, as it stands between the parentheses, comes to. One that is not understood may hold.
    pub(super) fn condition(&mut self, tokens: &TokenStream) -> Gate {
        let Ok(condition) = tokens.to_string().trim_end_matches([',', ' ']).parse::<CfgExpr>() else {
            return Gate::UNKNOWN;
        };
        let mut named = BTreeSet::new();
        cfg::switches(&condition, &mut named);
        let line = tokens.span().start().line;
        self.switches.extend(named.into_iter().map(|name| (line, name)));
        let plain = [true, false].map(|mc| self.cfgs.holds(&condition, Built { test: false, mc }));
        if !self.builds_tests {
            return Gate { shims: plain[0], std: plain[1], only_tests: false };
        }
        let tests = [true, false].map(|mc| self.cfgs.holds(&condition, Built { test: true, mc }));
        let only_tests = plain == [Truth::No; 2] && tests != [Truth::No; 2];
        Gate { shims: plain[0].max(tests[0]), std: plain[1].max(tests[1]), only_tests }
    }

    /// All that count.
    pub(super) fn effective(&mut self, attributes: &[Attribute]) -> Vec<Effective> {
        let mut all = Vec::new();
        attributes.iter().for_each(|attribute| self.add(attribute.meta.clone(), Gate::OPEN, &mut all));
        all
    }

    fn add(&mut self, meta: Meta, gate: Gate, all: &mut Vec<Effective>) {
        if let Meta::List(list) = &meta
            && list.path.is_ident("cfg_attr")
            && let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        {
            let mut parts = parts.into_iter();
            let Some(condition) = parts.next() else { return };
            let gate = gate.and(self.condition(&condition.to_token_stream()));
            if gate.there() != Truth::No {
                parts.for_each(|part| self.add(part, gate, all));
            }
            return;
        }
        all.push(Effective { meta, gate });
    }

    /// Whether what has these attributes is compiled.
    pub(super) fn gate(&mut self, attributes: &[Effective]) -> Gate {
        let mut gate = Gate::OPEN;
        for attribute in attributes {
            let path = attribute.meta.path();
            if let Meta::List(list) = &attribute.meta
                && path.is_ident("cfg")
            {
                gate = gate.and(self.condition(&list.tokens));
            }
            if path.segments.last().is_some_and(|segment| segment.ident == "test") {
                let there = Truth::from(self.builds_tests);
                gate = gate.and(Gate { shims: there, std: there, only_tests: true });
            }
        }
        gate
    }
}

/// Those of an item.
pub(super) fn of_item(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

pub(super) fn of_impl_item(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

pub(super) fn of_trait_item(item: &TraitItem) -> &[Attribute] {
    match item {
        TraitItem::Const(item) => &item.attrs,
        TraitItem::Fn(item) => &item.attrs,
        TraitItem::Type(item) => &item.attrs,
        TraitItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

pub(super) fn of_foreign_item(item: &ForeignItem) -> &[Attribute] {
    match item {
        ForeignItem::Fn(item) => &item.attrs,
        ForeignItem::Static(item) => &item.attrs,
        ForeignItem::Type(item) => &item.attrs,
        ForeignItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// Those of a statement that is no item.
pub(super) fn of_statement(statement: &Stmt) -> &[Attribute] {
    match statement {
        Stmt::Local(local) => &local.attrs,
        Stmt::Macro(call) => &call.attrs,
        Stmt::Expr(expression, _) => of_expression(expression),
        Stmt::Item(_) => &[],
    }
}

/// Those of the expressions that people put a `cfg` on.
pub(super) fn of_expression(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Assign(inner) => &inner.attrs,
        Expr::Block(inner) => &inner.attrs,
        Expr::Break(inner) => &inner.attrs,
        Expr::Call(inner) => &inner.attrs,
        Expr::ForLoop(inner) => &inner.attrs,
        Expr::If(inner) => &inner.attrs,
        Expr::Loop(inner) => &inner.attrs,
        Expr::Macro(inner) => &inner.attrs,
        Expr::Match(inner) => &inner.attrs,
        Expr::MethodCall(inner) => &inner.attrs,
        Expr::Path(inner) => &inner.attrs,
        Expr::Return(inner) => &inner.attrs,
        Expr::Struct(inner) => &inner.attrs,
        Expr::Tuple(inner) => &inner.attrs,
        Expr::Unsafe(inner) => &inner.attrs,
        Expr::While(inner) => &inner.attrs,
        _ => &[],
    }
}
