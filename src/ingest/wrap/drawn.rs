//! Tables drawn for people: `| a | b |` between rulings, as printed by psql, `MySQL`, Markdown and
//! others.
//!
//! Pure. The evidence is a ruling below the names with as many parts as there are names. Bars at the
//! ends of a line and blanks around cells are layout; [`Rules`] recognises the rulings once the rows
//! are read.

use memchr::memmem;

use super::LINES;
use crate::dialect::DialectHints;
use crate::records::Tokeniser;
use crate::sniff::Windows;
use crate::syntax::{Delimiter, Escape, Syntax};

/// How rows are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableFrame {
    /// The bar between cells; all bars are converted to this one.
    bar: Bar,
    /// Whether there are also bars at both ends of a line.
    is_boxed: bool,
}

/// The characters of bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bar {
    /// `|`, or in Markdown with `|` in the ruling as well: there it may be escaped.
    Pipe { is_markdown: bool },
    /// `│`, `┃`, `║`
    Box,
}

/// Which lines of a drawn table are not rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Lines in the form that [`TableFrame::strip`] leaves.
    exact: Vec<Vec<u8>>,
    /// Whether rulings can be recognised by their characters: they have no bars.
    are_made_alike: bool,
    /// Whether the ruling is a record among others, and nothing else is drawn.
    is_record: bool,
    /// Whether rulings are only dashes.
    are_dashes: bool,
}

impl Rules {
    /// Treats a record as a ruling, if each of its cells consists only of strokes.
    pub(crate) fn of_row(record: &[u8], cells: &[String]) -> Option<Rules> {
        let is_part = |it: &String| {
            let it = it.trim();
            2 <= it.len() && ['-', '='].iter().any(|stroke| it.chars().all(|it| it == *stroke))
        };
        let is_rule = 2 <= cells.len() && cells.iter().all(is_part);
        let exact = vec![record.to_vec()];
        is_rule.then(|| Rules { exact, is_record: true, ..Rules::default() })
    }

    /// Returns whether the ruling is a record among others, and nothing else is drawn.
    pub(crate) fn is_record(&self) -> bool {
        self.is_record
    }

    /// Returns whether a record is a line of the drawing.
    pub(crate) fn hold(&self, record: &[u8]) -> bool {
        self.exact.iter().any(|it| it == record)
            || (self.are_made_alike && Rule::of(record).is_some_and(|it| it.joint != Joint::Pipe))
            || (self.are_dashes && are_dashes(record))
    }
}

/// Lines to examine; more would not change the result.
const LINES_MAX: usize = 1_000;

impl TableFrame {
    /// Returns how a table is drawn, how its records are split into cells once the drawing is removed,
    /// which of its lines are not rows, and why.
    pub(crate) fn find(
        windows: &Windows,
        told: &DialectHints,
    ) -> Option<(TableFrame, Syntax, Rules, String)> {
        let head = &windows.head;
        let has_rule = ["--", "==", "─", "━", "═"]
            .iter()
            .any(|it| memmem::find(head, it.as_bytes()).is_some());
        if !has_rule || told.quote.is_some() || told.escape.is_some() {
            return None;
        }
        let lines = lines_of(windows.head(LINES));
        let (at, rule, drawn) = (1..lines.len()).find_map(|at| {
            let rule = Rule::of(lines[at]).or_else(|| Rule::of_dashes(lines[at], lines[at - 1]));
            let rule = rule.filter(|it| 2 <= it.width)?;
            let drawn = TableFrame { bar: rule.joint.bar(), is_boxed: rule.is_boxed };
            let is_below_names = drawn.cells(lines[at - 1]).len() == rule.width;
            (is_below_names && Rule::of(lines[at - 1]).is_none()).then_some((at, rule, drawn))
        })?;
        let bar = drawn.bar;
        let has_bar = |it: &&&[u8]| !bar.cells(it).1.is_empty() && Rule::of(it).is_none();
        let n_lines = lines.iter().filter(|it| Rule::of(it).is_none() && !are_dashes(it)).count();
        let rows: Vec<Vec<&[u8]>> =
            lines.iter().filter(has_bar).map(|it| drawn.cells(it)).collect();
        let n_even = rows.iter().filter(|it| it.len() == rule.width).count();
        let delimiter = Delimiter::new(bar.text())?;
        let is_table = rows.len() * 19 <= n_even * 20
            && n_lines <= 2 * rows.len()
            && told.delimiter.is_none_or(|it| it == delimiter);
        if !is_table {
            return None;
        }
        let are_dashes = rule.joint == Joint::None;
        let are_made_alike = rule.joint != Joint::Pipe;
        let mut rules = Rules { are_made_alike, are_dashes, ..Rules::default() };
        if rule.joint == Joint::Pipe {
            rules.exact.push(drawn.stripped(lines[at])?);
        }
        // `DuckDB` prints the types between the names and the rule.
        if 2 <= at
            && bar == Bar::Box
            && are_types(&drawn.cells(lines[at - 1]))
            && drawn.cells(lines[at - 2]).len() == rule.width
        {
            rules.exact.push(drawn.stripped(lines[at - 1])?);
        }
        let is_escaped =
            bar == (Bar::Pipe { is_markdown: true }) && memmem::find(head, b"\\|").is_some();
        let escape = if is_escaped { Escape::Char(b'\\') } else { Escape::None };
        let mut syntax = Syntax { quote: None, escape, ..Syntax::usual(delimiter) };
        let is_aligned = [b" |", b"| "].iter().any(|it| memmem::find(head, &it[..]).is_some());
        if !rule.is_boxed && !is_escaped && are_quoted(&rows, is_aligned) {
            syntax = Syntax::usual(delimiter);
        }
        let (n, width) = (rows.len(), rule.width);
        let reason = format!(
            "a drawn table: a border line is below the names, and {n_even} of {n} sampled rows have \
             {width} cells between `{}`; outer bars and blanks around cells are not part of the text",
            bar.text()
        );
        Some((drawn, syntax, rules, reason))
    }

    /// Appends lines without the drawing around their cells.
    pub(crate) fn strip(self, text: &[u8], stripped: &mut Vec<u8>) {
        let mut tokeniser = Tokeniser::new(text, LINES);
        let mut cells = Vec::new();
        let mut at = 0;
        while let Some((start, end)) = tokeniser.record(&mut cells) {
            if let Some(line) = self.stripped(&text[start..end]) {
                stripped.extend_from_slice(&text[at..start]);
                stripped.extend_from_slice(&line);
                at = end;
            }
        }
        stripped.extend_from_slice(&text[at..]);
    }

    /// Returns a line without the drawing around its cells, if there is any.
    fn stripped(self, line: &[u8]) -> Option<Vec<u8>> {
        let cells = self.cells(line);
        let is_drawn = 1 < cells.len() || cells.first().is_some_and(|it| it.len() < line.len());
        is_drawn.then(|| cells.join(self.bar.text().as_bytes()))
    }

    /// Returns the cells of a line; the line itself where it has no bars.
    fn cells(self, line: &[u8]) -> Vec<&[u8]> {
        let (first, mut cells) = self.bar.cells(line);
        if !self.is_boxed {
            cells.insert(0, first);
            return if cells.len() == 1 { vec![line] } else { cells };
        }
        let is_closed = first.is_empty() && cells.last().is_some_and(|it| it.is_empty());
        if !is_closed || cells.len() < 2 {
            return vec![line];
        }
        cells.pop();
        cells
    }
}

impl Bar {
    fn text(self) -> &'static str {
        match self {
            Bar::Pipe { .. } => "|",
            Bar::Box => "│",
        }
    }

    /// Returns the text before the first bar, and after each bar, trimmed.
    fn cells(self, line: &[u8]) -> (&[u8], Vec<&[u8]>) {
        let mut rest = line.trim_ascii();
        let mut parts = Vec::new();
        while let Some((at, n_bar)) = self.position(rest) {
            parts.push(rest[..at].trim_ascii());
            rest = rest[at + n_bar..].trim_ascii();
        }
        parts.push(rest);
        (parts[0], parts.split_off(1))
    }

    /// Returns the position of the first bar, and its length.
    fn position(self, text: &[u8]) -> Option<(usize, usize)> {
        match self {
            Bar::Box => {
                let bars = ["│", "┃", "║"].iter();
                bars.filter_map(|it| memmem::find(text, it.as_bytes())).min().map(|it| (it, 3))
            }
            Bar::Pipe { is_markdown } => {
                let n_escapes =
                    |at: usize| text[..at].iter().rev().take_while(|it| **it == b'\\').count();
                let is_bar = |at: &usize| !is_markdown || n_escapes(*at).is_multiple_of(2);
                memchr::memchr_iter(b'|', text).find(is_bar).map(|it| (it, 1))
            }
        }
    }
}

/// The characters that join the parts of a ruling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// The ruling is only dashes.
    None,
    Plus,
    Pipe,
    Box,
}

impl Joint {
    /// Returns the corresponding bars.
    fn bar(self) -> Bar {
        match self {
            Joint::None | Joint::Plus => Bar::Pipe { is_markdown: false },
            Joint::Pipe => Bar::Pipe { is_markdown: true },
            Joint::Box => Bar::Box,
        }
    }
}

struct Rule {
    /// Parts between joints.
    width: usize,
    joint: Joint,
    /// Whether there are joints at both ends.
    is_boxed: bool,
}

impl Rule {
    /// Parses a line as a ruling, if it consists only of strokes and joints of one kind.
    fn of(line: &[u8]) -> Option<Rule> {
        let line = std::str::from_utf8(line).ok()?.trim();
        let joint = line.chars().find_map(|it| match it {
            '+' => Some(Joint::Plus),
            '|' => Some(Joint::Pipe),
            _ if is_box_joint(it) => Some(Joint::Box),
            _ => None,
        })?;
        let is_joint = |it: char| match joint {
            Joint::None => false,
            Joint::Plus => it == '+',
            Joint::Pipe => it == '|',
            Joint::Box => is_box_joint(it),
        };
        let mut parts: Vec<&str> = line.split(is_joint).collect();
        let is_boxed = 2 < parts.len() && parts[0].is_empty() && parts[parts.len() - 1].is_empty();
        if is_boxed {
            parts.pop();
            parts.remove(0);
        }
        let is_part = |it: &&str| match joint {
            Joint::None => false,
            Joint::Plus => {
                2 <= it.len()
                    && (it.bytes().all(|it| it == b'-') || it.bytes().all(|it| it == b'='))
            }
            // A row of `-` may be a row of missing values.
            Joint::Pipe => is_markdown_part(it.trim()),
            Joint::Box => !it.is_empty() && it.chars().all(is_box_stroke),
        };
        parts.iter().all(is_part).then_some(Rule { width: parts.len(), joint, is_boxed })
    }

    /// Parses a line of dashes, as `SAP` draws it, below names between bars: both have the same length.
    fn of_dashes(line: &[u8], names: &[u8]) -> Option<Rule> {
        /// The widths of letters differ.
        const LETTERS_MORE_MAX: usize = 2;
        let names = std::str::from_utf8(names).ok()?.trim();
        let n_bars = names.matches('|').count();
        let is_boxed = 2 <= n_bars && names.starts_with('|') && names.ends_with('|');
        let n_more = line.trim_ascii().len().abs_diff(names.chars().count());
        let is_rule = is_boxed && are_dashes(line) && n_more <= LETTERS_MORE_MAX;
        is_rule.then(|| Rule { width: n_bars - 1, joint: Joint::None, is_boxed: true })
    }
}

/// Returns whether cells are quoted: none has quotes anywhere else, and some contain doubled quotes, or the cells are
/// not aligned as people want them.
fn are_quoted(rows: &[Vec<&[u8]>], is_aligned: bool) -> bool {
    let cells = || rows.iter().flatten().filter(|it| it.contains(&b'"'));
    let inner = |it: &[u8]| it.strip_prefix(b"\"")?.strip_suffix(b"\"").map(<[u8]>::to_vec);
    let doubled = |it: &[u8]| {
        let inner = inner(it)?;
        let n_pairs = memmem::find_iter(&inner, b"\"\"").count();
        (memchr::memchr_iter(b'"', &inner).count() == 2 * n_pairs).then_some(n_pairs)
    };
    let found: Option<Vec<usize>> = cells().map(|it| doubled(it)).collect();
    found.is_some_and(|it| !is_aligned && !it.is_empty() || it.iter().any(|n_pairs| 0 < *n_pairs))
}

/// Returns whether a line is only dashes.
fn are_dashes(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    3 <= line.len() && line.iter().all(|it| *it == b'-')
}

/// `---`, `:--`, `--:`, `:-:`
fn is_markdown_part(part: &str) -> bool {
    let strokes = part.strip_prefix(':').unwrap_or(part);
    let strokes = strokes.strip_suffix(':').unwrap_or(strokes);
    3 <= part.len() && !strokes.is_empty() && strokes.bytes().all(|it| it == b'-')
}

/// A horizontal stroke of Unicode's "Box Drawing" block.
fn is_box_stroke(it: char) -> bool {
    matches!(it, '─' | '━' | '┄' | '┅' | '┈' | '┉' | '╌' | '╍' | '═')
}

/// Any other character of that block except vertical strokes.
fn is_box_joint(it: char) -> bool {
    let is_bar = matches!(it, '│' | '┃' | '┆' | '┇' | '┊' | '┋' | '╎' | '╏' | '║');
    ('\u{2500}'..='\u{257f}').contains(&it) && !is_bar && !is_box_stroke(it)
}

/// Returns whether cells are type names, as `DuckDB` prints them below the column names.
fn are_types(cells: &[&[u8]]) -> bool {
    const TYPES: [&str; 24] = [
        "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger",
        "ubigint", "int8", "int16", "int32", "int64", "int128", "uint8", "uint16", "uint32",
        "uint64", "float", "double", "varchar", "boolean", "date", "time",
    ];
    const BEGINNINGS: [&str; 4] = ["decimal(", "timestamp", "interval", "enum("];
    cells.iter().all(|cell| {
        TYPES.iter().any(|it| cell.eq_ignore_ascii_case(it.as_bytes()))
            || BEGINNINGS.iter().any(|it| cell.starts_with(it.as_bytes()))
    })
}

/// Returns the non-blank lines.
fn lines_of(head: &[u8]) -> Vec<&[u8]> {
    let mut tokeniser = Tokeniser::new(head, LINES);
    let (mut cells, mut lines) = (Vec::new(), Vec::new());
    while lines.len() < LINES_MAX
        && let Some((start, end)) = tokeniser.record(&mut cells)
    {
        if !head[start..end].trim_ascii().is_empty() {
            lines.push(&head[start..end]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::TableFrame;
    use crate::dialect::DialectHints;
    use crate::sniff::Windows;

    /// Compares what is left of the rows of a text; `None` where no table is drawn.
    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let windows = Windows::whole(text.as_bytes());
        let found =
            TableFrame::find(&windows, &DialectHints::default()).map(|(it, _, rules, _)| {
                let mut stripped = Vec::new();
                it.strip(text.as_bytes(), &mut stripped);
                let rows = stripped.split(|it| *it == b'\n').filter(|it| !rules.hold(it));
                String::from_utf8(rows.collect::<Vec<_>>().join(&b'\n')).unwrap()
            });
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn rule_lines_outer_bars_and_padding_are_no_cells() {
        let psql = " id | name \n----+------\n  1 | a\n  2 | \n(2 rows)\n";
        check(psql, Some("id|name\n1|a\n2|\n(2 rows)\n"));
        let mysql = "+----+------+\n| id | name |\n+----+------+\n|  1 | \"a\" |\n|  2 | b    |\n+----+------+\n";
        check(mysql, Some("id|name\n1|\"a\"\n2|b\n"));
        let markdown = "| id | name |\n|---:|:-----|\n| 1 | a \\| b |\n| -- | -- |\n";
        check(markdown, Some("id|name\n1|a \\| b\n--|--\n"));
        check("id | name\n---|---\n1 | a\n", Some("id|name\n1|a\n"));
    }

    #[test]
    fn a_line_of_dashes_as_long_as_the_names_is_a_rule() {
        let names = "|Mat |   N|\n";
        let dashes = format!("{}\n", "-".repeat(names.len() - 1));
        let rows = "|0012|   1|\n|0013|   2|\n";
        let kept = "Mat|N\n0012|1\n0013|2\n";
        check(&format!("{names}{dashes}{rows}"), Some(kept));
        check(&format!("{dashes}{names}{dashes}{rows}{dashes}"), Some(kept));
        check(&format!("{names}---\n{rows}"), None);
    }

    #[test]
    fn box_drawing_characters_draw_tables_too() {
        let duckdb = "┌───────┬─────────┐\n│  id   │  name   │\n│ int32 │ varchar │\n├───────┼─────────┤\n│     1 │ a       │\n└───────┴─────────┘\n";
        check(duckdb, Some("id│name\n1│a\n"));
        let rich = "┏━━━━┳━━━━┓\n┃ id ┃ n  ┃\n┡━━━━╇━━━━┩\n│ 1  │ 2  │\n└────┴────┘\n";
        check(rich, Some("id│n\n1│2\n"));
    }

    #[test]
    fn a_row_of_strokes_is_no_rule() {
        check("a|b|c\n-|-|-\n1|2|3\n", None);
        check("a|b|c\n1|2|3\n--|--|--\n", None);
        check("a,b\n--+--,1\n", None);
        check("name\n----+----\nx\ny\n", None);
        check("one | two\nthree\n---|---\nfour\nfive\nsix\n", None);
    }
}
