//! Styled text spans, and how they are broken into lines.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The style of a span: any combination of SGR attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ink(u8);

impl Ink {
    pub(super) const PLAIN: Ink = Ink(0);
    pub(super) const BOLD: Ink = Ink(1);
    pub(super) const DIM: Ink = Ink(2);
    pub(super) const ITALIC: Ink = Ink(4);
    pub(super) const UNDERLINE: Ink = Ink(8);
    pub(super) const STRUCK: Ink = Ink(16);
    pub(super) const CODE: Ink = Ink(32);

    /// Each attribute and its parameter.
    const SGR: [(Ink, &str); 6] = [
        (Ink::BOLD, "1"),
        (Ink::DIM, "2"),
        (Ink::ITALIC, "3"),
        (Ink::UNDERLINE, "4"),
        (Ink::STRUCK, "9"),
        (Ink::CODE, "36"),
    ];

    pub(super) fn and(self, other: Ink) -> Ink {
        Ink(self.0 | other.0)
    }
}

/// Text of one style. A line feed in it is a line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub text: String,
    pub ink: Ink,
}

/// A unit that fills one cell or more and is never broken.
#[derive(Debug, Clone, Copy)]
struct Glyph<'a> {
    text: &'a str,
    ink: Ink,
    width: usize,
}

impl Glyph<'_> {
    fn is_space(&self) -> bool {
        self.text == " "
    }

    /// Returns whether a line may begin here, after `before`.
    fn may_begin(&self, before: &Glyph) -> bool {
        if self.is_space() {
            return false;
        }
        // Chinese and Japanese have no spaces, and closing punctuation stays with what it closes.
        let is_closing = self.text.starts_with([
            '、', '。', '，', '．', '：', '；', '！', '？', '）', '」', '』', '】', '〉', '》',
            '］', '｝', 'ー', '・', '％', '.', ',', ':', ';', '!', '?', ')', ']', '%',
        ]);
        let is_opening =
            before.text.starts_with(['（', '「', '『', '【', '〈', '《', '［', '｛', '(', '[']);
        before.is_space() || ((before.width == 2 || self.width == 2) && !is_closing && !is_opening)
    }
}

/// A line: its text with SGR codes, and its width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StyledLine {
    pub text: String,
    pub width: usize,
}

/// Returns the width of a text in columns.
pub(super) fn width_of(text: &str) -> usize {
    text.width()
}

/// Returns the width of the longest word and of the longest line.
pub(super) fn extent(spans: &[Span]) -> (usize, usize) {
    let text: String = spans.iter().map(|it| it.text.as_str()).collect();
    let word = text.split([' ', '\n']).map(width_of).max().unwrap_or(0);
    (word, text.split('\n').map(width_of).max().unwrap_or(0))
}

/// Returns the spans as lines, broken between words; a word longer than a line is broken at the end of
/// the line. `width` is at least one.
pub(super) fn wrap(spans: &[Span], width: usize, colour: bool) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let mut line: Vec<Glyph> = Vec::new();
    let mut used = 0;
    let mut last_begin = None;
    for glyph in glyphs(spans) {
        if glyph.text == "\n" {
            lines.push(painted(&line, colour));
            line.clear();
            (used, last_begin) = (0, None);
            continue;
        }
        if line.last().is_some_and(|it| glyph.may_begin(it)) {
            last_begin = Some(line.len());
        }
        used += glyph.width;
        line.push(glyph);
        if width < used && !glyph.is_space() && 1 < line.len() {
            // Spaces before the first word remain on the line that ends.
            let at = last_begin.take().unwrap_or(line.len() - 1);
            let rest = line.split_off(at);
            lines.push(painted(&line, colour));
            used = rest.iter().map(|it| it.width).sum();
            line = rest;
        }
    }
    lines.push(painted(&line, colour));
    lines
}

/// Returns a line of code as lines, broken where a line is full: after its last space if that is near.
/// Leading spaces are kept.
pub(super) fn cut(span: &Span, width: usize, colour: bool) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let mut line: Vec<Glyph> = Vec::new();
    let mut used = 0;
    for glyph in glyphs(std::slice::from_ref(span)) {
        used += glyph.width;
        if width < used && !line.is_empty() {
            let last_space = line.iter().rposition(Glyph::is_space).filter(|it| width / 2 < *it);
            let rest = line.split_off(last_space.map_or(line.len(), |it| it + 1));
            lines.push(painted(&line, colour));
            used = rest.iter().map(|it| it.width).sum::<usize>() + glyph.width;
            line = rest;
        }
        line.push(glyph);
    }
    lines.push(painted(&line, colour));
    lines
}

fn glyphs(spans: &[Span]) -> impl Iterator<Item = Glyph<'_>> {
    spans.iter().flat_map(|span| {
        let ink = span.ink;
        span.text.graphemes(true).map(move |text| Glyph { text, ink, width: text.width() })
    })
}

/// Returns glyphs as a line, without trailing spaces.
fn painted(glyphs: &[Glyph], colour: bool) -> StyledLine {
    let n_kept = glyphs.iter().rposition(|it| !it.is_space()).map_or(0, |it| it + 1);
    let mut line = StyledLine::default();
    let mut ink = Ink::PLAIN;
    for glyph in &glyphs[..n_kept] {
        if colour && glyph.ink != ink {
            line.text.push_str(&change(ink, glyph.ink));
            ink = glyph.ink;
        }
        line.text.push_str(glyph.text);
        line.width += glyph.width;
    }
    // Each line is self-contained, so that any one of them can be overwritten.
    line.text.push_str(&change(ink, Ink::PLAIN));
    line
}

/// Returns the codes that change one style to another.
fn change(from: Ink, to: Ink) -> String {
    let mut sgr = String::new();
    if from != Ink::PLAIN && from != to {
        sgr.push_str("\x1b[0m");
    }
    let on = Ink::SGR.iter().filter(|it| to.0 & it.0.0 != 0).map(|it| it.1);
    let on = on.collect::<Vec<_>>().join(";");
    if !on.is_empty() && from != to {
        sgr.extend(["\x1b[", &on, "m"]);
    }
    sgr
}

/// Returns dim text, for what appears next to the text of a reply.
pub(super) fn dimmed(text: &str, colour: bool) -> String {
    if !colour || text.is_empty() {
        return text.to_owned();
    }
    format!("{}{text}{}", change(Ink::PLAIN, Ink::DIM), change(Ink::DIM, Ink::PLAIN))
}
