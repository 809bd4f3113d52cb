//! Which checked tests the built executables have, and which of them are meant.

use std::fmt;
use std::path::PathBuf;

use mc_protocol::client::{Binary, Listed};
use mc_protocol::message::TestInfo;
use mc_protocol::settings::Layer;

use crate::args::FilterArgs;
use crate::build::{Built, Others, Unchecked};
use crate::error::Error;
use crate::exit::ExitCode;

/// A checked test.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// What people read: the libtest name, with the executable's before it where several have tests.
    pub(crate) label: String,
    /// As libtest knows it.
    pub(crate) name: String,
    pub(crate) package: String,
    pub(crate) target: String,
    /// The executable's, unique in the workspace.
    pub(crate) binary_id: String,
    pub(crate) ignored: bool,
    /// One that is none of `#[mc::test]`'s; how it is asked for: `--loom`, `--std`.
    pub(crate) models: Option<String>,
    pub(crate) attribute: Layer,
    pub(crate) binary: Binary,
    /// Where source files are looked for.
    pub(crate) roots: Vec<PathBuf>,
}

impl Case {
    /// The command that replays one of its schedules, up to that.
    pub(crate) fn replay(&self) -> String {
        self.models.iter().fold("cargo mc replay".to_owned(), |command, flags| format!("{command} {flags}"))
    }
}

/// Why there is nothing to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectError {
    #[error(
        "there is no checked test in {executables} test {}\n  = help: mark tests with `#[mc::test]`, from the package \
         `mc-shims` (`mc = {{ package = \"mc-shims\", version = \"{}\" }}` in `[dev-dependencies]`)",
        plural(*executables, "executable"), env!("CARGO_PKG_VERSION")
    )]
    NoTests { executables: usize },
    #[error(
        "none of {executables} test {} uses {name}\n  = help: suites are often behind a feature or a cfg of their own \
         (`--features {name}`, `--{name}=NAME` for `--cfg NAME`), or in a package that `-p` selects",
        plural(*executables, "executable")
    )]
    NoSuite { name: &'static str, executables: usize },
    #[error("there is no test in {executables} test {}{}", plural(*executables, "executable"), notes(left_out))]
    NoneAtAll { executables: usize, left_out: Vec<LeftOut> },
    #[error("no test matches {filters}; there {} {tests} checked {}{hint}", verb(*tests), plural(*tests, "test"))]
    NothingSelected { filters: String, tests: usize, hint: &'static str },
    #[error("{what} selects {} tests, a replay needs one\n  = help: name one of them\n{}", names.len(), list(names))]
    Ambiguous { what: String, names: Vec<String> },
    #[error("the test `{test}` of `{binary_id}` is not there any more, or not in what was built")]
    Gone { test: String, binary_id: String },
}

impl SelectError {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoTests { .. }
            | Self::NoSuite { .. }
            | Self::NoneAtAll { .. }
            | Self::NothingSelected { .. }
            | Self::Gone { .. } => ExitCode::NothingSelected,
            Self::Ambiguous { .. } => ExitCode::Usage,
        }
    }
}

/// What the executables have.
#[derive(Debug)]
pub(crate) struct Found {
    /// All checked tests.
    pub(crate) cases: Vec<Case>,
    /// With `--std`, what cargo would run and is not checked.
    pub(crate) left_out: Vec<LeftOut>,
}

/// A test executable that is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) package: String,
    pub(crate) target: String,
    pub(crate) because: Unchecked,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { package, target, because } = self;
        match because {
            Unchecked::OnHost => {
                write!(
                    f,
                    "the tests of `{package}` run on the host, as those of procedural macros do, and are not checked"
                )
            }
            Unchecked::NoHarness => {
                write!(f, "`{target}` of `{package}` has a `main` of its own (`harness = false`), and is not checked")
            }
        }
    }
}

/// All checked tests of the executables.
pub(crate) fn discover(built: &Built) -> Result<Found, Error> {
    let (mut cases, mut left_out) = (Vec::new(), Vec::new());
    for executable in &built.executables {
        let binary = Binary {
            executable: executable.path.clone(),
            directory: Some(executable.directory.clone()),
            environment: executable.environment.clone(),
        };
        if let Some(because) = executable.unchecked.filter(|_| matches!(built.others, Some(Others::AsTheyAre(_)))) {
            // What has no harness cannot be asked for its tests: it would do what it does.
            if because == Unchecked::NoHarness || !binary.list_all()?.is_empty() {
                let (package, target) = (executable.package.clone(), executable.target.clone());
                left_out.push(LeftOut { package, target, because });
            }
            continue;
        }
        let Some(tests) = binary.list()? else { continue };
        let case = |name: String, ignored, attribute, models| Case {
            label: name.clone(),
            name,
            package: executable.package.clone(),
            target: executable.target.clone(),
            binary_id: executable.id.clone(),
            ignored,
            models,
            attribute,
            binary: binary.clone(),
            roots: vec![executable.directory.clone(), built.workspace.clone()],
        };
        if built.others.is_some() {
            let flags = built.flags.clone();
            let plain = |listed: &Listed| !tests.iter().any(|test| test.name == listed.name);
            let listed = binary.list_all()?.into_iter().filter(plain);
            cases.extend(listed.map(|test| case(test.name, test.ignored, Layer::default(), Some(flags.clone()))));
        }
        for test in tests {
            let attribute = attribute(&test)?;
            cases.push(case(test.name, test.ignored, attribute, None));
        }
    }
    cases.sort_by(|a, b| (&a.binary_id, &a.name).cmp(&(&b.binary_id, &b.name)));
    if cases.is_empty() {
        let executables = built.executables.len();
        return Err(match &built.others {
            Some(Others::Suite(suite)) => SelectError::NoSuite { name: suite.name(), executables },
            Some(Others::AsTheyAre(_)) => SelectError::NoneAtAll { executables, left_out },
            None => SelectError::NoTests { executables },
        }
        .into());
    }
    if cases.iter().any(|case| case.binary_id != cases[0].binary_id) {
        for case in &mut cases {
            case.label = format!("{} {}", case.binary_id, case.name);
        }
    }
    Ok(Found { cases, left_out })
}

fn attribute(test: &TestInfo) -> Result<Layer, Error> {
    let pairs = test.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Layer::from_attribute(pairs).map_err(|source| {
        let (test, file, line) = (test.name.clone(), test.file.clone(), test.line);
        Error::Attribute { test, file, line, source }
    })
}

/// The tests that are meant.
pub(crate) fn select(cases: Vec<Case>, filter: &FilterArgs) -> Result<Vec<Case>, SelectError> {
    let tests = cases.len();
    let named: Vec<_> = cases.into_iter().filter(|case| matches(case, filter)).collect();
    let any_named = !named.is_empty();
    let wanted = |case: &Case| filter.include_ignored || case.ignored == filter.ignored;
    let selected: Vec<_> = named.into_iter().filter(wanted).collect();
    if !selected.is_empty() {
        return Ok(selected);
    }
    let hint = match (any_named, filter.ignored) {
        (true, true) => "\n  = help: those that match are not `#[ignore]`d; leave out `--ignored`",
        (true, false) => "\n  = help: those that match are `#[ignore]`d; add `--include-ignored`",
        (false, _) if filter.exact => {
            "\n  = help: leave out `--exact` to match parts of names; `cargo mc list` shows all"
        }
        (false, _) => "\n  = help: `cargo mc list` shows all",
    };
    let words: Vec<_> = filter.filters.iter().map(|filter| format!("`{filter}`")).collect();
    let filters = if words.is_empty() { "the flags".to_owned() } else { words.join(", ") };
    Err(SelectError::NothingSelected { filters, tests, hint })
}

fn matches(case: &Case, filter: &FilterArgs) -> bool {
    let one = |word: &String| if filter.exact { case.name == *word } else { case.label.contains(word.as_str()) };
    filter.filters.is_empty() || filter.filters.iter().any(one)
}

/// The tests that a replay could mean: a word that is the whole name of one does not mean those of which it is a part.
pub(crate) fn select_named(cases: &[Case], filter: &FilterArgs) -> Result<Vec<Case>, SelectError> {
    let exact = FilterArgs { exact: true, ..filter.clone() };
    select(cases.to_vec(), &exact).or_else(|_| select(cases.to_vec(), filter))
}

/// The one test that `what` means.
pub(crate) fn only(mut cases: Vec<Case>, what: &str) -> Result<Case, SelectError> {
    match cases.len() {
        1 => Ok(cases.remove(0)),
        _ => Err(SelectError::Ambiguous {
            what: what.to_owned(),
            names: cases.into_iter().map(|case| case.label).collect(),
        }),
    }
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

fn verb(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn notes(left_out: &[LeftOut]) -> String {
    left_out.iter().map(|left_out| format!("\n  = note: {left_out}")).collect()
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("    {name}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, ignored: bool) -> Case {
        Case {
            label: name.to_owned(),
            name: name.to_owned(),
            package: "demo".to_owned(),
            target: "demo".to_owned(),
            binary_id: "demo".to_owned(),
            ignored,
            models: None,
            attribute: Layer::default(),
            binary: Binary::new("demo"),
            roots: Vec::new(),
        }
    }

    fn selected(filter: &FilterArgs) -> Result<Vec<String>, SelectError> {
        let cases = vec![case("queue::spsc", false), case("queue::mpmc", false), case("pool::slow", true)];
        Ok(select(cases, filter)?.into_iter().map(|case| case.name).collect())
    }

    fn filters(words: &[&str]) -> FilterArgs {
        FilterArgs { filters: words.iter().map(|word| (*word).to_owned()).collect(), ..FilterArgs::default() }
    }

    #[test]
    fn filters_are_parts_of_names_and_add_up() {
        assert_eq!(selected(&filters(&["spsc", "mpmc"])).unwrap(), ["queue::spsc", "queue::mpmc"]);
        assert_eq!(selected(&FilterArgs { exact: true, ..filters(&["queue::spsc"]) }).unwrap(), ["queue::spsc"]);
        assert_eq!(selected(&filters(&[])).unwrap().len(), 2);
        assert_eq!(selected(&FilterArgs { ignored: true, ..filters(&[]) }).unwrap(), ["pool::slow"]);
        assert_eq!(selected(&FilterArgs { include_ignored: true, ..filters(&[]) }).unwrap().len(), 3);
    }

    #[test]
    fn a_replay_of_a_test_whose_name_is_part_of_another_means_that_one() {
        let named = |word: &str| {
            let cases = ["same", "same_too", "a::same"].map(|name| case(name, false));
            let selected = select_named(&cases, &filters(&[word])).and_then(|cases| only(cases, "this"));
            selected.map(|case| case.name).map_err(|error| error.to_string())
        };
        assert_eq!(named("same").unwrap(), "same");
        assert_eq!(named("too").unwrap(), "same_too");
        let message = named("sam").unwrap_err();
        assert!(message.starts_with("this selects 3 tests"), "{message}");
    }

    #[test]
    fn an_empty_selection_names_the_filter_and_says_what_is_there() {
        let message = selected(&filters(&["nope"])).unwrap_err().to_string();
        assert_eq!(message, "no test matches `nope`; there are 3 checked tests\n  = help: `cargo mc list` shows all");
        let message = selected(&filters(&["slow"])).unwrap_err().to_string();
        assert!(message.contains("add `--include-ignored`"), "{message}");
    }
}
