//! A sheet of terminal cells: text and marks at columns and rows, rendered to coloured lines.

use std::collections::HashSet;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;

use csv_agent_text::direction::{ISOLATE, ISOLATE_END, is_from_right};
use csv_agent_text::fit::{self, cut, safe_line};
use csv_agent_types::limits::CHART_SERIES_MAX;

use crate::theme::Rgb;

/// The colours of series on a terminal with unknown background. They differ from those of the pictures:
/// each contrasts with both black and white.
const SERIES: [Rgb; CHART_SERIES_MAX] = [
    [0x1f, 0x80, 0xc4],
    [0xc6, 0x82, 0x00],
    [0x00, 0x96, 0x6d],
    [0xc4, 0x6b, 0x9d],
    [0xd5, 0x5e, 0x00],
    [0x3d, 0x9b, 0xcf],
    [0x77, 0x66, 0xcc],
    [0x8c, 0x8c, 0x2e],
    [0xb0, 0x44, 0x77],
    [0x7f, 0x7f, 0x7f],
];

/// The colour depth of a terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Depth {
    /// No colour; only text is written.
    #[default]
    Monochrome,
    /// The 256 of xterm.
    Palette,
    /// Any.
    True,
}

/// The style of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Ink {
    /// The terminal's default.
    #[default]
    Plain,
    /// Titles.
    Strong,
    /// Secondary text.
    Faint,
    /// A gridline under an empty cell.
    Ruled,
    Series(usize),
    /// The part of the cell that its character covers belongs to one series, the rest to another.
    Over(usize, usize),
    /// The part of the cell that its character leaves free belongs to a series.
    Rest(usize),
}

impl Ink {
    /// Returns the parameters of the SGR sequence.
    fn sgr(self, depth: Depth) -> String {
        match (self, depth) {
            (Ink::Plain, _) | (_, Depth::Monochrome) => String::new(),
            (Ink::Strong, _) => "1".to_owned(),
            (Ink::Faint, _) => "2".to_owned(),
            (Ink::Ruled, _) => "2;4".to_owned(),
            (Ink::Series(at), _) => colour(3, at, depth),
            (Ink::Over(at, behind), _) => {
                format!("{};{}", colour(3, at, depth), colour(4, behind, depth))
            }
            // The terminal swaps the colour with its background, which is unknown.
            (Ink::Rest(at), _) => format!("{};7", colour(3, at, depth)),
        }
    }
}

fn colour(ground: u8, series: usize, depth: Depth) -> String {
    let [red, green, blue] = SERIES[series % SERIES.len()];
    if depth == Depth::True {
        return format!("{ground}8;2;{red};{green};{blue}");
    }
    format!("{ground}8;5;{}", nearest(SERIES[series % SERIES.len()]))
}

/// Returns the nearest of xterm's colours: 6 × 6 × 6, then 24 greys.
fn nearest([red, green, blue]: Rgb) -> usize {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |it: u8| (0..6).min_by_key(|at| LEVELS[*at].abs_diff(it)).unwrap_or(0);
    if red == green && green == blue {
        return 232 + usize::from(red.saturating_sub(8) / 10).min(23);
    }
    16 + 36 * level(red) + 6 * level(green) + level(blue)
}

#[derive(Debug, Clone, Default)]
struct CharCell {
    /// A character and its combining marks; empty after one that is two cells wide.
    text: String,
    ink: Ink,
}

/// Rows of cells, which grow as they are written, up to the width.
#[derive(Debug, Default)]
pub(super) struct CharGrid {
    /// Columns.
    pub width: usize,
    rows: Vec<Vec<CharCell>>,
}

impl CharGrid {
    /// Creates an empty grid.
    pub(super) fn new(width: usize) -> CharGrid {
        CharGrid { width, rows: Vec::new() }
    }

    /// Returns the number of rows written.
    pub(super) fn height(&self) -> usize {
        self.rows.len()
    }

    /// Writes text from a column on; text beyond the grid is cut.
    pub(super) fn put(&mut self, x: usize, y: usize, text: &str, ink: Ink) {
        let start = x;
        let mut x = x;
        let text = safe_line(text);
        for grapheme in text.graphemes(true) {
            let width = fit::width(grapheme);
            if self.width < x + width {
                break;
            }
            // A zero-width character belongs to the previous one.
            let at = if width == 0 { x.saturating_sub(1) } else { x };
            for taken in x..x + width {
                if let Some(cell) = self.cell(taken, y) {
                    *cell = CharCell { text: String::new(), ink };
                }
            }
            if let Some(cell) = self.cell(at, y) {
                cell.text.push_str(grapheme);
            }
            x += width;
        }
        if start < x && is_from_right(&text) {
            if let Some(cell) = self.cell(start, y) {
                cell.text.insert(0, ISOLATE);
            }
            if let Some(cell) = self.cell(x - 1, y) {
                cell.text.push(ISOLATE_END);
            }
        }
    }

    /// Writes text that ends before a column.
    pub(super) fn put_before(&mut self, end: usize, y: usize, text: &str, ink: Ink) {
        self.put(end.saturating_sub(width(text)), y, text, ink);
    }

    /// Writes one narrow character.
    pub(super) fn set(&mut self, x: usize, y: usize, char: char, ink: Ink) {
        if let Some(cell) = self.cell(x, y) {
            cell.text.clear();
            cell.text.push(char);
            cell.ink = ink;
        }
    }

    fn cell(&mut self, x: usize, y: usize) -> Option<&mut CharCell> {
        if self.width <= x {
            return None;
        }
        let blank = || CharCell { text: " ".to_owned(), ink: Ink::Plain };
        while self.rows.len() <= y {
            self.rows.push(Vec::new());
        }
        let row = &mut self.rows[y];
        while row.len() <= x {
            row.push(blank());
        }
        row.get_mut(x)
    }

    /// Returns the lines, each with a line feed.
    pub(super) fn text(&self, depth: Depth) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let is_ruled = |it: &CharCell| it.ink == Ink::Ruled && depth != Depth::Monochrome;
            let is_blank = |it: &CharCell| it.text == " " && !is_ruled(it);
            let end = row.iter().rposition(|it| !is_blank(it)).map_or(0, |it| it + 1);
            let mut written = String::new();
            for cell in &row[..end] {
                let sgr = if is_blank(cell) { String::new() } else { cell.ink.sgr(depth) };
                if sgr != written {
                    let reset = if written.is_empty() { "" } else { "\x1b[0m" };
                    text.push_str(reset);
                    if !sgr.is_empty() {
                        // Writing to a string cannot fail.
                        let _ = write!(text, "\x1b[{sgr}m");
                    }
                    written = sgr;
                }
                text.push_str(&cell.text);
            }
            text.push_str(if written.is_empty() { "\n" } else { "\x1b[0m\n" });
        }
        text
    }
}

/// Returns the width of a text on a grid, in cells.
pub(crate) fn width(text: &str) -> usize {
    fit::width(&safe_line(text))
}

/// Returns the text, cut with an ellipsis when it is wider than `width_max` cells.
pub(super) fn shorten(text: &str, width_max: usize) -> String {
    cut(text, width_max).into_owned()
}

/// Returns texts no wider than `width_max` cells. Where cutting their ends would make two equal, they
/// are cut in the middle, or their common beginning is shortened.
pub(crate) fn shorten_all(texts: &[String], width_max: usize) -> Vec<String> {
    let count = |all: &[String]| all.iter().collect::<HashSet<_>>().len();
    let n_alike = n_alike(texts, width_max);
    let cuts: [&dyn Fn(&String) -> String; 3] =
        [&|it| shorten(it, width_max), &|it| shorten_middle(it, width_max), &|it| {
            shorten_beginning(it, n_alike, width_max)
        }];
    let all = cuts.into_iter().map(|cut| texts.iter().map(cut).collect::<Vec<_>>());
    // The first variant that keeps most of them distinct.
    all.rev().max_by_key(|it| count(it)).unwrap_or_default()
}

/// Returns the length in bytes of the common beginning of all texts that are too wide, up to the end of
/// a word.
fn n_alike(texts: &[String], width_max: usize) -> usize {
    let mut wide = texts.iter().filter(|it| width_max < width(it));
    let Some(first) = wide.next() else { return 0 };
    let n_alike = wide.fold(first.len(), |n_alike, it| {
        let pairs = first.char_indices().zip(it.chars());
        let other = pairs.take_while(|((at, one), other)| *at < n_alike && one == other).last();
        other.map_or(0, |((at, char), _)| at + char.len_utf8())
    });
    let is_between = |it: &(usize, char)| !it.1.is_alphanumeric();
    let end = first[..n_alike].char_indices().rfind(is_between);
    end.map_or(0, |(at, char)| at + char.len_utf8())
}

/// Shortens the common beginning of a text.
fn shorten_beginning(text: &str, n_alike: usize, width_max: usize) -> String {
    if width(text) <= width_max {
        return text.to_owned();
    }
    let (alike, rest) = text.split_at(n_alike);
    let wanted = width(rest).min(width_max - width_max / 3);
    shorten(alike, width_max - wanted) + &shorten(rest, wanted)
}

fn shorten_middle(text: &str, width_max: usize) -> String {
    if width(text) <= width_max {
        return text.to_owned();
    }
    let n_end = width_max.saturating_sub(1) / 2;
    let mut used = 0;
    let end = text.grapheme_indices(true).rev().take_while(|(_, grapheme)| {
        used += width(grapheme);
        used <= n_end
    });
    let start = end.last().map_or(text.len(), |it| it.0);
    shorten(text, width_max - width(&text[start..])) + &text[start..]
}

/// Returns the text in at most `n_lines` lines no wider than `width_max` cells, broken at spaces; the
/// excess is cut with an ellipsis.
pub(crate) fn wrap(text: &str, width_max: usize, n_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_last = lines.len() == n_lines;
        match lines.last_mut() {
            Some(line) if is_last || width(line) + 1 + width(word) <= width_max => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|it| shorten(it, width_max)).collect()
}

#[cfg(test)]
mod tests {
    use super::{CharGrid, Depth, Ink, SERIES, shorten, shorten_all, width, wrap};

    #[test]
    fn colours_are_written_as_the_terminal_has_them() {
        let mut grid = CharGrid::new(10);
        grid.put(0, 0, "ab", Ink::Plain);
        grid.put(2, 0, "██", Ink::Series(0));
        grid.put(0, 1, "x", Ink::Strong);
        assert_eq!(grid.text(Depth::Monochrome), "ab██\nx\n");
        assert_eq!(grid.text(Depth::Palette), "ab\x1b[38;5;32m██\x1b[0m\n\x1b[1mx\x1b[0m\n");
        let exact = "ab\x1b[38;2;31;128;196m██\x1b[0m\n\x1b[1mx\x1b[0m\n";
        assert_eq!(grid.text(Depth::True), exact);
    }

    #[test]
    fn wide_characters_take_two_cells_and_are_never_halved() {
        let mut grid = CharGrid::new(5);
        grid.put(0, 0, "東京都", Ink::Plain);
        assert_eq!(grid.text(Depth::Monochrome), "東京\n");
        assert_eq!(shorten("東京都", 5), "東京…");
        assert_eq!(shorten("東京都", 4), "東…");
        assert_eq!(wrap("ein zwei drei vier", 8, 2), ["ein zwei", "drei vi…"]);
    }

    #[test]
    fn a_character_of_several_takes_the_cells_that_a_terminal_gives_it() {
        let mut grid = CharGrid::new(8);
        grid.put(0, 0, "👨\u{200d}👩\u{200d}👧e\u{301}", Ink::Plain);
        grid.put(3, 0, "│", Ink::Plain);
        assert_eq!(width("❤\u{fe0f}👍\u{1f3fd}"), 3);
        assert_eq!(grid.text(Depth::Monochrome), "👨\u{200d}👩\u{200d}👧e\u{301}│\n");
    }

    #[test]
    fn labels_that_are_written_from_the_right_do_not_change_places() {
        let mut grid = CharGrid::new(20);
        grid.put(0, 0, "שלום", Ink::Plain);
        grid.put(8, 0, "مرحبا", Ink::Plain);
        let expected = "\u{2068}שלום\u{2069}    \u{2068}مرحبا\u{2069}\n";
        assert_eq!(grid.text(Depth::Monochrome), expected);
    }

    #[test]
    fn texts_are_cut_where_they_do_not_differ() {
        let check = |texts: &[&str], expected: &[&str]| {
            let texts: Vec<_> = texts.iter().map(ToString::to_string).collect();
            assert_eq!(shorten_all(&texts, 20), expected);
        };
        check(&["Anvils and hammers of steel", "Saws"], &["Anvils and hammers…", "Saws"]);
        check(
            &["Department of the Interior, East", "Department of the Interior, West"],
            &["Department…ior, East", "Department…ior, West"],
        );
        check(
            &[
                "Department of affairs number 1 and then some more",
                "Department of affairs number 2 and then some more",
            ],
            &["Depar…1 and then so…", "Depar…2 and then so…"],
        );
    }

    /// Source: WCAG 2.2, "relative luminance" and "contrast ratio"; 3:1 is asked of graphics.
    #[test]
    fn the_colours_stand_out_from_black_and_from_white() {
        let channel = |it: u8| {
            let it = f64::from(it) / 255.0;
            if it <= 0.04045 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) }
        };
        for colour in SERIES {
            let luminance = 0.2126 * channel(colour[0])
                + 0.7152 * channel(colour[1])
                + 0.0722 * channel(colour[2]);
            let (on_black, on_white) = ((luminance + 0.05) / 0.05, 1.05 / (luminance + 0.05));
            assert!(3.0 <= on_black && 3.0 <= on_white, "{colour:?}: {on_black} {on_white}");
        }
    }
}
