//! Grounding: whether the numbers of a reply occur in anything that the turn has shown.
//!
//! Pure. Shown numbers are collected during the turn; then the reply is checked figure by figure. A figure
//! is grounded when it equals a shown one to the digits that it has, or is derived from a small table that
//! was shown. Numbers in names, code, lists and quotations of tools claim nothing. Text by the model itself
//! grounds nothing, except code that ran.

mod claims;
mod derived;
mod figures;
mod number;
mod quotable;

use std::collections::HashSet;

use serde_json::Value;

use self::claims::Claim;
pub(crate) use self::claims::Claims;
use self::derived::{Derived, NumberGrid, has};
use self::figures::{Date, Figure, Purpose, figures};
use self::number::{Number, NumberReading};
use self::quotable::Quotable;
use crate::spill::cut_middle;
use csv_agent_provider::hosted;
use csv_agent_session::store::MemoryBudget;
use csv_agent_session::{Session, turns};
use csv_agent_tools::ROW_COUNT_ESTIMATE;
use csv_agent_types::catalog::Dataset;
use csv_agent_types::conversation::{Item, ItemKind};
use csv_agent_types::event::{Body, CallStatus, DataFrame, Ungrounded};
use csv_agent_types::limits::{
    CLIENT_TURNS_GROUND_MAX, DERIVED_FROM_MAX, DERIVED_TABLES_MAX, GROUNDS_MAX,
    TOOL_OUTPUT_BYTES_MAX, UNGROUNDED_CHARS_MAX, UNGROUNDED_MAX,
};

/// Decimal digits that a float distinguishes.
const FLOAT_DIGITS: usize = 15;
/// Members of a result that repeat the arguments of the call.
const ECHOES: [&str; 8] = [
    "name", "value", "df_name", "logical_name", "chart_type", "data_key",
    // Of code at the provider: where it ran, and the names and sizes of its images.
    "container_id", "files",
];
/// The member of a result that names its rows, where these are only the first of a dataset.
const SAMPLE: &str = "sample";
/// The most numbers of a result that consists of nothing else.
const SCALARS_MAX: usize = 3;

/// The numbers and texts that a turn has shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grounds {
    /// Bit patterns, each once.
    values: HashSet<u64>,
    /// Whole numbers that a float would round.
    exact: HashSet<u128>,
    /// Numbers in code that ran. Nothing is derived from them, and they are not rounded.
    literals: Vec<f64>,
    days: HashSet<Date>,
    times: HashSet<(u8, u8)>,
    grids: Vec<NumberGrid>,
    /// Numbers that came alone, or almost alone.
    scalars: Vec<f64>,
    row_counts: Vec<f64>,
    quotable: Quotable,
    /// Values computed from only the first rows of a dataset, which ground nothing.
    samples: Option<Box<Grounds>>,
}

impl Grounds {
    /// Adds a text that the turn received or has shown.
    pub(crate) fn text(&mut self, text: &str) {
        let mut lines = text.lines().map(|it| self.line(it)).filter(|it| !it.is_empty());
        let mut grid: NumberGrid = lines.by_ref().take(DERIVED_FROM_MAX + 1).collect();
        if lines.count() + grid.len() <= DERIVED_FROM_MAX {
            if grid.iter().any(|it| it.len() != grid[0].len()) {
                grid = grid.concat().into_iter().map(|it| vec![it]).collect();
            }
            self.grid(grid);
        }
    }

    /// Adds the results of the last turns of a session, for a client's verdict on what they found.
    pub(crate) fn earlier_turns(&mut self, session: &Session) -> anyhow::Result<()> {
        let mut room = MemoryBudget::whole();
        for dir in turns::dirs(session.dir())?.iter().rev().skip(1).take(CLIENT_TURNS_GROUND_MAX) {
            for event in turns::events_within(dir, &mut room)?.0 {
                if let Body::ToolResult { status, result, .. } = event.body {
                    self.call(status, &result);
                }
            }
        }
        Ok(())
    }

    /// Adds the result of a tool call. Errors, and members that repeat the model's arguments, may be quoted
    /// but ground nothing. What code printed before it failed is a result.
    pub(crate) fn call(&mut self, status: CallStatus, result: &Value) {
        let is_ok = status == CallStatus::Ok && result["kind"] != "error";
        let Some(members) = result.as_object() else {
            if is_ok {
                self.result(result);
            }
            return;
        };
        if result[SAMPLE].is_string() {
            let mut members = members.clone();
            members.remove(SAMPLE);
            self.samples.get_or_insert_default().call(status, &Value::Object(members));
            return;
        }
        // A value that was searched for is data if it was found.
        let has = |name: &str| result[name].as_array().is_some_and(|it| !it.is_empty());
        let is_found = has("columns") || has("datasets");
        let (mut shown, mut echoed) = (members.clone(), Vec::new());
        shown.retain(|name, value| {
            let is_echo = ECHOES.contains(&name.as_str()) && !(name == "value" && is_found);
            let grounds = if is_ok { !is_echo } else { name == "stdout" };
            if !grounds {
                echoed.push(value.take());
            }
            grounds
        });
        for value in echoed {
            match value {
                Value::String(text) => self.quotable.tell(&text),
                value => self.quotable.tell(&value.to_string()),
            }
        }
        self.result(&Value::Object(shown));
    }

    /// Adds the user's JSON, such as a schema: its names and values.
    pub(crate) fn json(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.number(number),
            Value::String(text) => drop(self.line(text)),
            Value::Array(values) => values.iter().for_each(|it| self.json(it)),
            Value::Object(members) => {
                for (name, value) in members {
                    self.line(name);
                    self.json(value);
                }
            }
        }
    }

    /// Adds a whole result.
    pub(crate) fn result(&mut self, result: &Value) {
        match result {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.number(number),
            Value::String(text) => self.text(text),
            Value::Array(rows) => self.table(rows, true),
            Value::Object(members) => {
                // A sample of first rows also states the total number of rows.
                let n_rows = members.get("rows_in_dataset").or_else(|| members.get("row_count"));
                let n_rows = n_rows.and_then(Value::as_u64);
                for (name, value) in members {
                    self.line(name);
                    match fact((name, value)) {
                        // The head of a table only illustrates its content.
                        Value::Array(rows) if name == "head" => {
                            self.table(rows, n_rows.is_none_or(|it| it <= rows.len() as u64));
                        }
                        value => self.result(value),
                    }
                }
            }
        }
    }

    /// Adds all rows of a table that was sent.
    pub(crate) fn sent(&mut self, table: &DataFrame) {
        self.count(table.row_count);
        self.count(table.rows_emitted);
        self.count(table.columns.len() as u64);
        table.columns.iter().for_each(|it| drop(self.line(it)));
        self.table(table.rows.as_array().map_or(&[], Vec::as_slice), !table.truncated);
    }

    /// Adds an item of the conversation: output of a tool, or text of the user.
    pub(crate) fn item(&mut self, item: &Item) {
        match item.kind() {
            ItemKind::UserMessage => self.text(&item.text()),
            ItemKind::FunctionCallOutput => {
                let output = item.0.get("output").and_then(Value::as_str).unwrap_or_default();
                // A note may follow it.
                let mut values = serde_json::Deserializer::from_str(output).into_iter::<Value>();
                match values.next() {
                    Some(Ok(result)) if result.get("kind").is_some() => {
                        self.call(CallStatus::Ok, &result);
                        self.text(&output[values.byte_offset()..]);
                    }
                    _ if output.starts_with("{\"kind\":\"error\"") => self.quotable.tell(output),
                    _ => self.text(output),
                }
            }
            ItemKind::Other => {
                let Some(run) = hosted::call(item) else { return };
                let mut result = run.output.result;
                if let Some(Value::String(text)) = result.get_mut("text") {
                    *text = cut_middle(text, TOOL_OUTPUT_BYTES_MAX);
                }
                self.call(CallStatus::Ok, &result);
            }
            _ => {}
        }
    }

    /// Adds code that ran. Its author chose the numbers in it, such as a percentile.
    pub(crate) fn code(&mut self, code: &str) {
        self.literals_of(code, "#");
    }

    /// Adds a statement that ran, as code.
    pub(crate) fn statement(&mut self, sql: &str) {
        self.literals_of(sql, "--");
    }

    fn literals_of(&mut self, code: &str, remark: &str) {
        self.quotable.run(code);
        for line in code.lines() {
            let line = line.split(remark).next().unwrap_or_default();
            for (range, figure) in figures(line, Purpose::Everything) {
                match figure {
                    // The number of decimals to round to is not a result.
                    Figure::Number(_) if is_decimals(&line[..range.start], &line[range.end..]) => {}
                    Figure::Number(number) => {
                        let before = line[..range.start].trim_end();
                        let signs = ["<", ">", "<=", ">=", "=="];
                        let is_compared = signs.iter().any(|it| before.ends_with(it));
                        let values = number.readings.iter().map(|it| number.signed(it));
                        // 0 and 1 occur in all code.
                        self.literals
                            .extend(values.filter(|it| is_compared || ![0.0, 1.0].contains(it)));
                    }
                    figure => self.moment(figure),
                }
            }
        }
        self.literals.truncate(GROUNDS_MAX);
    }

    pub(crate) fn count(&mut self, n: u64) {
        #[expect(clippy::cast_precision_loss, reason = "nothing is counted beyond 2^53")]
        self.value(n as f64);
    }

    /// Adds the facts of a dataset: its name, its columns, and how many values each lacks.
    pub(crate) fn dataset(&mut self, name: &str, dataset: &Dataset) {
        // An estimate is not a fact.
        if !dataset.is_estimate() {
            self.row_count(dataset.row_count);
        }
        self.count(dataset.columns.len() as u64);
        self.line(name);
        for column in &dataset.columns {
            self.line(&column.name);
            if let Some(nulls @ 1..) = column.nulls {
                self.count(nulls);
                self.count(dataset.row_count.saturating_sub(nulls));
            }
        }
    }

    /// Adds the row count of a dataset, from which shares are derived.
    fn row_count(&mut self, n: u64) {
        self.count(n);
        #[expect(clippy::cast_precision_loss, reason = "no dataset has more rows than 2^53")]
        self.row_counts.push(n as f64);
    }

    /// Returns the first numbers of an answer that nothing grounds.
    pub(crate) fn ungrounded(mut self, claims: &Claims) -> Vec<Ungrounded> {
        for n_listed in &claims.n_listed {
            self.count(*n_listed);
        }
        let samples = self.samples.take().map(|it| Checker::of(*it));
        let checker = Checker::of(self);
        let missing = claims.all.iter().flat_map(|it| checker.missing(it, samples.as_ref()));
        missing.take(UNGROUNDED_MAX).collect()
    }

    /// Adds the figures of a line. Returns its numbers.
    fn line(&mut self, line: &str) -> Vec<Option<f64>> {
        let mut found = Vec::new();
        for (_, figure) in figures(line, Purpose::Everything) {
            match figure {
                Figure::Number(number) => found.push(self.figure(&number)),
                figure => self.moment(figure),
            }
        }
        found
    }

    fn moment(&mut self, figure: Figure) {
        match figure {
            Figure::Number(_) => {}
            Figure::DayOfMonth(day, number) => {
                self.days.extend((self.days.len() < GROUNDS_MAX).then_some(day));
                self.figure(&number);
            }
            Figure::Dates(days) => days.into_iter().for_each(|it| self.day(it)),
            Figure::Time(hour, minute) => drop(self.times.insert((hour, minute))),
        }
    }

    /// Adds every reading of a number in a text. Returns the first of them.
    fn figure(&mut self, number: &Number) -> Option<f64> {
        for reading in number.readings.iter().chain(&number.parts) {
            self.value(number.signed(reading));
            self.whole(reading.whole);
        }
        number.readings.first().map(|it| number.signed(it))
    }

    fn day(&mut self, day: Date) {
        self.value(f64::from(day.year.unwrap_or_default()));
        if self.days.len() < GROUNDS_MAX {
            self.days.insert(day);
            self.days.insert(Date { day: None, ..day });
            self.days.insert(Date { year: None, ..day });
        }
    }

    fn value(&mut self, value: f64) {
        // Beyond the bound, no number is recorded, large or small.
        if value.is_finite() && self.values.len() < GROUNDS_MAX {
            self.values.insert(value.to_bits());
        }
    }

    fn whole(&mut self, whole: Option<u128>) {
        let beyond = whole.filter(|it| 1 << 53 < *it && self.exact.len() < GROUNDS_MAX);
        self.exact.extend(beyond);
    }

    fn number(&mut self, number: &serde_json::Number) {
        self.value(number.as_f64().unwrap_or_default());
        let whole = number.as_u64().or(number.as_i64().map(i64::unsigned_abs));
        self.whole(whole.map(u128::from));
    }

    /// Adds rows. For a whole table, also adds the row count, the number of distinct texts in each column,
    /// and derived figures.
    fn table(&mut self, rows: &[Value], is_whole: bool) {
        let mut grid = NumberGrid::new();
        let mut texts: Vec<HashSet<&str>> = Vec::new();
        for row in rows {
            let cells: Vec<&Value> = match row {
                Value::Object(cells) => cells.iter().map(fact).collect(),
                Value::Array(cells) => cells.iter().collect(),
                cell => vec![cell],
            };
            texts.resize(texts.len().max(cells.len()), HashSet::new());
            let mut numbers = Vec::new();
            for (at, cell) in cells.into_iter().enumerate() {
                match cell {
                    Value::String(text) => {
                        texts[at].insert(text);
                        numbers.push(None);
                        self.line(text);
                    }
                    Value::Number(number) => {
                        numbers.push(number.as_f64());
                        self.number(number);
                    }
                    other => {
                        numbers.push(None);
                        self.result(other);
                    }
                }
            }
            if grid.len() <= DERIVED_FROM_MAX {
                grid.push(numbers);
            }
        }
        if let Some(names) = rows.first().and_then(Value::as_object) {
            names.keys().for_each(|it| drop(self.line(it)));
        }
        if is_whole {
            self.count(rows.len() as u64);
            for texts in texts.iter().filter(|it| !it.is_empty()) {
                self.count(texts.len() as u64);
            }
            self.grid(grid);
        }
    }

    fn grid(&mut self, grid: NumberGrid) {
        let numbers: Vec<f64> = grid.iter().flatten().flatten().copied().collect();
        if (1..=SCALARS_MAX).contains(&numbers.len()) && self.scalars.len() <= DERIVED_FROM_MAX {
            let new = numbers.iter().filter(|it| !self.scalars.contains(it)).copied();
            self.scalars.extend(new.collect::<Vec<_>>());
        }
        let is_small = (2..=DERIVED_FROM_MAX).contains(&numbers.len());
        if is_small && self.grids.len() < DERIVED_TABLES_MAX && !self.grids.contains(&grid) {
            self.grids.push(grid);
        }
    }
}

fn sort(values: &mut Vec<f64>) {
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
}

/// Returns the number of entries of each list in a text, and the number of rows of each table. The text may
/// state these counts.
fn listed(text: &str) -> Vec<u64> {
    let mut counts: Vec<i64> = Vec::new();
    let (mut n_entries, mut n_rows) = (0, 0);
    for line in text.lines().chain(["."]) {
        let line = line.trim_start();
        let is_entry = line.starts_with(['-', '*', '+']) && line[1..].starts_with(' ')
            || line.split_once(['.', ')']).is_some_and(|(it, _)| it.parse::<u8>().is_ok());
        if line.starts_with('|') {
            n_rows += 1;
            continue;
        }
        if is_entry {
            n_entries += 1;
            continue;
        }
        // The header of a table and the line below it are not rows.
        counts.push(std::mem::take(&mut n_rows) - 2);
        // Blank lines may separate the entries of a list.
        if !line.is_empty() {
            counts.push(std::mem::take(&mut n_entries));
        }
    }
    counts.into_iter().filter_map(|it| u64::try_from(it).ok().filter(|it| 0 < *it)).collect()
}

/// Checks whether figures are grounded.
struct Checker {
    grounds: Grounds,
    /// The values of the grounds, sorted.
    values: Vec<f64>,
    derived: Derived,
}

impl Checker {
    fn of(mut grounds: Grounds) -> Checker {
        let values = std::mem::take(&mut grounds.values).into_iter().map(f64::from_bits);
        let mut values: Vec<f64> = values.collect();
        sort(&mut values);
        sort(&mut grounds.literals);
        sort(&mut grounds.row_counts);
        let mut grids = std::mem::take(&mut grounds.grids);
        grids.push(grounds.scalars.iter().map(|it| vec![Some(*it)]).collect());
        let derived = Derived::of(&grids, &grounds.row_counts);
        Checker { grounds, values, derived }
    }

    fn missing<'a>(
        &'a self,
        claim: &'a Claim,
        samples: Option<&'a Checker>,
    ) -> impl Iterator<Item = Ungrounded> + 'a {
        let (mut n_bytes, mut n_letters) = (0, 0);
        let all: &str = &claim.text;
        let found = figures(all, Purpose::Claims(&self.grounds.quotable));
        found.filter(|(_, it)| !self.has(it)).map(move |(range, figure)| {
            n_letters += all[n_bytes..range.start].chars().count() as u64;
            n_bytes = range.start;
            let text = all[range].chars().take(UNGROUNDED_CHARS_MAX).collect();
            let path = claim.path.clone();
            let sample = samples.is_some_and(|it| it.has(&figure));
            Ungrounded { text, offset: n_letters, finding: claim.finding, path, sample }
        })
    }

    fn has(&self, figure: &Figure) -> bool {
        let Grounds { days, times, .. } = &self.grounds;
        match figure {
            Figure::Number(number) => self.has_number(number),
            Figure::Dates(dates) => dates.iter().any(|it| days.contains(it)),
            Figure::DayOfMonth(day, number) => days.contains(day) || self.has_number(number),
            Figure::Time(hour, minute) => {
                // `15:00` is also the hour 15 of a column of hours.
                let is_hour = *minute == 0 && has(&self.values, (*hour).into(), (*hour).into());
                is_hour
                    || times.contains(&(*hour, *minute))
                    || times.contains(&(hour + 12, *minute))
            }
        }
    }

    fn has_number(&self, number: &Number) -> bool {
        let has = |it: &NumberReading| self.has_reading(it, number);
        let Number { readings, parts, .. } = number;
        readings.iter().any(has) || 1 < parts.len() && parts.iter().all(has)
    }

    fn has_reading(&self, reading: &NumberReading, number: &Number) -> bool {
        let NumberReading { value, whole, n_digits, n_zeros, .. } = *reading;
        if whole.is_some() && FLOAT_DIGITS < n_digits - n_zeros {
            return whole.is_some_and(|it| self.grounds.exact.contains(&it));
        }
        let half = half_step(reading, number.is_about);
        // Values that a float cannot distinguish are equal.
        let range = |value: f64, half: f64| {
            let slack = half * 1e-9 + value * 4.0 * f64::EPSILON;
            (value - half - slack, value + half + slack)
        };
        let (low, high) = range(value, half);
        let (values, literals) = (&self.values, &self.grounds.literals);
        let is_among = |values: &[f64], (low, high): (f64, f64)| {
            // `fell by 12` matches −12, but `-12` does not match 12.
            has(values, -high, -low) || !number.is_negative && has(values, low, high)
        };
        if is_among(values, (low, high)) || is_among(literals, range(value, 0.0)) {
            return true;
        }
        let has_fraction = reading.step < 1.0;
        let has_ratio = |low, high| self.derived.has_ratio(n_digits, low, high);
        let has_amount = |low: f64, high: f64| {
            let has = |low, high| self.derived.has_amount(n_digits, low, high);
            has(-high, -low) || !number.is_negative && has(low, high)
        };
        if number.is_percent {
            let half = if half <= 0.0 { reading.step / 2.0 } else { half };
            let (low, high) = range(value / 100.0, half / 100.0);
            return is_among(values, (low, high)) || has_ratio(low, high) || has_amount(low, high);
        }
        has_amount(low, high) || (number.is_times || has_fraction) && has_ratio(low, high)
    }
}

/// Returns the tolerance of a figure: half a step of its last digit.
fn half_step(reading: &NumberReading, is_about: bool) -> f64 {
    let NumberReading { whole, step, n_digits, n_zeros, .. } = *reading;
    if whole.is_none() {
        return step / 2.0;
    }
    let n_zeros = i32::try_from(n_zeros).unwrap_or_default();
    match n_digits {
        _ if is_about => 10_f64.powi(n_zeros) / 2.0,
        // A one-digit whole number is usually a count.
        1 => 0.0,
        _ => step / 2.0,
    }
}

/// Returns a member of a result, or null in place of an estimate, which is not a fact.
fn fact<'a>((name, value): (&String, &'a Value)) -> &'a Value {
    if name == ROW_COUNT_ESTIMATE { &Value::Null } else { value }
}

/// Returns whether a number is how many decimals something is rounded to: `x.round(2)`, `round(avg(x), 2)`.
fn is_decimals(before: &str, behind: &str) -> bool {
    let is_last = before.trim_end().ends_with(',') && behind.starts_with(')');
    before.ends_with("round(") || is_last && before.contains("round(")
}

#[cfg(test)]
mod tests;
