//! Queries by hand, results by hand, and what is said of them.

mod charts;
mod checks;
mod groups;
mod numbers;
mod plots;
mod readings;
mod rows;
mod steps;

use serde_json::{Value as Json, json};

use crate::lexicon::ENGLISH;
use crate::query::{
    Agg, Chart, GroupKey, Groups, Join, Listing, LogicalForm, Look, Measure, Op, Place, Shape,
    SortOrder, Source, Test, Value,
};
use crate::reading::Reading;
use crate::schema::{Table, of_instructions};
use crate::transcript::{Done, Turn};
use crate::{Call, Next};

/// Rounds that an answer may take.
const ROUNDS_MAX: usize = 7;

/// Makes a table of columns and their types.
pub(super) fn table(name: &str, n_rows: u64, columns: &[(&str, &str)]) -> Table {
    let mut text = format!("- {name}: {n_rows} rows, {} columns\n", columns.len());
    for (name, dtype) in columns {
        let name = serde_json::to_string(name).unwrap();
        text.extend(["  - ", &name, " ", dtype, "\n"]);
    }
    of_instructions(&text, &ENGLISH).remove(0)
}

/// The tables of the tests.
fn tables() -> Vec<Table> {
    let mut tables = vec![
        table(
            "penguins",
            344,
            &[
                ("species", "string"),
                ("island", "string"),
                ("bill_length_mm", "float64, 2 missing"),
                ("body_mass_g", "float64, 2 missing"),
                ("sex", "string, 11 missing"),
                ("year", "int64"),
            ],
        ),
        table(
            "staff",
            1470,
            &[
                ("id", "int64"),
                ("name", "string"),
                ("Department", "string"),
                ("Attrition", "string"),
                ("MonthlyIncome", "int64"),
                ("bonus", "float64, 1470 missing"),
                ("hired", "date"),
                ("is_manager", "bool"),
                ("Salary (USD)", "int64"),
            ],
        ),
        table("departments", 3, &[("Department", "string"), ("city", "string")]),
        table("none", 0, &[("a", "int64")]),
    ];
    tables[1].columns[3].yes = Some("Yes".to_owned());
    tables
}

/// Returns where a column is: `penguins.sex`.
fn at(path: &str) -> Place {
    let (name, column) = path.split_once('.').unwrap();
    let tables = tables();
    let table = tables.iter().position(|it| it.name == name).unwrap();
    Place { table, column: tables[table].column(column).unwrap() }
}

fn column(path: &str) -> Value {
    Value::Column(at(path))
}

fn key(path: &str) -> GroupKey {
    GroupKey::Column(at(path))
}

fn measure(agg: Agg, path: &str) -> Measure {
    Measure::of(agg, at(path))
}

fn one(path: &str, text: &str) -> Test {
    Test::In(column(path), vec![Value::Text(text.to_owned())])
}

fn is(path: &str, op: Op, n: f64) -> Test {
    Test::Is(column(path), op, Value::Number(n))
}

/// Makes a query of the first table, or of another.
fn query(table: usize, body: Shape) -> LogicalForm {
    let (from, look) = (Source { table, join: None }, Look::default());
    LogicalForm { from, filters: Vec::new(), body, chart: None, look }
}

fn groups(keys: Vec<GroupKey>, measures: Vec<Measure>) -> Groups {
    Groups::new(keys, measures)
}

fn top(n: u32) -> SortOrder {
    SortOrder { n: Some(n), ..SortOrder::DESCENDING }
}

fn listing(columns: &[&str]) -> Listing {
    Listing {
        columns: columns.iter().map(|it| at(it)).collect(),
        is_distinct: false,
        order: None,
        first: None,
    }
}

/// Rate of those who left.
fn attrition() -> Measure {
    Measure { agg: Agg::Share, of: None, only: vec![one("staff.Attrition", "Yes")] }
}

fn joined(mut query: LogicalForm) -> LogicalForm {
    let [left, right] = ["staff.Department", "departments.Department"].map(at);
    query.from.join = Some(Join { left, right });
    query
}

fn drawn(chart: Chart, mut query: LogicalForm) -> LogicalForm {
    query.chart = Some(chart);
    query
}

fn filtered(filters: Vec<Test>, mut query: LogicalForm) -> LogicalForm {
    query.filters = filters;
    query
}

/// Makes the output of a statement: names and types of columns, and rows.
fn frame(columns: &[&str], rows: &Json) -> Json {
    let columns: Vec<(&str, &str)> =
        columns.iter().map(|it| it.rsplit_once(':').unwrap()).collect();
    let rows = rows.as_array().unwrap();
    let row = |cells: &Json| {
        let cells = cells.as_array().unwrap().iter().cloned();
        let names = columns.iter().map(|it| it.0.to_owned());
        Json::Object(names.zip(cells).collect())
    };
    let dtypes = columns.iter().map(|it| (it.0.to_owned(), it.1.into())).collect();
    json!({
        "kind": "dataframe", "head": rows.iter().take(20).map(row).collect::<Vec<_>>(),
        "columns": columns.iter().map(|it| it.0).collect::<Vec<_>>(), "row_count": rows.len(),
        "dtypes": Json::Object(dtypes),
    })
}

/// How an answer came about.
struct Run {
    rounds: Vec<Vec<Call>>,
    next: Next,
}

impl Run {
    fn text(&self) -> &str {
        match &self.next {
            Next::Say(text, _) => text,
            other => panic!("no answer: {other:?}"),
        }
    }

    fn finding(&self) -> &str {
        self.text().split("\n\n").next().unwrap()
    }

    /// Returns what follows the sentence on how the question was read.
    fn notes(&self) -> &str {
        let line = self.text().split("\n\n").nth(1).unwrap();
        line.split_once(". ").map_or("", |it| it.1)
    }

    fn verdict(&self) -> &Json {
        match &self.next {
            Next::Say(_, verdict) => verdict,
            other => panic!("no answer: {other:?}"),
        }
    }

    fn calls(&self, tool: &str) -> Vec<&Json> {
        self.rounds.iter().flatten().filter(|it| it.0 == tool).map(|it| &it.1).collect()
    }

    fn chart(&self) -> &Json {
        self.calls("send_chart_to_ui").last().copied().expect("a chart")
    }

    /// Returns the statements, without their line ends.
    fn statements(&self) -> Vec<String> {
        let calls = self.calls("query_datasets");
        calls.iter().map(|it| it["sql"].as_str().unwrap().replace('\n', " ")).collect()
    }
}

/// Returns what happens next in a turn.
fn step(turn: &Turn, query: &LogicalForm, wants_verdict: bool) -> Next {
    match crate::compute::computed(turn, query, &tables()) {
        Ok(it) => crate::compute::next(turn, &read_as(query), it, &tables(), wants_verdict, false),
        Err(next) => next,
    }
}

/// Answers a query; each statement in turn gives the next of some outputs.
#[expect(clippy::needless_pass_by_value, reason = "a query reads better without a `&`")]
fn run(question: &str, query: LogicalForm, outputs: &[Json]) -> Run {
    let mut turn = Turn { question: question.to_owned(), pick: None, calls: Vec::new() };
    let (mut outputs, mut rounds) = (outputs.iter(), Vec::new());
    loop {
        match step(&turn, &query, true) {
            Next::Calls(calls) => {
                assert!(!calls.is_empty() && rounds.len() < ROUNDS_MAX, "{rounds:?}");
                for (name, arguments) in &calls {
                    let output = match *name {
                        "query_datasets" => {
                            outputs.next().unwrap_or_else(|| panic!("no output for {arguments}"))
                        }
                        _ => &json!({"kind": "sent"}),
                    };
                    let (name, arguments) = ((*name).to_owned(), arguments.clone());
                    turn.calls.push(Done { name, arguments, output: output.clone() });
                }
                rounds.push(calls);
            }
            next => {
                assert_eq!(outputs.next(), None, "an output that nobody asked for");
                return Run { rounds, next };
            }
        }
    }
}

/// Checks the first sentences of an answer from one statement.
#[track_caller]
fn says(query: LogicalForm, columns: &[&str], rows: &Json, text: &str) {
    let run = run("", query, &[frame(columns, rows)]);
    assert_eq!(run.finding(), text);
}

/// Returns the reading of a question that says all of a query.
fn read_as(query: &LogicalForm) -> Reading {
    let (cost, skipped, linked, before, rules) = (0.0, 0.0, 0.0, 1.0, Vec::new());
    let is_series = false;
    Reading { query: query.clone(), cost, skipped, linked, is_series, before, rules }
}
