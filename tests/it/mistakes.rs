//! Typical mistakes on the command line: what was typed, and what is said.

use std::fs;

use crate::bench::Bench;

/// A command line of a shell, its exit status, and a part of what is said on stderr.
type Mistake = (&'static str, i32, &'static str);

const NO_COMMAND: &[Mistake] = &[
    ("csv-agent 'how many rows are there'", 2, "`csv-agent ask \"how many rows are there\"`"),
    ("csv-agent 'what is \"x\"?'", 2, "`csv-agent ask 'what is \"x\"?'`"),
    ("csv-agent sales.csv", 2, "`csv-agent ask -f sales.csv \"…\"`"),
    ("csv-agent nowhere.parquet", 2, "`csv-agent describe nowhere.parquet`"),
    ("csv-agent aks q", 2, "'ask'"),
    ("csv-agent how many rows", 2, "`csv-agent ask \"how …\"`"),
    ("csv-agent what is the total -f sales.csv", 2, "`csv-agent ask \"what …\"`"),
    ("csv-agent -f sales.csv 'how many rows'", 2, "`csv-agent ask -f FILE \"…\"`"),
    ("csv-agent set model x", 2, "`csv-agent config set SETTING VALUE`"),
    ("csv-agent history", 2, "`csv-agent show last`"),
    ("csv-agent version", 2, "`csv-agent --version`"),
    ("csv-agent ls", 2, "`csv-agent datasets`"),
    ("csv-agent list", 2, "`csv-agent datasets`"),
    ("csv-agent rm sales", 2, "`csv-agent datasets --rm NAME`"),
    ("csv-agent init", 2, "`csv-agent ingest FILE`"),
    ("csv-agent load sales.csv", 2, "`csv-agent ingest FILE`"),
    ("csv-agent sql 'select 1'", 2, "`csv-agent query \"select …\"`"),
    ("csv-agent stats sales.csv", 2, "`csv-agent describe FILE`"),
    ("csv-agent login", 2, "`OPENAI_API_KEY`"),
];

const ARGUMENTS: &[Mistake] = &[
    ("csv-agent ask sales.csv how many rows", 2, "`-f sales.csv`"),
    ("csv-agent ask -f sales.csv sales.csv 'how many rows'", 2, "`-f sales.csv`"),
    ("csv-agent ask --modle x q", 2, "'--model'"),
    ("csv-agent ask -f sales.csv --decimal , q", 2, "`csv-agent ingest FILE --decimal ,`"),
    ("csv-agent ask -f sales.csv --no-header q", 2, "`csv-agent ask \"…\"`"),
    ("csv-agent chat -f sales.csv --null x", 2, "`csv-agent ingest FILE --null LIST`"),
    ("csv-agent query -f sales.csv --sheet a q", 2, "`csv-agent query \"select …\"`"),
    (
        "csv-agent describe sales.csv --dtype a=int",
        2,
        "`csv-agent ingest FILE --dtype COLUMN=TYPE`",
    ),
    ("csv-agent ask --json --frmat x q", 2, "--format"),
    ("csv-agent ask --csv q", 2, "`--format csv`"),
    ("csv-agent ask --table t --json q", 2, "`--table` does not apply to `--format json`"),
    ("csv-agent show --table t", 2, "`--format csv`"),
    ("csv-agent rerun 1 --table t -o t.md", 2, "`--table` does not apply to `--format md`"),
    (
        "csv-agent report --format md -o r.html",
        2,
        "`--format md` does not fit the name of the file, `r.html`",
    ),
    ("csv-agent report --format json -o r.html", 2, "leave out `--format`"),
    ("csv-agent ask", 2, "csv-agent ask \"How many rows are there?\""),
    ("csv-agent ask ''", 2, "no question"),
    ("csv-agent ask --ephemeral 'how many rows'", 2, "`-f FILE`"),
    ("csv-agent ask --ephemeral 'how many rows'", 2, "`-d '*'`"),
    ("csv-agent ask --thresholds missing.toml q", 2, "`missing.toml`: no such file"),
    ("csv-agent ask --knowledge missing.md q", 2, "`missing.md`: no such file"),
    ("csv-agent ask --question-file missing.txt", 5, "`missing.txt`: no such file"),
    ("csv-agent ask --model builtin -f missing.csv q", 5, "`missing.csv`: no such file"),
    ("csv-agent ask --model builtin -f slaes.csv q", 5, "did you mean `sales.csv`?"),
    ("csv-agent ingest sales", 5, "did you mean `sales.csv`?"),
    ("csv-agent describe http://example.com/a.csv", 5, "curl -O"),
    ("csv-agent ask --model builtin -d slaes q", 5, "did you mean `sales`?"),
    ("csv-agent reset all", 2, "`--all`"),
    ("csv-agent reset </dev/null", 2, "`--yes`"),
    ("csv-agent doctor --fix", 2, "`--session --repair`"),
    ("csv-agent datasets remove sales", 5, "`csv-agent datasets --rm sales`"),
    ("csv-agent datasets rm sales 'b c'", 5, "`csv-agent datasets --rm sales --rm \"b c\"`"),
    ("csv-agent datasets rm", 5, "`csv-agent datasets --rm NAME`"),
    ("csv-agent datasets list", 5, "`csv-agent datasets`"),
    ("csv-agent datasets show sales", 5, "`csv-agent describe NAME`"),
    ("csv-agent describe missing.csv", 5, "`missing.csv`: no such file"),
    ("csv-agent query 'select revenu from sales'", 2, "did you mean `revenue`?"),
    ("csv-agent query 'select * from slaes'", 2, "did you mean `sales`?"),
    ("csv-agent ingest sales.csv --dtype x=int", 2, "the columns are `date`, `product`, `revenue`"),
    ("csv-agent config set", 2, "<SETTING>"),
    ("csv-agent config get model", 2, "`csv-agent config show`"),
    ("csv-agent config set timeout 5", 2, "did you mean `5s`?"),
    ("csv-agent config set profile nope", 2, "no profile `nope`"),
    ("csv-agent config unset modle", 2, "no setting `modle`"),
    ("csv-agent describe -f sales.csv", 2, "without a flag"),
    ("csv-agent describe sales.csv --column revenue", 2, "`csv-agent describe` shows all columns"),
    ("csv-agent check -f sales.csv", 2, "`csv-agent check --init FILE > checks.toml`"),
    ("csv-agent check sales.csv", 5, "`csv-agent check --init sales.csv`"),
    ("csv-agent ingest sales.csv --sep ';'", 2, "use `--delimiter`"),
    ("csv-agent ask -f sales.csv --sep ';' q", 2, "`csv-agent ingest FILE --delimiter CHAR`"),
    ("csv-agent ingest sales.csv --na-values x", 2, "use `--null`"),
    (
        "csv-agent ask --model builtin -d sales --redact date,product q",
        5,
        "`--redact date --redact product`",
    ),
    ("csv-agent query -f sales.csv/S1 'select 1'", 5, "name the file without the rest"),
    ("csv-agent ingest sales.csv --dtype revenue=int --name x", 5, "use `float` or `decimal`"),
    ("csv-agent ingest -f sales.csv", 2, "without a flag"),
    ("csv-agent ask --model builtin -f sales.csv -o . q", 5, "it is a directory"),
    ("csv-agent help ingests", 2, "did you mean `ingest`?"),
    ("csv-agent describe sales.csv -o x.csv", 2, "`csv-agent describe … > FILE`"),
    ("csv-agent diff sales.csv sales.csv --output x.csv", 2, "`csv-agent diff … > FILE`"),
    ("csv-agent check -o x.md", 2, "`csv-agent check … > FILE`"),
    ("csv-agent ingest -dash.csv", 2, "`./-dash.csv`"),
    ("csv-agent diff sales.csv sales.csv --key date,revenue", 2, "`--key date --key revenue`"),
    ("csv-agent upgrade", 2, "with the program that installed it"),
    (
        "echo a > x.csv && csv-agent ingest x.csv --name sales",
        5,
        "`csv-agent ingest --if-exists replace sales=x.csv`",
    ),
    (
        "csv-agent query 'select date_sub(date, 1) from sales'",
        2,
        "hint: `csv-agent help sql` lists",
    ),
    ("csv-agent query 'select * from (select 1'", 2, "hint: a `(` is not closed"),
    ("csv-agent query 'select count(*) over () top from sales'", 2, "write `as top`"),
    ("csv-agent query 'select dat_trunc(1, date) from sales'", 2, "did you mean `date_trunc`?"),
    ("csv-agent query -o x.csv.gz 'select 1'", 2, "cannot write an answer as `.gz`"),
    ("csv-agent query -o x.txt 'select 1'", 2, "or set `--format`"),
    ("csv-agent ask --model builtin -o x.foo 'how many rows'", 2, "or set `--format`"),
    ("csv-agent query 'select 1' -o sales.csv/x.csv", 5, "`sales.csv` is a file, not a directory"),
    (
        "csv-agent ask --model builtin --charts sales.csv 'revenue by product, as a bar chart'",
        5,
        "`sales.csv`: it is a file, not a directory",
    ),
    ("csv-agent ask --model builtin --events sales.csv/e q", 5, "`sales.csv` is a file"),
    ("csv-agent -S sales.csv/x datasets", 3, "sales.csv` is a file, not a directory"),
    (
        "printf 'a,b\\n1\\n' > short.csv && csv-agent ingest --strict short.csv",
        5,
        "cannot read `short.csv`: line 2 has fewer than 2 cells",
    ),
    ("csv-agent query 'select * from sales a asof join sales b on a.date >= b.date'", 2, "QUALIFY"),
    ("csv-agent query 'pivot sales on product using sum(revenue)'", 2, "sum(case when"),
    (
        "csv-agent query 'select * from sales pivot (sum(revenue) for product in (1))'",
        2,
        "sum(case",
    ),
    ("csv-agent query 'select * from sales using sample 3'", 2, "LIMIT gives the first rows"),
    ("csv-agent query 'summarize sales'", 2, "use `describe` instead of SQL"),
    ("csv-agent query \"select * from sales where date > '2024'\"", 2, "as '2024-12-31'"),
    ("csv-agent show --html x.pdf", 2, "`csv-agent report last -o FILE.pdf`"),
    (
        "csv-agent ask --model claude-sonnet-5-5 'how many rows'",
        2,
        "add `--base-url https://api.anthropic.com`",
    ),
    ("csv-agent query -f sales.csv,sales.csv 'select 1'", 5, "one by one, without commas"),
    ("csv-agent query \"select * from sales where date > 2024\"", 2, "compare `year(…)`"),
    ("csv-agent ingest --columns revenue sales.csv", 2, "`4-6` or `D-F`, not with names"),
    ("csv-agent ingest --overwrite sales.csv", 2, "use `--if-exists replace`"),
    ("csv-agent query --output-format csv 'select 1'", 2, "use `--format`"),
    ("csv-agent chat sales.csv --model builtin", 2, "`-f sales.csv`"),
    (
        "cp sales.csv b.csv && csv-agent ingest --union sales.csv b.csv",
        5,
        "with `--if-exists replace`, or give the new one another name with `--name`",
    ),
    (
        "csv-agent -q -S in/.csv-agent ingest sales.csv > in.txt && csv-agent -S in datasets",
        3,
        "use `--session-dir ",
    ),
    ("csv-agent show 7", 5, "hint: the session has only turn 1"),
    (
        "csv-agent ask --model builtin --verdict 'how many rows' -q > /dev/null",
        9,
        "as `no amount below 0`",
    ),
    ("csv-agent -S nope datasets", 3, "no session in `"),
    ("csv-agent -S nope describe", 3, "no session in `"),
    ("csv-agent -S nope describe sales", 3, "no session in `"),
    ("csv-agent -S nope query 'select 1'", 3, "no session in `"),
    ("csv-agent -S nope reset --yes", 3, "no session in `"),
];

const VALUES: &[Mistake] = &[
    ("csv-agent ask --format html q", 2, "`csv-agent report last -o FILE.html`"),
    ("csv-agent ask --format xlsx q", 2, "`--format csv -o FILE.csv`"),
    ("csv-agent ask --format parquet q", 2, "`csv-agent query -o FILE.parquet"),
    ("csv-agent ask --format yaml q", 2, "`--format json`"),
    ("csv-agent ask --fail-on error q", 2, "`--fail-on bad`"),
    ("csv-agent ask --fail-on warn q", 2, "'warning'"),
    ("csv-agent ask --api openai q", 2, "`--api responses`"),
    ("csv-agent ask --timeout 5 q", 2, "did you mean `5s`?"),
    ("csv-agent ask --base-url localhost:11434 q", 2, "`https://api.openai.com/v1`"),
    ("csv-agent describe --top 1000 sales", 2, "write a whole number from 0 to 100"),
    ("csv-agent describe --top -1 sales", 2, "write a whole number from 0 to 100"),
    ("csv-agent ask --retries -1 q", 2, "write a whole number from 0 to 10"),
    ("csv-agent datasets --head 0", 2, "write a whole number from 1 to 2000"),
    ("csv-agent --width 3 datasets", 2, "write a whole number that is at least 20"),
    ("csv-agent ingest sales.csv --skip-rows x", 2, "write a whole number, such as `3`"),
    ("csv-agent ingest sales.csv --widths 0,1", 2, "such as `5,10,3`"),
    ("csv-agent config set modle x", 2, "did you mean `model`?"),
    ("csv-agent config set max_rounds many", 2, "write a whole number"),
    ("csv-agent config set api_key sk-1", 2, "`api_key_file`"),
];

#[track_caller]
fn check(mistakes: &[Mistake]) {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    let before = fs::read(bench.session().join("datasets.json")).unwrap();
    let mut wrong = Vec::new();
    for (typed, code, said) in mistakes {
        let run = bench.shell(typed, &[]);
        if run.code() != Some(*code) || !run.stderr().contains(said) || !run.stdout().is_empty() {
            wrong.push(format!("{typed}: {said}: {run}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(fs::read(bench.session().join("datasets.json")).unwrap(), before);
    assert_eq!(bench.n_requests(), 0);
}

#[test]
fn a_word_that_is_no_command_leads_to_one() {
    check(NO_COMMAND);
}

#[test]
fn an_argument_at_the_wrong_place_leads_to_the_right_one() {
    check(ARGUMENTS);
}

#[test]
fn a_value_that_a_flag_does_not_take_leads_to_one_that_does() {
    check(VALUES);
}

#[test]
fn a_program_gets_the_same_tips() {
    let bench = Bench::with([]);
    let run = bench.run(["--json", "ls"]).fails_with(2);
    assert!(run.stderr().contains(r#""hint":"list the datasets: `csv-agent datasets`""#), "{run}");
}

#[test]
fn words_after_ask_and_chat_are_the_question() {
    let bench = Bench::with(["sales.csv"]);
    let words = ["ask", "how", "many", "rows", "--model", "builtin", "-f", "sales.csv"];
    let run = bench.run(words).succeeds();
    assert!(run.stdout().contains("10"), "{run}");
    let script = "csv-agent chat how many rows --model builtin -f sales.csv < /dev/null";
    assert!(bench.shell(script, &[]).succeeds().stdout().contains("10"));
}
