//! A reply as a terminal shows it: Markdown in, lines out.
//!
//! Each top-level block is laid out independently, so that text still being written looks the same as
//! complete text: a later block changes nothing above it. Text that only resembles markup (`5*3*2`,
//! `__init__`, `~5`) is kept as written, and so are the author's line breaks.

mod block;
mod grid;
mod inline;
pub mod live;

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser};

/// Columns of running text. Longer lines are hard to read, however wide the terminal is.
const TEXT_WIDTH_MAX: usize = 100;

/// How prose is formatted for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProseStyle {
    /// Cells of a line, at least one.
    pub width: usize,
    /// Whether markup is shown by SGR; otherwise its delimiters are kept.
    pub colour: bool,
}

/// Returns the text for a terminal, without a final line feed.
///
/// The text is made safe first; every escape code in the result is an SGR code of ours. No line is
/// wider than the style allows, unless a single character is.
pub fn text(markdown: &str, style: &ProseStyle) -> String {
    let mut lines: Vec<String> = Vec::new();
    for block in blocks(markdown) {
        let shown = block::lines(&markdown[block.clone()], style).lines;
        let is_apart =
            !lines.is_empty() && !shown.is_empty() && follows_blank(markdown, block.start);
        lines.extend(is_apart.then(String::new));
        lines.extend(shown);
    }
    lines.join("\n")
}

/// Returns the top-level blocks of the text, in order and without gaps. Each begins with a line.
fn blocks(markdown: &str) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(markdown, options()).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            starts.push(line_start(markdown, range.start));
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    // Text before the first block is shown with it.
    if let Some(first) = starts.first_mut() {
        *first = 0;
    } else if !markdown.trim().is_empty() {
        starts.push(0);
    }
    starts.dedup();
    let ends = starts.iter().copied().skip(1).chain([markdown.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Returns the Markdown extensions enabled here, beyond `CommonMark`.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH
}

/// Returns the delimiters that emphasis begins with, and whether they mean emphasis: `5*3*2` is a
/// product, and `__init__` a name.
pub(super) fn signs<'a>(source: &'a str, range: &Range<usize>, n_signs: usize) -> (&'a str, bool) {
    let written = &source[range.clone()];
    let sign = written.chars().next().unwrap_or('*');
    let n_written = written.chars().take_while(|it| *it == sign).count().min(n_signs);
    let signs = written.get(..n_written * sign.len_utf8()).unwrap_or_default();
    if n_written < n_signs {
        return (signs, false);
    }
    let before = source[..range.start].chars().next_back();
    let after = source[range.end..].chars().next();
    let inside = source.get(range.start + n_signs..range.end - n_signs).unwrap_or_default();
    let is_letter = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    let is_meant = match sign {
        '_' => !inside.chars().all(|it| it == '_' || it.is_ascii_alphanumeric()),
        '*' => !(is_letter(before) || (n_signs == 1 && is_letter(after))),
        _ => true,
    };
    (signs, is_meant)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |it| it + 1)
}

/// Returns whether the line before the one at `start` is blank, ignoring block quote markers.
fn follows_blank(text: &str, start: usize) -> bool {
    let before = &text[..line_start(text, start)];
    let Some(before) = before.strip_suffix(['\n', '\r']) else { return false };
    let line = &before[line_start(before, before.len())..];
    line.chars().all(|it| it.is_whitespace() || it == '>')
}

#[cfg(test)]
mod tests;
