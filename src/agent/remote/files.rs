//! Registers files on a cluster as a dataset: the options that make Spark read them as an ingest would.
//!
//! Spark's CSV reader is lenient: it drops surplus cells and matches columns by position, whatever the
//! headers say. These options make it stop at the first row or header that does not fit.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use csv_agent_ingest::{HeadOfFile, IngestOptions, Instructions, RequestedType, instructions};
use csv_agent_types::catalog::{
    Column, DType, Dataset, Remote, SourceFormat, SparkReading, SparkSource,
};
use csv_agent_types::limits::CLUSTER_FILES_MAX;
use csv_agent_types::status::Failure;

use super::found::{Contents, FilesFound, HeadFound, ParquetFound, StudyQuestion};
use super::{endings, types};

/// The null marker for Spark: an empty cell is missing, a quoted one is empty text. It does not occur in
/// real data.
const NOTHING: &str = "\u{e000}nothing";
/// The magic number of gzip.
const GZIP: &[u8] = b"\x1f\x8b";
/// Spark's default limit on columns.
const COLUMNS_USUAL: usize = 20_480;
/// Assumed compression ratio of text, where no file shows it.
const RATIO_USUAL: f64 = 4.0;

/// Returns the dataset that the files form. Fails with `FailureKind::Input` when there are none, or Spark
/// cannot read them as an ingest would.
pub(super) fn dataset(asked: &StudyQuestion<'_>, found: &FilesFound) -> anyhow::Result<Dataset> {
    check(asked, found)?;
    match &found.parquet {
        Some(parquet) => {
            super::refuse_reading_flags(asked.options, asked.what)?;
            super::check_width(asked.what, parquet.columns.len())?;
            Ok(of_parquet(asked, found, parquet))
        }
        None => of_text(asked, found),
    }
}

fn check(asked: &StudyQuestion<'_>, found: &FilesFound) -> anyhow::Result<()> {
    let name = asked.what.shown_name();
    let refuse = |message: String, hint: &str| Err(Failure::input(message).hint(hint).into());
    if found.is_delta {
        let message = format!("`{name}` is a Delta table, and not every file there is part of it");
        return refuse(message, "register it by its name in the catalog: `NAME=db.table`");
    }
    if found.has_more {
        let message = format!("`{name}` has more than {CLUSTER_FILES_MAX} files");
        return refuse(message, "make a table of them in the catalog, and register that");
    }
    if found.n_files == 0 {
        let message = format!("`{name}` has no files");
        let hint = "empty and hidden files do not count, nor those of directories below, unless these are \
                    named `column=value`";
        return refuse(message, hint);
    }
    if found.parquet.is_none() && found.heads.is_empty() {
        return refuse(format!("all files of `{name}` are empty"), "check how they were made");
    }
    let is_parquet = |it: &&String| endings::PARQUET.contains(&it.as_str());
    let n_parquet = found.endings.iter().filter(is_parquet).count();
    if 0 < n_parquet && n_parquet < found.endings.len() {
        let message =
            format!("`{name}` has Parquet files and others: {}", found.endings.join(", "));
        return refuse(message, "name those of one kind with a glob, such as `DIRECTORY/*.csv`");
    }
    let other =
        found.endings.iter().find(|it| endings::OTHERS.iter().any(|other| it.starts_with(other)));
    if let Some(ending) = other {
        let message =
            format!("`{name}` has files that end in `{ending}`, and CSV and Parquet are read");
        return refuse(message, "name those of one kind with a glob, such as `DIRECTORY/*.csv`");
    }
    Ok(())
}

fn remote(
    asked: &StudyQuestion<'_>,
    found: &FilesFound,
    source: SparkSource,
    readings: Vec<SparkReading>,
) -> Remote {
    Remote {
        endpoint: asked.endpoint.clone(),
        version: found.version.clone(),
        source,
        readings,
        is_estimate: false,
        files: Some(found.n_files),
        partitioned_by: found.partitions.iter().map(|it| it.0.clone()).collect(),
    }
}

fn of_parquet(asked: &StudyQuestion<'_>, found: &FilesFound, parquet: &ParquetFound) -> Dataset {
    // Nested types do not fit in DDL; the files then supply the schema themselves.
    let is_plain = parquet.columns.iter().all(|it| !it.1.contains('<'));
    let mut told = parquet.columns.clone();
    for (name, spark_type) in told.iter_mut().filter(|_| is_plain) {
        if let Some((_, said)) = found.partitions.iter().find(|it| it.0 == *name) {
            spark_type.clone_from(said);
        }
    }
    let schema = if is_plain { ddl(&told) } else { String::new() };
    let columns = types::columns(&told);
    let readings = vec![SparkReading::Same; columns.len()];
    let source = SparkSource::Files {
        format: "parquet".to_owned(),
        schema,
        options: BTreeMap::new(),
        paths: vec![asked.what.shown_name().to_owned()],
    };
    let remote = remote(asked, found, source, readings);
    let reasons = vec!["Parquet: names and types are those of the files".to_owned()];
    let contents = contents(found, parquet.n_rows, columns);
    asked.dataset(remote, contents, asked.dialect(SourceFormat::Parquet, reasons))
}

fn of_text(asked: &StudyQuestion<'_>, found: &FilesFound) -> anyhow::Result<Dataset> {
    let name = asked.what.shown_name();
    let heads = found.heads.iter().map(head_of).collect::<anyhow::Result<Vec<_>>>()?;
    if heads.iter().any(|it| it.bytes.starts_with(GZIP)) {
        let message =
            format!("`{name}` is gzip, but Spark recognizes that only by the ending of a name");
        let hint = "give the files names that end in `.gz`";
        return Err(Failure::input(message).hint(hint).into());
    }
    let (partitions, options) = partitions(asked, found)?;
    let mut told = instructions(&heads, name, &options)?;
    check_names(name, &told.columns, &partitions)?;
    let is_all = found.n_filled == heads.len() as u64 && heads.iter().all(|it| it.is_whole);
    let mut options = csv_options(&told);
    let names: Vec<String> = told.columns.iter().map(|it| it.name.clone()).collect();
    let is_as_written = told.header.as_ref() == Some(&names);
    // With this off, Spark compares each file's header with the names.
    options.insert("enforceSchema".to_owned(), (!is_as_written).to_string());
    let texts = names.into_iter().map(|it| (it, "string".to_owned()));
    let schema = ddl(&texts.chain(partitions.iter().cloned()).collect::<Vec<_>>());
    let source = SparkSource::Files {
        format: "csv".to_owned(),
        schema,
        options,
        paths: vec![name.to_owned()],
    };
    let mut reasons = std::mem::take(&mut told.dialect.reasons);
    reasons.extend(reasons_of(&told, found, is_all, is_as_written));
    let row_count = if is_all { told.n_rows } else { estimate(&told, found, &heads) };
    if !is_all {
        told.columns.iter_mut().for_each(note_part);
    }
    told.columns.extend(types::columns(&partitions));
    let same = partitions.iter().map(|_| SparkReading::Same);
    let readings = told.readings.into_iter().chain(same).collect();
    let remote = Remote { is_estimate: !is_all, ..remote(asked, found, source, readings) };
    let mut dialect = told.dialect;
    dialect.reasons = reasons;
    Ok(asked.dataset(remote, contents(found, row_count, told.columns), dialect))
}

fn contents(found: &FilesFound, row_count: u64, columns: Vec<Column>) -> Contents {
    Contents { sha256: found.sha256.clone(), bytes: found.bytes, row_count, columns }
}

fn head_of(head: &HeadFound) -> anyhow::Result<HeadOfFile> {
    let bytes = STANDARD.decode(&head.bytes)?;
    Ok(HeadOfFile { name: head.name.clone(), bytes, is_whole: head.is_whole })
}

/// Returns the partition columns with their types, and Spark's instructions about the others.
fn partitions(
    asked: &StudyQuestion<'_>,
    found: &FilesFound,
) -> anyhow::Result<(Vec<(String, String)>, IngestOptions)> {
    let (mut partitions, mut options) = (found.partitions.clone(), asked.options.clone());
    for (name, spark_type) in &mut partitions {
        let Some(at) = options.dtypes.iter().position(|it| it.0 == *name) else { continue };
        let (_, dtype) = options.dtypes.remove(at);
        if dtype != RequestedType::Type(DType::String) {
            let message = format!(
                "`{name}` is in the names of directories, where it is {spark_type}; it cannot be read as {}",
                dtype.name()
            );
            let hint = format!(
                "leave out this `--dtype`, or read the column as text with `--dtype {name}=string`"
            );
            return Err(Failure::usage(message).hint(hint).into());
        }
        "string".clone_into(spark_type);
    }
    Ok((partitions, options))
}

/// Fails when files contain a column that is also a partition column. Spark would use the latter and match
/// the others by position. Case is ignored.
fn check_names(
    name: &str,
    columns: &[Column],
    partitions: &[(String, String)],
) -> anyhow::Result<()> {
    let names: BTreeSet<String> = columns.iter().map(|it| it.name.to_lowercase()).collect();
    let Some((twice, _)) = partitions.iter().find(|it| names.contains(&it.0.to_lowercase())) else {
        return Ok(());
    };
    let message = format!(
        "cannot read `{name}` on the cluster: its files have a column `{twice}`, and the name of a directory \
         has a column `{twice}` as well"
    );
    let hint = "name files below the directories with a glob, such as `DIR/*/*.csv`";
    Err(Failure::input(message).hint(hint).into())
}

/// Returns the options of Spark's CSV source.
fn csv_options(told: &Instructions) -> BTreeMap<String, String> {
    // Nothing separates cells in a file of one column; this character occurs in no text.
    let delimiter = told.delimiter.as_deref().unwrap_or("\u{1}");
    let mut options = vec![
        ("sep", delimiter.to_owned()),
        ("header", told.header.is_some().to_string()),
        ("encoding", "UTF-8".to_owned()),
        ("quote", told.quote.map_or(String::new(), String::from)),
        ("nullValue", NOTHING.to_owned()),
        ("emptyValue", String::new()),
        ("ignoreLeadingWhiteSpace", "false".to_owned()),
        ("ignoreTrailingWhiteSpace", "false".to_owned()),
        ("maxCharsPerColumn", "-1".to_owned()),
        // A row whose cell count differs from the columns ends the job. If Spark parsed only the requested
        // columns, it would not notice.
        ("mode", "FAILFAST".to_owned()),
        ("columnPruning", "false".to_owned()),
        ("unescapedQuoteHandling", "RAISE_ERROR".to_owned()),
        // A data column could have the default name.
        ("columnNameOfCorruptRecord", "\u{e000}corrupt".to_owned()),
    ];
    options.extend(told.escape.map(|it| ("escape", it.to_string())));
    options.extend(told.comment.map(|it| ("comment", it.to_string())));
    if told.has_line_breaks {
        options.push(("multiLine", "true".to_owned()));
    }
    if COLUMNS_USUAL < told.columns.len() {
        options.push(("maxColumns", told.columns.len().to_string()));
    }
    options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns columns as Spark DDL.
fn ddl(columns: &[(String, String)]) -> String {
    let column = |(name, spark_type): &(String, String)| {
        format!("`{}` {}", name.replace('`', "``"), spark_type.to_uppercase())
    };
    columns.iter().map(column).collect::<Vec<_>>().join(", ")
}

/// Returns the choices that a user might question, with reasons.
fn reasons_of(
    told: &Instructions,
    found: &FilesFound,
    is_all: bool,
    is_as_written: bool,
) -> Vec<String> {
    let mut reasons = Vec::new();
    if !is_all {
        let (n, of) = (found.heads.len(), found.n_filled);
        let (rows, bytes) = (told.n_rows, told.n_bytes);
        reasons.push(format!(
            "types are those of {rows} rows, the first {bytes} B of {n} of {of} files; a later value \
             that does not fit makes the job fail"
        ));
    }
    if told.has_line_breaks {
        reasons.push(
            "cells have line breaks, so Spark reads each file in one piece: many files are read faster \
             than one"
                .to_owned(),
        );
    }
    if told.header.is_some() && !is_as_written && 1 < found.n_filled {
        reasons.push(format!(
            "names in the header were repaired, so Spark does not compare headers; csv-agent compared \
             those of {} of {} files",
            found.heads.len(),
            found.n_filled
        ));
    }
    reasons
}

/// Notes that the type of a column was inferred from a part of the data.
fn note_part(column: &mut Column) {
    const PART: &str = "type found in a part of the data";
    if column.dtype != DType::String {
        column.note = Some(match column.note.take() {
            Some(note) => format!("{note}; {PART}"),
            None => PART.to_owned(),
        });
    }
}

/// Returns the mean length of a record. A record cut at the end of its head counts with the bytes seen, if
/// the others are shorter.
#[expect(clippy::cast_precision_loss, reason = "bytes and rows of heads are far below 2^53")]
fn record_bytes(told: &Instructions, heads: &[HeadOfFile]) -> f64 {
    let whole = told.n_bytes as f64 / told.n_rows.max(1) as f64;
    let n_bytes: usize = heads.iter().map(|it| it.bytes.len()).sum();
    let n_cut = heads.iter().filter(|it| !it.is_whole).count() as u64;
    let n_rows = (told.n_rows + n_cut).max(1);
    let with_cut = n_bytes as f64 / n_rows as f64;
    if told.n_rows == 0 { with_cut } else { whole.max(with_cut) }
}

/// Estimates the rows of the files.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate of what is counted in bytes, far below 2^53"
)]
fn estimate(told: &Instructions, found: &FilesFound, heads: &[HeadOfFile]) -> u64 {
    let mean = record_bytes(told, heads);
    let is_compressed = |it: &String| endings::COMPRESSED.iter().any(|end| it.ends_with(end));
    if !found.endings.iter().any(is_compressed) {
        return (found.bytes as f64 / mean).round() as u64;
    }
    let whole = found.heads.iter().zip(heads).filter(|it| it.1.is_whole);
    let (stored, text) = whole.fold((0, 0), |(stored, text), (found, head)| {
        (stored + found.length, text + head.bytes.len())
    });
    let ratio = if stored == 0 { RATIO_USUAL } else { text as f64 / stored as f64 };
    (found.bytes as f64 * ratio / mean).round() as u64
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::dataset;
    use crate::remote::What;
    use crate::remote::found::{FilesFound, ParquetFound, StudyQuestion};
    use csv_agent_ingest::IngestOptions;
    use csv_agent_types::catalog::{DType, Dataset, SparkReading, SparkSource};
    use csv_agent_types::status::{Failure, FailureKind};

    fn found(heads: &[&str], is_whole: bool, bytes: u64) -> FilesFound {
        let heads: Vec<_> = heads
            .iter()
            .enumerate()
            .map(|(at, text)| {
                json!({"name": format!("file:/d/{at}.csv"), "length": text.len(),
                       "bytes": STANDARD.encode(text), "is_whole": is_whole})
            })
            .collect();
        serde_json::from_value(json!({
            "version": "4.2.1", "n_files": heads.len(), "has_more": false, "bytes": bytes,
            "sha256": "00", "partitions": [["year", "int"]], "is_delta": false,
            "endings": [".csv"], "n_filled": heads.len(), "heads": heads,
        }))
        .unwrap()
    }

    fn made(found: &FilesFound) -> anyhow::Result<Dataset> {
        let what = What::of("/d/*.csv");
        let options = IngestOptions::default();
        let endpoint = "sc://host:15002".to_owned();
        dataset(&StudyQuestion { endpoint, what: &what, options: &options }, found)
    }

    fn refused(found: &FilesFound) -> String {
        let error = made(found).unwrap_err();
        let failure = error.downcast_ref::<Failure>().unwrap();
        assert_eq!(failure.kind, FailureKind::Input);
        failure.message.clone()
    }

    #[test]
    fn spark_is_told_to_stop_where_a_row_or_a_header_does_not_fit() {
        let dataset = made(&found(&["id;a`b\n1;x\n22;\"y;z\"\n"], true, 22)).unwrap();
        assert_eq!((dataset.row_count, dataset.is_estimate()), (2, false));
        let SparkSource::Files { schema, options, paths, format } =
            &dataset.remote().unwrap().source
        else {
            panic!("no files")
        };
        assert_eq!((format.as_str(), &paths[..]), ("csv", &["/d/*.csv".to_owned()][..]));
        assert_eq!(schema, "`id` STRING, `a``b` STRING, `year` INT");
        let wanted = [
            ("mode", "FAILFAST"),
            ("columnPruning", "false"),
            ("enforceSchema", "false"),
            ("unescapedQuoteHandling", "RAISE_ERROR"),
            ("sep", ";"),
            ("quote", "\""),
            ("escape", "\""),
            ("header", "true"),
        ];
        for (name, value) in wanted {
            assert_eq!(options.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert!(!options.contains_key("multiLine"));
        let dtypes: Vec<_> = dataset.columns.iter().map(|it| it.dtype).collect();
        assert_eq!(dtypes, [DType::Int64, DType::String, DType::Int64]);
        assert_eq!(dataset.remote().unwrap().readings[2], SparkReading::Same);
    }

    #[test]
    fn rows_are_estimated_where_only_heads_are_known() {
        let dataset = made(&found(&["a,b\n1,2\n3,4\n", "a,b\n5,6\n7"], false, 4_000)).unwrap();
        // Five lines of four bytes with two headers: 20 bytes for 3 rows.
        assert_eq!((dataset.row_count, dataset.is_estimate()), (600, true));
        assert_eq!(dataset.columns[0].note.as_deref(), Some("type found in a part of the data"));
    }

    #[test]
    fn a_row_that_is_longer_than_its_head_is_one_row_of_the_estimate() {
        for (before, n_rows) in [("", 40), ("1,2\n", 80)] {
            let long = format!("a,b\n{before}3,{}", "x".repeat(992));
            let dataset = made(&found(&[&long], false, 40_000)).unwrap();
            assert_eq!((dataset.row_count, dataset.is_estimate()), (n_rows, true), "{before}");
        }
    }

    #[test]
    fn names_that_were_repaired_are_not_compared_with_headers() {
        let dataset = made(&found(&["a,,a\n1,2,3\n"], true, 12)).unwrap();
        let SparkSource::Files { options, .. } = &dataset.remote().unwrap().source else {
            panic!()
        };
        assert_eq!(options["enforceSchema"], "true");
    }

    #[test]
    fn line_breaks_within_cells_are_told_to_spark() {
        let dataset = made(&found(&["a,b\n1,\"x\ny\"\n2,z\n"], true, 17)).unwrap();
        let SparkSource::Files { options, .. } = &dataset.remote().unwrap().source else {
            panic!()
        };
        assert_eq!(options["multiLine"], "true");
    }

    #[test]
    fn what_is_no_table_of_files_is_refused_with_what_was_found() {
        let none = FilesFound { n_files: 0, heads: Vec::new(), ..found(&[], true, 0) };
        assert_eq!(refused(&none), "`/d/*.csv` has no files");
        let delta = FilesFound { is_delta: true, ..found(&["a\n1\n"], true, 4) };
        assert_eq!(
            refused(&delta),
            "`/d/*.csv` is a Delta table, and not every file there is part of it"
        );
        let mixed = FilesFound {
            endings: vec![".csv".into(), ".parquet".into()],
            ..found(&["a\n1\n"], true, 4)
        };
        assert_eq!(refused(&mixed), "`/d/*.csv` has Parquet files and others: .csv, .parquet");
        let columns = (0..20_001).map(|it| (format!("c{it}"), "int".to_owned())).collect();
        let wide = FilesFound {
            endings: vec![".parquet".into()],
            heads: Vec::new(),
            parquet: Some(ParquetFound { columns, n_rows: 1 }),
            ..found(&["a"], true, 2)
        };
        assert_eq!(refused(&wide), "`/d/*.csv` has 20001 columns, the limit is 20000");
        let of_ending = |endings: &[&str]| FilesFound {
            endings: endings.iter().map(|it| (*it).to_owned()).collect(),
            ..found(&["a\n1\n"], true, 4)
        };
        let mixed = refused(&of_ending(&[".csv", ".pq"]));
        assert_eq!(mixed, "`/d/*.csv` has Parquet files and others: .csv, .pq");
        for ending in [".xlsx", ".json.gz", ".tar.gz", ".jsonl"] {
            let other = refused(&of_ending(&[".csv", ending]));
            let expected = format!(
                "`/d/*.csv` has files that end in `{ending}`, and CSV and Parquet are read"
            );
            assert_eq!(other, expected);
        }
        assert!(made(&of_ending(&[".2024-01-01", ".csv", ".csv.gz"])).is_ok());
        let partition = refused(&found(&["a,Year\n1,2\n"], true, 8));
        assert!(
            partition.ends_with("the name of a directory has a column `year` as well"),
            "{partition}"
        );
    }
}
