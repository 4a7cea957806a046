//! A reply as a terminal shows it: Markdown in, lines out.
//!
//! Each block at the top of the text is laid out on its own, so that text which is still being written
//! looks the same as text that is whole: what a later block says changes nothing above it. What looks
//! like markup and is none (`5*3*2`, `__init__`, `~5`) stays as it was written, and so do the line
//! breaks of whoever wrote it.

mod block;
mod grid;
mod inline;
pub mod live;

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser};

/// Columns of running text. Longer lines are hard to read, however wide the terminal is.
const TEXT_WIDTH_MAX: usize = 100;

/// How prose meets a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProseStyle {
    /// Cells of a line, at least one.
    pub width: usize,
    /// Whether markup is shown by SGR; it stays as its signs otherwise.
    pub colour: bool,
}

/// Returns the text for a terminal, without a final line feed.
///
/// The text is made safe first; every escape code in what is returned is an SGR of ours. No line is
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

/// Returns the blocks at the top of the text, in order and without gaps. Each begins with a line.
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
    // What comes before the first block is shown with it.
    if let Some(first) = starts.first_mut() {
        *first = 0;
    } else if !markdown.trim().is_empty() {
        starts.push(0);
    }
    starts.dedup();
    let ends = starts.iter().copied().skip(1).chain([markdown.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |it| it + 1)
}

/// Returns whether the line before the one at `start` is blank, but for the bars of a quotation.
fn follows_blank(text: &str, start: usize) -> bool {
    let before = &text[..line_start(text, start)];
    let Some(before) = before.strip_suffix(['\n', '\r']) else { return false };
    let line = &before[line_start(before, before.len())..];
    line.chars().all(|it| it.is_whitespace() || it == '>')
}

#[cfg(test)]
mod tests;
