//! `get_dataset_info`: the schema of a dataset.
//!
//! It is in the catalog. The footer of the Parquet file contains the same, but takes a hundred times as
//! long to read for a wide file with many row groups.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_types::catalog::{Catalog, Column, Dataset, Facts, Likeness, Overlap, Query, Remote};
use csv_agent_types::event::ToolOutput;
use csv_agent_types::limits::OVERLAP_ROWS_MAX;

use crate::strict::{self, object, string};
use crate::{Needs, Plan, Tool, ToolError, dataset, tell_rows};

pub(crate) const TOOL: Tool = Tool {
    name: "get_dataset_info",
    description: "Returns the schema of one dataset: every column with its type, its count of missing \
values and how its values were read, the row count, and which columns other datasets have as well, with how many \
of their different values are the same, for joins. It is fast at any size. Call it before loading a dataset whose \
columns the instructions do not show, and before a join.",
    parameters,
    plan,
    needs: Needs::Nothing,
    only_reads: true,
    allowance: None,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

fn parameters() -> Value {
    object([("name", string("the dataset's name, as list_datasets gives it"))])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { name } = strict::arguments(arguments)?;
    let dataset = dataset(catalog, &name)?;
    if let Some(remote) = dataset.remote() {
        return Ok(Plan::Done(ToolOutput::json(of_remote(&name, dataset, remote))));
    }
    let Dataset { row_count, columns, .. } = dataset;
    let columns: Vec<Value> = columns
        .iter()
        .map(|it| {
            let mut column = json!({"name": it.name, "dtype": it.dtype, "nulls": it.nulls});
            if let Some(description) = &it.description {
                column["description"] = json!(description);
            }
            with_note(column, it)
        })
        .collect();
    let mut result =
        json!({"kind": "schema", "name": name, "row_count": row_count, "columns": columns});
    if 0 < dataset.set_aside.sum() {
        result["left_out"] = json!(dataset.set_aside.words());
    }
    if !dataset.notes.is_empty() {
        result["notes_of_the_file"] = json!(dataset.notes);
    }
    if let Some(line) = dataset.unclear_total {
        result["line_of_row_called_total"] = json!(line);
    }
    if !dataset.doubts.is_empty() {
        result["doubts"] = json!(dataset.doubts);
    }
    let path = dataset.path().map(Path::to_owned).unwrap_or_default();
    let alike = alike(catalog, &name, dataset);
    let failed = move || ToolError::new("failed", format!("cannot read the schema of `{name}`"));
    if alike.is_empty() {
        return Ok(Plan::read(Query::Check { path }, move |facts| match facts {
            Facts::Whole => Ok(ToolOutput::json(result)),
            _ => Err(failed()),
        }));
    }
    let likenesses = alike.iter().map(Alike::likeness).collect();
    Ok(Plan::read(Query::Overlap { path, likenesses }, move |facts| match facts {
        Facts::Overlaps(overlaps) => {
            let told: Vec<Value> =
                alike.iter().zip(overlaps).map(|(it, overlaps)| it.told(overlaps)).collect();
            result["columns_of_other_datasets"] = json!(told);
            Ok(ToolOutput::json(result))
        }
        _ => Err(failed()),
    }))
}

/// A column, and columns of other datasets suitable for a join.
struct Alike {
    column: String,
    others: Vec<Other>,
    /// Datasets beyond those that are listed.
    n_more: usize,
}

/// A column of another dataset.
struct Other {
    dataset: String,
    column: String,
    path: PathBuf,
}

impl Alike {
    fn likeness(&self) -> Likeness {
        let others = self.others.iter().map(|it| (it.path.clone(), it.column.clone()));
        Likeness { column: self.column.clone(), others: others.collect() }
    }

    fn told(&self, overlaps: Vec<Option<Overlap>>) -> Value {
        let others = self.others.iter().zip(overlaps);
        let others: Vec<Value> = others
            .map(|(other, overlap)| {
                let mut told = json!({"dataset": other.dataset, "column": other.column});
                if let Some(Overlap { n_here, n_there, n_both, is_whole }) = overlap {
                    told["values_here"] = json!(n_here);
                    told["values_there"] = json!(n_there);
                    told["values_in_both"] = json!(n_both);
                    if !is_whole {
                        told["note"] = json!(format!("of the first {OVERLAP_ROWS_MAX} rows"));
                    }
                }
                told
            })
            .collect();
        let mut told = json!({"column": self.column, "others": others});
        if 0 < self.n_more {
            told["more_datasets"] = json!(self.n_more);
        }
        told
    }
}

/// Returns the columns that other datasets have as well. A dataset with exactly the same columns
/// belongs to the same family, and is combined row by row.
fn alike(catalog: &Catalog, name: &str, dataset: &Dataset) -> Vec<Alike> {
    /// Maximum number of columns to list.
    const COLUMNS_MAX: usize = 20;
    /// Maximum number of datasets to list per column.
    const DATASETS_MAX: usize = 5;
    let own = names_to_join(name, dataset);
    let names = |it: &Dataset| it.columns.iter().map(|it| key(&it.name)).collect::<BTreeSet<_>>();
    let all = names(dataset);
    let others = catalog.iter().filter(|it| it.0 != name && names(it.1) != all);
    let others = others.filter_map(|(name, it)| Some((name, it, it.path()?)));
    let others: Vec<_> =
        others.map(|(name, it, path)| (name, it, path, names_to_join(name, it))).collect();
    let mut found = Vec::new();
    for (column, (plain, long)) in dataset.columns.iter().zip(&own) {
        // A name consisting only of symbols would match any other.
        if plain.is_empty() {
            continue;
        }
        let mut alike = Vec::new();
        for (name, other, path, theirs) in &others {
            let like =
                theirs.iter().position(|it| it.0 == *plain || it.1 == *plain || it.0 == *long);
            alike.extend(like.map(|at| Other {
                dataset: (*name).to_owned(),
                column: other.columns[at].name.clone(),
                path: path.to_path_buf(),
            }));
        }
        if alike.is_empty() {
            continue;
        }
        let n_more = alike.len().saturating_sub(DATASETS_MAX);
        alike.truncate(DATASETS_MAX);
        found.push(Alike { column: column.name.clone(), others: alike, n_more });
        if found.len() == COLUMNS_MAX {
            break;
        }
    }
    found
}

/// Returns the comparison key of a name.
fn key(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns what each column may be called elsewhere: its name, and its name with the dataset's: `id` of
/// `customers` is `customer_id` in others.
fn names_to_join(dataset: &str, table: &Dataset) -> Vec<(String, String)> {
    let of = key(dataset);
    let one = match of.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => of.strip_suffix('s').unwrap_or(&of).to_owned(),
    };
    let columns = table.columns.iter().map(|it| key(&it.name));
    columns.map(|it| (it.clone(), format!("{one}{it}"))).collect()
}

/// Adds what a reader must know about a column before computing with it.
fn with_note(mut shown: Value, column: &Column) -> Value {
    let remarks = column.remarks();
    if !remarks.is_empty() {
        shown["note"] = json!(remarks.join("; "));
    }
    shown
}

/// Describes a dataset on a cluster. Its missing values are not counted.
fn of_remote(name: &str, dataset: &Dataset, remote: &Remote) -> Value {
    let columns: Vec<Value> = dataset
        .columns
        .iter()
        .map(|it| with_note(json!({"name": it.name, "dtype": it.dtype}), it))
        .collect();
    let mut result = json!({"kind": "schema", "name": name, "location": remote.endpoint,
        "source": dataset.source, "columns": columns});
    tell_rows(&mut result, dataset, "row_count");
    if 0 < dataset.bytes {
        result["bytes"] = json!(dataset.bytes);
    }
    if let Some(files) = remote.files {
        result["files"] = json!(files);
    }
    if !remote.partitioned_by.is_empty() {
        result["partitioned_by"] = json!(remote.partitioned_by);
    }
    if !dataset.dialect.reasons.is_empty() {
        result["notes"] = json!(dataset.dialect.reasons);
    }
    result
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Plan, list_datasets, load_dataset_full, load_dataset_sample};
    use csv_agent_types::catalog::Catalog;

    /// A dataset of this machine, and one of a cluster.
    fn catalog() -> Catalog {
        let dataset = |dtype: &str| {
            json!({"source": "/data/flights", "sha256": "", "bytes": 1, "row_count": 1_000,
                "columns": [{"name": "day", "dtype": dtype}], "padded_rows": 0, "surplus_rows": 0,
                "ingested_at": "", "dialect": {"encoding": "utf-8", "delimiter": ",", "quote": null,
                    "header": true, "reasons": ["`;` is in every line"]}})
        };
        let (mut stock, mut flights) = (dataset("date"), dataset("date"));
        stock["path"] = json!("datasets/stock.parquet");
        flights["remote"] = json!({"endpoint": "sc://host:15002", "version": "4.2.1",
            "source": {"kind": "table", "name": "flights"}, "readings": [{"kind": "same"}],
            "is_estimate": true, "files": 3, "partitioned_by": ["day"]});
        serde_json::from_value(json!({"flights": flights, "stock": stock})).unwrap()
    }

    fn done(plan: Plan) -> Value {
        match plan {
            Plan::Done(output) => output.result,
            Plan::Read(..) | Plan::Ask(..) => panic!("it is in the catalog"),
        }
    }

    #[test]
    fn of_a_remote_dataset_it_is_told_where_it_is_and_that_rows_are_estimated() {
        let all = catalog();
        let info = super::plan(&all, json!({"name": "flights"}));
        assert_eq!(
            done(info.unwrap_or_else(|it| panic!("{it:?}"))),
            json!({"kind": "schema", "name": "flights", "location": "sc://host:15002",
                "source": "/data/flights", "columns": [{"name": "day", "dtype": "date"}],
                "row_count_estimate": 1_000, "bytes": 1, "files": 3, "partitioned_by": ["day"],
                "notes": ["`;` is in every line"]})
        );
        let listed = (list_datasets::TOOL.plan)(&all, json!({}));
        assert_eq!(
            done(listed.unwrap_or_else(|it| panic!("{it:?}")))["datasets"],
            json!([{"name": "flights", "row_count_estimate": 1_000, "column_count": 1,
                "location": "sc://host:15002"}, {"name": "stock", "row_count": 1_000, "column_count": 1}])
        );
    }

    #[track_caller]
    fn check(tool: &crate::Tool, arguments: &Value, message: &str) {
        let all = catalog();
        let error = (tool.plan)(&all, arguments.clone()).err().unwrap();
        assert_eq!(error.message(), message);
        // What is only for clusters is none of the business of a session without one.
        let here = arguments.to_string().replace("flights", "stock");
        assert!((tool.plan)(&all.here(), serde_json::from_str(&here).unwrap()).is_ok());
    }

    #[test]
    fn a_sample_of_a_cluster_is_bounded_and_its_connection_keeps_its_name() {
        check(
            &load_dataset_sample::TOOL,
            &json!({"name": "flights", "df_name": "df", "nrows": 100_001}),
            "`nrows` is 100001; `flights` is on the cluster, and a sample has at most 100000 rows; \
             aggregate on the cluster instead",
        );
        check(
            &load_dataset_full::TOOL,
            &json!({"name": "flights", "df_name": "spark"}),
            "`spark` is taken in the REPL; choose another name",
        );
    }
}
