//! Claims in words with what is true of them: a claim is refused, or its statement finds what its words mean.
//!
//! tests/claims/README.md says where claims and truth come from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::Value;

use crate::bench::{Bench, is_slow_run};

/// Tables of the question corpus that claims are about, by the names that the claims use.
const OF_QUESTIONS: [(&str, &str); 3] =
    [("cars", "cars.csv"), ("riots", "la_riots.csv"), ("weather", "seattle_weather.csv")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Returns the table that claims are compiled for.
fn table(name: &str) -> PathBuf {
    let of_questions = OF_QUESTIONS.iter().find(|it| it.0 == name);
    match of_questions {
        Some((_, file)) => root().join("analyst/tables").join(file),
        None => root().join(format!("claims/tables/{name}.csv")),
    }
}

/// Returns a file of rules, which are named after the places of the claims.
fn rules(tables: &[&str], path: impl Fn(&str) -> PathBuf, claims: &[&Value]) -> String {
    let mut text = "[data]\n".to_owned();
    for name in tables {
        writeln!(text, "{name} = '{}'", path(name).display()).unwrap();
    }
    for (at, it) in claims.iter().enumerate() {
        write!(text, "[[check]]\nname = '{at}'\nclaim = {}\n", it["claim"]).unwrap();
    }
    text
}

/// Compiles claims about tables, and returns what is wrong with the results on broken versions of the tables.
fn mistakes(tables: &[&str], claims: &[&Value]) -> Vec<String> {
    let bench = Bench::with([]);
    fs::write(bench.path("clean.toml"), rules(tables, table, claims)).unwrap();
    let broken = |name: &str| root().join(format!("claims/tables/broken/{name}.csv"));
    fs::write(bench.path("broken.toml"), rules(tables, broken, claims)).unwrap();
    let script = "csv-agent check -q clean.toml --update --model builtin > /dev/null; cp clean.lock broken.lock; \
                  csv-agent check -q --fail-on never broken.toml --json || test $? = 9";
    let run = bench.shell(script, &[]).succeeds();
    let found: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
    let mistake = |(claim, found): (&&Value, &Value)| {
        let is_compiled = found["sql"].is_string();
        let is_refused = claim["refused"] == true;
        let n_rows = claim["found"].as_u64();
        if is_compiled && n_rows.is_some_and(|it| found["row_count"] != it) {
            let (n, sql) = (&found["row_count"], &found["sql"]);
            return Some(format!("{claim}: the statement finds {n}: {sql}"));
        }
        (is_compiled == is_refused).then(|| {
            let now = if is_compiled { "is compiled" } else { "is refused" };
            format!("{claim}: {now} now: {} {}", found["sql"], found["reason"])
        })
    };
    claims.iter().zip(&found).filter_map(mistake).collect()
}

#[test]
fn a_claim_in_words_means_what_it_says_or_is_refused() {
    if !is_slow_run() {
        return;
    }
    let text = fs::read_to_string(root().join("claims/claims.jsonl")).unwrap();
    let claims: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let mut by_tables: BTreeMap<Vec<&str>, Vec<&Value>> = BTreeMap::new();
    for claim in &claims {
        let tables = claim["tables"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        by_tables.entry(tables.collect()).or_default().push(claim);
    }
    let mistakes: Vec<String> = thread::scope(|scope| {
        let runs =
            by_tables.iter().map(|(tables, claims)| scope.spawn(|| mistakes(tables, claims)));
        let runs: Vec<_> = runs.collect();
        runs.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    assert!(mistakes.is_empty(), "{} mistakes:\n{}", mistakes.len(), mistakes.join("\n"));
}
