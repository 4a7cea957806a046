//! Text with fixed-width columns: `--widths 5,10,3`, columns below a line of dashes, or columns aligned by
//! blanks.
//!
//! Each line is a row; the last column takes the rest of the line. Widths count characters, not bytes,
//! and blanks around a cell are not part of it. Everything else is detected as in any other text.

use std::borrow::Cow;

use memchr::memmem;

use super::Watch;
use super::charset::TextDecoder;
use super::encoding::FoundEncoding;
use super::source::Input;
use super::spool::Spool;
use super::syntax::has_sign;
use crate::refusal::check_cancelled;

/// Writes the lines as rows. Fails when the file cannot be read, or is not text in its encoding.
pub(crate) fn write(
    spool: &mut Spool<'_>,
    input: &Input,
    columns: &FixedColumns,
    found: &FoundEncoding,
    watch: &Watch<'_>,
) -> anyhow::Result<()> {
    let mut decoder = TextDecoder::new(found.charset, true);
    let mut text = Vec::new();
    let mut failure = None;
    let end = input.text_end(found.charset)?;
    input.parts(found.mark_bytes, end, watch.cancelled, &mut |part| {
        // A lossy decoder does not fail.
        let _ = decoder.decode(part, &mut text, false);
        let n_whole = memchr::memrchr(b'\n', &text).map_or(0, |it| it + 1);
        let rest = text.split_off(n_whole);
        let lines = std::mem::replace(&mut text, rest);
        if failure.is_none() {
            failure = rows(spool, &lines, columns, watch).err();
        }
    })?;
    let _ = decoder.decode(&[], &mut text, true);
    match failure {
        Some(error) => Err(error),
        None => rows(spool, &text, columns, watch),
    }
}

fn rows(
    spool: &mut Spool<'_>,
    text: &[u8],
    columns: &FixedColumns,
    watch: &Watch<'_>,
) -> anyhow::Result<()> {
    check_cancelled(watch.cancelled)?;
    for line in String::from_utf8_lossy(text).lines() {
        let is_ruler = columns.ruler.as_deref() == Some(line.trim_end());
        if columns.ruler.is_some() && !is_ruler && !columns.hold(line) {
            // A note such as `(3 rows affected)`.
            spool.field(0, line.trim());
        } else if !line.trim().is_empty() {
            for (column, cell) in cells(line, &columns.widths).into_iter().enumerate() {
                // A single dash may be a value.
                spool.field(column, if is_ruler && cell == "-" { "--" } else { cell });
            }
        }
        spool.end_row()?;
    }
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FixedColumns {
    /// Width of each, in characters, with the blanks behind it.
    pub widths: Vec<usize>,
    /// The line of dashes below the names that shows them, without blanks at its end.
    pub ruler: Option<String>,
}

impl FixedColumns {
    /// Returns whether a line has a blank before each column that it reaches.
    fn hold(&self, line: &str) -> bool {
        let mut chars = line.chars();
        self.widths.split_last().is_none_or(|(_, widths)| {
            widths.iter().all(|it| chars.nth(it - 1).is_none_or(|it| it == ' '))
        })
    }
}

/// Finds the columns of a table with a line of dashes below its names, as programs of databases print
/// it: a run of dashes is as wide as its column.
pub(crate) fn ruled(head: &[u8]) -> Option<FixedColumns> {
    /// It is below the names, and possibly below a preamble.
    const LINES_ABOVE_MAX: usize = 20;
    const STROKES: [&[u8]; 2] = [b"-- --", b"== =="];
    // For nearly every file, this is enough.
    if STROKES.iter().all(|it| memmem::find(head, it).is_none())
        && memmem::find(head, b"- ").is_none()
    {
        return None;
    }
    let text = match str::from_utf8(head) {
        Ok(text) => Cow::Borrowed(text),
        // The head may end within a character.
        Err(error) if error.error_len().is_none() => String::from_utf8_lossy(head),
        // In every other encoding without wide characters, a byte is a character.
        Err(_) => Cow::Owned(head.iter().map(|it| char::from(*it)).collect()),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let is_ruler = |at: &usize| {
        ['-', '='].iter().any(|stroke| {
            lines[*at].contains(*stroke) && lines[*at].chars().all(|it| it == *stroke || it == ' ')
        })
    };
    let at = (1..lines.len().min(LINES_ABOVE_MAX)).find(is_ruler)?;
    let mut starts = Vec::new();
    for (at, (char, before)) in
        lines[at].chars().zip(" ".chars().chain(lines[at].chars())).enumerate()
    {
        if char != ' ' && before == ' ' {
            starts.push(at);
        }
    }
    let n_chars = lines[at].chars().count();
    // Dashes may be values that are missing.
    if starts.len() < 2 || n_chars - starts.len() < 2 + starts[0] {
        return None;
    }
    let ends = starts.iter().skip(1).copied().chain([n_chars]);
    let mut widths: Vec<usize> = starts.iter().zip(ends).map(|(start, end)| end - start).collect();
    widths[0] += starts[0];
    let columns = FixedColumns { widths, ruler: Some(lines[at].to_owned()) };
    let names = cells(lines[at - 1], &columns.widths);
    let are_named = names.len() == starts.len() && names.iter().all(|it| !it.is_empty());
    let mut rows = lines[at + 1..].iter().take_while(|it| !it.is_empty());
    let fit = |it: &&str| columns.hold(it);
    // Several tables have several widths.
    let is_other = |it: usize| is_ruler(&it) && lines[it].contains(' ') && lines[it] != lines[at];
    if (at + 1..lines.len()).any(is_other) {
        return None;
    }
    let is_table = are_named && fit(&lines[at - 1]) && rows.next().is_some_and(fit);
    (is_table && rows.all(fit)).then_some(columns)
}

/// Returns the cells of a line; a short line has fewer.
fn cells<'a>(line: &'a str, widths: &[usize]) -> Vec<&'a str> {
    let mut rest = line;
    let mut cells = Vec::with_capacity(widths.len());
    for (at, width) in widths.iter().enumerate() {
        let is_last = at + 1 == widths.len();
        let n_bytes = rest.char_indices().nth(*width).map_or(rest.len(), |it| it.0);
        let (cell, behind) = rest.split_at(if is_last { rest.len() } else { n_bytes });
        cells.push(cell.trim());
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    cells
}

/// The columns of a text aligned by blanks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Aligned {
    /// Width of each, in characters.
    pub widths: Vec<usize>,
    /// Whether there is no other interpretation: each has one name, with two blanks before it in every
    /// line.
    pub is_safe: bool,
}

/// Finds columns separated by blanks in every line of a text with empty cells: without empty cells,
/// runs of blanks separate the cells. The first line contains the names.
pub(crate) fn aligned(text: &str) -> Option<Aligned> {
    /// Longer lines are prose.
    const LETTERS_MAX: usize = 500;
    const LINES_MIN: usize = 4;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // For nearly every file, the first line is enough.
    if has_sign(text.lines().next()?.as_bytes()) || has_sign(text.as_bytes()) {
        return None;
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
    let n_letters = lines.iter().map(|it| it.chars().count()).max()?;
    let n_gaps = |line: &str| line.split("  ").filter(|it| !it.trim().is_empty()).count();
    let is_even = lines.iter().all(|it| n_gaps(it) == n_gaps(lines[0]));
    if lines.len() < LINES_MIN || LETTERS_MAX < n_letters || is_even {
        return None;
    }
    let mut is_filled = vec![false; n_letters];
    for line in &lines {
        for (filled, char) in is_filled.iter_mut().zip(line.chars()) {
            *filled |= char != ' ';
        }
    }
    // Positions where a character follows blanks common to all lines.
    let before = |at: &usize, n: usize| at.checked_sub(n).is_none_or(|it| !is_filled[it]);
    let starts: Vec<usize> = (0..n_letters).filter(|at| is_filled[*at] && before(at, 1)).collect();
    let ends = starts.iter().skip(1).copied().chain([n_letters]);
    let mut widths: Vec<usize> = starts.iter().zip(ends).map(|(start, end)| end - start).collect();
    let n_before = *starts.first()?;
    *widths.first_mut()? += n_before;
    let names = cells(lines[0], &widths);
    let n_filled = |line: &&&str| cells(line, &widths).iter().filter(|it| !it.is_empty()).count();
    let n_rows = lines.iter().skip(1).filter(|it| 1 < n_filled(it)).count();
    let are_named =
        names.len() == widths.len() && names.iter().all(|it| !it.is_empty() && !it.contains("  "));
    if widths.len() < 2 || !are_named || 2 * n_rows < lines.len() - 1 {
        return None;
    }
    let is_safe = n_gaps(lines[0]) == widths.len() && starts[1..].iter().all(|it| before(it, 2));
    Some(Aligned { widths, is_safe })
}

#[cfg(test)]
mod tests {
    use super::{FixedColumns, aligned, cells, ruled};

    #[test]
    fn a_run_of_dashes_below_a_name_is_as_wide_as_its_column() {
        let check = |text: &str, expected: Option<&[usize]>| {
            let found = ruled(text.as_bytes()).map(|it| it.widths);
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        let names = "id   name       total\n---- ---------- -----\n";
        check(
            &format!("{names}   1 Lee, Anna    1.5\n   2 Bo\n\n(2 rows affected)\n"),
            Some(&[5, 11, 5]),
        );
        check("\n  ID A\n---- -\n   1 x\n", Some(&[5, 1]));
        check("Größe N\n===== ==\n 5    1\n", Some(&[6, 2]));
        // Cells or names that do not fit.
        check(&format!("{names}1 Anna 1.5\n"), None);
        check("a b\n- -\n1 2\n", None);
        check("one name\n-- -----\n1  2\n", None);
        check("Title\n-----\ntext\n", None);
        check("a -- b\n", None);
    }

    #[test]
    fn a_note_below_is_one_cell() {
        let columns = FixedColumns {
            widths: vec![5, 11, 5],
            ruler: Some("---- ---------- -----".to_owned()),
        };
        assert!(columns.hold("   1 Anna B.      1.5"));
        assert!(columns.hold("  12"));
        assert!(!columns.hold("(3 rows affected)"));
    }

    #[test]
    fn blanks_that_all_lines_have_are_between_columns() {
        let check = |text: &str, expected: Option<(&[usize], bool)>| {
            let found = aligned(text).map(|it| (it.widths, it.is_safe));
            assert_eq!(found, expected.map(|it| (it.0.to_vec(), it.1)), "{text}");
        };
        let rows = "Ann     Oslo    30\nZoë Li          31\nCid     Bern\n";
        check(&format!("Name    City   Age\n{rows}"), Some((&[8, 7, 3], true)));
        // One blank may be one within a name.
        let rows = "Ann    Oslo  30\nBob Li       31\nCid    Bern\n";
        check(&format!("Name   City Age\n{rows}"), Some((&[7, 5, 3], false)));
        // No name goes over a gap.
        let rows = "Ann   Oslo   30\nBob Li       31\nCid   Bern\n";
        check(&format!("Name   City  Age\n{rows}"), None);
        // Where no cell is empty, blanks in a row tell them apart.
        check("a  b\n1  2\n3  4\n5  6\n", None);
        check("a,b  c\n1,2\n3,4  x\n5,6\n", None);
        // A decimal comma separates nothing.
        let rows = "Bonn      1     1,50\nUlm Ost         12,25\nKiel      3\n";
        check(&format!("Ort       Zahl  Betrag\n{rows}"), Some((&[10, 6, 6], true)));
        check("so it goes  on\nwithout any column\nas  text does\nto its end\n", None);
        check("a\nb\n", None);
    }

    #[test]
    fn a_line_is_cut_by_letters() {
        assert_eq!(cells("1    Zoë  9,5 more", &[5, 5, 3]), ["1", "Zoë", "9,5 more"]);
        assert_eq!(cells("1    é", &[5, 5, 3]), ["1", "é"]);
        assert_eq!(cells("", &[5, 5]), [""]);
    }
}
