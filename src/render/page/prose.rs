//! A model's Markdown as HTML: its structure, but none of its HTML.
//!
//! Only the elements named here are written. HTML in the text becomes text. Links may point to the web
//! or a mailbox only. Images become their descriptions, because a page loads nothing.

use maud::{Markup, PreEscaped, Render, html};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::words::shown;
use crate::terminal_markdown::{options, signs};

/// Schemes allowed in a link.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];
/// The opening tags of a table: it scrolls on its own, also by keyboard.
const TABLE: &str =
    "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>";

/// The headings of a text on the page, below those of the page itself.
#[derive(Clone, Copy)]
pub(super) struct Headings {
    /// The elements.
    pub names: [&'static str; 3],
    /// The level in the text that becomes the first of them: that of its first heading if `None`.
    pub first: Option<usize>,
}

/// Returns the text as paragraphs, lists, tables and so on.
pub(super) fn prose(text: &str, headings: Headings) -> Markup {
    let text = shown(text.trim());
    let Headings { names, first } = headings;
    let mut out = Writer { names, first, ..Writer::default() };
    for (event, range) in Parser::new_ext(&text, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Emphasis) => out.emphasis(signs(&text, &range, 1), "em"),
            Event::Start(Tag::Strong) => out.emphasis(signs(&text, &range, 2), "strong"),
            Event::Start(Tag::Strikethrough) => out.emphasis(signs(&text, &range, 2), "s"),
            event => out.event(event),
        }
    }
    PreEscaped(out.html)
}

#[derive(Default)]
struct Writer {
    html: String,
    /// Whether cells belong to a header.
    is_head: bool,
    /// The alignment of the table's columns.
    alignments: Vec<Alignment>,
    /// The index of the next cell in its row.
    column: usize,
    /// Whether each open link is also a link on the page.
    links: Vec<bool>,
    /// What closes each open emphasis.
    ends: Vec<String>,
    /// The elements of headings.
    names: [&'static str; 3],
    /// The level that becomes the highest on the page, whatever its level in the text.
    first: Option<usize>,
    /// The index of the last heading in `names`.
    heading: usize,
}

impl Writer {
    fn text(&mut self, text: &str) {
        // An entity may decode to a character that was made safe where written directly.
        shown(text).render_to(&mut self.html);
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(code) => html! { code { (shown(&code)) } }.render_to(&mut self.html),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::SoftBreak => self.html.push('\n'),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::FootnoteReference(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.text(&text),
        }
    }

    /// Opens emphasis, or keeps its delimiters as text where they mean something else.
    fn emphasis(&mut self, (signs, is_meant): (&str, bool), element: &str) {
        let (begin, end) = if is_meant {
            (format!("<{element}>"), format!("</{element}>"))
        } else {
            (signs.to_owned(), signs.to_owned())
        };
        self.html.push_str(&begin);
        self.ends.push(end);
    }

    fn start(&mut self, tag: Tag) {
        match tag {
            Tag::Link { dest_url, .. } => {
                let is_link = may_go(&dest_url);
                self.links.push(is_link);
                if is_link {
                    self.html.push_str("<a href=\"");
                    self.text(&dest_url);
                    self.html.push_str("\">");
                }
            }
            Tag::Image { .. } => self.html.push_str("<span class=\"image\">image: "),
            Tag::List(Some(first)) if first != 1 => {
                html! { (PreEscaped("<ol start=\"")) (first) (PreEscaped("\">")) }
                    .render_to(&mut self.html);
            }
            Tag::Table(alignments) => {
                self.alignments = alignments;
                self.html.push_str(TABLE);
            }
            Tag::TableHead => {
                (self.is_head, self.column) = (true, 0);
                self.html.push_str("<thead><tr>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.html.push_str("<tr>");
            }
            Tag::TableCell => self.cell(),
            Tag::Heading { level, .. } => {
                self.heading = self.level(level as usize);
                self.element(TagEnd::Heading(level), "<");
            }
            Tag::CodeBlock(kind) => {
                let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                self.html.push_str(if is_fenced {
                    "<pre><code>"
                } else {
                    "<pre class=\"in\"><code>"
                });
            }
            tag => self.element(tag.to_end(), "<"),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link => {
                if self.links.pop() == Some(true) {
                    self.html.push_str("</a>");
                }
            }
            TagEnd::Image => self.html.push_str("</span>"),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.html.push_str(&self.ends.pop().unwrap_or_default());
            }
            TagEnd::Table => self.html.push_str("</tbody></table></div>"),
            TagEnd::TableHead => {
                self.is_head = false;
                self.html.push_str("</tr></thead><tbody>");
            }
            TagEnd::CodeBlock => self.html.push_str("</code></pre>"),
            tag => self.element(tag, "</"),
        }
    }

    /// Opens a cell, aligned like its column.
    fn cell(&mut self) {
        self.html.push_str(if self.is_head { "<th" } else { "<td" });
        self.html.push_str(match self.alignments.get(self.column) {
            Some(Alignment::Right) => " class=\"n\">",
            Some(Alignment::Center) => " class=\"m\">",
            _ => ">",
        });
        self.column += 1;
    }

    /// Returns the index of a heading in `names`, without skipping a level on the way down.
    fn level(&mut self, level: usize) -> usize {
        let Some(first) = self.first else {
            self.first = Some(level);
            return 0;
        };
        level.saturating_sub(first).min(self.heading + 1).min(self.names.len() - 1)
    }

    /// Writes a tag that needs no attribute; for an element not used here, only its content remains.
    fn element(&mut self, tag: TagEnd, open: &str) {
        let name = match tag {
            TagEnd::Paragraph => "p",
            TagEnd::Heading(_) => self.names[self.heading],
            TagEnd::BlockQuote(_) => "blockquote",
            TagEnd::List(true) => "ol",
            TagEnd::List(false) => "ul",
            TagEnd::Item => "li",
            TagEnd::TableRow => "tr",
            TagEnd::TableCell if self.is_head => "th",
            TagEnd::TableCell => "td",
            _ => return,
        };
        self.html.push_str(open);
        self.html.push_str(name);
        self.html.push('>');
    }
}

fn may_go(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    SCHEMES.iter().any(|it| lower.starts_with(it)) && shown(url) == url
}

#[cfg(test)]
mod tests {
    use super::{Headings, TABLE, prose};

    #[track_caller]
    fn check(markdown: &str, html: &str) {
        let headings = Headings { names: ["h4", "h5", "h6"], first: None };
        assert_eq!(prose(markdown, headings).0, html);
    }

    #[test]
    fn headings_keep_their_level_where_it_counts() {
        let headings = Headings { names: ["h2", "h3", "h4"], first: Some(2) };
        let html = |text| prose(text, headings).0;
        assert_eq!(html("# A\n\n## B\n\n### C"), "<h2>A</h2><h2>B</h2><h3>C</h3>");
        assert_eq!(html("#### D"), "<h3>D</h3>");
    }

    #[test]
    fn structure_becomes_elements() {
        check(
            "# Sum\n\n**A** and *b* `c<d`",
            "<h4>Sum</h4><p><strong>A</strong> and <em>b</em> <code>c&lt;d</code></p>",
        );
        check("## A\n\n#### B\n\n# C", "<h4>A</h4><h5>B</h5><h4>C</h4>");
        check("5*3*2 is `__init__`, __init__", "<p>5*3*2 is <code>__init__</code>, __init__</p>");
        check("3. x\n4. y", "<ol start=\"3\"><li>x</li><li>y</li></ol>");
        check("```py\na < b\n```", "<pre><code>a &lt; b\n</code></pre>");
        check(
            "|a|b|\n|---|--:|\n|1|~~2~~|",
            &format!(
                "{TABLE}<thead><tr><th>a</th><th class=\"n\">b</th></tr></thead><tbody>\
                 <tr><td>1</td><td class=\"n\"><s>2</s></td></tr></tbody></table></div>"
            ),
        );
    }

    #[test]
    fn markup_is_text() {
        check("a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>");
        check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
        check("\u{202e}x\0", "<p>\\u{202e}x\\x00</p>");
        check("&#x202e;x&#8232;&#27;&lt;b>", "<p>\\u{202e}x\\u{2028}\\x1b&lt;b&gt;</p>");
    }

    #[test]
    fn a_link_goes_to_the_web_or_nowhere() {
        check(
            "[a](https://x.example/?a=1&b=\"2\")",
            "<p><a href=\"https://x.example/?a=1&amp;b=&quot;2&quot;\">a</a></p>",
        );
        check(
            "[a](<https://x.example/?a&b>)",
            "<p><a href=\"https://x.example/?a&amp;b\">a</a></p>",
        );
        check("[a](javascript:alert`1`) <data:text/html,x>", "<p>a data:text/html,x</p>");
        check("[a](https://x.example/&#x202e;fdp.exe)", "<p>a</p>");
        check("[a](JavaScript&colon;x) [b](//x.example) [c](file:///etc)", "<p>a b c</p>");
    }

    #[test]
    fn of_an_image_the_description_is_left() {
        let html = "<p><span class=\"image\">image: the <em>plot</em></span></p>";
        check("![the *plot*](https://x.example/a.png)", html);
    }
}
