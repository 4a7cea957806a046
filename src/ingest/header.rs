//! The position of the header and the names of the columns.
//!
//! Pure. `table_bounds` determines by shape what may surround the table; here the types of the columns decide
//! what shape leaves open, and the types get their first guesses.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::slice;

use memchr::memmem;

use super::non_rows::{AsideRule, Comment, NonRowKind, NonRows};
use super::outlier_values::Usual;
use super::records::{Block, Cell, Tokeniser, texts_of};
use super::sample::{First, Sample};
use super::sniff::Windows;
use super::subtotals::{self, KeptRows};
use super::syntax::Syntax;
use super::table_bounds::{Footer, RECORDS_MAX, comment_of, footer_of};
use super::type_evidence::{Nulls, TypeEvidence, classify};
use super::type_inference::is_typed;
use super::wrap::Rules;
use super::{fields, headings, leading_text, multi_row_header, shape, short_rows, totals};
use crate::counts::mode;
use crate::non_rows::LinesBelow;
use crate::options::Comments;
use crate::record_shapes::{RecordShape, records, records_within, width_of};
use crate::records::swallowed::Class;

mod tables;
mod above;

pub(crate) use above::are_labels;

/// Columns of a table of text whose header may occur among the rows by chance.
pub(crate) const HEADER_MAY_BE_ROW_WIDTH_MAX: usize = 2;

/// Why the first record contains names.
const YEARS: &str = "the labels are consecutive years";
const NO_VALUES: &str = "the first record has no values where the others have";

/// What is known about the table before the file is read.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is found by itself")]
pub(crate) struct Header {
    /// Unique names; generated where the file has none.
    pub names: Vec<String>,
    /// For each column, whether the file has no name for it.
    pub is_unnamed: Vec<bool>,
    /// For each column, whether it has another name in the file, which an earlier column has too.
    pub is_renamed: Vec<bool>,
    /// The line of the record that contains the names, if any; the first line is 0.
    pub line: Option<u32>,
    /// The evidence that the windows show for each column.
    pub evidence: Vec<TypeEvidence>,
    /// For each column, whether it is certainly text.
    pub is_settled: Vec<bool>,
    /// Bytes of text before the first row.
    pub body_start: usize,
    /// Lines before the first row, not counting blank lines directly before it.
    pub body_line: u32,
    /// For each column, whether its values repeat.
    pub repeats: Vec<bool>,
    /// For each column, the kind of nearly all of its values.
    pub usual: Vec<Option<Usual>>,
    /// Whether any row with more cells than columns was seen.
    pub has_surplus: bool,
    /// Bytes of an average row.
    pub row_bytes: usize,
    /// For each column, the class of its first values.
    pub classes: Vec<Class>,
    /// The lines before the table; the first line is 0.
    pub asides: NonRows,
    /// Which records among the rows are not rows.
    pub rule: AsideRule,
    /// The text below the table, to the end of the file.
    pub below: LinesBelow,
    /// Whether it names all columns but the first.
    pub is_short: bool,
    /// Whether pages of a printed report begin with it.
    pub is_paged: bool,
    /// Guesses about it, in words.
    pub doubts: Vec<String>,
    /// Number of records it spans.
    pub n_records: usize,
    /// Whether it is the `#Fields:` line of a log.
    pub is_log: bool,
    /// Descriptions of the columns in records below the names; empty where there are none.
    pub descriptions: Vec<String>,
    /// Lines that may be another table.
    pub doubt: Option<TableDoubt>,
    /// Rows that look like totals or averages but are not; the line is counted from the first row.
    pub kept: Option<KeptRows>,
    /// Rows that hold the sums of rows above them, with a label that is not in their first cell.
    pub inner_totals: Option<KeptRows>,
    /// Rows that may be headings of the rows below them.
    pub headings: Option<KeptRows>,
}

/// The names of the columns while they are searched.
#[derive(Default)]
struct Naming {
    /// Empty where the file has none.
    names: Vec<String>,
    /// From further records of the header; empty if there are none.
    descriptions: Vec<String>,
    /// Whether they name all columns but the first.
    is_short: bool,
    /// Guesses, in words.
    doubts: Vec<String>,
}

/// Lines that may be a separate table; the first line is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableDoubt {
    /// The first of them.
    pub first: u32,
    /// The last of them.
    pub last: u32,
    /// Whether they are rows of the table; otherwise they are left out.
    pub are_rows: bool,
}

/// What the user specified about the position of the table.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is said by itself")]
pub(crate) struct HeaderHints {
    /// Whether there is a header.
    pub header: Option<bool>,
    /// The comment marker.
    pub comments: Comments,
    /// The table begins with the first record that is not a comment.
    pub is_placed: bool,
    /// A program wrote the file: every record below the names is a row.
    pub is_plain: bool,
    /// The last row of the table is a row, whatever its label.
    pub keeps_totals: bool,
    /// What may be a separate table is one.
    pub takes_all_tables: bool,
    /// Other tables precede this one.
    pub is_further: bool,
    /// Detected, not specified: the lines of the drawing, where the table is drawn.
    pub rules: Option<Rules>,
}

/// Decides the position of the table, its width, its names and the first guesses of the types.
///
/// Removes what is below the table from `windows`.
pub(crate) fn find(
    windows: &mut Windows,
    syntax: Syntax,
    told: &HeaderHints,
    nulls: &Nulls,
    reasons: &mut Vec<String>,
) -> Header {
    let found = if told.is_plain {
        tables::FurtherTables::default()
    } else {
        tables::find(windows, syntax, nulls, told.takes_all_tables, told.is_further)
    };
    let (tables, titles) = match found.end {
        Some((start, titles_start)) => {
            let tables = windows.hide_end(windows.head.len() - start);
            (tables, windows.hide_end(windows.head.len() - titles_start))
        }
        None => (Vec::new(), Vec::new()),
    };
    // A table next to longer ones has as many delimiters as they have.
    let is_one_of_several = found.end.is_some() || told.is_further;
    let width_max = if is_one_of_several && windows.is_whole {
        let shapes = records(windows.head(syntax), syntax, usize::MAX);
        shapes.iter().map(|it| it.reach).max().unwrap_or(usize::MAX)
    } else {
        usize::MAX
    };
    let mut header = find_first(windows, syntax, told, width_max, nulls, reasons);
    header.doubt = found.doubt.map(|it| {
        let is_below = header.line.unwrap_or(header.body_line) < it.line;
        let (first, last) = if is_below { it.here } else { it.above };
        let are_rows = is_below && it.start < windows.head(syntax).len();
        TableDoubt { first, last, are_rows }
    });
    header.below.text.extend(titles);
    header.below.n_notes = header.below.text.len();
    header.below.text.extend(tables);
    header
}

/// Decides the same for a file of one table, with no content beyond `width_max` cells.
fn find_first(
    windows: &mut Windows,
    syntax: Syntax,
    told: &HeaderHints,
    width_max: usize,
    nulls: &Nulls,
    reasons: &mut Vec<String>,
) -> Header {
    let head = windows.head(syntax);
    let shapes = records_within(head, syntax, RECORDS_MAX, width_max);
    let may_have_lead = !told.is_placed && told.comments == Comments::FindOut;
    let n_lead = if may_have_lead { leading_text::n_bytes(head) } else { 0 };
    let below: Vec<RecordShape> = shapes.iter().filter(|it| n_lead <= it.start).cloned().collect();
    let is_log = shapes
        .iter()
        .any(|it| it.start < n_lead && fields::names(&head[it.start..it.end]).is_some());
    let width = short_rows::width(head, &below, syntax).unwrap_or_else(|| width_of(&below));
    let rules = || rule_row(head, syntax, width, &shapes);
    let rules = told.rules.clone().or_else(|| (told.comments == Comments::FindOut).then(rules)?);
    let told = &HeaderHints { rules, ..told.clone() };
    let comment = match (&told.rules, told.comments) {
        (Some(rules), _) => Some(Comment::Drawn(rules.clone())),
        (None, Comments::FindOut) if is_log => {
            Some(Comment::Marked { marker: "#".to_owned(), is_sure: true })
        }
        (None, Comments::FindOut) => comment_of(windows, syntax, width),
        (None, Comments::None) => None,
        (None, Comments::Begin(char)) => {
            Some(Comment::Marked { marker: char.to_string(), is_sure: true })
        }
    };
    let footer = || footer_of(windows.tail(syntax), syntax, (width, width_max), comment.as_ref());
    let footer = (!told.is_plain).then(footer).flatten();
    let notes = footer.as_ref().map_or_else(Vec::new, |it| windows.hide_end(it.bytes));
    let total =
        || totals::candidate(windows.tail(syntax), syntax, (width, width_max), comment.as_ref());
    let n_total = (!told.is_plain && !told.keeps_totals).then(total).flatten().unwrap_or(0);
    let total = windows.hide_end(n_total);
    let widths = (width, width_max);
    let search = Search::new(windows, syntax, nulls, told, (widths, n_lead), comment.clone());
    let mut header_reasons = Vec::new();
    let header = search.find(&shapes, &mut header_reasons);
    let is_hidden = |it: &Footer| is_footer(&notes, it, &header, syntax, nulls);
    if footer.as_ref().is_none_or(is_hidden) {
        reasons.append(&mut header_reasons);
        let mut header = header;
        let mut total = total;
        if windows.is_whole && !told.is_plain {
            let how = (width_max, told.keeps_totals);
            set_totals_aside(windows, syntax, &mut header, how, nulls, &mut total);
        }
        let n_total = total.len();
        let text = [total, notes].concat();
        return Header { below: LinesBelow { n_notes: text.len(), text, n_total }, ..header };
    }
    // What looked like notes may be truncated rows.
    windows.show_end(&total);
    windows.show_end(&notes);
    Search::new(windows, syntax, nulls, told, (widths, n_lead), comment).find(&shapes, reasons)
}

/// Sets aside rows that are totals of other rows, and such rows at the beginning of `total`, which is
/// below the rows and was hidden.
fn set_totals_aside(
    windows: &mut Windows,
    syntax: Syntax,
    header: &mut Header,
    (width_max, keeps_totals): (usize, bool),
    nulls: &Nulls,
    total: &mut Vec<u8>,
) {
    let start = header.body_start;
    let n_body = windows.head.len() - start;
    let text = [&windows.head[start..], total].concat();
    let widths = (header.names.len(), width_max);
    let found = subtotals::find(&text, syntax, widths, header.rule.comment.as_ref());
    header.headings = headings::find(&text, syntax, widths, header.rule.comment.as_ref(), nulls);
    header.kept = found.kept;
    header.inner_totals = found.inner;
    let mut among = found.records;
    let n_below = among.len() - among.partition_point(|it| it.0 < n_body);
    let n_filled = records(total, syntax, usize::MAX).iter().filter(|it| 0 < it.n_filled).count();
    let has_subtotals = n_below < among.len() || header.inner_totals.is_some();
    if n_below == n_filled && has_subtotals {
        // Those below are also totals of some rows.
        windows.show_end(&std::mem::take(total));
    } else {
        among.truncate(among.len() - n_below);
    }
    let is_last = |it: &(usize, usize)| text[it.1..].trim_ascii().is_empty();
    // It was examined, using the numbers of all rows.
    among.retain(|it| !keeps_totals || !is_last(it));
    if among.is_empty() {
        return;
    }
    header.rule.totals = among.iter().map(|it| text[it.0..it.1].to_vec()).collect();
    header.rule.totals.sort_unstable();
    let body = Sample::of(windows, syntax, header.names.len(), start, nulls, &header.rule);
    header.is_settled = body.head.iter().map(|it| it.is_settled()).collect();
    header.evidence = body.all;
}

/// Returns the ruling below the names, as printed by programs for people.
fn rule_row(head: &[u8], syntax: Syntax, width: usize, shapes: &[RecordShape]) -> Option<Rules> {
    /// It is below the header, and possibly below a preamble.
    const RECORDS_ABOVE_MAX: usize = 20;
    let pairs = shapes.windows(2).take(RECORDS_ABOVE_MAX);
    // An index has no name, and a delimiter may end each line.
    let pairs =
        pairs.filter(|it| it.iter().all(|it| it.width == width && width <= it.n_filled + 1));
    pairs.filter_map(|it| it.last()).find_map(|it| {
        let record = &head[it.start..it.end];
        let is_stroke = |it: &u8| matches!(it, b'-' | b'=');
        let cells = || texts_of(record, syntax);
        record.iter().any(is_stroke).then(cells).and_then(|it| Rules::of_row(record, &it))
    })
}

/// Returns whether notes are text that does not belong to the first column, where nothing separates
/// them.
fn is_footer(text: &[u8], footer: &Footer, header: &Header, syntax: Syntax, nulls: &Nulls) -> bool {
    let first_of = |it: &RecordShape| texts_of(&text[it.start..it.end], syntax).into_iter().next();
    // Below rows that each fill every cell, one sentence shows what the others are.
    let is_told = footer.is_below_hollow && {
        let notes = records(text, syntax, usize::MAX);
        let mut notes = notes.iter().filter(|it| 0 < it.n_filled).filter_map(first_of);
        notes.any(|it| looks_like_note(&it) || is_sentence(&it))
    };
    let is_first_typed = header.evidence.first().is_some_and(|it| is_typed(*it));
    let is_drawn = matches!(header.rule.comment, Some(Comment::Drawn(_)));
    records(text, syntax, usize::MAX).iter().filter(|it| 0 < it.n_filled).all(|it| {
        if is_drawn {
            // Where a line of dashes shows the columns, a note has as many cells as a row.
            return it.width == 1 || footer.is_apart && it.n_filled == 1;
        }
        let note = &text[it.start..it.end];
        let is_text = classify(note, nulls).is_settled();
        let first = if it.n_filled == 1 { texts_of(note, syntax).into_iter().next() } else { None };
        let looks_like_note = || match &first {
            Some(cell) => looks_like_note(cell),
            None => looks_like_note(&String::from_utf8_lossy(note)),
        };
        is_text
            && (footer.is_apart
                || footer.reads_as_note
                || is_told
                || is_first_typed
                || looks_like_note())
    })
}

/// Returns whether text is a sentence: several words with a full stop, or many words.
fn is_sentence(text: &str) -> bool {
    const WORDS_MIN: usize = 3;
    const WORDS_MANY: usize = 7;
    let n_words = text.split_whitespace().count();
    WORDS_MANY <= n_words || (WORDS_MIN <= n_words && text.trim_end().ends_with('.'))
}

/// Returns whether text looks like a remark below a table rather than a value of its first column.
fn looks_like_note(text: &str) -> bool {
    const BEGINNINGS: [&str; 9] =
        ["*", "(", "[", "©", "source", "note", "total", "generated", "end of"];
    let text = text.trim_matches(['"', ' ', '\'']).to_lowercase();
    let begins = || BEGINNINGS.iter().any(|it| text.starts_with(it));
    text.contains(char::is_alphanumeric) && (text.contains(": ") || text.ends_with(':') || begins())
}

/// The search for the table in the windows.
struct Search<'a> {
    windows: &'a Windows,
    /// The whole records of the head.
    head: &'a [u8],
    syntax: Syntax,
    nulls: &'a Nulls,
    told: &'a HeaderHints,
    /// Columns of most records.
    width: usize,
    /// Cells beyond which every record is empty.
    width_max: usize,
    /// Bytes of comments and sentences above the table.
    n_lead: usize,
    comment: Option<Comment>,
}

/// Records that may contain the names.
struct HeaderCandidate<'a> {
    /// The records that are not comments.
    shapes: Vec<&'a RecordShape>,
    /// Index of the first that belongs to the table.
    first: usize,
    /// It has a comment marker.
    is_commented: bool,
}

impl<'a> Search<'a> {
    fn new(
        windows: &'a Windows,
        syntax: Syntax,
        nulls: &'a Nulls,
        told: &'a HeaderHints,
        ((width, width_max), n_lead): ((usize, usize), usize),
        comment: Option<Comment>,
    ) -> Self {
        let head = windows.head(syntax);
        Search { windows, head, syntax, nulls, told, width, width_max, n_lead, comment }
    }

    fn find(&self, shapes: &[RecordShape], reasons: &mut Vec<String>) -> Header {
        let head = self.head;
        let place = self.place(shapes);
        let Some(first) = place.shapes.get(place.first) else { return Header::nothing() };
        let (mut labels, is_log) = self.labels_of(&place, first);
        let mut others = &place.shapes[place.first + 1..];
        let modal = modal_width(others);
        let body = self.sample(labels.len().max(modal), first.after.0, Vec::new());
        let above_rule = self.levels_above_rule(shapes, first);
        let found = || match above_rule {
            Some(_) => (true, "a border line is below it"),
            None if is_log => (true, "the line `#Fields:` has the names"),
            None => self.is_header(&labels, &body, first.after.0),
        };
        let (is_present, reason) = self.told.header.map_or_else(found, |it| (it, "as specified"));
        let mut header = vec![*first];
        let mut descriptions = Vec::new();
        let levels = match above_rule {
            _ if !is_present || place.is_commented || self.told.is_plain => None,
            Some(levels) => Some(levels).filter(|it| 1 < it.len()),
            None => self.levels(&labels, others),
        };
        if let Some(levels) = levels {
            let (below, rows) = others.split_at(levels.len() - 1);
            header.extend(below);
            others = rows;
            let n = header.len();
            let why = self.combine(&levels, &mut labels, &mut descriptions);
            reasons.push(format!("header of {n} records: {why}"));
        } else if let Some(name) = self.index_name(&labels, others).filter(|_| is_present) {
            header.push(others[0]);
            others = &others[1..];
            labels[0] = name;
            reasons.push("header of 2 records: the second names the first column".to_owned());
        } else {
            let what = if is_present { "header" } else { "no header" };
            reasons.push(format!("{what}: {reason}"));
        }

        let names = if is_present { labels } else { vec![String::new(); labels.len()] };
        let mut naming = Naming { names, descriptions, ..Naming::default() };
        if is_present && ends_alone(&naming.names, others, modal) {
            naming.names.pop();
            naming.descriptions.truncate(modal);
        }
        if reason == NO_VALUES && self.may_lack_value(first, others, &body, modal) {
            naming.doubts.push(
                "the first record is taken as the header, but lacks a name where rows lack values: `--no-header` \
                 reads it as a row"
                    .to_owned(),
            );
        }
        self.add_unnamed(&mut naming, is_present, &body, (others, modal), reasons);
        let Naming { names, descriptions, is_short, doubts } = naming;
        let width = names.len();
        let last = header.last().unwrap_or(first);
        let mut asides = self.asides(shapes, &header);
        let (body_start, body_line) = if is_present { last.after } else { first.before };
        self.add_marks_before(body_start, &mut asides);
        let can_come_again = is_present && 1 < width && !self.told.is_plain;
        let n_records = header.len();
        header.retain(|_| can_come_again);
        let again: Vec<_> = header.iter().map(|it| head[it.start..it.end].to_vec()).collect();
        let mut body = self.sample(width, body_start, again.clone());
        let mut rule = self.rule(again);
        let is_on_page = |it: &Vec<u8>| memmem::find(head, &[b"\x0c", &it[..]].concat()).is_some();
        let is_paged = rule.header.iter().any(is_on_page);
        if !rule.header.is_empty()
            && !is_paged
            && !body.is_typed()
            && width <= HEADER_MAY_BE_ROW_WIDTH_MAX
        {
            // In a narrow table of text, the words of the header may also be values.
            rule.header.clear();
            body = self.sample(width, body_start, Vec::new());
        }
        let first_rows = First::of(&head[body_start..], self.syntax, width);
        let is_unnamed = names.iter().map(|it| it.trim().is_empty()).collect();
        let (names, is_renamed) = names_of(names).into_iter().unzip();
        Header {
            names,
            is_unnamed,
            is_renamed,
            line: is_present.then_some(first.line),
            is_settled: body.head.iter().map(|it| it.is_settled()).collect(),
            body_start,
            body_line,
            repeats: first_rows.repeats(),
            usual: first_rows.usual(&body.all, self.nulls),
            evidence: body.all,
            has_surplus: body.has_surplus,
            row_bytes: body.row_bytes,
            classes: first_rows.classes(self.syntax.quote),
            asides,
            rule,
            is_short,
            is_paged,
            doubts,
            n_records,
            is_log,
            descriptions,
            ..Header::nothing()
        }
    }

    /// Returns whether the first record lacks a label above values that other rows lack as well.
    fn may_lack_value(
        &self,
        first: &RecordShape,
        rows: &[&RecordShape],
        body: &Sample,
        width: usize,
    ) -> bool {
        let lacks = |it: &RecordShape, at: usize| {
            self.labels(it).get(at).is_none_or(|it| it.trim().is_empty())
        };
        (0..width).any(|at| {
            is_typed(body.all[at]) && lacks(first, at) && rows.iter().any(|it| lacks(it, at))
        })
    }

    /// Adds an empty name for each column that most rows, of `modal` cells, have and the header lacks.
    fn add_unnamed(
        &self,
        naming: &mut Naming,
        is_present: bool,
        body: &Sample,
        (rows, modal): (&[&RecordShape], usize),
        reasons: &mut Vec<String>,
    ) {
        let width = naming.names.len();
        // Otherwise the longer rows have surplus cells.
        let n_longer = rows.iter().filter(|it| width < it.width).count();
        // R writes unlabelled row names in front; a delimiter at the end of each row adds an empty cell
        // at the end.
        let (is_in_front, is_guess) = if is_present && modal == width + 1 {
            self.are_behind_row_names(&naming.names, body, rows)
        } else {
            (false, false)
        };
        let is_most = rows.len() * 9 <= n_longer * 10
            || is_in_front
                && rows.len() * 3 <= n_longer * 4
                && are_distinct(&self.first_cells(rows, modal));
        if 1 < rows.len() && width < modal && is_most {
            let n_missing = modal - width;
            naming.is_short = is_in_front;
            if is_in_front && !naming.descriptions.is_empty() {
                naming.descriptions.insert(0, String::new());
            }
            let at = if is_in_front { 0 } else { width };
            naming.names.splice(at..at, vec![String::new(); n_missing]);
            let place = if is_in_front { "first" } else { "last" };
            let reason = format!("most rows have {modal} cells, the first has {width}");
            reasons.push(format!("{n_missing} unnamed {place}: {reason}"));
            if is_guess {
                naming.doubts.push(format!(
                    "the header has {width} names for {modal} columns: it is a guess that the {place} \
                     column is the one without a name"
                ));
            }
        } else if width < modal && rows.len() < n_longer * 2 {
            let reason = "the names may belong to other columns than those below them";
            reasons.push(format!("{n_longer} rows have more cells than the header: {reason}"));
        }
    }

    /// Takes the names, or what describes the columns, from all records of the header. Returns why.
    fn combine(
        &self,
        levels: &[Vec<String>],
        labels: &mut Vec<String>,
        descriptions: &mut Vec<String>,
    ) -> &'static str {
        if self.told.rules.is_some() {
            *labels = multi_row_header::joined(levels);
            return "a border line is below them";
        }
        // Names that are complete on their own remain unchanged.
        let has_no_first = levels.iter().all(|it| it[0].trim().is_empty())
            || levels[0][0].trim().is_empty() && multi_row_header::RECORDS_MAX < levels.len();
        let has_index_names = multi_row_header::n_index_names(levels).is_some();
        let are_described = || {
            let (names, below) = levels.split_first()?;
            Some(below.iter().all(|it| multi_row_header::describe(names, it)))
        };
        // A delimiter may end each line.
        let is_ended = levels.iter().all(|it| it.last().is_some_and(|it| it.trim().is_empty()));
        let named = usize::from(has_no_first)..levels[0].len() - usize::from(is_ended);
        if (multi_row_header::are_complete(&levels[0][named]) || are_described() == Some(true))
            && !has_index_names
        {
            labels.clone_from(&levels[0]);
            *descriptions = multi_row_header::described(levels);
            return "the first has the names, and the others describe the columns";
        }
        *labels = multi_row_header::joined(levels);
        "none of them fits the columns below"
    }

    /// Counts the byte order marks skipped before the first row.
    fn add_marks_before(&self, body_start: usize, asides: &mut NonRows) {
        let head = self.head;
        let mut above = Tokeniser::new(&head[..body_start], self.syntax);
        while above.record(&mut Vec::new()).is_some() {}
        asides.add_marks(&above);
    }

    /// Returns the labels of the first record of the table, and whether it is a log's field line.
    fn labels_of(&self, place: &HeaderCandidate<'_>, first: &RecordShape) -> (Vec<String>, bool) {
        if let Some(fields) = self.fields(first) {
            return (fields, true);
        }
        let mut labels = self.labels(first);
        if let (true, Some(Comment::Marked { marker, .. }), Some(label)) =
            (place.is_commented, &self.comment, labels.first_mut())
        {
            let name = label.trim_start().trim_start_matches(marker.as_str()).trim_start();
            if !name.is_empty() {
                *label = name.to_owned();
            }
        }
        (labels, false)
    }

    /// Returns whether names, one fewer than the cells of most rows, lack the one of the first column and not that of
    /// the last, and whether that is a guess.
    fn are_behind_row_names(
        &self,
        names: &[String],
        body: &Sample,
        others: &[&RecordShape],
    ) -> (bool, bool) {
        // A name of the row names is there, but empty.
        if names[0].trim().is_empty() {
            return (false, false);
        }
        // A delimiter may end the names and each row.
        let is_ended =
            body.is_empty(names.len()) && names.last().is_some_and(|it| it.trim().is_empty());
        let n_names = names.len() - usize::from(is_ended);
        let (names, columns) = (&names[..n_names], &body.all[..=n_names]);
        if body.is_empty(n_names) {
            return (false, false);
        }
        match name_fit(names, &columns[1..]).cmp(&name_fit(names, columns)) {
            Ordering::Less => (false, false),
            Ordering::Greater => (true, false),
            Ordering::Equal => {
                let first = self.first_cells(others, body.all.len());
                let may_be_names = are_row_names(&first);
                (may_be_names, !may_be_names || !are_row_numbers(&first))
            }
        }
    }

    /// Returns the first cells of rows of `width` cells. The header, which may come again, has fewer.
    fn first_cells(&self, rows: &[&RecordShape], width: usize) -> Vec<String> {
        let rows = rows.iter().filter(|it| it.width == width);
        rows.filter_map(|it| self.labels(it).into_iter().next()).collect()
    }

    /// Returns the labels of each record of a multi-record header.
    fn levels(&self, labels: &[String], others: &[&RecordShape]) -> Option<Vec<Vec<String>>> {
        let mut levels = vec![labels.to_vec()];
        let mut found: Option<Vec<Vec<String>>> = None;
        // `North 5` below `North` is a value, if all are like it.
        let describes = |it: &&&RecordShape| {
            let next = self.labels(it);
            next.len() == labels.len() && multi_row_header::describe(labels, &next)
        };
        if multi_row_header::RECORDS_MAX <= others.iter().take_while(describes).count() {
            return None;
        }
        for (at, shape) in others.iter().enumerate().take(multi_row_header::RECORDS_MAX - 1) {
            let next = self.level(shape);
            let is_level = next.len() == labels.len()
                && !levels.contains(&next)
                && multi_row_header::may_be_level(&next, self.nulls);
            if !is_level {
                break;
            }
            levels.push(next);
            let body = self.sample(labels.len(), shape.after.0, Vec::new());
            let n_rows = others.len() - at - 1;
            if multi_row_header::are_levels(&levels, &body, n_rows, self.nulls) {
                found = Some(levels.clone());
            }
        }
        let n_found = found.as_ref().map_or(1, Vec::len);
        let above_series = || self.levels_above_series(labels, others);
        above_series().filter(|it| n_found < it.len()).or(found)
    }

    /// Returns the labels of a record that may belong to the header; a dash says that a column has none.
    fn level(&self, shape: &RecordShape) -> Vec<String> {
        let mut labels = self.labels(shape);
        let is_dash =
            |it: &String| !it.is_empty() && it.trim().chars().all(|it| "-–—".contains(it));
        labels.iter_mut().filter(|it| is_dash(it)).for_each(String::clear);
        labels
    }

    /// Returns the labels of each record above a time series. The last of them is the first returned, if it
    /// names the times.
    fn levels_above_series(
        &self,
        labels: &[String],
        others: &[&RecordShape],
    ) -> Option<Vec<Vec<String>>> {
        const ABOVE_MAX: usize = 12;
        const ROWS_MIN: usize = 2;
        let is_time = |it: &&&RecordShape| {
            let cells = self.labels(it);
            cells.len() == labels.len() && shape::is_period(cells[0].as_bytes())
        };
        let n = others.iter().take(ABOVE_MAX + 1).take_while(|it| !is_time(it)).count();
        let (above, rows) = others.split_at(n);
        let last = above.last()?;
        let mut levels = vec![labels.to_vec()];
        levels.extend(above.iter().map(|it| self.level(it)));
        let are_even = levels.iter().all(|it| it.len() == labels.len());
        let is_series = n <= ABOVE_MAX
            && ROWS_MIN <= rows.len()
            && 1 < labels.len()
            && are_even
            && !shape::is_period(labels[0].as_bytes())
            && rows.iter().all(|it| is_time(&it));
        if !is_series {
            return None;
        }
        let body = self.sample(labels.len(), last.after.0, Vec::new());
        if !multi_row_header::are_above_series(&levels, &body, self.nulls) {
            return None;
        }
        let names = &levels[n];
        if multi_row_header::are_complete(names)
            && 0 < name_fit(slice::from_ref(&names[0]), &[TypeEvidence::DATE])
        {
            levels.rotate_right(1);
        }
        Some(levels)
    }

    /// Returns the name of the first column from the record below the names, where pandas writes it if the columns
    /// together have a name. It fits the values of that column, and the name above it does not.
    fn index_name(&self, names: &[String], others: &[&RecordShape]) -> Option<String> {
        let (below, rows) = others.split_first().filter(|it| 2 <= it.1.len())?;
        let is_alone = |it: &RecordShape| it.n_filled == 1 && it.is_first_filled;
        if self.told.is_plain
            || names.len() < 2
            || below.width != names.len()
            || !is_alone(below)
            || rows.iter().any(|it| is_alone(it))
        {
            return None;
        }
        let first = self.sample(names.len(), below.after.0, Vec::new()).all[0];
        let name = self.labels(below).swap_remove(0);
        let fit = |name: &String| name_fit(slice::from_ref(name), &[first]);
        let (above, own) = (fit(&names[0]), fit(&name));
        (0 < own && above < own).then_some(name)
    }

    /// Returns the labels of each record of the header, down to the ruling below it. None if there is no ruling, or
    /// rows are above it.
    fn levels_above_rule(
        &self,
        shapes: &[RecordShape],
        first: &RecordShape,
    ) -> Option<Vec<Vec<String>>> {
        let rules = self.told.rules.as_ref()?;
        let mut others = shapes.iter().skip_while(|it| it.start < first.start).peekable();
        let mut above = Vec::new();
        while let Some(shape) = others.next_if(|it| !self.is_comment(it)) {
            above.push(shape);
        }
        let levels: Vec<Vec<String>> = above.iter().map(|it| self.labels(it)).collect();
        let (names, below) = levels.split_first()?;
        let are_few = levels.len() <= multi_row_header::RECORDS_MAX
            && above.iter().all(|it| it.width == first.width);
        if !rules.is_record() {
            // A drawing has its names above the ruling, however many lines they have.
            return Some(if are_few { levels } else { vec![names.clone()] });
        }
        let body = self.sample(names.len(), others.next()?.after.0, Vec::new());
        let is_level = |it: &Vec<String>| are_few && self.is_level_above_rule(names, it, &body);
        below.iter().all(is_level).then_some(levels)
    }

    /// Returns whether a record between the first and a ruling belongs to the header: it has words, below names that
    /// are not complete or above values of other types.
    fn is_level_above_rule(&self, names: &[String], labels: &[String], body: &Sample) -> bool {
        let misfits = |(seen, label): (&TypeEvidence, &String)| {
            let mut both = *seen;
            both.add(classify(label.as_bytes(), self.nulls));
            is_typed(*seen) && !label.trim().is_empty() && !is_typed(both)
        };
        multi_row_header::may_be_level(labels, self.nulls)
            && (!multi_row_header::are_complete(names) || body.all.iter().zip(labels).any(misfits))
    }

    fn rule(&self, header: Vec<Vec<u8>>) -> AsideRule {
        AsideRule { comment: self.comment.clone(), header, totals: Vec::new() }
    }

    fn sample(&self, width: usize, start: usize, header: Vec<Vec<u8>>) -> Sample {
        Sample::of(self.windows, self.syntax, width, start, self.nulls, &self.rule(header))
    }

    fn labels(&self, shape: &RecordShape) -> Vec<String> {
        let mut labels = texts_of(&self.head[shape.start..shape.end], self.syntax);
        labels.truncate(self.width_max);
        labels
    }

    /// Returns the names in a record, if it is a log's field line.
    fn fields(&self, shape: &RecordShape) -> Option<Vec<String>> {
        fields::names(&self.head[shape.start..shape.end])
            .filter(|_| self.told.comments == Comments::FindOut)
    }

    fn is_comment(&self, shape: &RecordShape) -> bool {
        let head = self.head;
        self.comment.as_ref().is_some_and(|it| it.marks(&head[shape.start..shape.end]))
    }

    /// Returns whether the first record contains names, and why; the others begin at `start`.
    fn is_header(&self, labels: &[String], body: &Sample, start: usize) -> (bool, &'static str) {
        let head = &self.head[start..];
        if let Some(reason) = is_one_of(labels, head, self.syntax) {
            return (false, reason);
        }
        if are_years_above_others(labels, head, self.syntax) {
            return (true, "the labels are consecutive years, and the values below are not years");
        }
        if !body.is_typed() && resembles_rows(labels, head, self.syntax) {
            return (false, "the first record is like those below it");
        }
        let found = is_header(labels, body, self.nulls);
        if found.1 == YEARS && are_years_above_years(labels, head, self.syntax) {
            return (false, "the first record has years like those below it");
        }
        if !found.0
            && classify(labels[0].as_bytes(), self.nulls).is_name()
            && are_steps_above_others(labels, head, self.syntax)
        {
            return (true, "the labels are ascending numbers, and those below them are not");
        }
        found
    }

    /// Returns what is below a record that may be the header, and below units or descriptions under it.
    fn body_below(&self, header: &RecordShape, others: &[&RecordShape]) -> Sample {
        let body = self.sample(self.width, header.after.0, Vec::new());
        if body.is_typed() {
            return body;
        }
        let levels = self.levels(&self.labels(header), others).map_or(1, |it| it.len());
        match levels.checked_sub(2).and_then(|it| others.get(it)) {
            Some(last) => self.sample(self.width, last.after.0, Vec::new()),
            None => body,
        }
    }

    /// Returns whether `shape` is a row of the table below it, judged by the column types there.
    fn is_row(&self, shape: &RecordShape, body: &Sample) -> bool {
        !is_header(&self.labels(shape), body, self.nulls).0
    }

    /// Finds the first record of the table.
    fn place<'s>(&self, shapes: &'s [RecordShape]) -> HeaderCandidate<'s> {
        let head = self.head;
        let shapes = shapes.iter().take_while(|it| it.start < head.len());
        let all: Vec<&RecordShape> = shapes.collect();
        let n_lead = all.iter().take_while(|it| self.is_comment(it)).count();
        let is_sure = self.comment.as_ref().is_some_and(Comment::is_sure);
        if let Some(first) = all[..n_lead].iter().rposition(|it| self.fields(it).is_some()) {
            return HeaderCandidate { shapes: all, first, is_commented: true };
        }
        if let (Some(last), false) = (n_lead.checked_sub(1).map(|it| all[it]), is_sure)
            && self.is_commented_header(last, all.get(n_lead).copied())
        {
            return HeaderCandidate { shapes: all, first: n_lead - 1, is_commented: true };
        }
        let is_kept = |(at, it): &(usize, &RecordShape)| {
            !self.is_comment(it) || (!is_sure && it.width == self.width && n_lead <= *at)
        };
        let kept = all.into_iter().enumerate().filter(is_kept).map(|it| it.1);
        let shapes: Vec<&RecordShape> = kept.collect();
        let first = if self.told.is_placed {
            0
        } else {
            self.below_sentences(&shapes).unwrap_or_else(|| self.first(&shapes))
        };
        HeaderCandidate { shapes, first, is_commented: false }
    }

    /// Returns whether a comment line contains the names of the rows below it.
    fn is_commented_header(&self, comment: &RecordShape, below: Option<&RecordShape>) -> bool {
        let Some(below) = below else { return comment.width == self.width };
        if comment.width != self.width || below.is_behind_blank || below.width != self.width {
            return false;
        }
        let body = self.sample(self.width, below.after.0, Vec::new());
        if body.is_typed() { self.is_row(below, &body) } else { !comment.is_prose }
    }

    /// Returns the index of the record with which the table begins; the records before it are preamble.
    /// A record that may be a row is never preamble.
    fn first(&self, shapes: &[&RecordShape]) -> usize {
        let width = self.width;
        // A sentence above the names may have as many commas as a row.
        let is_sentence = |at: usize| {
            let Some(next) = shapes.get(at + 1).filter(|it| shapes[at].is_prose && !it.is_prose)
            else {
                return false;
            };
            let body = self.sample(width, next.after.0, Vec::new());
            1 < width && body.is_typed() && !self.is_row(next, &body)
        };
        let is_first = |at: &usize| shapes[*at].is_full(width) && !is_sentence(*at);
        let at = (0..shapes.len()).find(is_first).unwrap_or(0);
        if self.told.rules.is_some() {
            return at;
        }
        if let Some(at) = self.below_titles(shapes).or_else(|| self.below_misfits(shapes)) {
            return at;
        }
        if let Some(at) = self.below_notes(shapes, at).or_else(|| self.below_values(shapes, at)) {
            return at;
        }
        let lead = &shapes[..at];
        let Some(near) = lead.last() else { return 0 };
        let body = self.sample(width, shapes[at].after.0, Vec::new());
        let n_full = shapes.iter().filter(|it| it.width == width).count();
        let has_many = lead.iter().any(|it| 1 < it.n_filled);
        let has_row = lead.iter().any(|it| 1 < it.n_filled && self.fits(it, &body));
        if has_row || (n_full < 2 && has_many) {
            return 0;
        }
        if self.is_row(shapes[at], &body) {
            // A header of another width: it lacks a name for the row names, or has one too many.
            let is_name = width == 2 && at == 1 && near.width == 1 && !near.is_prose;
            if 1 < near.n_filled || (is_name && !shapes[at].is_behind_blank) {
                return at - 1;
            }
            // Rows with only a first value.
            let is_row = |it: &&RecordShape| it.width == width && it.n_filled == 1;
            return if lead.iter().all(|it| is_row(it) && !it.is_behind_blank) { 0 } else { at };
        }
        // A text over numbers is no name if the record has a number itself, or is like those below it.
        let below = &self.head[shapes[at].after.0..];
        let is_named_above = at == 1
            && near.n_filled == near.width
            && 1 < near.width
            && near.width < width
            && !near.is_prose
            && !shapes[at].is_behind_blank
            && short_rows::are_names(&self.labels(near))
            && (self.has_value(shapes[at])
                || !body.is_typed()
                    && resembles_rows(&self.labels(shapes[at]), below, self.syntax));
        if is_named_above {
            return 0;
        }
        let is_uneven = near.width.abs_diff(width) == 1
            || (width < near.width && short_rows::are_names(&self.labels(near)))
            || (near.width < width && (near.width..width).all(|it| body.is_empty(it)));
        let is_header = at == 1
            && !body.is_typed()
            && 1 < near.n_filled
            && !near.is_prose
            && !shapes[at].is_behind_blank
            && is_uneven;
        if is_header { 0 } else { at }
    }

    /// Returns the index of the header below notes that were padded to the width of the table, as
    /// spreadsheets do; the first note is at `start`.
    fn below_notes(&self, shapes: &[&RecordShape], start: usize) -> Option<usize> {
        const NOTES_MAX: usize = 50;
        let lead = shapes.iter().skip(start).take(NOTES_MAX);
        let of_width = |it: &&RecordShape| (it.width == self.width).then_some(it.n_filled);
        let n_filled_max = lead.clone().filter_map(of_width).max()?;
        let n_notes = lead.clone().position(|it| of_width(it) == Some(n_filled_max))?;
        let (notes, header) = (&shapes[start..start + n_notes], shapes[start + n_notes]);
        // One or two records directly above may group the names.
        let is_apart = |it: &&RecordShape| it.is_behind_blank || it.n_filled == 0;
        let are_notes = 2 < n_notes || notes.iter().skip(1).any(is_apart) || header.is_behind_blank;
        if notes.is_empty() || !are_notes || header.n_filled + 1 < self.width {
            return None;
        }
        let body = self.body_below(header, &shapes[start + n_notes + 1..]);
        let is_table = body.is_typed()
            && multi_row_header::may_be_level(&self.labels(header), self.nulls)
            && !self.is_row(header, &body)
            && !notes.iter().any(|it| self.fits(it, &body));
        is_table.then_some(start + n_notes)
    }

    /// Returns the index of the header directly below records of names and values, such as
    /// `Report;31.01.2024;;` or `Balance;1.234;56;EUR`; the first of them is at `start`.
    fn below_values(&self, shapes: &[&RecordShape], start: usize) -> Option<usize> {
        const RECORDS_MAX: usize = 5;
        const ROWS_MIN: usize = 3;
        let lead = shapes.iter().skip(start).take(RECORDS_MAX);
        let n = lead.take_while(|it| it.width == self.width && self.has_value(it)).count();
        let (notes, header) = (&shapes[start..start + n], shapes.get(start + n)?);
        let labels = self.labels(header);
        let distinct: HashSet<&String> = labels.iter().collect();
        let are_names = header.n_filled == self.width
            && labels.len() == self.width
            && distinct.len() == labels.len()
            && labels.iter().all(|it| classify(it.as_bytes(), self.nulls).is_name());
        if n == 0 || !are_names || shapes.len() < start + n + 1 + ROWS_MIN {
            return None;
        }
        let body = self.sample(self.width, header.after.0, Vec::new());
        let n_typed = body.all.iter().filter(|it| is_typed(**it)).count();
        // Labels that fit a column's type would be values of a row.
        let fits = |(seen, label): (&TypeEvidence, &String)| {
            is_typed(*seen) && is_typed(seen.and(classify(label.as_bytes(), self.nulls)))
        };
        let is_table = 2 <= n_typed
            && !body.all.iter().zip(&labels).any(fits)
            && !notes.iter().any(|it| self.fits(it, &body));
        is_table.then_some(start + n)
    }

    /// Returns whether a record has a value that cannot be a column name: a number or a date, but not a
    /// year.
    fn has_value(&self, shape: &RecordShape) -> bool {
        self.labels(shape).iter().any(|label| {
            let seen = classify(label.as_bytes(), self.nulls);
            let is_year = matches!(label.trim().parse(), Ok(1900..=2100));
            is_typed(seen) && !seen.is_name() && !is_year
        })
    }

    /// Returns whether the cells of a record fit the column types, with at least one value.
    fn fits(&self, shape: &RecordShape, body: &Sample) -> bool {
        let labels = self.labels(shape);
        let mut n_fit = 0;
        for (seen, label) in body.all.iter().zip(&labels) {
            let label = classify(label.as_bytes(), self.nulls);
            let mut both = *seen;
            both.add(label);
            if is_typed(*seen) && label != TypeEvidence::default() {
                if !is_typed(both) {
                    return false;
                }
                n_fit += 1;
            }
        }
        0 < n_fit
    }

    /// Returns the non-rows before and between the first records of the table.
    fn asides(&self, shapes: &[RecordShape], first: &[&RecordShape]) -> NonRows {
        let head = self.head;
        let mut asides = NonRows::default();
        let end = first.last().map_or(0, |it| it.start);
        let is_first = |shape: &RecordShape| first.iter().any(|it| it.start == shape.start);
        let lead = shapes.iter().take_while(|it| it.start < end).filter(|it| !is_first(it));
        for shape in lead {
            let comment = self.comment.as_ref().filter(|_| self.is_comment(shape));
            let kind = comment.map_or(NonRowKind::Preamble, Comment::kind);
            asides.add(kind, u64::from(shape.line), &head[shape.start..shape.end]);
        }
        asides
    }
}

impl Header {
    /// The header of a file without records.
    fn nothing() -> Self {
        Header { row_bytes: 1, ..Header::default() }
    }
}

fn are_distinct(texts: &[String]) -> bool {
    texts.iter().collect::<HashSet<_>>().len() == texts.len()
}

/// Returns whether the first cells of rows may be row names: they are distinct, and texts, or whole numbers that ascend
/// or count the rows in any order.
fn are_row_names(cells: &[String]) -> bool {
    let numbers: Vec<usize> = cells.iter().filter_map(|it| it.trim().parse().ok()).collect();
    let is_text = |it: &String| it.contains(char::is_alphabetic);
    let are_counted = numbers.is_sorted() || numbers.iter().all(|it| *it <= cells.len());
    are_distinct(cells)
        && (cells.iter().any(is_text) || numbers.len() == cells.len() && are_counted)
}

/// Returns whether cells number the rows, beginning at 0 or 1.
fn are_row_numbers(cells: &[String]) -> bool {
    let is_number = |(at, it): (usize, &String)| it.trim().parse() == Ok(at);
    let first = cells.first().and_then(|it| it.trim().parse().ok()).unwrap_or(usize::MAX);
    first <= 1 && (first..).zip(cells).all(is_number)
}

/// Returns whether a delimiter ends the names and no row: it begins no column.
fn ends_alone(names: &[String], others: &[&RecordShape], modal: usize) -> bool {
    names.last().is_some_and(|it| it.trim().is_empty())
        && names.len() == modal + 1
        && others.iter().all(|it| it.width <= modal)
}

fn modal_width(shapes: &[&RecordShape]) -> usize {
    let mut widths: Vec<usize> = shapes.iter().map(|it| it.width).collect();
    mode(&mut widths).0
}

/// Returns whether the first record contains names, and why.
pub(crate) fn is_header(labels: &[String], body: &Sample, nulls: &Nulls) -> (bool, &'static str) {
    let typed: Vec<_> = body
        .all
        .iter()
        .zip(labels)
        .filter(|(seen, _)| is_typed(**seen))
        .map(|(seen, label)| (*seen, classify(label.as_bytes(), nulls), label.as_str()))
        .collect();
    let has_body = body.all.iter().any(|it| *it != TypeEvidence::default());
    if !has_body {
        let is_text =
            labels.iter().all(|it| classify(it.as_bytes(), nulls).is_name() || it.is_empty());
        return (is_text, "there is no other record to compare with");
    }
    if typed.is_empty() {
        return (true, "all columns are text, so the first record names them");
    }
    let fits = |(seen, label, _): &(TypeEvidence, TypeEvidence, &str)| {
        let mut both = *seen;
        both.add(*label);
        is_typed(both)
    };
    let is_value = |label: &str| {
        label.contains(|it: char| it.is_ascii_digit()) && !label.contains(char::is_alphabetic)
    };
    let misfits: Vec<_> = typed.iter().filter(|it| !fits(it)).collect();
    if !misfits.is_empty() {
        // Next to values that fit, a number such as `0378.97` is a value as well.
        let has_fit = typed.iter().any(|it| it.1 != TypeEvidence::default() && fits(it));
        return if has_fit && misfits.iter().all(|it| is_value(it.2)) {
            (false, "the first record has values like the others")
        } else {
            (true, "the first record does not fit the types of the columns")
        };
    }
    if typed.iter().all(|it| it.1 == TypeEvidence::default()) {
        // A marker such as `NA` is the missing value of a row.
        let is_marked = typed.iter().any(|it| !it.2.trim().is_empty());
        return if is_marked {
            (false, "the first record has missing values of rows")
        } else {
            (true, NO_VALUES)
        };
    }
    let is_first_blank = labels.first().is_some_and(|it| it.trim().is_empty());
    let is_first_name = labels.first().is_some_and(|it| classify(it.as_bytes(), nulls).is_name());
    if is_first_blank || is_first_name {
        // A year in a column without evidence counts as well.
        let is_counted = |(seen, label): &(&TypeEvidence, &String)| {
            let is_empty =
                || **seen == TypeEvidence::default() && label.trim().parse::<i32>().is_ok();
            !label.trim().is_empty() && (is_typed(**seen) || is_empty())
        };
        let counted = body.all.iter().zip(labels).filter(is_counted);
        let steps = Steps::of(counted.map(|it| it.1.as_str()));
        if steps.as_ref().is_some_and(Steps::are_years) {
            return (true, YEARS);
        }
        // Data frames name unlabelled columns this way, next to row names.
        if is_first_blank && !body.is_empty(0) && steps.as_ref().is_some_and(Steps::are_positions) {
            return (true, "the labels number the columns");
        }
    }
    (false, "the first record fits the types of the columns")
}

/// Returns how many names promise what their columns have, less those whose columns have something else.
fn name_fit(names: &[String], columns: &[TypeEvidence]) -> i32 {
    const OF_DAYS: &[&str] = &[
        "data",
        "date",
        "dato",
        "datum",
        "day",
        "fecha",
        "jour",
        "tag",
        "tarih",
        "timestamp",
        "дата",
        "ημερομηνία",
        "날짜",
        "日付",
        "日期",
    ];
    const OF_NUMBERS: &[&str] = &[
        "age", "amount", "betrag", "cost", "count", "id", "menge", "no", "nr", "number", "preis",
        "price", "qty", "quantity", "revenue", "sales", "score", "total", "umsatz", "units",
        "value", "wert", "year",
    ];
    const OF_TEXT: &[&str] = &[
        "category", "city", "comment", "country", "customer", "description", "email", "kunde",
        "land", "name", "note", "ort", "product", "region", "stadt", "state", "status", "store",
        "title", "type",
    ];
    let fit = |(name, seen): (&String, &TypeEvidence)| {
        let name = name.to_lowercase();
        let words = || name.split(|it: char| !it.is_alphanumeric());
        let is_any = |of: &[&str]| words().any(|it| of.contains(&it));
        let is_day = is_typed(*seen) && seen.has(TypeEvidence::DAYS);
        let is_number = is_typed(*seen) && !is_day;
        let is_text = !is_typed(*seen) && *seen != TypeEvidence::default();
        let promises = [(OF_DAYS, is_day), (OF_NUMBERS, is_number), (OF_TEXT, is_text)];
        let told: Vec<bool> = promises.iter().filter(|it| is_any(it.0)).map(|it| it.1).collect();
        match told[..] {
            [] => 0,
            _ if told.contains(&true) => 1,
            _ => -1,
        }
    };
    names.iter().zip(columns).map(fit).sum()
}

/// Whole numbers at equal intervals.
struct Steps {
    first: i32,
    last: i32,
    step: i32,
}

impl Steps {
    /// Parses labels, if there are at least two and they rise or fall in equal steps.
    fn of<'a>(labels: impl Iterator<Item = &'a str>) -> Option<Steps> {
        let numbers: Vec<i32> =
            labels.map(|it| it.trim().parse()).collect::<Result<_, _>>().ok()?;
        let (&first, &last) = (numbers.first()?, numbers.last()?);
        let step = numbers.get(1).map_or(1, |it| it.saturating_sub(first));
        let is_even = numbers.windows(2).all(|it| it[1].saturating_sub(it[0]) == step);
        (is_even && step != 0).then_some(Steps { first, last, step })
    }

    fn are_years(&self) -> bool {
        [self.first, self.last].iter().all(|it| (1900..=2100).contains(it))
    }

    fn are_positions(&self) -> bool {
        self.step == 1 && matches!(self.first, 0 | 1)
    }
}

/// Returns why the first record is a row like those below it, where that is clear regardless of types.
fn is_one_of(labels: &[String], body: &[u8], syntax: Syntax) -> Option<&'static str> {
    /// A header repeats where files were concatenated, each time above a row.
    const AGAIN_MIN: usize = 10;
    const ROWS_MAX: usize = 1_000;
    let mut block = Block::default();
    Tokeniser::new(body, syntax).block(&mut block, labels.len(), ROWS_MAX);
    let rows = || block.cells.chunks_exact(labels.len());
    let is_again =
        |row: &&[Cell]| row.iter().zip(labels).all(|(it, label)| it.text(body) == *label);
    let n_again = rows().filter(is_again).count();
    if AGAIN_MIN <= n_again && block.n_rows() < 2 * n_again {
        return Some("the first record is repeated many times");
    }
    let is_amount = |column: usize| {
        shape::is_amount(labels[column].as_bytes()) && {
            let mut filled =
                rows().map(|it| it[column].raw(body)).filter(|it| !it.trim_ascii().is_empty());
            let is_value = filled.next().is_some_and(shape::is_value);
            is_value && filled.all(shape::is_value)
        }
    };
    (1..labels.len()).any(is_amount).then_some("the first record has amounts like those below it")
}

/// Returns whether at least half of the values below labels that are years are years as well.
fn are_years_above_years(labels: &[String], body: &[u8], syntax: Syntax) -> bool {
    /// More rows would not change the result.
    const ROWS_MAX: usize = 1_000;
    let is_year = |it: &str| matches!(it.trim().parse(), Ok(1900..=2100));
    let mut block = Block::default();
    Tokeniser::new(body, syntax).block(&mut block, labels.len(), ROWS_MAX);
    let below = block.cells.iter().zip(labels.iter().cycle()).filter(|it| is_year(it.1));
    let values: Vec<String> = below.map(|it| it.0.text(body)).filter(|it| !it.is_empty()).collect();
    !values.is_empty() && values.len() <= 2 * values.iter().filter(|it| is_year(it)).count()
}

/// Returns whether labels are consecutive years, and the numbers below them are not years.
pub(crate) fn are_years_above_others(labels: &[String], body: &[u8], syntax: Syntax) -> bool {
    /// More rows would not change the result.
    const ROWS_MAX: usize = 1_000;
    const ROWS_MIN: usize = 2;
    let steps = Steps::of(labels.iter().map(String::as_str));
    // Two numbers always form an even sequence.
    let are_years = |it: &Steps| it.are_years() && (2 < labels.len() || it.step.abs() == 1);
    if labels.len() < 2 || !steps.as_ref().is_some_and(are_years) {
        return false;
    }
    let mut block = Block::default();
    Tokeniser::new(body, syntax).block(&mut block, labels.len(), ROWS_MAX);
    let texts = block.cells.iter().map(|it| it.text(body)).filter(|it| !it.trim().is_empty());
    let values: Option<Vec<f64>> = texts.map(|it| it.trim().parse().ok()).collect();
    // A number may look like a year by chance.
    let is_other = |values: Vec<f64>| {
        let n_years = values.iter().filter(|it| (1900.0..=2100.0).contains(*it)).count();
        !values.is_empty() && n_years * 10 <= values.len()
    };
    ROWS_MIN <= block.n_rows() && values.is_some_and(is_other)
}

/// Returns whether the labels behind the first are numbers that ascend as those of rows do not: the months, hours or
/// groups of a pivot table.
fn are_steps_above_others(labels: &[String], body: &[u8], syntax: Syntax) -> bool {
    /// More rows would not change the result.
    const ROWS_MAX: usize = 1_000;
    /// Fewer numbers are even, or ascend, by chance.
    const EVEN_MIN: usize = 3;
    const ASCENDING_MIN: usize = 5;
    let numbers = |cells: &[String]| -> Option<Vec<f64>> {
        cells[1..].iter().map(|it| it.trim().parse().ok()).collect()
    };
    let ascend = |it: &[f64]| it.windows(2).all(|it| it[0] < it[1]);
    let are_even = |it: &[f64]| {
        let step = it[1] - it[0];
        it.windows(2).all(|it| (it[1] - it[0] - step).abs() <= 1e-9 * step.abs())
    };
    let Some(found) = numbers(labels).filter(|it| EVEN_MIN <= it.len() && ascend(it)) else {
        return false;
    };
    let mut block = Block::default();
    Tokeniser::new(body, syntax).block(&mut block, labels.len(), ROWS_MAX);
    let rows: Vec<Vec<String>> = block
        .cells
        .chunks_exact(labels.len())
        .map(|row| row.iter().map(|it| it.text(body)).collect())
        .collect();
    let are_few = |is: &dyn Fn(&[f64]) -> bool| {
        let n = rows.iter().filter(|it| numbers(it).is_some_and(|it| is(&it))).count();
        2 * n <= rows.len()
    };
    // `region` above `N` and `S` is a name.
    let first = labels[0].trim();
    let is_unlike = rows.iter().all(|row| {
        let value = row[0].trim();
        2 * value.chars().count() <= first.chars().count()
            || first.starts_with(char::is_lowercase) && !value.starts_with(char::is_lowercase)
    });
    1 < rows.len()
        && (are_even(&found) && (is_unlike || are_few(&are_even))
            || ASCENDING_MIN <= found.len() && are_few(&ascend))
}

/// Returns whether a text record is another of the text rows below it: its values repeat where values
/// repeat, and match the pattern of columns with a single pattern.
pub(crate) fn resembles_rows(labels: &[String], body: &[u8], syntax: Syntax) -> bool {
    /// More rows would not change the result.
    const ROWS_MAX: usize = 1_000;
    /// Fewer rows do not show a pattern.
    const ROWS_MIN: usize = 3;
    let mut block = Block::default();
    Tokeniser::new(body, syntax).block(&mut block, labels.len(), ROWS_MAX);
    // The header of a concatenated table repeats, possibly without its last names.
    let is_again = |record: &Cell| {
        let texts = texts_of(record.raw(body), syntax);
        texts.iter().zip(labels).all(|(text, label)| text.is_empty() || text == label)
    };
    let rows = block.cells.chunks_exact(labels.len()).zip(&block.records);
    let rows: Vec<&[Cell]> = rows.filter(|it| !is_again(it.1)).map(|it| it.0).collect();
    if rows.len() < ROWS_MIN {
        return false;
    }
    let verdicts: Vec<bool> = labels
        .iter()
        .enumerate()
        .filter_map(|(column, label)| {
            let values = rows.iter().map(|it| it[column].text(body).trim().to_owned());
            resembles(label.trim(), &values.collect::<Vec<_>>())
        })
        .collect();
    !verdicts.is_empty() && verdicts.iter().all(|it| *it)
}

/// Returns whether `label` belongs to a column's values; `None` if they have too little in common.
fn resembles(label: &str, values: &[String]) -> Option<bool> {
    let filled: Vec<&str> = values.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
    let distinct: HashSet<&str> = filled.iter().copied().collect();
    if filled.is_empty() || label.is_empty() {
        return None;
    }
    if distinct.len() * 2 <= filled.len() {
        return Some(distinct.contains(label));
    }
    let first = pattern(filled[0]);
    // Words share a pattern, whatever they mean.
    let is_telling = first.chars().any(|it| !matches!(it, 'a' | ' ' | '_'));
    (is_telling && filled.iter().all(|it| pattern(it) == first)).then(|| pattern(label) == first)
}

/// Returns the pattern of a text: `a` for letters, `9` for digits, and its punctuation.
fn pattern(text: &str) -> String {
    let mut pattern = String::new();
    for char in text.chars() {
        let kind = match char {
            _ if char.is_alphabetic() => 'a',
            '0'..='9' => '9',
            _ => char,
        };
        if !matches!(kind, 'a' | '9') || !pattern.ends_with(kind) {
            pattern.push(kind);
        }
    }
    pattern
}

/// Removes single quotes from labels where all labels have them, and undoubles doubled ones.
fn without_single_quotes(labels: Vec<String>) -> Vec<String> {
    let inner = |it: &str| Some(it.strip_prefix('\'')?.strip_suffix('\'')?.to_owned());
    let are_quoted = labels.iter().all(|it| it.is_empty() || inner(it).is_some());
    let plain = |label: String| match inner(&label) {
        Some(inner) if are_quoted || inner.is_empty() => inner.replace("''", "'").trim().to_owned(),
        _ if is_doubled_within(&label) => label.replace("''", "'"),
        _ => label,
    };
    labels.into_iter().map(plain).collect()
}

/// Returns whether doubled single quotes are between letters: elsewhere they mean inches or seconds.
fn is_doubled_within(label: &str) -> bool {
    label.match_indices("''").any(|(at, quotes)| {
        label[..at].ends_with(char::is_alphabetic)
            && label[at + quotes.len()..].starts_with(char::is_alphabetic)
    })
}

/// Makes names usable: trimmed, on one line, never empty, and unique ignoring case. Each comes with whether an earlier
/// one was the same.
pub(crate) fn names_of(labels: Vec<String>) -> Vec<(String, bool)> {
    let one_line = |it: String| it.trim().replace("\r\n", " ").replace(['\r', '\n'], " ");
    let labels = without_single_quotes(labels.into_iter().map(one_line).collect());
    let mut taken: HashSet<String> = HashSet::new();
    let mut names = Vec::with_capacity(labels.len());
    for (at, label) in labels.into_iter().enumerate() {
        let base = if label.is_empty() { format!("column_{}", at + 1) } else { label };
        let mut name = base.clone();
        let mut n = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{base}_{n}");
            n += 1;
        }
        names.push((name, 2 < n));
    }
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{Header, HeaderHints, find, names_of};
    use crate::dialect;
    use crate::sniff::Windows;
    use crate::syntax::{Delimiter, Syntax};
    use crate::type_evidence::Nulls;
    use csv_agent_testing::cases;

    fn found(text: &[u8], told: &HeaderHints) -> Header {
        let mut windows = Windows::whole(text);
        let (syntax, _) = dialect::find(&mut windows, &dialect::DialectHints::default());
        find(&mut windows, syntax, told, &Nulls::new(None), &mut vec![])
    }

    #[track_caller]
    fn check_header(text: &str, expected: Option<&[&str]>) {
        let comma = Syntax::usual(Delimiter::new(",").unwrap());
        let mut windows = Windows::whole(text.as_bytes());
        let nulls = Nulls::new(None);
        let found = find(&mut windows, comma, &HeaderHints::default(), &nulls, &mut vec![]);
        let names = found.line.map(|_| found.names);
        let expected = expected.map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn a_first_record_that_fits_the_types_is_data() {
        check_header("anna,1\nbert,2\n", None);
        check_header("2024-01-01,1\n2024-01-02,2\n", None);
        check_header("name,1\nbert,2\nname,x\n", Some(&["name", "1"]));
        check_header("name,age\nbert,2\n", Some(&["name", "age"]));
        check_header("a,b\nc,d\n", Some(&["a", "b"]));
        check_header("product,2019,2020\nx,5,6\n", Some(&["product", "2019", "2020"]));
        check_header("a,b\n", Some(&["a", "b"]));
        check_header("1,2\n", None);
    }

    #[test]
    fn ascending_numbers_above_others_are_a_header() {
        for (first, rows) in [
            ("region,1,2,3", "N,5,6,7\nS,7,8,9\n"),
            ("Store,10,20,30", "Oslo,5,16,7\nRome,7,8,9\nBern,1,0,4\n"),
            ("City,0.1,0.2,0.3", "Oslo,5,1.6,7\nRome,7,8,2.9\n"),
            ("Shop,3,8,12,40,77", "Oslo,5,16,7,1,1\nRome,7,8,9,4,5\n"),
        ] {
            let names: Vec<&str> = first.split(',').collect();
            check_header(&format!("{first}\n{rows}"), Some(&names));
        }
        check_header("anna,1,2,3\nbert,4,5,6\ncarl,7,8,9\n", None);
        check_header("anna,1,5,7\nbert,4,2,6\ncarl,7,8,1\n", None);
        check_header("anna,1,2\nbert,4,2\ncarl,7,8\n", None);
    }

    #[test]
    fn a_missing_value_of_the_first_row_names_nothing() {
        for marker in ["NA", "-", "N/A"] {
            check_header(&format!("Rome,{marker}\nOslo,4\nBonn,7\n"), None);
        }
        check_header(
            "name,city,score\nAnn,Rome,NA,\nBob,Oslo,3,\nCid,Bonn,4,\n",
            Some(&["name", "city", "score", "column_4"]),
        );
        check_header(
            "City,Grade\n1,Rome,A\n2,Oslo,3\n3,Bern,4\n",
            Some(&["column_1", "City", "Grade"]),
        );
        let names = ["first", "last", "column_3", "column_4"];
        let rows = "Ann,Lee,x,q\nBob,Ray,y,q\nCid,Fox,x,r\nDan,Orr,y,q\nEve,Poe,x,r\n";
        check_header(&format!("first,last\n{rows}"), Some(&names));
    }

    #[test]
    fn names_and_values_above_a_gap_are_no_table() {
        let rows = "day,city,n\n2024-01-01,Oslo,1\n2024-01-02,Rome,2\n";
        let names: Option<&[&str]> = Some(&["day", "city", "n"]);
        check_header(&format!("Source,Bank,\n\nUpdated,2024,\n\n{rows}"), names);
        check_header(&format!("Sums,,\nin,5.00,\nout,7.00,\n,,\n{rows}"), names);
        check_header(&format!("Read this first, then ask, please\n{rows}"), names);
        check_header("full name\nx\ny\n", Some(&["full name"]));
        check_header("my id, my name\n1,x\n2,y\n", Some(&["my id", "my name"]));
        check_header("my id, my name\nx,y\nz,w\n", Some(&["my id", "my name"]));
        // Rows may lack a value as well.
        let gaps = "a,b,c\n1,2,\n3,4,\n\n5,6,7\n8,9,1\n";
        check_header(gaps, Some(&["a", "b", "c"]));
    }

    #[test]
    fn an_odd_number_beside_values_that_fit_is_no_name() {
        check_header("1,x,0378.9\n2,y,5.5\n3,z,63.5\n", None);
        check_header("007,5\n8,6\n9,7\n", None);
        check_header("1,x,size\n2,y,5.5\n3,z,63.5\n", Some(&["1", "x", "size"]));
    }

    #[test]
    fn names_and_values_right_above_the_names_are_no_header() {
        let rows = "day,city,n,x\n2024-01-01,Oslo,1,2\n2024-01-02,Rome,2,3\n2024-01-03,Rome,2,3\n";
        let names: Option<&[&str]> = Some(&["day", "city", "n", "x"]);
        check_header(&format!("Report,2024-01-31,,\n{rows}"), names);
        check_header(&format!("Balance,1.234,56,EUR\n{rows}"), names);
        check_header(&format!("From,2024-01-31,,\nRows,3,,\n{rows}"), names);
        // Years and words may group the names.
        let groups = ",2023,2024,\nname,sales,cost,note\na,1,2,x\nb,2,3,y\nc,3,4,z\n";
        check_header(groups, Some(&["name", "2023 sales", "2024 cost", "2024 note"]));
        let days = ",2024-01-01,,2024-02-01,\ncity,n,m,n,m\na,1,2,3,4\nb,2,3,4,5\nc,3,4,5,6\n";
        let joined = ["city", "2024-01-01 n", "2024-01-01 m", "2024-02-01 n", "2024-02-01 m"];
        check_header(days, Some(&joined));
    }

    #[test]
    fn a_row_of_strokes_below_the_names_is_no_row() {
        check_header("id,name\n--,----\n1,a\n2,b\n", Some(&["id", "name"]));
        check_header("n,name\n---,----\nx,a\ny,b\n", Some(&["n", "name"]));
        check_header("n,name\n-,-\nx,a\ny,b\n", Some(&["n", "name"]));
    }

    #[test]
    fn a_row_above_strokes_is_no_name() {
        let names: Option<&[&str]> = Some(&["name", "age"]);
        check_header("name,age\nAnn,30\n--,--\nCy,50\n", names);
        check_header("name,age\nAnn,30\nBob,40\n--,--\nCy,50\n", names);
        check_header("name,age\nAnn,\nBob,40\n--,--\nCy,50\n", names);
        check_header("Ann,30\nBob,40\n--,--\nCy,50\n", None);
        let cities: Option<&[&str]> = Some(&["name", "city"]);
        check_header("name,city\nAnn,Oslo\nBob,Rome\n--,--\nCy,Bern\n", cities);
        let days: Option<&[&str]> = Some(&["day", "a", "b"]);
        check_header("day,a,b\n2024-01-01,1,2\n----------,--,--\nTotal,6,8\n", days);
        // What groups or describes the names belongs to them.
        let groups = "place,size,\nname,width,height\n----,-----,------\nx,1,2\ny,3,4\n";
        check_header(groups, Some(&["place name", "size width", "size height"]));
        let units = "name,width\ntext,cm\n----,--\nx,1\ny,3\n";
        check_header(units, Some(&["name text", "width cm"]));
    }

    #[test]
    fn labels_that_count_are_a_header() {
        check_header(",0,1\n0,5.5,6.5\n1,7.5,8.5\n", Some(&["column_1", "0", "1"]));
        check_header(",Code,2019,2020\nx,y,5,6\n", Some(&["column_1", "Code", "2019", "2020"]));
        check_header(",1,5\nx,2,6\ny,3,7\n", None);
    }

    #[test]
    fn a_first_record_of_text_is_data_where_it_is_like_the_others() {
        let rows = "Oslo,open\nRome,shut\nRome,open\nOslo,shut\nRome,shut\n";
        check_header(rows, None);
        check_header(&format!("city,state\n{rows}"), Some(&["city", "state"]));
        check_header(&format!("city,state\n{rows}city,state\n"), Some(&["city", "state"]));
        check_header(&format!("city,state\n{rows}city\nOslo\n"), Some(&["city", "state"]));
        let codes = "AB-1,x y\nAB-22,z\nCD-7,w\nEF-31,v\nEF-4,u\n";
        check_header(codes, None);
        check_header(&format!("code,note\n{codes}"), Some(&["code", "note"]));
        check_header("a\nb\nc\nd\ne\n", Some(&["a"]));
    }

    #[test]
    fn units_in_brackets_are_no_row_whatever_they_are_above() {
        for units in [",(EUR),,", "[kg],,(n),", ",,,(%)", ",,[name],"] {
            let text = format!("id,price,name,share\n{units}\n1,2.5,x,3\n2,4.5,y,4\n");
            check_header(&text, Some(&["id", "price", "name", "share"]));
            assert_eq!(found(text.as_bytes(), &HeaderHints::default()).body_line, 2, "{units}");
        }
        let rows = "id,note\n1,(see below)\n2,(none)\n3,x\n";
        assert_eq!(found(rows.as_bytes(), &HeaderHints::default()).body_line, 1);
        check_header(",a,b\n,[kg],\n0,1,x\n1,2,y\n", Some(&["column_1", "a", "b"]));
    }

    #[test]
    fn a_header_that_comes_again_is_no_row_of_a_table_of_text() {
        let rows = "A,Anna,Rom\nB,Bert,Oslo\nDept,Name,City\nD,Dora,Bonn\nE,Emil,Bern\n";
        let header = found(format!("Dept,Name,City\n{rows}").as_bytes(), &HeaderHints::default());
        assert_eq!(header.rule.header, [b"Dept,Name,City".to_vec()]);
        let header = found(b"a,b\nx,y\na,b\nz,w\n", &HeaderHints::default());
        assert!(header.rule.header.is_empty());
    }

    #[test]
    fn an_unnamed_index_is_named_and_a_delimiter_at_the_end_is_a_column() {
        check_header("a,b\nx,1,2\ny,3,4\n", Some(&["column_1", "a", "b"]));
        check_header("a,b\n1,2,\n3,4,\n", Some(&["a", "b", "column_3"]));
        check_header("a,b,\n1,2\n3,4\n", Some(&["a", "b"]));
        // What the names promise decides, and then whether the first values are distinct.
        let rows = "2023-01-05,North,3,ok\n2023-01-06,South,5,late\n";
        let names = ["Date", "Store", "Units", "column_4"];
        check_header(&format!("Date,Store,Units\n{rows}"), Some(&names));
        check_header("id,name\n1,Ann,x\n2,Bob,y\n", Some(&["id", "name", "column_3"]));
        check_header("a,b\nx,1,2\nx,3,4\ny,3,4\n", Some(&["a", "b", "column_3"]));
        check_header("name,id\nx,Ann,2\ny,Bob,4\n", Some(&["column_1", "name", "id"]));
        let again = "a,b\nx,1,2\na,b\ny,3,4\na,b\nz,3,4\nu,1,2\nv,1,2\nw,3,4\n";
        check_header(again, Some(&["column_1", "a", "b"]));
    }

    #[test]
    fn names_are_trimmed_and_unique() {
        let labels = [" a ", "A", "", "b\r\nc", "a_2"].map(str::to_owned).to_vec();
        let (names, is_renamed): (Vec<String>, Vec<bool>) = names_of(labels).into_iter().unzip();
        assert_eq!(names, ["a", "A_2", "column_3", "b c", "a_2_2"]);
        assert_eq!(is_renamed, [false, true, false, false, true]);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn whatever_bytes_arrive_nothing_panics(text in prop::collection::vec(any::<u8>(), 0..300)) {
            found(&text, &HeaderHints::default());
        }
    }
}
