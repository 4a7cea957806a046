//! Datasets with the same columns: when many files share their columns, they are described as one
//! family.
//!
//! Nothing is stored: the catalog has the columns and the sources, and a family is what they share.

use std::collections::BTreeMap;
use std::path::Path;

use csv_agent_types::catalog::{Catalog, Column, DType, Dataset};

use crate::{most_common, name_of};

/// Minimum number of members; fewer datasets are described individually although they have the same
/// columns.
const MEMBERS_MIN: usize = 3;

/// Between the words of a name.
const SEPARATORS: [char; 2] = ['_', '-'];

/// Datasets with the same columns in the same order.
#[derive(Debug)]
pub struct Family<'a> {
    /// By name.
    pub members: Vec<(&'a str, &'a Dataset)>,
    /// The name pattern is the same as another family's, so it does not identify this one.
    shares_pattern: bool,
}

/// Returns the families of a catalog, and the datasets that belong to none, each ordered by name.
pub fn families(catalog: &Catalog) -> (Vec<Family<'_>>, Vec<(&str, &Dataset)>) {
    families_of(catalog.iter())
}

/// Returns the families among datasets, and the datasets that belong to none.
pub fn families_of<'a>(
    datasets: impl Iterator<Item = (&'a str, &'a Dataset)>,
) -> (Vec<Family<'a>>, Vec<(&'a str, &'a Dataset)>) {
    let mut by_columns: BTreeMap<Vec<&str>, Vec<(&str, &Dataset)>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (name, dataset) in datasets {
        // A remote dataset, or one that is already joined, stands alone whatever the others are.
        if dataset.remote().is_some() || !dataset.files.is_empty() {
            alone.push((name, dataset));
            continue;
        }
        let columns = dataset.columns.iter().map(|it| it.name.as_str()).collect();
        by_columns.entry(columns).or_default().push((name, dataset));
    }
    let mut families = Vec::new();
    for members in by_columns.into_values() {
        if members.len() < MEMBERS_MIN {
            alone.extend(members);
        } else {
            families.push(Family { members, shares_pattern: false });
        }
    }
    let patterns: Vec<String> = families.iter().map(Family::pattern).collect();
    for family in &mut families {
        let own = family.pattern();
        family.shares_pattern = 1 < patterns.iter().filter(|it| **it == own).count();
    }
    families.sort_by_key(|it| it.members[0].0);
    alone.sort_by_key(|it| it.0);
    (families, alone)
}

impl Family<'_> {
    /// Returns the columns, as the first member has them.
    pub fn columns(&self) -> &[Column] {
        &self.members[0].1.columns
    }

    /// Returns the total number of rows.
    pub fn row_count(&self) -> u64 {
        self.members.iter().map(|it| it.1.row_count).sum()
    }

    /// Returns the types of a column among the members, the most common first, with their counts.
    pub fn dtypes(&self, at: usize) -> Vec<(DType, usize)> {
        most_common(self.members.iter().map(|it| it.1.columns[at].dtype))
    }

    /// Returns whether every column has the same type in all members.
    pub fn is_of_one_type(&self) -> bool {
        (0..self.columns().len()).all(|at| self.dtypes(at).len() == 1)
    }

    /// Returns the common pattern of the members' names: `fraud_*`; `*` when they share nothing, or
    /// share it with another family.
    pub fn pattern(&self) -> String {
        if self.shares_pattern {
            return "*".to_owned();
        }
        let names: Vec<&str> = self.members.iter().map(|it| it.0).collect();
        let (before, behind) = common_ends(&names, &SEPARATORS);
        format!("{before}*{behind}")
    }

    /// Returns the name of the family: its pattern, or the first member's name where the names share
    /// nothing.
    pub fn name(&self) -> String {
        match self.pattern() {
            pattern if pattern == "*" => format!("{}, …", self.members[0].0),
            pattern => pattern,
        }
    }

    /// Returns the common prefix and suffix of the names.
    pub fn ends(&self) -> (String, String) {
        let pattern = self.pattern();
        let (before, behind) = pattern.split_once('*').unwrap_or_default();
        (before.to_owned(), behind.to_owned())
    }

    /// Returns the `ingest` argument that joins the files of the members: `fraud='data/fraud/*.csv'`.
    pub fn joining(&self) -> String {
        let sources: Vec<Vec<&str>> =
            self.members.iter().map(|it| it.1.source.split('/').collect()).collect();
        let files: Vec<&str> = sources.iter().filter_map(|it| it.last().copied()).collect();
        let (before, behind) = common_ends(&files, &[' ', '_', '-', '.']);
        let is_one = files.iter().all(|it| *it == files[0]);
        let file = if is_one { files[0].to_owned() } else { format!("{before}*{behind}") };
        let n_levels = sources[0].len();
        let is_level = sources.iter().all(|it| it.len() == n_levels);
        let mut parts: Vec<&str> = Vec::new();
        let n_dirs = sources.iter().map(|it| it.len() - 1).min().unwrap_or_default();
        for at in 0..n_dirs {
            let part = sources[0][at];
            if sources.iter().all(|it| it[at] == part) {
                parts.push(part);
            } else if is_level {
                parts.push("*");
            } else {
                break;
            }
        }
        if !is_level {
            parts.push("**");
        }
        let pattern = self.pattern();
        let named = pattern.split('*').map(|it| it.trim_matches(SEPARATORS));
        let name = named.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("_");
        let fixed = parts.iter().rev().find(|it| !it.contains('*'));
        let name = if name.is_empty() { fixed.copied().unwrap_or("all") } else { &name };
        let name = name_of(Path::new(name));
        let name =
            if self.members.iter().any(|it| it.0 == name) { format!("all_{name}") } else { name };
        parts.push(&file);
        format!("{name}='{}'", parts.join("/"))
    }
}

/// Returns the common beginning and the common end of names, as far as whole words are common.
fn common_ends(names: &[&str], separators: &[char]) -> (String, String) {
    let before = common(names, |it| Box::new(it.chars()));
    let before = before.rfind(separators).map_or("", |it| &before[..=it]);
    let rest: Vec<&str> = names.iter().map(|it| &it[before.len()..]).collect();
    let behind: String = common(&rest, |it| Box::new(it.chars().rev())).chars().rev().collect();
    let behind = behind.find(separators).map_or("", |it| &behind[it..]);
    // A name that consists only of the common part is one of them as well.
    let behind = if rest.iter().any(|it| it.len() <= behind.len()) { "" } else { behind };
    (before.to_owned(), behind.to_owned())
}

/// Returns the common beginning of all texts, in the order given by `letters`.
fn common<'a>(
    texts: &[&'a str],
    letters: impl Fn(&'a str) -> Box<dyn Iterator<Item = char> + 'a>,
) -> String {
    let mut found: Vec<char> = texts.first().map(|it| letters(it).collect()).unwrap_or_default();
    for text in texts {
        let n = found.iter().zip(letters(text)).take_while(|(a, b)| **a == *b).count();
        found.truncate(n);
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::families;
    use csv_agent_testing::dataset;
    use csv_agent_types::catalog::{Catalog, DType, Dataset};

    fn catalog(datasets: &[(&str, &str, usize)]) -> Catalog {
        let mut catalog = Catalog::default();
        for (name, source, n_columns) in datasets {
            let mut dataset: Dataset = dataset(*n_columns);
            (*source).clone_into(&mut dataset.source);
            catalog.insert((*name).to_owned(), dataset);
        }
        catalog
    }

    #[test]
    fn datasets_with_the_same_columns_are_a_family() {
        let mut catalog = catalog(&[
            ("fraud_kansas", "data/fraud/Kansas.csv", 2),
            ("fraud_ohio", "data/fraud/Ohio.csv", 2),
            ("fraud_utah", "data/fraud/Utah.csv", 2),
            ("other", "data/other.csv", 3),
            ("pair_a", "a.csv", 4),
            ("pair_b", "b.csv", 4),
        ]);
        let mut utah = catalog.get("fraud_utah").unwrap().clone();
        utah.columns[1].dtype = DType::String;
        catalog.insert("fraud_utah".to_owned(), utah);
        let (found, alone) = families(&catalog);
        let [family] = &found[..] else { panic!("{} families", found.len()) };
        assert_eq!(family.pattern(), "fraud_*");
        assert_eq!(family.joining(), "fraud='data/fraud/*.csv'");
        assert_eq!(family.dtypes(1), [(DType::Float64, 2), (DType::String, 1)]);
        assert!(!family.is_of_one_type());
        assert_eq!(family.row_count(), 9);
        assert_eq!(alone.iter().map(|it| it.0).collect::<Vec<_>>(), ["other", "pair_a", "pair_b"]);
    }

    #[test]
    fn families_whose_names_look_alike_are_told_apart() {
        let months = ["jan", "feb", "mar", "apr", "may", "jun"];
        let all: Vec<(String, String, usize)> = (0..6)
            .map(|at| {
                (
                    format!("t_{}", months[at]),
                    format!("d/{}/{}.csv", at / 3, months[at]),
                    1 + at / 3,
                )
            })
            .collect();
        let all: Vec<(&str, &str, usize)> =
            all.iter().map(|it| (it.0.as_str(), it.1.as_str(), it.2)).collect();
        let catalog = catalog(&all);
        let (found, _) = families(&catalog);
        let told: Vec<String> = found.iter().map(super::Family::name).collect();
        assert_eq!(told, ["t_apr, …", "t_feb, …"]);
        let joining: Vec<String> = found.iter().map(super::Family::joining).collect();
        assert_eq!(joining, ["1='d/1/*.csv'", "0='d/0/*.csv'"]);
    }

    #[test]
    fn files_of_several_directories_are_joined_by_a_pattern() {
        let check = |sources: [&str; 3], names: [&str; 3], pattern: &str, joining: &str| {
            let all = [0, 1, 2].map(|it| (names[it], sources[it], 1));
            let catalog = catalog(&all);
            let (found, _) = families(&catalog);
            assert_eq!(
                (found[0].pattern().as_str(), found[0].joining().as_str()),
                (pattern, joining)
            );
        };
        let names = ["a_2020", "b_2020", "c_2020"];
        check(["d/a/1.csv", "d/b/1.csv", "d/c/1.csv"], names, "*_2020", "2020='d/*/1.csv'");
        let names = ["s_1_x", "s_2_x", "s_3_x"];
        let sources = ["d/s 1.x.csv", "d/s 2.x.csv", "d/s 3.x.csv"];
        check(sources, names, "s_*_x", "s_x='d/s *.x.csv'");
        let names = ["x", "y", "z"];
        check(["d/x.csv", "d/s/y.csv.gz", "d/s/t/z.csv"], names, "*", "d='d/**/*'");
        check(["d", "y", "z"], ["d", "y", "z"], "*", "all='*'");
    }
}
