//! A page of the documentation as a help text: without what only a browser or a test needs.

use std::fmt::Write;

use csv_agent_render::terminal_markdown::{self, ProseStyle};

/// Lays out a page for lines of at most `width` columns.
pub(super) fn text(markdown: &str, width: usize) -> String {
    let style = ProseStyle { width, colour: false };
    terminal_markdown::text(&unlinked(&unwrapped(markdown)), &style) + "\n"
}

/// Removes the line breaks within paragraphs, and the marks of the blocks that tests run.
fn unwrapped(markdown: &str) -> String {
    let mut page = String::new();
    let (mut is_code, mut is_open) = (false, false);
    for line in markdown.lines() {
        let is_fence = line.starts_with("```");
        let begins =
            is_fence || line.is_empty() || line.starts_with(['#', '|', '-']) || is_item(line);
        if !is_code && line.starts_with("<!--") || line.is_empty() && page.ends_with("\n\n") {
            continue;
        }
        if is_open && !is_code && !begins {
            page.truncate(page.trim_end().len());
            let _ = writeln!(page, " {}", line.trim_start());
        } else {
            let _ = writeln!(page, "{line}");
        }
        is_code ^= is_fence;
        is_open = !is_code && !is_fence && !line.is_empty() && !line.starts_with(['#', '|']);
    }
    page
}

/// Returns whether a line begins an item of a numbered list.
fn is_item(line: &str) -> bool {
    line.split_once(". ").is_some_and(|it| it.0.parse::<u8>().is_ok())
}

/// Replaces links to other pages, which the reader may not have, by their texts.
fn unlinked(markdown: &str) -> String {
    let mut page = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        page += before;
        let target = after.split_once(')').filter(|it| !it.0.contains([' ', '\n']));
        if let (Some(start), Some((_, after))) = (page.rfind('['), target) {
            page.remove(start);
            rest = after;
        } else {
            page += "](";
            rest = after;
        }
    }
    page + rest
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_page_has_no_links_and_no_marks_of_tests() {
        let page = "# Checks\n\nOne rule, as [`ask`](ci.md)\nreads it.\n\n- a\n  b\n- c\n\n<!-- run: 0 -->\n```sh\n\
                    csv-agent check\n  a[0](b c)\n```\n\n1. x\n2. y\n";
        let expected = "# Checks\n\nOne rule, as `ask` reads it.\n\n- a b\n- c\n\n  csv-agent check\n    a[0](b c)\n\n\
                        1. x\n2. y\n";
        assert_eq!(text(page, 80), expected);
    }
}
