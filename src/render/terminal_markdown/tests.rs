//! Markdown and what it looks like, whole and while it is being written.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;

use csv_agent_testing::cases;

use super::inline::width_of;
use super::live::{Live, Window};
use super::{ProseStyle, text};

fn style(width: usize, colour: bool) -> ProseStyle {
    ProseStyle { width, colour }
}

#[track_caller]
fn check(width: usize, markdown: &str, expected: &str) {
    assert_eq!(text(markdown, &style(width, false)), expected);
}

#[track_caller]
fn same(markdown: &str) {
    check(200, markdown, markdown);
}

#[test]
fn what_looks_like_markup_and_is_none_stays() {
    same("5 * 3 * 2 = 5*3*2 and 2**3 + 4**2, a*b + c*d");
    same("snake_case_name, a_b_c, __init__, _id, _merge_");
    same("<5 %, a < b > c, <b>bold</b>, R&D, AT&T;");
    same("~approx~, ~5, $5 and $6, #1, C:\\temp, [x] and [ ] and [1]");
    same("1. January");
    same("1986. A great year.");
    same("- 5 %");
    same("+ 5 %");
    same("[1]: https://example.com");
    same("See [the docs][1].\n\n[Note]: incomplete");
    same("Total: 5\nMean:   3\nDone");
}

#[test]
fn emphasis_is_ink_where_there_is_colour_and_its_signs_elsewhere() {
    let markdown = "**Anvil** fell *fast*, `a_b` and ~~all~~; `` ` ``";
    same(markdown);
    insta::assert_snapshot!(
        text(markdown, &style(80, true)).replace('\x1b', "E"),
        @"E[1mAnvilE[0m fell E[3mfastE[0m, E[36ma_bE[0m and E[9mallE[0m; E[36m`E[0m"
    );
    // A language without spaces has emphasis within words.
    insta::assert_snapshot!(text("这是**重要**的", &style(80, true)).replace('\x1b', "E"), @"这是E[1m重要E[0m的");
    insta::assert_snapshot!(text("# Top\n## Below", &style(80, true)).replace('\x1b', "E"), @r"
    E[1;4mTopE[0m
    E[1mBelowE[0m
    ");
}

#[test]
fn text_is_broken_between_words_and_items_hang() {
    check(12, "one two three four", "one two\nthree four");
    check(12, "a  Donaudampfschiff", "a\nDonaudampfsc\nhiff");
    check(
        200,
        &"word ".repeat(30),
        &format!("{}\n{}", "word ".repeat(20).trim(), "word ".repeat(10).trim()),
    );
    check(8, "汉字汉字。汉字", "汉字汉\n字。汉字");
    insta::assert_snapshot!(text(
        "Points:\n- first of the points\n  1. deep and deeper\n  1. next\n- second\n\n  more of it\n\n* dot\n",
        &style(16, false),
    ), @r"
    Points:
    - first of the
      points
      1. deep and
         deeper
      2. next
    - second

      more of it

    • dot
    ");
    check(40, "9. nine\n10. ten\n12. twelve", "9. nine\n10. ten\n12. twelve");
    check(40, "1) a\n1) b\n-\n- c", "1) a\n2) b\n-\n- c");
    insta::assert_snapshot!(text(
        "> said so and so\n>\n> > by whom\n\nend", &style(12, false)
    ), @r"
    │ said so
    │ and so
    │
    │ │ by whom

    end
    ");
}

#[test]
fn links_show_where_they_go_and_pictures_what_they_show() {
    check(80, "[docs](https://a.b/c) <https://a.b>", "docs (https://a.b/c) https://a.b");
    check(80, "[https://a.b](https://a.b) [m](mailto:x@y.z)", "https://a.b m (mailto:x@y.z)");
    check(80, "[plot](sandbox:/mnt/data/plot.png) of it", "plot of it");
    check(80, "![revenue](a.png) ![](b.png)", "revenue b.png");
}

#[test]
fn code_keeps_its_lines_and_rules_and_html_are_shown() {
    check(40, "```py\nif x:\n\ty = 1\n\n\nz\n```", "  if x:\n      y = 1\n\n\n  z");
    check(14, "```\nabc = def ghi\n```", "  abc = def\n  ghi");
    check(40, "```\nnever closed", "  never closed");
    check(6, "a\n\n---\n\nb", "a\n\n──────\n\nb");
    check(40, "<div>\n  x & y\n</div>\n\na<br>b", "<div>\n  x & y\n</div>\n\na\nb");
    check(40, "Title\n-----\nx", "## Title\nx");
}

#[test]
fn tables_are_grids_and_hide_nothing() {
    let table = "| product | Q2 | note |\n|---|---:|---|\n| **Anvil** | 120,400 | fell in `July`<br>and after |\n| 東京 | 1 | |\n";
    insta::assert_snapshot!(text(table, &style(80, false)), @r"
    ┌───────────┬─────────┬────────────────┐
    │ product   │      Q2 │ note           │
    ╞═══════════╪═════════╪════════════════╡
    │ **Anvil** │ 120,400 │ fell in `July` │
    │           │         │ and after      │
    │ 東京      │       1 │                │
    └───────────┴─────────┴────────────────┘
    ");
    insta::assert_snapshot!(text(table, &style(36, false)), @r"
    ┌───────────┬─────────┬────────────┐
    │ product   │      Q2 │ note       │
    ╞═══════════╪═════════╪════════════╡
    │ **Anvil** │ 120,400 │ fell in    │
    │           │         │ `July`     │
    │           │         │ and after  │
    │ 東京      │       1 │            │
    └───────────┴─────────┴────────────┘
    ");
    insta::assert_snapshot!(text(table, &style(20, false)), @r"
    product: **Anvil**
    Q2: 120,400
    note: fell in `July`
    and after
    ────────
    product: 東京
    Q2: 1
    note:
    ");
}

#[test]
fn no_sequence_of_a_model_gets_through() {
    for markdown in [
        "\x1b[2J \u{9b}31m `\x1b[1m`",
        "&#27;[2J &#x9b;31m &#x202e;",
        "[a](<&#27;]8;;x>) ![&#27;](x) <b &#27;>",
        "```\n\x1b]0;x\x07\n```\n\n| &#27; |\n|---|\n| \x1b |",
        "a\r# b\rc",
    ] {
        let shown = text(markdown, &style(40, false));
        assert!(!shown.chars().any(|it| it.is_control() && it != '\n'), "{shown:?}");
        assert!(!shown.contains('\u{202e}'), "{shown:?}");
    }
}

#[test]
fn hostile_text_is_laid_out_in_bounded_time() {
    for piece in [
        "> ", "- ", "1. ", "[", "![", "*", "**a ", "`", "|", "&", "<", "_a", "\n\n", "a ",
        "* a\n  ", "> - ", "a\n|-", "~~", "[a](", "\\",
    ] {
        let markdown = piece.repeat(32 * 1024 / piece.len());
        let begun = Instant::now();
        let shown = text(&markdown, &style(40, true));
        assert!(begun.elapsed() < Duration::from_mins(2), "{piece:?} {:?}", begun.elapsed());
        assert!(shown.lines().all(|it| width_of(&without_sgr(it)) <= 40), "{piece:?}");
    }
}

fn without_sgr(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        text.push_str(before);
        let end = after.find(|it: char| it != ';' && !it.is_ascii_digit()).unwrap();
        assert_eq!(&after[end..=end], "m", "{line:?}");
        rest = &after[end + 1..];
    }
    text + rest
}

/// A terminal that knows what we use: line feeds, returns, up, and clearing what is below.
struct Terminal {
    rows: usize,
    lines: Vec<String>,
    row: usize,
    is_at_start: bool,
}

impl Terminal {
    fn new(rows: usize) -> Terminal {
        Terminal { rows, lines: vec![String::new()], row: 0, is_at_start: true }
    }

    #[track_caller]
    fn write(&mut self, text: &str) {
        let mut rest = text;
        while let Some(char) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("\x1b[J") {
                assert!(self.is_at_start);
                self.lines.truncate(self.row + 1);
                self.lines[self.row].clear();
                rest = after;
                continue;
            }
            if let Some((n_up, after)) =
                rest.strip_prefix("\x1b[").and_then(|it| it.split_once('A'))
                && let Ok(n_up) = n_up.parse::<usize>()
            {
                assert!(self.lines.len() < self.rows + self.row - n_up + 1, "above the screen");
                self.row -= n_up;
                rest = after;
                continue;
            }
            match char {
                '\n' => {
                    self.row += 1;
                    self.is_at_start = true;
                    if self.row == self.lines.len() {
                        self.lines.push(String::new());
                    }
                }
                '\r' => self.is_at_start = true,
                other => {
                    assert!(!self.is_at_start || self.lines[self.row].is_empty(), "{text:?}");
                    self.is_at_start = false;
                    self.lines[self.row].push(other);
                }
            }
            rest = &rest[char.len_utf8()..];
        }
    }
}

/// Writes a text in pieces and returns what the terminal shows in the end.
#[track_caller]
fn live(pieces: &[&str], window: &Window) -> String {
    let (mut live, mut terminal) = (Live::default(), Terminal::new(window.rows + 2));
    for piece in pieces {
        terminal.write(&live.push(piece, window));
    }
    terminal.write(&live.park(window));
    terminal.lines.join("\n")
}

const REPLY: &str = "# Revenue\n\nOnly **Anvil** fell: *see* the table.\n\n| a | b |\n|---|---:|\n| x | 1 |\n\
                     | yyyyyyyyyy | 200 |\n\n- one\n- two\n  1. deep\n  1. deeper\n\n  more\n- three\n\n#\nx\n\
                     ```py\na = 1\n\nb = 2\nc\nd\ne\nf\ng\n```\n> so\n> far\n\n5*3*2\n---\n1. a\n1. b\n1. c\n*\n*x\n";

#[test]
fn in_the_end_live_text_is_what_whole_text_is() {
    for (rows, width, colour) in [(0, 40, false), (1, 20, false), (3, 40, true), (22, 80, true)] {
        let window = Window { style: style(width, colour), rows };
        let expected = text(REPLY, &window.style) + "\n";
        for n_chars in [1, 2, 3, 7, 50, 10_000] {
            let pieces: Vec<&str> =
                REPLY.as_bytes().chunks(n_chars).map(|it| str::from_utf8(it).unwrap()).collect();
            assert_eq!(live(&pieces, &window), expected, "{rows} {n_chars}");
        }
    }
}

#[test]
fn a_line_that_grows_is_only_added_to() {
    let window = Window { style: style(20, false), rows: 10 };
    let mut live = Live::default();
    let written: Vec<String> = ["Only ", "Anvil", " fell", " far", " text", "\n\n", "**a", "**"]
        .iter()
        .map(|it| live.push(it, &window))
        .collect();
    assert_eq!(written, ["Only", " Anvil", " fell", " far", "\ntext", "", "\n\n**a", "**"]);
    let window = Window { style: style(20, true), rows: 10 };
    assert_eq!(live.push(" b", &window), "\r\x1b[J\x1b[1ma\x1b[0m b");
    assert_eq!(live.park(&window), "\n");
    assert_eq!(live.park(&window), "");
}

#[test]
fn where_no_line_can_be_written_over_blocks_come_when_they_are_over() {
    let window = Window { style: style(20, false), rows: 0 };
    let mut live = Live::default();
    let written: Vec<String> = ["One", " two.\n\n", "- a", "\n- b", "\n- c\n", "\nEnd"]
        .iter()
        .map(|it| live.push(it, &window))
        .collect();
    assert_eq!(written, ["", "", "", "One two.", "\n\n- a\n- b", ""]);
    assert_eq!(live.park(&window), "\n- c\n\nEnd\n");
}

#[test]
fn what_others_write_in_between_costs_no_text() {
    let window = Window { style: style(20, false), rows: 10 };
    let mut live = Live::default();
    assert_eq!(live.push("One.\n\nTwo", &window), "One.\n\nTwo");
    assert_eq!(live.park(&window), "\n");
    // The block goes on: it is written once more.
    assert_eq!(live.push(" three.", &window), "\nTwo three.");
    assert_eq!(live.park(&window), "\n");
    // It was over: only what follows is written.
    assert_eq!(live.push("\n\nVerdict: good", &window), "\nVerdict: good");
}

#[test]
fn a_block_longer_than_the_screen_shows_its_end_until_it_is_over() {
    let window = Window { style: style(20, false), rows: 3 };
    let (mut live, mut terminal) = (Live::default(), Terminal::new(5));
    let lines: Vec<String> = (1..=9).map(|it| format!("line {it}")).collect();
    let text = lines.join("\n");
    terminal.write(&live.push(&text, &window));
    assert_eq!(terminal.lines, ["line 7", "line 8", "line 9"]);
    terminal.write(&live.push("\n\nEnd\n", &window));
    assert_eq!(terminal.lines.join("\n"), format!("{text}\n\nEnd"));
}

#[test]
fn a_long_block_is_not_laid_out_for_every_word() {
    let window = Window { style: style(80, true), rows: 20 };
    let mut live = Live::default();
    let written = (0..500).map(|_| live.push("word, **b** ", &window));
    let n_written = written.filter(|it| !it.is_empty()).count();
    assert!(n_written < 350, "{n_written}");
}

const PIECES: [&str; 44] = [
    "a",
    "word",
    " ",
    " ",
    "\n",
    "\n",
    "\n\n",
    "# ",
    "- ",
    "* ",
    "1. ",
    "2) ",
    "> ",
    "```",
    "`",
    "**",
    "*",
    "_",
    "__",
    "~~",
    "~",
    "|",
    "|---|",
    "| a | b |\n|---|--:|\n| 1 | 2 |",
    "[x](y)",
    "![x](y)",
    "<b>",
    "<br>",
    "&amp;",
    "&#27;",
    "\x1b[2J",
    "\t",
    "    ",
    "汉字",
    "👩\u{200d}🔬",
    "e\u{301}",
    "---",
    "===",
    "\\",
    "[a]: b",
    "\r",
    "\r\n",
    "\u{202e}",
    "<!-- ",
];

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_text_fits_and_is_safe(text_of in any::<String>(), width in 4_usize..60) {
        let shown = text(&text_of, &style(width, false));
        prop_assert!(!shown.chars().any(|it| it.is_control() && it != '\n'));
    }

    #[test]
    fn any_markdown_fits_is_safe_and_loses_no_letter(
        pieces in vec(select(&PIECES[..]), 0..40), width in 4_usize..60,
    ) {
        let markdown = pieces.concat();
        let plain = text(&markdown, &style(width, false));
        prop_assert!(!plain.chars().any(|it| it.is_control() && it != '\n'), "{plain:?}");
        prop_assert!(plain.lines().all(|it| width_of(it) <= width), "{plain}");
        // What stands behind a fence is the name of a language, and a link goes behind its text.
        if !markdown.contains("```") && !markdown.contains("[a]: b") {
            let letters = |text: &str| text.matches('w').count();
            prop_assert_eq!(letters(&markdown), letters(&plain), "{}", plain);
        }
        let inked = text(&markdown, &style(width, true));
        for line in inked.lines() {
            prop_assert!(width_of(&without_sgr(line)) <= width, "{line}");
        }
    }

    #[test]
    fn live_text_ends_as_whole_text(
        pieces in vec(select(&PIECES[..]), 0..40), width in 4_usize..60, rows in 0_usize..8,
    ) {
        let window = Window { style: style(width, false), rows };
        let whole = text(&pieces.concat(), &window.style);
        let whole = if whole.is_empty() { whole } else { whole + "\n" };
        prop_assert_eq!(live(&pieces, &window), whole);
    }
}
