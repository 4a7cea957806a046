//! The evidence of a turn's answer: the tables and charts that it sent, and the calls whose numbers it
//! quotes.

use std::collections::BTreeSet;

use serde_json::Value;

use csv_agent_provider::hosted::code_interpreter;
use csv_agent_types::event::{Body, CallStatus, ChartDrawn, DataFrame};
use csv_agent_types::frame::Frame;

use super::stored_turn::{PastCall, PastTurn};
use crate::grounding::{Claims, Grounds};

/// One piece of evidence.
#[derive(Debug, Clone, Copy)]
pub enum Proof<'a> {
    /// A table that was sent.
    Table(&'a DataFrame),
    /// A chart that was sent.
    Chart(&'a ChartDrawn),
    /// The value of the last expression, and the printed text.
    Value(&'a PastCall),
}

impl Proof<'_> {
    /// Returns its name for a sentence.
    pub(crate) fn whole_name(&self) -> String {
        match self {
            Proof::Table(table) => format!("table `{}`", table.logical_name),
            other => other.name(),
        }
    }

    /// Returns its name for a sentence, with how much of it the events have.
    pub fn name(&self) -> String {
        let part = |n_shown: u64, n_rows: u64| {
            let is_part = n_shown < n_rows;
            let told = is_part.then(|| format!(" (the first {n_shown} of {n_rows} rows)"));
            told.unwrap_or_default()
        };
        match self {
            Proof::Table(table) => {
                format!(
                    "table `{}`{}",
                    table.logical_name,
                    part(table.rows_emitted, table.row_count)
                )
            }
            Proof::Chart(chart) => format!("chart `{}`", chart.logical_name),
            Proof::Value(call) if call.is_hosted() => "what the code printed".to_owned(),
            Proof::Value(call) if call.computes() => {
                let shown = head(&call.result).map(|it| part(it.rows.len() as u64, it.row_count));
                let what = if call.runs_code() {
                    "the value of the code"
                } else {
                    "the result of the SQL"
                };
                format!("{what}{}", shown.unwrap_or_default())
            }
            Proof::Value(call) => format!("what `{}` found", call.call.name),
        }
    }
}

/// Returns the evidence of the answer, each with the index of its call from 0, in call order.
pub(crate) fn proofs(turn: &PastTurn) -> Vec<(usize, Proof<'_>)> {
    let quoted = quoted(turn);
    let mut proofs: Vec<(usize, Proof)> = Vec::new();
    for (at, call) in turn.calls.iter().enumerate() {
        for shown in &call.shown {
            match shown {
                Body::DataFrame(table) => proofs.push((at, Proof::Table(table))),
                Body::Chart(chart) => proofs.push((at, Proof::Chart(chart))),
                _ => {}
            }
        }
        if quoted.contains(&at) {
            proofs.push((at, Proof::Value(call)));
        }
    }
    if !proofs.is_empty() {
        return proofs;
    }
    // No record says which outputs of the code the answer uses.
    let calls = || turn.calls.iter().enumerate().filter(|(_, it)| says_something(it));
    let of_code = calls().filter(|(_, it)| it.computes());
    let found: Vec<_> = of_code.map(|(at, it)| (at, Proof::Value(it))).collect();
    if !found.is_empty() {
        return found;
    }
    calls().next_back().map(|(at, it)| (at, Proof::Value(it))).into_iter().collect()
}

/// Returns the calls that returned numbers of the reply found in no table or chart; of several with the
/// same number, the last.
fn quoted(turn: &PastTurn) -> BTreeSet<usize> {
    let Some(reply) = &turn.reply else { return BTreeSet::new() };
    let messages = reply.findings.iter().map(|it| it.finding.message.as_str());
    let claims = Claims::of(&reply.text, reply.output.as_ref(), (0..).zip(messages));
    let n_missing = |grounds: &Grounds| grounds.clone().ungrounded(&claims).len();
    let mut grounds = Grounds::default();
    grounds.text(&turn.question);
    for call in &turn.calls {
        grounds.code(&call.call.arguments);
        for shown in &call.shown {
            match shown {
                Body::DataFrame(table) => grounds.sent(table),
                Body::Chart(chart) => grounds.result(&chart.data),
                _ => {}
            }
        }
    }
    let mut missing = n_missing(&grounds);
    let mut quoted = BTreeSet::new();
    for (at, call) in turn.calls.iter().enumerate().rev() {
        if missing == 0 {
            break;
        }
        if !says_something(call) {
            continue;
        }
        grounds.call(call.status, &call.result);
        let still = n_missing(&grounds);
        if still < missing {
            quoted.insert(at);
        }
        missing = still;
    }
    quoted
}

/// Returns whether a call returned anything beyond what it sent.
fn says_something(call: &PastCall) -> bool {
    let is_nothing = call.result["kind"] == "none"
        || is_lazy(&call.result)
        || call.result["text"] == ""
        || call.is_hosted() && call.result["text"] == code_interpreter::UNTOLD;
    let is_something = !is_nothing || call.result.get("stdout").is_some();
    call.status == CallStatus::Ok && call.shown.is_empty() && is_something
}

/// Returns whether a call returned a frame on a cluster, which reveals none of its content.
pub(crate) fn is_lazy(result: &Value) -> bool {
    result["kind"] == "spark_dataframe"
}

/// Returns the frame as the model saw it, if a call returned one.
pub fn head(result: &Value) -> Option<Frame> {
    let columns: Vec<String> = serde_json::from_value(result.get("columns")?.clone()).ok()?;
    let rows = result.get("head")?.as_array()?;
    let dtype = |it: &str| result["dtypes"][it].as_str().unwrap_or_default().to_owned();
    Some(Frame::of_objects(columns, dtype, rows, result["row_count"].as_u64()?))
}

/// Returns the plotted rows of a chart as a frame.
pub fn plotted(chart: &ChartDrawn) -> Frame {
    let rows = chart.data.as_array().map_or(&[][..], Vec::as_slice);
    let columns = rows.first().and_then(Value::as_object).map(|it| it.keys().cloned().collect());
    let columns: Vec<String> = columns.unwrap_or_default();
    Frame::of_objects(columns, |_| String::new(), rows, chart.row_count)
}
