//! Text that fits a number of cells of a terminal: measured, cut, wrapped.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::sanitize;

/// Returns how many cells of a terminal the text takes.
///
/// What a reader sees as one character is measured as one: an emoji of several is two cells wide.
/// Letters that a font may join (lam and alef) stay apart, as terminals keep them.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns data as one line that is safe to show and takes the same cells on every terminal.
///
/// What terminals do not agree on is left out: whether a character is to be a picture or text, and the
/// skin of an emoji, which some show as a second one beside it.
pub fn safe_line(text: &str) -> String {
    let safe = sanitize::for_terminal(text);
    if safe.bytes().all(|it| matches!(it, b' '..=b'~')) {
        return safe;
    }
    let mut line = String::with_capacity(safe.len());
    for char in safe.chars() {
        match char {
            '\n' => line.push('↵'),
            '\t' => line.push(' '),
            '\u{fe0e}' | '\u{fe0f}' => {}
            '\u{1f3fb}'..='\u{1f3ff}' if !line.ends_with(|it: char| it.is_ascii()) => {}
            other => line.push(other),
        }
    }
    line
}

/// Returns the text, cut to `cells` with an ellipsis.
pub fn cut(text: &str, cells: usize) -> Cow<'_, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    let mut short = head(text, cells.saturating_sub(1)).trim_end_matches(' ').to_owned();
    if 0 < cells {
        short.push('…');
    }
    Cow::Owned(short)
}

/// Returns the beginning of the text that takes at most `cells`.
fn head(text: &str, cells: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        if cells < used {
            return &text[..at];
        }
    }
    text
}

/// Returns the text in at most `lines_max` lines of at most `cells`; what is left is an ellipsis.
///
/// Lines break after spaces, after marks between letters and between wide characters. Only what is
/// longer than a line is broken elsewhere.
pub fn wrap(text: &str, cells: usize, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && lines.len() + 1 < lines_max && cells < width(rest) {
        let mut line = head(rest, cells);
        if line.is_empty() {
            break; // Not even one character fits.
        }
        let end = last_break(rest, line.len());
        if 0 < end {
            line = &rest[..end];
        }
        rest = rest[line.len()..].trim_start_matches(' ');
        lines.push(line.trim_end_matches(' ').to_owned());
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(cut(rest, cells).into_owned());
    }
    lines
}

/// Returns the last place within the first `bytes` of the text, and one space beyond, where a line
/// may end; 0 when there is none.
fn last_break(text: &str, bytes: usize) -> usize {
    pieces(text)
        .map(|(at, _)| at)
        .take_while(|at| text[..*at].trim_end_matches(' ').len() <= bytes)
        .last()
        .unwrap_or(0)
}

/// Returns the pieces that stay whole, each with where it ends.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let mut rest = text.grapheme_indices(true).peekable();
    std::iter::from_fn(move || {
        while let Some((at, grapheme)) = rest.next() {
            let end = at + grapheme.len();
            let next = rest.peek().map(|it| it.1);
            if next.is_none_or(|next| may_break(text[start..end].trim_start(), grapheme, next)) {
                let piece = &text[start..end];
                start = end;
                return Some((end, piece));
            }
        }
        None
    })
}

fn may_break(piece: &str, grapheme: &str, next: &str) -> bool {
    let is_wide = |it: &str| it.width() == 2 && it.chars().all(char::is_alphanumeric);
    let is_letter = |it: &str| it.chars().next().is_some_and(char::is_alphabetic);
    match grapheme {
        " " => next != " ",
        // A number, a date or an exponent stays whole, and so does a sign with what follows it.
        "_" | "-" | "/" | "." | "," | ";" | ":" | "&" | "?" | "=" | "|" => {
            is_letter(next) && 1 < piece.len()
        }
        _ => is_wide(next) || is_wide(grapheme) && is_letter(next),
    }
}

/// Returns the cells of the longest piece that is not to be broken.
pub fn longest_piece(text: &str) -> usize {
    pieces(text).map(|(_, piece)| width(piece.trim_end_matches(' '))).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::{cut, safe_line, width, wrap};
    use csv_agent_testing::cases;

    #[track_caller]
    fn check_wrap(text: &str, cells: usize, lines: &[&str]) {
        assert_eq!(wrap(text, cells, 3), lines);
    }

    #[test]
    fn a_character_of_several_is_measured_as_one() {
        for (text, cells) in [
            ("plain", 5),
            ("東京", 4),
            ("e\u{301}", 1),
            ("👨\u{200d}👩\u{200d}👧", 2),
            ("🇩🇪", 2),
            ("السلام", 6),
            ("각", 2),
        ] {
            assert_eq!(width(text), cells, "{text}");
        }
    }

    #[test]
    fn presentation_is_left_to_the_terminal_and_lines_stay_one() {
        assert_eq!(safe_line("❤\u{fe0f} a\nb\tc\x1b"), "❤ a↵b c\\x1b");
        assert_eq!(safe_line("👍\u{1f3fd} a\u{1f3fd}"), "👍 a\u{1f3fd}");
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(cut("東京タワー", 6), "東京…");
        assert_eq!(cut("ab👩\u{200d}🔬", 3), "ab…");
        assert_eq!(cut("one two", 5), "one…");
    }

    #[test]
    fn lines_break_between_words_and_never_inside_of_numbers() {
        check_wrap("the quick brown fox", 10, &["the quick", "brown fox"]);
        check_wrap("Miles_per_Gallon", 8, &["Miles_", "per_", "Gallon"]);
        check_wrap("on 2024-02-29 at 1,234.5", 12, &["on", "2024-02-29", "at 1,234.5"]);
        check_wrap("東京タワー", 4, &["東京", "タワ", "ー"]);
        check_wrap("one two three four five", 5, &["one", "two", "thre…"]);
        check_wrap("", 5, &[""]);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn no_line_is_wider_than_it_may_be(text in any::<String>(), cells in 2_usize..30) {
            let text = safe_line(&text);
            let lines = wrap(&text, cells, 3);
            prop_assert!(lines.iter().all(|it| width(it) <= cells), "{lines:?}");
            prop_assert!((1..=3).contains(&lines.len()));
            let squeezed = |it: &str| it.replace(' ', "");
            let joined = squeezed(&lines.concat());
            let kept = joined.strip_suffix('…').unwrap_or(&joined);
            prop_assert!(squeezed(&text).starts_with(kept));
        }
    }
}
