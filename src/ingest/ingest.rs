//! From a source to a dataset: examine the file, read it, and read it again if a guessed type was
//! wrong.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::available_parallelism;

use anyhow::ensure;
use memchr::memchr2;

use csv_agent_text::digits::count;
use csv_agent_text::lists::names;
use csv_agent_types::catalog::{
    Column, ColumnSpan, DType, Damage, Dataset, Dialect, Location, SkippedLines, SourceFormat,
    StrayQuotes, file_of,
};
use csv_agent_types::limits::{
    CSV_COLUMNS_MAX, QUOTED_BYTES_MAX, RECORD_BYTES_MAX, SLICE_BYTES_MAX, SLICES_BYTES_MAX,
    SNIFF_HEAD_BYTES,
};
use csv_agent_types::status::Failure;

use super::amount::Sign;
use super::arrow_file;
use super::builder::Guess;
use super::charset::Charset;
use super::dialect;
use super::encoding::{self, FoundEncoding};
use super::foreign;
use super::from_parquet;
use super::header::{self, Header, HeaderHints, TableDoubt};
use super::non_rows::{Comment, NonRowKind, NonRows};
use super::null_markers;
use super::number::{DecimalMark, NumberForm};
use super::outlier_values::Usual;
use super::pass::{self, PassConfig, PassStats, SLICE_BYTES_MIN};
use super::records::{Tokeniser, count_line_ends, texts_of};
use super::requested_types::{RequestedType, Wants};
use super::side_by_side;
use super::slice::SlicePlan;
use super::sniff::{self, Windows};
use super::source::{Input, Lead, Source, Text, Undecodable};
use super::subtotals::KeptRows;
use super::syntax::{Delimiter, Syntax};
use super::type_evidence::{Nulls, TypeEvidence};
use super::type_inference::{
    ColumnType, DIFFERENT_FORMS, Hints, THREE_DIGITS, ValueForm, decide_as, is_as_wanted,
    likely_forms,
};
use super::wrap::{self, Beside, Rules, Wrapping};
use super::write::{BuiltColumn, Purpose};
use super::{Progress, Watch, notes, totals};
use crate::cell_names::column_letters;
use crate::dataset_files::{DatasetFiles, Target, TempFiles};
use crate::non_rows::LinesBelow;
use crate::options::Comments;
use crate::options::IngestOptions;
use crate::record_shapes::records;
use crate::records::swallowed::{LIKELY_MAX, LineRule};
use crate::refusal::check_cancelled;
use crate::refusal::no_csv;
use crate::spool_notes::SpoolNotes;
use crate::text_encoding::hint_for;
use crate::text_encoding::{certain, check_text, survey};

/// Returns how many files to read concurrently: one per core, if the memory limit of one ingest leaves
/// a slice or two for each.
pub fn files_at_once() -> usize {
    n_cores().min(SLICES_BYTES_MAX / (SLICE_BYTES_MIN * (1 + pass::SLICES_BESIDE)))
}

fn n_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// How the work is divided. It does not affect the outcome, except for row groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tuning {
    /// Maximum bytes of a slice.
    pub slice_bytes: usize,
    /// Slices parsed concurrently.
    pub n_workers: usize,
}

impl Tuning {
    /// Returns suitable values for this machine and a file of `bytes`, when `n_at_once` files are read
    /// concurrently.
    fn new(bytes: u64, n_at_once: usize) -> Self {
        let n_cores = (n_cores() / n_at_once).max(1);
        let all_bytes_max = SLICES_BYTES_MAX / n_at_once;
        let n_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let n_slices_max = n_bytes / SLICE_BYTES_MIN + 1;
        let n_workers = n_cores.min(n_slices_max);
        let n_workers = n_workers.min(all_bytes_max / SLICE_BYTES_MIN - pass::SLICES_BESIDE);
        // A few slices for each worker.
        let share = n_bytes / (4 * n_workers) + 1;
        let most = all_bytes_max / (n_workers + pass::SLICES_BESIDE);
        let slice_bytes = share.clamp(SLICE_BYTES_MIN, SLICE_BYTES_MAX.min(most));
        Tuning { slice_bytes, n_workers }
    }
}

/// Reads `source` into the future `dir/NAME.parquet`, with `NAME.lines` and `NAME.rejects.jsonl` next
/// to it where they have content.
///
/// `shown_name` is the source as the user named it, `dir` the session's directory of datasets, `name`
/// the dataset's name. The returned files are complete: the footer of the Parquet file has been read
/// back, and its row count matches the parsed rows. [`DatasetFiles::keep_all`] syncs them to disk and
/// renames them. Without that call, or when the ingest fails, no new file remains and existing files
/// are unchanged.
///
/// No value is changed: a column whose values a type would change is text. Empty cells count as missing
/// and, in columns that are not text, so do the usual markers such as `NA`; an empty quoted cell is
/// empty text in a text column. Rows that are too short are padded with null; the surplus cells of rows
/// that are too long are stored in a column `_extra`. Blank lines are skipped. Undecodable bytes in a
/// file that is otherwise text become U+FFFD, which the dialect reports.
///
/// # Errors
///
/// Fails with `FailureKind::Input` when the source is missing, not a file, unreadable, empty, not
/// text, compressed in an unknown way, longer than `bytes_max` even when decompressed, or not in the
/// requested encoding; when it has a value that is not of the type requested for its column, or has
/// uneven rows and `strict` is set; or when it changes while it is read. Fails with
/// `FailureKind::Usage` when an option cannot be followed, and with `FailureKind::Interrupted` once
/// `cancelled` is set.
pub fn ingest(
    source: Source,
    shown_name: &str,
    name: &str,
    dir: &Path,
    options: &IngestOptions,
    progress: &(dyn Fn(Progress) + Sync),
    cancelled: &AtomicBool,
) -> anyhow::Result<(Dataset, DatasetFiles)> {
    let watch = Watch { progress, cancelled };
    let input = Input::open(source, shown_name, dir, options.bytes_max, &watch)?;
    let tuning = Tuning::new(input.bytes, options.n_at_once);
    ingest_input(&input, shown_name, name, Some(dir), options, tuning, &watch)
}

/// Determines everything that [`ingest`] would, and writes nothing.
///
/// # Errors
///
/// Fails as [`ingest`] does.
pub fn inspect(
    source: Source,
    shown_name: &str,
    name: &str,
    options: &IngestOptions,
    progress: &(dyn Fn(Progress) + Sync),
    cancelled: &AtomicBool,
) -> anyhow::Result<Dataset> {
    let watch = Watch { progress, cancelled };
    let temp = std::env::temp_dir();
    let input = Input::open(source, shown_name, &temp, options.bytes_max, &watch)?;
    let tuning = Tuning::new(input.bytes, options.n_at_once);
    Ok(ingest_input(&input, shown_name, name, None, options, tuning, &watch)?.0)
}

/// The result of an ingest of one of several files.
pub(super) struct PartRead {
    /// The dataset that the file would be on its own.
    pub dataset: Dataset,
    /// The type evidence of its columns; empty for a Parquet file, which has its own types.
    pub evidence: Vec<TypeEvidence>,
    /// How their values are written.
    pub forms: Vec<ValueForm>,
    /// Bytes of the file, decompressed.
    pub bytes: u64,
}

/// Reads one of several files into temporary files in `dir`.
pub(super) fn ingest_part(
    source: Source,
    shown_name: &str,
    dir: &Path,
    options: &IngestOptions,
    cancelled: &AtomicBool,
) -> anyhow::Result<(PartRead, DatasetFiles)> {
    const NAME: &str = "part";
    let watch = Watch { progress: &|_| {}, cancelled };
    let input = Input::open(source, shown_name, dir, options.bytes_max, &watch)?;
    let bytes = input.bytes;
    if let Some((dataset, files)) = ingest_columnar(&input, NAME, Some(dir), options, &watch)? {
        return Ok((PartRead { dataset, evidence: Vec::new(), forms: Vec::new(), bytes }, files));
    }
    let target = Some(Target { dir, name: NAME, purpose: Purpose::Union });
    let written = foreign::as_text(&input, dir, options, &watch)?;
    let (input, options) = written.as_ref().map_or((&input, options), |it| (&it.0, &it.1));
    let tuning = Tuning::new(input.bytes, options.n_at_once);
    let (read, files) = ingest_text(input, shown_name, NAME, target, options, tuning, &watch)?;
    let forms = read.guesses.iter().map(|it| it.form).collect();
    Ok((PartRead { dataset: read.dataset, evidence: read.evidence, forms, bytes }, files))
}

pub(super) fn ingest_input(
    input: &Input,
    shown_name: &str,
    name: &str,
    dir: Option<&Path>,
    options: &IngestOptions,
    tuning: Tuning,
    watch: &Watch<'_>,
) -> anyhow::Result<(Dataset, DatasetFiles)> {
    if let Some(read) = ingest_columnar(input, name, dir, options, watch)? {
        return Ok(read);
    }
    let purpose = Purpose::of_dataset(options, input.bytes);
    let target = dir.map(|dir| Target { dir, name, purpose });
    let temp = std::env::temp_dir();
    if let Some((input, options)) = foreign::as_text(input, dir.unwrap_or(&temp), options, watch)? {
        let tuning = Tuning::new(input.bytes, options.n_at_once);
        let read = ingest_text(&input, shown_name, name, target, &options, tuning, watch)?;
        return Ok((read.0.dataset, read.1));
    }
    let (understood, files) = ingest_text(input, shown_name, name, target, options, tuning, watch)?;
    Ok((understood.dataset, files))
}

/// Reads a columnar file, which has column names and types; returns `None` for any other.
fn ingest_columnar(
    input: &Input,
    name: &str,
    dir: Option<&Path>,
    options: &IngestOptions,
    watch: &Watch<'_>,
) -> anyhow::Result<Option<(Dataset, DatasetFiles)>> {
    let head = input.head(SNIFF_HEAD_BYTES)?;
    if from_parquet::is_parquet(&head) {
        return from_parquet::ingest(input, name, dir, options, watch).map(Some);
    }
    if !arrow_file::is_of(&head) {
        return Ok(None);
    }
    from_parquet::check_options(options, &input.name, "Arrow")?;
    let temp = std::env::temp_dir();
    let parquet = arrow_file::as_parquet(input, dir.unwrap_or(&temp), options.bytes_max, watch)?;
    let (mut dataset, files) = from_parquet::ingest(&parquet, name, dir, options, watch)?;
    dataset.dialect.format = SourceFormat::Arrow;
    // Statements about row groups and their writer concern the intermediate file.
    dataset.dialect.reasons.retain(|it| !it.starts_with("Parquet: "));
    Ok(Some((dataset, files)))
}

/// What an ingest determined about a text.
pub(super) struct Understood {
    /// The resulting dataset.
    pub dataset: Dataset,
    /// How the values of each column are written, except surplus cells.
    pub guesses: Vec<Guess>,
    /// The type evidence of these columns.
    pub evidence: Vec<TypeEvidence>,
    /// How records are split into cells.
    pub syntax: Syntax,
    /// Its encoding.
    pub charset: Charset,
    /// Whether the rows are wrapped in something, or lines before the table were left out.
    pub is_wrapped: bool,
    /// Number of records in the header.
    pub n_header_records: usize,
    /// The comment marker, if there are comment lines.
    pub comment: Option<Comment>,
    /// Whether any cell was quoted.
    pub any_quoted: bool,
    /// Number of records that contain only delimiters.
    pub n_hollow: u64,
    /// Number of unclosed quotes at the start of a cell.
    pub n_unclosed: u64,
    /// Number of lines that begin with a byte order mark.
    pub n_marks: u64,
}

/// Determines everything that an ingest would, and how it would read the text; writes nothing. Fails as
/// [`ingest`] does, and when the input is not text.
pub(super) fn understand(
    input: &Input,
    shown_name: &str,
    options: &IngestOptions,
    watch: &Watch<'_>,
) -> anyhow::Result<Understood> {
    let tuning = Tuning::new(input.bytes, options.n_at_once);
    Ok(ingest_text(input, shown_name, "", None, options, tuning, watch)?.0)
}

fn ingest_text(
    input: &Input,
    shown_name: &str,
    name: &str,
    target: Option<Target<'_>>,
    options: &IngestOptions,
    tuning: Tuning,
    watch: &Watch<'_>,
) -> anyhow::Result<(Understood, DatasetFiles)> {
    let find = |found, keeps_totals| {
        let layout = Layout::find(input, shown_name, options, found, keeps_totals, watch)?;
        let options = layout.options_of(options);
        let result = read(input, &layout, target, &options, tuning, watch);
        anyhow::Ok((layout, options, result))
    };
    let (mut layout, mut read_options, mut result) = find(None, false)?;
    // The text between the windows may point to a different encoding.
    if result.as_ref().is_err_and(anyhow::Error::is::<Undecodable>) && options.encoding.is_none() {
        let found = found_in_all(input, layout.found, layout.text.end, watch)?;
        (layout, read_options, result) = find(Some(found), false)?;
    }
    let mut unclear_total = None;
    if let Some(total) = result.as_ref().ok().and_then(|it| it.refuted_total(&layout)) {
        // It is an ordinary row.
        drop(result);
        unclear_total = total;
        (layout, read_options, result) = find(Some(layout.found), true)?;
    }
    let options = &*read_options;
    let ReadResult { columns, guesses, tally, reasons, files } =
        result.map_err(|error| match error.downcast() {
            Ok(undecodable) => undecodable_failure(shown_name, &undecodable),
            Err(error) => error,
        })?;

    let archive = input.archive_reason().into_iter().collect();
    let reasons =
        [archive, std::mem::take(&mut layout.reasons), reasons, repairs(&tally, &layout)].concat();
    let stray_quotes = stray_quotes(&tally);
    let written = options.written.as_deref();
    let format = written.map_or(SourceFormat::Text, |it| it.format);
    let word = format.place().unwrap_or("line");
    let doubts = layout.doubts(&columns, &tally, word).into_iter();
    let doubts = doubts.chain(columns_doubt(input, &layout, options)?);
    let doubts = doubts.chain(layout.sides_doubt(&columns, tally.n_rows, written)).collect();
    // The text is our own intermediate form, so its format is irrelevant to the user.
    let is_text = written.is_none();
    let has_rejects = 0 < tally.n_short + tally.n_surplus + tally.n_split + tally.set_aside.sum();
    let mut dataset = Dataset {
        location: Location::Here { path: file_of(name) },
        source: shown_name.to_owned(),
        origin: options.origin.clone(),
        only_part: options.only_part.clone(),
        table_number: options.table_number,
        sha256: input.archive.as_ref().map_or(tally.sha256, |it| it.sha256.clone()),
        bytes: input.archive.as_ref().map_or(input.bytes, |it| it.bytes),
        row_count: tally.n_rows,
        columns,
        dialect: Dialect {
            format,
            sheet: written.and_then(|it| it.sheet.clone()),
            encoding: layout.text.charset.name(),
            delimiter: layout.syntax.delimiter_as_written().filter(|_| is_text),
            quote: layout.syntax.quote.filter(|_| tally.any_quoted && is_text).map(char::from),
            escape: layout.syntax.escape.char().map(char::from),
            header: layout.header.line.is_some(),
            header_line: layout.header_line,
            reasons,
            damage: layout.found.damage,
            doubt: layout.found.is_doubtful.then(|| layout.found.reason.clone()),
            told: options.given(),
        },
        padded_rows: tally.n_short,
        surplus_rows: tally.n_surplus,
        set_aside: SkippedLines { next_table: tally.table_line.unwrap_or(0), ..tally.set_aside },
        stray_quotes,
        notes: notes::of(
            &layout.asides,
            (0 < tally.set_aside.footer).then_some(&layout.header.below),
            layout.syntax,
        ),
        unclear_total,
        side_by_side: if layout.beside.is_some() { layout.sides.clone() } else { Vec::new() },
        doubts,
        files: Vec::new(),
        checksums: None,
        ingested_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
    };
    let files = match (files, target) {
        (Some(files), Some(target)) => {
            // A file saved in a turn, or a part of a dataset, is not a dataset.
            let is_dataset = !options.is_plain && target.purpose.is_dataset();
            files.complete(target, has_rejects, is_dataset.then_some(&mut dataset))?
        }
        _ => DatasetFiles::default(),
    };
    let understood = Understood {
        dataset,
        guesses,
        evidence: tally.evidence,
        syntax: layout.syntax,
        charset: layout.text.charset,
        is_wrapped: layout.lead.wrappings != [None; 2]
            || 0 < layout.lead.n_raw
            || layout.header.is_log,
        n_header_records: layout.header.n_records,
        comment: layout.header.rule.comment,
        any_quoted: tally.any_quoted,
        n_unclosed: tally.n_unclosed,
        n_hollow: tally.n_hollow,
        n_marks: tally.n_marks,
    };
    Ok((understood, files))
}

fn stray_quotes(tally: &PassStats) -> StrayQuotes {
    let lines = [tally.unclosed_line, tally.doubtful_line];
    StrayQuotes {
        unclosed: tally.n_unclosed,
        split: tally.n_split,
        doubtful: tally.n_doubtful,
        line: lines.into_iter().flatten().min().unwrap_or(0),
    }
}

/// Returns a sentence for each repair of rows that a user might question.
fn repairs(tally: &PassStats, layout: &Layout) -> Vec<String> {
    let mut sentences = Vec::new();
    let PassStats { n_short, n_surplus, .. } = tally;
    if let (Some(repair), true) = (&tally.first_repair, 0 < n_short + n_surplus) {
        let line = repair.line;
        sentences.push(format!(
            "{} padded, {} with surplus cells, the first on line {line}",
            count(*n_short, "row"),
            count(*n_surplus, "row")
        ));
    }
    sentences.extend(set_aside(tally.set_aside, layout));
    if 0 < tally.n_blank {
        sentences.push(format!("{} skipped", count(tally.n_blank, "blank line")));
    }
    if 0 < tally.n_hollow {
        let rows = count(tally.n_hollow, "row");
        sentences.push(format!("{rows} with nothing but delimiters skipped"));
    }
    sentences.extend(stray_quotes(tally).sentence());
    if let Some(line) = tally.mark_line {
        let n = tally.n_marks;
        sentences.push(format!(
            "{n} byte order marks within the file left out, the first on line {line}"
        ));
    }
    sentences
}

/// Returns a sentence for each kind of line that is not a row.
fn set_aside(counts: SkippedLines, layout: &Layout) -> Vec<String> {
    let SkippedLines { preamble, comments, rules, repeated_headers, footer, .. } = counts;
    let SkippedLines { other_tables, totals, .. } = counts;
    let mut sentences = Vec::new();
    if let (true, Some(first)) = (0 < preamble, layout.asides.listed.first()) {
        let text = &first.text[..first.text.floor_char_boundary(60)];
        let line = first.line + 1;
        let lines = count(preamble, "line");
        sentences.push(format!("preamble: {lines}, the first on line {line} is `{text}`"));
    }
    if let (true, Some(Comment::Marked { marker, .. })) =
        (0 < comments, &layout.header.rule.comment)
    {
        sentences.push(format!("{comments} comment lines, which begin with `{marker}`"));
    }
    if 0 < rules {
        sentences.push(format!("{rules} border lines of the table are not rows"));
    }
    if 0 < repeated_headers {
        sentences.push(format!("the header is repeated {repeated_headers} times"));
    }
    if 0 < footer {
        let text = first_line(&layout.header.below.text[layout.header.below.n_total..]);
        let lines = count(footer, "line");
        sentences.push(format!("footer: {lines}, the first is `{text}`"));
    }
    if 0 < totals {
        let among = layout.header.rule.totals.first();
        let text = first_line(among.unwrap_or(&layout.header.below.text));
        sentences.push(format!(
            "{} of totals left out, such as `{text}`: they contain the sums of their columns, or their averages",
            count(totals, "row")
        ));
    }
    if 0 < other_tables {
        sentences.push(format!("lines of other tables: {other_tables}"));
    }
    sentences
}

/// Returns the first line, cut to fit in a sentence.
fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.lines().next().unwrap_or_default();
    text[..text.floor_char_boundary(60)].to_owned()
}

/// Removes the first lines from a text and returns them, if the text has more.
fn take_lines(text: &mut Vec<u8>, n_lines: u64) -> Option<Vec<u8>> {
    let mut end = 0;
    for _ in 0..n_lines {
        let at = end + memchr2(b'\n', b'\r', &text[end..])?;
        end = if text[at..].starts_with(b"\r\n") { at + 2 } else { at + 1 };
    }
    (end < text.len() || n_lines == 0).then(|| text.drain(..end).collect())
}

fn undecodable_failure(shown_name: &str, undecodable: &Undecodable) -> anyhow::Error {
    let message = format!("cannot read `{shown_name}`: {undecodable}");
    let hint =
        "leave out `--encoding` so that csv-agent detects it, or try `--encoding windows-1252`";
    Failure::input(message).hint(hint).into()
}

/// The layout of the file, decided before it is read.
struct Layout {
    found: FoundEncoding,
    text: Text,
    syntax: Syntax,
    header: Header,
    /// The text before the first row, and the number of its lines.
    lead: Lead,
    first_line: u64,
    header_line: Option<u64>,
    /// What is left and right of the table.
    beside: Option<Beside>,
    /// The columns of each of several tables side by side, if their presence is certain.
    sides: Vec<ColumnSpan>,
    /// The non-rows among the lines before the first row.
    asides: NonRows,
    nulls: Nulls,
    reasons: Vec<String>,
}

impl Layout {
    /// Examines windows over the file, and more of its head when the first record does not fit.
    fn find(
        input: &Input,
        shown_name: &str,
        options: &IngestOptions,
        mut surveyed: Option<FoundEncoding>,
        keeps_totals: bool,
        watch: &Watch<'_>,
    ) -> anyhow::Result<Layout> {
        let refuse = |found: &str, hint: &str| no_csv(shown_name, found, hint);
        let mut n_head = SNIFF_HEAD_BYTES;
        let mut cut_record = None;
        loop {
            let narrow_end = input.text_end(Charset::UTF_8)?;
            let read = input.head(n_head)?;
            // Zeros at the end of a short file may belong to its signature.
            let is_written = options.written.is_some();
            if let Some(kind) = sniff::binary_kind(&read).filter(|_| !is_written) {
                return Err(refuse(&format!("it is {kind}"), hint_for(kind)));
            }
            let head = before(&read, narrow_end);
            let certain = certain(options, encoding::of_head(head))?;
            let is_wide = certain.as_ref().is_some_and(|it| 1 < it.charset.unit_bytes());
            if !is_wide && !is_written {
                check_text(shown_name, head)?;
            }
            let others = input.others(n_head, narrow_end)?;
            let found = match &surveyed {
                Some(found) => found.clone(),
                None => match certain.or_else(|| encoding::utf8(head, &others)) {
                    Some(found) => found,
                    None => surveyed.insert(survey(input, narrow_end, watch)?).clone(),
                },
            };
            let FoundEncoding { charset, mark_bytes, damage, .. } = found;
            let end = input.text_end(charset)?;
            let text = Text { charset, mark_bytes, end, is_lossy: damage.is_some() };
            // In wide text, padding ends at a different position than in single-byte text.
            let others = if end == narrow_end { others } else { input.others(n_head, end)? };
            let mut windows = text.windows(before(&read, end), others);
            let is_whole = windows.is_whole;
            check_decoded(shown_name, &windows.head, is_wide, options)?;
            let written = options.written.as_ref();
            let mut reasons = first_reasons(input, &found, end, written);
            let n_lines = options.skip_lines.unwrap_or(0);
            let Some(skipped) = take_lines(&mut windows.head, n_lines) else {
                if !is_whole && n_head < RECORD_BYTES_MAX {
                    n_head = larger(n_head);
                    continue;
                }
                return Err(too_few_lines(shown_name, n_lines));
            };
            let told = dialect::DialectHints::of(options)?;
            let split = split(options, told, n_head, &mut windows, &mut reasons);
            let Split { syntax, n_declared, wrapping, rules } = split;
            let cut = dialect::cut_record(&windows, syntax);
            if cut.is_some() && n_head < RECORD_BYTES_MAX {
                cut_record = cut;
                n_head = larger(n_head);
                continue;
            }
            let n_before = n_lines + u64::from(0 < n_declared);
            check_quote(shown_name, &windows.head, cut_record, syntax, n_before)?;
            let nulls = nulls_of(options);
            let place = HeaderHints { keeps_totals, ..place(options, rules) };
            let n_raw = skipped.len() + n_declared;
            let lead = Lead { n_raw, wrappings: [wrapping, None], n_text: 0 };
            let look = || side_by_side::find(&windows, syntax, &place, &nulls);
            let mut sides = if may_have_sides(options) { look() } else { Vec::new() };
            if !is_whole && !all_within(&sides, input, text, lead, syntax, watch)? {
                sides.clear();
            }
            let beside = beside(shown_name, options, &sides, &windows, syntax)?;
            if let Some(beside) = beside {
                Wrapping::Beside(beside).strip_windows(&mut windows);
            }
            let mut header = header::find(&mut windows, syntax, &place, &nulls, &mut reasons);
            if header.names.is_empty() {
                if is_whole {
                    return Err(refuse("it has only blank lines", "check how the file was made"));
                }
                if n_head < RECORD_BYTES_MAX {
                    n_head = larger(n_head);
                    continue;
                }
                return Err(endless(shown_name, n_head));
            }
            check_width(shown_name, header.names.len())?;
            let n_lines = n_lines + u64::from(0 < n_declared);
            let above = std::mem::take(&mut header.asides);
            let asides = asides_of(options, &skipped, above, n_lines);
            return Ok(Layout {
                found,
                text,
                syntax,
                lead: Lead {
                    wrappings: [wrapping, beside.map(Wrapping::Beside)],
                    n_text: header.body_start,
                    ..lead
                },
                first_line: n_lines + u64::from(header.body_line),
                header_line: header.line.map(|it| n_lines + u64::from(it) + 1),
                beside,
                sides: spans(&sides, written),
                asides,
                header,
                nulls,
                reasons,
            });
        }
    }
}

/// States in which encoding the bytes of a file are text that ends at `end`.
fn first_reasons(
    input: &Input,
    found: &FoundEncoding,
    end: u64,
    written: Option<&Arc<SpoolNotes>>,
) -> Vec<String> {
    let encoding = || vec![format!("encoding {}: {}", found.charset.name(), found.reason)];
    let mut reasons = written.map_or_else(encoding, |it| it.reasons.clone());
    if end < input.bytes {
        let n_padding = input.bytes - end;
        reasons.push(format!("padding of NUL or ^Z after the text left out: {n_padding} B"));
    }
    reasons
}

/// Returns what precedes the first row: lines that were skipped, and the non-rows `n_lines` after their
/// beginning.
fn asides_of(options: &IngestOptions, skipped: &[u8], above: NonRows, n_lines: u64) -> NonRows {
    let mut asides = NonRows::default();
    let kind = if options.is_further { NonRowKind::OtherTable } else { NonRowKind::Preamble };
    asides.add_all(kind, skipped, Syntax::usual(Delimiter::NONE));
    asides.append(above, n_lines);
    asides
}

impl Layout {
    /// Returns the options, limited to what is known about the columns that contain the table.
    fn options_of<'a>(&self, options: &'a IngestOptions) -> Cow<'a, IngestOptions> {
        let (Some(beside), Some(written)) = (self.beside, &options.written) else {
            return Cow::Borrowed(options);
        };
        let written = written.of_columns(beside.first..beside.end);
        Cow::Owned(IngestOptions { written: Some(Arc::new(written)), ..options.clone() })
    }

    /// Reports other tables, totals and markers of missing values that may be misread.
    fn doubts(&self, columns: &[Column], tally: &PassStats, word: &str) -> Vec<String> {
        let names = columns.iter().map(|it| it.name.as_str());
        let markers: Vec<_> = names.zip(&tally.markers).collect();
        let totals = self.total_doubt(word).into_iter().chain(self.inner_totals(word));
        let doubts = self.header.doubts.iter().cloned().chain(self.table_doubt(word));
        let doubts = doubts.chain(totals).chain(self.headings(word)).chain(points_doubt(columns));
        doubts.chain(null_markers::doubt(&markers)).collect()
    }

    /// Reports the rows that look like totals or averages and were kept.
    fn total_doubt(&self, word: &str) -> Option<String> {
        // Its label is a value, which not every reader of this text may see.
        let KeptRows { n, line } = self.header.kept.as_ref()?;
        let line = self.first_line + u64::from(*line) + 1;
        Some(match n {
            1 => format!(
                "the row on {word} {line} is labeled as a total or an average but was kept, because \
                 its numbers do not confirm that"
            ),
            _ => format!(
                "{n} rows are labeled as totals or averages but were kept, the first on {word} {line}, \
                 because their numbers do not confirm that"
            ),
        })
    }

    /// Reports the rows that are the sums of others and may be a category of the data.
    fn inner_totals(&self, word: &str) -> Option<String> {
        let KeptRows { n, line } = self.header.inner_totals.as_ref()?;
        let line = self.first_line + u64::from(*line) + 1;
        Some(match n {
            1 => format!(
                "the row on {word} {line} is a total of the rows above it but was kept, because its label is not in \
                 the first cell: leave it out of sums"
            ),
            _ => format!(
                "{n} rows are totals of the rows above them but were kept, the first on {word} {line}, because their \
                 labels are not in the first cell: leave them out of sums"
            ),
        })
    }

    /// Reports the rows that may be headings of the rows below them.
    fn headings(&self, word: &str) -> Option<String> {
        let KeptRows { n, line } = self.header.headings.as_ref()?;
        let line = self.first_line + u64::from(*line) + 1;
        Some(match n {
            1 => format!(
                "the row on {word} {line} has only its first cell: it may be a heading of the rows below it, and was \
                 kept as a row"
            ),
            _ => format!(
                "{n} rows have only their first cell, the first on {word} {line}: they may be headings of the rows \
                 below them, and were kept as rows"
            ),
        })
    }

    /// Reports which lines may be another table.
    fn table_doubt(&self, word: &str) -> Option<String> {
        let TableDoubt { first, last, are_rows } = self.header.doubt?;
        // Lines before the examined text.
        let n_lines = self.first_line - u64::from(self.header.body_line);
        let [first, last] = [first, last].map(|it| n_lines + u64::from(it) + 1);
        let what = if are_rows { "kept as rows" } else { "left out" };
        Some(format!(
            "{word}s {first} to {last} may be a separate table: they were {what}; `--tables all` makes \
             a dataset of them"
        ))
    }
}

impl Layout {
    /// Reports which columns are, or may be, tables side by side that were read as one.
    fn sides_doubt(
        &self,
        columns: &[Column],
        n_rows: u64,
        written: Option<&SpoolNotes>,
    ) -> Option<String> {
        let is_sheet = written.is_some_and(|it| it.sheet.is_some());
        let show = |it: &ColumnSpan| {
            let [first, last] = [it.first, it.last]
                .map(|it| if is_sheet { column_letters(it - 1) } else { it.to_string() });
            format!("{first}-{last}")
        };
        if self.beside.is_none() && !self.sides.is_empty() {
            let spans: Vec<String> = self.sides.iter().map(show).collect();
            let (last, others) = spans.split_last()?;
            return Some(format!(
                "columns {} and {last} are tables side by side but were read as one table; `--tables \
                 all` makes a dataset of each",
                others.join(", ")
            ));
        }
        let at = gap(columns, n_rows)?;
        let n_before = written.map_or(0, SpoolNotes::first_column)
            + self.beside.filter(|_| !is_sheet).map_or(0, |it| it.first as u64);
        let behind = columns[at..].iter().take_while(|it| it.nulls == Some(n_rows)).count();
        let left = ColumnSpan { first: n_before + 1, last: n_before + at as u64 };
        let first = n_before + (at + behind) as u64 + 1;
        let right = ColumnSpan { first, last: n_before + columns.len() as u64 };
        let gap = ColumnSpan { first: left.last + 1, last: left.last + 1 };
        let gap = show(&gap).split('-').next().unwrap_or_default().to_owned();
        let [left, right] = [left, right].map(|it| show(&it));
        Some(format!(
            "column {gap} has no name and no value: the columns to its left and right may be separate \
             tables; if so, `--columns {left}` and `--columns {right}` read each table"
        ))
    }
}

/// Returns the first column that has neither a name nor a value and may be a gap between tables.
fn gap(columns: &[Column], n_rows: u64) -> Option<usize> {
    /// Minimum columns of a table.
    const COLUMNS_MIN: usize = 2;
    let is_gap = |it: &Column| it.is_unnamed && it.nulls == Some(n_rows) && 0 < n_rows;
    let is_side = |it: &[Column]| COLUMNS_MIN <= it.iter().filter(|it| !it.is_unnamed).count();
    let mut gaps = (0..columns.len()).filter(|at| is_gap(&columns[*at]));
    gaps.find(|at| is_side(&columns[..*at]) && is_side(&columns[*at + 1..]))
}

/// Returns whether there may be several tables side by side and the user selected none.
fn may_have_sides(options: &IngestOptions) -> bool {
    options.columns.is_none() && options.header.is_none() && !options.is_table()
}

/// Returns column spans as numbered in the file or the sheet.
fn spans(sides: &[Range<usize>], written: Option<&Arc<SpoolNotes>>) -> Vec<ColumnSpan> {
    let n_before = written.map_or(0, |it| it.first_column());
    let span = |it: &Range<usize>| ColumnSpan {
        first: n_before + it.start as u64 + 1,
        last: n_before + it.end as u64,
    };
    sides.iter().map(span).collect()
}

/// Returns whether every record after `lead` has content only within the columns of the tables, if
/// there are any.
fn all_within(
    sides: &[Range<usize>],
    input: &Input,
    text: Text,
    lead: Lead,
    syntax: Syntax,
    watch: &Watch<'_>,
) -> anyhow::Result<bool> {
    if sides.is_empty() {
        return Ok(true);
    }
    let mut slices = input.slices(text, lead, &LinesBelow::default())?;
    let mut slice = Vec::new();
    while slices.next(&mut slice, syntax, SLICE_BYTES_MIN)? {
        check_cancelled(watch.cancelled)?;
        if !side_by_side::hold(sides, &slice, syntax) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reports the columns whose points may separate thousands.
fn points_doubt(columns: &[Column]) -> Option<String> {
    const NAMED_MAX: usize = 3;
    let found = columns.iter().filter(|it| it.note.as_deref() == Some(THREE_DIGITS));
    let found: Vec<&str> = found.map(|it| it.name.as_str()).collect();
    (!found.is_empty()).then(|| {
        format!(
            "three digits follow each `.` in {}, which is read as a decimal point; `--decimal ,` makes them thousands",
            names(found, NAMED_MAX)
        )
    })
}

/// Reports how a text is read whose columns may be aligned by blanks.
fn columns_doubt(
    input: &Input,
    layout: &Layout,
    options: &IngestOptions,
) -> anyhow::Result<Option<String>> {
    if layout.syntax.delimiter != Delimiter::NONE || options.written.is_some() || options.is_plain {
        return Ok(None);
    }
    let mut head = input.head(SNIFF_HEAD_BYTES)?;
    if (head.len() as u64) < input.bytes {
        head.truncate(memchr::memrchr(b'\n', &head).map_or(0, |it| it + 1));
    }
    Ok(foreign::aligned(&head, options).map(|it| {
        let widths: Vec<String> = it.widths.iter().map(ToString::to_string).collect();
        format!("blanks may align several columns: `--widths {}` reads them", widths.join(","))
    }))
}

/// Returns the part of a file's head that precedes `end`.
fn before(head: &[u8], end: u64) -> &[u8] {
    &head[..head.len().min(usize::try_from(end).unwrap_or(usize::MAX))]
}

fn nulls_of(options: &IngestOptions) -> Nulls {
    if options.is_table() && options.nulls.is_none() {
        return Nulls::of_programs();
    }
    Nulls::new(options.nulls.as_deref())
}

/// Returns what the user specified about the position of the table.
fn place(options: &IngestOptions, rules: Option<Rules>) -> HeaderHints {
    let IngestOptions { header, comments, skip_lines, .. } = *options;
    let is_plain = options.is_table();
    let comments = if is_plain { Comments::None } else { comments };
    HeaderHints {
        header: if is_plain { Some(true) } else { header },
        comments,
        is_placed: is_plain || skip_lines.is_some(),
        is_plain,
        keeps_totals: false,
        takes_all_tables: options.all_tables,
        is_further: options.is_further,
        rules,
    }
}

/// Returns what is left and right of the columns that the user names, or of the first of several tables
/// when each is read.
fn beside(
    shown_name: &str,
    options: &IngestOptions,
    sides: &[Range<usize>],
    windows: &Windows,
    syntax: Syntax,
) -> anyhow::Result<Option<Beside>> {
    let Some(columns) = options.columns else {
        let first = sides.first().filter(|_| options.all_tables);
        return Ok(first.map(|it| Beside { syntax, first: it.start, end: it.end }));
    };
    let n_before = options.written.as_ref().map_or(0, |it| it.first_column());
    let place = |it: u64| usize::try_from(it.saturating_sub(n_before)).unwrap_or(usize::MAX);
    let beside = Beside { syntax, first: place(columns.first - 1), end: place(columns.last) };
    let shapes = records(windows.head(syntax), syntax, usize::MAX);
    let width = shapes.iter().map(|it| it.reach).max().unwrap_or_default();
    if beside.first < width.min(beside.end) {
        return Ok(Some(beside));
    }
    let (first, last) = (n_before + 1, n_before + width as u64);
    let noun = if columns.first == columns.last { "column" } else { "columns" };
    let message = format!(
        "cannot read {noun} {columns} of `{shown_name}`: its cells are in columns {first} to {last}"
    );
    let hint = format!("name columns among these, as in `--columns {first}-{last}`");
    Err(Failure::input(message).hint(hint).into())
}

fn too_few_lines(shown_name: &str, n_lines: u64) -> anyhow::Error {
    let found = format!("it has no lines after the first {n_lines}");
    no_csv(shown_name, &found, "give a smaller number to `--skip-rows`")
}

fn endless(shown_name: &str, n_head: usize) -> anyhow::Error {
    let found = format!("no record ends within {n_head} bytes");
    no_csv(shown_name, &found, "a quote may be open that is never closed")
}

fn open_quote(shown_name: &str, line: u64) -> anyhow::Error {
    let found = format!(
        "a quote on line {line} opens a cell that does not end within {QUOTED_BYTES_MAX} bytes"
    );
    no_csv(shown_name, &found, &format!("close the quote on line {line}, or remove it"))
}

/// Fails when the record that was cut in the smaller head begins with an unclosed quote. `n_before`
/// lines precede the head.
fn check_quote(
    shown_name: &str,
    head: &[u8],
    cut_record: Option<(usize, Syntax)>,
    syntax: Syntax,
    n_before: u64,
) -> anyhow::Result<()> {
    let Some((at, cut_by)) = cut_record else { return Ok(()) };
    // The delimiter guessed from the smaller head may be wrong.
    let is_same = syntax.delimiter == Delimiter::NONE || syntax.delimiter == cut_by.delimiter;
    if !is_same || !opens_quote(&head[at..], cut_by) {
        return Ok(());
    }
    Err(open_quote(shown_name, n_before + u64::from(count_line_ends(&head[..at])) + 1))
}

/// Returns how much of a file to examine when `n_head` bytes were not enough. Each step costs at least
/// as much as all previous ones together.
fn larger(n_head: usize) -> usize {
    const FACTOR: usize = 8;
    // A cell may be this long; its opening quote is then no longer at the end of the examined text.
    if n_head < QUOTED_BYTES_MAX {
        (n_head * FACTOR).min(QUOTED_BYTES_MAX)
    } else {
        RECORD_BYTES_MAX
    }
}

/// Returns whether the first record of `text` has an opening quote without a closing one.
fn opens_quote(text: &[u8], syntax: Syntax) -> bool {
    let mut tokeniser = Tokeniser::new(text, syntax);
    tokeniser.record(&mut Vec::new());
    0 < tokeniser.n_unclosed()
}

/// Fails when a text is binary or a document, which wide characters reveal only once decoded, or is
/// JSON.
fn check_decoded(
    shown_name: &str,
    text: &[u8],
    is_wide: bool,
    options: &IngestOptions,
) -> anyhow::Result<()> {
    if is_wide {
        check_text(shown_name, text)?;
        if !text.is_empty() && text.chunks(3).all(|it| it == "\u{fffd}".as_bytes()) {
            return Err(no_csv(shown_name, "it is binary", hint_for("binary")));
        }
        if let Some(kind) = sniff::document_kind(text) {
            return Err(no_csv(shown_name, &format!("it is {kind}"), hint_for(kind)));
        }
    }
    check_json(shown_name, text, options)
}

/// Fails when a text is JSON that could not be parsed as JSON.
fn check_json(shown_name: &str, text: &[u8], options: &IngestOptions) -> anyhow::Result<()> {
    if options.written.is_some() || !dialect::is_json(text) {
        return Ok(());
    }
    Err(no_csv(shown_name, "it is JSON", "write it in UTF-8"))
}

/// Fails when a table exceeds the column limit.
fn check_width(shown_name: &str, n_columns: usize) -> anyhow::Result<()> {
    if n_columns <= CSV_COLUMNS_MAX {
        return Ok(());
    }
    let found = format!("{n_columns} columns, the limit is {CSV_COLUMNS_MAX}");
    Err(no_csv(shown_name, &found, "name the delimiter with `--delimiter`"))
}

/// Determines, from the whole file, how to treat bytes that do not fit the first detected encoding.
fn found_in_all(
    input: &Input,
    first: FoundEncoding,
    end: u64,
    watch: &Watch<'_>,
) -> anyhow::Result<FoundEncoding> {
    if first.charset == Charset::UTF_8 && first.mark_bytes == 0 {
        return survey(input, end, watch);
    }
    let start = first.mark_bytes;
    encoding::with_damage(first, &|each| input.parts(start, end, watch.cancelled, each))
}

/// Fails when bytes would be replaced and the user does not allow that.
fn check_damage(layout: &Layout, shown_name: &str, is_strict: bool) -> anyhow::Result<()> {
    let FoundEncoding { charset, damage, is_doubtful, ref reason, .. } = layout.found;
    if is_strict && is_doubtful && charset == Charset::Mixed {
        let message = format!("cannot read `{shown_name}` in one encoding: {reason}");
        let hint = format!(
            "leave out `--strict`, or add `--encoding {}`, to read it anyway",
            charset.name()
        );
        return Err(Failure::input(message).hint(hint).into());
    }
    let (Some(Damage { line, offset, .. }), true) = (damage, is_strict) else {
        return Ok(());
    };
    let name = layout.text.charset.name();
    let message = format!(
        "cannot read `{shown_name}` as {name}: the bytes at offset {offset}, on line {line}, are not valid"
    );
    let hint = "leave out `--strict` to replace such bytes with U+FFFD, or name another encoding with \
                `--encoding`";
    Err(Failure::input(message).hint(hint).into())
}

/// How lines are split into cells.
struct Split {
    syntax: Syntax,
    /// Bytes of a line that declares the delimiter.
    n_declared: usize,
    /// What is wrapped around the rows.
    wrapping: Option<Wrapping>,
    /// Which lines consist only of that.
    rules: Option<Rules>,
}

/// Returns how lines are split into cells; removes the wrapping from the windows.
fn split(
    options: &IngestOptions,
    mut told: dialect::DialectHints,
    n_head: usize,
    windows: &mut Windows,
    reasons: &mut Vec<String>,
) -> Split {
    if options.written.is_some() {
        let syntax = Syntax::of_rows();
        return Split { syntax, n_declared: 0, wrapping: None, rules: None };
    }
    if let (true, Some(comma)) = (options.is_plain, Delimiter::new(",")) {
        let syntax = Syntax::usual(comma);
        return Split { syntax, n_declared: 0, wrapping: None, rules: None };
    }
    let declared = dialect::declared(&windows.head);
    let n_declared = declared.map_or(0, |it| it.1);
    windows.head.drain(..n_declared);
    let is_declared = told.delimiter.is_none() && declared.is_some();
    told.delimiter = told.delimiter.or(declared.map(|it| it.0));
    let mut split =
        Split { syntax: Syntax::usual(Delimiter::NONE), n_declared, wrapping: None, rules: None };
    if let Some(found) = wrap::find(windows, &told, options.comments) {
        found.wrapping.strip_windows(windows);
        reasons.push(found.reason);
        split = Split { wrapping: Some(found.wrapping), rules: found.rules, ..split };
        if let Some(syntax) = found.syntax {
            return Split { syntax, ..split };
        }
    }
    // The head had to grow to contain whole records; they are longer than windows.
    let is_long = SNIFF_HEAD_BYTES < n_head;
    let others = if is_long { std::mem::take(&mut windows.others) } else { Vec::new() };
    let (syntax, mut found) = dialect::find(windows, &told);
    windows.others.extend(others);
    if let (true, Some(first)) = (is_declared, found.first_mut()) {
        *first = first.replace("as specified", "the first line says so");
    }
    reasons.append(&mut found);
    Split { syntax, ..split }
}

/// The result of reading the whole file.
struct ReadResult {
    columns: Vec<Column>,
    /// How the values of the columns are written, except surplus cells.
    guesses: Vec<Guess>,
    tally: PassStats,
    reasons: Vec<String>,
    /// `None` when nothing is written.
    files: Option<TempFiles>,
}

/// Returns what is known about values before they are read.
fn hints(layout: &Layout, options: &IngestOptions) -> Hints {
    // Programs write decimal points.
    // Text of fixed widths has no delimiter; its rows are written with commas.
    let is_fixed = options.written.as_ref().is_some_and(|it| it.format == SourceFormat::Text);
    let of_program = options.written.as_ref().filter(|it| it.format != SourceFormat::Text);
    Hints {
        date_order: options.date_order,
        decimal: options.decimal.or(of_program.map(|_| DecimalMark::Point)),
        is_semicolon: layout.syntax.delimiter.text() == Some(";"),
        is_comma: layout.syntax.delimiter.text() == Some(",") && !is_fixed,
        is_plain: options.is_plain,
    }
}

fn read(
    input: &Input,
    layout: &Layout,
    target: Option<Target<'_>>,
    options: &IngestOptions,
    tuning: Tuning,
    watch: &Watch<'_>,
) -> anyhow::Result<ReadResult> {
    check_damage(layout, &input.name, options.strict)?;
    let names = &layout.header.names;
    let written = options.written.as_deref();
    let hints = hints(layout, options);
    let family = options.family.as_deref();
    let wants = if family.is_some() || options.may_lack {
        Wants::find_any(&options.dtypes, names)?
    } else {
        Wants::find(&options.dtypes, names)?
    };
    let decide = |evidence: &[TypeEvidence], n_lines: u64| {
        let mut readings = decide_as(evidence, &wants, hints);
        if let Some(written) = written {
            written.decide(&mut readings, &wants, &(layout.first_line..n_lines));
        }
        if let Some(family) = family {
            family.decide(&mut readings, names);
        }
        readings
    };
    let readings = decide(&layout.header.evidence, u64::MAX);
    let mut guesses: Vec<_> = readings
        .iter()
        .zip(&layout.header.is_settled)
        .zip(&layout.header.usual)
        .map(|((reading, is_settled), usual)| {
            let mixed = (reading.note.as_deref() == Some(DIFFERENT_FORMS)).then_some(Usual::Number);
            let usual = usual.or(mixed).filter(|_| reading.dtype() == DType::String);
            let (dtype, form) = (reading.dtype(), reading.form);
            Guess { dtype, form, wanted: None, is_settled: *is_settled, usual }
        })
        .collect();
    let forms = likely_forms(&layout.header.evidence, &wants, hints);
    for (at, guess) in guesses.iter_mut().enumerate() {
        if let Some(wanted) = wants.of_column(at) {
            *guess = guess_wanted(guess, wanted, forms[at]);
        }
    }
    let plan = SlicePlan {
        syntax: layout.syntax,
        guesses,
        has_extra: layout.header.has_surplus,
        nulls: layout.nulls.clone(),
        row_bytes: layout.header.row_bytes,
        lines: LineRule { classes: layout.header.classes.clone(), keeps_likely: false },
        rule: layout.header.rule.clone(),
        keeps_hollow: options.is_table(),
        wants_sums: 0 < layout.header.below.n_total,
    };
    let mut attempt = PassContext { input, layout, target, options, tuning, hints, plan };
    let (mut output, mut tally) = attempt.run(watch)?;
    if LIKELY_MAX < tally.n_likely {
        attempt.plan.lines.keeps_likely = true;
        drop(output);
        (output, tally) = attempt.run(watch)?;
    }
    let mut reasons = Vec::new();
    let readings = decide(&tally.evidence, tally.n_lines);
    let exact = attempt.exact(&readings, &tally, &wants)?;
    // In a narrow table of text, the words of the header may also be values.
    let is_text_with_header = 0 < tally.set_aside.repeated_headers
        && !layout.header.is_paged
        && exact.len() <= header::HEADER_MAY_BE_ROW_WIDTH_MAX
        && exact.iter().all(|it| it.dtype == DType::String);
    if is_text_with_header {
        attempt.plan.rule.header.clear();
    }
    if !tally.is_built
        || exact != attempt.plan.guesses
        || (0 < tally.n_surplus) != attempt.plan.has_extra
        || is_text_with_header
    {
        drop(output.take());
        attempt.plan.guesses = exact;
        // Every value has been examined.
        let texts = attempt.plan.guesses.iter_mut().filter(|it| it.dtype == DType::String);
        texts.for_each(|it| it.is_settled = true);
        attempt.plan.has_extra = 0 < tally.n_surplus;
        (output, tally) = attempt.run(watch)?;
        ensure!(tally.is_built, "the second pass over the file found other values than the first");
        reasons.push("read twice: the first guess of the types was wrong".to_owned());
    }
    if tally.n_rows == 0 && 0 < tally.n_hollow {
        // A table with only such records has rows without values.
        drop(output.take());
        attempt.plan.keeps_hollow = true;
        (output, tally) = attempt.run(watch)?;
    }
    input.check_unchanged()?;
    let columns = attempt.columns();
    let guesses = &attempt.plan.guesses;
    let mut columns = described(columns, readings, guesses, &tally, &layout.header, written);
    if let Some(written) = written {
        written.describe(&mut columns);
        let rows = layout.first_line..tally.n_lines;
        written.testify(&mut tally.evidence, &wants, &rows);
    }
    Ok(ReadResult { columns, guesses: attempt.plan.guesses, tally, reasons, files: output })
}

/// Replaces `COLUMN` in a note's flag with the column's name, if a shell accepts the name inside single
/// quotes.
fn with_name(note: String, name: &str) -> String {
    if name.contains('\'') { note } else { note.replace("'COLUMN=", &format!("'{name}=")) }
}

/// Returns the columns for the catalog, with a description of each.
fn described(
    columns: Vec<BuiltColumn>,
    readings: Vec<ColumnType>,
    guesses: &[Guess],
    tally: &PassStats,
    header: &Header,
    written: Option<&SpoolNotes>,
) -> Vec<Column> {
    let readings = readings.into_iter().zip(tally.evidence.iter().copied());
    let readings = readings.chain(std::iter::repeat_with(Default::default));
    let odds = guesses.iter().zip(&tally.odds).enumerate();
    let odds = odds.map(|(at, (it, odds))| {
        let place_of = |line| match written {
            Some(written) => format!("in {}", written.place(at, line)),
            None => format!("on line {}", line + 1),
        };
        (odds.example(place_of), it.usual.and_then(|it| odds.note(it, place_of)))
    });
    let markers = tally.markers.iter().map(Some).chain(std::iter::repeat(None));
    let notes = odds.chain(std::iter::repeat((None, None))).zip(markers);
    let unnamed = header.is_unnamed.iter().copied().chain(std::iter::repeat(false));
    let parts = columns.into_iter().zip(&tally.nulls).zip(readings).zip(notes).zip(unnamed);
    let columns = parts.map(
        |((((column, nulls), (reading, seen)), ((example, odds), markers)), is_unnamed)| {
            // Where the user set the type, the values did not decide it.
            let is_asked = reading.dtype() == column.dtype;
            let note = reading.note.map(|it| match example {
                Some(example) if it == DIFFERENT_FORMS => format!("{it}; e.g. {example}"),
                _ => with_name(it, &column.name),
            });
            let note = note.or(odds).filter(|_| is_asked);
            let is_flag = column.dtype == DType::Bool && seen.has(TypeEvidence::WORDS);
            let note =
                if is_flag { Some("words for yes and no, as specified".to_owned()) } else { note };
            let words = markers.and_then(|it| it.note(note.as_deref().unwrap_or_default()));
            let notes: Vec<String> = note.into_iter().chain(words).collect();
            Column {
                name: column.name,
                dtype: column.dtype,
                nulls: Some(*nulls),
                description: None,
                note: (!notes.is_empty()).then(|| notes.join("; ")),
                is_ambiguous: reading.is_ambiguous && is_asked,
                meaning: reading.meaning.filter(|_| is_asked),
                is_unnamed,
            }
        },
    );
    let mut columns: Vec<Column> = columns.collect();
    describe(&mut columns, header);
    columns
}

/// Returns how to read a column with a requested type. The form of amounts, and of other values that do
/// not fit the form of the sample, is decided by the values of the whole file.
fn guess_wanted(guess: &Guess, wanted: RequestedType, likely: ValueForm) -> Guess {
    let is_asked = Some(wanted);
    let RequestedType::Type(dtype) = wanted else {
        return Guess { wanted: is_asked, is_settled: false, usual: None, ..guess.clone() };
    };
    let (form, is_settled) = match dtype {
        DType::Bool => (ValueForm::Words, true),
        DType::Int64 | DType::Float64 | DType::Date | DType::Timestamp => (likely, false),
        DType::String | DType::Time | DType::TimestampUtc => (ValueForm::Plain, true),
    };
    Guess { dtype, form, wanted: is_asked, is_settled, usual: None }
}

/// Returns how to read a column with a value that does not fit the requested type: the next pass finds the
/// value. Fails with `FailureKind::Input` when every value fits, but in two ways.
fn guess_unfit(
    (name, shown_name): (&str, &str),
    seen: TypeEvidence,
    wanted: RequestedType,
    reading: &ColumnType,
    likely: ValueForm,
) -> anyhow::Result<Guess> {
    if reading.is_ambiguous {
        let message = format!(
            "cannot read column `{name}` of `{shown_name}` as {}: its numbers can be read in two ways",
            wanted.name()
        );
        let hint = "name the decimal mark of its numbers with `--decimal ,` or `--decimal .`";
        return Err(Failure::input(message).hint(hint).into());
    }
    let number = if let ValueForm::Number(form) = likely { form } else { NumberForm::PLAIN };
    let form = match wanted {
        RequestedType::Money => ValueForm::Amount(Sign::Money(seen.currencies().0), number),
        RequestedType::Percent => ValueForm::Amount(Sign::Percent, number),
        RequestedType::Decimal | RequestedType::Type(_) => ValueForm::Number(number),
    };
    let wanted = Some(wanted);
    Ok(Guess { dtype: DType::Float64, form, wanted, is_settled: true, usual: None })
}

impl ReadResult {
    /// Returns the line of the first row below the table if such rows were mistaken for totals; no line
    /// where its label is not that of a total.
    #[expect(
        clippy::option_option,
        reason = "whether there is a line only matters if it is not a total"
    )]
    fn refuted_total(&self, layout: &Layout) -> Option<Option<u64>> {
        let LinesBelow { text, n_total, .. } = &layout.header.below;
        let text = &text[..*n_total];
        if !self.tally.has_total || totals::are_totals(text, layout.syntax, &self.tally.sums) {
            return None;
        }
        let cells = texts_of(text, layout.syntax);
        Some(totals::plain_label(&cells).map(|_| self.tally.n_lines + 1))
    }
}

/// Adds what the header says about columns besides their names.
fn describe(columns: &mut [Column], header: &Header) {
    const RENAMED: &str = "renamed, because an earlier column has the same name";
    const UNNAMED: &str = "the header has one name fewer than the rows have cells, as in files where \
                           each row begins with a row name";
    for (column, text) in columns.iter_mut().zip(&header.descriptions) {
        column.description = Some(text.clone()).filter(|it| !it.is_empty());
    }
    if let (true, Some(first)) = (header.is_short, columns.first_mut()) {
        first.note.get_or_insert_with(|| UNNAMED.to_owned());
    }
    for (column, _) in columns.iter_mut().zip(&header.is_renamed).filter(|it| *it.1) {
        let note = column.note.take().map_or_else(String::new, |it| format!("; {it}"));
        column.note = Some(format!("{RENAMED}{note}"));
    }
}

struct PassContext<'a> {
    input: &'a Input,
    layout: &'a Layout,
    target: Option<Target<'a>>,
    options: &'a IngestOptions,
    tuning: Tuning,
    hints: Hints,
    plan: SlicePlan,
}

impl PassContext<'_> {
    /// Reads the whole file once; its output files are removed unless they are kept.
    fn run(&self, watch: &Watch<'_>) -> anyhow::Result<(Option<TempFiles>, PassStats)> {
        let Layout { text, lead, first_line, header, .. } = self.layout;
        let slices = self.input.slices(*text, *lead, &header.below)?;
        let mut columns = self.columns();
        let stored = self.options.stored(columns.iter().map(|it| it.name.as_str()));
        let mut is_stored = stored.iter().copied();
        columns.retain(|_| is_stored.next().unwrap_or(true));
        let settings = PassConfig {
            plan: &self.plan,
            stored: &stored,
            shown_name: &self.input.name,
            names: &header.names,
            first_line: *first_line,
            asides: &self.layout.asides,
            slice_bytes: self.tuning.slice_bytes,
            n_workers: self.tuning.n_workers,
            bytes: self.input.bytes,
            hints: self.hints,
            is_strict: self.options.strict,
            written: self.options.written.as_deref(),
        };
        let Some(target) = self.target else {
            return Ok((None, pass::run(slices, &settings, None, watch)?));
        };
        let n_header = u64::from(header.line.is_some());
        let (mut files, mut output) = TempFiles::create(target, &columns, n_header)?;
        let tally = pass::run(slices, &settings, Some(&mut output), watch)?;
        files.finish(output, tally.is_built)?;
        Ok((Some(files), tally))
    }

    /// The columns as built, with the one for surplus cells last.
    fn columns(&self) -> Vec<BuiltColumn> {
        let header = &self.layout.header;
        let repeats = header.repeats.iter().copied().chain(std::iter::repeat(true));
        let parts = header.names.iter().zip(&self.plan.guesses).zip(repeats);
        let mut columns: Vec<_> = parts
            .map(|((name, guess), repeats)| BuiltColumn {
                name: name.clone(),
                dtype: guess.dtype,
                repeats,
            })
            .collect();
        if self.plan.has_extra {
            let mut names = header.names.clone();
            names.push("_extra".to_owned());
            let extra = header::names_of(names).pop().map(|it| it.0);
            let column = |name| BuiltColumn { name, dtype: DType::String, repeats: true };
            columns.extend(extra.map(column));
        }
        columns
    }

    /// Returns the types decided by the evidence of the whole file.
    fn exact(
        &self,
        readings: &[ColumnType],
        tally: &PassStats,
        wants: &Wants,
    ) -> anyhow::Result<Vec<Guess>> {
        let evidence = &tally.evidence;
        let forms = likely_forms(evidence, wants, self.hints);
        let decide = |(at, (guess, reading)): (usize, (&Guess, &ColumnType))| {
            let dtype = reading.dtype();
            let is_wanted = matches!(guess.wanted, Some(RequestedType::Type(_)));
            if is_wanted && !guess.is_settled && !tally.is_built {
                return Ok(Guess { form: forms[at], is_settled: true, ..guess.clone() });
            }
            let wanted = wants.of_column(at).filter(|it| !is_as_wanted(reading, *it));
            if let Some(wanted) = wanted {
                let names = (self.layout.header.names[at].as_str(), self.input.name.as_str());
                return guess_unfit(names, evidence[at], wanted, reading, forms[at]);
            }
            if guess.is_settled || is_wanted {
                return Ok(guess.clone());
            }
            let usual = guess.usual.or_else(|| Usual::of(guess.dtype));
            let usual = usual.filter(|_| dtype == DType::String);
            Ok(Guess { dtype, form: reading.form, usual, ..guess.clone() })
        };
        self.plan.guesses.iter().zip(readings).enumerate().map(decide).collect()
    }
}
