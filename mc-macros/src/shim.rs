//! `#[mc::shim]`: an item, rewritten.

use proc_macro2::TokenStream;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::rewrite::rewrite;

/// The expansion of the attribute with these arguments on this item.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if !arguments.is_empty() {
        let error = syn::Error::new_spanned(arguments, "`#[mc::shim]` takes no options");
        return with_error(&error, item);
    }
    // What is no item of its own (a method without a body in a trait) holds no module either.
    let mut files = Files { error: None };
    if let Ok(parsed) = syn::parse2::<syn::Item>(item.clone()) {
        files.visit_item(&parsed);
    }
    match files.error {
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

/// Finds modules in files of their own.
struct Files {
    error: Option<syn::Error>,
}

impl<'ast> Visit<'ast> for Files {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_none() {
            let name = &item.ident;
            let message = format!(
                "`mod {name};` is in a file that `#[mc::shim]` cannot see; write `use mc::sync` for `use std::sync` in that \
                 file, or put `#[mc::shim]` on its items"
            );
            let error = syn::Error::new(item.ident.span().join(item.semi.span()).unwrap_or(item.ident.span()), message);
            match &mut self.error {
                None => self.error = Some(error),
                Some(errors) => errors.combine(error),
            }
        }
        visit::visit_item_mod(self, item);
    }
}

#[cfg(test)]
#[path = "shim/tests.rs"]
mod tests;
