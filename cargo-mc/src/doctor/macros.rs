//! What can be said of macros without expanding them.
//!
//! - `cfg_if!` and `cfg_select!`: the branches that may count.
//! - A macro of the crate that hands on its items with a `#[cfg(..)]` before each, as tokio's `cfg_rt!`: that condition.
//! - One that puts `libc::` before the name that it is called with, as mio's `syscall!`.
//! - Others: their tokens as items, expressions or statements if they are any; otherwise, and in the bodies of `macro_rules!`, what stands in the tokens: paths, calls of macros, `static mut`, `extern`.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::Attribute;
use syn::parse::Parser as _;

/// What is known of a macro of the crate.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// Its items are handed on with these attributes.
    pub(super) hands_on: Option<Vec<Attribute>>,
    /// `libc::` stands before what it is given.
    pub(super) calls_libc: bool,
}

/// Reads `macro_rules! .. { BODY }`.
pub(super) fn known(body: &TokenStream) -> Known {
    Known { hands_on: hands_on(body), calls_libc: calls_libc(body.clone()) }
}

/// `($($item:item)*) => { $( #[..] $item )* }` and nothing else.
fn hands_on(body: &TokenStream) -> Option<Vec<Attribute>> {
    let mut trees = body.clone().into_iter();
    let (_pattern, _arrow, _head) = (group(trees.next())?, trees.next(), trees.next());
    let made = group(trees.next())?;
    if trees.any(|tree| !is(&tree, ';')) {
        return None;
    }
    let mut made = made.stream().into_iter();
    let repeated = made.next().filter(|tree| is(tree, '$')).and_then(|_| group(made.next()))?;
    if made.next().is_none_or(|tree| !is(&tree, '*') && !is(&tree, '+')) || made.next().is_some() {
        return None;
    }
    let mut attributes: Vec<TokenTree> = repeated.stream().into_iter().collect();
    let (name, dollar) = (attributes.pop()?, attributes.pop()?);
    if !matches!(name, TokenTree::Ident(_)) || !is(&dollar, '$') {
        return None;
    }
    Attribute::parse_outer.parse2(attributes.into_iter().collect()).ok()
}

fn calls_libc(body: TokenStream) -> bool {
    let trees: Vec<TokenTree> = body.into_iter().collect();
    let here = trees.windows(4).any(|four| {
        matches!(&four[0], TokenTree::Ident(name) if name == "libc")
            && is(&four[1], ':')
            && is(&four[2], ':')
            && is(&four[3], '$')
    });
    here || trees.into_iter().any(|tree| matches!(tree, TokenTree::Group(group) if calls_libc(group.stream())))
}

/// A branch: the condition of `#[cfg(..)]`, none where all others fail, and what it has.
pub(super) type Branch = (Option<TokenStream>, TokenStream);

/// `if #[cfg(a)] { .. } else if #[cfg(b)] { .. } else { .. }`
pub(super) fn of_cfg_if(tokens: TokenStream) -> Option<Vec<Branch>> {
    let mut branches = Vec::new();
    let mut condition = None;
    for tree in tokens {
        match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                let mut inner = group.stream().into_iter();
                inner.next().filter(|tree| matches!(tree, TokenTree::Ident(name) if name == "cfg"))?;
                condition = Some(inner.next().and_then(|tree| self::group(Some(tree)))?.stream());
            }
            TokenTree::Group(group) => branches.push((condition.take(), group.stream())),
            _ => {}
        }
    }
    Some(branches)
}

/// `a => { .. } all(b, c) => { .. } _ => { .. }`
pub(super) fn of_cfg_select(tokens: TokenStream) -> Option<Vec<Branch>> {
    let mut branches = Vec::new();
    let mut condition: Vec<TokenTree> = Vec::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        if is(&tree, '=') && trees.peek().is_some_and(|next| is(next, '>')) {
            trees.next();
            let body = group(trees.next())?;
            let last = matches!(condition.as_slice(), [TokenTree::Ident(name)] if name == "_");
            branches.push(((!last).then(|| condition.drain(..).collect()), body.stream()));
            condition.clear();
        } else if !is(&tree, ',') || !condition.is_empty() {
            condition.push(tree);
        }
    }
    condition.is_empty().then_some(branches)
}

/// Something in tokens that nobody parses.
#[derive(Debug)]
pub(super) enum Seen {
    /// Names with `::` between them.
    Path(Vec<String>, Span),
    /// `name!`
    Macro(String, Span),
    StaticMut(Span),
    /// `extern "C" { .. }`
    Extern(Span),
}

/// All of it, in the order of the text.
pub(super) fn scan(tokens: TokenStream) -> Vec<Seen> {
    let mut seen = Vec::new();
    scan_into(tokens, &mut seen);
    seen
}

fn scan_into(tokens: TokenStream, seen: &mut Vec<Seen>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        let before = at.checked_sub(1).and_then(|before| trees.get(before));
        at += 1;
        match tree {
            TokenTree::Group(group) => scan_into(group.stream(), seen),
            // A method, a lifetime.
            TokenTree::Ident(_) if before.is_some_and(|tree| is(tree, '.') || is(tree, '\'')) => {}
            TokenTree::Ident(name) => {
                let rest = &trees[at..];
                match (name.to_string().as_str(), rest) {
                    ("static", [TokenTree::Ident(word), ..]) if word == "mut" => {
                        seen.push(Seen::StaticMut(name.span()));
                    }
                    ("extern", [TokenTree::Literal(_), TokenTree::Group(_), ..]) => {
                        seen.push(Seen::Extern(name.span()));
                    }
                    (_, [bang, TokenTree::Group(_), ..]) if is(bang, '!') => {
                        seen.push(Seen::Macro(name.to_string(), name.span()));
                    }
                    _ => {
                        let (path, used) = path(name, rest);
                        at += used;
                        if let Some(bang) = trees.get(at).filter(|tree| is(tree, '!'))
                            && matches!(trees.get(at + 1), Some(TokenTree::Group(_)))
                        {
                            seen.push(Seen::Macro(path.last().cloned().unwrap_or_default(), bang.span()));
                        } else {
                            seen.push(Seen::Path(path, name.span()));
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// The names from here on that `::` joins, and how many tokens that are after the first.
fn path(first: &Ident, rest: &[TokenTree]) -> (Vec<String>, usize) {
    let mut path = vec![first.to_string()];
    let mut used = 0;
    while let [colon, other, TokenTree::Ident(name), ..] = &rest[used..]
        && is(colon, ':')
        && is(other, ':')
    {
        path.push(name.to_string());
        used += 3;
    }
    (path, used)
}

fn is(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn group(tree: Option<TokenTree>) -> Option<Group> {
    match tree {
        Some(TokenTree::Group(group)) => Some(group),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    #[test]
    fn a_macro_that_only_puts_conditions_before_items_is_known() {
        let body = "($($item:item)*) => { $( #[cfg(feature = \"rt\")] #[doc(hidden)] $item )* }";
        assert_eq!(known(&tokens(body)).hands_on.unwrap().len(), 2);
        for other in [
            "($($i:item)*) => { $( #[cfg(a)] $i )* } ; () => {}",
            "($($i:item)*) => { mod x { $( #[cfg(a)] $i )* } }",
            "(struct $i:ident) => { $( #[cfg(a)] $i )* fn f() {} }",
        ] {
            assert!(known(&tokens(other)).hands_on.is_none(), "{other}");
        }
    }

    #[test]
    fn a_macro_that_calls_the_system_is_known() {
        assert!(known(&tokens("($fn:ident $args:tt) => {{ let r = unsafe { libc::$fn $args }; r }}")).calls_libc);
        assert!(!known(&tokens("($fn:ident $args:tt) => {{ libc::read $args }}")).calls_libc);
    }

    #[test]
    fn branches_are_told_apart() {
        let branches = of_cfg_if(tokens("if #[cfg(a)] { x } else if #[cfg(all(b, c))] { y } else { z }")).unwrap();
        let text: Vec<_> = branches.iter().map(|(c, b)| (c.as_ref().map(ToString::to_string), b.to_string())).collect();
        assert_eq!(text[0], (Some("a".to_owned()), "x".to_owned()));
        assert_eq!((text[1].1.as_str(), text[2].0.as_ref()), ("y", None));
        let branches = of_cfg_select(tokens("unix => { x } all(a, b) => { y } _ => { z }")).unwrap();
        assert_eq!(branches.len(), 3);
        assert_eq!(branches[1].0.as_ref().unwrap().to_string().replace(' ', ""), "all(a,b)");
        assert!(branches[2].0.is_none());
    }

    #[test]
    fn tokens_are_scanned_for_what_looks_like_something() {
        let seen = scan(tokens(
            "{ $crate::libc::poll(a.read); core::arch::asm!(\"poll\"); static mut A: u8; extern \"C\" { } }",
        ));
        let text: Vec<_> = seen
            .iter()
            .map(|seen| match seen {
                Seen::Path(path, _) => path.join("::"),
                Seen::Macro(name, _) => format!("{name}!"),
                Seen::StaticMut(_) => "static mut".to_owned(),
                Seen::Extern(_) => "extern".to_owned(),
            })
            .filter(|text| !["a", "mut", "A", "u8"].contains(&text.as_str()))
            .collect();
        assert_eq!(text, ["crate::libc::poll", "asm!", "static mut", "extern"]);
    }
}
