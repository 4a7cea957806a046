//! One block of Markdown as lines: paragraphs, headings, lists, block quotes, code, tables.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Parser, Tag, TagEnd};

use csv_agent_text::sanitize;

use super::grid::{self, MarkdownTable};
use super::inline::{Ink, Span, StyledLine, cut, dimmed, width_of, wrap};
use super::{ProseStyle, TEXT_WIDTH_MAX, follows_blank, options, signs};
use crate::links;

/// Indentation of code relative to the text.
const CODE_INDENT: &str = "  ";
/// Cells between two tab stops in code.
const TAB_WIDTH: usize = 4;

/// A block as a terminal shows it.
#[derive(Debug, Default)]
pub(super) struct ShownBlock {
    /// Without line feeds.
    pub lines: Vec<String>,
    /// Lines from the top that no later text can change.
    pub n_settled: usize,
}

pub(super) fn lines(markdown: &str, style: &ProseStyle) -> ShownBlock {
    let source = sanitize::for_terminal(markdown);
    let mut painter = Painter::new(&source, style);
    let mut depth = 0_usize;
    let mut end = 0;
    for (event, range) in Parser::new_ext(&source, options()).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            painter.leftover(end..range.start);
            end = range.end;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        painter.take(event, &range, depth);
    }
    painter.leftover(end..source.len());
    painter.shown
}

/// What precedes the text on a line.
#[derive(Debug)]
enum Margin {
    /// A block quote.
    Bar,
    /// A list item: its marker on the first line and spaces of the same width on the others.
    Item { marker: Option<String>, width: usize },
}

impl Margin {
    fn width(&self) -> usize {
        match self {
            Margin::Bar => 2,
            Margin::Item { width, .. } => *width,
        }
    }
}

/// An open list, with the numbers of its items.
#[derive(Debug)]
struct List {
    is_ordered: bool,
    /// The previous item's number: as written, and as shown.
    last: Option<(u64, u64)>,
}

/// An open span of markup.
#[derive(Debug)]
enum OpenSpan {
    /// Shown by style alone.
    Inked,
    /// Shown by its own delimiters.
    Signs(String),
    /// A link: the index in the spans where its text begins, and its target.
    Link { at: usize, target: Option<String> },
    /// A picture: the index where its text begins.
    Image { at: usize, target: String },
}

/// An open code block.
#[derive(Debug)]
struct Code {
    text: String,
    /// Whether it is a fenced block at the top level.
    is_at_top: bool,
}

#[derive(Default)]
struct Painter<'a> {
    source: &'a str,
    colour: bool,
    /// Cells of a line, and of a line of running text.
    width: usize,
    text_width: usize,
    margins: Vec<Margin>,
    /// Number of blocks nested too deep to have a margin.
    n_flat: usize,
    lists: Vec<List>,
    /// Text held until its block ends.
    spans: Vec<Span>,
    inks: Vec<Ink>,
    marks: Vec<OpenSpan>,
    code: Option<Code>,
    grid: Option<MarkdownTable>,
    /// End of the last cell of the grid in the source.
    cell_end: usize,
    /// Position in the source where a blank line was last considered.
    gap_at: Option<usize>,
    shown: ShownBlock,
}

impl<'a> Painter<'a> {
    fn new(source: &'a str, style: &ProseStyle) -> Painter<'a> {
        let width = style.width.max(1);
        Painter {
            source,
            colour: style.colour,
            width,
            text_width: width.min(TEXT_WIDTH_MAX),
            ..Painter::default()
        }
    }

    fn take(&mut self, event: Event, range: &Range<usize>, depth: usize) {
        match event {
            Event::Start(tag) => self.start(tag, range, depth),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => self.inline_code(&text, range),
            Event::Html(text) => self.html(&text),
            Event::InlineHtml(text) if is_break(&text) => self.line_break(),
            Event::InlineHtml(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::Rule => {
                self.flush();
                self.gap(range.start);
                let width = self.text_width.saturating_sub(self.margin_width()).max(1);
                let rule = dimmed(&"─".repeat(width), self.colour);
                self.line(&rule);
            }
            // Extensions that are not enabled.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text);
            }
            Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag, range: &Range<usize>, depth: usize) {
        match tag {
            Tag::Emphasis => self.emphasis(range, 1, Ink::ITALIC),
            Tag::Strong => self.emphasis(range, 2, Ink::BOLD),
            Tag::Strikethrough => self.emphasis(range, 2, Ink::STRUCK),
            Tag::Link { link_type, dest_url, .. } => {
                let is_itself = matches!(link_type, LinkType::Autolink | LinkType::Email);
                let target = (!is_itself && !dest_url.is_empty()).then(|| dest_url.to_string());
                self.marks.push(OpenSpan::Link { at: self.spans.len(), target });
                self.push_ink(Ink::UNDERLINE);
            }
            Tag::Image { dest_url, .. } => {
                let (at, target) = (self.spans.len(), dest_url.to_string());
                self.marks.push(OpenSpan::Image { at, target });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(grid) = &mut self.grid {
                    grid.begin_row();
                }
            }
            Tag::TableCell => {}
            block => {
                self.flush();
                // Earlier content of a top-level list is settled when its next item has a complete
                // line.
                if matches!(block, Tag::Item) && depth == 2 && self.has_line(range.start) {
                    self.shown.n_settled = self.shown.lines.len();
                }
                self.gap(range.start);
                self.start_block(&block, range);
            }
        }
    }

    fn start_block(&mut self, tag: &Tag, range: &Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                if self.colour {
                    let is_first = matches!(level, HeadingLevel::H1);
                    let ink = if is_first { Ink::BOLD.and(Ink::UNDERLINE) } else { Ink::BOLD };
                    self.push_ink(ink);
                } else {
                    self.push_ink(Ink::PLAIN);
                    self.text(&format!("{} ", "#".repeat(*level as usize)));
                }
            }
            Tag::BlockQuote(_) => self.push_margin(Margin::Bar),
            Tag::CodeBlock(kind) => {
                let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                let is_at_top = is_fenced && self.margins.is_empty();
                self.code = Some(Code { text: String::new(), is_at_top });
            }
            Tag::List(first) => {
                self.lists.push(List { is_ordered: first.is_some(), last: None });
            }
            Tag::Item => {
                let marker = self.marker(range.start);
                let width = width_of(&marker) + 1;
                self.push_margin(Margin::Item { marker: Some(marker), width });
            }
            Tag::Table(alignments) => self.grid = Some(MarkdownTable::new(alignments)),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => match self.marks.pop() {
                Some(OpenSpan::Signs(signs)) => self.text(&signs),
                _ => self.pop_ink(),
            },
            TagEnd::Link => self.end_link(),
            TagEnd::Image => self.end_image(),
            TagEnd::Heading(_) => {
                self.flush();
                self.pop_ink();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.pop_margin();
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::Item => self.end_item(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(grid) = &mut self.grid {
                    grid.cell(cell);
                }
                self.cell_end = range.end;
            }
            TagEnd::Table => {
                if let Some(grid) = self.grid.take() {
                    let room = self.width.saturating_sub(self.margin_width()).max(1);
                    for line in grid::lines(&grid, room, self.colour) {
                        self.line(&line);
                    }
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => self.end_row(range.end),
            _ => self.flush(),
        }
    }

    /// Shows text outside any Markdown block: a link definition would otherwise disappear.
    fn leftover(&mut self, range: Range<usize>) {
        let Some(text) = self.source.get(range.clone()).filter(|it| !it.trim().is_empty()) else {
            return;
        };
        let n_blank = text.len() - text.trim_start().len();
        self.gap(range.start + n_blank);
        let text = text.trim().replace('\t', " ");
        self.spans.push(Span { text, ink: Ink::PLAIN });
        self.flush();
    }

    fn text(&mut self, text: &str) {
        // Entities may decode to characters that are unsafe on a terminal.
        let text = sanitize::one_line(text);
        let (ink, begins) = (self.ink(), self.begins_here());
        match self.spans.last_mut() {
            Some(span) if span.ink == ink && !begins => span.text.push_str(&text),
            _ => self.spans.push(Span { text, ink }),
        }
    }

    /// Returns whether a link or a picture begins with the next span.
    fn begins_here(&self) -> bool {
        let begin = self.marks.last().and_then(|it| match it {
            OpenSpan::Link { at, .. } | OpenSpan::Image { at, .. } => Some(*at),
            _ => None,
        });
        begin == Some(self.spans.len())
    }

    fn line_break(&mut self) {
        self.spans.push(Span { text: "\n".to_owned(), ink: Ink::PLAIN });
    }

    fn inline_code(&mut self, text: &str, range: &Range<usize>) {
        if !self.colour {
            let signs = self.source[range.clone()].chars().take_while(|it| *it == '`');
            let signs: String = signs.collect();
            let space = if signs.len() == 1 { "" } else { " " };
            return self.text(&format!("{signs}{space}{text}{space}{signs}"));
        }
        self.push_ink(Ink::CODE);
        self.text(text);
        self.pop_ink();
    }

    fn html(&mut self, text: &str) {
        for (at, line) in text.split('\n').enumerate() {
            if 0 < at {
                self.line_break();
            }
            self.text(line);
        }
    }

    /// Shows emphasis by style where it is meant, and unchanged where the delimiters mean something
    /// else.
    fn emphasis(&mut self, range: &Range<usize>, n_signs: usize, ink: Ink) {
        let (signs, is_meant) = signs(self.source, range, n_signs);
        if is_meant && self.colour {
            self.marks.push(OpenSpan::Inked);
            self.push_ink(ink);
            return;
        }
        self.text(signs);
        self.marks.push(OpenSpan::Signs(signs.to_owned()));
    }

    fn end_link(&mut self) {
        self.pop_ink();
        let Some(OpenSpan::Link { at, target: Some(target) }) = self.marks.pop() else { return };
        let at = at.min(self.spans.len());
        let shown: String = self.spans[at..].iter().map(|it| it.text.as_str()).collect();
        let target = sanitize::one_line(&target);
        let address = target.strip_prefix("mailto:").unwrap_or(&target);
        // Text still being written has such links; a line below gives the file's location.
        if shown.trim() != address && links::in_container(&target).is_none() {
            self.spans.push(Span { text: format!(" ({target})"), ink: self.ink() });
        }
    }

    fn end_image(&mut self) {
        let Some(OpenSpan::Image { at, target }) = self.marks.pop() else { return };
        if at == self.spans.len() {
            self.text(&target);
        }
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        let room = self.width.saturating_sub(self.margin_width() + CODE_INDENT.len()).max(1);
        if code.text.is_empty() {
            return;
        }
        let text = code.text.strip_suffix('\n').unwrap_or(&code.text);
        for (at, line) in text.split('\n').enumerate() {
            // The last line may still become the fence that closes the block.
            if code.is_at_top && 0 < at {
                self.shown.n_settled = self.shown.lines.len();
            }
            let span = Span { text: untabbed(line), ink: Ink::CODE };
            for piece in cut(&span, room, self.colour) {
                let indent = if piece.text.is_empty() { "" } else { CODE_INDENT };
                self.line(&format!("{indent}{}", piece.text));
            }
        }
    }

    /// Shows the surplus cells of a row in its last cell.
    fn end_row(&mut self, end: usize) {
        let more = self.source.get(self.cell_end..end).unwrap_or_default();
        let more = more.trim().trim_matches('|').trim();
        if more.is_empty() {
            return;
        }
        let text = format!(" | {}", sanitize::one_line(more));
        if let Some(grid) = &mut self.grid {
            grid.add(Span { text, ink: Ink::PLAIN });
        }
    }

    fn end_item(&mut self) {
        self.flush();
        if matches!(self.margins.last(), Some(Margin::Item { marker: Some(_), .. })) {
            self.line("");
        }
        self.pop_margin();
    }

    /// Returns the marker of the item that begins here.
    fn marker(&mut self, start: usize) -> String {
        let written = &self.source[start..];
        let digits: String = written.chars().take_while(char::is_ascii_digit).collect();
        let sign = written.chars().nth(digits.len()).unwrap_or('-');
        let Some(list) = self.lists.last_mut() else { return "-".to_owned() };
        if !list.is_ordered {
            // `-` may be a minus sign, so only a sign that cannot belong to an amount becomes a bullet.
            return if sign == '*' { "•".to_owned() } else { sign.to_string() };
        }
        let Ok(number) = digits.parse::<u64>() else { return format!("{digits}{sign}") };
        // Numbers are kept as written, except where one is repeated for the renderer to count.
        let shown = match list.last {
            Some((written, shown)) if written == number => shown.saturating_add(1),
            _ => number,
        };
        list.last = Some((number, shown));
        format!("{shown}{sign}")
    }

    fn ink(&self) -> Ink {
        self.inks.last().copied().unwrap_or_default()
    }

    fn push_ink(&mut self, ink: Ink) {
        let ink = self.ink().and(ink);
        self.inks.push(ink);
    }

    fn pop_ink(&mut self) {
        self.inks.pop();
    }

    fn push_margin(&mut self, margin: Margin) {
        // At least half of the line remains for the text.
        if self.n_flat == 0 && self.margin_width() + margin.width() <= self.text_width / 2 {
            self.margins.push(margin);
            return;
        }
        self.n_flat += 1;
        if let Margin::Item { marker: Some(marker), .. } = margin {
            self.text(&format!("{marker} "));
        }
    }

    fn pop_margin(&mut self) {
        if 0 < self.n_flat {
            self.n_flat -= 1;
        } else {
            self.margins.pop();
        }
    }

    fn margin_width(&self) -> usize {
        self.margins.iter().map(Margin::width).sum()
    }

    /// Returns whether the source line at `at` is complete.
    fn has_line(&self, at: usize) -> bool {
        self.source[at..].contains('\n')
    }

    /// Leaves a blank line where the source has one before the block at `start`.
    fn gap(&mut self, start: usize) {
        // Many blocks may begin on one line; searching for the start of the line each time would be
        // slow.
        let last = self.gap_at.replace(start);
        let between = last.and_then(|it| self.source.get(it..start));
        if between.is_some_and(|it| !it.contains(['\n', '\r'])) {
            return;
        }
        if !self.shown.lines.is_empty() && follows_blank(self.source, start) {
            let bars = self.margins.iter().map(|it| match it {
                Margin::Bar => format!("{} ", dimmed("│", self.colour)),
                Margin::Item { width, .. } => " ".repeat(*width),
            });
            let line: String = bars.collect();
            self.shown.lines.push(line.trim_end().to_owned());
        }
    }

    /// Lays out the pending text.
    fn flush(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        if spans.iter().all(|it| it.text.trim().is_empty()) {
            return;
        }
        let room = self.text_width.saturating_sub(self.margin_width()).max(1);
        let mut lines = wrap(&spans, room, self.colour);
        while lines.last().is_some_and(|it: &StyledLine| it.width == 0) {
            lines.pop();
        }
        for line in lines {
            self.line(&line.text);
        }
    }

    /// Writes one line with its margin.
    fn line(&mut self, text: &str) {
        let colour = self.colour;
        let mut line = String::new();
        for margin in &mut self.margins {
            match margin {
                Margin::Bar => {
                    line.push_str(&dimmed("│", colour));
                    line.push(' ');
                }
                Margin::Item { marker, width } => match marker.take() {
                    Some(marker) => {
                        line.push_str(&marker);
                        line.push(' ');
                    }
                    None => line.extend(std::iter::repeat_n(' ', *width)),
                },
            }
        }
        line.push_str(text);
        self.shown.lines.push(line.trim_end_matches(' ').to_owned());
    }
}

/// Returns whether an HTML tag is a line break, which models write in table cells.
fn is_break(html: &str) -> bool {
    let name = html.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/').trim();
    name.eq_ignore_ascii_case("br")
}

fn untabbed(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut column = 0;
    for char in line.chars() {
        if char == '\t' {
            let n_spaces = TAB_WIDTH - column % TAB_WIDTH;
            text.extend(std::iter::repeat_n(' ', n_spaces));
            column += n_spaces;
        } else {
            text.push(char);
            column += 1;
        }
    }
    text
}
