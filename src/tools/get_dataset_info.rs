//! `get_dataset_info`: the schema of a dataset.
//!
//! It is in the catalog. The footer of the Parquet file says the same, and of a wide file of many row
//! groups takes a hundred times as long to read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalog::{Catalog, Column, Dataset, Facts, Query, Remote};
use crate::event::ToolOutput;
use crate::tools::strict::{self, object, string};
use crate::tools::{Plan, Tool, ToolError, dataset, tell_rows};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "get_dataset_info",
    description: "Returns the schema of one dataset: every column with its type, its count of missing \
values and how its values were read, the row count, and which columns other datasets have as well. No data is read, so it is fast at any size. Call it before loading a dataset \
whose columns the instructions do not show.",
    parameters,
    plan,
    needs_repl: false,
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
    let shared = shared_columns(catalog, &name, dataset);
    if !shared.is_empty() {
        result["columns_of_other_datasets"] = json!(shared);
    }
    let path = dataset.path().map(Path::to_owned).unwrap_or_default();
    Ok(Plan::read(Query::Check { path }, move |facts| match facts {
        Facts::Whole => Ok(ToolOutput::json(result)),
        Facts::Matches(_) | Facts::MatchesIn { .. } | Facts::Rated(_) => {
            Err(ToolError::new("failed", format!("cannot read the schema of `{name}`")))
        }
    }))
}

/// Returns the columns that other datasets have as well, with the datasets, so that a join can be found. One with
/// all the same columns is of the same family, and joined row by row.
fn shared_columns(catalog: &Catalog, name: &str, dataset: &Dataset) -> Vec<Value> {
    /// Columns that are told.
    const COLUMNS_MAX: usize = 20;
    /// Datasets that are told of a column.
    const DATASETS_MAX: usize = 5;
    let key = |it: &Column| it.name.to_lowercase();
    let all: BTreeSet<String> = dataset.columns.iter().map(key).collect();
    let mut by_column: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (other, it) in catalog.iter().filter(|it| it.0 != name) {
        let theirs: BTreeSet<String> = it.columns.iter().map(key).collect();
        if theirs != all {
            all.intersection(&theirs)
                .for_each(|it| by_column.entry(it.clone()).or_default().push(other));
        }
    }
    let columns = dataset.columns.iter().filter_map(|it| Some((it, by_column.get(&key(it))?)));
    let told = columns.take(COLUMNS_MAX).map(|(column, datasets)| {
        let named: Vec<&str> = datasets.iter().take(DATASETS_MAX).copied().collect();
        let mut told = json!({"column": column.name, "datasets": named});
        if named.len() < datasets.len() {
            told["more_datasets"] = json!(datasets.len() - named.len());
        }
        told
    });
    told.collect()
}

/// Adds what a reader must know of a column before computing with it.
fn with_note(mut shown: Value, column: &Column) -> Value {
    let remarks = column.remarks();
    if !remarks.is_empty() {
        shown["note"] = json!(remarks.join("; "));
    }
    shown
}

/// Says what is known of a dataset on a cluster. Nobody counts its missing values.
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

    use crate::catalog::Catalog;
    use crate::tools::{Plan, list_datasets, load_dataset_full, load_dataset_sample};

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
    fn check(tool: &crate::tools::Tool, arguments: &Value, message: &str) {
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
            "`nrows` is 100001; `flights` is on the cluster, of which at most 100000 rows are loaded as a \
             sample; aggregate on the cluster instead",
        );
        check(
            &load_dataset_full::TOOL,
            &json!({"name": "flights", "df_name": "spark"}),
            "`spark` is taken in the REPL; choose another name",
        );
    }
}
