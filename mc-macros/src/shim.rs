//! `#[mc::shim]`: an item, rewritten.

use proc_macro2::{Ident, Punct, TokenStream, TokenTree};

use crate::rewrite::rewrite;

/// The expansion of the attribute with these arguments on this item.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if !arguments.is_empty() {
        let error = syn::Error::new_spanned(arguments, "`#[mc::shim]` takes no options");
        return with_error(&error, item);
    }
    match in_files(item.clone()) {
        Some(error) => with_error(&error, item),
        None => rewrite(item),
    }
}

/// The error beside the item as it was, so that nothing else is reported for want of it.
fn with_error(error: &syn::Error, item: TokenStream) -> TokenStream {
    let mut tokens = error.to_compile_error();
    tokens.extend(item);
    tokens
}

/// Errors for the modules in files of their own, at any depth. What macros make of their arguments is unknown.
fn in_files(tokens: TokenStream) -> Option<syn::Error> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let errors = (0..tokens.len()).filter_map(|at| match &tokens[at..] {
        [TokenTree::Ident(keyword), TokenTree::Ident(name), TokenTree::Punct(end), ..]
            if keyword == "mod" && end.as_char() == ';' =>
        {
            Some(in_file(name, end))
        }
        [TokenTree::Group(group), ..] if !is_after_macro(&tokens[..at]) => in_files(group.stream()),
        _ => None,
    });
    errors.reduce(|mut all, error| {
        all.combine(error);
        all
    })
}

/// Do the tokens end with `name!`, or with `name! other`?
fn is_after_macro(tokens: &[TokenTree]) -> bool {
    let is_bang = |token: &TokenTree| matches!(token, TokenTree::Punct(bang) if bang.as_char() == '!');
    match tokens {
        [.., TokenTree::Ident(_), bang] | [.., TokenTree::Ident(_), bang, TokenTree::Ident(_)] => is_bang(bang),
        _ => false,
    }
}

fn in_file(name: &Ident, end: &Punct) -> syn::Error {
    let message = format!(
        "`mod {name};` is in a file that `#[mc::shim]` cannot see; write `use mc::sync` for `use std::sync` in that \
         file, or put `#[mc::shim]` on its items"
    );
    syn::Error::new(name.span().join(end.span()).unwrap_or(name.span()), message)
}

#[cfg(test)]
#[path = "shim/tests.rs"]
mod tests;
