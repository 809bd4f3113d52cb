//! Signatures, so written that two of them are the same text when a caller cannot tell them apart.
//!
//! Names of arguments and of lifetimes in headers go, `Self` stands for the type itself, all bounds are a sorted list, private fields are not shown.
//! The parameter for an allocator, which is unstable, goes from `Arc` and `Weak`.

/// The header of an implementation of a trait.
pub(super) struct Implementation {
    /// The trait's name alone.
    pub(super) name: String,
    /// The header without its generics.
    pub(super) key: String,
    pub(super) bounds: String,
}

/// Reads `impl<..> Trait for Type where ..`; `None` when no trait is implemented.
pub(super) fn implementation(header: &str) -> Option<Implementation> {
    let header = Header::of(header);
    let (named, _) = header.what.split_once(" for ")?;
    let name = named.trim_start_matches('!').split('<').next().unwrap_or(named).to_owned();
    // rustdoc shows the bounds of a negative implementation only where somebody wrote it.
    let bounds = if named.starts_with('!') { String::new() } else { list(&header.bounds) };
    Some(Implementation { name, key: format!("impl {}", without_lifetimes(&header.what)), bounds })
}

/// A declaration of an item.
pub(super) fn declaration(declared: &str) -> String {
    let (what, bounds) = split_where(&without_allocator(declared));
    if let Some(function) = function(&what) {
        return finish(&function.0, [function.1, bounds].concat());
    }
    let shown = ["{ /* private fields */ }", "(/* private fields */);", "(/* private fields */)", ";"]
        .iter()
        .fold(what, |what, private| what.replace(private, ""));
    let shown = shown.strip_prefix("#[repr(transparent)]").unwrap_or(&shown).trim().to_owned();
    let Some((open, close)) = generics(&shown) else { return finish(&shown, bounds) };
    let (names, own) = parameters(&shown[open + 1..close]);
    finish(&format!("{}<{}>{}", &shown[..open], names.join(", "), &shown[close + 1..]), [own, bounds].concat())
}

/// A member of a type: what it is called there, and its signature.
pub(super) fn member(of: &str, header: &str, class: &str) -> (String, String) {
    if class == "variant" {
        return (header.split('(').next().unwrap_or(header).trim().to_owned(), plain(header));
    }
    let of = Header::of(of);
    let (what, bounds) = split_where(&without_allocator(header));
    let (shown, own) = function(&what).unwrap_or((what, Vec::new()));
    let name = shown.split_once("fn ").map_or(shown.as_str(), |(_, rest)| rest);
    let name = name.split(['(', '<', ':']).next().unwrap_or(name).trim_start_matches("pub const ");
    let arguments = of.what.split_once('<').map_or("", |(_, arguments)| arguments.trim_end_matches('>'));
    let plain_type = arguments.split(", ").all(|argument| argument.len() <= 1 || argument.starts_with('\''));
    let member = if plain_type { name.to_owned() } else { format!("{}::{name}", of.what) };
    (member, finish(&with_self(&shown, &of.what), [of.bounds, own, bounds].concat()))
}

/// Text that is the same for both but for the allocator.
pub(super) fn plain(text: &str) -> String {
    without_lifetimes(&without_allocator(text))
}

struct Header {
    what: String,
    bounds: Vec<String>,
}

impl Header {
    fn of(header: &str) -> Self {
        let (what, mut bounds) = split_where(&without_allocator(header));
        let what = what.trim_start_matches("unsafe ").strip_prefix("impl").unwrap_or(&what).to_owned();
        let what = match generics(&what).filter(|_| what.starts_with('<')) {
            Some((open, close)) => {
                bounds.extend(parameters(&what[open + 1..close]).1);
                what[close + 1..].to_owned()
            }
            None => what,
        };
        let what = what.trim().trim_start_matches("const ").to_owned();
        Self { what, bounds }
    }
}

/// `fn name<..>(a: A) -> R`, as text without bounds and names of arguments, and the bounds.
fn function(text: &str) -> Option<(String, Vec<String>)> {
    let at = text.find("fn ")?;
    let named = at + text[at..].find(['(', '<'])?;
    let (open, name, bounds) = if text[named..].starts_with('<') {
        let to = closing(text, named)?;
        let (names, bounds) = parameters(&text[named + 1..to]);
        (to + 1, format!("{}<{}>", &text[..named], names.join(", ")), bounds)
    } else {
        (named, text[..named].to_owned(), Vec::new())
    };
    let close = closing(text, open)?;
    let arguments = split(&text[open + 1..close], ',').into_iter().map(|argument| {
        let named = argument.split_once(": ").filter(|(name, _)| !name.contains(['&', '<', '(']));
        named.map_or(argument.clone(), |(name, type_)| if name == "self" { argument.clone() } else { type_.to_owned() })
    });
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    Some((format!("{name}({arguments}){}", text[close + 1..].trim_end()), bounds))
}

/// The names of generic parameters, and their bounds.
fn parameters(list: &str) -> (Vec<String>, Vec<String>) {
    let (mut names, mut bounds) = (Vec::new(), Vec::new());
    for parameter in split(list, ',') {
        let Some((name, bound)) = parameter.split_once(": ").filter(|_| !parameter.starts_with("const ")) else {
            names.push(parameter);
            continue;
        };
        let (bound, default) = bound.split_once(" = ").map_or((bound, None), |(bound, default)| (bound, Some(default)));
        names.push(default.map_or(name.to_owned(), |default| format!("{name} = {default}")));
        bounds.extend(predicates(name, bound));
    }
    (names, bounds)
}

fn predicates(of: &str, bound: &str) -> Vec<String> {
    split(bound, '+').into_iter().map(|bound| format!("{of}: {bound}")).collect()
}

/// What stands before `where`, and the bounds after it.
fn split_where(text: &str) -> (String, Vec<String>) {
    let Some((what, predicates_)) = text.split_once("where ") else { return (text.trim().to_owned(), Vec::new()) };
    let ends = predicates_.find('{').unwrap_or(predicates_.len());
    let bounds = split(&predicates_[..ends], ',').into_iter();
    let bounds = bounds.filter_map(|one| one.split_once(": ").map(|(of, bound)| predicates(of, bound)));
    (
        format!("{} {}", what.trim(), predicates_[ends..].trim_matches([',', ' '])).trim().to_owned(),
        bounds.flatten().collect(),
    )
}

/// Where the first list of generics opens and closes.
fn generics(text: &str) -> Option<(usize, usize)> {
    let open = text.find('<')?;
    Some((open, closing(text, open)?))
}

/// Where the bracket at `open` is closed. The `>` of an arrow is none.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        before = c;
    }
    None
}

/// The parts between separators that stand in no bracket.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut depth, mut before) = (vec![String::new()], 0, ' ');
    for c in text.chars() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if c == separator && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
        before = c;
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// `text` with `Self` where it names `type_`.
fn with_self(text: &str, type_: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(type_) {
        let after = &rest[at + type_.len()..];
        let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '<';
        let apart = !rest[..at].ends_with(in_name_before) && !after.starts_with(in_name);
        shown.push_str(&rest[..at]);
        shown.push_str(if apart { "Self" } else { type_ });
        rest = after;
    }
    shown + rest
}

fn in_name_before(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `text` with `'_` for every lifetime that is not `'static`.
fn without_lifetimes(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\'') {
        let name: String = rest[at + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        shown.push_str(&rest[..at]);
        shown.push_str(if name == "static" { "'static" } else { "'_" });
        rest = &rest[at + 1 + name.len()..];
    }
    (shown + rest).replace("&'_ ", "&").replace("<'_>", "")
}

/// `text` without the parameter of `Arc` and `Weak` for an allocator; its bounds go in [`list`].
fn without_allocator(text: &str) -> String {
    text.replace(", A = Global", "").replace(", A>", ">").replace("dyn Any + Send + 'static", "dyn Any + Send")
}

fn finish(shown: &str, bounds: Vec<String>) -> String {
    let bounds = list(&bounds);
    let shown = shown.trim();
    if bounds.is_empty() { shown.to_owned() } else { format!("{shown} where {bounds}") }
}

/// Bounds in one order, without those that say nothing, or are of an allocator.
fn list(bounds: &[String]) -> String {
    let mut kept: Vec<&String> = bounds
        .iter()
        .filter(|bound| !bound.starts_with('\'') && !bound.starts_with("A: ") && !bound.ends_with(": Sized"))
        .filter(|bound| {
            let sized = bound.strip_suffix(": ?Sized").map(|of| format!("{of}: Sized"));
            !sized.is_some_and(|sized| bounds.contains(&sized))
        })
        .collect();
    kept.sort();
    kept.dedup();
    kept.iter().map(|bound| bound.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_the_same_wherever_they_stand() {
        let one = member("impl<T: ?Sized + Send> Lock<T>", "pub fn new(t: T) -> Lock<T> where T: Sized", "method");
        let other = member("impl<T: Send> Lock<T>", "pub fn new(value: T) -> Self", "method");
        assert_eq!((one.0.as_str(), &one.1), ("new", &other.1));
        assert_eq!(one.1, "pub fn new(T) -> Self where T: Send");
    }

    #[test]
    fn members_of_special_types_are_told_apart() {
        let set = member("impl<T: 'static> LocalKey<Cell<T>>", "pub fn set(&'static self, value: T)", "method");
        assert_eq!(set.0, "LocalKey<Cell<T>>::set");
    }

    #[test]
    fn the_allocator_goes() {
        let clone = implementation("impl<T, A> Clone for Arc<T, A> where A: Allocator + Clone, T: ?Sized,").unwrap();
        assert_eq!((clone.key.as_str(), clone.bounds.as_str()), ("impl Clone for Arc<T>", "T: ?Sized"));
    }

    #[test]
    fn lifetimes_of_headers_have_no_names() {
        let into = implementation("impl<'a, T> IntoIterator for &'a Receiver<T>").unwrap();
        assert_eq!(into.key, "impl IntoIterator for &Receiver<T>");
        assert_eq!(implementation("impl<T> !Sync for Receiver<T>").unwrap().name, "Sync");
    }
}
