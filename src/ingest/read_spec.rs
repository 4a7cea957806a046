//! What another program must know to read texts into the same table as an ingest.
//!
//! The files themselves are elsewhere, and too long to fetch; only their heads are available. These are
//! read like any file, and the decisions are returned. Anything but plain CSV can be read only by an
//! ingest: the result is then only the reason.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use tempfile::NamedTempFile;

use csv_agent_types::catalog::{Column, DType, Dialect, SparkReading};
use csv_agent_types::limits::CSV_BYTES_MAX;
use csv_agent_types::status::Failure;

use super::Watch;
use super::charset::Charset;
use super::ingest::{Understood, understand};
use super::non_rows::Comment;
use super::records::{Tokeniser, cut};
use super::requested_types::RequestedType;
use super::source::{Input, Source};
use super::syntax::{Blanks, Escape, QUOTE, Syntax};
use crate::options::IngestOptions;
use values::column_of;

mod values;

/// The beginning of a file.
#[derive(Debug, Clone, Default)]
pub struct HeadOfFile {
    /// Its path, for messages.
    pub name: String,
    /// Its first bytes, decompressed.
    pub bytes: Vec<u8>,
    /// Whether these are all of its bytes.
    pub is_whole: bool,
}

/// How to read the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instructions {
    /// The delimiter; `None` in single-column files.
    pub delimiter: Option<String>,
    /// The quote around cells.
    pub quote: Option<char>,
    /// The escape of a quote within quotes; the quote itself where quotes are doubled.
    pub escape: Option<char>,
    /// The comment marker.
    pub comment: Option<char>,
    /// Whether cells contain line breaks.
    pub has_line_breaks: bool,
    /// The header as written; `None` without a header.
    pub header: Option<Vec<String>>,
    /// The columns. Their counts of missing values are unknown.
    pub columns: Vec<Column>,
    /// How to convert their values from text.
    pub readings: Vec<SparkReading>,
    /// The decisions, for people.
    pub dialect: Dialect,
    /// Rows in the heads.
    pub n_rows: u64,
    /// Bytes of these rows, including headers.
    pub n_bytes: u64,
}

/// Determines how to read files with these heads. The first file defines the column names, which the
/// others must have, too.
///
/// # Errors
///
/// Fails with `FailureKind::Input` when the heads cannot be read or have different headers, or when
/// they contain something that a plain CSV reader does not support.
pub fn instructions(
    heads: &[HeadOfFile],
    shown_name: &str,
    options: &IngestOptions,
) -> anyhow::Result<Instructions> {
    let options = IngestOptions { bytes_max: CSV_BYTES_MAX, strict: false, ..options.clone() };
    check_options(&options, shown_name)?;
    let first = heads.first().context("no head was fetched")?;
    let syntax = read(&first.bytes, shown_name, &options)?.syntax;
    let has_header = options.header.unwrap_or(true);
    let mut text = whole_records(first, syntax).to_vec();
    let mut looks = read(&text, shown_name, &options)?;
    let header = looks.dataset.dialect.header && has_header;
    let labels = header.then(|| header_of(&text, &looks));
    let mut n_bytes = text.len() as u64;
    if 1 < heads.len() {
        for head in &heads[1..] {
            let mut more = whole_records(head, syntax);
            n_bytes += more.len() as u64;
            if let Some(labels) = &labels {
                let (found, end) = first_record(more, &looks);
                check_header(labels, &found, &first.name, &head.name)?;
                more = &more[end..];
            }
            if !text.ends_with(b"\n") && !text.is_empty() {
                text.push(b'\n');
            }
            text.extend_from_slice(more);
        }
        // The header found in the first head is final: more rows cannot change it.
        let header = if header { options.header } else { Some(false) };
        looks = read(&text, shown_name, &IngestOptions { header, ..options.clone() })?;
    }
    if let Some((found, hint)) = obstacle(&looks) {
        let message = format!("cannot read `{shown_name}` on the cluster: {found}");
        return Err(Failure::input(message).hint(hint).into());
    }
    Ok(handed_out(&text, looks, labels, &options, n_bytes))
}

/// Fails when an option requests something that a plain reader does not support.
fn check_options(options: &IngestOptions, shown_name: &str) -> anyhow::Result<()> {
    let is_amount = |it: &&(String, RequestedType)| {
        matches!(it.1, RequestedType::Money | RequestedType::Percent)
    };
    if let Some((name, wanted)) = options.dtypes.iter().find(is_amount) {
        let message = format!("cannot read `{name}` as {} on the cluster", wanted.name());
        let hint = "leave it as text, or ingest the files here, without `--remote`";
        return Err(Failure::usage(message).hint(hint).into());
    }
    if let Some((name, _)) =
        options.dtypes.iter().find(|it| it.1 == RequestedType::Type(DType::Time))
    {
        let message =
            format!("cannot read `{name}` as time: Spark has no time of day in all versions");
        let hint = "leave it as text, and compare it as text";
        return Err(Failure::usage(message).hint(hint).into());
    }
    if options.skip_lines.is_none() {
        return Ok(());
    }
    let message =
        format!("cannot skip lines of `{shown_name}`: Spark reads each file from its beginning");
    let hint = "take the lines out of the files, or ingest the files here, without `--remote`";
    Err(Failure::usage(message).hint(hint).into())
}

fn read(text: &[u8], shown_name: &str, options: &IngestOptions) -> anyhow::Result<Understood> {
    let mut file = NamedTempFile::new().context("cannot keep the head of a file")?;
    file.write_all(text).context("cannot keep the head of a file")?;
    let cancelled = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, cancelled: &cancelled };
    let source = Source::File(file.path().to_owned());
    let input = Input::open(source, shown_name, &std::env::temp_dir(), options.bytes_max, &watch)?;
    understand(&input, shown_name, options, &watch)
}

/// Returns the complete records of a head, or the whole head if none is complete.
fn whole_records(head: &HeadOfFile, syntax: Syntax) -> &[u8] {
    match cut(&head.bytes, syntax, head.is_whole) {
        0 => &head.bytes,
        end => &head.bytes[..end],
    }
}

/// Returns the header's cells as written.
fn header_of(text: &[u8], looks: &Understood) -> Vec<String> {
    first_record(text, looks).0
}

/// Returns the cells of the first record that is not a comment, and where the next one begins.
fn first_record(text: &[u8], looks: &Understood) -> (Vec<String>, usize) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let marker = match &looks.comment {
        Some(Comment::Marked { marker, .. }) => marker.as_bytes(),
        _ => b"",
    };
    let mut tokeniser = Tokeniser::new(text, looks.syntax);
    let mut cells = Vec::new();
    while let Some((start, _)) = tokeniser.record(&mut cells) {
        if marker.is_empty() || !text[start..].starts_with(marker) {
            break;
        }
    }
    (cells.iter().map(|it| it.text(text)).collect(), tokeniser.position())
}

/// Fails when a file has other columns, or in another order: a reader identifies them by position.
fn check_header(
    wanted: &[String],
    found: &[String],
    first: &str,
    other: &str,
) -> anyhow::Result<()> {
    if wanted == found {
        return Ok(());
    }
    let n = wanted.len().max(found.len());
    let at = (0..n).find(|at| wanted.get(*at) != found.get(*at)).unwrap_or(0);
    let shown = |it: Option<&String>| it.map_or("none".to_owned(), |it| format!("`{it}`"));
    let message = format!(
        "cannot read the files as one table: column {} is {} in `{first}` and {} in `{other}`",
        at + 1,
        shown(wanted.get(at)),
        shown(found.get(at)),
    );
    let hint =
        "register files of the same columns as a dataset of their own, with a glob for example";
    Err(Failure::input(message).hint(hint).into())
}

/// Returns the feature of the files that a plain reader does not support, and the remedy.
fn obstacle(looks: &Understood) -> Option<(String, &'static str)> {
    const MEND: &str = "repair the files, or ingest them here, without `--remote`";
    let dataset = &looks.dataset;
    let aside = dataset.set_aside;
    let kinds = [
        (aside.preamble, "line", "above the table"),
        (aside.rules, "line", "with a table border between rows"),
        (aside.repeated_headers, "header", "again among the rows"),
        (aside.footer, "line", "below the table"),
        (aside.totals, "total", "below the table"),
        (aside.other_tables, "line", "of other tables below it"),
        (dataset.padded_rows, "row", "with fewer cells than the others"),
        (dataset.surplus_rows, "row", "with more cells than the others"),
        (looks.n_hollow, "row", "with nothing but delimiters"),
        (looks.n_unclosed, "quote", "never closed"),
        (looks.n_marks, "byte order mark", "among the rows"),
    ];
    if looks.charset != Charset::UTF_8 {
        let found = format!("its encoding is {}, and Spark reads UTF-8", looks.charset.name());
        return Some((
            found,
            "convert the files to UTF-8, or ingest them here, without `--remote`",
        ));
    }
    if let Some(damage) = dataset.dialect.damage {
        return Some((format!("bytes that are not valid UTF-8, on line {}", damage.line), MEND));
    }
    if let Some((n, what, where_)) = kinds.into_iter().find(|it| 0 < it.0) {
        let s = if n == 1 { "" } else { "s" };
        return Some((format!("it has {n} {what}{s} {where_}"), MEND));
    }
    if looks.is_wrapped {
        return Some(("there is more around its rows than Spark can skip".to_owned(), MEND));
    }
    if 1 < looks.n_header_records {
        return Some(("its header has several lines".to_owned(), MEND));
    }
    match &looks.comment {
        Some(Comment::Drawn(_)) => {
            return Some(("its table is drawn with border lines".to_owned(), MEND));
        }
        Some(Comment::Marked { marker, is_sure }) if 0 < aside.comments => {
            if 1 < marker.chars().count() {
                return Some((
                    format!("comments begin with `{marker}`, but Spark takes only one character"),
                    MEND,
                ));
            }
            if !is_sure {
                let hint = "`--comment` says that all such lines are comments";
                return Some((format!("lines that begin with `{marker}` may be rows"), hint));
            }
        }
        _ => {}
    }
    syntax_obstacle(looks).map(|it| (it.to_owned(), MEND))
}

fn syntax_obstacle(looks: &Understood) -> Option<&'static str> {
    let Syntax { delimiter, quote, escape, blanks, .. } = looks.syntax;
    let is_quoted = looks.any_quoted;
    if blanks == Blanks::Aligned {
        return Some("blanks align its columns");
    }
    if blanks == Blanks::OneBehindDelimiter || (blanks == Blanks::AroundQuotes && is_quoted) {
        return Some("blanks follow its delimiter, and Spark would keep all blanks or remove all");
    }
    if delimiter.bytes().contains(&b'\\') {
        return Some("a backslash separates its cells");
    }
    match escape {
        Escape::Char(_) if quote.is_none() || !is_quoted => {
            Some("delimiters are escaped outside of quotes")
        }
        Escape::None if quote.is_some() && is_quoted => {
            Some("there are quotes without an escape within quoted cells")
        }
        _ => None,
    }
}

fn handed_out(
    text: &[u8],
    looks: Understood,
    header: Option<Vec<String>>,
    options: &IngestOptions,
    n_bytes: u64,
) -> Instructions {
    let syntax = looks.syntax;
    let quote = syntax.quote.unwrap_or(QUOTE);
    let has_quotes = options.quote.is_none_or(|it| it.char().is_some()) && syntax.quote.is_some();
    let escape = match syntax.escape {
        Escape::Char(escape) => escape,
        Escape::Doubled | Escape::None => quote,
    };
    let comment = match looks.comment {
        Some(Comment::Marked { marker, .. }) if 0 < looks.dataset.set_aside.comments => {
            marker.chars().next()
        }
        _ => None,
    };
    let parts = looks.dataset.columns.into_iter().zip(looks.guesses.iter().zip(&looks.evidence));
    let (columns, readings) =
        parts.map(|(column, (guess, seen))| column_of(column, guess, *seen, options)).unzip();
    Instructions {
        delimiter: syntax.delimiter.text().map(str::to_owned),
        quote: has_quotes.then(|| char::from(quote)),
        escape: has_quotes.then(|| char::from(escape)),
        comment,
        has_line_breaks: has_line_breaks(text, syntax),
        header,
        columns,
        readings,
        dialect: looks.dataset.dialect,
        n_rows: looks.dataset.row_count,
        n_bytes,
    }
}

fn has_line_breaks(text: &[u8], syntax: Syntax) -> bool {
    let mut tokeniser = Tokeniser::new(text, syntax);
    let mut cells = Vec::new();
    while tokeniser.record(&mut cells).is_some() {
        if cells.iter().any(|it| memchr::memchr2(b'\n', b'\r', it.raw(text)).is_some()) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{HeadOfFile, Instructions, instructions};
    use crate::IngestOptions;
    use csv_agent_types::catalog::DType;

    fn head(name: &str, text: &str) -> HeadOfFile {
        HeadOfFile { name: name.to_owned(), bytes: text.as_bytes().to_vec(), is_whole: false }
    }

    fn of(text: &str) -> anyhow::Result<Instructions> {
        instructions(&[head("a.csv", text)], "a.csv", &IngestOptions::default())
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let error = of(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_record_that_the_head_cuts_is_no_row() {
        let found = of("a,b\n1,x\n2,\"y\nz\"\n3,\"cut").unwrap();
        assert_eq!((found.n_rows, found.n_bytes, found.has_line_breaks), (2, 16, true));
        assert_eq!(found.header, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(
            (found.delimiter.as_deref(), found.quote, found.escape),
            (Some(","), Some('"'), Some('"'))
        );
    }

    #[test]
    fn what_spark_does_not_know_is_refused_with_what_was_found() {
        check_refused(
            "Report of May\n\na,b,c\n1,2,3\n4,5,6\n7,8,9\n",
            "it has 1 line above the table",
        );
        check_refused("a,b,c\n1,2,3\n4,5\n7,8,9\n1,2,3\n", "it has 1 row with fewer cells");
        check_refused("a,b,c\n1,2,3\n4,5,6,7\n7,8,9\n1,2,3\n", "it has 1 row with more cells");
        check_refused("sep=;\na;b\n1;2\n", "more around its rows");
        check_refused("{\"a\": 1}\n{\"a\": 2}\n", "it is JSON");
    }

    #[test]
    fn files_of_other_columns_are_no_part_of_the_table() {
        let heads = [head("x/a.csv", "a,b\n1,2\n3,4\n"), head("x/b.csv", "b,a\n1,2\n3,4\n")];
        let error = instructions(&heads, "x/", &IngestOptions::default()).unwrap_err();
        let expected =
            "cannot read the files as one table: column 1 is `a` in `x/a.csv` and `b` in `x/b.csv`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_types_hold_the_values_of_all_heads() {
        let heads = [head("a", "n,m\n1,2\n2,3\n"), head("b", "n,m\n2.5,x\n")];
        let found = instructions(&heads, "x/", &IngestOptions::default()).unwrap();
        let dtypes: Vec<_> = found.columns.iter().map(|it| it.dtype).collect();
        assert_eq!(dtypes, [DType::Float64, DType::String]);
        assert_eq!((found.n_rows, found.n_bytes), (3, 22));
    }
}
