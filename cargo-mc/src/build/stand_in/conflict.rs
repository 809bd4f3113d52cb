//! Which packages keep the checker's dependencies out, from what cargo says when it finds no versions for all.
//!
//! Cargo names two sides: what it has selected, and what it then finds no version for. Which of them is the checker's depends on the order in which it looks.
//! Not here: which of these packages `Cargo.lock` has from elsewhere (`lock`); only those can be updated.

/// The packages that may be in the way, as `name@version`: those that cargo has selected, what is locked and does not fit them, and what pins either.
pub(super) fn in_the_way(message: &str) -> Vec<String> {
    let lines = message.lines().map(str::trim);
    let named = lines.clone().filter_map(|line| {
        if let Some(selected) = line.strip_prefix("previously selected package `") {
            return package(selected);
        }
        let (_, who) = line.split_once("of package `").filter(|(dependency, _)| dependency.contains(" = \"="))?;
        package(who)
    });
    named.chain(without_version(lines)).collect()
}

/// What cargo found no version for, if that is locked, and who wants it, if just that version is wanted.
fn without_version<'a>(mut lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = || {
        let name =
            lines.find_map(|line| line.strip_prefix("error: failed to select a version for `"))?.split('`').next()?;
        let wanted_by = lines.next()?.strip_prefix("... required by package `")?;
        let wanted = lines.find_map(|line| line.strip_prefix("versions that meet the requirements `"))?;
        let locked = wanted.split_once("(locked to ").and_then(|(_, rest)| rest.split(')').next());
        let locked = locked.map(|version| format!("{name}@{version}"));
        let pins = wanted.starts_with('=').then(|| package(wanted_by)).flatten();
        Some(locked.into_iter().chain(pins).collect())
    };
    found().unwrap_or_default()
}

/// `name@version` of a text that begins with `name v1.2.3` and ends that with a backtick, or with where the package is.
fn package(text: &str) -> Option<String> {
    let (name, version) = text.split('`').next()?.split_once(" v")?;
    Some(format!("{name}@{}", version.split(' ').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_selected_and_what_pins_it_are_read_from_cargos_words() {
        let message = "error: failed to select a version for `libc`.\n\n  previously selected package `libc v0.2.155`\n    ... \
                       which satisfies dependency `libc = \"^0.2.146\"` (locked to 0.2.155) of package `backtrace v0.3.71`";
        assert_eq!(in_the_way(message), ["libc@0.2.155"]);
        let pinned = "  previously selected package `serde_derive v1.0.201`\n    ... which satisfies dependency \
                      `serde_derive = \"=1.0.201\"` of package `serde v1.0.201`\n    ... which satisfies dependency \
                      `serde = \"=1.0.201\"` of package `theirs v0.1.0 (/theirs)`";
        assert_eq!(in_the_way(pinned), ["serde_derive@1.0.201", "serde@1.0.201", "theirs@0.1.0"]);
    }

    #[test]
    fn so_are_what_has_no_version_and_who_wants_just_that_one() {
        let message = |requirement: &str| {
            format!(
                "error: failed to select a version for `two`.\n    ... required by package `one v1.0.0`\n    ... which satisfies dependency \
                 `one = \"^1\"` (locked to 1.0.0) of package `theirs v0.0.0 (/theirs)`\nversions that meet the requirements `{requirement}` \
                 (locked to 1.0.0) are: 1.0.0\n\nall possible versions conflict with previously selected packages.\n\n  previously selected \
                 package `two v1.0.1`\n    ... which satisfies dependency `two = \"^1.0.1\"` of package `loom v0.7.2 (/ours)`"
            )
        };
        assert_eq!(in_the_way(&message("=1.0.0")), ["two@1.0.1", "two@1.0.0", "one@1.0.0"]);
        assert_eq!(in_the_way(&message("^1")), ["two@1.0.1", "two@1.0.0"]);
    }
}
