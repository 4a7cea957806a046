//! How records are split into cells: delimiter, quote, escape and blanks, each with its reason.
//!
//! Pure. Every syntax supported by the windows is tried on them: the winner is the one with even rows
//! whose cells look like single values. The usual delimiters have preference; another one must win
//! clearly.

use std::collections::HashSet;

use memchr::memmem;
use serde::de::IgnoredAny;

use csv_agent_types::status::Failure;

use super::records::{Cell, Tokeniser};
use super::shape::is_value;
use super::sniff::Windows;
use super::syntax::{Blanks, Delimiter, Escape, QUOTE, Quote, Syntax, USUAL_DELIMITERS, has_sign};
use super::{enclosed_table, fields, leading_text, short_rows, trailing_text};
use crate::counts::{mode, ratio};
use crate::options::IngestOptions;
use crate::record_shapes::{RecordShape, records};

/// What the user specified; everything else is detected.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DialectHints {
    /// Between cells.
    pub delimiter: Option<Delimiter>,
    /// Around cells.
    pub quote: Option<Quote>,
    /// Within quotes.
    pub escape: Option<Escape>,
}

impl DialectHints {
    /// Parses the options. Fails with `FailureKind::Usage` when one of them cannot be followed, or two
    /// contradict each other.
    pub(crate) fn of(options: &IngestOptions) -> anyhow::Result<DialectHints> {
        let refuse = |message: String, hint: &str| Err(Failure::usage(message).hint(hint).into());
        let shown = |it: &str| it.escape_debug().to_string();
        let delimiter = options.delimiter.as_deref();
        let told = DialectHints {
            delimiter: delimiter.and_then(Delimiter::new),
            quote: options.quote,
            escape: options.escape,
        };
        if let (Some(text), None) = (delimiter, told.delimiter) {
            let message = format!("`{}` cannot separate cells", shown(text));
            let hint = "give one to eight bytes that are not letters, digits, quotes or line ends";
            return refuse(message, hint);
        }
        let quote = told.quote.and_then(Quote::char);
        let escape = told.escape.and_then(Escape::char);
        let is_in = |sign: &&u8| delimiter.is_some_and(|it| it.as_bytes().contains(sign));
        if let Some(sign) = [quote, escape].iter().flatten().find(is_in) {
            let sign = char::from(*sign);
            let message = format!("`{sign}` cannot both separate cells and quote or escape");
            let hint = "give `--delimiter`, `--quote` and `--escape` different characters";
            return refuse(message, hint);
        }
        if told.quote == Some(Quote::None) && told.escape == Some(Escape::Doubled) {
            let message = "quotes cannot be doubled where there are none".to_owned();
            return refuse(message, "leave out `--quote none` or `--escape doubled`");
        }
        // An escape equal to the quote means doubling.
        let is_doubled = escape.is_some() && escape == told.quote.map_or(Some(QUOTE), Quote::char);
        Ok(if is_doubled { DialectHints { escape: Some(Escape::Doubled), ..told } } else { told })
    }
}

/// Delimiters that must win clearly: their characters are common within cells, or rare anywhere.
const OTHERS: [&str; 15] =
    [" ", "::", ":", "@@", "$$", "##", "%%", "<>", "^", "~", "\u{1}", "\u{1e}", "\u{1f}", "§", "¦"];
/// Records of a window to examine; more would not change the result.
const RECORDS_MAX: usize = 1_000;

/// Returns how records are split into cells, with a sentence for each decision.
pub(crate) fn find(windows: &mut Windows, told: &DialectHints) -> (Syntax, Vec<String>) {
    let lead = windows.head.drain(..leading_text::n_bytes(&windows.head)).collect::<Vec<_>>();
    let n_below = if windows.is_whole { trailing_text::n_bytes(&windows.head) } else { 0 };
    let below = windows.hide_end(n_below);
    let found = fields::delimiter(&lead, &windows.head).filter(|_| told.delimiter.is_none());
    let found = match found {
        Some(delimiter) => {
            let reason = format!("delimiter `{}`: as in the names", shown(delimiter));
            (Syntax::usual(delimiter), vec![reason])
        }
        None => find_below(windows, told),
    };
    windows.show_end(&below);
    windows.head.splice(..0, lead);
    found
}

/// Detects the same, with nothing above the table.
fn find_below(windows: &Windows, told: &DialectHints) -> (Syntax, Vec<String>) {
    let mut best: Option<Trial> = None;
    for (delimiter, is_usual) in delimiters(windows, told) {
        for quote in quotes(windows, told) {
            let trial = Trial::of(windows, told, delimiter, quote, is_usual);
            if trial.is_better(best.as_ref()) || told.delimiter.is_some() && best.is_none() {
                best = Some(trial);
            }
        }
    }
    let is_one_column = |best: &Trial| {
        told.delimiter.is_none()
            && (best.cuts_values(windows) || best.cuts_words(windows) || best.cuts_clocks(windows))
    };
    let best = best.filter(|it| !is_one_column(it));
    let aligned = aligned(windows, told, best.as_ref());
    if let Some(aligned) = aligned.filter(|it| told.delimiter.is_some() || !it.cuts_words(windows))
    {
        let reasons = aligned.reasons(told);
        return (aligned.syntax, reasons);
    }
    let Some(best) = best else {
        return enclosed(windows, told)
            .or_else(|| tails(windows, told, short_rows::width))
            .unwrap_or_else(|| one_column(windows, told));
    };
    if told.delimiter.is_none()
        && best.lacks_names(windows)
        && let Some(found) = tails(windows, told, short_rows::names_all)
    {
        return found;
    }
    let best = best
        .without_quotes(windows, told)
        .escaped(windows, told)
        .framed(windows, told)
        .twice(windows, told)
        .spaced(windows);
    let reasons = best.reasons(told);
    (best.syntax, reasons)
}

/// Returns the start of the first record if it fills most of the head and ends beyond it, with the
/// syntax that cuts it: more of the file is needed to detect the dialect.
///
/// Normally the detected syntax decides. Only where no delimiter makes even rows, the usual delimiters
/// that cut the first record are tried.
pub(crate) fn cut_record(windows: &Windows, found: Syntax) -> Option<(usize, Syntax)> {
    let cut = |syntax: Syntax| Some((windows.cut_record(syntax)?, syntax));
    if found.delimiter != Delimiter::NONE || found.quote != Some(QUOTE) {
        return cut(found);
    }
    let cuts_first = |syntax: &Syntax| {
        let mut cells = Vec::new();
        Tokeniser::new(&windows.head, *syntax).record(&mut cells);
        1 < cells.len()
    };
    let usual = USUAL_DELIMITERS.iter().filter_map(|it| Delimiter::new(it)).map(Syntax::usual);
    cut(found).or_else(|| usual.filter(cuts_first).find_map(cut))
}

/// Returns the delimiter declared by a first line `sep=;`, as Excel writes it, and the line's length.
pub(crate) fn declared(head: &[u8]) -> Option<(Delimiter, usize)> {
    let line = head.get(..4)?.eq_ignore_ascii_case(b"sep=").then(|| &head[4..])?;
    let n_line = line.iter().position(|it| matches!(it, b'\r' | b'\n'))?;
    let (text, rest) = line.split_at(n_line);
    let delimiter = Delimiter::new(std::str::from_utf8(text).ok()?)?;
    // In a file of keys and values, `sep=` is followed by a value.
    let is_one = std::str::from_utf8(text).is_ok_and(|it| it.chars().count() == 1);
    let n_end = if rest.starts_with(b"\r\n") { 2 } else { 1 };
    is_one.then_some((delimiter, 4 + n_line + n_end))
}

/// Returns whether the known text is JSON, or one JSON document per line.
pub(crate) fn is_json(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if !head.starts_with(b"{") && !head.starts_with(b"[") {
        return false;
    }
    let mut documents = serde_json::Deserializer::from_slice(head).into_iter::<IgnoredAny>();
    match documents.next() {
        // A row such as `[1],2` continues after it.
        Some(Ok(_)) => {
            let rest = head[documents.byte_offset()..].trim_ascii_start();
            rest.is_empty() || rest.starts_with(b"{") || rest.starts_with(b"[")
        }
        Some(Err(error)) => {
            let inner = head.strip_prefix(b"[").unwrap_or(head).trim_ascii_start();
            error.is_eof() && inner.starts_with(b"{")
        }
        None => false,
    }
}

/// Returns the delimiters that occur, and whether each is a usual one.
fn delimiters(windows: &Windows, told: &DialectHints) -> Vec<(Delimiter, bool)> {
    if let Some(told) = told.delimiter {
        return vec![(told, true)];
    }
    let occurs = |text: &&str| memmem::find(&windows.head, text.as_bytes()).is_some();
    let usual = USUAL_DELIMITERS.iter().map(|it| (it, true));
    let all = usual.chain(OTHERS.iter().map(|it| (it, false))).filter(|(it, _)| occurs(it));
    all.filter_map(|(it, is_usual)| Some((Delimiter::new(it)?, is_usual))).collect()
}

/// Returns the quotes in order of preference.
fn quotes(windows: &Windows, told: &DialectHints) -> Vec<Option<u8>> {
    if let Some(told) = told.quote {
        return vec![told.char()];
    }
    let mut quotes = vec![Some(QUOTE)];
    // At least two quoted cells.
    let n_single = memchr::memchr_iter(b'\'', &windows.head).take(4).count();
    if 4 <= n_single {
        quotes.push(Some(b'\''));
    }
    quotes
}

/// Returns how to split columns aligned by blanks, where only blanks can separate them.
fn aligned(windows: &Windows, told: &DialectHints, best: Option<&Trial>) -> Option<Trial> {
    const GAPS: [&str; 2] = ["  ", " "];
    let is_told = told.quote.is_some() || told.escape.is_some();
    if is_told || memmem::find(&windows.head, b"  ").is_none() {
        return None;
    }
    let delimiter = best.map_or(&b" "[..], |it| it.syntax.delimiter.bytes());
    // Decimal commas are cells of two columns as well.
    let is_decimal = delimiter == b"," && told.delimiter.is_none() && !has_sign(&windows.head);
    if delimiter != b" " && !is_decimal {
        return None;
    }
    let best = best.filter(|_| !is_decimal);
    let trials = GAPS.iter().filter_map(|gap| {
        let delimiter = Delimiter::new(gap)?;
        let syntax = Syntax { blanks: Blanks::Aligned, ..Syntax::usual(delimiter) };
        let trial = Trial { syntax, is_usual: false, score: Score::of(windows, syntax) };
        let is_allowed = told.delimiter.is_none_or(|it| it == delimiter);
        // In a row with an empty cell, the values would shift.
        let is_even = 3 <= trial.score.n_records && 0.98 <= trial.score.evenness();
        let is_even = is_even && !(is_decimal && trial.has_text_with_comma(windows));
        let beats = |best: &Trial| best.score.value() < trial.score.value();
        (is_allowed && is_even && best.is_none_or(beats)).then_some(trial)
    });
    trials
        .max_by(|a, b| a.score.value().total_cmp(&b.score.value()))
        .filter(|it| 1 < it.score.width)
}

/// Returns the usual delimiters with the result of each, and the shapes of its records.
fn usual_trials<'a>(
    windows: &'a Windows,
    told: &'a DialectHints,
) -> impl Iterator<Item = (Trial, &'a [u8], Vec<RecordShape>)> {
    delimiters(windows, told).into_iter().filter(|it| it.1).map(|(delimiter, _)| {
        let quote = told.quote.map_or(Some(QUOTE), Quote::char);
        let trial = Trial::of(windows, told, delimiter, quote, true);
        let head = windows.head(trial.syntax);
        let shapes = records(head, trial.syntax, RECORDS_MAX);
        (trial, head, shapes)
    })
}

/// Returns how records are split into cells where titles and notes outnumber the rows of a table between
/// blank lines.
fn enclosed(windows: &Windows, told: &DialectHints) -> Option<(Syntax, Vec<String>)> {
    let trials = usual_trials(windows, told).filter_map(|(trial, head, shapes)| {
        Some((enclosed_table::n_records(head, &shapes, trial.syntax)?, trial))
    });
    let (n_records, trial) = trials.max_by_key(|it| it.0).filter(|_| windows.is_whole)?;
    let mut reasons = trial.reasons(told);
    if told.delimiter.is_none() {
        let delimiter = shown(trial.syntax.delimiter);
        reasons[0] =
            format!("delimiter `{delimiter}`: {n_records} records between blank lines have it");
    }
    Some((trial.syntax, reasons))
}

/// Returns how records are split into cells where rows omit trailing empty cells, so that no number of
/// cells is typical: `width_of` returns the width of the header.
fn tails(
    windows: &Windows,
    told: &DialectHints,
    width_of: impl Fn(&[u8], &[RecordShape], Syntax) -> Option<usize>,
) -> Option<(Syntax, Vec<String>)> {
    let trials = usual_trials(windows, told)
        .filter_map(|(trial, head, shapes)| Some((width_of(head, &shapes, trial.syntax)?, trial)));
    let (width, trial) = trials.max_by_key(|it| it.0)?;
    let mut reasons = trial.reasons(told);
    if told.delimiter.is_none() {
        let delimiter = shown(trial.syntax.delimiter);
        reasons[0] = format!(
            "delimiter `{delimiter}`: there are {width} names, and rows leave out empty cells at the end"
        );
    }
    Some((trial.syntax, reasons))
}

fn shown(delimiter: Delimiter) -> String {
    delimiter.text().unwrap_or_default().escape_debug().to_string()
}

fn one_column(windows: &Windows, told: &DialectHints) -> (Syntax, Vec<String>) {
    let quote = told.quote.map_or(Some(QUOTE), Quote::char);
    let trial = Trial::of(windows, told, Delimiter::NONE, quote, true);
    let mut reasons = vec!["one column: no delimiter gives rows of the same width".to_owned()];
    reasons.extend(trial.reasons(told).into_iter().skip(1));
    (trial.syntax, reasons)
}

/// A syntax and its result on the windows.
#[derive(Debug, Clone)]
struct Trial {
    syntax: Syntax,
    is_usual: bool,
    score: Score,
}

impl Trial {
    /// Tries a delimiter and a quote, with whichever escape fits them better.
    fn of(
        windows: &Windows,
        told: &DialectHints,
        delimiter: Delimiter,
        quote: Option<u8>,
        is_usual: bool,
    ) -> Trial {
        let escape = told.escape.unwrap_or(Escape::Doubled);
        let blanks = blanks(windows, delimiter, quote);
        let syntax = Syntax { quote, escape, blanks, ..Syntax::usual(delimiter) };
        let doubled = Trial { syntax, is_usual, score: Score::of(windows, syntax) };
        let doubled = doubled.blank_before_quote(windows);
        let syntax = doubled.syntax;
        let is_open = told.escape.is_none();
        let has_backslash = |it: &u8| memmem::find(&windows.head, &[b'\\', *it]).is_some();
        if !(is_open && quote.as_ref().is_some_and(has_backslash)) {
            return doubled;
        }
        let syntax = Syntax { escape: Escape::Char(b'\\'), ..syntax };
        let escaped = Trial { syntax, is_usual, score: Score::of(windows, syntax) };
        if escaped.explains_quotes_better_than(&doubled) { escaped } else { doubled }
    }

    /// Treats blanks between a delimiter and a quote as layout where that yields quoted cells, and rows
    /// at least as even.
    fn blank_before_quote(self, windows: &Windows) -> Trial {
        let Syntax { delimiter, quote: Some(quote), blanks: Blanks::Kept, .. } = self.syntax else {
            return self;
        };
        let pattern = [delimiter.bytes(), &[b' ', quote]].concat();
        let is_blank = delimiter.bytes().ends_with(b" ") || delimiter == Delimiter::NONE;
        if is_blank || memmem::find(&windows.head, &pattern).is_none() {
            return self;
        }
        let syntax = Syntax { blanks: Blanks::AroundQuotes, ..self.syntax };
        let score = Score::of(windows, syntax);
        let is_better = self.score.n_quoted < score.n_quoted
            && self.score.evenness() <= score.evenness()
            && score.n_unclosed <= self.score.n_unclosed;
        if is_better { Trial { syntax, score, ..self } } else { self }
    }

    /// Returns whether quotes after backslashes are text, although `doubled` treats them as quotes.
    fn explains_quotes_better_than(&self, doubled: &Trial) -> bool {
        let (escaped, doubled) = (&self.score, &doubled.score);
        if escaped.n_escapes == 0 || escaped.value() < doubled.value() {
            return false;
        }
        // With doubled quotes, no quote is misplaced: a backslash before a closing quote is the cell's
        // last character, as in `"C:\"`, unless rows become more even with the escape.
        if doubled.n_bare == 0 && doubled.n_unclosed == 0 {
            return doubled.evenness() < escaped.evenness();
        }
        doubled.value() * 1.001 < escaped.value() || escaped.n_bare <= escaped.n_escapes / 20
    }

    fn is_better(&self, best: Option<&Trial>) -> bool {
        let value = self.score.value();
        let Some(best) = best else { return 0.0 < value && self.is_credible() };
        let margin = match (best.is_usual, self.is_usual) {
            _ if best.syntax.delimiter == self.syntax.delimiter => 1.001,
            (true, false) => 1.1,
            _ => 1.02,
        };
        // A syntax that makes all records a table, including the names, is hardly a coincidence.
        let margin = match (best.explains_all(), self.explains_all()) {
            (true, false) if !self.score.is_first_modal => margin * 1.5,
            (false, true) if !best.score.is_first_modal => margin / 1.5,
            _ => margin,
        };
        best.score.value() * margin < value && self.is_credible()
    }

    /// Returns whether several records all have the same number of cells.
    fn explains_all(&self) -> bool {
        self.is_usual && 3 <= self.score.n_records && self.score.n_modal == self.score.n_records
    }

    /// Returns whether a less usual syntax has the evidence it needs.
    fn is_credible(&self) -> bool {
        let score = &self.score;
        let part = |n: usize, of: usize| ratio(n, of);
        let is_quoted_well = self.syntax.quote != Some(b'\'')
            || (2 <= score.n_quoted && score.n_unclosed * 20 <= score.n_quoted as u64);
        if !is_quoted_well || self.is_usual {
            return is_quoted_well;
        }
        // R has no label for the row names.
        let n_even = score.n_modal + usize::from(score.is_first_short);
        let is_even = 3 <= score.n_records && 0.8 <= part(n_even, score.n_records);
        // Words also form rows.
        let is_common = matches!(self.syntax.delimiter.bytes(), b" " | b":");
        let n_filled = score.n_cells - score.n_empty;
        let has_values = 0.4 <= part(score.n_values + score.n_quoted, n_filled)
            && part(score.n_empty, score.n_cells) <= 0.3;
        is_even && (!is_common || has_values)
    }

    /// Returns whether lines are already values that contain the delimiter.
    fn cuts_values(&self, windows: &Windows) -> bool {
        let lines = Syntax::usual(Delimiter::NONE);
        let head = windows.head(lines);
        let mut tokeniser = Tokeniser::new(head, lines);
        let (mut cells, mut n_lines, mut n_values, mut has_label) = (Vec::new(), 0, 0, false);
        while n_lines < RECORDS_MAX && tokeniser.record(&mut cells).is_some() {
            let line = cells.first().map_or(&b""[..], |it| it.raw(head));
            if n_lines == 0 && !is_value(line) {
                if memmem::find(line, self.syntax.delimiter.bytes()).is_some() {
                    return false;
                }
                has_label = true;
            }
            n_lines += 1;
            n_values += usize::from(is_value(line));
        }
        let n_wanted = n_lines - usize::from(has_label);
        // `1,2` may be one number or two, but a label resolves that.
        let tells = has_label || !self.is_usual;
        tells && 0 < n_wanted && n_wanted * 9 <= n_values * 10
    }

    /// Returns whether any cell has a comma and is not a number.
    fn has_text_with_comma(&self, windows: &Windows) -> bool {
        let head = windows.head(self.syntax);
        let mut tokeniser = Tokeniser::new(head, self.syntax);
        let mut cells = Vec::new();
        let is_text = |it: &Cell| it.raw(head).contains(&b',') && !is_value(it.raw(head));
        std::iter::from_fn(|| {
            tokeniser.record(&mut cells)?;
            Some(cells.iter().any(is_text))
        })
        .any(|it| it)
    }

    /// Returns whether the first line lacks the delimiter, while the rows contain it.
    fn lacks_names(&self, windows: &Windows) -> bool {
        let head = windows.head(self.syntax).trim_ascii_start();
        let n_line = memchr::memchr2(b'\n', b'\r', head).unwrap_or(head.len());
        memmem::find(&head[..n_line], self.syntax.delimiter.bytes()).is_none()
    }

    /// Returns whether the delimiter is the `:` of a time of day in the text of each line, as in a log.
    fn cuts_clocks(&self, windows: &Windows) -> bool {
        if self.syntax.delimiter.bytes() != b":" {
            return false;
        }
        let has_clock = |line: &[u8]| {
            line.split(|it| matches!(it, b' ' | b'T' | b',' | b'[' | b']')).any(|it| {
                let n_clock =
                    it.iter().take_while(|it| it.is_ascii_digit() || **it == b':').count();
                memchr::memchr(b':', &it[..n_clock]).is_some() && is_value(&it[..n_clock])
            })
        };
        let lines = windows.head.split(|it| *it == b'\n').filter(|it| !it.trim_ascii().is_empty());
        let (mut n_lines, mut n_clocks) = (0, 0);
        for line in lines.take(RECORDS_MAX) {
            n_lines += 1;
            n_clocks += usize::from(line.trim_ascii().contains(&b' ') && has_clock(line));
        }
        n_lines * 9 <= n_clocks * 10
    }

    /// Returns whether lines are words of one column, split at punctuation that is common in text: the
    /// first record names one column fewer than the rows have, or only one, and the would-be row names
    /// do not distinguish the rows.
    fn cuts_words(&self, windows: &Windows) -> bool {
        if !matches!(self.syntax.delimiter.bytes(), b" " | b"  " | b":") {
            return false;
        }
        let head = windows.head(self.syntax);
        let mut tokeniser = Tokeniser::new(head, self.syntax);
        let mut cells = Vec::new();
        let mut records = std::iter::from_fn(|| {
            tokeniser.record(&mut cells)?;
            Some(cells.clone())
        });
        let Some(names) = records.next() else { return false };
        let is_short = names.len() == 1 || names.len() + 1 == self.score.width;
        if !is_short || self.score.width <= names.len() || names.iter().any(|it| it.is_quoted()) {
            return false;
        }
        let rows: Vec<Vec<Cell>> = records.take(RECORDS_MAX).filter(|it| 1 < it.len()).collect();
        let is_value = |it: &Cell| it.is_quoted() || is_value(it.raw(head));
        // A title may be above the names.
        if rows.first().is_some_and(|it| !it.iter().any(is_value)) {
            return false;
        }
        let firsts = || rows.iter().filter_map(|it| it.first());
        if names.len() == 1 {
            return firsts().filter(|it| is_value(it)).count() * 2 < rows.len();
        }
        let distinct: HashSet<&[u8]> = firsts().map(|it| it.raw(head)).collect();
        distinct.len() < rows.len() && !firsts().all(is_value)
    }

    /// Treats quotes as text where that makes rows clearly more even, or the writer never quotes.
    fn without_quotes(self, windows: &Windows, told: &DialectHints) -> Trial {
        let Score { n_unclosed, n_bare, n_inner, .. } = self.score;
        let is_odd = 0 < n_unclosed || 0 < n_bare + n_inner;
        if told.quote.is_some() || told.escape.is_some() || !is_odd {
            return self;
        }
        let syntax = Syntax { quote: None, escape: Escape::None, ..self.syntax };
        let score = Score::of(windows, syntax);
        let is_clear = 0 < n_unclosed && self.score.value() * 1.1 < score.value();
        if is_clear || self.never_quotes(&score) { Trial { syntax, score, ..self } } else { self }
    }

    /// Returns whether the writer of the file never quotes: no cell needs its quotes, all rows are even
    /// `without` them, and other cells contain quotes that a quoting writer would have escaped.
    fn never_quotes(&self, without: &Score) -> bool {
        let Score { n_quoted, n_records, n_doubled, n_bare, n_inner, .. } = self.score;
        let n_text = n_inner + usize::try_from(self.score.n_unclosed).unwrap_or(usize::MAX);
        // Tab-separated files are often unquoted. With other delimiters nearly every writer quotes.
        let is_odd = match self.syntax.delimiter.bytes() {
            b"\t" => 0 < n_text + n_bare,
            _ => 3 * n_quoted <= n_text,
        };
        let is_even = without.n_modal == without.n_records && without.width == self.score.width;
        0 < n_quoted && n_doubled == 0 && is_odd && 2 * n_quoted <= n_records && is_even
    }

    /// Treats a backslash before delimiters and line ends, in a file without quotes, as an escape where
    /// that makes rows more even.
    fn escaped(self, windows: &Windows, told: &DialectHints) -> Trial {
        let delimiter = self.syntax.delimiter.bytes();
        let is_before = |it: &[u8]| memmem::find(&windows.head, &[b"\\", it].concat()).is_some();
        let is_open = told.quote.is_none() && told.escape.is_none() && self.score.n_quoted == 0;
        if !is_open || !(is_before(b"\n") || is_before(b"\r") || is_before(delimiter)) {
            return self;
        }
        let syntax = Syntax { quote: None, escape: Escape::Char(b'\\'), ..self.syntax };
        let score = Score::of(windows, syntax);
        let is_same = score.width == self.score.width || score.n_modal == score.n_records;
        let is_clear = is_same && self.score.evenness() < score.evenness();
        if is_clear { Trial { syntax, score, ..self } } else { self }
    }

    /// Treats a delimiter that always occurs doubled as one delimiter.
    fn twice(self, windows: &Windows, told: &DialectHints) -> Trial {
        let text = self.syntax.delimiter.text().unwrap_or_default();
        let can_be = told.delimiter.is_none() && ["|", ":", "^", "~", ";", "\t"].contains(&text);
        if !can_be || self.score.n_cells < self.score.n_odd_filled * 20 || self.score.width < 3 {
            return self;
        }
        let Some(delimiter) = Delimiter::new(&text.repeat(2)) else { return self };
        let syntax = Syntax { delimiter, ..self.syntax };
        let score = Score::of(windows, syntax);
        // Names between the delimiters belong to empty columns.
        let is_named = self.score.is_first_modal && !score.is_first_modal;
        if is_named { self } else { Trial { syntax, score, ..self } }
    }

    /// Treats characters on both sides of every delimiter as part of it: `~|~`, `|~|`, or blanks.
    fn framed(self, windows: &Windows, told: &DialectHints) -> Trial {
        const SIGNS: &[u8] = b"~^|#@$%&*!;:=";
        let [sign] = *self.syntax.delimiter.bytes() else { return self };
        let head = windows.head.as_slice();
        let Some(at) = memchr::memchr(sign, head).filter(|_| told.delimiter.is_none()) else {
            return self;
        };
        let n = |text: &[u8]| memmem::find_iter(head, text).count();
        let n_signs = memchr::memchr_iter(sign, head).count();
        let before = at.checked_sub(1).map_or(0, |it| head[it]);
        let (next, third) = (head.get(at + 1).copied(), head.get(at + 2).copied());
        let next = next.unwrap_or_default();
        let is_pair = [(b'<', b'>'), (b' ', b' ')].contains(&(before, next)) && sign != b' ';
        let is_frame = SIGNS.contains(&before) && before == next || is_pair;
        let text = if is_frame && n(&[before, sign, next]) == n_signs {
            [before, sign, next]
        } else if SIGNS.contains(&next)
            && third == Some(sign)
            && n(&[sign, next, sign]) * 2 == n_signs
        {
            [sign, next, sign]
        } else {
            return self;
        };
        let delimiter = std::str::from_utf8(&text).ok().and_then(Delimiter::new);
        let Some(delimiter) = delimiter.filter(|_| 1 < n(&text)) else { return self };
        let syntax = Syntax { delimiter, ..self.syntax };
        let score = Score::of(windows, syntax);
        if score.evenness() < self.score.evenness() {
            self
        } else {
            Trial { syntax, score, ..self }
        }
    }

    /// Treats the blank after every delimiter as part of it.
    fn spaced(self, windows: &Windows) -> Trial {
        let Score { n_records, n_behind, n_blank_led, .. } = self.score;
        let is_spaced = 2 <= n_records && 0 < n_behind && n_behind * 95 <= n_blank_led * 100;
        if !is_spaced || self.syntax.delimiter.bytes() == b" " {
            return self;
        }
        let syntax = Syntax { blanks: Blanks::OneBehindDelimiter, ..self.syntax };
        Trial { syntax, score: Score::of(windows, syntax), ..self }
    }

    /// Returns one sentence each for delimiter, quote and escape, where there is a reason to report.
    fn reasons(&self, told: &DialectHints) -> Vec<String> {
        let Syntax { delimiter, quote, escape, blanks, .. } = self.syntax;
        let Score { n_modal, n_records, width, n_quoted, n_escapes, .. } = self.score;
        let delimiter = shown(delimiter);
        let mut reasons = vec![if told.delimiter.is_some() {
            format!("delimiter `{delimiter}`: as specified")
        } else {
            format!(
                "delimiter `{delimiter}`: {n_modal} of {n_records} sampled records have {width} cells"
            )
        }];
        match (told.quote, quote) {
            (Some(Quote::Char(quote)), _) => {
                reasons.push(format!("quote `{}`: as specified", char::from(quote)));
            }
            (Some(Quote::None), _) => reasons.push("no quote: as specified".to_owned()),
            (None, None) if escape == Escape::None => {
                reasons.push("no quote: quotes do not enclose cells".to_owned());
            }
            (None, None | Some(QUOTE)) => {}
            (None, Some(quote)) => reasons.push(format!(
                "quote `{}`: {n_quoted} sampled cells begin and end with it",
                char::from(quote)
            )),
        }
        match (told.escape, escape) {
            (Some(Escape::Char(escape)), _) => {
                reasons.push(format!("escape `{}`: as specified", char::from(escape)));
            }
            (Some(Escape::Doubled), _) => {
                reasons.push("quotes are doubled: as specified".to_owned());
            }
            (Some(Escape::None), _) => reasons.push("no escape: as specified".to_owned()),
            (None, Escape::Char(escape)) if quote.is_none() => reasons.push(format!(
                "no quote, escape `{}`: with it, more rows have the same width",
                char::from(escape)
            )),
            (None, Escape::Char(escape)) => reasons.push(format!(
                "escape `{}`: it precedes {n_escapes} quotes within sampled cells",
                char::from(escape)
            )),
            (None, _) => {}
        }
        match blanks {
            Blanks::Kept => {}
            Blanks::AroundQuotes => {
                reasons.push("blanks around quotes are not part of the text".to_owned());
            }
            Blanks::OneBehindDelimiter => {
                reasons.push("a blank follows each delimiter and belongs to it".to_owned());
            }
            Blanks::Aligned => {
                reasons.push("columns are aligned: blanks in a row are one delimiter".to_owned());
            }
        }
        reasons
    }
}

/// Returns what blanks mean, where that affects the position of opening quotes.
fn blanks(windows: &Windows, delimiter: Delimiter, quote: Option<u8>) -> Blanks {
    let (Some(quote), Some(text)) = (quote, delimiter.text()) else { return Blanks::Kept };
    let count = |between: &[u8]| {
        let pattern = [text.as_bytes(), between, &[quote]].concat();
        memmem::find_iter(&windows.head, &pattern).count()
    };
    if text.ends_with(' ') || count(b" ") <= count(b"") {
        Blanks::Kept
    } else {
        Blanks::AroundQuotes
    }
}

/// How well a syntax explains the windows.
#[derive(Debug, Clone, Default)]
struct Score {
    n_records: usize,
    /// The most frequent number of cells, and how many records have it.
    width: usize,
    n_modal: usize,
    /// Whether the first record has that number of cells.
    is_first_modal: bool,
    /// Whether the first record has one fewer.
    is_first_short: bool,
    /// How much the cells look like single values, 0 to 1 on average.
    cells: f64,
    n_cells: usize,
    n_quoted: usize,
    n_empty: usize,
    /// Cells that match some type.
    n_values: usize,
    /// Filled cells after a delimiter, and those of them that begin with a blank.
    n_behind: usize,
    n_blank_led: usize,
    /// Filled cells in every other column.
    n_odd_filled: usize,
    /// Quotes within quoted cells, escaped and unescaped.
    n_escapes: usize,
    n_bare: usize,
    /// Quoted cells with doubled quotes.
    n_doubled: usize,
    /// Unquoted cells that contain quotes.
    n_inner: usize,
    n_unclosed: u64,
}

impl Score {
    fn of(windows: &Windows, syntax: Syntax) -> Self {
        let mut score = Score::default();
        let (mut widths, mut filled_widths): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut sum = 0.0;
        let mut cells = Vec::new();
        for window in std::iter::once(windows.head(syntax)).chain(windows.others(syntax)) {
            let mut tokeniser = Tokeniser::new(window, syntax);
            for _ in 0..RECORDS_MAX {
                if tokeniser.record(&mut cells).is_none() {
                    break;
                }
                widths.push(cells.len());
                let is_filled = |it: &Cell| !it.raw(window).trim_ascii().is_empty();
                filled_widths.push(cells.iter().rposition(is_filled).map_or(0, |it| it + 1));
                for (at, cell) in cells.iter().enumerate() {
                    sum += score.look(at, *cell, window, &syntax);
                }
            }
            score.n_unclosed += tokeniser.n_unclosed();
        }
        let n_first = widths.first().copied();
        let (mut width, mut n_modal) = mode(&mut widths);
        if n_modal * 2 < widths.len() {
            // Programs may omit any number of empty cells at the end of a row.
            let by_filled = mode(&mut filled_widths);
            if n_modal < by_filled.1 && 1 < by_filled.0 {
                (width, n_modal) = by_filled;
            }
        }
        (score.width, score.n_modal) = (width, n_modal);
        score.is_first_modal = n_first == Some(width);
        score.is_first_short = n_first.is_some_and(|it| it + 1 == width);
        score.n_records = widths.len();
        #[expect(clippy::cast_precision_loss, reason = "a count of cells in a few windows")]
        let n_cells = score.n_cells.max(1) as f64;
        score.cells = sum / n_cells;
        score
    }

    /// Counts a cell; returns how much it looks like a single value, 0 to 1.
    fn look(&mut self, column: usize, cell: Cell, window: &[u8], syntax: &Syntax) -> f64 {
        let raw = cell.raw(window);
        let text = raw.trim_ascii();
        self.n_cells += 1;
        self.n_behind += usize::from(0 < column && !text.is_empty());
        self.n_odd_filled += usize::from(column % 2 == 1 && (cell.is_quoted() || !text.is_empty()));
        if cell.is_quoted() {
            self.n_quoted += 1;
            self.n_blank_led += usize::from(0 < column && cell.follows_blank(window));
            self.count_quotes(raw, syntax);
            return 1.0;
        }
        if text.is_empty() {
            self.n_empty += 1;
            return 1.0;
        }
        self.n_inner +=
            usize::from(syntax.quote.is_some_and(|it| memchr::memchr(it, text).is_some()));
        self.n_blank_led += usize::from(0 < column && raw.starts_with(b" "));
        if is_value(text) {
            self.n_values += 1;
            return 1.0;
        }
        text_score(text, syntax)
    }

    fn count_quotes(&mut self, raw: &[u8], syntax: &Syntax) {
        let Some(quote) = syntax.quote else { return };
        match syntax.escape {
            Escape::Char(escape) => {
                for at in memchr::memchr_iter(quote, raw) {
                    let n_before = raw[..at].iter().rev().take_while(|it| **it == escape).count();
                    self.n_escapes += usize::from(n_before % 2 == 1);
                    self.n_bare += usize::from(n_before % 2 == 0);
                }
            }
            Escape::Doubled => {
                let runs = || raw.split(|it| *it != quote);
                self.n_bare += runs().filter(|it| it.len() % 2 == 1).count();
                self.n_doubled += usize::from(runs().any(|it| 1 < it.len()));
            }
            Escape::None => {}
        }
    }

    /// Returns the share of records with the most frequent width, 0 to 1.
    fn evenness(&self) -> f64 {
        ratio(self.n_modal, self.n_records)
    }

    fn value(&self) -> f64 {
        if self.width < 2 {
            return 0.0;
        }
        let modal = self.evenness();
        #[expect(clippy::cast_precision_loss, reason = "a count of cells in a row")]
        let width = self.width as f64;
        // A text column with a comma in every third value is not a table of two columns.
        if modal < 0.4 {
            return 0.0;
        }
        // A header contains the delimiter as well.
        let header = if self.is_first_modal { 1.0 } else { 0.9 };
        modal * self.cells * header * (1.0 - 1.0 / (width * width))
    }
}

/// Returns how much an unquoted text looks like one cell, 0 to 1.
fn text_score(text: &[u8], syntax: &Syntax) -> f64 {
    let is_within = |sign: u8| 1 < text.len() && text[0] == sign && text.ends_with(&[sign]);
    if [b'"', b'\''].into_iter().any(is_within) {
        return 0.7;
    }
    let delimiter = syntax.delimiter.bytes();
    let is_other = |it: &&&str| it.as_bytes() != delimiter && text.contains(&it.as_bytes()[0]);
    let n_others = USUAL_DELIMITERS.iter().filter(is_other).count();
    match n_others {
        0 if delimiter != b":" && has_inner_colon(text) => 0.7,
        0 if text.iter().any(|it| b"\x01\x1e\x1f^~".contains(it)) => 0.6,
        0 => 0.95,
        // In prose, a blank follows a comma.
        1 if text.windows(2).any(|it| it == b", ") => 0.8,
        _ => 0.4,
    }
}

/// Returns whether a colon is between letters or digits, unlike in sentences and addresses.
fn has_inner_colon(text: &[u8]) -> bool {
    text.windows(3)
        .any(|it| it[1] == b':' && it[0].is_ascii_alphanumeric() && it[2].is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::{DialectHints, declared, find, is_json};
    use crate::sniff::Windows;
    use crate::syntax::{Blanks, Escape, QUOTE, Syntax};

    fn found(text: &str) -> Syntax {
        let mut windows = Windows::whole(text.as_bytes());
        find(&mut windows, &DialectHints::default()).0
    }

    #[track_caller]
    fn check_delimiter(text: &str, expected: Option<&str>) {
        assert_eq!(found(text).delimiter.text(), expected, "{text}");
    }

    #[test]
    fn the_delimiter_is_the_one_that_makes_even_rows_of_clean_values() {
        check_delimiter("a,b\n1,2\n", Some(","));
        check_delimiter("a;b\n1,5;2,5\n2,5;3,5\n", Some(";"));
        check_delimiter("a\tb\nx, y\tz\n1\t2\n", Some("\t"));
        check_delimiter("a|b\n1|2\n", Some("|"));
        check_delimiter("\"a;b\",c\n\"d;e\",f\n", Some(","));
        check_delimiter(&format!("name,tags\n{}", "x,a;b;c\n".repeat(9)), Some(","));
        check_delimiter("a;b;c\n1;2;3;;;\n4;5;6;\n7;8;9;;\n", Some(";"));
        check_delimiter("date,note\n2024-01-01,a;b\n2024-01-02,c\n", Some(","));
        check_delimiter("at,n\n2024-01-01 10:30:00,5\n2024-01-01 10:31:00,6\n", Some(","));
    }

    #[test]
    fn a_rarer_delimiter_has_to_win_clearly() {
        check_delimiter("id:x:name\n1:2,5:anna\n2:3,5:bert\n3:4,5:carl\n", Some(":"));
        check_delimiter("id^name\n1^anna\n2^bert\n", Some("^"));
        check_delimiter("id\u{1}name\n1\u{1}anna\n2\u{1}bert\n", Some("\u{1}"));
        check_delimiter("id§name\n1§anna\n2§bert\n", Some("§"));
        check_delimiter("a||b||c\n1||2||3\n4||||6\n", Some("||"));
        check_delimiter("a|b|c\n1||3\n4|5|6\n", Some("|"));
        check_delimiter(&format!("a\tb\tc\n{}", "1\t\t3\n".repeat(30)), Some("\t"));
        for delimiter in [
            "||", "::", ";;", "\t\t", "@@", "$$", "##", "%%", "<>", "~|~", "|~|", "^|^", "~^~",
            "<|>", "|#|",
        ] {
            let rows = [["id", "name"], ["1", "Anna"], ["2", "Bert, jr"], ["3", "c@d.de"]];
            let lines = rows.map(|it| it.join(delimiter) + "\n");
            check_delimiter(&lines.concat(), Some(delimiter));
        }
        check_delimiter("day n x\n2024-01-01 5 a\n2024-01-02 6 \"b c\"\n", Some(" "));
    }

    #[test]
    fn a_file_without_a_delimiter_has_one_column() {
        check_delimiter("name\nanna\nbert\n", None);
        check_delimiter("text\nHello, world\nwell\nyes, no, maybe\nso\n", None);
        check_delimiter("text\nto be or\nnot to be\nthat is the\n", None);
        check_delimiter("time\n10:30:00\n10:31:00\n10:32:00\n", None);
        check_delimiter("at\n2024-01-01 10:30\n2024-01-01 10:31\n2024-01-01 10:32\n", None);
        check_delimiter("price\n1,5\n2,5\n3,5\n", None);
        check_delimiter("day\n12 Jan 2024\n13 Jan 2024\n14 Jan 2024\n", None);
        check_delimiter("url\nhttp://a.de:80/x\nhttp://b.de:80/y\nhttp://c.de:80/z\n", None);
        check_delimiter("one line: of text\n", None);
    }

    #[track_caller]
    fn check_quote(text: &str, quote: Option<u8>, escape: Escape) {
        let found = found(text);
        assert_eq!((found.quote, found.escape), (quote, escape), "{text}");
    }

    #[test]
    fn a_single_quote_quotes_where_cells_begin_and_end_with_it() {
        check_quote("a,b\n1,'x,y'\n2,'z'\n", Some(b'\''), Escape::Doubled);
        check_quote("a,b\n1,it's\n2,'tis\n3,dogs'\n4,o'c\n", Some(QUOTE), Escape::Doubled);
        check_quote("a,b\n1,\"'x'\"\n2,\"'y'\"\n", Some(QUOTE), Escape::Doubled);
    }

    #[test]
    fn a_backslash_escapes_where_it_explains_the_quotes() {
        let backslash = Escape::Char(b'\\');
        check_quote("a,b\n1,\"x \\\"y\\\"\"\n2,\"z\"\n", Some(QUOTE), backslash);
        check_quote("a,b\n1,\"x \\\"y\\\" z\"\n2,\"z\"\n", Some(QUOTE), backslash);
        check_quote("a,b\n\"C:\\\",\"x\"\n\"D:\\\",\"y\"\n", Some(QUOTE), Escape::Doubled);
    }

    #[test]
    fn a_backslash_escapes_where_rows_are_even_with_it_alone() {
        check_quote("1\ta\\\nb\n2\tc\n3\td\n", None, Escape::Char(b'\\'));
        check_quote("1\t\\\nb\n2\t\\\nc\n3\t\\\nd\n4\te\n", None, Escape::Char(b'\\'));
        check_quote("1\tC:\\\n2\tD:\\\n3\td\n", Some(QUOTE), Escape::Doubled);
    }

    #[test]
    fn a_blank_behind_each_delimiter_belongs_to_it() {
        let blanks = |text| found(text).blanks;
        assert_eq!(blanks("a, b\n1, 2\n3, \"x, y\"\n"), Blanks::OneBehindDelimiter);
        assert_eq!(blanks("a,b,c\n1,x, \"x, y\"\n2,y, \"z\"\n"), Blanks::AroundQuotes);
        assert_eq!(blanks("a,b\n1,x\n2, y\n"), Blanks::Kept);
    }

    #[test]
    fn blanks_in_a_row_align_columns() {
        let check = |text: &str, delimiter, blanks| {
            let found = found(text);
            assert_eq!((found.delimiter.text(), found.blanks), (delimiter, blanks), "{text}");
        };
        let people = "name   age   city\nanna   30    Bonn\nbert   41    Ulm\n";
        check(people, Some(" "), Blanks::Aligned);
        let places = "  place     n\n  New York  5\n  Bonn      12\n";
        check(places, Some("  "), Blanks::Aligned);
        check("  1  5\n 12  6\n 13 14\n", Some(" "), Blanks::Aligned);
        check("text\nto be  or\nnot\nthat is  the  end\n", None, Blanks::Kept);
        check("a,b\n1,x  y\n2,u  v\n", Some(","), Blanks::Kept);
    }

    #[test]
    fn json_is_known_by_its_first_document() {
        for text in ["{\"a\": 1}\n{\"a\": 2}\n", "[{\"a\": 1},\n {\"a\": 2}]", "{\"a\": [1, 2"] {
            assert!(is_json(text.as_bytes()), "{text}");
        }
        for text in ["{a},b\n", "[1],2\n", "a,{\"b\": 1}\n", "[x]\n"] {
            assert!(!is_json(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn excel_may_declare_the_delimiter() {
        let declared = |text: &str| {
            declared(text.as_bytes()).map(|it| (it.0.text().unwrap_or_default().to_owned(), it.1))
        };
        assert_eq!(declared("sep=;\r\na;b"), Some((";".to_owned(), 7)));
        assert_eq!(declared("sep=a;b\n"), None);
    }
}
