//! `check --update` with a model, which compiles the claims that the built-in analyst refuses.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, Round, Run, round};

const ORDERS: &str = "order_id,customer,total\n1,zoltan,5\n2,quill,-1\n3,zoltan,900\n4,ximena,20\n";
const CLAIM: &str = "totals stay in the usual range of up to 500";
const SQL: &str = "select * from orders where total > 500";
const READING: &str = "no order has a `total` above 500";

/// A bench with orders and this claim about them.
fn bench(claim: &str, rounds: impl IntoIterator<Item = Round>) -> Bench {
    let bench = Bench::with([]).script(rounds);
    fs::write(bench.path("orders.csv"), ORDERS).unwrap();
    let rules =
        format!("[data]\norders = 'orders.csv'\n[[check]]\nname = 'rule'\nclaim = \"{claim}\"\n");
    fs::write(bench.path("checks.toml"), rules).unwrap();
    bench
}

/// Runs `check` with the key and the server of the bench.
fn check(bench: &Bench, flags: &str) -> Run {
    bench.shell(&format!("{}; csv-agent check {flags}", bench.server_settings()), &[])
}

fn answers(sql: &str, reading: &str) -> Round {
    round().says(&json!({"sql": sql, "reading": reading}).to_string())
}

/// The result, the reason and the hint of the one rule.
fn result(run: &Run) -> (String, String) {
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    let text = |member: &str| found[0][member].as_str().unwrap_or_default().to_owned();
    (text("result"), text("reason"))
}

#[test]
fn the_model_compiles_what_the_analyst_refuses_and_sees_no_value() {
    let bench = bench(CLAIM, [answers(SQL, READING)]);
    let run = check(&bench, "--update --model gpt-test").fails_with(11);
    assert_eq!(
        run.stdout(),
        format!(
            "bad        rule: 1 row\n\
             \x20            read by gpt-test as: {READING}\n\
             \x20            | {SQL}\n\
             \x20            orders.csv:4: order_id=3, customer=zoltan, total=900\n\
             \n1 rule: 1 bad\n"
        )
    );
    let note =
        run.stderr().lines().find_map(|it| it.strip_prefix("note: sent 1 request (")).unwrap();
    assert!(note.ends_with(": claims, and the names and types of columns"), "{run}");
    let request = bench.request(0);
    let body = request.body.to_string();
    for part in [CLAIM, r#"\"customer\" string"#, r#"\"total\" int64"#, "SELECT"] {
        assert!(body.contains(part), "{part} in {body}");
    }
    for value in ["zoltan", "quill", "ximena", "900", "orders.csv"] {
        assert!(!body.contains(value), "{value} in {body}");
    }
    assert!(request.body.get("tools").is_none(), "{body}");
    let lock = fs::read_to_string(bench.path("checks.lock")).unwrap();
    for line in ["by = \"gpt-test\"\n", "columns = [\"orders.total\"]\n"] {
        assert!(lock.contains(line), "{lock}");
    }
    // Nothing is asked again.
    check(&bench, "--update --model gpt-test").fails_with(11);
    let run = bench.shell("csv-agent check --locked --json", &[]).fails_with(11);
    assert_eq!(serde_json::from_str::<Value>(run.stdout()).unwrap()[0]["compiled_by"], "gpt-test");
    assert_eq!(fs::read_to_string(bench.path("checks.lock")).unwrap(), lock);
}

#[test]
fn the_model_learns_why_its_statement_is_refused() {
    let rounds = [
        answers("select * from orders where totl > 500", READING),
        answers("select * from orders where total > 500 and total < 0", READING),
        answers(&format!("{SQL};"), READING),
    ];
    let bench = bench(CLAIM, rounds);
    check(&bench, "-q --update --model gpt-test").fails_with(11);
    let told = |at: usize| {
        let body = bench.request(at).body.to_string();
        body.rsplit("Refused: ").next().unwrap().to_owned()
    };
    assert!(told(1).contains("totl"), "{}", told(1));
    assert!(told(2).starts_with("nothing that was tried breaks it"), "{}", told(2));
    let lock = fs::read_to_string(bench.path("checks.lock")).unwrap();
    assert!(lock.contains(&format!("sql = \"{SQL}\"\n")), "{lock}");
}

#[test]
fn what_is_not_a_rule_is_refused_and_written_nowhere() {
    let undecided = |sql: &str| {
        let bench =
            bench(CLAIM, [answers(sql, READING), answers(sql, READING), answers(sql, READING)]);
        let run = check(&bench, "-q --update --model gpt-test --json").fails_with(9);
        assert_eq!(bench.n_requests(), 3);
        let lock = fs::read_to_string(bench.path("checks.lock")).unwrap();
        assert!(!lock.contains("claim"), "{lock}");
        let (result, reason) = result(&run);
        assert_eq!(result, "undecided");
        let start = "`gpt-test` wrote no statement that can be used: ";
        reason.strip_prefix(start).unwrap_or_else(|| panic!("{reason}")).to_owned()
    };
    for (sql, reason) in [
        ("delete from orders where total > 500", "DELETE is not a query"),
        ("select * from orders where total > 500; select 1", "there are several statements"),
        ("select 500 as total, 'orders' as t", "the statement reads no table"),
        // Not the rule.
        ("select * from orders where total < 0", "the rule contains `500`"),
        ("select * from orders where 500 < 0 and total > 0", "nothing that was tried breaks it"),
        (
            "select * from orders where cast(customer as int) > 500",
            "its statement fails at a value",
        ),
        ("select * from orders where total <= 5000", "its statement finds all 4 rows"),
    ] {
        let found = undecided(sql);
        assert!(found.contains(reason), "{sql}: {found}");
    }
}

#[test]
fn a_model_may_say_no() {
    for (round, reason) in [
        (
            round().says(&json!({"sql": null, "reading": "usual is not defined"}).to_string()),
            "`gpt-test` refuses it: usual is not defined",
        ),
        (
            round().refuses("I cannot\u{1b}[2J do that."),
            "the model refuses it: I cannot\\x1b[2J do that.",
        ),
        (
            round().says("{").ends_early_for("max_output_tokens"),
            "the model's answer was cut (max_output_tokens)",
        ),
    ] {
        let bench = bench(CLAIM, [round]);
        let run = check(&bench, "-q --update --model gpt-test --json").fails_with(9);
        assert_eq!(result(&run), ("undecided".to_owned(), reason.to_owned()));
    }
    let bench = bench(CLAIM, [round().says("Sure!"), answers(SQL, READING)]);
    check(&bench, "-q --update --model gpt-test").fails_with(11);
}

#[test]
fn a_model_is_asked_only_if_the_analyst_is_not_sure_and_one_is_configured() {
    for (claim, flags, status) in [
        (CLAIM, "--update", 9),
        (CLAIM, "--update --model builtin", 9),
        ("no total is above 500", "--update --model gpt-test", 11),
        (CLAIM, "", 9),
    ] {
        let bench = bench(claim, []);
        check(&bench, &format!("-q {flags}")).fails_with(status);
    }
    let asked = |flags: &str, status: i32, rounds: Vec<Round>| {
        let bench = bench(CLAIM, rounds);
        let script = format!(
            "{}; CSV_AGENT_MODEL=gpt-test csv-agent check -q --update {flags}",
            bench.server_settings()
        );
        bench.shell(&script, &[]).fails_with(status);
    };
    asked("", 11, vec![answers(SQL, READING)]);
    asked("--no-input", 9, Vec::new());
    asked("--no-input --model other", 11, vec![answers(SQL, READING)]);
}

#[test]
fn a_model_that_cannot_be_asked_ends_the_command_and_changes_no_lock() {
    let key = || round().errs(401, "invalid_request_error", "invalid_api_key", "Incorrect API key");
    let bench = bench(CLAIM, [key()]);
    check(&bench, "-q --update --model gpt-test").fails_with(4);
    assert!(!bench.path("checks.lock").exists());
    let run = bench.shell("csv-agent check -q --update --model gpt-test", &[]).fails_with(4);
    assert!(run.stderr().starts_with("error: no API key for "), "{run}");
}
