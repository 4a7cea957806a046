//! The Python line with which pandas reads a dataset's CSV back unchanged.
//!
//! Pure. Types that pandas infers by itself are omitted, so that the line stays short: whole numbers,
//! floats and truth values without missing values.

use std::fmt::Write;

use csv_agent_types::catalog::{Column, DType};
use csv_agent_types::limits::READING_RECIPE_BYTES_MAX;

/// Returns a one-line Python expression with which pandas reads `/mnt/data/NAME.csv` as written by
/// [`csv_of`](super::csv_of).
///
/// The values are those that `load(NAME)` gives in the REPL: text stays text (`007`, `NA`, numbers of
/// twenty digits, blanks around it), whole numbers stay whole where some are missing (`Int64`), truth
/// values likewise (`boolean`), and no float is rounded. Types differ where pandas has none of the kind:
/// - a day is a `datetime64` at midnight, and no `datetime.date`;
/// - a time of day is text (`09:30:00`), and no `datetime.time`.
///
/// It works from pandas 1.5 on. What no option of pandas can give, or not of all of them:
/// - a column of text in which some values are missing and others empty: the empty ones are missing too;
/// - before pandas 3, days and times outside the years 1678 to 2261 stay text, all of their column;
/// - before pandas 3, text ends before a NUL;
/// - before pandas 2, a column of whole numbers beyond 2^53, some of them missing, is an error.
///
/// The line has at most [`READING_RECIPE_BYTES_MAX`] bytes. Where the column names do not fit, it reads
/// every value as text, and a comment explains how to convert it back.
pub fn reading_recipe(name: &str, columns: &[Column]) -> String {
    let path = literal(&format!("/mnt/data/{name}.csv"));
    let recipe = exact(&path, columns);
    if recipe.len() <= READING_RECIPE_BYTES_MAX { recipe } else { of_text(&path) }
}

fn exact(path: &str, columns: &[Column]) -> String {
    let mut recipe = format!("pd.read_csv({path}");
    let dtypes: Vec<String> = columns
        .iter()
        .filter_map(|it| Some(format!("{}: \"{}\"", literal(&it.name), dtype(it)?)))
        .collect();
    if !dtypes.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(recipe, ", dtype={{{}}}", dtypes.join(", "));
    }
    let is_moment =
        |it: &&Column| matches!(it.dtype, DType::Date | DType::Timestamp | DType::TimestampUtc);
    if columns.iter().any(|it| is_moment(&it)) {
        let _ = write!(recipe, ", parse_dates={}", names(columns.iter().filter(is_moment)));
    }
    if columns.iter().any(|it| it.dtype == DType::Float64) {
        recipe.push_str(", float_precision=\"round_trip\"");
    }
    // Where no column is text, the default missing markers of pandas are correct.
    if columns.iter().any(is_text) {
        recipe.push_str(", keep_default_na=False");
        recipe.push_str(&missing(path, columns));
    }
    recipe.push(')');
    recipe
}

/// Returns the type argument that a column needs, if any.
fn dtype(column: &Column) -> Option<&'static str> {
    match column.dtype {
        DType::String | DType::Time => Some("str"),
        DType::Int64 if column.nulls != Some(0) => Some("Int64"),
        DType::Bool if column.nulls != Some(0) => Some("boolean"),
        _ => None,
    }
}

fn is_text(column: &Column) -> bool {
    matches!(column.dtype, DType::String | DType::Time)
}

/// Returns the argument that names the missing markers of each column, in the shorter of two forms.
///
/// NaN is not counted as missing in the dataset, but is missing in pandas.
fn missing(path: &str, columns: &[Column]) -> String {
    let may_miss = |it: &&Column| it.nulls != Some(0) || it.dtype == DType::Float64;
    let markers =
        |it: &Column| if it.dtype == DType::Float64 { "[\"\", \"NaN\"]" } else { "[\"\"]" };
    let each = columns.iter().filter(may_miss);
    let each: Vec<String> =
        each.map(|it| format!("{}: {}", literal(&it.name), markers(it))).collect();
    if each.is_empty() {
        return String::new();
    }
    let by_name = format!(", na_values={{{}}}", each.join(", "));
    let mut by_rest = format!(
        ", na_values=dict.fromkeys(pd.read_csv({path}, nrows=0).columns.drop({}), [\"\", \"NaN\"])",
        names(columns.iter().filter(|it| is_text(it)))
    );
    let missing_texts = || columns.iter().filter(|it| is_text(it) && it.nulls != Some(0));
    if missing_texts().next().is_some() {
        let _ = write!(by_rest, " | dict.fromkeys({}, [\"\"])", names(missing_texts()));
    }
    if by_rest.len() < by_name.len() { by_rest } else { by_name }
}

fn of_text(path: &str) -> String {
    format!(
        "pd.read_csv({path}, dtype=\"str\", keep_default_na=False)  # every value is text, \"\" where one \
         is missing; whole numbers: .replace(\"\", pd.NA).astype(\"Int64\"), floats: \
         .replace(\"\", \"nan\").astype(\"float64\"), truth values: .map({{\"true\": True, \"false\": \
         False}}), days and times: pd.to_datetime()"
    )
}

fn names<'a>(columns: impl Iterator<Item = &'a Column>) -> String {
    let names: Vec<String> = columns.map(|it| literal(&it.name)).collect();
    format!("[{}]", names.join(", "))
}

/// Returns text as a one-line Python literal without invisible characters.
fn literal(text: &str) -> String {
    let mut literal = "\"".to_owned();
    for char in text.chars() {
        match char {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\'' => literal.push('\''),
            // Rust escapes characters that are not printable.
            _ if char.escape_debug().len() == 1 => literal.push(char),
            _ => {
                let _ = write!(literal, "\\U{:08x}", u32::from(char));
            }
        }
    }
    literal.push('"');
    literal
}
