//! Which paths mean `mc` instead of std, and their replacement, token by token.
//!
//! Tokens rather than a syntax tree: the arguments of macros (`assert!`, `vec!`, `macro_rules!` too) are then no special case,
//! and spans stay the user's. A path starts where no `::` stands before it, or a `::` that itself starts a path.
//! Not followed: other names for std (`use std as s`), imports outside of the rewritten item, and attributes.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote_spanned;

/// What is replaced under each root.
const CONTROLLED: [(&str, &[&str]); 3] = [
    ("std", &["sync", "thread", "cell", "hint", "time", "thread_local"]),
    ("core", &["sync", "cell", "hint"]),
    ("alloc", &["sync"]),
];

/// Macros whose tokens are text or other programs.
const QUOTING: [&str; 10] = [
    "stringify",
    "concat",
    "include",
    "include_str",
    "include_bytes",
    "env",
    "option_env",
    "quote",
    "quote_spanned",
    "parse_quote",
];

/// Identifiers after which a path may start with `::`. After any other, the `::` goes on with what stands before.
const KEYWORDS: [&str; 23] = [
    "as", "box", "break", "const", "dyn", "else", "for", "if", "impl", "in", "let", "loop", "match", "move", "mut",
    "pub", "ref", "return", "static", "unsafe", "use", "where", "while",
];

/// `tokens` with every controlled path replaced.
pub(crate) fn rewrite(tokens: TokenStream) -> TokenStream {
    Rewriter::new(tokens, Place::Start).run()
}

/// Whether a group of tokens follows `path::`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    AfterPath,
}

struct Rewriter {
    input: Vec<TokenTree>,
    at: usize,
    output: Vec<TokenTree>,
    place: Place,
}

impl Rewriter {
    fn new(tokens: TokenStream, place: Place) -> Self {
        let input: Vec<_> = tokens.into_iter().collect();
        Self { output: Vec::with_capacity(input.len()), input, at: 0, place }
    }

    fn run(mut self) -> TokenStream {
        while self.at < self.input.len() {
            if self.attribute() || self.quoting() || self.thread_local() || self.path() {
                continue;
            }
            let tree = self.input[self.at].clone();
            self.at += 1;
            let tree = match tree {
                TokenTree::Group(group) => TokenTree::Group(self.inside(group)),
                other => other,
            };
            self.output.push(tree);
        }
        self.output.into_iter().collect()
    }

    /// The group with its own tokens rewritten.
    fn inside(&self, group: Group) -> Group {
        let place = if ends_with_colons(&self.output) { Place::AfterPath } else { Place::Start };
        let rewritten = Rewriter::new(group.stream(), place).run();
        let mut replaced = Group::new(group.delimiter(), rewritten);
        replaced.set_span(group.span());
        replaced
    }

    /// Copies `#[...]` and `#![...]`.
    fn attribute(&mut self) -> bool {
        let bang = usize::from(punct(self.input.get(self.at + 1), '!'));
        let bracket = matches!(self.input.get(self.at + 1 + bang),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
        if !punct(self.input.get(self.at), '#') || !bracket {
            return false;
        }
        self.copy(2 + bang);
        true
    }

    /// Copies `stringify!(...)` and the like.
    fn quoting(&mut self) -> bool {
        let [Some(TokenTree::Ident(name)), bang, Some(TokenTree::Group(_))] =
            [0, 1, 2].map(|n| self.input.get(self.at + n))
        else {
            return false;
        };
        if !punct(bang, '!') || !QUOTING.iter().any(|quoting| name == quoting) {
            return false;
        }
        self.copy(3);
        true
    }

    /// `thread_local!` without a path: the prelude's.
    fn thread_local(&mut self) -> bool {
        let Some(TokenTree::Ident(name)) = self.input.get(self.at) else { return false };
        if name != "thread_local" || !punct(self.input.get(self.at + 1), '!') || ends_with_colons(&self.output) {
            return false;
        }
        let name = name.clone();
        self.emit_mc(name.span());
        self.output.push(TokenTree::Ident(name));
        self.at += 1;
        true
    }

    /// `std::sync`, or `std::{...}` in an import.
    fn path(&mut self) -> bool {
        let Some(TokenTree::Ident(root)) = self.input.get(self.at) else { return false };
        let controlled = CONTROLLED.iter().find(|(name, _)| root == name);
        let (Some((_, modules)), true, Some(leading)) = (controlled, self.colons(self.at + 1), self.leading()) else {
            return false;
        };
        let root = root.clone();
        match self.input.get(self.at + 3) {
            Some(TokenTree::Ident(module)) if modules.iter().any(|name| module == name) => {
                self.output.truncate(self.output.len() - leading);
                self.emit_mc(root.span());
                self.at += 3;
                true
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let group = group.clone();
                self.import(&root, &group, modules, leading)
            }
            _ => false,
        }
    }

    /// `std::{sync::Arc, fmt}` becomes `{::mc::{sync::Arc}, std::{fmt}}`.
    fn import(&mut self, root: &Ident, group: &Group, modules: &[&str], leading: usize) -> bool {
        let is_controlled = |part: &TokenStream| match part.clone().into_iter().next() {
            Some(TokenTree::Ident(first)) => modules.iter().any(|name| first == name),
            _ => false,
        };
        let (ours, others): (Vec<_>, Vec<_>) = parts(group.stream()).into_iter().partition(is_controlled);
        if ours.is_empty() {
            return false;
        }
        self.output.truncate(self.output.len() - leading);
        let span = root.span();
        if others.is_empty() {
            self.output.extend(quote_spanned!(span=> ::mc::{#(#ours),*}));
        } else {
            let colons = (leading > 0).then(|| quote_spanned!(span=> ::));
            self.output.extend(quote_spanned!(span=> {::mc::{#(#ours),*}, #colons #root::{#(#others),*}}));
        }
        self.at += 4;
        true
    }

    /// How many tokens of `::` stand at the end of the output before a path that starts here; `None` if none starts here.
    fn leading(&self) -> Option<usize> {
        if self.place == Place::AfterPath {
            return None;
        }
        if !ends_with_colons(&self.output) {
            let meta = punct(self.output.last(), '$') || punct(self.output.last(), '\'');
            return (!meta).then_some(0);
        }
        match self.output.len().checked_sub(3).map(|before| &self.output[before]) {
            Some(TokenTree::Ident(before)) if !KEYWORDS.iter().any(|keyword| before == keyword) => None,
            _ => Some(2),
        }
    }

    fn colons(&self, at: usize) -> bool {
        matches!(self.input.get(at), Some(TokenTree::Punct(first)) if first.as_char() == ':' && first.spacing() == Spacing::Joint)
            && punct(self.input.get(at + 1), ':')
    }

    /// Puts `::mc::` out.
    fn emit_mc(&mut self, span: Span) {
        self.output.extend(quote_spanned!(span=> ::mc::));
    }

    fn copy(&mut self, count: usize) {
        self.output.extend_from_slice(&self.input[self.at..self.at + count]);
        self.at += count;
    }
}

fn punct(tree: Option<&TokenTree>, wanted: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn ends_with_colons(trees: &[TokenTree]) -> bool {
    let colon =
        |punct: &Punct, spacing| punct.as_char() == ':' && (punct.spacing() == spacing || spacing == Spacing::Alone);
    matches!(trees, [.., TokenTree::Punct(first), TokenTree::Punct(second)]
        if colon(first, Spacing::Joint) && colon(second, Spacing::Alone))
}

/// The parts of a list between its commas.
fn parts(list: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![Vec::new()];
    for tree in list {
        if punct(Some(&tree), ',') {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(tree);
        }
    }
    parts.into_iter().filter(|part| !part.is_empty()).map(TokenStream::from_iter).collect()
}

#[cfg(test)]
#[path = "rewrite/tests.rs"]
mod tests;
