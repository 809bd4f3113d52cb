//! One page of rustdoc: which items a module lists, and which members an item has.

use super::signature;
use super::{Items, Key, ParityError, read};
use std::path::Path;

/// Traits that cannot be named on stable Rust, although their implementations can be noticed there.
const NOTICED: [&str; 2] = ["CoerceUnsized", "DispatchFromDyn"];

/// What rustdoc says of items that other systems have.
const WINDOWS: &str = "Available on <strong>Windows</strong>";

/// The member that says that an item is std's own, which rustdoc shows with links to the sources of std.
pub(super) const STD_S_OWN: &str = "=";

/// The stable items of a module's page, as kind and name.
pub(super) fn listed(index: &str) -> Vec<(String, String)> {
    let entries = index.split("<dt>").skip(1).map(|entry| entry.split("</dt>").next().unwrap_or(entry));
    let stable = entries.filter(|entry| !entry.contains("stab unstable"));
    let named = stable.filter_map(|entry| {
        let kind = between(entry, "class=\"", "\"")?;
        let name = between(entry, "title=\"", "\"")?.rsplit("::").next()?;
        Some((kind.to_owned(), name.to_owned()))
    });
    named.collect()
}

/// Adds the item of a page, and its members.
pub(super) fn members(path: &Path, kind: &str, item: &str, items: &mut Items) -> Result<(), ParityError> {
    let page = read(path)?;
    let key = |member: &str| Key { item: item.to_owned(), member: member.to_owned() };
    let declared = between(&page, "item-decl\"><code>", "</code></pre>").map(text).unwrap_or_default();
    items.insert(key(""), format!("{kind} {}", signature::declaration(&declared)));
    let heading = page.split("item-decl").next().and_then(|top| top.split("class=\"main-heading\"").nth(1));
    if heading.unwrap_or_default().contains("https://doc.rust-lang.org/") {
        items.insert(key(STD_S_OWN), String::new());
    }
    let page = page.split("id=\"blanket-implementations\"").next().unwrap_or(&page);
    let mut of = String::new();
    for section in sections(page) {
        if section.absent {
            continue;
        }
        let header = text(section.header);
        match section.class {
            "impl" => {
                of = header;
                let Some(implemented) = signature::implementation(&of) else { continue };
                if !is_auto_unstable(&implemented.name) && is_stable(path, section.header, &implemented.name) {
                    items.insert(key(&implemented.key), implemented.bounds);
                }
            }
            "associatedtype trait-impl" => {
                if let Some(implemented) = signature::implementation(&of)
                    && let Some((name, value)) = header.split_once(" = ")
                {
                    items.insert(key(&format!("{}: {name}", implemented.key)), signature::plain(value));
                }
            }
            "method" | "associatedconstant" | "variant" => {
                let (member, signature) = signature::member(&of, &header, section.class);
                items.insert(key(&member), signature);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Auto traits that only the compiler knows.
fn is_auto_unstable(name: &str) -> bool {
    matches!(name, "Freeze" | "UnsafeUnpin" | "StructuralPartialEq")
}

/// Can the types and traits that a header names be used on stable Rust? Their own pages say so; those of other crates are not there.
fn is_stable(path: &Path, header: &str, name: &str) -> bool {
    if name == "Allocator" || header.contains("os/windows") {
        return false;
    }
    if NOTICED.contains(&name) {
        return true;
    }
    let links = header.split("href=\"").skip(1).filter_map(|link| link.split('"').next());
    let links = links.filter(|link| !link.starts_with("http") && !link.ends_with("trait.Allocator.html"));
    links.filter(|link| !link.starts_with('#')).all(|link| {
        let page = path.parent().and_then(|directory| read(&directory.join(link)).ok()).unwrap_or_default();
        let top = page.split("class=\"docblock\"").next().unwrap_or(&page);
        !top.contains("stab unstable")
    })
}

struct Section<'a> {
    class: &'a str,
    header: &'a str,
    /// Not on stable Rust, or not on this system.
    absent: bool,
}

/// The sections of a page with their headers. Methods that come from a `Deref` belong to another type.
fn sections(page: &str) -> Vec<Section<'_>> {
    let mut found = Vec::new();
    let mut borrowed = false;
    for part in page.split("<section id=\"").skip(1) {
        let class = between(part, "class=\"", "\"").unwrap_or_default();
        let header = between(part, "class=\"code-header\">", "</section>").unwrap_or_default();
        let header = header.rsplit_once("</h").map_or(header, |(header, _)| header);
        let after = part.split_once("</section>").map_or("", |(_, after)| after);
        let ends = ["docblock", "impl-items"];
        let near = ends.iter().fold(after, |near, end| near.split(end).next().unwrap_or(near));
        if !borrowed {
            found.push(Section { class, header, absent: near.contains("stab unstable") || near.contains(WINDOWS) });
        }
        if after.contains("<h2 id=\"deref-methods") {
            borrowed = true;
        } else if after.contains("<h2 id=\"") {
            borrowed = false;
        }
    }
    found
}

/// What is between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    text.split_once(from)?.1.split_once(to).map(|(inside, _)| inside)
}

/// A piece of a page without its tags.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut in_tag = false;
    for c in html.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if in_tag => {}
            'ⓘ' => {}
            c => text.push(c),
        }
    }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    let text = entities.iter().fold(text, |text, (entity, c)| text.replace(entity, c));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
