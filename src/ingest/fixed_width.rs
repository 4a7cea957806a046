//! Text with fixed-width columns: `--widths 5,10,3`, or columns aligned by blanks.
//!
//! Each line is a row; the last column takes the rest of the line. Widths count characters, not bytes,
//! and blanks around a cell are not part of it. Everything else is detected as in any other text.

use super::Watch;
use super::charset::TextDecoder;
use super::encoding::FoundEncoding;
use super::source::Input;
use super::spool::Spool;
use crate::refusal::check_cancelled;

/// Writes the lines as rows.
///
/// # Errors
///
/// Fails when the file cannot be read, or is not text in its encoding.
pub(crate) fn write(
    spool: &mut Spool<'_>,
    input: &Input,
    widths: &[usize],
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
            failure = rows(spool, &lines, widths, watch).err();
        }
    })?;
    let _ = decoder.decode(&[], &mut text, true);
    match failure {
        Some(error) => Err(error),
        None => rows(spool, &text, widths, watch),
    }
}

fn rows(
    spool: &mut Spool<'_>,
    text: &[u8],
    widths: &[usize],
    watch: &Watch<'_>,
) -> anyhow::Result<()> {
    check_cancelled(watch.cancelled)?;
    for line in String::from_utf8_lossy(text).lines() {
        for (column, cell) in cells(line, widths).into_iter().enumerate() {
            if !line.trim().is_empty() {
                spool.field(column, cell);
            }
        }
        spool.end_row()?;
    }
    Ok(())
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
    let is_sign = |it: char| matches!(it, ',' | ';' | '\t' | '|' | '"');
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // For nearly every file, the first line is enough.
    if text.lines().next()?.contains(is_sign) || text.contains(is_sign) {
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
    use super::{aligned, cells};

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
