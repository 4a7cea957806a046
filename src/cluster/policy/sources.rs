//! What a session may have registered.
//!
//! A session can come from somebody else. What it has the cluster read is then theirs to say, but it is
//! files of these formats or a table, as `ingest --remote` registers them: no other source, which could ask
//! a database or run code, and no schema with expressions in it.

use csv_agent_types::catalog::SparkSource;

use super::{schema, shortened};

const FORMATS: [&str; 2] = ["csv", "parquet"];
/// What `ingest --remote` tells Spark of files.
const OPTIONS: [&str; 18] = [
    "columnNameOfCorruptRecord",
    "columnPruning",
    "comment",
    "emptyValue",
    "encoding",
    "enforceSchema",
    "escape",
    "header",
    "ignoreLeadingWhiteSpace",
    "ignoreTrailingWhiteSpace",
    "maxCharsPerColumn",
    "maxColumns",
    "mode",
    "multiLine",
    "nullValue",
    "quote",
    "sep",
    "unescapedQuoteHandling",
];

/// Lets pass what `ingest --remote` registers. Fails with what it never does.
pub(crate) fn check(source: &SparkSource) -> Result<(), String> {
    // Spark reads it as a name and nothing else.
    let SparkSource::Files { format, schema, options, .. } = source else { return Ok(()) };
    if !FORMATS.contains(&format.as_str()) {
        return Err(format!("files of the format `{}`", shortened(format)));
    }
    if let Some(option) = options.keys().find(|it| !OPTIONS.contains(&it.as_str())) {
        return Err(format!("files with the option `{}`", shortened(option)));
    }
    let names_end = schema.matches('`').count().is_multiple_of(2);
    let is_plain = names_end && schema::check(&without_names(schema)).is_ok();
    if !(schema.is_empty() || is_plain) {
        return Err("a schema with more than names and types".to_owned());
    }
    Ok(())
}

/// Returns DDL in which all names are `a`: within backticks, any character is one of a name.
fn without_names(ddl: &str) -> String {
    let parts = ddl.split('`').enumerate();
    parts.map(|(at, it)| if at % 2 == 0 { it } else { "`a`" }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::check;
    use csv_agent_types::catalog::SparkSource;

    fn files(format: &str, schema: &str, options: &[(&str, &str)]) -> SparkSource {
        let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        SparkSource::Files {
            format: format.into(),
            schema: schema.into(),
            options: options.collect::<BTreeMap<_, _>>(),
            paths: vec!["/d".into()],
        }
    }

    #[test]
    fn what_an_ingest_registers_is_read() {
        for source in [
            SparkSource::Table { name: "db.`a b`".into() },
            files("parquet", "", &[]),
            files("parquet", "`a` DECIMAL(10,2), `b` TIMESTAMP_NTZ", &[]),
            files("csv", "`a\\b` STRING, ``````  STRING, `x'\n\"--` STRING", &[("sep", ";")]),
            files("csv", "`year` INT", &[("mode", "FAILFAST"), ("multiLine", "true")]),
        ] {
            assert_eq!(check(&source), Ok(()), "{source:?}");
        }
    }

    #[test]
    fn what_no_ingest_registers_is_not_read() {
        for (source, what) in [
            (files("jdbc", "", &[("url", "jdbc:x")]), "files of the format `jdbc`"),
            (files("binaryFile", "", &[]), "files of the format `binaryFile`"),
            (files("com.example.Source\n", "", &[]), "files of the format `com.example.Source\\n`"),
            (files("csv", "", &[("url", "x")]), "files with the option `url`"),
            (
                files("csv", "a STRING DEFAULT reflect('java.lang.System', 'exit', 1)", &[]),
                "a schema with more than names and types",
            ),
            (files("csv", "`a` STRING `", &[]), "a schema with more than names and types"),
        ] {
            assert_eq!(check(&source), Err(what.to_owned()), "{source:?}");
        }
    }
}
