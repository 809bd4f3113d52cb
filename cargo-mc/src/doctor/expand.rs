//! Goes into macros, as far as that can be done without expanding them. `macros` says what is understood.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::Visit as _;
use syn::{Block, Expr, Item, ItemMacro, Macro, Stmt, Token};

use super::attributes::Gate;
use super::cfg::Truth;
use super::findings::{Kind, Used};
use super::macros::{self, Branch, Seen};
use super::modules::Position;
use super::walk::{Walker, literal};

const ASSEMBLY: [&str; 4] = ["asm", "global_asm", "llvm_asm", "naked_asm"];
/// Of std, whose tokens are no code.
const TEXT: [&str; 7] = ["compile_error", "concat", "env", "include_bytes", "include_str", "option_env", "stringify"];

/// What stands where items can be.
struct Items(Vec<Item>);

impl Parse for Items {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut items = Vec::new();
        while !input.is_empty() {
            let item: Item = input.parse()?;
            if matches!(item, Item::Verbatim(_)) {
                return Err(input.error("an item"));
            }
            items.push(item);
        }
        Ok(Self(items))
    }
}

impl Walker<'_> {
    /// A macro in the place of an item: a definition or a call.
    pub(super) fn item_macro(&mut self, item: &ItemMacro) {
        let tokens = &item.mac.tokens;
        let name = name_of(&item.mac);
        if let Some(defined) = item.ident.as_ref().filter(|_| name == "macro_rules") {
            self.macros.insert(defined.to_string(), macros::known(tokens));
            return self.scan(tokens.clone());
        }
        if self.understood(&name, &item.mac) {
            return;
        }
        let gate = match self.macros.get(&name).and_then(|known| known.hands_on.clone()) {
            Some(conditions) => {
                let effective = self.reader.effective(&conditions);
                self.reader.gate(&effective)
            }
            None => Gate::UNKNOWN,
        };
        self.in_gate(gate, |walker| walker.inside_macro(|walker| walker.items_or_tokens(tokens.clone())));
    }

    /// A macro anywhere else.
    pub(super) fn inner_macro(&mut self, call: &Macro) {
        let name = name_of(call);
        if self.understood(&name, call) {
            return;
        }
        let calls_libc = self.macros.get(&name).is_some_and(|known| known.calls_libc);
        if calls_libc
            && let Ok(Expr::Call(inner)) = call.parse_body::<Expr>()
            && let Expr::Path(function) = &*inner.func
            && let Some(function) = function.path.get_ident()
        {
            self.path(vec!["libc".to_owned(), function.to_string()], function.span(), true);
        }
        self.inside_macro(|walker| {
            let tokens = || call.tokens.clone();
            if let Ok(list) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens()) {
                list.iter().for_each(|expression| walker.visit_expr(expression));
            } else if let Ok(statements) = Block::parse_within.parse2(tokens()) {
                walker.statements(statements);
            } else {
                walker.scan(tokens());
            }
        });
    }

    /// Macros that are known by their name. A crate that has one of its own by this name does as it likes.
    fn understood(&mut self, name: &str, call: &Macro) -> bool {
        if self.macros.contains_key(name) {
            return false;
        }
        match name {
            name if ASSEMBLY.contains(&name) => self.add(Kind::Assembly, call.span(), format!("{name}!")),
            name if TEXT.contains(&name) => {}
            "thread_local" => {
                self.found.used.insert(Used::ThreadLocals);
                self.scan(call.tokens.clone());
            }
            "include" => self.include(call),
            "cfg" => drop(self.reader.condition(&call.tokens)),
            "cfg_if" | "cfg_select" => {
                let read = if name == "cfg_if" { macros::of_cfg_if } else { macros::of_cfg_select };
                match read(call.tokens.clone()) {
                    Some(branches) => self.branches(branches),
                    None => self.scan(call.tokens.clone()),
                }
            }
            _ => return false,
        }
        true
    }

    /// The branches that may be the one that is taken.
    fn branches(&mut self, branches: Vec<Branch>) {
        for (condition, body) in branches {
            let gate = match &condition {
                Some(condition) => self.reader.condition(condition),
                None => Gate::OPEN,
            };
            self.in_gate(gate, |walker| walker.items_or_tokens(body));
            // In a build for tests one goes on: the same code may be built without.
            if [gate.shims, gate.std] == [Truth::Yes; 2] && !gate.only_tests {
                return;
            }
        }
    }

    fn items_or_tokens(&mut self, tokens: TokenStream) {
        if let Ok(Items(items)) = syn::parse2(tokens.clone()) {
            // They are beside what is around them, whose imports they see.
            let compiled: Vec<&Item> = items.iter().collect();
            self.names.enter(false, compiled.into_iter());
            items.iter().for_each(|item| self.visit_item(item));
            self.names.leave();
        } else if let Ok(statements) = Block::parse_within.parse2(tokens.clone()) {
            self.statements(statements);
        } else {
            self.scan(tokens);
        }
    }

    fn statements(&mut self, statements: Vec<Stmt>) {
        self.visit_block(&Block { brace_token: syn::token::Brace::default(), stmts: statements });
    }

    fn inside_macro(&mut self, inside: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.in_macro, true);
        inside(self);
        self.in_macro = before;
    }

    fn include(&mut self, call: &Macro) {
        match call.parse_body::<Expr>().ok().as_ref().and_then(literal) {
            Some(path) => {
                let file = self.position.included(&path);
                self.enter_included(&file, call);
            }
            None => self.add(Kind::Generated, call.span(), format!("include!({})", call.tokens)),
        }
    }

    /// What is included need not be items: an expression is no less.
    fn enter_included(&mut self, file: &Path, call: &Macro) {
        let text = fs::read_to_string(file).unwrap_or_default();
        match text.parse() {
            Ok(tokens) if syn::parse_file(&text).is_err() && syn::parse_str::<Expr>(&text).is_ok() => {
                self.in_file(file, Position::root(file), |walker| walker.scan(tokens));
            }
            _ => self.enter_file(file, Position::root(file), call.span()),
        }
    }

    /// Tokens that nobody parses.
    pub(super) fn scan(&mut self, tokens: TokenStream) {
        for seen in macros::scan(tokens) {
            match seen {
                Seen::Path(path, span) => self.path(path, span, true),
                Seen::Macro(name, span) if ASSEMBLY.contains(&name.as_str()) && !self.macros.contains_key(&name) => {
                    self.add(Kind::Assembly, span, format!("{name}!"));
                }
                Seen::Macro(name, _) if name == "thread_local" => {
                    self.found.used.insert(Used::ThreadLocals);
                }
                Seen::Macro(..) => {}
                Seen::StaticMut(span) => self.add(Kind::StaticMut, span, "in a macro"),
                Seen::Extern(span) => self.add(Kind::ForeignFunction, span, "in a macro"),
            }
        }
    }
}

fn name_of(call: &Macro) -> String {
    call.path.segments.last().map_or(String::new(), |segment| segment.ident.to_string())
}
