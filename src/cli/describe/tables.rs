//! Descriptions as tables.

use serde_json::{Value, json};

use csv_agent_query::describe::{Bin, ColumnFacts};
use csv_agent_render::table::{self, TableStyle};
use csv_agent_text::{
    bars,
    digits::{count, grouped, number},
    fit, sanitize,
};
use csv_agent_types::catalog::Column;
use csv_agent_types::frame::Frame;

use super::described::{Described, remarks};
use crate::listing;
use crate::options::GlobalOptions;

/// Cells of a frequent value on a terminal.
const VALUE_CELLS_MAX: usize = 24;
/// Lines of a cell on a terminal.
const CELL_LINES_MAX: usize = 4;
/// Columns of a dataset that a terminal shows.
const COLUMNS_MAX: usize = 200;

/// Returns one row a column of each dataset, with all that is known.
pub(super) fn columns(described: &[Described]) -> Frame {
    let names = [
        "dataset", "column", "type", "nulls", "distinct", "min", "max", "mean", "std", "q25",
        "median", "q75", "histogram", "top", "is_key", "note",
    ];
    let rows = described.iter().flat_map(|it| {
        let columns = it.dataset.columns.iter().zip(it.description.facts());
        columns.map(|(column, facts)| row(&it.name, column, facts))
    });
    listing::frame(&names, &["nulls"], rows.collect())
}

fn row(dataset: &str, column: &Column, facts: &ColumnFacts) -> Vec<Value> {
    let [q25, median, q75] = facts.quartiles.clone();
    let top = repeated(facts).iter().map(|(value, count)| format!("{} ({count})", plain(value)));
    let top: Vec<String> = top.collect();
    vec![
        json!(dataset),
        json!(column.name),
        json!(column.dtype.name()),
        json!(facts.nulls),
        distinct(facts, |it| json!(it)),
        facts.min.clone(),
        facts.max.clone(),
        facts.mean.clone(),
        facts.std.clone(),
        q25,
        median,
        q75,
        text_or_null(bars(&facts.histogram)),
        text_or_null(top.join(", ")),
        json!(facts.is_key),
        text_or_null(remarks(column, facts).join("; ")),
    ]
}

/// Returns the descriptions for a terminal: for each dataset a heading and a table.
pub(super) fn for_terminal(described: &[Described], options: &GlobalOptions) -> String {
    let parts: Vec<String> = described.iter().map(|it| one_for_terminal(it, options)).collect();
    parts.join("\n")
}

fn one_for_terminal(described: &Described, options: &GlobalOptions) -> String {
    let stdout = options.terminal.stdout;
    let (bold, plain) = if stdout.colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let Described { name, dataset, description } = described;
    let n_columns = dataset.columns.len();
    let size =
        format!("{}, {}", count(dataset.row_count, "row"), count(n_columns as u64, "column"));
    let (name, source) = (sanitize::one_line(name), sanitize::one_line(&dataset.source));
    let columns = dataset.columns.iter().zip(description.facts()).take(COLUMNS_MAX);
    let rows: Vec<Vec<Value>> = columns
        .map(|(column, facts)| {
            vec![
                json!(column.name),
                json!(column.dtype.name()),
                json!(missing(facts.nulls, dataset.row_count)),
                distinct(facts, |it| json!(number(it))),
                json!(summary(column, facts)),
            ]
        })
        .collect();
    let rows_max = Some(rows.len());
    let frame = listing::frame(&["column", "type", "nulls", "distinct", "values"], &[], rows);
    let (width, colour) = (stdout.width, stdout.colour);
    let style = TableStyle { width, colour, rows_max, lines_max: Some(CELL_LINES_MAX) };
    let mut lines = vec![format!("{bold}{name}{plain} · {size} · {source}")];
    lines.push(table::text(&frame, &style).text);
    if COLUMNS_MAX < n_columns {
        let more = count((n_columns - COLUMNS_MAX) as u64, "more column");
        lines.push(format!(" {more}; `--format csv` and `--json` show all columns"));
    }
    let notes = dataset.notes.iter().map(|it| format!("the file says: {it}"));
    let notes = notes.chain(dataset.doubts.iter().cloned());
    lines.extend(notes.map(|it| format!(" {}", sanitize::one_line(&it))));
    lines.join("\n") + "\n"
}

/// Returns what is worth knowing of the values of a column in a line or two.
fn summary(column: &Column, facts: &ColumnFacts) -> String {
    let mut parts: Vec<String> = Vec::new();
    if facts.is_key == Some(true) {
        parts.push("key".to_owned());
    }
    let top = repeated(facts);
    let frequent = || {
        let shown = |it: &(Value, u64)| {
            let value = sanitize::one_line(&short(&it.0));
            format!("{} ({})", fit::cut(&value, VALUE_CELLS_MAX), number(it.1))
        };
        top.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    if facts.histogram.is_empty() {
        if !top.is_empty() {
            parts.push(frequent());
        } else if !facts.min.is_null() {
            parts.push(range(facts));
        }
    } else {
        parts.push(format!("{} {}", range(facts), bars(&facts.histogram)));
        let spread = match &facts.std {
            Value::Null => String::new(),
            std => format!(" ± {}", short(std)),
        };
        if facts.min != facts.max {
            parts.push(format!("mean {}{spread}", measured(&facts.mean)));
            if !facts.quartiles[1].is_null() {
                let quartiles: Vec<String> = facts.quartiles.iter().map(measured).collect();
                parts.push(format!("quartiles {}", quartiles.join(", ")));
            }
        }
        // Codes, years and flags are numbers whose frequent values say something.
        if !top.is_empty() && facts.distinct <= top.len() as u64 {
            parts.push(frequent());
        }
    }
    parts.extend(remarks(column, facts));
    parts.extend(column.description.clone());
    parts.join(" · ")
}

/// Returns the most frequent values; none where each value has one row, which says nothing.
fn repeated(facts: &ColumnFacts) -> &[(Value, u64)] {
    let top = facts.top.as_deref().unwrap_or_default();
    if top.first().is_some_and(|it| 1 < it.1) { top } else { &[] }
}

fn range(facts: &ColumnFacts) -> String {
    if facts.min == facts.max {
        return cut(&facts.min);
    }
    format!("{} … {}", cut(&facts.min), cut(&facts.max))
}

fn cut(value: &Value) -> String {
    fit::cut(&sanitize::one_line(&short(value)), VALUE_CELLS_MAX).into_owned()
}

/// Returns the number of missing values, with their share.
#[expect(clippy::cast_precision_loss, reason = "a share is rounded to whole percents")]
fn missing(nulls: u64, n_rows: u64) -> String {
    if nulls == 0 {
        return "0".to_owned();
    }
    let percent = nulls as f64 / n_rows.max(1) as f64 * 100.0;
    let percent = match percent {
        _ if nulls == n_rows => "100".to_owned(),
        _ if percent < 1.0 => "<1".to_owned(),
        _ if 99.0 < percent => ">99".to_owned(),
        _ => format!("{percent:.0}"),
    };
    format!("{} ({percent}%)", number(nulls))
}

/// Returns the number of different values, with `~` before an estimate.
fn distinct(facts: &ColumnFacts, exact: fn(u64) -> Value) -> Value {
    if facts.is_distinct_estimated {
        return json!(format!("~{}", plain(&exact(facts.distinct))));
    }
    exact(facts.distinct)
}

/// Returns the bins as bars of one cell each. A bin that is not empty has a bar, however few are in it.
#[expect(clippy::cast_precision_loss, reason = "a bar has eight heights")]
fn bars(histogram: &[Bin]) -> String {
    let counts = || histogram.iter().map(|it| it.count as f64);
    bars::bars(counts(), counts().fold(0.0, f64::max), ' ')
}

fn text_or_null(text: String) -> Value {
    if text.is_empty() { Value::Null } else { Value::String(text) }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a value as short as it is readable: fractions to four significant digits.
fn short(value: &Value) -> String {
    let float = match value {
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default(),
        Value::Number(whole) => return separated(&whole.to_string()),
        other => return plain(other),
    };
    let size = float.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{float:.3e}");
    }
    let decimals = match size {
        _ if float.fract() == 0.0 || 1_000.0 <= size => 0,
        _ if 100.0 <= size => 1,
        _ if 10.0 <= size => 2,
        _ if 1.0 <= size => 3,
        _ if 0.1 <= size => 4,
        _ if 0.01 <= size => 5,
        _ if 0.001 <= size => 6,
        _ => 7,
    };
    let text = format!("{float:.decimals$}");
    separated(if decimals == 0 { &text } else { text.trim_end_matches('0').trim_end_matches('.') })
}

/// Returns a number with separators between thousands, but for four digits, which may be a year.
fn separated(number: &str) -> String {
    let n_digits = number.bytes().take_while(|it| *it != b'.').filter(u8::is_ascii_digit).count();
    if n_digits <= 4 { number.to_owned() } else { grouped(number) }
}

/// Returns a mean or a quartile; of a time, its fractions of a second say nothing.
fn measured(value: &Value) -> String {
    match value {
        Value::String(moment) => match moment.split_once('.') {
            Some((seconds, fraction)) if fraction.ends_with('Z') => format!("{seconds}Z"),
            Some((seconds, _)) => seconds.to_owned(),
            None => moment.clone(),
        },
        other => short(other),
    }
}
