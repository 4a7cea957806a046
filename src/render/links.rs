//! Links in a reply that point to files: their positions, and their replacements.
//!
//! Pure. Only link and image destinations as Markdown parses them are considered; the same words in
//! code or in running text are unchanged.

use std::ops::Range;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};

use csv_agent_types::event::FetchedFile;

use crate::terminal_markdown::options;

/// The prefix that models write before the path of a file in their container.
const SANDBOX: &str = "sandbox:";

/// Returns the text with links to container files redirected to the files of the turn, where they were
/// fetched.
pub fn to_fetched(text: &str, files: &[FetchedFile]) -> String {
    // Most replies have neither files nor such links.
    if files.is_empty() || !text.to_ascii_lowercase().contains(SANDBOX) {
        return text.to_owned();
    }
    replaced(text, |it| Some(fetched(it, files)?.artifact.path.clone()))
}

/// Returns the text with links to files of the turn redirected to their locations, given by `place`.
pub fn to_place(text: &str, files: &[FetchedFile], place: impl Fn(&str) -> String) -> String {
    if files.is_empty() {
        return text.to_owned();
    }
    replaced(text, |it| files.iter().any(|file| file.artifact.path == it).then(|| place(it)))
}

/// Returns the path of a link within the model's container, if it points there: no browser can follow
/// it.
pub fn in_container(link: &str) -> Option<&str> {
    let (scheme, path) = link.split_at_checked(SANDBOX.len())?;
    scheme.eq_ignore_ascii_case(SANDBOX).then_some(path)
}

/// Returns a path as a link destination: a space would require angle brackets, and inside those a
/// bracket could not be escaped.
pub fn destination(path: &str) -> String {
    path.replace(' ', "%20").replace('(', "%28").replace(')', "%29")
}

/// Finds the file that a link points to: of several with that name the last, which the code wrote last.
fn fetched<'a>(link: &str, files: &'a [FetchedFile]) -> Option<&'a FetchedFile> {
    let name = in_container(link)?.rsplit('/').next().unwrap_or_default();
    let find = |name: &str| files.iter().rfind(|it| it.name == name);
    // A name may contain characters that look percent-encoded.
    find(name).or_else(|| find(&percent_decode_str(name).decode_utf8().ok()?))
}

/// Replaces the destinations of links and images for which `target` returns another.
fn replaced(text: &str, target: impl Fn(&str) -> Option<String>) -> String {
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let link = |from: &str, end| {
        let to = destination(&target(from)?);
        Some(Link { from: from.to_owned(), to, end })
    };
    let parser = Parser::new_ext(text, options());
    for (_, definition) in parser.reference_definitions().iter() {
        if let Some(link) = link(&definition.dest, DestinationEnd::Space) {
            let range = written(text, definition.span.clone(), "]:", &link);
            changes.extend(range.map(|it| (it, link.to)));
        }
    }
    // Open links, each with the range of its destination.
    let mut open: Vec<(Range<usize>, Option<Link>)> = Vec::new();
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(
                Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
            ) => {
                let link = link(&dest_url, DestinationEnd::Bracket);
                if let (LinkType::Autolink, Some(link)) = (link_type, &link) {
                    let name = link.to.rsplit('/').next().unwrap_or_default();
                    changes.push((range.clone(), format!("[{name}]({})", link.to)));
                }
                open.push((range, link.filter(|_| link_type == LinkType::Inline)));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                if let Some((rest, Some(link))) = open.pop() {
                    let range = written(text, rest, "](", &link);
                    changes.extend(range.map(|it| (it, link.to)));
                }
                if let Some((rest, _)) = open.last_mut() {
                    rest.start = range.end;
                }
            }
            _ => {
                if let Some((rest, _)) = open.last_mut() {
                    rest.start = range.end.clamp(rest.start, rest.end);
                }
            }
        }
    }
    with_changes(text, changes)
}

/// A link to redirect.
struct Link {
    from: String,
    to: String,
    end: DestinationEnd,
}

/// What ends a destination without angle brackets.
#[derive(Clone, Copy, PartialEq)]
enum DestinationEnd {
    Space,
    Bracket,
}

/// Returns the range of a link's destination: in `range`, after a delimiter.
fn written(text: &str, range: Range<usize>, sign: &str, link: &Link) -> Option<Range<usize>> {
    let after = range.start + text.get(range.clone())?.find(sign)? + sign.len();
    let rest = &text[after..range.end];
    let inside = rest.trim_start();
    let start = range.end - inside.len();
    let is_last = |it, depth| link.end == DestinationEnd::Bracket && it == ')' && depth == 0;
    let (start, n_bytes) = if let Some(inside) = inside.strip_prefix('<') {
        (start + 1, end_of(inside, |it, _| it == '>'))
    } else {
        (start, end_of(inside, |it, depth| it.is_ascii_whitespace() || is_last(it, depth)))
    };
    // Where block quote or list markers intervene, it begins with other characters.
    let found = &text[start..start + n_bytes];
    let begin = link.from.chars().take(3);
    begin.eq(found.chars().take(3)).then_some(start..start + n_bytes)
}

/// Returns the position of the first unescaped character that ends a destination. `ends` receives the
/// number of open brackets.
fn end_of(text: &str, ends: impl Fn(char, u32) -> bool) -> usize {
    let (mut depth, mut is_escaped) = (0_u32, false);
    for (at, char) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        if ends(char, depth) {
            return at;
        }
        match char {
            '\\' => is_escaped = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

fn with_changes(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|it| it.0.start);
    let (mut written, mut end) = (String::with_capacity(text.len()), 0);
    for (range, new) in changes {
        // Overlapping or repeated changes are applied once.
        if let Some(before) = text.get(end..range.start) {
            written.push_str(before);
            written.push_str(&new);
            end = range.end;
        }
    }
    written + &text[end..]
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use pulldown_cmark::{Event, Parser, Tag};
    use serde_json::json;

    use super::{options, to_fetched, to_place};
    use csv_agent_testing::cases;
    use csv_agent_types::event::FetchedFile;

    fn files() -> Vec<FetchedFile> {
        let file = |(name, path): (&str, &str)| {
            let path = format!("turns/0001/artifacts/{path}");
            serde_json::from_value(json!({"name": name, "cited": false, "container_id": null,
                "file_id": null, "format": "x", "path": path, "bytes": 1, "sha256": ""}))
            .unwrap()
        };
        let files = [
            ("plot.png", "plot.png"),
            ("my plot (1).png", "my_plot_1.png"),
            ("50%25.csv", "50_25.csv"),
            ("plot.png", "plot_2.png"),
            ("größe.csv", "größe.csv"),
        ];
        files.into_iter().map(file).collect()
    }

    /// `@` stands for where the files of the container are, and for where those of the turn are.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let text = text.replace('@', "sandbox:/mnt/data/");
        let expected =
            expected.replace('@', "turns/0001/artifacts/").replace('§', "sandbox:/mnt/data/");
        assert_eq!(to_fetched(&text, &files()), expected);
    }

    #[test]
    fn a_link_leads_to_the_file_that_was_fetched() {
        check("See [the *plot*](@plot.png).", "See [the *plot*](@plot_2.png).");
        check("![plot](@plot.png \"of (all)\")", "![plot](@plot_2.png \"of (all)\")");
        check("[a]( <@plot.png> )", "[a]( <@plot_2.png> )");
        check("[a](@my%20plot%20(1).png)", "[a](@my_plot_1.png)");
        check("[a](<@my plot (1).png>)", "[a](<@my_plot_1.png>)");
        check("[a](@my%20plot%20\\(1\\).png)", "[a](@my_plot_1.png)");
        check("[a](@50%25.csv)", "[a](@50_25.csv)");
        check("[a](@gr%C3%B6%C3%9Fe.csv) é", "[a](@größe.csv) é");
        check("[a](SANDBOX:plot.png)", "[a](@plot_2.png)");
        check("[![é](@plot.png)](@50%25.csv)", "[![é](@plot_2.png)](@50_25.csv)");
        check("[`](`](@plot.png) [](@plot.png)", "[`](`](@plot_2.png) [](@plot_2.png)");
        check("[@plot.png](@plot.png)", "[§plot.png](@plot_2.png)");
        check("[a][1] and [1]\n\n[1]: @plot.png 'x'\n", "[a][1] and [1]\n\n[1]: @plot_2.png 'x'\n");
        check("<@plot.png>", "[plot_2.png](@plot_2.png)");
        check(
            "> - [a](@plot.png)\n\n|a|\n|-|\n|[b](@plot.png)|",
            "> - [a](@plot_2.png)\n\n|a|\n|-|\n|[b](@plot_2.png)|",
        );
    }

    #[test]
    fn what_is_no_link_to_a_fetched_file_stays() {
        for text in [
            "[a](@other.csv)",
            "[a](@)",
            "[a](https://x.example/plot.png)",
            "[a](/mnt/data/plot.png)",
            "`[a](@plot.png)` and @plot.png",
            "```\n[a](@plot.png)\n```",
            "\\[a](@plot.png)",
            "[a](@%ff.png)",
            "[a](@plot.png",
        ] {
            check(text, &text.replace('@', "§"));
        }
        assert_eq!(to_fetched("[a](sandbox:plot.png)", &[]), "[a](sandbox:plot.png)");
    }

    const PIECES: [&str; 20] = [
        "sandbox:/mnt/data/plot.png",
        "sandbox:plot.png",
        "[a",
        "](",
        "](<",
        ")",
        ">",
        "![",
        "]",
        "[1]: ",
        "[1]",
        " 'title'",
        "`",
        "\\",
        "\n",
        "> ",
        "|",
        "|-|",
        "é ",
        "*",
    ];

    /// What a reader sees, and where the links lead.
    fn seen(markdown: &str) -> (Vec<Event<'_>>, Vec<String>) {
        let (mut shown, mut links) = (Vec::new(), Vec::new());
        for event in Parser::new_ext(markdown, options()) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    links.push(dest_url.to_string());
                }
                event => shown.push(event),
            }
        }
        (shown, links)
    }

    proptest! {
        #![proptest_config(cases(2_000))]

        #[test]
        fn nothing_but_the_ends_of_links_changes(pieces in vec(select(&PIECES[..]), 0..14)) {
            // In angle brackets alone it is text as well.
            let before = pieces.concat().replace("<sandbox", "< sandbox");
            let after = to_fetched(&before, &files());
            let ((shown, links), (shown_after, links_after)) = (seen(&before), seen(&after));
            prop_assert_eq!(shown, shown_after);
            prop_assert_eq!(links.len(), links_after.len());
            for (link, after) in links.iter().zip(&links_after) {
                let is_known = link.starts_with("sandbox:") && link.ends_with("plot.png");
                let is_good = link == after || is_known && after == "turns/0001/artifacts/plot_2.png";
                prop_assert!(is_good, "{link} -> {after}");
            }
        }
    }

    #[test]
    fn a_link_to_a_file_of_the_turn_leads_to_its_place() {
        let place = |it: &str| format!("my (own)/{it}");
        let text = "[a](turns/0001/artifacts/plot.png) [b](turns/0001/reply.md)";
        assert_eq!(
            to_place(text, &files(), place),
            "[a](my%20%28own%29/turns/0001/artifacts/plot.png) [b](turns/0001/reply.md)"
        );
    }
}
