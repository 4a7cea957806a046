//! Markdown that loads nothing and runs nothing in any viewer: the one place for all text from a model,
//! a file or a user that someone may open in a viewer.
//!
//! A picture from a server sends that server its requested address, and a model that a cell has
//! prompted to do so can encode values there. Such pictures become links, which load only on a click,
//! and HTML becomes text. Pictures in local files remain.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Parser, Tag, TagEnd};

use csv_agent_types::limits::MARKDOWN_BYTES_MAX;

use crate::terminal_markdown::options;

/// Passes after which a text counts as malicious: escaping can turn what follows into markup.
const PASSES_MAX: usize = 16;
/// Characters that Markdown treats as inline markup.
const SIGNS: [char; 9] = ['\\', '[', ']', '<', '`', '*', '_', '&', '!'];
/// A paragraph that is recognisable among others.
const SENTINEL: &str = "\n\nsentinel";

/// Returns the text with everything that a viewer would load or run made harmless. Code is unchanged,
/// except that an unclosed code block is closed, because what follows would become part of it.
pub fn markdown(text: &str) -> String {
    let mut safe = text.to_owned();
    let n_passes = if text.len() <= MARKDOWN_BYTES_MAX { PASSES_MAX } else { 0 };
    for _ in 0..n_passes {
        let places = hazards(&safe);
        if places.is_empty() {
            return with_ended_code(safe);
        }
        safe = escaped(&safe, &places);
    }
    text.replace('<', "&lt;").replace("![", "!&#91;").replace("```", "'''").replace("~~~", "'''")
}

/// Returns one line of text, escaped so that Markdown shows it literally.
pub fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(char) = chars.next() {
        let is_in_word =
            before.is_alphanumeric() && chars.peek().is_some_and(|it| it.is_alphanumeric());
        if SIGNS.contains(&char) && !(char == '_' && is_in_word) {
            shown.push('\\');
        }
        shown.push(char);
        before = char;
    }
    shown
}

/// Returns a fence that does not occur in the code.
pub fn fence(code: &str) -> String {
    let ticks = code.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((ticks + 1).max(3))
}

/// Returns the text with a backslash at each of the given positions, which are in order.
fn escaped(text: &str, places: &[usize]) -> String {
    let mut escaped = String::with_capacity(text.len() + places.len());
    let mut begin = 0;
    for at in places {
        escaped += &text[begin..*at];
        escaped.push('\\');
        begin = *at;
    }
    escaped + &text[begin..]
}

/// Returns the positions of markup that makes a remote picture, or HTML.
fn hazards(text: &str) -> Vec<usize> {
    if !text.contains('<') && !text.contains("![") {
        return Vec::new();
    }
    let (mut code, mut html, mut local) = (Vec::new(), Vec::new(), Vec::new());
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                code.push(range);
            }
            // Below a list it is not code but text.
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => html.push(range),
            Event::Start(Tag::Image { link_type: LinkType::Inline, dest_url, .. })
                if is_local(&dest_url) =>
            {
                local.push(range.start);
            }
            _ => {}
        }
    }
    // A picture without an address here may find its definition further down in the whole document.
    let pictures = text.match_indices("![").map(|it| it.0).filter(|it| !local.contains(it));
    let tags = text.match_indices('<').map(|it| it.0).filter(|it| is_within(*it, &html));
    let hazards =
        pictures.chain(tags).filter(|it| !is_within(*it, &code) && !is_escaped(text, *it));
    let mut hazards: Vec<usize> = hazards.collect();
    hazards.sort_unstable();
    hazards
}

/// Returns whether a position is in one of these ranges, which are in order.
fn is_within(at: usize, ranges: &[Range<usize>]) -> bool {
    let after = ranges.partition_point(|it| it.start <= at);
    after.checked_sub(1).is_some_and(|it| at < ranges[it].end)
}

/// Returns whether an odd number of backslashes precedes a character.
fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|it| *it == b'\\').count() % 2 == 1
}

/// Returns whether an address refers to a local file: it has no scheme and no server. Browsers ignore
/// control characters, and treat a backslash as a slash.
fn is_local(address: &str) -> bool {
    let first = address.split(['/', '?', '#']).next().unwrap_or_default();
    let is_odd = |it: char| it.is_control() || it == '\\';
    !address.trim().starts_with("//") && !first.contains(':') && !address.contains(is_odd)
}

/// Closes a code block at the end of a text.
fn with_ended_code(text: String) -> String {
    if !text.contains("```") && !text.contains("~~~") {
        return text;
    }
    let followed = format!("{text}{SENTINEL}");
    let (mut open, mut around) = (None, None);
    for (event, range) in Parser::new_ext(&followed, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => open = Some(range.start),
            Event::End(TagEnd::CodeBlock) => open = None,
            Event::Text(_) if range.end == followed.len() => around = open,
            _ => {}
        }
    }
    let Some(at) = around else { return text };
    let sign = text[at..].chars().next().unwrap_or('`');
    let fence: String = text[at..].chars().take_while(|it| *it == sign).collect();
    format!("{}\n{fence}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use pulldown_cmark::{Event, Parser, Tag};

    use super::{is_local, markdown, options, text};
    use csv_agent_testing::cases;
    use csv_agent_types::limits::MARKDOWN_BYTES_MAX;

    #[track_caller]
    fn check(before: &str, after: &str) {
        assert_eq!(markdown(before), after);
    }

    #[test]
    fn a_picture_of_a_server_becomes_a_link() {
        check("![a](http://x.example/?q=1)", "\\![a](http://x.example/?q=1)");
        check("![a](//x.example/)", "\\![a](//x.example/)");
        check("!![a](http://x.example)", "!\\![a](http://x.example)");
        check("![a][b]\n\n[b]: http://x.example", "\\![a][b]\n\n[b]: http://x.example");
        check(
            "[![a](http://x.example)](http://x.example)",
            "[\\![a](http://x.example)](http://x.example)",
        );
        check("see ![a] there", "see \\![a] there");
        check("    ![a](http://x.example)", "    \\![a](http://x.example)");
    }

    #[test]
    fn html_becomes_text() {
        check("a <img src=http://x.example> b", "a \\<img src=http://x.example> b");
        check("<!-- a\n\n<script>", "\\<!-- a\n\n\\<script>");
        check(
            "<div>\n![a](http://x.example)\n</div>",
            "\\<div>\n\\![a](http://x.example)\n\\</div>",
        );
        check("    <img src=x>", "    \\<img src=x>");
        check("\\\\<b>", "\\\\\\<b>");
    }

    #[test]
    fn what_loads_nothing_stays() {
        for text in [
            "2 < 3 and a <= b, x<5",
            "![a chart](turns/0001/charts/a.png) and ![b](/tmp/s/a.svg \"title\")",
            "<https://x.example> and <a@x.example> and [a](https://x.example)",
            "`<img>` and `![a](http://x.example)`",
            "```html\n<img src=http://x.example>\n```",
            "[a](<my file.csv>)",
            "wow![^1] \\<b>",
        ] {
            let expected = text.replace("wow![", "wow\\![");
            check(text, &expected);
        }
    }

    #[test]
    fn of_a_very_long_text_all_signs_are_escaped() {
        let unit = "![a](http://x.example) <b>\n";
        let text = unit.repeat(MARKDOWN_BYTES_MAX / unit.len() + 1);
        let safe = markdown(&text);
        assert!(!safe.contains("![") && !safe.contains('<') && text.len() < safe.len());
    }

    #[test]
    fn code_ends_with_the_text() {
        check("a\n```\nb", "a\n```\nb\n```");
        check("~~~~ x\n~~~\nb\n", "~~~~ x\n~~~\nb\n~~~~");
        check("```\nb\n```\n", "```\nb\n```\n");
    }

    #[test]
    fn an_address_is_local_without_scheme_and_server() {
        for local in
            ["a.png", "turns/1/a.png", "/tmp/a b.png", "a/b:c.png", "../a.png", "a.png?x=a:b"]
        {
            assert!(is_local(local), "{local}");
        }
        for remote in [
            "http:a", "HTTPS://a", "//a", " //a", "\\\\a\\b", "/\\a", "file:///a", "data:a",
            "/\t/a",
        ] {
            assert!(!is_local(remote), "{remote}");
        }
    }

    #[test]
    fn a_line_is_shown_as_it_is() {
        assert_eq!(text("a*b*[c]!<d>"), "a\\*b\\*\\[c\\]\\!\\<d>");
        assert_eq!(text("total_by_day _x_"), "total_by_day \\_x\\_");
    }

    const PIECES: [&str; 24] = [
        "![a](http://x.example)",
        "![a][b]",
        "![",
        "[b]: http://x.example\n",
        "](http://x.example)",
        "<img src=\"http://x.example\">",
        "<div>",
        "</div>",
        "<!--",
        "-->",
        "<script>",
        "<a ",
        ">",
        "`",
        "```",
        "~~~",
        "\\",
        "\n",
        "\n\n",
        "    ",
        "- ",
        "> ",
        "|",
        "é ",
    ];

    /// Returns whether a viewer would load or run something.
    fn is_live(markdown: &str) -> bool {
        Parser::new_ext(markdown, options()).any(|event| match event {
            Event::Html(_) | Event::InlineHtml(_) => true,
            Event::Start(Tag::Image { dest_url, .. }) => !is_local(&dest_url),
            _ => false,
        })
    }

    proptest! {
        #![proptest_config(cases(2_000))]

        #[test]
        fn nothing_is_live_alone_or_among_other_texts(
            first in vec(select(&PIECES[..]), 0..14),
            second in vec(select(&PIECES[..]), 0..14),
        ) {
            let [first, second] = [first, second].map(|it| markdown(&it.concat()));
            for text in [&first, &second] {
                prop_assert!(!is_live(text), "{text:?}");
                prop_assert_eq!(&markdown(text), text);
            }
            let both = format!("# a\n\n{first}\n\n- b\n\n{second}\n");
            prop_assert!(!is_live(&both), "{both:?}");
        }
    }
}
