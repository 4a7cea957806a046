//! Queries over datasets, without Python.
//!
//! `sql` turns a statement into a `plan`, in which every name is resolved and every type is known. The
//! plan goes to a confined child of csv-agent by the `protocol`, and there the `engine` runs it on polars
//! and writes the result as Parquet. `describe` makes such plans of a dataset and facts of their results.

pub mod describe;
pub mod engine;
pub mod plan;
pub mod protocol;
mod sql;

pub use sql::{
    KeptBackUse, Prepared, RowOrigin, SqlError, TableSchema, names_its_columns, prepare,
    prepare_with_empty_columns,
};
