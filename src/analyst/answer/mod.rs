//! The answer: what is shown, and the sentences that go with it.

mod chart;
mod describe;
mod sentence;

use std::fmt::Write;

use serde_json::{Value, json};

use csv_agent_text::digits;
use csv_agent_types::limits::{CHART_ROWS_MAX, FINDING_ROWS_MAX};

use super::code::Program;
use super::ground::Place;
use super::reading::{Agg, Check, Filter, Group, Over, Reading, What};
use super::schema::Table;
use super::transcript::{Done, Turn};

/// The code that prepares the frame of a chart, and the chart, once that code has run.
type Drawing = (Option<String>, Option<Value>);

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    reading: &'a Reading,
    tables: &'a [&'a Table],
    program: &'a Program,
    /// The first rows of the result.
    head: Vec<Value>,
    /// The columns of the result.
    columns: Vec<String>,
    /// Those that hold numbers.
    numbers: Vec<String>,
    /// How many rows the result has.
    n_rows: u64,
    /// The reply.
    pub text: String,
    verdict: Option<(bool, String)>,
}

/// Says that the code failed.
pub(crate) fn failed(error: &str) -> String {
    let last = error.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or(error);
    format!("I could not compute the answer: {last}")
}

/// Returns to how many decimals the numbers of an answer are rounded: enough for the smallest of those seen.
pub(crate) fn decimals(heads: &[&Done]) -> u32 {
    let rows = heads.iter().filter_map(|it| it.output["head"].as_array()).flatten();
    let cells = rows.filter_map(Value::as_object).flatten();
    let numbers = cells.filter_map(|(_, it)| it.as_f64()).map(f64::abs).filter(|it| 0.0 < *it);
    match numbers.fold(f64::INFINITY, f64::min) {
        small if small < 1e-4 => 12,
        small if small < 0.01 => 8,
        _ => 4,
    }
}

impl<'a> Answer<'a> {
    /// Reads what the code gave.
    pub(crate) fn new(
        reading: &'a Reading,
        tables: &'a [&'a Table],
        program: &'a Program,
        output: &Value,
    ) -> Answer<'a> {
        let head = output["head"].as_array().cloned().unwrap_or_default();
        let texts = |it: &Value| it.as_str().map(str::to_owned);
        let columns: Vec<String> =
            output["columns"].as_array().into_iter().flatten().filter_map(texts).collect();
        let is_number = |it: &&String| {
            let dtype = output["dtypes"][it.as_str()].as_str().unwrap_or_default().to_lowercase();
            dtype.starts_with("int") || dtype.starts_with("float") || dtype.starts_with("uint")
        };
        let numbers = columns.iter().filter(is_number).cloned().collect();
        let n_rows = output["row_count"].as_u64().unwrap_or_default();
        let mut answer = Answer {
            reading,
            tables,
            program,
            head,
            columns,
            numbers,
            n_rows,
            text: String::new(),
            verdict: None,
        };
        if let What::Check(check) = &reading.what {
            answer.verdict = Some(answer.judge(check));
        }
        answer
    }
}

impl Answer<'_> {
    /// Returns the calls that show the result and were not made yet.
    pub(crate) fn shown(&self, turn: &Turn) -> Vec<(&'static str, Value)> {
        let is_open = |it: &(&'static str, Value)| turn.done(it.0, &it.1).is_none();
        let mut calls = Vec::new();
        let has_table = 0 < self.n_rows && 1 < self.n_rows * self.columns.len() as u64;
        if has_table {
            let name = self.logical_name();
            calls.push((
                "send_data_to_ui_as_df",
                json!({"df_name": "result", "logical_name": name}),
            ));
        }
        if let Some((code, spec)) = self.chart(turn) {
            if let Some(code) = code {
                let prepare = ("python_repl", json!({"code": code}));
                if is_open(&prepare) {
                    calls.push(prepare);
                    return calls.into_iter().filter(is_open).collect();
                }
            }
            if let Some(spec) = spec {
                calls.push(("send_chart_to_ui", spec));
            }
        }
        calls.into_iter().filter(is_open).collect()
    }

    /// Returns why the result answers nothing: there is nothing to check, to draw or to compute it from, or
    /// groups of one row each have no most common one.
    pub(crate) fn says_nothing(&self) -> Option<String> {
        if let Some(reason) = self.checks_nothing() {
            return Some(reason);
        }
        if let Some(join) = &self.reading.join
            && self.n_rows == 0
        {
            let [one, other] = [self.named(&[join.left]), self.named(&[join.right])];
            return Some(format!("No rows match between {one} and {other}."));
        }
        let is_first = matches!(&self.reading.what, What::Aggregate { rank: Some(rank), .. }
            if rank.n == Some(1));
        let is_number = self.reading.what.groups().is_empty()
            && matches!(
                self.reading.what,
                What::Aggregate { .. } | What::Share { .. } | What::Ratio { .. }
            );
        let is_one = self.n_rows == 1 && (is_number || is_first);
        if self.reading.chart.is_some() && (self.n_rows == 0 || is_one) {
            let found = if is_one { "the result is one row" } else { "no row matches" };
            return Some(format!("There is nothing to draw: {found}."));
        }
        let What::Aggregate { measures, groups, rank, over: Over::Plain, .. } = &self.reading.what
        else {
            return None;
        };
        let label = self.program.measures.first()?;
        if groups.is_empty() && self.head.first().is_some_and(|it| it[label.as_str()].is_null()) {
            return Some("There are no values to calculate it from.".to_owned());
        }
        if rank.is_some_and(|it| it.n.is_some()) && self.n_rows == 0 {
            return Some("There is nothing to rank: no row matches.".to_owned());
        }
        // Of the fewest, one is a number like others.
        if rank.is_none_or(|it| it.is_ascending) {
            return None;
        }
        let counted = measures.first()?;
        let counts_rows = counted.of.is_none() || counted.agg == Agg::Distinct;
        let is_flat = 1 < self.n_rows && self.head.iter().all(|it| it[label.as_str()] == 1);
        (counts_rows && is_flat && !groups.is_empty()).then(|| {
            let by = self.named(&groups.iter().map(Group::place).collect::<Vec<_>>());
            let what = match counted.of {
                Some(place) => format!("`{}`", self.name(place)),
                None => "row".to_owned(),
            };
            format!("Each {by} has one {what}, so they cannot be ranked by how many they have.")
        })
    }

    /// Returns why a check says nothing: of a column without values, everything holds.
    fn checks_nothing(&self) -> Option<String> {
        let What::Check(check) = &self.reading.what else { return None };
        let places: Vec<Place> = match check {
            Check::Any(filters) | Check::All(filters) => {
                filters.iter().flat_map(Filter::judged).collect()
            }
            Check::Unique(places) | Check::Inliers(places) => places.clone(),
            Check::Number(measure, ..) => measure.of.into_iter().collect(),
            Check::Refers(join) => vec![join.left],
            Check::Present(_) | Check::Varies(_) => Vec::new(),
        };
        if self.tables[0].n_rows == 0 {
            return Some(format!(
                "`{}` has no rows: there is nothing to check.",
                self.tables[0].name
            ));
        }
        let table = self.tables[0];
        let is_empty =
            |it: &&Place| it.table == 0 && table.columns[it.column].n_missing == table.n_rows;
        let place = places.iter().find(is_empty)?;
        Some(format!("`{}` has no values: there is nothing to check.", self.name(*place)))
    }

    fn logical_name(&self) -> String {
        let table = super::code::slug(&self.tables[0].name);
        let measure = self.program.measures.first().map(|it| super::code::slug(it));
        let groups: Vec<String> =
            self.program.groups.iter().map(|it| super::code::slug(it)).collect();
        match (measure, groups.is_empty()) {
            (Some(measure), true) => measure,
            (Some(measure), false) => format!("{measure}_by_{}", groups.join("_and_")),
            (None, _) => table,
        }
    }

    /// Adds the sentences, now that all is shown.
    pub(crate) fn finished(mut self, turn: &Turn) -> Self {
        let mut text = match &self.verdict {
            Some((_, message)) => message.clone(),
            None => self.sentence(),
        };
        let _ = write!(text, "\n\nI read this as: {}.", self.describe());
        for note in self.notes() {
            let _ = write!(text, " {note}");
        }
        let chart = turn.calls.iter().rev().find(|it| it.name == "send_chart_to_ui");
        if let Some(error) = chart.and_then(Done::error) {
            let _ = write!(text, " There is no chart: {}.", error.trim_end_matches('.'));
        } else if chart.is_none() && self.reading.chart.is_some() {
            text += " There is no chart: the result does not fit one.";
        } else if chart.is_some() && CHART_ROWS_MAX as u64 <= self.n_rows {
            let _ =
                write!(text, " The chart shows {CHART_ROWS_MAX} of {} rows.", grouped(self.n_rows));
        }
        self.text = text;
        self
    }

    /// Returns the answer with its verdict, in the form that a gate reads.
    pub(crate) fn with_verdict(&self, rows: &Value, turn: &Turn) -> Value {
        let (assessment, findings) = match &self.verdict {
            None => (Value::Null, Vec::new()),
            Some((true, _)) => (json!("good"), Vec::new()),
            Some((false, message)) => {
                let column = self.checked_column();
                let mut sent = turn.calls.iter().filter(|it| it.name == "send_data_to_ui_as_df");
                let is_sent = sent.any(|it| it.error().is_none());
                let finding = json!({
                    "severity": "bad", "message": message, "dataset": self.tables[0].name, "column": column,
                    "rows": rows, "table": is_sent.then(|| self.logical_name()),
                });
                (json!("bad"), vec![finding])
            }
        };
        json!({"text": self.text, "findings": findings, "assessment": assessment})
    }

    /// Returns the code that tells where the rows stand that a check found.
    pub(crate) fn rows_to_name(&self) -> Option<String> {
        let What::Check(check) = &self.reading.what else { return None };
        let is_of_rows = !matches!(check, Check::Number(..) | Check::Varies(_));
        // Rows of two tables are rows of neither.
        (is_of_rows && 0 < self.n_rows && self.reading.join.is_none())
            .then(|| format!("print(bad.index[:{FINDING_ROWS_MAX}].tolist())"))
    }

    fn checked_column(&self) -> Option<String> {
        let What::Check(check) = &self.reading.what else { return None };
        let place = match check {
            Check::Any(filters) | Check::All(filters) => filters.last()?.place,
            Check::Unique(places)
            | Check::Present(places)
            | Check::Varies(places)
            | Check::Inliers(places) => *places.first()?,
            Check::Number(measure, ..) => measure.of?,
            Check::Refers(join) => join.left,
        };
        Some(self.name(place))
    }

    fn name(&self, place: Place) -> String {
        super::code::column_name(self.tables, self.reading, place)
    }

    fn named(&self, places: &[Place]) -> String {
        let names: Vec<String> = places.iter().map(|it| format!("`{}`", self.name(*it))).collect();
        names.join(", ")
    }

    /// Returns what the user should know of how it was computed.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.reading.notes.clone();
        let groups: &[Group] = match &self.reading.what {
            What::Aggregate { groups, .. } | What::Share { groups, .. } => groups,
            _ => &[],
        };
        for group in groups {
            let place = group.place();
            let column = &self.tables[place.table].columns[place.column];
            if 0 < column.n_missing && place.table == 0 {
                notes.push(format!(
                    "Rows without `{}` ({} in all) are in no group.",
                    column.name,
                    grouped(column.n_missing)
                ));
            }
        }
        if let What::Aggregate { measures, groups, .. } = &self.reading.what
            && groups.is_empty()
        {
            let mut told = Vec::new();
            for place in measures.iter().filter_map(|it| it.of).filter(|it| it.table == 0) {
                let column = &self.tables[place.table].columns[place.column];
                if 0 < column.n_missing && !told.contains(&place) {
                    told.push(place);
                    notes.push(format!(
                        "`{}` is missing in {} of {} rows; these are not counted.",
                        column.name,
                        grouped(column.n_missing),
                        grouped(self.tables[0].n_rows)
                    ));
                }
            }
        }
        notes
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|it| it.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

/// Writes a whole number with its thousands apart.
fn grouped(value: u64) -> String {
    digits::grouped(&value.to_string())
}
