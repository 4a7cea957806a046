//! Text whose columns have widths: `--widths 5,10,3`.
//!
//! Each line is a row; the last column takes what is left of it. Widths count letters, not bytes, and blanks around
//! a cell are no part of it. Everything else is found out as in any other text.

use super::Watch;
use super::charset::TextDecoder;
use super::encoding::Found;
use super::source::{Input, check_cancelled};
use super::spool::Spool;

/// Writes the lines as rows.
///
/// # Errors
///
/// Fails when the file cannot be read, or is no text of its encoding.
pub fn write(
    spool: &mut Spool<'_>,
    input: &Input,
    widths: &[usize],
    found: &Found,
    watch: &Watch<'_>,
) -> anyhow::Result<()> {
    let mut decoder = TextDecoder::new(found.charset, true);
    let mut text = Vec::new();
    let mut failure = None;
    let end = input.text_end(found.charset)?;
    input.parts(found.mark_bytes, end, watch.cancelled, &mut |part| {
        // Nothing is malformed where U+FFFD stands for it.
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

/// Returns the cells of a line, of which one that is too short has fewer.
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

#[cfg(test)]
mod tests {
    use super::cells;

    #[test]
    fn a_line_is_cut_by_letters() {
        assert_eq!(cells("1    Zoë  9,5 more", &[5, 5, 3]), ["1", "Zoë", "9,5 more"]);
        assert_eq!(cells("1    é", &[5, 5, 3]), ["1", "é"]);
        assert_eq!(cells("", &[5, 5]), [""]);
    }
}
