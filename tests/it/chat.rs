//! `chat` at a terminal, key by key, and from a pipe.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::bench::{Bench, Round, round, signal, until, wait};
use crate::files::add_files;

const ENTER: &str = "\r";
const TAB: &str = "\t";
const UP: &str = "\x1b[A";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_R: &str = "\x12";

const CHAT: [&str; 3] = ["chat", "-f", "sales.csv"];

fn bench(rounds: impl IntoIterator<Item = Round>) -> Bench {
    Bench::with(["sales.csv"]).script(rounds)
}

/// What the user asked in the n-th request: the first is the oldest.
#[track_caller]
fn asked(bench: &Bench, index: usize) -> Vec<String> {
    let of_user = |it: &&Value| it["role"] == "user";
    let text = |it: &Value| match &it["content"] {
        Value::String(text) => text.clone(),
        content => content[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    bench.request(index).input().iter().filter(of_user).map(text).collect()
}

/// A table and a chart of it, and the reply.
fn table_and_chart() -> [Round; 4] {
    let code = "df = load('sales').groupby('product', as_index=False)['revenue'].sum()";
    let table = json!({"df_name": "df", "logical_name": "by product"});
    let chart = json!({
        "df_name": "df", "logical_name": "revenue by product", "chart_type": "bar",
        "x_field": "product", "series": [{"name": "Revenue", "y_field": "revenue"}],
        "title": null, "x_label": null, "y_label": null, "note": null,
    });
    [
        round().runs("c1", code),
        round().calls("c2", "send_data_to_ui_as_df", table),
        round().calls("c3", "send_chart_to_ui", chart),
        round().says("There it is."),
    ]
}

#[test]
fn names_are_completed_while_a_question_is_typed() {
    let bench = bench([round().says("Much.")]);
    let chat = bench.on_terminal(CHAT, 80);
    chat.shows("sales (10 rows)").is_ready();
    chat.press("total REV").press(TAB).has_line("> total revenue");
    chat.press(" by pro").press(TAB).press(ENTER).shows("Much.").is_ready();
    chat.press("/d").press(TAB).press("s").press(TAB).has_line("> /datasets sales");
    chat.press(ENTER).shows("source").is_ready().press(CTRL_D).ends_with(0);
    assert_eq!(asked(&bench, 0), ["total revenue by product"]);
}

#[test]
fn what_was_typed_is_there_in_the_next_chat_and_private() {
    let bench = bench([round().says("Ten.")]);
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("How many rows?").press(ENTER).shows("Ten.").is_ready();
    chat.press("/cost").press(ENTER).shows("this chat: 110 tokens").is_ready();
    chat.press("/quit").press(ENTER).ends_with(0);
    let typed = bench.session().join("typed.jsonl");
    assert_eq!(typed.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let chat = bench.on_terminal(["chat", "--model", "builtin"], 80);
    chat.is_ready().press(UP).has_line("> /quit").press(UP).has_line("> /cost");
    chat.press(UP).has_line("> How many rows?").press(CTRL_C).is_ready();
    chat.press(CTRL_R)
        .press("many")
        .shows("(reverse-i-search)`many': How")
        .press(CTRL_C)
        .is_ready()
        .press(CTRL_D)
        .ends_with(0);
}

#[test]
fn a_chat_that_leaves_nothing_behind_keeps_no_history() {
    let bench = bench([round().says("Ten.")]);
    let chat = bench.on_terminal(["chat", "--ephemeral", "-f", "sales.csv"], 80);
    chat.is_ready().press("How many rows?").press(ENTER).shows("Ten.").is_ready();
    chat.press(UP).has_line("> How many rows?").press(CTRL_C).is_ready().press(CTRL_D).ends_with(0);
    assert!(!bench.session().join("typed.jsonl").exists());
}

#[test]
fn a_question_may_have_several_lines() {
    let bench = bench([0, 1, 2, 3].map(|it| round().says(&format!("Answer {it}."))));
    let chat = bench.on_terminal(CHAT, 80);
    let questions = [
        // Pasted, with a line feed at the end that is not pressed.
        ("\x1b[200~one\ntwo\n\x1b[201~", "one\ntwo"),
        ("one \\\rtwo", "one \ntwo"),
        // Alt-Enter.
        ("one\x1b\rtwo", "one\ntwo"),
        ("\"\"\"one\r\rtwo\"\"\"", "one\n\ntwo"),
    ];
    for (at, (keys, _)) in questions.iter().enumerate() {
        chat.is_ready().press(keys).press(ENTER).shows(&format!("Answer {at}."));
    }
    chat.is_ready().press(CTRL_D).ends_with(0);
    let expected: Vec<&str> = questions.iter().map(|it| it.1).collect();
    assert_eq!(asked(&bench, 3), expected);
}

#[test]
fn ctrl_c_ends_an_answer_a_line_and_the_chat() {
    let bench = bench([round().runs("c1", "import time; time.sleep(600)"), round().says("Ten.")]);
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("Why?").press(ENTER).shows("python_repl");
    chat.press(CTRL_C).shows("cancelled").is_ready();
    // It was not said, and is not remembered.
    chat.press("How many rows?").press(ENTER).shows("Ten.").is_ready();
    assert_eq!(asked(&bench, 1), ["How many rows?"]);
    chat.press("never asked").has_line("> never asked").press(CTRL_C).is_ready();
    chat.press(CTRL_C).shows("press Ctrl-C again, or Ctrl-D, to leave").is_ready();
    // What was typed in between counts.
    chat.press("x").has_line("> x").press(CTRL_C).is_ready().cleared();
    chat.press(CTRL_C).shows("press Ctrl-C again").is_ready().press(CTRL_C).ends_with(0);
    assert!(chat.is_cooked());
}

#[test]
fn a_signal_at_the_prompt_ends_the_chat_and_gives_the_terminal_back() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 143)] {
        let bench = Bench::with(["sales.csv"]);
        let chat = bench.on_terminal(["chat", "-f", "sales.csv", "--model", "builtin"], 80);
        chat.is_ready().press("half a quest").has_line("> half a quest");
        assert!(!chat.is_cooked());
        // One that is for what came before, and late.
        chat.signal(Signal::SIGINT).press("ion").has_line("> half a question");
        chat.signal(signal).ends_with(code);
        assert!(chat.is_cooked());
    }
}

#[test]
fn who_waits_for_a_chat_hears_of_it_and_goes_on_when_that_ends() {
    let bench = Bench::with(["sales.csv"]);
    let first = bench.on_terminal(["chat", "-f", "sales.csv", "--model", "builtin"], 120);
    first.is_ready();
    let second = bench.on_terminal(["chat", "--lock-wait", "1h", "--model", "builtin"], 120);
    second.shows("is using the session; waiting up to 3600 s");
    let quiet = bench.run(["ask", "-q", "--lock-wait", "1s", "--model", "builtin", "Why?"]);
    assert!(!quiet.fails_with(3).stderr().contains("waiting up to"));
    first.press(CTRL_D).ends_with(0);
    second.is_ready().press(CTRL_D).ends_with(0);
}

#[test]
fn an_answer_that_is_taken_back_is_unknown_to_the_model() {
    let rounds = [round().says("Ten."), round().says("Wrong."), round().says("Right.")];
    let bench = bench(rounds);
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("/undo").press(ENTER).shows("there is no turn to undo").is_ready();
    chat.press("How many rows?").press(ENTER).shows("Ten.").is_ready();
    chat.press("And columns?").press(ENTER).shows("Wrong.").is_ready();
    chat.press("/undo").press(ENTER).shows("turn 2 is undone").is_ready();
    assert!(!bench.session().join("turns/0002").exists());
    chat.press("And products?").press(ENTER).shows("Right.").is_ready();
    chat.press(CTRL_D).ends_with(0);
    assert_eq!(asked(&bench, 2), ["How many rows?", "And products?"]);
    // What it sent was sent.
    let sent = bench.run(["show", "--egress", "--json"]).succeeds();
    let sent: Value = serde_json::from_str(sent.stdout()).unwrap();
    assert_eq!(sent["total"]["requests"], 3, "{sent}");
}

#[test]
fn tables_and_charts_can_be_looked_at_again_and_saved() {
    let bench = bench(table_and_chart());
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("Revenue by product, with a chart").press(ENTER);
    chat.shows("There it is.").is_ready().cleared();
    chat.press("/table by").press(TAB).press(ENTER).shows("by product · 3 of 3 rows").is_ready();
    chat.press("/chart").press(ENTER).shows("revenue_by_product.svg").is_ready();
    chat.press("/code").press(ENTER).shows("groupby").is_ready().cleared();
    for file in ["a.csv", "1 a.json", "a.md", "a.parquet", "a.svg", "1 a.png"] {
        chat.press(&format!("/save {file}")).press(ENTER);
        chat.shows(&format!("→ {}", file.trim_start_matches("1 "))).is_ready();
    }
    let read = |name: &str| fs::read(bench.path(name)).unwrap();
    let csv = String::from_utf8(read("a.csv")).unwrap();
    assert!(csv.starts_with("product,revenue\n") && csv.lines().count() == 4, "{csv}");
    let rows: Value = serde_json::from_slice(&read("a.json")).unwrap();
    assert_eq!(rows.as_array().map(Vec::len), Some(3));
    assert!(read("a.md").starts_with(b"| product |"));
    assert!(read("a.parquet").starts_with(b"PAR1"));
    assert!(read("a.svg").starts_with(b"<svg") && read("a.png").starts_with(b"\x89PNG"));
    // Nothing is replaced unasked.
    fs::write(bench.path("a.md"), "mine").unwrap();
    chat.cleared().press("/save a.md").press(ENTER).shows("Continue? [y/N]").press(ENTER);
    chat.shows("nothing was saved").is_ready().press("/save a.doc").press(ENTER);
    chat.shows("end the name with one of").is_ready().cleared();
    chat.press("/save none/a.csv").press(ENTER).shows("`none/a.csv`: no such directory").is_ready();
    chat.press(CTRL_D).ends_with(0);
    assert_eq!(read("a.md"), b"mine");
}

#[test]
fn a_file_of_an_answer_is_saved_as_it_is() {
    let bench = bench([round().says("There it is.")]);
    bench.ask("Where is it?").succeeds();
    add_files(
        &bench,
        &[("by product.xlsx", b"PK"), ("fit.pickle", b"one"), ("fit.pickle", b"two")],
    );
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("/save by").press(TAB).has_line("> /save by\\ product.xlsx");
    chat.press(" a.xlsx").press(ENTER).shows("file by product.xlsx → a.xlsx").is_ready();
    chat.press("/save b.xlsx").press(ENTER).shows("→ b.xlsx").is_ready();
    chat.press("/save fit.pickle c.pickle").press(ENTER).shows("→ c.pickle").is_ready();
    chat.press("/save fit.pickle c.csv").press(ENTER).shows("as `csv`: its format is").is_ready();
    chat.press("/save d.csv").press(ENTER).shows("no answer has a table").is_ready();
    chat.press(CTRL_D).ends_with(0);
    let read = |name: &str| fs::read(bench.path(name)).unwrap();
    assert_eq!(
        [read("a.xlsx"), read("b.xlsx"), read("c.pickle")],
        [b"PK".to_vec(), b"PK".to_vec(), b"two".to_vec()]
    );
    assert!(!bench.path("c.csv").exists());
}

#[test]
fn a_dataset_that_is_added_in_a_chat_is_there_for_the_next_question() {
    let code = "x = len(load('semi'))";
    let bench = Bench::with(["sales.csv", "semi.csv"]).script([
        round().runs("c1", "x = 1"),
        round().says("First."),
        round().runs("c2", code),
        round().says("Second."),
    ]);
    let chat = bench.on_terminal(CHAT, 80);
    // The worker is running by now, and does not know the file.
    chat.is_ready().press("One?").press(ENTER).shows("First.").is_ready();
    chat.press("/ingest sem").press(TAB).press(ENTER).shows("added").is_ready();
    chat.press("/ingest nope.csv").press(ENTER).shows("no such file").is_ready();
    chat.press("/datasets --rm sales --yes").press(ENTER).shows("removed").is_ready();
    chat.press("Two?").press(ENTER).shows("Second.").is_ready().press(CTRL_D).ends_with(0);
    assert!(
        !bench.request(3).output_of("c2").contains("Error"),
        "{}",
        bench.request(3).output_of("c2")
    );
    assert_eq!(bench.run(["datasets", "--names"]).succeeds().stdout(), "semi\n");
}

#[test]
fn a_mistyped_command_asks_the_model_nothing() {
    let bench = bench([round().says("Much.")]);
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("/tabel").press(ENTER).shows("did you mean /table?").is_ready();
    chat.press("/help").press(ENTER).shows("/save [N|NAME] FILE").is_ready();
    assert_eq!(bench.n_requests(), 0);
    chat.press("//cost of goods?")
        .press(ENTER)
        .shows("Much.")
        .is_ready()
        .press(CTRL_D)
        .ends_with(0);
    assert_eq!(asked(&bench, 0), ["/cost of goods?"]);
}

#[test]
fn another_model_can_be_asked() {
    let bench = bench([round().says("Ten, I think."), round().says("Eleven.")]);
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("How many rows?").press(ENTER).shows("Ten, I think.").is_ready();
    chat.press("/model built").press(TAB).press(ENTER).shows("builtin answers").is_ready();
    chat.press("How many rows are there?").press(ENTER).shows("10 rows").is_ready();
    chat.press("/model other").press(ENTER).shows("other answers").is_ready();
    chat.press("And now?").press(ENTER).shows("Eleven.").is_ready().press(CTRL_D).ends_with(0);
    assert_eq!(bench.request(1).body["model"], "other");
}

#[test]
fn a_reset_asks_and_forgets_all_but_the_data() {
    let bench = bench([round().says("Ten."), round().says("Yes.")]);
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("How many rows?").press(ENTER).shows("Ten.").is_ready();
    chat.press("/reset").press(ENTER).shows("Continue? [y/N]").press(CTRL_C);
    chat.shows("nothing was removed").is_ready();
    chat.cleared().press("/reset").press(ENTER).shows("[y/N]").press("y").press(ENTER);
    chat.shows("history.jsonl").is_ready();
    chat.press(UP).press("Afr").has_line("> Afr").press(CTRL_C).is_ready();
    chat.press("Afresh?").press(ENTER).shows("Yes.").is_ready().press(CTRL_D).ends_with(0);
    assert_eq!(asked(&bench, 1), ["Afresh?"]);
    let typed = fs::read_to_string(bench.session().join("typed.jsonl")).unwrap();
    assert_eq!(typed, "\"Afresh?\"\n");
}

#[test]
fn a_chat_without_data_says_how_to_add_some_and_leaves_no_session() {
    let bench = Bench::with(["sales.csv"]);
    let chat = bench.on_terminal(["chat", "--model", "builtin"], 80);
    chat.shows("add some with /ingest FILE").is_ready().press(CTRL_D).ends_with(0);
    assert!(!bench.session().exists());
    let chat = bench.on_terminal(["chat", "--model", "builtin"], 80);
    chat.is_ready().press("/ingest sales.csv").press(ENTER).shows("added").is_ready();
    chat.press("How many rows?").press(ENTER).shows("I read this as").is_ready();
    chat.press(CTRL_D).ends_with(0);
}

#[test]
fn stdout_has_the_answers_and_nothing_else() {
    let bench = bench([round().says("Ten.")]);
    let file = bench.path("answers.txt");
    let out = File::create(&file).unwrap();
    let chat = bench.on_terminal_with(CHAT, 80, Some(out));
    chat.is_ready().press("How man").press("y rows?").press(ENTER).shows("1 round").is_ready();
    chat.press("/help").press(ENTER).shows("Keys:").is_ready().press(CTRL_D).ends_with(0);
    assert_eq!(fs::read_to_string(file).unwrap(), "Ten.\n");
}

#[test]
fn a_terminal_that_can_do_nothing_edits_lines_itself() {
    let bench = bench([round().says("Ten."), round().says("Two.")]).variable("TERM", "dumb");
    let chat = bench.on_terminal(CHAT, 80);
    chat.is_ready().press("How many rows?\n").shows("Ten.").is_ready();
    chat.press("/cost\n").shows("this chat: 110 tokens").is_ready();
    chat.press("And \\\ncolumns?\n").shows("Two.").is_ready();
    chat.press(CTRL_C).shows("press Ctrl-C again").is_ready().press(CTRL_D).ends_with(0);
    assert_eq!(asked(&bench, 1), ["How many rows?", "And \ncolumns?"]);
}

#[track_caller]
fn piped(input: &[u8], form: &str, questions: &[&str]) {
    let bench = bench(questions.iter().map(|it| round().says(&format!("Re: {it}"))));
    let arguments = ["chat", "-f", "sales.csv", "--format", "reply", "-q", "--input", form];
    let run = bench.pipe(arguments, input).succeeds();
    for question in questions {
        assert!(run.stdout().contains(&format!("Re: {question}\n")), "{run}");
    }
    assert_eq!(run.stderr(), "");
    assert_eq!(asked(&bench, questions.len() - 1), questions);
}

#[test]
fn what_comes_from_a_pipe_is_a_question_whatever_it_looks_like() {
    piped("\u{feff}one?\r\n\n/tmp\nthree?".as_bytes(), "lines", &["one?", "/tmp", "three?"]);
    piped(b"one\ntwo?\0\0three?\0", "nul", &["one\ntwo?", "three?"]);
    let json = b"\"one\\ntwo?\"\n\n{\"question\": \"/reset\", \"id\": 7}\n";
    piped(json, "jsonl", &["one\ntwo?", "/reset"]);
}

#[test]
fn a_command_in_a_pipe_is_not_asked() {
    let bench = bench([round().says("Ten.")]);
    let arguments = ["chat", "-f", "sales.csv", "--format", "reply"];
    let run = bench.pipe(arguments, b"/datasets sales\nHow many?\n/quit\nWhy?\n").fails_with(2);
    assert_eq!(run.stdout(), "Ten.\n");
    let expected = "error: `/datasets` is a command of a chat on a terminal, and was not asked\n  hint: run \
                    `csv-agent datasets` itself; to ask any text as a question, use `--input jsonl`\n";
    assert_eq!(run.stderr(), expected);
}

#[test]
fn a_line_that_holds_no_question_is_named_by_its_number() {
    let bench = bench([round().says("Ten.")]);
    let arguments = ["chat", "-f", "sales.csv", "--input", "jsonl"];
    let run = bench.pipe(arguments, b"\"How many rows?\"\n{\"q\": 1}\n").fails_with(2);
    assert!(run.stdout().contains("Ten."));
    assert!(run.stderr().contains("question 2 from stdin: it has no field `question`"), "{run}");
}

#[test]
fn a_chat_in_a_pipe_ends_with_an_interrupt() {
    let bench = bench([round().mute()]);
    let mut child = bench.command(["chat", "-f", "sales.csv", "-q"]).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"one?\ntwo?\n").unwrap();
    until("the first question is asked", || bench.n_requests() == 1);
    signal(&child, Signal::SIGINT);
    wait(child, "chat".to_owned(), b"").fails_with(130);
    bench.forget();
}
