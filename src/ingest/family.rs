//! Several files to one dataset: columns matched by name, types decided over all files.
//!
//! Names that differ only in case and blanks are one name, spelled as in the first file. An unreadable
//! file is left out and reported, and the description of the column with file names reports it too.
//!
//! Each file is read independently, several concurrently. Where the files agree on a column's type,
//! that is its type. Where they do not, the combined evidence of all files decides, as for one file,
//! and the files that were read differently are read again. A column of whole numbers in some files and
//! text in another thus becomes text as written in all files, and no value is changed. The tables of
//! the files are then concatenated, with columns that identify the file of each row.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, bail, ensure};
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, new_null_array,
};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::statistics::Statistics;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::{NamedTempFile, TempPath};

use csv_agent_text::lists::{all_names, listed};
use csv_agent_types::catalog::{
    Column, DType, Dataset, Dialect, Location, SkippedLines, SourceFile, SourceFormat, StrayQuotes,
    file_of,
};
use csv_agent_types::limits::{NOTES_MAX, SLICE_BYTES_MAX};
use csv_agent_types::status::Failure;

use super::builder::field;
use super::from_parquet::text;
use super::ingest::{PartRead, files_at_once, ingest_part};
use super::number::DecimalMark;
use super::repairs::has_room;
use super::requested_types::Wants;
use super::source::Source;
use super::type_evidence::TypeEvidence;
use super::type_inference::{
    ColumnType, Hints, ValueForm, decide_as, is_ambiguous_number, is_clear_number,
};
use super::write::{BuiltColumn, Encoder, GroupColumn, ParquetFile, Purpose, temporary};
use crate::dataset_files::{DatasetFiles, Target};
use crate::options::Family;
use crate::options::IngestOptions;
use crate::parse::DAY_US;
use crate::refusal::check_cancelled;
use crate::table_place::TablePlace;

/// The column with the file of each row.
pub const FILE_COLUMN: &str = "_file";
/// Maximum rows of a written row group.
const GROUP_ROWS_MAX: u64 = 256 * 1024;
/// Rows decoded at once.
const BATCH_ROWS: usize = 64 * 1024;
/// Maximum text bytes of a file whose table is one row group.
const ONE_GROUP_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum number of names in a message.
const NAMED_MAX: usize = 5;

/// Files to combine into one dataset.
pub struct Union<'a> {
    /// The source as the user named it, for the catalog.
    pub shown_name: &'a str,
    /// The names of the files for messages, in order.
    pub files: &'a [String],
    /// Their paths relative to the session's directory.
    pub origins: &'a [Option<String>],
    /// Returns where to read a file, and the copy to remove afterwards.
    pub open: &'a (dyn Fn(usize) -> anyhow::Result<Opened> + Sync),
    /// Columns whose values are parts of the file paths, with the value of each file.
    pub path_columns: &'a [(String, Vec<Option<String>>)],
    /// Whether a file may lack columns that others have.
    pub by_name: bool,
    /// Receives each file as it was read.
    pub seen: &'a dyn Fn(usize, &Dataset),
    /// Receives the reason why a file cannot be read; that file is then left out.
    pub fail: &'a dyn Fn(anyhow::Error),
}

/// A file ready to be read.
pub struct Opened {
    /// Its location.
    pub path: PathBuf,
    /// Removed when the file has been read, if it is a copy.
    pub copy: Option<NamedTempFile>,
    /// The sheet or table to read, if it has several.
    pub table: Option<String>,
    /// The position of its table.
    pub place: TablePlace,
}

/// A file that has been read.
struct FilePart {
    /// Its index among all files.
    at: usize,
    dataset: Dataset,
    /// The names of its columns as spelled in the file; the dataset uses the spelling of the first
    /// file.
    spelled: Vec<String>,
    /// The type evidence of its columns; empty for a Parquet file.
    evidence: Vec<TypeEvidence>,
    /// How their values are written.
    forms: Vec<ValueForm>,
    /// Decompressed.
    bytes: u64,
    table: TempPath,
    rejects: Option<TempPath>,
}

impl FilePart {
    /// Returns the name in the file of a column of the dataset, if the file has it.
    fn own_name(&self, name: &str) -> Option<&str> {
        let at = self.dataset.columns.iter().position(|it| it.name == name)?;
        Some(&self.spelled[at])
    }
}

/// Joins files into the future `dir/NAME.parquet`. `count` is called whenever a file has been read.
///
/// # Errors
///
/// Fails with `FailureKind::Input` when none of the files can be ingested, or one of them with
/// `strict` options; when their columns differ and are not to be matched by name; or when a Parquet
/// file has a whole number that is not a float, as others have; and once `cancelled` is set.
pub fn union(
    union: &Union<'_>,
    name: &str,
    dir: &Path,
    options: &IngestOptions,
    cancelled: &AtomicBool,
    count: &(dyn Fn() + Sync),
) -> anyhow::Result<(Dataset, DatasetFiles)> {
    let all: Vec<usize> = (0..union.files.len()).collect();
    let lenient =
        IngestOptions { family: Some(Arc::default()), statement: None, ..options.clone() };
    let read = |at: usize, family: &Arc<Family>| {
        let opened = (union.open)(at)?;
        let (family, table) = (Some(Arc::clone(family)), opened.table.clone());
        let origin = union.origins[at].clone();
        let read = opened.place.read(&IngestOptions { origin, family, table, ..lenient.clone() });
        let source = Source::File(opened.path.clone());
        let read = read_part(at, source, &union.files[at], dir, &read, cancelled);
        drop(opened);
        read
    };
    let own = Arc::default();
    let read_all = |which: &[usize], families: &(dyn Fn(usize) -> Arc<Family> + Sync)| {
        side_by_side(which, cancelled, &|at| {
            let part = read(at, &families(at));
            count();
            part
        })
    };
    let (mut parts, unread) = readable(union, read_all(&all, &|_| Arc::clone(&own))?, options)?;
    for part in &parts {
        (union.seen)(part.at, &part.dataset);
    }
    let spellings = spell_alike(&mut parts);
    let is_further = options.table_number.is_some();
    if !union.by_name || is_further {
        check_columns(&parts, union.by_name, is_further)?;
    }
    let names = column_names(&parts);
    let wanted = Wants::find(&options.dtypes, &names)?;
    let columns = decide(&parts, &names, &wanted, options);
    let families = parts.iter().map(|it| (it.at, Arc::new(columns.family_of(it))));
    let families: HashMap<usize, Arc<Family>> = families.filter(|it| !it.1.0.is_empty()).collect();
    let again: Vec<usize> =
        parts.iter().map(|it| it.at).filter(|at| families.contains_key(at)).collect();
    if !again.is_empty() {
        let reread = read_all(&again, &|at| families.get(&at).cloned().unwrap_or_default())?;
        for reread in reread {
            let reread = reread.context("cannot read a file again that was just read")?;
            if let Some(part) = parts.iter_mut().find(|it| it.at == reread.at) {
                *part = reread;
            }
        }
        spell_alike(&mut parts);
    }
    let joined = Joined::of(union, &columns);
    let target = Target { dir, name, purpose: Purpose::Dataset };
    let (table, n_rows, nulls) = join(&joined, &parts, target, cancelled)?;
    let rejects = rejects_of(union, &parts, name, dir)?;
    let known = UnionNotes { columns: &columns, spellings: &spellings, unread: &unread };
    let mut dataset = describe(union, &joined, known, &parts, name, n_rows, &nulls, options);
    let files = DatasetFiles::of_union(target, table, rejects, &mut dataset)?;
    Ok((dataset, files))
}

fn read_part(
    at: usize,
    source: Source,
    shown_name: &str,
    dir: &Path,
    options: &IngestOptions,
    cancelled: &AtomicBool,
) -> anyhow::Result<FilePart> {
    let (read, files) = ingest_part(source, shown_name, dir, options, cancelled)?;
    let (table, rejects) = files.into_temporaries()?;
    let PartRead { dataset, evidence, forms, bytes } = read;
    let spelled = dataset.columns.iter().map(|it| it.name.clone()).collect();
    Ok(FilePart { at, dataset, spelled, evidence, forms, bytes, table, rejects })
}

/// Processes several files concurrently, within the memory limit of one. Returns the outcomes in the
/// order of `which`.
fn side_by_side<T: Send>(
    which: &[usize],
    cancelled: &AtomicBool,
    work: &(dyn Fn(usize) -> anyhow::Result<T> + Sync),
) -> anyhow::Result<Vec<anyhow::Result<T>>> {
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<(usize, anyhow::Result<T>)>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..files_at_once().min(which.len()) {
            scope.spawn(|| {
                while let Some(at) = which.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if check_cancelled(cancelled).is_err() {
                        return;
                    }
                    let outcome = work(*at);
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((*at, outcome));
                }
            });
        }
    });
    check_cancelled(cancelled)?;
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|it| it.0);
    Ok(outcomes.into_iter().map(|it| it.1).collect())
}

/// Returns the files that were read, and the names of the unreadable ones.
fn readable<'a>(
    union: &Union<'a>,
    read: Vec<anyhow::Result<FilePart>>,
    options: &IngestOptions,
) -> anyhow::Result<(Vec<FilePart>, Vec<&'a str>)> {
    let (n, n_failed) = (read.len(), read.iter().filter(|it| it.is_err()).count());
    if n_failed == n || (options.strict && 0 < n_failed) {
        let doing = || match n_failed {
            1 => format!("cannot join {n} files, since one of them cannot be read"),
            _ => {
                format!("cannot join {n} files, since {n_failed} of them cannot be read; the first")
            }
        };
        let parts = read.into_iter().collect::<anyhow::Result<_>>().with_context(doing)?;
        return Ok((parts, Vec::new()));
    }
    let (mut parts, mut unread) = (Vec::new(), Vec::new());
    for (outcome, file) in read.into_iter().zip(union.files) {
        match outcome {
            Ok(part) => parts.push(part),
            Err(error) => {
                (union.fail)(error);
                unread.push(file.as_str());
            }
        }
    }
    let has_names = |it: &FilePart| {
        let Dialect { header, format, .. } = &it.dataset.dialect;
        *header || !matches!(format, SourceFormat::Text | SourceFormat::Sheet)
    };
    if union.by_name && parts.iter().any(has_names) {
        parts.retain(|it| {
            let keeps = has_names(it);
            if !keeps {
                let source = &it.dataset.source;
                let message = format!("cannot join `{source}` by name: its columns have no names");
                let hint = "write the names above its rows, or leave it out";
                (union.fail)(Failure::input(message).hint(hint).into());
                unread.push(union.files[it.at].as_str());
            }
            keeps
        });
    }
    Ok((parts, unread))
}

/// Gives names that differ only in case and blanks the spelling of the first file, except where one
/// file has two of them. Returns the other spellings of each name.
fn spell_alike(parts: &mut [FilePart]) -> BTreeMap<String, BTreeSet<String>> {
    let keys_of =
        |part: &FilePart| part.spelled.iter().map(|it| spelling_key(it)).collect::<Vec<_>>();
    let mut apart: HashSet<String> = HashSet::new();
    for part in &*parts {
        let mut own = HashSet::new();
        apart.extend(keys_of(part).into_iter().filter(|key| !own.insert(key.clone())));
    }
    let mut first: HashMap<String, String> = HashMap::new();
    let mut others: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for part in parts {
        let keys = keys_of(part);
        for ((column, spelled), key) in part.dataset.columns.iter_mut().zip(&part.spelled).zip(keys)
        {
            if apart.contains(&key) {
                continue;
            }
            let name = first.entry(key).or_insert_with(|| spelled.clone());
            if name != spelled {
                others.entry(name.clone()).or_default().insert(spelled.clone());
            }
            column.name.clone_from(name);
        }
    }
    others
}

/// Returns the common form of all spellings of a name.
fn spelling_key(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns the columns that a file itself has, without surplus cells.
fn own_columns(part: &FilePart) -> &[Column] {
    let columns = &part.dataset.columns;
    let n_surplus = usize::from(0 < part.dataset.surplus_rows);
    &columns[..columns.len() - n_surplus]
}

/// Fails when the files have not the same columns; with `by_name`, when a file shares none with the first one, so
/// that its table is probably another.
fn check_columns(parts: &[FilePart], by_name: bool, is_further: bool) -> anyhow::Result<()> {
    let names = |part: &FilePart| -> Vec<String> {
        own_columns(part).iter().map(|it| it.name.clone()).collect()
    };
    let first = names(&parts[0]);
    let known: HashSet<&String> = first.iter().collect();
    for part in &parts[1..] {
        let own = names(part);
        let found: HashSet<&String> = own.iter().collect();
        if found == known || by_name && !found.is_disjoint(&known) {
            continue;
        }
        let listed = |mut it: Vec<&&String>| {
            it.sort();
            let more = if NAMED_MAX < it.len() { ", …" } else { "" };
            all_names(it.iter().take(NAMED_MAX)) + more
        };
        let lacks = listed(known.difference(&found).collect());
        let has = listed(found.difference(&known).collect());
        let (source, other) = (&part.dataset.source, &parts[0].dataset.source);
        let what = match (lacks.is_empty(), has.is_empty()) {
            (false, false) => format!("it has {has} and not {lacks}"),
            (false, true) => format!("it has no {lacks}"),
            _ => format!("it has {has}"),
        };
        let message = format!("cannot join `{source}` with `{other}`: {what}");
        let within =
            |it: &str| Path::new(it).parent().filter(|it| it.is_file()).map(Path::to_owned);
        let hint = match (within(other), within(source)) {
            _ if is_further => "`csv-agent ingest --tables all PATH…` makes a dataset of each table of each file"
                .to_owned(),
            (Some(a), Some(b)) if a == b => format!("name one of them, such as `{other}`"),
            _ => "`csv-agent ingest --union-by-name` joins files with other columns: what a file lacks is null"
                .to_owned(),
        };
        return Err(Failure::input(message).hint(hint).into());
    }
    Ok(())
}

/// Returns the names of all columns, in order of first occurrence.
fn column_names(parts: &[FilePart]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    // The column of surplus cells is the last.
    let own = parts.iter().flat_map(own_columns);
    let surplus = parts.iter().flat_map(|it| &it.dataset.columns[own_columns(it).len()..]);
    for column in own.chain(surplus) {
        if known.insert(&column.name) {
            names.push(column.name.clone());
        }
    }
    names
}

/// The combined columns of all files.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    dtypes: Vec<DType>,
    /// How the files of each style are read.
    decisions: Vec<BTreeMap<FileStyle, Decision>>,
    /// The types of the files where they differ.
    mixed: Vec<Option<MixedTypes>>,
}

impl Columns {
    /// Returns the settings with which a file gets these types.
    fn family_of(&self, part: &FilePart) -> Family {
        let mut told = BTreeMap::new();
        let style = FileStyle::of(&part.dataset);
        for (name, decisions) in self.names.iter().zip(&self.decisions) {
            let Some(at) = part.dataset.columns.iter().position(|it| it.name == *name) else {
                continue;
            };
            let side = FileColumn::of(part, at);
            if let (Some(side), Some(decision)) = (side, decisions.get(&style))
                && side.seen.is_some()
                && decision.changes(&side)
            {
                told.insert(part.spelled[at].clone(), decision.reading.clone());
            }
        }
        Family(told)
    }
}

/// What files must have in common for the numbers and dates of one to explain those of another: in a
/// file with commas between cells, `1,250` says nothing about a file with semicolons.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FileStyle {
    /// The delimiter of a text.
    delimiter: Option<String>,
    /// Whether it is a text, which people may have written.
    is_text: bool,
}

impl FileStyle {
    fn of(dataset: &Dataset) -> Self {
        let Dialect { format, delimiter, .. } = &dataset.dialect;
        FileStyle { delimiter: delimiter.clone(), is_text: *format == SourceFormat::Text }
    }

    fn hints(&self, options: &IngestOptions) -> Hints {
        let of_program = (!self.is_text).then_some(DecimalMark::Point);
        Hints {
            date_order: options.date_order,
            decimal: options.decimal.or(of_program),
            is_semicolon: self.delimiter.as_deref() == Some(";"),
            is_comma: self.delimiter.as_deref() == Some(","),
            is_plain: false,
        }
    }
}

/// How a column of files of one style is read.
#[derive(Debug, Clone)]
struct Decision {
    dtype: DType,
    /// How to reread files that were read differently on their own.
    reading: ColumnType,
    /// Whether the values of each file convert exactly from the type that it has on its own.
    is_widened: bool,
}

impl Decision {
    fn text() -> Self {
        Decision { dtype: DType::String, reading: ColumnType::default(), is_widened: false }
    }

    /// Returns whether a file must be read again.
    fn changes(&self, side: &FileColumn<'_>) -> bool {
        let is_other = side.column.dtype != self.dtype && !self.is_widened;
        is_other || side.is_misread(&self.reading)
    }
}

/// Decides the types of all columns.
fn decide(parts: &[FilePart], names: &[String], wants: &Wants, options: &IngestOptions) -> Columns {
    let places: HashMap<&str, usize> =
        names.iter().enumerate().map(|(at, it)| (it.as_str(), at)).collect();
    let mut evidence: BTreeMap<FileStyle, Vec<TypeEvidence>> = BTreeMap::new();
    let mut sides: Vec<BTreeMap<FileStyle, Vec<FileColumn<'_>>>> =
        vec![BTreeMap::new(); names.len()];
    for part in parts {
        let style = FileStyle::of(&part.dataset);
        let none = || vec![TypeEvidence::default(); names.len()];
        let evidence = evidence.entry(style.clone()).or_insert_with(none);
        for (column_at, column) in part.dataset.columns.iter().enumerate() {
            let at = places[column.name.as_str()];
            if let Some(seen) = part.evidence.get(column_at) {
                evidence[at].add(*seen);
            }
            sides[at].entry(style.clone()).or_default().extend(FileColumn::of(part, column_at));
        }
    }
    let together: BTreeMap<&FileStyle, Vec<ColumnType>> =
        evidence.iter().map(|(it, seen)| (it, decide_as(seen, wants, it.hints(options)))).collect();
    let mut columns = Columns { names: names.to_vec(), ..Columns::default() };
    for (at, sides) in sides.iter().enumerate() {
        let written = sides.iter().filter(|it| !it.1.is_empty());
        let decisions =
            written.map(|(style, of)| (style.clone(), decide_one(of, together[style][at].clone())));
        let mut decisions: BTreeMap<FileStyle, Decision> = decisions.collect();
        let sides: Vec<&FileColumn<'_>> = sides.values().flatten().collect();
        let dtype = common_type(&decisions, &sides);
        if dtype == DType::String {
            let is_text = |it: &Decision| it.dtype == DType::String;
            decisions.values_mut().filter(|it| !is_text(it)).for_each(|it| *it = Decision::text());
        }
        let is_mixed = sides.iter().any(|it| it.column.dtype != sides[0].column.dtype);
        let is_widened = dtype == DType::Float64 && decisions.values().all(|it| it.is_widened);
        columns.dtypes.push(dtype);
        columns.decisions.push(decisions);
        columns.mixed.push((is_mixed && !is_widened).then(|| MixedTypes::of(&sides, dtype)));
    }
    columns
}

/// Returns the type to which the columns of all writers convert with no value changed.
fn common_type(decisions: &BTreeMap<FileStyle, Decision>, sides: &[&FileColumn<'_>]) -> DType {
    let are_all = |of: &[DType]| decisions.values().all(|it| of.contains(&it.dtype));
    let Some(first) = decisions.values().next() else { return DType::String };
    if are_all(&[first.dtype]) {
        first.dtype
    } else if are_all(&[DType::Int64, DType::Float64]) && !sides.iter().any(|it| it.is_long()) {
        DType::Float64
    } else if are_all(&[DType::Date, DType::Timestamp]) {
        DType::Timestamp
    } else {
        DType::String
    }
}

/// The types that the files of a column would have on their own.
struct MixedTypes {
    /// Each type with its files: `float64 in 29 files, string in 2024-03.csv`.
    words: String,
    /// Whether the column is text although most files have something else.
    is_text_of_few: bool,
}

impl MixedTypes {
    fn of(sides: &[&FileColumn<'_>], dtype: DType) -> MixedTypes {
        const NAMED_MAX: usize = 2;
        let of = |dtype: DType| sides.iter().filter(move |it| it.column.dtype == dtype);
        let counts = most_common(sides.iter().map(|it| it.column.dtype));
        let words = counts.iter().map(|(dtype, n_files)| {
            let files = if *n_files <= NAMED_MAX {
                of(*dtype).map(|it| it.source).collect::<Vec<_>>().join(" and ")
            } else {
                format!("{n_files} files")
            };
            format!("{} in {files}", dtype.name())
        });
        let words = words.collect::<Vec<_>>().join(", ");
        let n_text = of(DType::String).count();
        let is_text_of_few = dtype == DType::String && 2 * n_text < sides.len();
        MixedTypes { words, is_text_of_few }
    }
}

/// A non-empty column of one file.
#[derive(Clone)]
struct FileColumn<'a> {
    column: &'a Column,
    source: &'a str,
    /// The evidence of its values and their form, if it was read from text and can therefore be reread.
    seen: Option<(TypeEvidence, ValueForm)>,
}

impl<'a> FileColumn<'a> {
    fn of(part: &'a FilePart, at: usize) -> Option<Self> {
        let column = &part.dataset.columns[at];
        let is_empty = column.nulls == Some(part.dataset.row_count);
        let seen = part.evidence.get(at).copied().zip(part.forms.get(at).copied());
        (!is_empty).then_some(FileColumn { column, source: &part.dataset.source, seen })
    }

    /// Returns whether it has whole numbers that no float represents. Those of a Parquet file are
    /// checked when they are joined.
    fn is_long(&self) -> bool {
        let long = TypeEvidence::LONG_INT.and(TypeEvidence::LOCAL_LONG);
        self.seen.is_some_and(|(seen, _)| seen.has(long))
    }

    /// Returns whether it contains floats, or whole numbers that convert exactly to floats.
    fn is_exact_as_float(&self) -> bool {
        let is_clear = self.seen.is_none_or(|(seen, _)| is_clear_number(seen));
        is_clear && !self.is_long() && matches!(self.column.dtype, DType::Int64 | DType::Float64)
    }

    /// Returns whether its numbers can be read in several forms, and the other files show another form
    /// than it does on its own.
    fn is_misread(&self, reading: &ColumnType) -> bool {
        self.seen.is_some_and(|(seen, form)| {
            is_ambiguous_number(seen) && form != reading.form && reading.dtype.is_some()
        })
    }
}

/// Decides how a column of files of one style is read.
fn decide_one(sides: &[FileColumn<'_>], together: ColumnType) -> Decision {
    let dtype = sides[0].column.dtype;
    let is_same = sides.iter().all(|it| it.column.dtype == dtype);
    if is_same && !sides.iter().any(|it| it.is_misread(&together)) {
        return Decision { dtype, reading: ColumnType::default(), is_widened: true };
    }
    // These types hold the values of all files, none of which must be read again.
    let is_moment = |it: &FileColumn<'_>| matches!(it.column.dtype, DType::Date | DType::Timestamp);
    let is_any_fixed = sides.iter().any(|it| it.seen.is_none());
    let wider = if sides.iter().all(FileColumn::is_exact_as_float) {
        Some(DType::Float64)
    } else {
        (is_any_fixed && sides.iter().all(is_moment)).then_some(DType::Timestamp)
    };
    if let Some(dtype) = wider {
        return Decision { dtype, reading: ColumnType::default(), is_widened: true };
    }
    let is_firm_text =
        |it: &FileColumn<'_>| it.column.dtype == DType::String && !it.column.is_ambiguous;
    // The values of a Parquet file have no other form in which they can be read again.
    if is_any_fixed || sides.iter().any(is_firm_text) {
        return Decision::text();
    }
    Decision { dtype: together.dtype(), reading: together, is_widened: false }
}

/// The columns of the written table.
struct Joined {
    columns: Vec<BuiltColumn>,
    /// Number of columns that come from the files; the others come from their paths.
    n_of_files: usize,
    /// For each path column, the value of each file.
    of_paths: Vec<Vec<Option<String>>>,
}

impl Joined {
    fn of(union: &Union<'_>, columns: &Columns) -> Joined {
        let mut built: Vec<BuiltColumn> = columns
            .names
            .iter()
            .zip(&columns.dtypes)
            .map(|(name, dtype)| BuiltColumn {
                name: name.clone(),
                dtype: *dtype,
                repeats: *dtype == DType::String,
            })
            .collect();
        let n_of_files = built.len();
        let mut of_paths = Vec::new();
        // A file may itself have a column of that name, with another meaning.
        let free = |built: &[BuiltColumn], name: &str| {
            let mut name = name.to_owned();
            while built.iter().any(|it| it.name == name) {
                name.insert(0, '_');
            }
            name
        };
        for (name, values) in union.path_columns {
            let dtype = if values.iter().flatten().all(|it| is_whole(it)) {
                DType::Int64
            } else {
                DType::String
            };
            built.push(BuiltColumn { name: free(&built, name), dtype, repeats: true });
            of_paths.push(values.clone());
        }
        let name = free(&built, FILE_COLUMN);
        built.push(BuiltColumn { name, dtype: DType::String, repeats: true });
        of_paths.push(union.files.iter().cloned().map(Some).collect());
        Joined { columns: built, n_of_files, of_paths }
    }

    /// Converts rows of a file to some columns of the table.
    fn rows(
        &self,
        batch: &RecordBatch,
        part: &FilePart,
        wanted: &[usize],
    ) -> anyhow::Result<Vec<ArrayRef>> {
        let n_rows = batch.num_rows();
        let array = |at: &usize| {
            let column = &self.columns[*at];
            if let Some(values) = at.checked_sub(self.n_of_files).map(|it| &self.of_paths[it]) {
                return Ok(repeated(values[part.at].as_deref(), column.dtype, n_rows));
            }
            let own = part.own_name(&column.name);
            let found = own.and_then(|it| batch.column_by_name(it));
            let wanted = field(&column.name, column.dtype);
            match found {
                Some(array) if array.data_type() == wanted.data_type() => Ok(Arc::clone(array)),
                Some(array) if array.null_count() < n_rows => widened(array, column, part),
                _ => Ok(new_null_array(wanted.data_type(), n_rows)),
            }
        };
        wanted.iter().map(array).collect()
    }

    /// Returns where a file has each column of the table with the same name and type, so that its encoded form
    /// can be kept.
    fn places(&self, part: &FilePart, metadata: &ArrowReaderMetadata) -> Vec<Option<usize>> {
        let groups = metadata.metadata().row_groups();
        let place = |column: &BuiltColumn| {
            let own = part.own_name(&column.name)?;
            let (at, found) = metadata.schema().column_with_name(own)?;
            let wanted = field(&column.name, column.dtype);
            let is_same = found.name() == wanted.name() && found.data_type() == wanted.data_type();
            let are_counted = || {
                groups.iter().all(|it| {
                    it.column(at).statistics().is_some_and(|it| it.null_count_opt().is_some())
                })
            };
            (is_same && are_counted()).then_some(at)
        };
        let of_files = self.columns[..self.n_of_files].iter().map(place);
        of_files.chain(self.of_paths.iter().map(|_| None)).collect()
    }
}

/// Returns a column that has one value in all rows.
fn repeated(value: Option<&str>, dtype: DType, n_rows: usize) -> ArrayRef {
    match dtype {
        DType::Int64 => {
            let value: Option<i64> = value.and_then(|it| it.parse().ok());
            Arc::new(Int64Array::from(vec![value; n_rows]))
        }
        _ => Arc::new(StringArray::from(vec![value; n_rows])),
    }
}

/// Returns whether text is a canonical whole number, so that `007` remains text.
fn is_whole(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|it| it.to_string() == text)
}

/// Returns the values in the type of the table, which changes none of them: whole numbers as floats, dates as
/// timestamps, anything as text.
fn widened(array: &ArrayRef, column: &BuiltColumn, part: &FilePart) -> anyhow::Result<ArrayRef> {
    let (name, source) = (&column.name, &part.dataset.source);
    match (array.data_type(), column.dtype) {
        (DataType::Int64, DType::Float64) => floats(array.as_primitive(), name, source),
        (DataType::Date32, DType::Timestamp) => {
            let days = array.as_primitive::<Date32Type>();
            let micros = days.unary::<_, TimestampMicrosecondType>(|it| i64::from(it) * DAY_US);
            Ok(Arc::new(micros))
        }
        (_, DType::String) => texts(array),
        _ => bail!("column `{name}` of `{source}` changed its type"),
    }
}

fn texts(array: &ArrayRef) -> anyhow::Result<ArrayRef> {
    let mut texts = StringBuilder::new();
    let mut value = String::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            texts.append_null();
            continue;
        }
        value.clear();
        text::write(array, row, &mut value)?;
        texts.append_value(&value);
    }
    Ok(Arc::new(texts.finish()))
}

fn floats(ints: &Int64Array, name: &str, source: &str) -> anyhow::Result<ArrayRef> {
    /// Beyond this, not every whole number is representable as a float.
    const EXACT_MAX: u64 = 1 << 53;
    if let Some(value) = ints.iter().flatten().find(|it| EXACT_MAX < it.unsigned_abs()) {
        let message = format!(
            "cannot join column `{name}`: other files have floats, and `{source}` has {value}, which is \
             not a float"
        );
        let hint = "write the Parquet file with text in that column, or leave it out";
        return Err(Failure::input(message).hint(hint).into());
    }
    #[expect(clippy::cast_precision_loss, reason = "all are below the bound")]
    let floats: Float64Array = ints.unary::<_, Float64Type>(|it| it as f64);
    Ok(Arc::new(floats))
}

/// A row group of the table, and its origin.
enum GroupPlan {
    /// All rows of small files, which are encoded again.
    Files(Vec<usize>),
    /// A row group of a large file. Columns that have a place in its table are kept in their encoded form.
    Part { part: usize, group: usize, metadata: ArrowReaderMetadata, places: Arc<[Option<usize>]> },
}

/// Concatenates the tables of all files. Returns the table, its row count, and the null count of each
/// column.
fn join(
    joined: &Joined,
    parts: &[FilePart],
    target: Target<'_>,
    cancelled: &AtomicBool,
) -> anyhow::Result<(ParquetFile, u64, Vec<u64>)> {
    let groups = groups(joined, parts)?;
    let Target { dir, name, purpose } = target;
    let (mut file, encoder) =
        ParquetFile::create(dir, &format!("{name}.parquet"), &joined.columns, purpose)?;
    let next = AtomicUsize::new(0);
    let mut nulls = vec![0; joined.columns.len()];
    let mut n_rows = 0;
    thread::scope(|scope| {
        let (sender, finished) = channel();
        for _ in 0..files_at_once().min(groups.len()) {
            let (sender, next, groups) = (sender.clone(), &next, &groups);
            let encoder = &encoder;
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(group) = groups.get(at) else { return };
                    let outcome = check_cancelled(cancelled).and_then(|()| match group {
                        GroupPlan::Files(files) => encode(joined, parts, files, encoder),
                        GroupPlan::Part { part, group, metadata, places } => {
                            keep(joined, &parts[*part], metadata, *group, places, purpose)
                        }
                    });
                    if sender.send((at, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut wanted = 0;
        for (at, outcome) in finished {
            waiting.insert(at, outcome?);
            while let Some(Encoded { columns, nulls: found, n_rows: n }) = waiting.remove(&wanted) {
                file.append(n, columns)?;
                nulls.iter_mut().zip(found).for_each(|(all, it)| *all += it);
                n_rows += n;
                wanted += 1;
            }
        }
        anyhow::Ok(())
    })?;
    check_cancelled(cancelled)?;
    let n_read: u64 = parts.iter().map(|it| it.dataset.row_count).sum();
    ensure!(n_rows == n_read, "the files have {n_read} rows, and {n_rows} were joined");
    Ok((file, n_rows, nulls))
}

/// Divides the rows of all files into row groups. Rows of small files are combined until a group is
/// full.
fn groups(joined: &Joined, parts: &[FilePart]) -> anyhow::Result<Vec<GroupPlan>> {
    let mut groups: Vec<GroupPlan> = Vec::new();
    let (mut n_rows, mut bytes) = (0, 0);
    for (at, part) in parts.iter().enumerate().filter(|it| 0 < it.1.dataset.row_count) {
        if part.bytes <= ONE_GROUP_BYTES_MAX {
            (n_rows, bytes) = (n_rows + part.dataset.row_count, bytes + part.bytes);
            let is_full = GROUP_ROWS_MAX < n_rows || 2 * SLICE_BYTES_MAX as u64 <= bytes;
            if let Some(GroupPlan::Files(files)) = groups.last_mut().filter(|_| !is_full) {
                files.push(at);
            } else {
                (n_rows, bytes) = (part.dataset.row_count, part.bytes);
                groups.push(GroupPlan::Files(vec![at]));
            }
            continue;
        }
        let options =
            ArrowReaderOptions::default().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = ArrowReaderMetadata::load(&File::open(&part.table)?, options)?;
        let places: Arc<[Option<usize>]> = joined.places(part, &metadata).into();
        groups.extend((0..metadata.metadata().num_row_groups()).map(|group| {
            let (metadata, places) = (metadata.clone(), Arc::clone(&places));
            GroupPlan::Part { part: at, group, metadata, places }
        }));
    }
    Ok(groups)
}

/// An encoded row group, ready to be written.
struct Encoded {
    columns: Vec<GroupColumn>,
    nulls: Vec<u64>,
    n_rows: u64,
}

/// Encodes all rows of small files as one row group.
fn encode(
    joined: &Joined,
    parts: &[FilePart],
    files: &[usize],
    encoder: &Encoder,
) -> anyhow::Result<Encoded> {
    let mut row_group = encoder.row_group()?;
    let wanted: Vec<usize> = (0..joined.columns.len()).collect();
    let mut nulls = vec![0; wanted.len()];
    let mut n_rows = 0;
    for part in files.iter().map(|it| &parts[*it]) {
        // Read at once: there are thousands of them.
        let all = Bytes::from(std::fs::read(&part.table)?);
        let reader = ParquetRecordBatchReaderBuilder::try_new(all)?.with_batch_size(BATCH_ROWS);
        for batch in reader.build()? {
            let batch = batch?;
            let rows = joined.rows(&batch, part, &wanted)?;
            nulls.iter_mut().zip(&rows).for_each(|(all, it)| *all += it.null_count() as u64);
            row_group.write(&rows)?;
            n_rows += batch.num_rows() as u64;
        }
    }
    let columns = row_group.close()?.into_iter().map(GroupColumn::from).collect();
    Ok(Encoded { columns, nulls, n_rows })
}

/// Copies the columns of a row group that have a place in the file, and encodes the others.
fn keep(
    joined: &Joined,
    part: &FilePart,
    metadata: &ArrowReaderMetadata,
    group: usize,
    places: &[Option<usize>],
    purpose: Purpose,
) -> anyhow::Result<Encoded> {
    let others: Vec<usize> = (0..places.len()).filter(|it| places[*it].is_none()).collect();
    let built: Vec<BuiltColumn> = others.iter().map(|it| joined.columns[*it].clone()).collect();
    let mut row_group = Encoder::of(&built, purpose)?.row_group()?;
    let mut nulls = vec![0; places.len()];
    let file = Arc::new(File::open(&part.table)?);
    let own = built.iter().filter_map(|it| part.own_name(&it.name));
    let own = own.filter_map(|it| metadata.schema().index_of(it).ok());
    let schema = metadata.metadata().file_metadata().schema_descr();
    let reader =
        ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, metadata.clone())
            .with_projection(ProjectionMask::roots(schema, own))
            .with_row_groups(vec![group])
            .with_batch_size(BATCH_ROWS);
    for batch in reader.build()? {
        let rows = joined.rows(&batch?, part, &others)?;
        others.iter().zip(&rows).for_each(|(at, it)| nulls[*at] += it.null_count() as u64);
        row_group.write(&rows)?;
    }
    let mut encoded = row_group.close()?.into_iter();
    let metadata = metadata.metadata();
    let mut columns = Vec::with_capacity(places.len());
    for (place, nulls) in places.iter().zip(&mut nulls) {
        let Some(at) = place else {
            columns.extend(encoded.next().map(GroupColumn::from));
            continue;
        };
        columns.push(GroupColumn::copied(&file, metadata, group, *at)?);
        let statistics = metadata.row_group(group).column(*at).statistics();
        let counted = statistics.and_then(Statistics::null_count_opt);
        *nulls = counted.context("a column of a file has no count of its nulls")?;
    }
    let n_rows = u64::try_from(metadata.row_group(group).num_rows())?;
    Ok(Encoded { columns, nulls, n_rows })
}

/// Concatenates the repair lists of all files, each entry with its file.
fn rejects_of(
    union: &Union<'_>,
    parts: &[FilePart],
    name: &str,
    dir: &Path,
) -> anyhow::Result<Option<NamedTempFile>> {
    if parts.iter().all(|it| it.rejects.is_none()) {
        return Ok(None);
    }
    let temp = temporary(dir, &format!("{name}.rejects.jsonl"))?;
    let mut out = BufWriter::new(temp.as_file());
    let mut n_listed = 0;
    for part in parts {
        let (file, Some(rejects)) = (&union.files[part.at], &part.rejects) else { continue };
        for line in BufReader::new(File::open(rejects)?).lines() {
            if !has_room(n_listed) {
                break;
            }
            let mut entry: Value = serde_json::from_str(&line?)?;
            entry["file"] = file.as_str().into();
            writeln!(out, "{entry}")?;
            n_listed += 1;
        }
    }
    out.flush()?;
    drop(out);
    Ok(Some(temp))
}

/// What is known about the files besides their rows.
#[derive(Clone, Copy)]
struct UnionNotes<'a> {
    columns: &'a Columns,
    /// The spellings of names in files other than the first.
    spellings: &'a BTreeMap<String, BTreeSet<String>>,
    /// Unreadable files.
    unread: &'a [&'a str],
}

#[expect(clippy::too_many_arguments, reason = "it says all of them in one place")]
fn describe(
    union: &Union<'_>,
    joined: &Joined,
    known: UnionNotes<'_>,
    parts: &[FilePart],
    name: &str,
    row_count: u64,
    nulls: &[u64],
    options: &IngestOptions,
) -> Dataset {
    let mut hash = Sha256::new();
    let files: Vec<SourceFile> = parts
        .iter()
        .map(|it| {
            let Dataset { source, origin, sha256, bytes, row_count, .. } = &it.dataset;
            hash.update(source);
            hash.update(sha256);
            let (source, origin, sha256) = (source.clone(), origin.clone(), sha256.clone());
            SourceFile { source, origin, sha256, bytes: *bytes, row_count: *row_count }
        })
        .collect();
    let mut described: Vec<Column> = Vec::new();
    for (at, built) in joined.columns.iter().enumerate() {
        let nulls = Some(nulls[at]);
        if at < joined.n_of_files {
            described.push(one_of(parts, built, nulls, known));
        } else {
            let what = if at + 1 == joined.columns.len() {
                note_on_files(parts, known.unread)
            } else {
                "of the file's path".to_owned()
            };
            let column = Column::new(built.name.clone(), built.dtype, nulls);
            described.push(Column { note: Some(what), ..column });
        }
    }
    let datasets = || parts.iter().map(|it| &it.dataset);
    let mut set_aside = SkippedLines::default();
    datasets().for_each(|it| set_aside.add(it.set_aside));
    let doubts =
        datasets().flat_map(|it| it.doubts.iter().map(|doubt| format!("{}: {doubt}", it.source)));
    let names = known.columns.names.iter().zip(&known.columns.mixed);
    // The note on an ambiguous column says it already.
    let of_few = names.zip(&described).filter_map(|((name, mixed), column)| {
        let mixed = mixed.as_ref().filter(|it| it.is_text_of_few && !column.is_ambiguous)?;
        Some(format!("column `{name}` is text, because its types differ: {}", mixed.words))
    });
    let doubts: Vec<String> = of_few.chain(doubts).take(NOTES_MAX).collect();
    Dataset {
        location: Location::Here { path: file_of(name) },
        source: union.shown_name.to_owned(),
        origin: options.origin.clone(),
        only_part: options.only_part.clone(),
        table_number: options.table_number,
        sha256: format!("{:x}", hash.finalize()),
        bytes: datasets().map(|it| it.bytes).sum(),
        row_count,
        columns: described,
        dialect: dialect(parts, options),
        padded_rows: datasets().map(|it| it.padded_rows).sum(),
        surplus_rows: datasets().map(|it| it.surplus_rows).sum(),
        set_aside,
        stray_quotes: StrayQuotes {
            unclosed: datasets().map(|it| it.stray_quotes.unclosed).sum(),
            split: datasets().map(|it| it.stray_quotes.split).sum(),
            doubtful: datasets().map(|it| it.stray_quotes.doubtful).sum(),
            line: datasets().map(|it| it.stray_quotes.line).find(|it| 0 < *it).unwrap_or_default(),
        },
        notes: shared_notes(parts),
        unclear_total: None,
        side_by_side: Vec::new(),
        doubts,
        files,
        checksums: None,
        ingested_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
    }
}

/// Returns the note on the file column: which files have a row that may be a total, and which are
/// missing.
fn note_on_files(parts: &[FilePart], unread: &[&str]) -> String {
    let mut said = vec!["the file of the row".to_owned()];
    if !unread.is_empty() {
        let names = listed(unread, NAMED_MAX);
        said.push(format!("left out, since it cannot be read: {names}"));
    }
    let totals =
        parts.iter().filter_map(|it| Some((it.dataset.unclear_total?, &it.dataset.source)));
    let totals: Vec<String> = totals.map(|(line, of)| format!("line {line} of {of}")).collect();
    if !totals.is_empty() {
        said.push(format!(
            "labeled as a total, so leave it out of sums: {}",
            listed(totals, NAMED_MAX)
        ));
    }
    said.join("; ")
}

/// Returns the notes that most files have around their tables; a note of a single file says nothing
/// about all.
fn shared_notes(parts: &[FilePart]) -> Vec<String> {
    let mut counts: Vec<(&String, usize)> = Vec::new();
    let mut places: HashMap<&String, usize> = HashMap::new();
    for note in parts.iter().flat_map(|it| &it.dataset.notes) {
        let at = *places.entry(note).or_insert_with(|| {
            counts.push((note, 0));
            counts.len() - 1
        });
        counts[at].1 += 1;
    }
    let most = counts.into_iter().filter(|it| parts.len() < 2 * it.1);
    most.map(|it| it.0.clone()).take(NOTES_MAX).collect()
}

/// Returns the description of a column that comes from the files.
fn one_of(
    parts: &[FilePart],
    built: &BuiltColumn,
    nulls: Option<u64>,
    known: UnionNotes<'_>,
) -> Column {
    let found: Vec<(&Column, &str)> = parts
        .iter()
        .filter_map(|part| {
            let column = part.dataset.columns.iter().find(|it| it.name == built.name)?;
            Some((column, part.dataset.source.as_str()))
        })
        .collect();
    let columns = || found.iter().map(|it| it.0);
    let mut column = Column::new(built.name.clone(), built.dtype, nulls);
    let (n, n_found) = (parts.len(), found.len());
    let mut said: Vec<String> = Vec::new();
    if n_found < n {
        let have = if n_found == 1 { "has" } else { "have" };
        said.push(format!("{n_found} of {n} files {have} it"));
    }
    if let Some(others) = known.spellings.get(&built.name) {
        let others = all_names(others.iter().take(NAMED_MAX));
        said.push(format!("spelled {others} in other files"));
    }
    let at = known.columns.names.iter().position(|it| *it == built.name);
    if let Some(mixed) = at.and_then(|it| known.columns.mixed[it].as_ref()) {
        said.push(format!(
            "read separately, the files would have different types: {}",
            mixed.words
        ));
    }
    let meanings = most_common(columns().filter_map(|it| Some(it.meaning.as_ref()?.words())));
    if let [(_, n_files), others @ ..] = &meanings[..]
        && (*n_files < n_found || !others.is_empty())
    {
        let each = meanings.iter().take(NAMED_MAX).map(|(words, n)| format!("{words} in {n}"));
        said.push(format!("{} of {n} files", each.collect::<Vec<_>>().join(", ")));
    }
    let notes = most_common(columns().filter_map(|it| it.note.as_deref()));
    said.extend(notes.first().map(|(note, n_files)| match *n_files {
        n_files if n_files == n => (*note).to_owned(),
        // A note of one file, with its counts, applies only to that file.
        1 => {
            let has_it = |it: &&(&Column, &str)| it.0.note.as_deref() == Some(*note);
            let source = found.iter().find(has_it).map_or("", |it| it.1);
            let more = if 1 < notes.len() {
                format!(" ({} files have such a note)", notes.len())
            } else {
                String::new()
            };
            format!("in {source}: {note}{more}")
        }
        n_files => format!("{note} (in {n_files} of {n} files)"),
    }));
    column.note = (!said.is_empty()).then(|| said.join("; "));
    column.is_ambiguous = columns().any(|it| it.is_ambiguous);
    column.description = columns().find_map(|it| it.description.clone());
    column.is_unnamed = columns().all(|it| it.is_unnamed);
    let meaning = columns().next().and_then(|it| it.meaning.clone());
    column.meaning = meaning.filter(|it| columns().all(|other| other.meaning.as_ref() == Some(it)));
    column
}

/// Returns distinct values with their counts, the most common first.
pub(crate) fn most_common<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<(T, usize)> {
    let mut counts: Vec<(T, usize)> = Vec::new();
    for one in all {
        match counts.iter_mut().find(|it| it.0 == one) {
            Some((_, n)) => *n += 1,
            None => counts.push((one, 1)),
        }
    }
    counts.sort_by_key(|it| std::cmp::Reverse(it.1));
    counts
}

/// Returns how all files were read, where they were read alike.
fn dialect(parts: &[FilePart], options: &IngestOptions) -> Dialect {
    let dialects = || parts.iter().map(|it| &it.dataset.dialect);
    let first = &parts[0].dataset.dialect;
    let agrees = |is_so: &dyn Fn(&Dialect) -> bool| dialects().all(is_so);
    let doubtful = dialects().filter_map(|it| it.doubt.as_ref()).count();
    Dialect {
        format: SourceFormat::Files,
        sheet: None,
        encoding: if agrees(&|it| it.encoding == first.encoding) {
            first.encoding.clone()
        } else {
            "mixed".to_owned()
        },
        delimiter: first
            .delimiter
            .clone()
            .filter(|_| agrees(&|it| it.delimiter == first.delimiter)),
        quote: first.quote.filter(|_| agrees(&|it| it.quote == first.quote)),
        escape: first.escape.filter(|_| agrees(&|it| it.escape == first.escape)),
        header: agrees(&|it| it.header),
        header_line: first
            .header_line
            .filter(|_| agrees(&|it| it.header_line == first.header_line)),
        reasons: vec![format!(
            "{} joined",
            csv_agent_text::digits::count(parts.len() as u64, "file")
        )],
        told: options.given(),
        damage: dialects().find_map(|it| it.damage),
        doubt: (0 < doubtful).then(|| format!("a guess in {doubtful} of {} files", parts.len())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::{self, File};
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use tempfile::TempDir;

    use super::{Opened, TablePlace, Union, text, union};
    use crate::{DatasetFiles, IngestOptions, answer};
    use csv_agent_types::catalog::{DType, Dataset, Facts, Query};

    /// Rows of a file as text: a number, a word, a long text of its own, and what is often missing.
    fn row(file: usize, at: usize) -> [String; 4] {
        let long = format!("{at} of {file}:{}", " some words again".repeat(at % 7));
        let gap = if at.is_multiple_of(3) { String::new() } else { format!("g{}", at % 50) };
        [format!("{}", at * 7 + file), format!("w{}", at % 9), long, gap]
    }

    fn joined(dir: &Path, files: &[(&str, String)]) -> (Vec<String>, Dataset) {
        let names: Vec<String> = files.iter().map(|it| it.0.to_owned()).collect();
        for (name, text) in files {
            fs::write(dir.join(name), text).unwrap();
        }
        let open = |at: usize| {
            let (path, place) = (dir.join(&names[at]), TablePlace::default());
            Ok(Opened { path, copy: None, table: None, place })
        };
        let half = names.iter().enumerate().map(|(at, _)| (at % 2 == 0).then(|| at.to_string()));
        let path_columns = [("half".to_owned(), half.collect())];
        let fail = |error: anyhow::Error| panic!("{error:#}");
        let union_of = Union {
            shown_name: "all",
            files: &names,
            origins: &vec![None; names.len()],
            open: &open,
            path_columns: &path_columns,
            by_name: true,
            seen: &|_, _| {},
            fail: &fail,
        };
        let (options, cancelled) = (IngestOptions::default(), AtomicBool::new(false));
        let (dataset, kept) = union(&union_of, "t", dir, &options, &cancelled, &|| {}).unwrap();
        DatasetFiles::keep_all(vec![kept]).remove(0).unwrap();
        let file = File::open(dir.join("t.parquet")).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let mut lines = Vec::new();
        let mut nulls: BTreeMap<String, u64> = BTreeMap::new();
        for batch in reader {
            let batch = batch.unwrap();
            for row in 0..batch.num_rows() {
                let mut line = String::new();
                for column in batch.columns() {
                    if column.is_valid(row) {
                        text::write(column, row, &mut line).unwrap();
                    }
                    line.push('|');
                }
                lines.push(line);
            }
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                *nulls.entry(field.name().clone()).or_default() += column.null_count() as u64;
            }
        }
        for column in &dataset.columns {
            assert_eq!(column.nulls, nulls.get(&column.name).copied(), "{}", column.name);
        }
        (lines, dataset)
    }

    #[test]
    fn the_decimal_mark_of_a_file_decides_only_values_of_files_that_are_written_alike() {
        // Each file, with the values of its column `v` and what the dataset has.
        type File<'a> = (char, &'a [&'a str], &'a [&'a str]);
        let check = |files: &[File<'_>], dtype: DType| {
            for turned in [false, true] {
                let mut files = files.to_vec();
                if turned {
                    files.reverse();
                }
                let (mut texts, mut expected) = (Vec::new(), Vec::new());
                for (at, (delimiter, values, wanted)) in files.iter().enumerate() {
                    let rows = values.iter().map(|it| format!("x{delimiter}\"{it}\"\n"));
                    let text = format!("r{delimiter}v\n{}", rows.collect::<String>());
                    texts.push((["a.csv", "b.csv", "c.csv"][at], text));
                    expected.extend(wanted.iter().copied());
                }
                let dir = TempDir::new().unwrap();
                let (found, dataset) = joined(dir.path(), &texts);
                let found: Vec<&str> =
                    found.iter().map(|it| it.split('|').nth(1).unwrap()).collect();
                let column = &dataset.columns[1];
                assert_eq!((found, column.dtype), (expected, dtype), "{files:?} {column:?}");
            }
        };
        let european: File<'_> = (';', &["1.250,5", "3.000,7"], &["1250.5", "3000.7"]);
        let thousands: File<'_> = (',', &["1,250", "2,350"], &["1250", "2350"]);
        check(&[european, thousands], DType::Float64);
        check(&[european, (',', &["1.5", "2.25"], &["1.5", "2.25"])], DType::Float64);
        check(&[european, (',', &["8.169", "2.296"], &["8.169", "2.296"])], DType::Float64);
        check(&[(';', &["1.250", "980"], &["1250", "980"]), thousands], DType::Int64);
        // Nothing in files with `;` shows what `8.169` is.
        let open: File<'_> = (';', &["8.169", "6.296"], &["8.169", "6.296"]);
        check(&[open, (',', &["1.5", "2.5"], &["1.5", "2.5"])], DType::String);
        check(&[open, (',', &["1,250"], &["1,250"])], DType::String);
        // A file that is written alike does.
        check(&[(';', &["8.169"], &["8169"]), european], DType::Float64);
        let tabs: File<'_> = ('\t', &["1.250,5"], &["1250.5"]);
        check(&[('\t', &["8.169"], &["8169"]), tabs], DType::Float64);
        check(&[('\t', &["8.169"], &["8.169"]), ('\t', &["1.5"], &["1.5"])], DType::Float64);
    }

    #[test]
    fn large_files_are_joined_as_small_ones_are() {
        let dir = TempDir::new().unwrap();
        // Large files, with a small one between, columns in another order, one missing, and one of another type.
        let sizes = [40_000, 50, 41_000, 39_000, 40_500, 42_000];
        let order = |file: usize| match file {
            2 => vec![3, 1, 0, 2],
            3 => vec![0, 1, 2],
            _ => vec![0, 1, 2, 3],
        };
        let names = ["n", "word", "long", "gap"];
        let (mut files, mut expected) = (Vec::new(), Vec::new());
        let paths = ["a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv"];
        for (file, n_rows) in sizes.into_iter().enumerate() {
            let columns = order(file);
            let head: Vec<&str> = columns.iter().map(|it| names[*it]).collect();
            let mut text = head.join(",") + "\n";
            for at in 0..n_rows {
                let mut cells = row(file, at);
                if file == 4 && at == 7 {
                    cells[0] = "seven".to_owned();
                }
                let written: Vec<&str> = columns.iter().map(|it| cells[*it].as_str()).collect();
                text += &(written.join(",") + "\n");
                if !columns.contains(&3) {
                    cells[3] = String::new();
                }
                let half = if file % 2 == 0 { file.to_string() } else { String::new() };
                expected.push(format!("{}|{half}|{}|", cells.join("|"), paths[file]));
            }
            assert!(n_rows < 100 || 1_500_000 < text.len(), "{}", text.len());
            files.push((paths[file], text));
        }
        // With the word that is no number, all numbers are text: each file is read again.
        for files in [files.clone(), [&files[..4], &files[5..]].concat()] {
            let kept: Vec<&str> = files.iter().map(|it| it.0).collect();
            let (found, dataset) = joined(dir.path(), &files);
            let is_in = |it: &&String| kept.iter().any(|name| it.contains(name));
            let mut expected: Vec<String> = expected.iter().filter(is_in).cloned().collect();
            if kept.len() == 5 {
                let at = expected.iter().position(|it| it.contains("f.csv")).unwrap();
                expected[at..].iter_mut().for_each(|it| *it = it.replace("||f.csv", "|4|f.csv"));
            }
            assert_eq!(dataset.row_count, expected.len() as u64);
            let wrong = found.iter().zip(&expected).position(|(found, wanted)| found != wanted);
            assert_eq!(wrong.map(|it| (&found[it], &expected[it])), None);
            // What a search goes by is that of the files.
            let value = row(2, 40_001)[2].clone();
            let query = Query::FindValue { path: "t.parquet".into(), value };
            let Facts::Matches(matches) = answer(&query, dir.path()).unwrap() else { panic!() };
            let matches: Vec<(&str, u64)> =
                matches.iter().map(|it| (it.column.as_str(), it.count)).collect();
            assert_eq!(matches, [("long", 1)]);
        }
    }
}
