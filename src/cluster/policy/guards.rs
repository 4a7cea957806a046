//! What single fields of a request may say.

use std::collections::BTreeMap;

use csv_agent_types::catalog::SparkSource;
use csv_agent_types::limits::{CLUSTER_PARTITIONS_MAX, CLUSTER_SHOWN_ROWS_MAX};

use super::wire::{Field, nested, value_of};
use super::{GuardContext, advice, expression, functions, schema, shortened, uploads};

/// Hints that choose how two tables are joined. The others move rows about without a bound.
const HINTS: [&str; 8] = [
    "broadcast",
    "broadcastjoin",
    "mapjoin",
    "merge",
    "shuffle_merge",
    "mergejoin",
    "shuffle_hash",
    "shuffle_replicate_nl",
];
/// Settings that may be read: the client asks for them. Others can hold keys of a storage.
const READABLE: [&str; 26] = [
    "spark.python.sql.dataFrameDebugging.enabled",
    "spark.sql.ansi.enabled",
    "spark.sql.connect.serverStacktrace.enabled",
    "spark.sql.execution.arrow.pyspark.selfDestruct.enabled",
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.execution.arrow.useLargeVarTypes",
    "spark.sql.execution.pandas.convertToArrowArraySafely",
    "spark.sql.execution.pandas.inferPandasDictAsMap",
    "spark.sql.execution.pandas.structHandlingMode",
    "spark.sql.execution.pyspark.binaryAsBytes",
    "spark.sql.execution.pythonUDF.arrow.enabled",
    "spark.sql.pyspark.inferNestedDictAsStruct.enabled",
    "spark.sql.pyspark.jvmStacktrace.enabled",
    "spark.sql.pyspark.legacy.inferArrayTypeFromFirstElement.enabled",
    "spark.sql.pyspark.legacy.inferMapTypeFromFirstPair.enabled",
    "spark.sql.repl.eagerEval.enabled",
    "spark.sql.repl.eagerEval.maxNumRows",
    "spark.sql.repl.eagerEval.truncate",
    "spark.sql.session.localRelationBatchOfChunksSizeBytes",
    "spark.sql.session.localRelationCacheThreshold",
    "spark.sql.session.localRelationChunkSizeBytes",
    "spark.sql.session.localRelationChunkSizeRows",
    "spark.sql.session.localRelationSizeLimit",
    ZONE.0,
    "spark.sql.timestampType",
    SETTABLE,
];
/// The one setting that may be set: it changes how fast an answer comes and never which.
const SETTABLE: &str = "spark.sql.shuffle.partitions";
/// What the worker itself sets in each session, and its only value: times are read the same everywhere.
const ZONE: (&str, &str) = ("spark.sql.session.timeZone", "UTC");

/// Lets pass the value of a field that is on the list. Fails with a sentence that says what is not allowed and
/// what to do instead.
pub(super) fn check(
    known: &GuardContext<'_>,
    owner: &str,
    field: &Field<'_>,
) -> Result<(), String> {
    let value = field.value;
    match (owner, field.is.name()) {
        ("Read", "is_streaming") | ("Deduplicate", "within_watermark") => {
            refused(value.number() != 0, || {
                "streams are not read on the cluster; use `load(\"name\")`".to_owned()
            })
        }
        ("Read", "data_source") => check_files(known, &nested(field)?),
        ("Read.NamedTable", "unparsed_identifier") => check_table(known, value.text()),
        ("Expression", "unresolved_function") => check_schema_argument(&nested(field)?),
        ("Expression.UnresolvedFunction", "function_name") => {
            check_function(value.text(), functions::is_listed)
        }
        ("CallFunction", "function_name") => check_function(value.text(), functions::is_free),
        ("Expression.UnresolvedFunction", "is_user_defined_function" | "is_internal") => {
            refused(value.number() != 0, || {
                format!(
                    "user-defined functions are not allowed on the cluster; {}",
                    functions::INSTEAD
                )
            })
        }
        ("Expression.ExpressionString", "expression") => expression::check(value.text()),
        ("Expression.Cast", "type_str")
        | ("DataType.Unparsed", "data_type_string")
        | ("LocalRelation", "schema")
        | ("AnalyzePlanRequest.DDLParse", "ddl_string")
        | ("AnalyzePlanRequest.JsonToDDL", "json_string") => schema::check(value.text()),
        ("DataType.StructField", "metadata") => {
            refused(!["", "{}"].contains(&value.text()), || advice::METADATA.to_owned())
        }
        ("Hint", "name") => {
            refused(!HINTS.contains(&value.text().to_ascii_lowercase().as_str()), || {
                format!(
                    "the only hints allowed on the cluster are {}",
                    HINTS.map(|it| format!("`{it}`")).join(", ")
                )
            })
        }
        ("Range" | "Repartition" | "RepartitionByExpression", "num_partitions") => {
            refused(CLUSTER_PARTITIONS_MAX < value.number(), || {
                format!("at most {CLUSTER_PARTITIONS_MAX} partitions are allowed on the cluster")
            })
        }
        ("ShowString" | "HtmlString", "num_rows") | ("Tail", "limit") => {
            refused(CLUSTER_SHOWN_ROWS_MAX < value.number(), || {
                format!(
                    "at most {CLUSTER_SHOWN_ROWS_MAX} rows can be shown; use limit() and toPandas()"
                )
            })
        }
        ("ChunkedCachedLocalRelation", "dataHashes") => {
            refused(!known.blobs.has(value.text()), unknown_blob)
        }
        ("ChunkedCachedLocalRelation", "schemaHash") => {
            refused(!known.blobs.has_schema(value.text()), unknown_blob)
        }
        ("ArtifactStatusesRequest", "names") => uploads::hash_in(value.text()).map(drop),
        ("ConfigRequest.Set", "pairs") => check_setting(&nested(field)?),
        ("ConfigRequest.Unset", "keys") => {
            refused(value.text() != SETTABLE, || set_refused(value.text()))
        }
        ("ConfigRequest.GetWithDefault", "pairs") => {
            check_key(value_of(&nested(field)?, "key").text())
        }
        (
            "ConfigRequest.Get" | "ConfigRequest.GetOption" | "ConfigRequest.IsModifiable",
            "keys",
        ) => check_key(value.text()),
        _ => Ok(()),
    }
}

fn refused(is_refused: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if is_refused { Err(why()) } else { Ok(()) }
}

fn unknown_blob() -> String {
    "rows that were not sent to the cluster; call `spark.createDataFrame(frame)` again".to_owned()
}

fn check_function(name: &str, is_fine: fn(&str) -> bool) -> Result<(), String> {
    refused(!is_fine(name), || {
        format!(
            "the function `{}` is not allowed on the cluster; {}",
            shortened(name),
            functions::INSTEAD
        )
    })
}

/// Lets a description of types pass only as text that stands there: computed text cannot be read here.
fn check_schema_argument(function: &[Field<'_>]) -> Result<(), String> {
    let name = value_of(function, "function_name").text();
    let Some(at) = functions::schema_argument(name) else { return Ok(()) };
    let argument = function.iter().filter(|it| it.is.name() == "arguments").nth(at);
    let literal = argument.and_then(|it| literal_text(it).ok()).flatten();
    let Some(text) = literal else {
        return Err(format!(
            "`{name}` takes its types on the cluster only as literal text, such as `\"a INT, b STRING\"`"
        ));
    };
    schema::check(text)
}

fn literal_text<'a>(expression: &Field<'a>) -> Result<Option<&'a str>, String> {
    let expression = nested(expression)?;
    let Some(literal) = expression.iter().find(|it| it.is.name() == "literal") else {
        return Ok(None);
    };
    let literal = nested(literal)?;
    Ok(literal.iter().find(|it| it.is.name() == "string").map(|it| it.value.text()))
}

fn check_table(known: &GuardContext<'_>, wanted: &str) -> Result<(), String> {
    let is_there =
        known.sources.iter().any(|it| matches!(it, SparkSource::Table { name } if name == wanted));
    refused(!is_there, not_registered)
}

fn not_registered() -> String {
    advice::READ.to_owned()
}

fn check_files(known: &GuardContext<'_>, source: &[Field<'_>]) -> Result<(), String> {
    let mut wanted = BTreeMap::new();
    let mut wanted_paths = Vec::new();
    for field in source {
        match field.is.name() {
            "options" => {
                let pair = nested(field)?;
                let (key, value) = (value_of(&pair, "key").text(), value_of(&pair, "value").text());
                refused(wanted.insert(key.to_owned(), value.to_owned()).is_some(), not_registered)?;
            }
            "paths" => wanted_paths.push(field.value.text()),
            "format" | "schema" => {}
            _ => return Err(not_registered()),
        }
    }
    let is_there = known.sources.iter().any(|it| match it {
        SparkSource::Files { format, schema, options, paths } => {
            format == value_of(source, "format").text()
                && schema == value_of(source, "schema").text()
                && *options == wanted
                && *paths == wanted_paths
        }
        SparkSource::Table { .. } => false,
    });
    refused(!is_there, not_registered)
}

fn check_key(key: &str) -> Result<(), String> {
    refused(!READABLE.contains(&key), || {
        "this setting of the cluster is not shown; continue without it".to_owned()
    })
}

fn check_setting(pair: &[Field<'_>]) -> Result<(), String> {
    let key = value_of(pair, "key").text();
    if (key, value_of(pair, "value").text()) == ZONE {
        return Ok(());
    }
    refused(key != SETTABLE, || set_refused(key))?;
    let count = value_of(pair, "value").text().parse::<u64>().ok();
    refused(count.is_none_or(|it| it == 0 || CLUSTER_PARTITIONS_MAX < it), || {
        format!("`{SETTABLE}` must be a number from 1 to {CLUSTER_PARTITIONS_MAX}")
    })
}

fn set_refused(key: &str) -> String {
    format!(
        "the setting `{}` cannot be changed on the cluster; only `{SETTABLE}` can",
        shortened(key)
    )
}
