//! From a reading to its answer: the calls that compute and show it, one after another.
//!
//! A step looks at the calls that were made already, and returns those that are open. Calls that do not depend on each
//! other are made together.

use serde_json::{Value, json};

use csv_agent_types::limits::FINDING_ROWS_MAX;

use crate::answer::{Answer, Drawing, ResultHead, result_name};
use crate::query::{Agg, LogicalForm, Shape};
use crate::reading::Reading;
use crate::rule::rule;
use crate::schema::Table;
use crate::sql::{self, Statement};
use crate::transcript::{Done, Turn};
use crate::{Call, Next};

/// The tool that runs a statement.
const QUERY: &str = "query_datasets";
/// The tool that shows a table.
const SHOW: &str = "send_data_to_ui_as_df";
/// The tool that shows a chart.
pub(crate) const DRAW: &str = "send_chart_to_ui";
/// Why another chart is drawn than was asked for.
const BELOW_ZERO: &str =
    "Numbers below zero have no area and no share, so the chart has another type.";
/// Decimals of the fractions in a result; more where the numbers are small.
const DECIMALS: [u32; 3] = [4, 8, 12];

/// What a reading was computed with, and what it gave.
pub(crate) struct Computed {
    statement: Statement,
    pub result: ResultHead,
}

/// Returns the result of a query. The error is what happens next instead: calls that have to be made first, or
/// why there is no result.
pub(crate) fn computed(
    turn: &Turn,
    query: &LogicalForm,
    tables: &[Table],
) -> Result<Computed, Next> {
    let done = |call: Call| match turn.done(call.0, &call.1) {
        Some(done) => match done.error() {
            Some(error) => Err(Next::Refuse(failed(error))),
            None => Ok(ResultHead::of(done)),
        },
        None => Err(Next::Calls(vec![call])),
    };
    if let Some(sql) = sql::repeats(query, tables) {
        let found = done(query_call(&sql, None))?;
        cannot_join(query, tables, &found).map_err(Next::Refuse)?;
    }
    let name = result_name(tables);
    let mut decimals = DECIMALS[0];
    loop {
        let statement = sql::statement(query, tables, decimals);
        let result = done(query_call(&statement.sql, Some(&name)))?;
        let needed = if decimals == DECIMALS[0] { needed(query, &result) } else { decimals };
        if needed == decimals {
            return Ok(Computed { statement, result });
        }
        decimals = needed;
    }
}

/// Returns what happens next to answer a question that is read and was computed in this way.
pub(crate) fn next(
    turn: &Turn,
    reading: &Reading,
    computed: Computed,
    tables: &[Table],
    wants_verdict: bool,
    wants_table: bool,
) -> Next {
    let query = &reading.query;
    let name = result_name(tables);
    let Computed { statement, result } = computed;
    let mut answer = Answer {
        query,
        tables,
        statement: &statement,
        result,
        ends: None,
        question: &turn.question,
    };
    if let Some(reason) = answer.says_nothing() {
        return Next::Refuse(reason);
    }
    let mut open = OpenCalls { turn, calls: Vec::new() };
    let sent = (wants_table || 1 < answer.result.n_cells()).then(|| answer.logical_name());
    let shown = sent
        .as_ref()
        .and_then(|logical| open.made((SHOW, json!({"df_name": name, "logical_name": logical}))));
    if let Some(sql) = answer.ends_sql() {
        answer.ends = open.made(query_call(&sql, None)).map(ResultHead::of);
    }
    let blanks = answer.blanks_sql().and_then(|sql| open.made(query_call(&sql, None)));
    let blanks = blanks.map(|it| Answer::blanks(&ResultHead::of(it))).unwrap_or_default();
    let places = sql::places(query, tables, FINDING_ROWS_MAX)
        .filter(|_| wants_verdict && answer.has_found_rows());
    let places = places.and_then(|sql| open.made(query_call(&sql, None))).map(ResultHead::of);
    let drawing = answer.drawing(&|sql, name| open.find(&query_call(sql, name)));
    let mut notes: Vec<String> = unsaid(reading, tables).into_iter().chain(blanks).collect();
    match drawing {
        Drawing::No => {}
        Drawing::Impossible(reason) => notes.push(format!("There is no chart: {reason}.")),
        Drawing::Needs(sql, name) => drop(open.made(query_call(&sql, name.as_deref()))),
        Drawing::Chart(spec, told) => {
            let error = open.made((DRAW, spec.clone())).and_then(Done::error);
            let other = error.and_then(|_| unstacked(spec));
            match (error, other) {
                (Some(_), Some(other)) => {
                    open.made((DRAW, other));
                    notes.push(BELOW_ZERO.to_owned());
                }
                (Some(error), None) => {
                    notes.push(format!("There is no chart: {}.", error.trim_end_matches('.')));
                }
                (None, _) => notes.extend(told),
            }
        }
    }
    if !open.calls.is_empty() {
        return Next::Calls(open.calls);
    }
    let text = answer.text(&notes);
    let rows: Vec<u64> =
        places.iter().flat_map(|it| &it.head).filter_map(|it| it["row"].as_u64()).collect();
    let is_shown = shown.is_some_and(|it| it.error().is_none());
    let mut verdict = answer.document(&text, &rows, sent.as_deref().filter(|_| is_shown));
    if let Some(rule) = rule(query, tables) {
        verdict["rule"] = rule;
    }
    Next::Say(text, verdict)
}

/// The calls of a step that were not made yet.
struct OpenCalls<'a> {
    turn: &'a Turn,
    calls: Vec<Call>,
}

impl<'a> OpenCalls<'a> {
    fn find(&self, call: &Call) -> Option<&'a Done> {
        self.turn.done(call.0, &call.1)
    }

    /// Returns what a call said, or adds it to the open ones.
    fn made(&mut self, call: Call) -> Option<&'a Done> {
        let done = self.find(&call);
        if done.is_none() {
            self.calls.push(call);
        }
        done
    }
}

fn query_call(sql: &str, result_name: Option<&str>) -> Call {
    (QUERY, json!({"sql": sql, "result_name": result_name}))
}

/// Returns a chart in place of one that needs numbers of which none is below zero.
fn unstacked(mut spec: Value) -> Option<Value> {
    let kind = match spec["chart_type"].as_str()? {
        "area" => "line",
        "percent_stacked_column" => "stacked_column",
        _ => return None,
    };
    spec["chart_type"] = kind.into();
    Some(spec)
}

/// Says how values were combined, if the question does not.
fn unsaid(reading: &Reading, tables: &[Table]) -> Option<String> {
    let (agg, places) = reading.combined_unsaid()?;
    let names: Vec<String> =
        places.iter().map(|it| format!("`{}`", tables[it.table].columns[it.column].name)).collect();
    let (taken, other) = if *agg == Agg::Sum { ("total", "average") } else { ("average", "total") };
    Some(format!(
        "The question does not say how to combine the values of {}. I took the {taken}, not the {other}.",
        names.join(", ")
    ))
}

/// Says that a statement failed.
fn failed(error: &str) -> String {
    let first = error.lines().find(|it| !it.trim().is_empty()).unwrap_or(error);
    format!("I could not compute the answer: {first}")
}

/// Fails if a row would count several times, or if no row has a match.
fn cannot_join(query: &LogicalForm, tables: &[Table], found: &ResultHead) -> Result<(), String> {
    let (Some(join), Some(row)) = (query.from.join, found.head.first()) else { return Ok(()) };
    let [one, other] = [join.left, join.right].map(|it| {
        let table = &tables[it.table];
        (&table.name, &table.columns[it.column].name)
    });
    if row["repeats"].as_u64().is_some_and(|it| 0 < it) {
        return Err(format!(
            "`{}` has several rows with the same `{}`, so rows of `{}` would count more than once.",
            other.0, other.1, one.0
        ));
    }
    if row["matches"] == 0 {
        return Err(format!(
            "No `{}` of `{}` is a `{}` of `{}`, so the two have nothing in common.",
            one.1, one.0, other.1, other.0
        ));
    }
    Ok(())
}

/// Returns how many decimals show the smallest fraction of a result.
fn needed(query: &LogicalForm, result: &ResultHead) -> u32 {
    if matches!(query.body, Shape::Rows(_) | Shape::Check(_)) {
        return DECIMALS[0];
    }
    let fractions: Vec<f64> = result.fractions().map(f64::abs).collect();
    let small = fractions.iter().copied().filter(|it| 0.0 < *it).fold(f64::INFINITY, f64::min);
    match small {
        // All were rounded to nothing.
        small if small.is_infinite() && !fractions.is_empty() => DECIMALS[2],
        small if small < 0.001 => DECIMALS[2],
        small if small < 0.01 => DECIMALS[1],
        _ => DECIMALS[0],
    }
}
