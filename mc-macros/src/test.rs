//! `#[mc::test]`: a function becomes a call of `::mc::__private_test!`, which knows whether a checker is compiled in.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parse;
use syn::punctuated::Punctuated;
use syn::{AttrStyle, Attribute, Meta, ReturnType, Safety, Signature, Token, Type};

use crate::options::{self, Setting};
use crate::rewrite::rewrite;

/// The expansion of the attribute with these arguments on this item.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match Test::new(arguments, &item) {
        Ok(test) => test.into_token_stream(),
        Err(error) => error.to_compile_error(),
    }
}

/// A test, checked.
struct Test {
    function: syn::ItemFn,
    settings: Vec<Setting>,
    ignored: Ignored,
}

/// Under which conditions the user's attributes ignore the test.
#[derive(Default)]
struct Ignored {
    always: bool,
    /// Of `#[cfg_attr(condition, ignore)]`.
    when: Vec<TokenStream>,
}

impl Test {
    fn new(arguments: TokenStream, item: &TokenStream) -> syn::Result<Self> {
        let mut function = function(item)?;
        check_signature(&function.sig)?;
        check_attributes(&function.attrs)?;
        let settings = options::parse(arguments)?;
        if let Some(expect) = settings.iter().find(|setting| setting.name == "expect")
            && function.attrs.iter().any(|attribute| attribute.path().is_ident("should_panic"))
        {
            let message =
                "`expect` names the failure that must be found, so `#[should_panic]` has nothing to do here: remove it";
            return Err(syn::Error::new(expect.span, message));
        }
        // Inner attributes cannot stand in the block of a closure.
        function.attrs.iter_mut().for_each(|attribute| attribute.style = AttrStyle::Outer);
        let ignored = Ignored::of(&function.attrs);
        Ok(Self { function, settings, ignored })
    }

    /// What is put on a test that fails on purpose, where nobody looks for the failure.
    fn ignore_without_checker(&self) -> TokenStream {
        let Some(expect) = self.settings.iter().find(|setting| setting.name == "expect") else {
            return TokenStream::new();
        };
        let reason = format!("wrong on purpose ({}): `cargo mc test` finds it", expect.value);
        let when = &self.ignored.when;
        match (self.ignored.always, when.is_empty()) {
            (true, _) => TokenStream::new(),
            (false, true) => quote!(#[ignore = #reason]),
            (false, false) => quote!(#[cfg_attr(not(any(#(#when),*)), ignore = #reason)]),
        }
    }
}

impl ToTokens for Test {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let syn::ItemFn { attrs, vis, sig, block, .. } = &self.function;
        let plain = self.ignore_without_checker();
        let name = &sig.ident;
        let text = name.to_string();
        let text = text.trim_start_matches("r#");
        let output = match &sig.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, written) => rewrite(written.to_token_stream()),
        };
        let Ignored { always, when } = &self.ignored;
        let (names, values): (Vec<_>, Vec<_>) =
            self.settings.iter().map(|setting| (setting.name, &setting.value)).unzip();
        let body = rewrite(block.to_token_stream());
        tokens.extend(quote! {
            ::mc::__private_test! {
                attributes { #(#attrs)* }
                plain { #plain }
                function { #vis fn #name, #text }
                output { #output }
                ignored { #always #(|| cfg!(#when))* }
                options { #((#names, #values),)* }
                body #body
            }
        });
    }
}

impl Ignored {
    fn of(attributes: &[Attribute]) -> Self {
        let mut ignored = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("ignore") {
                ignored.always = true;
            } else if attribute.path().is_ident("cfg_attr")
                && let Ok(parts) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                && let Some(condition) = parts.first()
                && parts.iter().skip(1).any(|part| part.path().is_ident("ignore"))
            {
                ignored.when.push(condition.to_token_stream());
            }
        }
        ignored
    }
}

/// The item as a function with a body.
fn function(item: &TokenStream) -> syn::Result<syn::ItemFn> {
    let error = match syn::parse2::<syn::ItemFn>(item.clone()) {
        Ok(function) => return Ok(function),
        Err(error) => error,
    };
    let head = syn::parse::Parser::parse2(Head::parse, item.clone());
    if let Ok(Head::BodyMissing(signature)) = head {
        let message = format!("`{}` has no body, so there is nothing to check", signature.ident);
        return Err(syn::Error::new_spanned(signature, message));
    }
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(_)) | Err(_) => Err(error),
        Ok(other) => {
            let message = "`#[mc::test]` goes on a function; for another item there is `#[mc::shim]`";
            let start = other.into_token_stream().into_iter().next();
            Err(syn::Error::new(start.map_or_else(Span::call_site, |token| token.span()), message))
        }
    }
}

/// A function without a body: `fn name();`.
enum Head {
    BodyMissing(Box<Signature>),
}

impl Parse for Head {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<syn::Visibility>()?;
        let signature = input.parse()?;
        input.parse::<Token![;]>()?;
        input.parse::<TokenStream>()?;
        Ok(Self::BodyMissing(Box::new(signature)))
    }
}

fn check_signature(signature: &Signature) -> syn::Result<()> {
    let mut errors: Option<syn::Error> = None;
    let mut refuse = |tokens: &dyn ToTokens, message: &str| {
        let error = syn::Error::new_spanned(tokens.to_token_stream(), message);
        match &mut errors {
            None => errors = Some(error),
            Some(errors) => errors.combine(error),
        }
    };
    if let Some(keyword) = &signature.asyncness {
        refuse(keyword, "a test cannot be `async`: nothing here runs futures; poll them in the body");
    }
    if let Some(keyword) = &signature.constness {
        refuse(keyword, "a test cannot be `const`");
    }
    if let Safety::Unsafe(keyword) = &signature.safety {
        refuse(keyword, "a test cannot be `unsafe`: put the `unsafe` block into its body");
    }
    if let Some(abi) = &signature.abi {
        refuse(abi, "a test has Rust's own calling convention: remove this");
    }
    if !signature.generics.params.is_empty() {
        let message = "a test cannot be generic: nobody names the types; write one test for each";
        refuse(&signature.generics, message);
    }
    if let Some(clause) = &signature.generics.where_clause {
        refuse(clause, "a test cannot have a `where` clause");
    }
    if !signature.inputs.is_empty() {
        refuse(&signature.inputs, "a test takes no arguments; `mc::choose(0..n)` in the body tries several values");
    }
    if let ReturnType::Type(_, written) = &signature.output
        && !returns_unit_or_result(written)
    {
        refuse(written, "a test returns `()` or `Result<(), E>`");
    }
    errors.map_or(Ok(()), Err)
}

/// As far as the tokens tell: an alias of a type may be named as one likes.
fn returns_unit_or_result(written: &Type) -> bool {
    match written {
        Type::Tuple(tuple) => tuple.elems.is_empty(),
        Type::Path(_) | Type::Macro(_) | Type::Verbatim(_) | Type::Never(_) => true,
        Type::Paren(inner) => returns_unit_or_result(&inner.elem),
        Type::Group(inner) => returns_unit_or_result(&inner.elem),
        _ => false,
    }
}

fn check_attributes(attributes: &[Attribute]) -> syn::Result<()> {
    let is_test = |attribute: &&Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "test");
    match attributes.iter().find(is_test) {
        None => Ok(()),
        Some(second) => {
            Err(syn::Error::new_spanned(second, "the function is a test already: `#[mc::test]` adds `#[test]`"))
        }
    }
}

#[cfg(test)]
#[path = "test/tests.rs"]
mod tests;
