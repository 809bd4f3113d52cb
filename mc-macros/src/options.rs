//! The options in the parentheses of `#[mc::test(...)]`: from tokens to names with values, or errors at their spans.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, Token};

use crate::values::{Form, OPTIONS, nearest, one_of};

/// One option, as the runtime takes it.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) span: Span,
}

/// An option as it is written.
struct Written {
    name: Ident,
    value: Option<Value>,
}

/// What follows `=`.
enum Value {
    Lit(Lit),
    /// No literal, so wrong whatever the option is; it starts here.
    Other(Span),
}

impl Parse for Written {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Self { name, value: None });
        }
        input.parse::<Token![=]>()?;
        let span = input.span();
        if let Ok(lit) = input.parse() {
            return Ok(Self { name, value: Some(Value::Lit(lit)) });
        }
        while !input.is_empty() && !input.peek(Token![,]) {
            input.parse::<TokenTree>()?;
        }
        Ok(Self { name, value: Some(Value::Other(span)) })
    }
}

/// The options in `tokens`; every mistake is reported, not only the first.
pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Vec<Setting>> {
    let written = syn::parse::Parser::parse2(Punctuated::<Written, Token![,]>::parse_terminated, tokens)?;
    let mut settings: Vec<Setting> = Vec::new();
    let mut errors: Option<syn::Error> = None;
    for option in written {
        let repeated = settings.iter().any(|setting| option.name == setting.name);
        let setting = match setting(&option) {
            Ok(_) if repeated => Err(syn::Error::new(option.name.span(), format!("`{}` is given twice", option.name))),
            other => other,
        };
        match (setting, &mut errors) {
            (Ok(setting), _) => settings.push(setting),
            (Err(error), None) => errors = Some(error),
            (Err(error), Some(errors)) => errors.combine(error),
        }
    }
    errors.map_or(Ok(settings), Err)
}

fn setting(option: &Written) -> syn::Result<Setting> {
    let known = OPTIONS.iter().find(|(name, _)| option.name == name);
    let Some((name, form)) = known else { return Err(unknown(&option.name)) };
    let value = match &option.value {
        None if *form == Form::Flag => Ok("true".to_owned()),
        None => {
            let message = format!("`{name}` has no value, expected `{name} = ` and {}", form.expected());
            Err(syn::Error::new(option.name.span(), message))
        }
        Some(Value::Other(span)) => Err(wrong(*span, name, *form)),
        Some(Value::Lit(lit)) => text(name, *form, lit),
    };
    Ok(Setting { name, value: value?, span: option.name.span() })
}

/// The literal as the runtime reads it.
fn text(name: &str, form: Form, lit: &Lit) -> syn::Result<String> {
    let text = match lit {
        Lit::Int(number) if form.takes_numbers() && matches!(number.suffix(), "" | "u64") => {
            let above = if matches!(form, Form::Number | Form::Times) { 0 } else { 1 };
            number.base10_parse::<u64>().ok().filter(|number| *number >= above).map(|number| number.to_string())
        }
        Lit::Str(string) if form.takes_strings() => Some(string.value()).filter(|text| form.accepts(text)),
        Lit::Bool(flag) if form == Form::Flag => Some(flag.value.to_string()),
        _ => None,
    };
    text.ok_or_else(|| match (form, lit) {
        (Form::Word(words) | Form::Words(words), Lit::Str(string)) => word(name, form, words, string),
        _ => wrong(lit.span(), name, form),
    })
}

fn wrong(span: Span, name: &str, form: Form) -> syn::Error {
    syn::Error::new(span, format!("wrong value for `{name}`, expected {}", form.expected()))
}

fn word(name: &str, form: Form, words: &[&str], string: &syn::LitStr) -> syn::Error {
    let typed = string.value();
    let wrong = typed.split(',').map(str::trim).find(|part| !form.accepts(part)).unwrap_or(&typed);
    let near = nearest(wrong, words.iter().copied());
    let meant = near.map_or(String::new(), |near| format!(", did you mean `\"{near}\"`?"));
    let message = format!("`{name}` cannot be `{wrong}`{meant}\nexpected {}", form.expected());
    syn::Error::new(string.span(), message)
}

fn unknown(name: &Ident) -> syn::Error {
    let names = || OPTIONS.iter().map(|(name, _)| *name);
    let near = nearest(&name.to_string(), names());
    let meant = near.map_or(String::new(), |near| format!(", did you mean `{near}`?"));
    let known = one_of(names().map(|name| format!("`{name}`")));
    syn::Error::new(name.span(), format!("there is no option `{name}`{meant}\nexpected {known}"))
}
