//! Reports to send on: what is in them and what is not, in each form, and whatever the data holds is text.
//!
//! What a browser makes of them is checked by `tests/page/check.py`, with a browser.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::bench::{Bench, Run, round};
use crate::page::{HOSTILE, Page};

fn send(name: &str) -> Value {
    json!({"df_name": "by", "logical_name": name})
}

fn plot(name: &str) -> Value {
    json!({"df_name": "by", "logical_name": name, "chart_type": "column", "x_field": "product",
        "x_label": name, "y_label": name, "series": [{"name": name, "y_field": "revenue"}],
        "title": name, "note": name})
}

const BY_PRODUCT: &str = "by = load('sales').groupby('product', as_index=False).revenue.sum()";

/// A session with an answer that has all parts, a turn that failed, and an answer with a long table.
fn session() -> Bench {
    let bench = Bench::with(["sales.csv"]).script([
        round().runs("a1", BY_PRODUCT),
        round().runs("a2", "by.nothing"),
        round().calls("a3", "send_data_to_ui_as_df", send("by_product")).calls(
            "a4",
            "send_chart_to_ui",
            plot("revenue"),
        ),
        round().says("## Findings\n\nIt is **all** there."),
        round().answers(400, r#"{"error": {"message": "no such model"}}"#),
        round().runs("c1", "by = pd.DataFrame({'n': range(1000, 1040)})"),
        round().calls("c2", "send_data_to_ui_as_df", send("numbers")),
        round().says("Forty."),
    ]);
    bench.ask("revenue by product?").succeeds();
    bench.ask("two?").fails_with(6);
    bench.ask("Which numbers?").succeeds();
    bench
}

/// Writes a report as HTML and reads it back.
#[track_caller]
fn page<const N: usize>(bench: &Bench, arguments: [&str; N]) -> (Page, Run) {
    let given = ["report", "-o", "report.html"].into_iter().chain(arguments);
    let run = bench.run(given).succeeds();
    assert_eq!(run.stdout(), "");
    let page = Page::read(&fs::read_to_string(bench.path("report.html")).unwrap());
    page.is_inert();
    (page, run)
}

#[test]
fn a_report_has_each_answer_with_how_it_was_computed_and_no_log() {
    let bench = session();
    let (report, run) = page(&bench, []);
    assert!(run.stderr().contains("not in the report: turn 2 failed"), "{run}");
    assert_eq!(report.texts("h1"), ["Report on sales"]);
    assert_eq!(report.texts("h2"), ["Revenue by product?", "Which numbers?", "Data"]);
    assert_eq!((report.texts("h3"), report.texts("strong")), (vec!["Findings"], vec!["all"]));
    assert_eq!(report.texts("figcaption"), ["By product", "Numbers"]);
    // A drawing for light paper and one for dark.
    assert_eq!((report.count("table", None), report.count("svg", None)), (2, 2));
    // The reader opens the rows that are not in sight, and the code.
    assert_eq!(report.count("figure", Some("long")), 1);
    assert_eq!(report.texts("summary").len(), 3);
    let words = report.words();
    for said in [BY_PRODUCT, "1039", "Show 40 rows", "sales.csv: 10 rows, 3 columns"] {
        assert!(words.contains(said), "{said}: {words}");
    }
    for left_out in ["AttributeError", "by.nothing", "two?", "no such model", "requests to"] {
        assert!(!words.contains(left_out), "{left_out}: {words}");
    }
    let (report, _) = page(&bench, ["last", "--no-code", "--title", "Numbers <now>"]);
    assert_eq!((report.texts("h1"), report.count("pre", None)), (vec!["Numbers <now>"], 0));
    // A single question is the title.
    let (report, _) = page(&bench, ["1"]);
    assert_eq!(
        (report.texts("h1"), report.texts("h2")),
        (vec!["Revenue by product?"], vec!["Data"])
    );
}

#[test]
fn whatever_data_and_models_hold_is_text_in_each_form() {
    let cells = serde_json::to_string(&HOSTILE).unwrap();
    let code = format!(
        "by = pd.DataFrame({{'product': {cells}, 'revenue': range({n})}})\nby[{name}] = by['product']",
        n = HOSTILE.len(),
        name = json!(HOSTILE[0]),
    );
    let remote = "[a](javascript:alert(6)) ![b](https://x.example/b.png)";
    let answer = format!("{}\n\n{remote}\n\n```\nopen", HOSTILE.join("\n\n"));
    let mut rounds = vec![round().runs("c1", &code)];
    for (at, name) in HOSTILE.iter().enumerate() {
        let (table, chart) = (format!("t{at}"), format!("g{at}"));
        let sent = round().calls(&table, "send_data_to_ui_as_df", send(name));
        rounds.push(sent.calls(&chart, "send_chart_to_ui", plot(name)));
    }
    rounds.push(round().says(&answer));
    let bench = Bench::with(["sales.csv"]).script(rounds);
    bench.ask_with(["--max-rounds", "20"], HOSTILE[0]).succeeds();
    let (report, _) = page(&bench, ["--title", HOSTILE[1]]);
    let cells = report.texts("td");
    for text in &HOSTILE[..7] {
        assert!(cells.contains(text), "{text}: {cells:?}");
    }
    let run = bench.run(["report", "--format", "md", "--title", HOSTILE[1]]).succeeds();
    // What is not code has no HTML but its own, and no pictures from elsewhere.
    let outside: Vec<&str> = run.stdout().split("\n```").step_by(2).collect();
    let text = outside.join("\n");
    for (at, _) in text.match_indices('<').filter(|(at, _)| !text[..*at].ends_with('\\')) {
        let own = ["<details>", "</details>", "<summary>", "</summary>", "<br>"];
        let is_text = !text[at + 1..].starts_with(|it: char| it.is_alphabetic() || it == '/');
        assert!(is_text || own.iter().any(|it| text[at..].starts_with(it)), "{}", &text[at..]);
    }
    let unescaped = text.replace("\\![", "");
    let pictures = unescaped.split("![").skip(1).map(|it| it.split_once("](").unwrap().1);
    let pictures: Vec<&str> = pictures.collect();
    assert_eq!(pictures.len(), HOSTILE.len());
    assert!(pictures.iter().all(|it| it.starts_with("data:image/png;base64,")));
    assert!(!run.stdout().contains(['\0', '\x1b', '\u{202e}', '\u{2028}']));
}

#[test]
fn as_markdown_it_has_its_charts_beside_it_and_long_tables_as_csv() {
    let bench = session();
    bench.run(["report", "-o", "sent/report.md"]).fails_with(5);
    fs::create_dir(bench.path("sent")).unwrap();
    bench.run(["report", "-o", "sent/our report.md"]).succeeds();
    let text = fs::read_to_string(bench.path("sent/our report.md")).unwrap();
    let picture = fs::read(bench.path("sent/our report_files/chart-1-1.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    for said in [
        "# Report on sales\n",
        "\n## Revenue by product?\n",
        "](our%20report_files/chart-1-1.png)\n",
        "\n| 1014 |\n\nThe first 15 rows of 40.\n\n<details>\n<summary>40 rows as CSV</summary>",
        "\n1038\n1039\n```\n\n</details>\n",
        &format!("\n```python\n{BY_PRODUCT}\n```\n"),
        "\n- sales: sales.csv: 10 rows, 3 columns, read on ",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("| 1015 |") && !text.contains("by.nothing"), "{text}");
    let run = bench.run(["report", "1", "--format", "md", "--no-code"]).succeeds();
    assert!(run.stdout().contains("](data:image/png;base64,iVBOR"), "{run}");
    assert!(!run.stdout().contains("<details>"), "{run}");
}

/// Puts a browser on the path that does what the script says. `$page`, `$pdf` and `$profile` are its files.
fn with_browser(bench: Bench, script: &str) -> Bench {
    let dir = bench.path("bin");
    fs::create_dir(&dir).unwrap();
    let path = dir.join("google-chrome");
    let read = "for it; do case $it in --print-to-pdf=*) pdf=${it#*=};; --user-data-dir=*) profile=${it#*=};; \
                --*) ;; *) page=$it;; esac; done";
    fs::write(&path, format!("#!/bin/sh\n{read}\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let path = dir.display().to_string();
    bench.variable("PATH", &path)
}

#[test]
fn a_browser_prints_it_as_pdf_or_the_error_says_how_to_get_one() {
    let bench = Bench::with(["sales.csv"]);
    bench
        .run(["ask", "--model", "builtin", "-f", "sales.csv", "how many rows are there?"])
        .succeeds();
    let bench = bench.variable("PATH", "/nonexistent");
    let run = bench.run(["report", "-o", "report.pdf"]).fails_with(3);
    assert!(run.stderr().contains("there is no Chromium, Chrome or Edge"), "{run}");
    assert!(run.stderr().contains("apt-get install chromium"), "{run}");

    // It shows on paper what opens on a screen, and has no script.
    let prints = "[ -d \"${profile%/*}\" ] && [ \"$HOME\" = \"${profile%/*}\" ] && [ -z \"$OPENAI_API_KEY\" ] || exit 7
while IFS= read -r line; do case $line in *'<script'*) exit 8;; *'<details class=\"origin\" open>'*) open=1;; esac; done \
< \"$page\"
[ -n \"$open\" ] && printf '%%PDF-1.4 %s' \"$*\" > \"$pdf\"";
    let bench = with_browser(bench, prints);
    bench.run(["report", "-o", "report.pdf"]).succeeds();
    let pdf = fs::read_to_string(bench.path("report.pdf")).unwrap();
    assert!(pdf.contains("--host-resolver-rules=MAP * ~NOTFOUND"), "{pdf}");

    fs::write(bench.path("report.pdf"), "kept").unwrap();
    let fails = "#!/bin/sh\necho 'no room' >&2\n";
    fs::write(bench.path("bin/google-chrome"), fails).unwrap();
    let run = bench.run(["report", "-o", "report.pdf"]).fails_with(3);
    assert!(run.stderr().contains("google-chrome` wrote no PDF: no room"), "{run}");
    assert_eq!(fs::read_to_string(bench.path("report.pdf")).unwrap(), "kept");
}

#[test]
fn a_report_goes_where_it_was_asked_for_and_replaces_no_data() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["report", "-o", "report.html"]).fails_with(5);
    let ask = ["ask", "--model", "builtin", "-f", "sales.csv", "how many rows are there?"];
    bench.run(ask).succeeds();
    let run = bench.run(["report", "-o", "-"]).succeeds();
    assert!(run.stdout().starts_with("<!DOCTYPE html>"), "{run}");
    assert_eq!(bench.run(["report"]).succeeds().stdout().len(), run.stdout().len());
    let run = bench.run(["report", "-o", "report.docx"]).fails_with(2);
    assert!(run.stderr().contains("as `.docx`"), "{run}");
    bench.run(["report", "--format", "csv"]).fails_with(2);
    bench.run(["report", "7", "-o", "report.html"]).fails_with(5);
    fs::copy(bench.path("sales.csv"), bench.path("sales.md")).unwrap();
    bench.run(["ingest", "sales.md", "--name", "text"]).succeeds();
    let run = bench.run(["report", "-o", "sales.md"]).fails_with(2);
    assert!(run.stderr().contains("would replace `sales.md`"), "{run}");
    let inside = bench.session().join("turns/report.html");
    let run = bench.run(["report", "-o", inside.to_str().unwrap()]).fails_with(2);
    assert!(run.stderr().contains("is in the session's directory"), "{run}");
    assert!(!inside.exists() && !bench.path("report.html").exists());
}

#[test]
fn where_no_turn_has_an_answer_there_is_no_report() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ask", "--model", "builtin", "-f", "sales.csv", "why is the moon?"]).fails_with(9);
    let run = bench.run(["report", "-o", "report.html"]).fails_with(5);
    assert!(run.stderr().contains("no answer to report: turn 1 was refused"), "{run}");
    assert!(!bench.path("report.html").exists());
}

const TEMPLATE: &str = "# Sales of the *week*

Sent to **all**. <script>alert(1)</script>

## Products

```csv-agent
total revenue by product
```

In all:

```csv-agent
how many rows are there?
```
";

/// Replaces a product of the data, and adds a row.
fn change(bench: &Bench) {
    let data = fs::read_to_string(bench.path("sales.csv")).unwrap();
    let (head, last) = data.trim_end().rsplit_once('\n').unwrap();
    fs::write(bench.path("sales.csv"), format!("{head}\n{last}\n{last}\n")).unwrap();
}

fn n_turns(bench: &Bench) -> usize {
    fs::read_dir(bench.session().join("turns")).unwrap().count()
}

/// Writes the report of the template, answered by this model, and reads it back.
#[track_caller]
fn answered(bench: &Bench, model: &str) -> Page {
    let given = ["--from", "questions.md", "-f", "sales.csv", "--model", model];
    let run = ["report", "-o", "report.html"].into_iter().chain(given);
    bench.run(run).succeeds();
    let page = Page::read(&fs::read_to_string(bench.path("report.html")).unwrap());
    page.is_inert();
    page
}

#[test]
fn a_template_becomes_a_report_and_says_what_has_changed_since() {
    let bench = Bench::with(["sales.csv"]);
    fs::write(bench.path("questions.md"), TEMPLATE).unwrap();
    let first = answered(&bench, "builtin");
    assert_eq!(
        (first.texts("h1"), first.texts("h2")),
        (vec!["Sales of the *week*"], vec!["Products", "Data"])
    );
    let words = first.words();
    for said in ["all", "alert(1)", "There are", "The question: “how many rows are there?”"] {
        assert!(words.contains(said), "{said}: {words}");
    }
    assert!(!words.contains("hanged since") && n_turns(&bench) == 2, "{words}");
    // The same data has the same answer.
    answered(&bench, "builtin");
    assert_eq!(n_turns(&bench), 2);
    change(&bench);
    let words = answered(&bench, "builtin").words();
    assert!(words.matches("Changed since ").count() == 2, "{words}");
    assert!(words.contains("the answer was: There are 10 rows"), "{words}");
    let again = answered(&bench, "builtin").words();
    assert_eq!((again.matches("Changed since ").count(), n_turns(&bench)), (2, 4));
    assert_eq!(fs::read_to_string(bench.path("questions.md")).unwrap(), TEMPLATE);
    let given =
        ["--from", "questions.md", "-f", "sales.csv", "--format", "md", "--model", "builtin"];
    let run = bench.run(["report"].into_iter().chain(given)).succeeds();
    assert!(run.stdout().starts_with("# Sales of the "), "{run}");
    assert!(
        run.stdout().contains("\nSent to **all**. <script>"),
        "the author's text is as it is: {run}"
    );
    assert!(run.stdout().contains("\nIn all:\n\n**Changed since "), "{run}");
}

#[test]
fn an_answer_whose_table_has_another_name_has_changed() {
    let bench = Bench::with([]);
    let template = "~~~csv-agent\nst with the highest v\n~~~\n";
    fs::write(bench.path("questions.md"), template).unwrap();
    let report = |data: &str| {
        fs::write(bench.path("t.csv"), data).unwrap();
        let given = ["--from", "questions.md", "-f", "t.csv", "--format", "md"];
        let run = bench.run(["report", "--model", "builtin"].into_iter().chain(given));
        run.succeeds().stdout().to_owned()
    };
    report("st,v\na,1\nb,2\n");
    let changed = report("st,v\na,1\nc,2\nc,9\n");
    assert!(changed.contains("**Changed since ") && !changed.contains("**Unchanged"), "{changed}");
    assert!(changed.contains("the answer was: "), "{changed}");
    let unchanged = report("st,v\na,1\nc,2\nc,9\nb,0\n");
    assert!(unchanged.contains("**Unchanged since "), "{unchanged}");
}

#[test]
fn the_answer_of_a_model_is_repeated_on_new_data_without_the_model() {
    let bench = Bench::with(["sales.csv"]).script([
        round().runs("c1", BY_PRODUCT),
        round().calls("c2", "send_data_to_ui_as_df", send("by product")),
        round().says("Coffee leads."),
    ]);
    fs::write(bench.path("questions.md"), "```csv-agent\nRevenue by product?\n```\n").unwrap();
    let first = answered(&bench, "gpt-6.2-sol");
    let cells = |page: &Page| page.texts("td").into_iter().map(str::to_owned).collect::<Vec<_>>();
    change(&bench);
    let second = answered(&bench, "gpt-6.2-sol");
    assert_eq!((bench.n_requests(), n_turns(&bench)), (3, 1));
    assert_ne!(cells(&first), cells(&second));
    // Beside the value that changed is the earlier one.
    let marks = |page: &Page| page.texts("span").iter().filter(|it| it.starts_with("was ")).count();
    assert_eq!((marks(&first), marks(&second)), (0, 1), "{:?}", second.texts("span"));
    let words = second.words();
    for said in
        ["Coffee leads.", "Changed since ", "about earlier data. The charts and tables are new."]
    {
        assert!(words.contains(said), "{said}: {words}");
    }
    assert!(!words.contains("computed from earlier data"), "{words}");
    // Where its calls fail on the new data, the model is asked again.
    fs::write(bench.path("sales.csv"), "date,item,revenue\n2025-01-01,a,1\n").unwrap();
    bench.answers([round().says("There are no products now.")]);
    let words = answered(&bench, "gpt-6.2-sol").words();
    assert!(words.contains("There are no products now."), "{words}");
    assert_eq!(n_turns(&bench), 2);
}

#[test]
fn without_an_answer_to_each_question_there_is_no_report() {
    let bench = Bench::with(["sales.csv"]);
    let write = |text: &str| fs::write(bench.path("questions.md"), text).unwrap();
    let report = |output: &str| {
        let given = ["--from", "questions.md", "-f", "sales.csv", "--model", "builtin"];
        bench.run(["report", "-o", output].into_iter().chain(given))
    };
    write("```csv-agent\nhow many rows are there?\n```\n\n```csv-agent\nwhy is the moon?\n```\n");
    let run = report("report.html").fails_with(9);
    assert!(
        run.stderr().contains("the question on line 5 has no answer: I do not recognize"),
        "{run}"
    );
    assert!(!bench.path("report.html").exists());
    // What was answered is there the next time.
    assert_eq!(n_turns(&bench), 2);
    write("```csv-agent\nhow many rows are there?\n```\n");
    report("report.html").succeeds();
    assert_eq!(n_turns(&bench), 2);
    let run = report("questions.md").fails_with(2);
    assert!(run.stderr().contains("would replace `questions.md`"), "{run}");
    write("- a\n\n  ```csv-agent\n  how many rows are there?\n  ```\n");
    let run = report("report.html").fails_with(5);
    assert!(run.stderr().contains("line 3 has a question in a list"), "{run}");
    bench.run(["report", "--from", "nope.md", "-o", "report.html"]).fails_with(5);
    bench.run(["report", "1", "--from", "questions.md"]).fails_with(2);
    bench.run(["report", "-f", "sales.csv"]).fails_with(2);
}
