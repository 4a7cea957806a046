//! The selection of datasets by names, or by patterns such as `fraud_*`. Case does not matter where it does not
//! decide between two datasets.

use glob::{MatchOptions, Pattern};

use crate::catalog::{Catalog, Dataset};
use crate::dataset_names::{is_same, meant};
use crate::status::Failure;

/// Number of names in a hint.
const SHOWN_MAX: usize = 5;

/// Returns whether a name or a pattern matches a dataset.
pub fn is_named(wanted: &str, name: &str) -> bool {
    let any_case = MatchOptions { case_sensitive: false, ..MatchOptions::new() };
    is_same(wanted, name) || pattern(wanted).is_some_and(|it| it.matches_with(name, any_case))
}

/// Returns the selected datasets, each once, in the order of the selectors.
///
/// # Errors
///
/// Fails with `FailureKind::Input` when a name or a pattern matches none; lists the most similar names.
pub fn chosen<'a>(
    catalog: &'a Catalog,
    wanted: &[String],
) -> anyhow::Result<Vec<(&'a str, &'a Dataset)>> {
    let mut chosen: Vec<(&str, &Dataset)> = Vec::new();
    for wanted in wanted {
        let mut is_any = false;
        let is_exact = catalog.get(wanted).is_some();
        let is_wanted = |name: &str| if is_exact { name == wanted } else { is_named(wanted, name) };
        for found in catalog.iter().filter(|it| is_wanted(it.0)) {
            is_any = true;
            if chosen.iter().all(|it| it.0 != found.0) {
                chosen.push(found);
            }
        }
        if !is_any {
            return Err(none(catalog, wanted).into());
        }
    }
    Ok(chosen)
}

/// Returns the pattern; None for a plain name.
fn pattern(wanted: &str) -> Option<Pattern> {
    wanted.contains(['*', '?', '[']).then(|| Pattern::new(wanted).ok()).flatten()
}

/// Returns the failure for a name or a pattern that matches no dataset, with the most similar names.
pub fn none(catalog: &Catalog, wanted: &str) -> Failure {
    let message = match pattern(wanted) {
        Some(_) => format!("no dataset matches `{wanted}`"),
        None => format!("no dataset `{wanted}`"),
    };
    let hint = if catalog.is_empty() {
        "the session has none; see `csv-agent ingest --help`".to_owned()
    } else {
        let signs = wanted.replace(['*', '?', '[', ']'], "").to_lowercase();
        let mut near: Vec<&str> = catalog.names().collect();
        // A part of a longer name may be meant.
        let typos = |name: &str| {
            let part = name.floor_char_boundary(signs.len().max(1));
            strsim::osa_distance(&signs, name).min(strsim::osa_distance(&signs, &name[..part]))
        };
        near.sort_by_key(|it| typos(&it.to_lowercase()));
        let short = meant(wanted, catalog.names());
        near.sort_by_key(|it| !short.contains(it));
        let is_near =
            !short.is_empty() || near.first().is_some_and(|it| typos(&it.to_lowercase()) <= 2);
        let n = near.len();
        let shown: Vec<String> = near.iter().take(SHOWN_MAX).map(|it| format!("`{it}`")).collect();
        let shown = shown.join(", ");
        match n.saturating_sub(SHOWN_MAX) {
            _ if is_near && pattern(wanted).is_none() => format!("did you mean `{}`?", near[0]),
            0 => format!("the session has {shown}"),
            n => {
                format!(
                    "the nearest names are {shown}; `csv-agent datasets --names` lists {n} more"
                )
            }
        }
    };
    Failure::input(message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::chosen;
    use crate::catalog::Catalog;
    use crate::status::Failure;
    use csv_agent_testing::dataset;

    #[test]
    fn datasets_are_named_by_name_or_pattern_each_once() {
        let mut catalog = Catalog::default();
        for name in ["fraud_kansas", "fraud_ohio", "theft_ohio", "theft_utah", "x", "y"] {
            catalog.insert(name.to_owned(), dataset(1));
        }
        let check = |wanted: &[&str], expected: Result<&[&str], &str>| {
            let wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
            let found = chosen(&catalog, &wanted);
            let found = found.map(|it| it.into_iter().map(|it| it.0).collect::<Vec<_>>());
            let found = found.map_err(|it| {
                let failure = it.downcast::<Failure>().unwrap();
                format!("{}: {}", failure.message, failure.hint.unwrap())
            });
            assert_eq!(found.as_deref().map_err(String::as_str), expected);
        };
        check(&["x", "*_ohio", "fraud_*"], Ok(&["x", "fraud_ohio", "theft_ohio", "fraud_kansas"]));
        check(&["x", "x", "X"], Ok(&["x"]));
        check(&["Fraud_Ohio", "THEFT_*"], Ok(&["fraud_ohio", "theft_ohio", "theft_utah"]));
        check(&["utah"], Err("no dataset `utah`: did you mean `theft_utah`?"));
        check(&["theft_uta"], Err("no dataset `theft_uta`: did you mean `theft_utah`?"));
        check(
            &["thift_*"],
            Err("no dataset matches `thift_*`: the nearest names are `theft_ohio`, `theft_utah`, \
                 `fraud_kansas`, `fraud_ohio`, `x`; `csv-agent datasets --names` lists 1 more"),
        );
    }
}
