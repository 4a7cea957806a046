//! The position of the table in a file: after a preamble, above a footer, with comments in between.
//!
//! Pure. Everything is judged by the shape of records: how many cells they have, how many of them are
//! filled, whether a blank line precedes them. In `header`, types decide where shape leaves a doubt.

use std::cell::OnceCell;

use csv_agent_types::limits::FOOTER_RECORDS_MAX;

use super::non_rows::{Comment, is_marked};
use super::records::texts_of;
use super::sniff::Windows;
use super::syntax::Syntax;
use crate::record_shapes::{RecordShape, records, records_within};
use crate::records::swallowed::Class;

/// Records of a window whose shape is examined; more would not change the result.
pub(crate) const RECORDS_MAX: usize = 1_000;

/// Returns the comment marker among the records, if there is one.
///
/// A marker counts only where no row begins with it: `#3,x` in a table of two columns is a row, unless
/// nearly all such lines are not rows. The lines at the top are ignored in this, since a header may be
/// commented as well.
pub(crate) fn comment_of(windows: &Windows, syntax: Syntax, width: usize) -> Option<Comment> {
    const MARKERS: [&str; 4] = ["#", "//", "%", ";"];
    /// Number of comments required for each one that by chance has as many cells as a row.
    const N_SURE: usize = 10;
    if width < 2 {
        return None;
    }
    let head = windows.head(syntax);
    let mut parts = vec![(head, records(head, syntax, RECORDS_MAX))];
    parts.extend(windows.others(syntax).map(|it| (it, records(it, syntax, RECORDS_MAX))));
    let is_comment = |marker: &&&str| {
        let marked = |text: &[u8], it: &RecordShape| is_marked(&text[it.start..it.end], marker);
        let (text, shapes) = &parts[0];
        let n_lead = shapes.iter().take_while(|it| marked(text, it)).count();
        let (mut n_fit, mut n_other) = (0, n_lead);
        for (at, (text, shapes)) in parts.iter().enumerate() {
            let skipped = if at == 0 { n_lead } else { 0 };
            for shape in shapes.iter().skip(skipped).filter(|it| marked(text, it)) {
                *(if shape.width == width { &mut n_fit } else { &mut n_other }) += 1;
            }
        }
        match n_fit {
            0 => (0 < n_other).then_some(false),
            _ => (N_SURE * n_fit <= n_other).then_some(true),
        }
    };
    let mut markers = MARKERS
        .iter()
        .filter(|it| !syntax.delimiter.text().is_some_and(|text| it.starts_with(text)));
    let (marker, is_sure) = markers.find_map(|it| Some((it, is_comment(&it)?)))?;
    Some(Comment::Marked { marker: (*marker).to_owned(), is_sure })
}

/// Notes below a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Footer {
    /// Bytes from its first character to the end of the file.
    pub bytes: usize,
    /// Whether a blank line or a row of empty cells separates it from the table. In a table of two
    /// columns, a row without its second cell, below a row without any, may also belong to it.
    pub is_apart: bool,
    /// Whether a row of delimiters precedes it, and no row of the table lacks its second cell.
    pub is_below_hollow: bool,
    /// Whether the first of them reads like a note.
    pub reads_as_note: bool,
}

/// The evidence that records below a table are not its rows.
struct BelowSigns<'a> {
    tail: &'a [u8],
    syntax: Syntax,
    width: usize,
    comment: Option<&'a Comment>,
    shapes: Vec<RecordShape>,
    /// The class of each column, from the records with as many cells as the table. Few files need it.
    classes: OnceCell<Vec<Class>>,
    /// Whether blank lines precede most records, so that another one proves nothing.
    has_blanks: bool,
}

impl<'a> BelowSigns<'a> {
    fn of(
        tail: &'a [u8],
        syntax: Syntax,
        (width, width_max): (usize, usize),
        comment: Option<&'a Comment>,
    ) -> Self {
        let shapes = records_within(tail, syntax, usize::MAX, width_max);
        let n_behind_blank = shapes.iter().skip(1).filter(|it| it.is_behind_blank).count();
        let has_blanks = shapes.len() < 2 * n_behind_blank;
        BelowSigns { tail, syntax, width, comment, shapes, classes: OnceCell::new(), has_blanks }
    }

    fn texts(&self, shape: &RecordShape) -> Vec<String> {
        let mut texts = texts_of(&self.tail[shape.start..shape.end], self.syntax);
        texts.truncate(shape.width);
        texts
    }

    /// A column contains values where most of its cells do: the names above them are words, and so are
    /// the notes below.
    fn classes_of_rows(&self) -> Vec<Class> {
        let mut counts = vec![(0, 0); self.width];
        for shape in self.shapes.iter().filter(|it| it.width == self.width && 1 < it.n_filled) {
            // Records after a blank line may be notes.
            if shape.is_behind_blank && !self.has_blanks && counts.iter().any(|it| 1 < it.0) {
                break;
            }
            for ((n_values, n_words), text) in counts.iter_mut().zip(self.texts(shape)) {
                let mut class = Class::Unknown;
                class.add(text.as_bytes(), None);
                *n_values += usize::from(class == Class::Values);
                *n_words += usize::from(class == Class::Words);
            }
        }
        let class = |(n_values, n_words): (usize, usize)| match () {
            () if 2 * n_words <= n_values && 2 <= n_values => Class::Values,
            () if n_values == 0 => Class::Words,
            () => Class::Mixed,
        };
        counts.into_iter().map(class).collect()
    }

    fn is_comment(&self, shape: &RecordShape) -> bool {
        self.comment.is_some_and(|it| it.marks(&self.tail[shape.start..shape.end]))
    }

    /// Returns whether a record may be a note by its shape alone.
    fn is_note(&self, shape: &RecordShape) -> bool {
        shape.is_note(self.width) || self.is_comment(shape)
    }

    /// Returns whether a record lacks values where the rows have them. A record with all its cells
    /// filled is a row, unless they are the parts of a sentence.
    fn is_without_values(&self, shape: &RecordShape) -> bool {
        if shape.width == self.width && shape.n_filled == self.width && !shape.is_prose {
            return false;
        }
        let holds_value = |(class, text): (&Class, &String)| {
            *class == Class::Values && text.bytes().any(|it| it.is_ascii_digit()) && {
                let mut found = Class::Unknown;
                found.add(text.as_bytes(), None);
                found == Class::Values
            }
        };
        let classes = self.classes.get_or_init(|| self.classes_of_rows());
        classes.contains(&Class::Values) && !classes.iter().zip(&self.texts(shape)).any(holds_value)
    }

    /// Returns whether a blank line, a row of empty cells or a ruling precedes a record, or it is a
    /// ruling.
    fn is_apart(&self, at: usize) -> bool {
        let shape = &self.shapes[at];
        let is_stroke = |it: &u8| matches!(it, b'-' | b'_' | b'=' | b'*' | b'"');
        let is_line = || {
            let text = self.tail[shape.start..shape.end].trim_ascii();
            shape.n_filled == 1 && 3 <= text.len() && text.iter().all(is_stroke)
        };
        shape.n_filled == 0 || (shape.is_behind_blank && !self.has_blanks) || is_line()
    }

    /// Returns whether a record has only its first cell, and that reads as a note: by its beginning
    /// (also `(1)` or `[a]`), or as a sentence below rows that are full and contain none.
    fn reads_as_note(&self, at: usize) -> bool {
        const BEGINNINGS: [&str; 11] = [
            "source:", "sources:", "note:", "notes:", "data as of ", "as of ", "last updated",
            "quelle:", "stand:", "©", "* ",
        ];
        /// Fewer may be a name.
        const WORDS_MIN: usize = 3;
        let shape = &self.shapes[at];
        if shape.n_filled != 1 || !shape.is_first_filled {
            return false;
        }
        let first = |it: &RecordShape| self.texts(it).into_iter().next().unwrap_or_default();
        let is_word = |it: &&str| it.contains(char::is_alphabetic);
        let n_words = |text: &str| text.split_whitespace().filter(is_word).count();
        let text = first(shape);
        let begins = || {
            let text = text.trim().to_lowercase();
            let mark = text.split_whitespace().next().unwrap_or_default();
            let is_mark =
                mark.len() <= 4 && mark.starts_with(['(', '[']) && mark.ends_with([')', ']']);
            is_mark || is_row_count(&text) || BEGINNINGS.iter().any(|it| text.starts_with(it))
        };
        let rows = || {
            let filled = self.shapes[..at].iter().filter(|it| 0 < it.n_filled);
            filled.skip_while(|it| it.n_filled == 1)
        };
        // Where rows also have only their first cell, this is another such row.
        if rows().any(|it| it.n_filled == 1 && it.is_first_filled) {
            return false;
        }
        let is_sentence = |it: &str| it.trim_end().ends_with('.') && WORDS_MIN <= n_words(it);
        let is_only_sentence =
            || rows().all(|it| it.n_filled == self.width && !is_sentence(&first(it)));
        begins() || (is_sentence(&text) && is_only_sentence())
    }
}

/// Returns whether a text in lower case is the number of rows, as clients of databases write it: `(2 rows)`.
fn is_row_count(text: &str) -> bool {
    const ROWS: [&str; 14] = [
        "row", "rows", "row(s)", "record", "records", "record(s)", "zeile", "zeilen", "datensätze",
        "ligne", "lignes", "filas", "righe", "rijen",
    ];
    const AFTER: [&str; 8] =
        ["", "affected", "selected", "returned", "fetched", "in set", "total", "ausgewählt"];
    let text = text.trim().trim_end_matches('.');
    let text = text.strip_prefix('(').and_then(|it| it.strip_suffix(')')).unwrap_or(text);
    let mut words = text.split_whitespace();
    let is_number = words.next().is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    let is_noun = words.next().is_some_and(|it| ROWS.contains(&it));
    is_number && is_noun && AFTER.contains(&words.collect::<Vec<_>>().join(" ").as_str())
}

/// Returns the notes at the end of `tail`, which is the end of a file, judging by shape. Cells beyond
/// `width_max` are empty.
pub(crate) fn footer_of(
    tail: &[u8],
    syntax: Syntax,
    (width, width_max): (usize, usize),
    comment: Option<&Comment>,
) -> Option<Footer> {
    if width < 2 {
        return None;
    }
    let below = BelowSigns::of(tail, syntax, (width, width_max), comment);
    let shapes = &below.shapes;
    let may_be_note = |it: &&RecordShape| below.is_note(it) || below.is_without_values(it);
    let n_notes = shapes.iter().rev().take(FOOTER_RECORDS_MAX + 1).take_while(may_be_note).count();
    if FOOTER_RECORDS_MAX < n_notes {
        return None;
    }
    let first = shapes.len() - n_notes;
    // A row of a drawn table has its bars even where its cells are empty.
    let n_narrow = if matches!(comment, Some(Comment::Drawn(_))) { 2 } else { 3 };
    let begins = |at: &usize| {
        let notes = &shapes[*at..];
        let Some(above) = at.checked_sub(1).map(|it| &shapes[it]) else { return false };
        let is_of_table = above.width == width || (above.width < width && below.is_apart(*at));
        let has_note = notes.iter().any(|it| 0 < it.n_filled && !below.is_comment(it));
        let is_narrow = n_narrow <= width && notes.iter().all(|it| it.width == 1);
        let are_notes = || notes.iter().all(|it| below.is_note(it));
        is_of_table
            && has_note
            && (below.is_apart(*at) || are_notes() && (is_narrow || below.reads_as_note(*at)))
    };
    let at = (first..shapes.len()).find(begins)?;
    let may_be_rows =
        width == 2 && shapes[at..].iter().all(|it| it.width == width && !it.is_behind_blank);
    let mut table = shapes[..at].iter().skip_while(|it| it.n_filled <= 1);
    let is_below_hollow = shapes[at].n_filled == 0 && table.all(|it| it.n_filled != 1);
    let is_apart = below.is_apart(at) && !may_be_rows;
    let first_filled = (at..shapes.len()).find(|at| 0 < shapes[*at].n_filled);
    let reads_as_note = first_filled.is_some_and(|at| below.reads_as_note(at));
    Some(Footer { bytes: tail.len() - shapes[at].start, is_apart, is_below_hollow, reads_as_note })
}
