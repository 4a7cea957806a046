//! What is on a terminal when a command has ended: replies, and what the live line leaves behind.

use serde_json::json;

use crate::bench::{Bench, Run, round};

const REPLY: &str = "## Revenue\n\nOnly **Anvil** fell: revenue dropped by a fifth from the second quarter \
                     to the third, a*b*c.\n\n- one point that is long enough to be broken\n  1. deep\n- 東京\n\n\
                     | product | note |\n|---|---|\n| Anvil | a note that has many words |\n\n```py\nx = 1\n```\n\nDone.";

/// Runs a command on a terminal of so many columns and 24 rows.
fn on_terminal(bench: &Bench, columns: usize, line: &str) -> Run {
    let settings = bench.server_settings();
    let script = format!(
        "{settings}; TERM=xterm script -qec 'stty cols {columns} rows 24; {line}' /dev/null"
    );
    bench.shell(&script, &[])
}

/// Returns what the terminal shows after these bytes, with what has scrolled away; without colour.
#[track_caller]
fn screen(bytes: &str) -> String {
    let mut lines = vec![Vec::new()];
    let (mut row, mut column) = (0_usize, 0_usize);
    let mut rest = bytes.chars();
    while let Some(char) = rest.next() {
        match char {
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(Vec::new());
                }
            }
            '\r' => column = 0,
            '\x1b' => {
                assert_eq!(rest.next(), Some('['), "{bytes:?}");
                let mut number = String::new();
                let end = rest.find(|it| {
                    number.push(*it);
                    it.is_ascii_alphabetic()
                });
                match end.unwrap() {
                    'm' => {}
                    'K' => lines[row].truncate(column),
                    'J' => {
                        lines.truncate(row + 1);
                        lines[row].truncate(column);
                    }
                    'A' => row -= number.trim_end_matches('A').parse::<usize>().unwrap(),
                    other => panic!("{other}: {bytes:?}"),
                }
            }
            other => {
                let line = &mut lines[row];
                assert!(column <= line.len(), "{bytes:?}");
                line.truncate(column);
                line.push(other);
                column += 1;
            }
        }
    }
    let lines = lines.into_iter().map(|it| it.into_iter().collect::<String>());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_reply_is_laid_out_on_a_terminal_and_raw_in_a_pipe() {
    let bench = Bench::with(["sales.csv"]).script([round().says(REPLY)]);
    bench.ask("What fell?").succeeds();
    let shown = on_terminal(&bench, 40, "csv-agent show last --color never").succeeds();
    insta::assert_snapshot!(screen(shown.stdout()), @r"
    ## Revenue

    Only **Anvil** fell: revenue dropped by
    a fifth from the second quarter to the
    third, a*b*c.

    - one point that is long enough to be
      broken
      1. deep
    - 東京

    ┌─────────┬────────────────────────────┐
    │ product │ note                       │
    ╞═════════╪════════════════════════════╡
    │ Anvil   │ a note that has many words │
    └─────────┴────────────────────────────┘

      x = 1

    Done.
    ");
    let inked = on_terminal(&bench, 40, "csv-agent show last").succeeds();
    assert!(inked.stdout().contains("\u{1b}[1mAnvil\u{1b}[0m fell"), "{inked}");
    let piped = bench.run(["show", "last"]).succeeds();
    assert_eq!(piped.stdout(), format!("{REPLY}\n"));
}

#[test]
fn text_that_streams_ends_as_it_is_shown_later_and_the_live_line_is_gone() {
    let ask = "csv-agent ask -f sales.csv --color never Why";
    for columns in [40, 100] {
        let bench = Bench::with(["sales.csv"]).script([round().says(REPLY)]);
        let asked = on_terminal(&bench, columns, ask).succeeds();
        let shown = on_terminal(&bench, columns, "csv-agent show last --color never").succeeds();
        let (asked, shown) = (asked.stdout().to_owned(), screen(shown.stdout()));
        assert!(asked.contains("asking") && !asked.contains("\u{1b}[?"), "{asked:?}");
        let left = screen(&asked);
        assert!(left.contains(shown.trim_end()), "{left}\n---\n{shown}");
        assert!(!left.contains("asking") && !left.contains("starting"), "{left}");
    }
}

#[test]
fn calls_that_end_alike_are_one_line_unless_each_is_looked_at() {
    let info = |name: &str| json!({"name": name});
    let calls = || {
        let calls = round().calls("c1", "get_dataset_info", info("sales"));
        let calls = calls.calls("c2", "get_dataset_info", info("sales"));
        [calls.calls("c3", "get_dataset_info", info("none")), round().says("Done.")]
    };
    let lines = |verbose: &str| {
        let bench = Bench::with(["sales.csv"]).script(calls());
        let ask = format!("csv-agent ask -f sales.csv --color never {verbose} Why");
        let left = screen(on_terminal(&bench, 80, &ask).succeeds().stdout());
        let told = left.lines().filter(|it| it.contains("get_dataset_info"));
        // But for their times.
        let words = |it: &str| {
            it.split_whitespace().filter(|it| !it.contains('.')).collect::<Vec<_>>().join(" ")
        };
        told.map(words).collect::<Vec<_>>()
    };
    let (sales, none) = ("✓ get_dataset_info sales", "✗ get_dataset_info none");
    assert_eq!(lines(""), [&format!("{sales} 2 times"), none]);
    assert_eq!(lines("-v"), [sales, sales, none]);
}

#[test]
fn a_terminal_that_can_do_nothing_gets_plain_lines_and_whole_blocks() {
    let bench = Bench::with(["sales.csv"]).script([round().says(REPLY)]);
    let asked = on_terminal(&bench, 40, "TERM=dumb csv-agent ask -f sales.csv Why").succeeds();
    let shown = on_terminal(&bench, 40, "TERM=dumb csv-agent show last").succeeds();
    assert!(!asked.stdout().contains('\u{1b}'), "{asked}");
    assert!(!asked.stdout().replace("\r\n", "\n").contains('\r'), "{asked}");
    assert!(asked.stdout().contains(shown.stdout().trim_end()), "{asked}\n---\n{shown}");
}

#[test]
fn an_interrupted_answer_stays_as_far_as_it_came() {
    let bench = Bench::with(["sales.csv"]).script([round().says(REPLY).silent_after(4)]);
    let ask = bench.on_terminal(["ask", "-f", "sales.csv", "--color", "never", "Why"], 60);
    ask.shows("Only **Anvil** fell").press("\x03").shows("error: cancelled").ends_with(130);
    let left = ask.contents();
    let (answer, story) = left.split_once("error: cancelled").unwrap();
    assert!(
        answer.contains("## Revenue\n\nOnly **Anvil** fell") && answer.ends_with('\n'),
        "{left}"
    );
    assert!(!left.contains("asking"), "{left}");
    assert!(story.trim().is_empty(), "{left}");
}

#[test]
fn an_export_on_a_terminal_shows_what_would_steer_it() {
    let code = "x = 'a\u{1b}]0;title\u{7}\u{9b}31m\u{202e}'\nprint(x)";
    let bench = Bench::with(["sales.csv"])
        .script([round().calls("c1", "python_repl", json!({"code": code})), round().says("Done.")]);
    bench.run(["ask", "-f", "sales.csv", "q"]).succeeds();
    for form in ["py", "ipynb", "md"] {
        let run = on_terminal(&bench, 80, &format!("csv-agent export {form}")).succeeds();
        let is_shown =
            ["\\x1b]0;title", "\\u001b]0;title"].iter().any(|it| run.stdout().contains(it));
        assert!(is_shown, "{form}: {run}");
        let steers = |it: char| it != '\r' && it != '\n' && it.is_control() || it == '\u{202e}';
        assert!(!run.stdout().contains(steers), "{form}: {run}");
    }
    // A program gets the code word for word.
    let run = bench.run(["export", "py"]).succeeds();
    assert!(run.stdout().contains("title") && run.stdout().contains('\u{202e}'), "{run}");
}

#[test]
fn doctor_fits_one_screen_and_ends_with_a_sentence() {
    let run = on_terminal(&Bench::with([]), 80, "csv-agent doctor --offline --model builtin");
    let screen = screen(run.succeeds().stdout());
    let lines: Vec<&str> = screen.trim_end().lines().collect();
    assert!((20..=36).contains(&lines.len()), "{screen}");
    assert!(lines[lines.len() - 1].starts_with("You can ask a question"), "{screen}");
    // The rules of the confinement share a cell.
    assert_eq!(lines.iter().filter(|it| it.starts_with("│ sandbox")).count(), 1, "{screen}");
}
