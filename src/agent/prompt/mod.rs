//! The instructions: parts in a fixed order, the same bytes in every round of a turn.
//!
//! Pure: what changes from turn to turn (the question, the clock) is not in here, so that a provider can
//! cache the beginning of a request.

use std::fmt::Write;

use crate::catalog::{Catalog, Dataset};
use crate::limits::SCHEMA_BYTES_MAX;

const ROLE: &str = include_str!("role.md");
const OUTPUT: &str = include_str!("output.md");
const VERDICT: &str = include_str!("verdict.md");

/// Returns the instructions for a turn over these datasets.
pub fn instructions(catalog: &Catalog, verdict: bool) -> String {
    let mut parts = vec![ROLE.to_owned(), datasets(catalog), OUTPUT.to_owned()];
    if verdict {
        parts.push(VERDICT.to_owned());
    }
    parts.join("\n")
}

/// Returns the columns that the instructions name, each after its dataset.
pub fn columns_told(catalog: &Catalog) -> Vec<(&str, &str)> {
    let text = datasets(catalog);
    let mut told = Vec::new();
    for (name, dataset) in catalog.iter() {
        let share = SCHEMA_BYTES_MAX / catalog.len().max(1);
        let schema = schema(name, dataset, share);
        if text.contains(&schema) {
            let listed = schema.lines().filter(|it| it.starts_with("  - \"")).count();
            told.extend(dataset.columns.iter().take(listed).map(|it| (name, it.name.as_str())));
        }
    }
    told
}

/// Writes the datasets with their schemas, in at most about [`SCHEMA_BYTES_MAX`] bytes. When there is
/// no room for all columns of a dataset, its first ones stand for it; when there is no room for any,
/// only its size does.
fn datasets(catalog: &Catalog) -> String {
    let mut text = "Datasets:\n".to_owned();
    if catalog.is_empty() {
        text.push_str("- none; say so, and name `csv-agent ingest FILE.csv`\n");
    }
    let share = SCHEMA_BYTES_MAX / catalog.len().max(1);
    let mut n_unlisted = 0;
    for (name, dataset) in catalog.iter() {
        if SCHEMA_BYTES_MAX < text.len() {
            n_unlisted += 1;
        } else {
            text.push_str(&schema(name, dataset, share));
        }
    }
    if 0 < n_unlisted {
        let _ = writeln!(text, "- and {n_unlisted} more datasets: call list_datasets");
    }
    text
}

fn schema(name: &str, dataset: &Dataset, bytes_max: usize) -> String {
    let (n_rows, n_columns) = (dataset.row_count, dataset.columns.len());
    let mut text = format!("- {name}: {n_rows} rows, {n_columns} columns\n");
    for (at, column) in dataset.columns.iter().enumerate() {
        if bytes_max < text.len() {
            let _ = writeln!(text, "  - and {} more: call get_dataset_info", n_columns - at);
            break;
        }
        let _ = write!(text, "  - {:?} {}", column.name, column.dtype.name());
        if 0 < column.nulls {
            let _ = write!(text, ", {} missing", column.nulls);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Catalog, Column, DType, Dataset, Dialect, SetAside, SourceFormat};

    fn dataset(n_columns: usize) -> Dataset {
        let column = |at: usize| Column {
            name: format!("column {at}"),
            dtype: DType::Float64,
            nulls: u64::from(at == 0),
            note: None,
            is_ambiguous: false,
        };
        let dialect = Dialect {
            format: SourceFormat::Text,
            told: Vec::new(),
            encoding: "utf-8".into(),
            delimiter: Some(",".to_owned()),
            quote: None,
            escape: None,
            header: true,
            header_line: Some(1),
            reasons: Vec::new(),
            damage: None,
        };
        Dataset {
            path: "datasets/x.parquet".into(),
            source: "x.csv".into(),
            sha256: String::new(),
            bytes: 1,
            row_count: 3,
            columns: (0..n_columns).map(column).collect(),
            dialect,
            padded_rows: 0,
            surplus_rows: 0,
            set_aside: SetAside::default(),
            ingested_at: String::new(),
        }
    }

    #[test]
    fn a_schema_is_listed_with_types_and_missing_values() {
        let mut catalog = Catalog::default();
        catalog.insert("sales".into(), dataset(2));
        let expected = "Datasets:\n- sales: 3 rows, 2 columns\n  - \"column 0\" float64, 1 missing\n  \
                        - \"column 1\" float64\n";
        assert_eq!(super::datasets(&catalog), expected);
    }

    #[test]
    fn wide_and_many_datasets_stay_within_bounds_and_say_so() {
        let mut catalog = Catalog::default();
        catalog.insert("wide".into(), dataset(5_000));
        let wide = super::datasets(&catalog);
        assert!(wide.len() < 26_000, "{}", wide.len());
        assert!(wide.contains("more: call get_dataset_info"));
        for at in 0..2_000 {
            catalog.insert(format!("d{at}"), dataset(3));
        }
        let many = super::datasets(&catalog);
        assert!(many.len() < 26_000, "{}", many.len());
        assert!(many.contains("more datasets: call list_datasets"));
    }
}
