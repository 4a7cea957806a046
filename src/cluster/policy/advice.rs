//! What to do instead of what a request may not hold.

use prost_reflect::Kind;

use super::functions;
use super::wire::{Field, fields};

const SQL: &str = "SQL statements are not allowed on the cluster; use `load(\"name\")` and DataFrame methods (filter, join, groupBy, agg)";
const UDF: &str = "Python, Java and pandas functions do not run on the cluster";
const WRITE: &str = "nothing is written, created or changed on the cluster; make the result small, then \
                     use toPandas() and continue in pandas";
/// Where something else is to be read.
pub(super) const READ: &str = "only the session's own datasets are read on the cluster; use `load(\"name\")` with one of their names";
pub(super) const METADATA: &str = "metadata of columns is not allowed on the cluster; leave it out";
const CACHE: &str = "nothing is cached on the cluster: it is shared; leave out cache() and persist(), or make the result small and use toPandas()";

/// Says that a field is not allowed, and what to do instead.
pub(super) fn of(owner: &str, field: &Field<'_>) -> String {
    let name = match field.is.name() {
        "command" => inner_name(field).unwrap_or_else(|| "command".to_owned()),
        other => other.to_owned(),
    };
    let sentence = match name.as_str() {
        "sql" | "sql_command" | "execute_external_command" => SQL,
        "write_operation"
        | "write_operation_v2"
        | "create_dataframe_view"
        | "merge_into_table_command" => WRITE,
        "register_function"
        | "register_table_function"
        | "register_data_source"
        | "map_partitions"
        | "group_map"
        | "co_group_map"
        | "apply_in_pandas_with_state"
        | "common_inline_user_defined_function"
        | "common_inline_user_defined_table_function"
        | "common_inline_user_defined_data_source"
        | "typed_aggregate_expression"
        | "udt" => return format!("{UDF}; {}", functions::INSTEAD),
        "persist" | "unpersist" | "checkpoint_command" => CACHE,
        "catalog"
        | "predicates"
        | "source_name"
        | "relation_changes"
        | "unresolved_table_valued_function"
        | "options"
        | "parse" => READ,
        "get_all" => "the settings of the cluster are not shown; continue without them",
        "cached_local_relation" | "compressed_operation" => {
            "this is too much to send to the cluster; send fewer rows with createDataFrame()"
        }
        "metadata" => METADATA,
        _ => {
            return format!(
                "`{owner}.{name}` is not allowed on the cluster; use DataFrame methods and \
                 pyspark.sql.functions, or aggregate first and continue in pandas"
            );
        }
    };
    sentence.to_owned()
}

fn inner_name(field: &Field<'_>) -> Option<String> {
    let Kind::Message(of) = field.is.kind() else { return None };
    let inner = fields(&of, field.value.bytes()).ok()?;
    inner.first().map(|it| it.is.name().to_owned())
}
