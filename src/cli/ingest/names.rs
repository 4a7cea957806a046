//! Names of the datasets from several files.
//!
//! A dataset has the name of its file. Files with equal names get the shortest distinguishing part of their
//! paths as a prefix: `fraud_Kansas`, `theft_Kansas`. Names that differ only in case are equal. A file that the
//! session knows keeps its name, so that names are stable when files are added.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path};

use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::dataset_names::is_same;
use csv_agent_types::limits::DATASET_NAME_BYTES_MAX;
use csv_agent_types::status::Failure;

use super::IfExists;
use super::origin::{absolute, origin, origin_of, whole_origin};
use crate::ingest::input::Input;

/// Parts of a path for `--name-from`.
const PARTS: [&str; 4] = ["stem", "parent", "grandparent", "ending"];

/// How `--name-from` makes names from paths: `{parent}_{stem}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePattern(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Part(&'static str),
}

/// Parses the value of `--name-from`. Fails when a part is unknown or a brace is unmatched; the message lists
/// the parts.
pub(super) fn name_pattern(text: &str) -> Result<NamePattern, String> {
    let parts = PARTS.map(|it| format!("{{{it}}}")).join(", ");
    let wanted = || format!("write a pattern of {parts}, such as {{parent}}_{{stem}}");
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (part, behind) = after.split_once('}').ok_or_else(wanted)?;
        let part = PARTS.iter().find(|it| **it == part).ok_or_else(wanted)?;
        pieces.extend([Piece::Text(before.to_owned()), Piece::Part(part)]);
        rest = behind;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    let has_part = pieces.iter().any(|it| matches!(it, Piece::Part(_)));
    if !has_part || text.matches('}').count() != text.matches('{').count() {
        return Err(wanted());
    }
    Ok(NamePattern(pieces))
}

/// The path of a source, split.
#[derive(Debug)]
struct PathWords {
    /// The file name; for a table in a file with several, both names.
    file: String,
    ending: String,
    /// The names of its directories, nearest first.
    parents: Vec<String>,
}

impl PathWords {
    fn of(input: &Input) -> PathWords {
        let (of, table) = match input {
            Input::Table(table) if table.is_only => (&*table.of, None),
            _ => input.parts(),
        };
        let Some(path) = of.path() else {
            return PathWords {
                file: input.dataset_name(),
                ending: String::new(),
                parents: Vec::new(),
            };
        };
        let path = absolute(&path);
        let parts = path.components().filter(|it| matches!(it, Component::Normal(_)));
        let parts = parts.map(|it| it.as_os_str().to_string_lossy().into_owned());
        let mut parts: Vec<String> = parts.collect();
        let file = parts.pop().unwrap_or_default();
        let ending = file.rsplit_once('.').map_or("", |it| it.1).to_owned();
        let file = match table {
            Some(table) => {
                format!("{}_{}", csv_agent_ingest::stem_of(&file), table.replace('/', "_"))
            }
            None => file,
        };
        parts.reverse();
        PathWords { file, ending, parents: parts }
    }

    /// Returns the name with the directories of these levels as a prefix, farthest first.
    fn name(&self, levels: &[usize]) -> String {
        let parents = levels.iter().rev().filter_map(|it| self.parents.get(*it));
        // An archive, like a file, is named without its ending.
        let parts: Vec<&str> =
            parents.map(|it| csv_agent_ingest::stem_of(it)).chain([self.file.as_str()]).collect();
        csv_agent_ingest::name_of(Path::new(&parts.join("_")))
    }

    fn part(&self, part: &str) -> String {
        let parent = |at: usize| self.parents.get(at).cloned().unwrap_or_default();
        match part {
            "stem" => csv_agent_ingest::stem_of(&self.file).to_owned(),
            "parent" => parent(0),
            "grandparent" => parent(1),
            _ => self.ending.clone(),
        }
    }
}

/// Returns a name for each input, by a pattern. Fails when two inputs get the same name.
pub(super) fn by_pattern(inputs: &[&Input], pattern: &NamePattern) -> anyhow::Result<Vec<String>> {
    let mut owners: HashMap<String, &Input> = HashMap::new();
    let mut names = Vec::with_capacity(inputs.len());
    for input in inputs {
        let words = PathWords::of(input);
        let text: String = pattern
            .0
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Part(part) => words.part(part),
            })
            .collect();
        let name = csv_agent_ingest::name_of(Path::new(&text.replace('/', "_")));
        if let Some(other) = owners.insert(name.to_lowercase(), input) {
            let message = format!(
                "`--name-from` gives `{}` and `{}` the same name, `{name}`",
                other.shown_name(),
                input.shown_name()
            );
            let hint = "add a part in which they differ, such as `{parent}` or `{ending}`";
            return Err(Failure::usage(message).hint(hint).into());
        }
        names.push(name);
    }
    Ok(names)
}

/// Returns a name for each input: the session's name for the file, or else an unused one. A used name
/// stays when the dataset with it is to be replaced or kept.
pub(super) fn unique(
    inputs: &[&Input],
    catalog: &Catalog,
    if_exists: IfExists,
    session_dir: &Path,
) -> Vec<String> {
    let known = KnownNames::of(catalog, session_dir);
    let words: Vec<PathWords> = inputs.iter().map(|it| PathWords::of(it)).collect();
    let mut names: Vec<Option<String>> = inputs
        .iter()
        .zip(&words)
        .map(|(input, words)| {
            // Stdin has no path to distinguish it.
            let Some(origin) = origin(input, session_dir) else { return Some(words.name(&[])) };
            let whole = whole_origin(input, session_dir)?;
            let is_table = || input.file().is_some_and(Path::is_dir);
            let joined = || known.joined.get(&origin).filter(|_| is_table());
            let names = known.parts.get(&whole).or_else(|| known.files.get(&origin));
            let names = names.or_else(joined)?;
            let own = words.name(&[]);
            Some(names.iter().find(|it| ***it == own).unwrap_or(&names[0]))
                .map(|it| (*it).to_owned())
        })
        .collect();
    // In lower case, as all names that are compared here.
    let mut given: HashSet<String> = HashSet::new();
    for name in &mut names {
        // Two names of one file belong to one dataset: the second is handled like any other.
        if name.as_ref().is_some_and(|it| !given.insert(it.to_lowercase())) {
            *name = None;
        }
    }
    let is_there =
        |origin: &str| Path::new(origin).ancestors().any(|it| session_dir.join(it).is_file());
    let is_gone = |it: &Dataset| {
        is_one_file(it) && it.origin.as_deref().is_some_and(|origin| !is_there(origin))
    };
    let mut gone: Vec<(&str, &Dataset)> = catalog.iter().filter(|it| is_gone(it.1)).collect();
    for (input, name) in inputs.iter().zip(&mut names).filter(|it| it.1.is_none()) {
        *name = moved(input, &mut gone).map(str::to_owned);
        given.extend(name.as_ref().map(|it| it.to_lowercase()));
    }
    // Files that keep their names also count when others are distinguished.
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, words) in words.iter().enumerate() {
        alike.entry(words.name(&[]).to_lowercase()).or_default().push(at);
    }
    let is_free = |given: &HashSet<String>, at: usize, name: &str| {
        !given.contains(&name.to_lowercase())
            && (!matches!(if_exists, IfExists::Ask | IfExists::Error)
                || catalog.alike(name).is_none_or(|it| {
                    // The same bytes at another path are a file that was moved, or a copy of one that is still there.
                    inputs[at].is_same_as(it) && !it.origin.as_deref().is_some_and(is_there)
                }))
    };
    // A unique name is kept.
    let (single, several): (Vec<_>, Vec<_>) = alike.into_iter().partition(|it| it.1.len() == 1);
    for (_, group) in single.into_iter().chain(several) {
        let unnamed: Vec<usize> = group.iter().copied().filter(|it| names[*it].is_none()).collect();
        let found = apart(&group, &unnamed, &words, |at, name| is_free(&given, at, name));
        for (at, name) in unnamed.iter().zip(found) {
            given.insert(name.to_lowercase());
            names[*at] = Some(name);
        }
    }
    names.into_iter().flatten().collect()
}

/// The names of datasets by their origins.
#[derive(Default)]
struct KnownNames<'a> {
    /// Of datasets from a part of a file, by that part.
    parts: HashMap<String, Vec<&'a str>>,
    /// Of the same datasets, by the file if it had no other part.
    files: HashMap<String, Vec<&'a str>>,
    /// Of joined datasets.
    joined: HashMap<String, Vec<&'a str>>,
}

impl<'a> KnownNames<'a> {
    fn of(catalog: &'a Catalog, session_dir: &Path) -> KnownNames<'a> {
        let mut known = KnownNames::default();
        let here = catalog.iter().filter(|it| it.1.remote().is_none());
        for (name, dataset) in here.filter(|it| it.1.table_number.is_none()) {
            // An older version did not store it; then it is the current path of a source with that name.
            let older = || origin_of(Path::new(&dataset.source), session_dir);
            let origin = dataset.origin.clone().or_else(older).unwrap_or_default();
            if !is_one_file(dataset) {
                known.joined.entry(origin).or_default().push(name);
                continue;
            }
            let whole = dataset.whole_origin().unwrap_or_else(|| origin.clone());
            known.files.entry(origin).or_default().push(name);
            known.parts.entry(whole).or_default().push(name);
        }
        known
    }
}

fn is_one_file(dataset: &Dataset) -> bool {
    dataset.remote().is_none() && dataset.files.is_empty()
}

/// Returns the dataset of a file that was moved, with its directory or without, and removes it from those whose
/// files are `gone`.
fn moved<'a>(input: &Input, gone: &mut Vec<(&'a str, &'a Dataset)>) -> Option<&'a str> {
    let path = input.path()?;
    let n_shared = |dataset: &Dataset| {
        let origin = Path::new(dataset.origin.as_deref().unwrap_or_default());
        let parts = path.components().rev().zip(origin.components().rev());
        parts.take_while(|(a, b)| a == b).count()
    };
    let shared = gone.iter().enumerate().map(|(at, it)| (n_shared(it.1), at));
    let mut called_so: Vec<(usize, usize)> = shared.filter(|it| 0 < it.0).collect();
    called_so.sort_by_key(|it| Reverse(it.0));
    let (_, at) = called_so.into_iter().find(|it| input.is_same_as(gone[it.1].1))?;
    Some(gone.remove(at).0)
}

/// Returns names for those files of a group with equal names that have none yet, with the shortest part of
/// their paths that distinguishes the whole group.
fn apart(
    group: &[usize],
    unnamed: &[usize],
    words: &[PathWords],
    is_free: impl Fn(usize, &str) -> bool,
) -> Vec<String> {
    let n_levels = group.iter().map(|it| words[*it].parents.len()).max().unwrap_or_default();
    let one = (0..n_levels).map(|it| vec![it]);
    let several = (2..=n_levels).map(|it| (0..it).collect());
    let ways = [Vec::new()].into_iter().chain(one).chain(several);
    let by_path = ways.map(|levels| Box::new(move |it: &PathWords| it.name(&levels)) as NamingRule);
    let by_ending: NamingRule = Box::new(|it| {
        let text = format!("{}_{}", it.name(&[]), it.ending);
        csv_agent_ingest::name_of(Path::new(&text))
    });
    let mut best: (usize, Vec<String>) = (0, Vec::new());
    for way in by_path.chain([by_ending]) {
        let found = group.iter().map(|it| way(&words[*it]).to_lowercase());
        let n_apart = found.collect::<HashSet<_>>().len();
        let names: Vec<String> = unnamed.iter().map(|it| way(&words[*it])).collect();
        let all_free = unnamed.iter().zip(&names).all(|(at, name)| is_free(*at, name));
        if n_apart == group.len() && all_free {
            return names;
        }
        if best.0 < n_apart {
            best = (n_apart, names);
        }
    }
    numbered(unnamed, best.1, is_free)
}

type NamingRule = Box<dyn Fn(&PathWords) -> String>;

/// Appends a number to each used name.
fn numbered(
    group: &[usize],
    names: Vec<String>,
    is_free: impl Fn(usize, &str) -> bool,
) -> Vec<String> {
    /// Bytes of a number with its separator.
    const NUMBER_BYTES: usize = 8;
    let mut given: Vec<String> = Vec::new();
    let is_given = |given: &[String], name: &str| given.iter().any(|it| is_same(it, name));
    for (at, name) in group.iter().zip(names) {
        let end = name.floor_char_boundary(DATASET_NAME_BYTES_MAX - NUMBER_BYTES);
        let numbers = (2..).map(|number| format!("{}_{number}", &name[..end]));
        let found = [name.clone()]
            .into_iter()
            .chain(numbers)
            .find(|it| !is_given(&given, it) && is_free(*at, it))
            .expect("there are more numbers than names");
        given.push(found);
    }
    given
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{by_pattern, name_pattern, unique};
    use crate::ingest::input::SourceTable;
    use crate::ingest::{IfExists, Input};
    use csv_agent_testing::dataset;
    use csv_agent_types::catalog::{Catalog, Dataset};

    fn inputs(paths: &[&str]) -> Vec<Input> {
        paths.iter().map(|it| Input::File(PathBuf::from(it))).collect()
    }

    #[track_caller]
    fn check(paths: &[&str], known: &[(&str, &str)], expected: &[&str]) {
        let mut catalog = Catalog::default();
        for (source, name) in known {
            let mut dataset: Dataset = dataset(1);
            (*source).clone_into(&mut dataset.source);
            catalog.insert((*name).to_owned(), dataset);
        }
        let inputs = inputs(paths);
        let inputs: Vec<&Input> = inputs.iter().collect();
        assert_eq!(unique(&inputs, &catalog, IfExists::Error, Path::new("/s")), expected);
    }

    #[test]
    fn the_least_of_the_path_tells_files_apart() {
        check(
            &["/d/fraud/Kansas.csv", "/d/theft/Kansas.csv"],
            &[],
            &["fraud_Kansas", "theft_Kansas"],
        );
        check(
            &["/d/fraud/2020/Kansas.csv", "/d/theft/2020/Kansas.csv", "/d/x.csv"],
            &[],
            &["fraud_Kansas", "theft_Kansas", "x"],
        );
        check(&["/d/a/1/k.csv", "/d/a/2/k.csv", "/d/b/1/k.csv"], &[], &["a_1_k", "a_2_k", "b_1_k"]);
        check(&["/d/k.csv", "/d/k.parquet"], &[], &["k_csv", "k_parquet"]);
        check(&["/d/a b.csv", "/d/a+b.csv"], &[], &["a_b", "a_b_2"]);
        check(&["/d/a-b.csv", "/d/a_b.csv"], &[], &["a-b", "a_b"]);
        check(&["/d/f_k.csv", "/d/f/k.csv", "/d/t/k.csv"], &[], &["f_k", "d_f_k", "d_t_k"]);
    }

    #[test]
    fn an_only_sheet_keeps_the_name_that_an_older_version_gave_its_file() {
        let mut known: Dataset = dataset(1);
        "/d/k.xlsx".clone_into(&mut known.source);
        let mut catalog = Catalog::default();
        catalog.insert("mine".to_owned(), known);
        let of = Box::new(Input::File("/d/k.xlsx".into()));
        let sheet = Input::Table(SourceTable { of, name: "Q1".to_owned(), is_only: true });
        assert_eq!(unique(&[&sheet], &catalog, IfExists::Error, Path::new("/s")), ["mine"]);
    }

    #[test]
    fn a_file_that_the_session_knows_keeps_its_name() {
        // As an older version spelled it.
        let known = [("/d/fraud/Kansas.csv", "kansas")];
        let two = ["/d/fraud/Kansas.csv", "/d/theft/Kansas.csv"];
        check(&two, &known, &["kansas", "theft_Kansas"]);
        check(&two, &[("/d/fraud/Kansas.csv", "f")], &["f", "theft_Kansas"]);
        let known = [("/d/fraud/Kansas.csv", "f"), ("/d/theft/Kansas.csv", "theft_Kansas")];
        check(&["/d/./theft/Kansas.csv"], &known, &["theft_Kansas"]);
        check(&["/d/a.csv", "/e/Kansas.csv"], &[("/d/Kansas.csv", "Kansas")], &["a", "e_Kansas"]);
        check(&["/e/Kansas.csv"], &[("/d/Kansas.csv", "Kansas")], &["e_Kansas"]);
        check(&["/d/066_IBM_HR.csv"], &[("/d/066_IBM_HR.csv", "t_066_ibm_hr")], &["t_066_ibm_hr"]);
    }

    #[test]
    fn names_that_differ_only_in_case_are_taken() {
        check(&["/d/Sales.csv", "/d/e/SALES.csv"], &[], &["d_Sales", "e_SALES"]);
        check(&["/e/Sales.csv"], &[("/d/sales.csv", "sales")], &["e_Sales"]);
        check(&["/a+b.csv", "/A b.csv"], &[], &["a_b", "A_b_2"]);
    }

    #[test]
    fn a_pattern_names_parts_of_the_path() {
        let pattern = name_pattern("{grandparent}_{parent}_{stem}").unwrap();
        let one = Input::File(PathBuf::from("/d/Fraud/2020/Kansas.csv.gz"));
        let found = by_pattern(&[&one], &pattern).unwrap();
        assert_eq!(found, ["Fraud_2020_Kansas"]);
        let same = inputs(&["/d/a/k.csv", "/d/b/k.csv"]);
        let same: Vec<&Input> = same.iter().collect();
        let error = by_pattern(&same, &name_pattern("x_{stem}").unwrap()).unwrap_err().to_string();
        assert_eq!(error, "`--name-from` gives `/d/a/k.csv` and `/d/b/k.csv` the same name, `x_k`");
        for wrong in ["", "all", "{stem", "stem}", "{year}_{stem}", "{stem}}"] {
            assert!(name_pattern(wrong).is_err(), "{wrong}");
        }
    }
}
