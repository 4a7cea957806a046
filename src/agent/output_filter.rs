//! What the model reads of code outputs when the user withholds rows.
//!
//! Pure. Code is untrusted, so its own statements about its outputs count for nothing. An allow-list
//! decides what passes: names of datasets and columns, words of the call itself, text that many rows of a
//! column share, and numbers that identify no row. A note replaces everything else. Printed text never
//! passes.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use csv_agent_ingest::{Needles, ValueCounts, moment, number_key};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::limits::{AGGREGATE_ROWS_MAX, AGGREGATE_VALUES_MAX, SHARED_ROWS_MIN};

/// Replaces a value.
const KEPT_BACK: &str = "(kept back)";
/// pandas' and NumPy's labels for rows, columns and types of a result, and Python's constants.
const LABELS: &str = "count mean std min 25% 50% 75% max sum median var first last size nunique mode share \
    index value level_0 level_1 variable proportion percent unique top freq row column columns rows All \
    array Index Series DataFrame Timestamp Timedelta RangeIndex dtype object str bool int float \
    int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 Int64 Float64 boolean string category \
    datetime64 timedelta64 UTC dict set tuple list start stop step None nan NaN NaT inf";
/// Words too short to pass as text: fragments of a value would match them.
const SHORT_WORDS: [&str; 6] = ["np", "pd", "ns", "us", "NA", "df"];
/// Minimum characters of a word of code that passes.
const WORD_CHARS_MIN: usize = 3;
/// How Python and NumPy write booleans.
const BOOLEANS: [&str; 4] = ["False", "True", "False_", "True_"];
/// Types whose representation may contain numbers. In any other, such as `datetime.date(…)`, the numbers
/// are parts of one value.
const HOLDERS: &str = "array Index Series RangeIndex dict set tuple list frozenset Counter defaultdict OrderedDict \
    deque dict_keys dict_values dict_items Interval bool int float int8 int16 int32 int64 uint8 uint16 uint32 \
    uint64 float32 float64";
/// Names of Python's and pandas' errors, and the words of their messages that quote nothing.
const ERRORS: &str = "KeyError ValueError TypeError NameError AttributeError IndexError ZeroDivisionError \
    SyntaxError IndentationError LookupError ModuleNotFoundError ImportError MemoryError TimeoutError \
    RuntimeError OverflowError ArithmeticError AssertionError NotImplementedError RecursionError OSError \
    UnicodeDecodeError UnicodeEncodeError FileNotFoundError PermissionError StopIteration MergeError \
    ParserError UndefinedVariableError InvalidIndexError UFuncTypeError SystemExit \
    is not defined object has no attribute module named unsupported operand type types for and or the of in to a \
    an with on at by from cannot could convert must be got expected invalid argument arguments out range bounds \
    key name missing required positional unexpected keyword length lengths mismatch match axis division \
    zero syntax method function callable subscriptable iterable supported between instances only than \
    numeric aggregation failed how performed operation columns overlap but suffix specified";

/// The names that a model already knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownNames {
    names: HashSet<String>,
    rows_max: u64,
}

impl KnownNames {
    /// Collects the names of datasets and columns, and those in the call whose output is filtered.
    pub(crate) fn of(catalog: &Catalog, arguments: &str) -> KnownNames {
        let mut names: HashSet<String> = LABELS.split_whitespace().map(str::to_owned).collect();
        let mut rows_max = 0;
        for (name, dataset) in catalog.iter() {
            names.insert(name.to_owned());
            names.extend(dataset.columns.iter().map(|it| it.name.clone()));
            rows_max = dataset.row_count.max(rows_max);
        }
        let arguments = serde_json::from_str(arguments).unwrap_or_default();
        add_words(&arguments, &mut names);
        KnownNames { names, rows_max }
    }
}

/// Adds the words and quoted texts of arguments, unless they are short enough to compose others.
fn add_words(value: &Value, names: &mut HashSet<String>) {
    match value {
        Value::String(text) => {
            let whole = std::iter::once(LiteralToken::Quoted(text.clone()));
            for token in whole.chain(tokens(text)) {
                let word = match token {
                    LiteralToken::Word(it) => it.to_owned(),
                    LiteralToken::Quoted(it) => it,
                    LiteralToken::Number(..) | LiteralToken::Mark(_) => continue,
                };
                if WORD_CHARS_MIN <= word.chars().count() && !BOOLEANS.contains(&&*word) {
                    names.insert(word);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|it| add_words(it, names)),
        Value::Object(members) => members.values().for_each(|it| add_words(it, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the values of a result to look up in the datasets.
pub(crate) fn needles(result: &Value) -> Needles {
    let mut needles = Needles::default();
    add_needles(&result["head"], &mut needles);
    add_needles(&result["columns"], &mut needles);
    for text in [&result["text"], &result["error"]["message"]] {
        for token in tokens(text.as_str().unwrap_or_default()).take(AGGREGATE_VALUES_MAX * 4) {
            match token {
                LiteralToken::Quoted(text) => add_needle(&text, &mut needles),
                LiteralToken::Number(_, number) => {
                    needles.numbers.insert(number_key(number));
                }
                LiteralToken::Word(_) | LiteralToken::Mark(_) => {}
            }
        }
    }
    needles
}

fn add_needles(value: &Value, needles: &mut Needles) {
    match value {
        Value::String(text) => add_needle(text, needles),
        Value::Number(number) => {
            needles.numbers.extend(number.as_f64().map(number_key));
        }
        Value::Array(items) => items.iter().for_each(|it| add_needles(it, needles)),
        Value::Object(members) => members.iter().for_each(|(name, it)| {
            add_needle(name, needles);
            add_needles(it, needles);
        }),
        Value::Bool(_) => needles.booleans = true,
        Value::Null => {}
    }
}

fn add_needle(text: &str, needles: &mut Needles) {
    needles.texts.insert(text.to_owned());
    needles.moments.extend(moment(text));
    needles.numbers.extend(text.parse().ok().map(number_key));
}

/// Decides about each value.
pub(crate) struct OutputFilter<'a> {
    /// The names that pass.
    pub known: &'a KnownNames,
    /// How many rows contain each of the result's needles.
    pub census: &'a ValueCounts,
}

impl OutputFilter<'_> {
    /// Returns the filtered result of code. `rejected` is the rule that a chart broke.
    pub(crate) fn result(&self, result: &Value, rejected: Option<&str>) -> Value {
        let kind = result["kind"].as_str().unwrap_or_default();
        let mut told = match kind {
            "dataframe" | "series" => self.frame(kind, result),
            "text" => json!({"kind": "text", "text": self.literal(&result["text"])}),
            "error" => self.error(result),
            "table_sent" => {
                let columns = self.names(&result["columns"]);
                json!({"kind": kind, "logical_name": self.name(&result["logical_name"]),
                    "row_count": whole(&result["row_count"]), "rows_shown": whole(&result["rows_shown"]),
                    "columns": columns})
            }
            "chart_sent" => {
                json!({"kind": kind, "logical_name": self.name(&result["logical_name"]),
                "row_count": whole(&result["row_count"])})
            }
            _ => json!({"kind": "none"}),
        };
        // A chart's rejection names a rule and contains no value.
        if let Some(code) = rejected {
            told["text"] = json!(format!("the chart was not drawn: {code}"));
        }
        if result["stdout"].as_str().is_some_and(|it| !it.is_empty()) {
            told["note"] =
                json!("printed text is kept back; end the code with a frame or a number");
        }
        told
    }

    /// Filters a frame: the cells of a small one; of a larger one only the schema passes.
    fn frame(&self, kind: &str, result: &Value) -> Value {
        let names = self.names(&result["columns"]);
        let sources = result["columns"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let sources: Vec<&str> = sources.collect();
        let dtypes: Map<String, Value> = names
            .iter()
            .zip(&sources)
            .map(|(name, source)| (name.clone(), dtype(&result["dtypes"][*source]).into()))
            .collect();
        let row_count = result["row_count"].as_u64().unwrap_or_default();
        let mut told =
            json!({"kind": kind, "columns": names, "row_count": row_count, "dtypes": dtypes});
        if AGGREGATE_ROWS_MAX < row_count {
            told["text"] = json!(format!(
                "rows are kept back: only results of at most {AGGREGATE_ROWS_MAX} rows are shown"
            ));
            return told;
        }
        let rows = result["head"].as_array().into_iter().flatten();
        let rows = rows.take(usize::try_from(AGGREGATE_ROWS_MAX).unwrap_or(usize::MAX));
        let rows: Vec<&Value> = rows.collect();
        let cells = rows.iter().filter_map(|it| it.as_object()).flat_map(Map::values);
        let is_lone = cells.filter(|it| it.is_boolean()).count() < 2;
        let row = |row: &Value| {
            let cells = names.iter().zip(&sources);
            cells
                .map(|(name, source)| (name.clone(), self.cell(&row[*source], source, is_lone)))
                .collect()
        };
        told["head"] = rows.into_iter().map(row).map(Value::Object).collect();
        told
    }

    /// Returns the column names of a result; a number replaces one that may be a value.
    fn names(&self, names: &Value) -> Vec<String> {
        let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
        let name = |(at, name): (usize, &str)| {
            let may_tell = self.may_tell(name) || BOOLEANS.contains(&name);
            if may_tell { name.to_owned() } else { format!("column_{}", at + 1) }
        };
        names.enumerate().map(name).collect()
    }

    fn name(&self, name: &Value) -> Value {
        let name = name.as_str().filter(|it| self.may_tell(it));
        name.map_or_else(|| json!(KEPT_BACK), |it| json!(it))
    }

    /// `is_lone` says that no other cell of the result is a boolean; then it reveals no single row.
    fn cell(&self, value: &Value, column: &str, is_lone: bool) -> Value {
        let passes = match value {
            Value::Null => true,
            Value::Bool(it) => {
                let counts = self.census.booleans.get(column);
                is_lone || counts.is_some_and(|n| SHARED_ROWS_MIN <= n[usize::from(*it)])
            }
            Value::Number(number) => {
                number.as_f64().is_some_and(|it| self.may_tell_number(it, Some(column)))
            }
            Value::String(text) => self.may_tell(text),
            Value::Array(_) | Value::Object(_) => false,
        };
        if passes { value.clone() } else { json!(KEPT_BACK) }
    }

    /// Text passes when it is a name, when many rows share it, or when it is a period that no row has. A
    /// day that no row has may be a rounded one, so only the first and the last of a month pass.
    fn may_tell(&self, text: &str) -> bool {
        let n_rows = self.census.texts.get(text).copied().unwrap_or(0);
        if self.known.names.contains(text) || SHARED_ROWS_MIN <= n_rows {
            return true;
        }
        let is_rare = |it: f64| {
            let holders = self.census.numbers.get(&number_key(it)).into_iter().flatten();
            holders.into_iter().any(|(_, n_rows)| *n_rows < SHARED_ROWS_MIN)
        };
        if 0 < n_rows || text.parse().is_ok_and(is_rare) {
            return false;
        }
        let is_shared = |it: i64| match self.census.moments.get(&it) {
            Some(n_rows) => SHARED_ROWS_MIN <= *n_rows,
            None => is_month_border(it),
        };
        is_period(text) || moment(text).is_some_and(is_shared)
    }

    /// A number passes unless few rows of a column have it. Counts resemble any small number, so they pass
    /// unless the result names that very column.
    fn may_tell_number(&self, number: f64, column: Option<&str>) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "a bound needs no finer number")]
        let is_count =
            number.fract() == 0.0 && (0.0..=self.known.rows_max as f64).contains(&number);
        let holders = self.census.numbers.get(&number_key(number)).into_iter().flatten();
        let mut rare = holders.filter(|(_, n_rows)| *n_rows < SHARED_ROWS_MIN);
        !rare.any(|(name, _)| !is_count || column == Some(name))
    }

    /// Returns a value as Python writes it, with each text and number in it filtered.
    fn literal(&self, text: &Value) -> String {
        let Some(text) = text.as_str() else { return KEPT_BACK.to_owned() };
        let tokens: Vec<LiteralToken> = tokens(text).take(AGGREGATE_VALUES_MAX * 4 + 1).collect();
        let n_values = tokens.iter().filter(|it| !matches!(it, LiteralToken::Mark(_))).count();
        // Several lines are a frame within a value: its numbers are rounded.
        let has_lines = tokens.iter().any(|it| matches!(it, LiteralToken::Mark('\n')));
        if AGGREGATE_VALUES_MAX < n_values || AGGREGATE_VALUES_MAX * 4 < tokens.len() || has_lines {
            return KEPT_BACK.to_owned();
        }
        let is_boolean =
            |it: &&LiteralToken| matches!(it, LiteralToken::Word(it) if BOOLEANS.contains(it));
        let is_lone = tokens.iter().filter(is_boolean).count() < 2;
        let may_tell = |it: &str| {
            self.known.names.contains(it)
                || SHORT_WORDS.contains(&it)
                || is_lone && BOOLEANS.contains(&it)
        };
        // For each open parenthesis, whether numbers in it are values of their own.
        let mut holds = vec![true];
        let mut told = String::new();
        for (at, token) in tokens.iter().enumerate() {
            let holds_here = holds.last().is_some_and(|it| *it);
            match token {
                LiteralToken::Mark('(') => {
                    let name = at.checked_sub(1).map(|it| &tokens[it]);
                    let is_holder = |it: &str| HOLDERS.split_whitespace().any(|name| name == it);
                    let is_other = matches!(name, Some(LiteralToken::Word(it)) if !is_holder(it));
                    holds.push(holds_here && !is_other);
                }
                LiteralToken::Mark(')') => {
                    holds.pop();
                }
                _ => {}
            }
            match token {
                LiteralToken::Quoted(text) if self.may_tell(text) => {
                    told.extend(["\"", &text.escape_debug().to_string(), "\""]);
                }
                LiteralToken::Number(text, it) if holds_here && self.may_tell_number(*it, None) => {
                    told += &plain(text, *it);
                }
                LiteralToken::Word(word) if may_tell(word) => told += word,
                LiteralToken::Mark(mark) if " ()[]{},:=.".contains(*mark) => told.push(*mark),
                _ => told += KEPT_BACK,
            }
        }
        told
    }

    /// Returns the class of an error, and the parts of its message that quote no value.
    fn error(&self, result: &Value) -> Value {
        let is_stock = |it: &str| ERRORS.split_whitespace().any(|word| word == it);
        let kind = result["error"]["type"].as_str().filter(|it| is_stock(it)).unwrap_or("Error");
        let message = result["error"]["message"].as_str().unwrap_or_default();
        let is_known = |it: &str| self.known.names.contains(it) || SHORT_WORDS.contains(&it);
        let is_long = |it: &str| WORD_CHARS_MIN <= it.chars().count();
        let mut told = String::new();
        for token in tokens(message).take(AGGREGATE_VALUES_MAX * 4) {
            match token {
                LiteralToken::Quoted(it) if is_known(&it) || is_long(&it) && is_stock(&it) => {
                    told.extend(["'", &it, "'"]);
                }
                LiteralToken::Word(it) if is_known(it) || is_stock(it) => told += it,
                LiteralToken::Mark(it) if " ()[],:+-*/=.'".contains(it) => told.push(it),
                _ => told += "…",
            }
        }
        let line = result["text"].as_str().and_then(|it| {
            let (_, line) = it.rsplit_once("\"<cell>\", line ")?;
            line.split(|it: char| !it.is_ascii_digit()).next()?.parse::<u16>().ok()
        });
        let place = line.map_or(String::new(), |it| format!(" in line {it}"));
        json!({"kind": "error", "text": format!("{kind}{place}: {told}")})
    }
}

/// Returns a whole number, or null.
fn whole(value: &Value) -> Value {
    value.as_u64().map_or(Value::Null, Value::from)
}

/// Returns a type's name without any parameters.
fn dtype(dtype: &Value) -> &'static str {
    const DTYPES: [&str; 12] = [
        "int", "uint", "Int", "UInt", "float", "Float", "bool", "str", "object", "category",
        "datetime64", "timedelta64",
    ];
    let dtype = dtype.as_str().unwrap_or_default();
    DTYPES.into_iter().find(|it| dtype.starts_with(it)).unwrap_or("other")
}

/// Returns whether a text is a year, a month or a quarter: `2024`, `2024-02`, `2024Q1`.
fn is_period(text: &str) -> bool {
    let number = |it: &str, n: usize| {
        let is_digits = it.len() == n && it.bytes().all(|it| it.is_ascii_digit());
        it.parse::<u16>().ok().filter(|_| is_digits)
    };
    let is_in = |it: &str, n: usize, range: RangeInclusive<u16>| {
        number(it, n).is_some_and(|it| range.contains(&it))
    };
    let Some((year, rest)) = text.split_at_checked(4) else { return false };
    let is_rest = rest.is_empty()
        || rest.strip_prefix('-').is_some_and(|it| is_in(it, 2, 1..=12))
        || rest.strip_prefix('Q').is_some_and(|it| is_in(it, 1, 1..=4));
    is_in(year, 4, 1900..=2100) && is_rest
}

/// Returns whether a moment is midnight at the start of the first or the last day of a month.
fn is_month_border(microseconds: i64) -> bool {
    let Ok(timestamp) = Timestamp::from_microsecond(microseconds) else { return false };
    let at = timestamp.to_zoned(TimeZone::UTC).datetime();
    at.time() == Time::midnight() && (at.day() == 1 || at.date() == at.date().last_of_month())
}

/// Returns a parsed number, so that its notation cannot hide anything.
fn plain(text: &str, number: f64) -> String {
    let is_whole = text.trim_start_matches('-').bytes().all(|it| it.is_ascii_digit());
    if is_whole && number.abs() < 1e15 { format!("{number:.0}") } else { format!("{number:?}") }
}

/// A piece of a value as Python writes it.
enum LiteralToken<'a> {
    Quoted(String),
    Number(&'a str, f64),
    Word(&'a str),
    Mark(char),
}

/// Splits text into tokens. A quoted text is one token, with escaped quotes resolved.
fn tokens(text: &str) -> impl Iterator<Item = LiteralToken<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '%';
        if first == '\'' || first == '"' {
            let (token, after) = quoted(rest, first);
            rest = after;
            return Some(token);
        }
        if first.is_ascii_digit()
            || (first == '-' && rest[1..].starts_with(|it: char| it.is_ascii_digit()))
        {
            // Connected characters are one token: neither 24-12-2024 nor 10:59:11 is three numbers.
            let is_part = |it: char| is_word(it) || "._+-:/".contains(it);
            let end = rest[1..].find(|it: char| !is_part(it)).map_or(rest.len(), |it| it + 1);
            let run = rest[..end].trim_end_matches([':', '+', '-', '/']);
            let (number, after) = rest.split_at(run.len());
            rest = after;
            return Some(match number.parse() {
                Ok(value) => LiteralToken::Number(number, value),
                Err(_) => LiteralToken::Word(number),
            });
        }
        if is_word(first) {
            let end = rest.find(|it: char| !is_word(it)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            return Some(LiteralToken::Word(word));
        }
        rest = &rest[first.len_utf8()..];
        Some(LiteralToken::Mark(first))
    })
}

fn quoted(text: &str, quote: char) -> (LiteralToken<'_>, &str) {
    let mut content = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, it)) = chars.next() {
        if it == quote {
            return (LiteralToken::Quoted(content), &text[at + 1..]);
        }
        if it == '\\' {
            let Some((_, escaped)) = chars.next() else { break };
            if !"\\'\"".contains(escaped) {
                content.push(it);
            }
            content.push(escaped);
        } else {
            content.push(it);
        }
    }
    // Unclosed quote: it contains all of the rest, or it is an apostrophe.
    (LiteralToken::Mark(quote), &text[1..])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{KEPT_BACK, KnownNames, OutputFilter, needles};
    use crate::prompt::tests::catalog;
    use csv_agent_ingest::{ValueCounts, number_key};

    /// Six rows have `Oslo`, one has `alice@x`, one each the amounts 7001.5, 2 and 1984.
    #[track_caller]
    fn check(result: &Value, expected: &Value) {
        let catalog = catalog(&[("people", &["email", "city", "amount"])]);
        let known = KnownNames::of(&catalog, r#"{"code": "df['regoin'].agg('low')"}"#);
        let census = ValueCounts {
            texts: [("Oslo".to_owned(), 6), ("alice@x".to_owned(), 1), ("m".to_owned(), 5)].into(),
            numbers: [
                (number_key(7001.5), vec![("amount".to_owned(), 1)]),
                (number_key(2.0), vec![("amount".to_owned(), 1)]),
                (number_key(1984.0), vec![("amount".to_owned(), 1)]),
            ]
            .into(),
            moments: [(1_704_067_200_000_000, 1)].into(),
            ..ValueCounts::default()
        };
        assert_eq!(OutputFilter { known: &known, census: &census }.result(result, None), *expected);
    }

    #[test]
    fn of_a_small_table_values_that_many_rows_share_and_sums_pass() {
        let head = json!([{"city": "Oslo", "n": 2, "amount": 2, "total": 7001.5, "x": 99.25, "low": "alice@x",
            "day": "2024-01-01", "month": "2024-01"}]);
        let columns = json!(["city", "n", "amount", "total", "x", "low", "day", "month"]);
        let dtypes = json!({"city": "object", "n": "int64", "low": "alice@x"});
        let result = json!({"kind": "dataframe", "head": head, "columns": columns, "row_count": 1,
            "dtypes": dtypes, "stdout": "alice@x"});
        assert!(needles(&result).texts.contains("alice@x"));
        check(
            &result,
            &json!({"kind": "dataframe",
                "columns": ["city", "column_2", "amount", "column_4", "column_5", "low", "column_7", "column_8"],
                "row_count": 1,
                "dtypes": {"city": "object", "column_2": "int", "amount": "other", "column_4": "other",
                    "column_5": "other", "low": "other", "column_7": "other", "column_8": "other"},
                "head": [{"city": "Oslo", "column_2": 2, "amount": "(kept back)", "column_4": "(kept back)",
                    "column_5": 99.25, "low": "(kept back)", "column_7": "(kept back)", "column_8": "2024-01"}],
                "note": "printed text is kept back; end the code with a frame or a number"}),
        );
    }

    #[test]
    fn a_long_table_is_told_by_its_schema() {
        let result = json!({"kind": "series", "head": [{"email": "alice@x"}], "columns": ["email"],
            "row_count": 21, "dtypes": {"email": "object"}});
        let text = "rows are kept back: only results of at most 20 rows are shown";
        check(
            &result,
            &json!({"kind": "series", "columns": ["email"], "row_count": 21,
            "dtypes": {"email": "object"}, "text": text}),
        );
    }

    #[test]
    fn each_text_and_number_of_a_value_is_looked_at() {
        let check = |text: &str, expected: &str| {
            check(
                &json!({"kind": "text", "text": text}),
                &json!({"kind": "text", "text": expected}),
            );
        };
        check("(12, 3)", "(12, 3)");
        check("np.float64(0.25)", "np.float64(0.25)");
        check("{'Oslo': 7001.5, 'alice@x': 2}", "{\"Oslo\": (kept back), (kept back): 2}");
        check("alice", "(kept back)");
        check("0xff 12ab 1e3", "(kept back) (kept back) 1000.0");
        check("(0.10000000000000000059842, 5.)", "(0.1, 5.0)");
        check("[(\'a\', 1),\n 2]", "(kept back)");
        check("['m', 'a', 'b', 'np']", "[\"m\", (kept back), (kept back), (kept back)]");
        check(&"'Oslo', ".repeat(50), "(kept back)");
        check("\"it's\"", "(kept back)");
    }

    #[test]
    fn days_and_times_are_no_small_numbers() {
        let check = |text: &str, expected: &str| {
            check(
                &json!({"kind": "text", "text": text}),
                &json!({"kind": "text", "text": expected}),
            );
        };
        let kept = KEPT_BACK;
        let parts = format!("({kept}, {kept}, {kept})");
        check("datetime.date(2024, 12, 24)", &format!("{kept}.{kept}{parts}"));
        check("[date(2024, 12, 24), 7]", &format!("[{kept}{parts}, 7]"));
        check("datetime.time(10, 59, 11)", &format!("{kept}.{kept}{parts}"));
        check("2024-12-24 10:59:11", &format!("{kept} {kept}"));
        // A moment that no row has is rounded, unless it is the start or end of a month.
        check("Timestamp('2024-12-24 00:00:00')", &format!("Timestamp({kept})"));
        check("Timestamp('2024-01-01 00:00:00')", &format!("Timestamp({kept})"));
        check("Timestamp('2024-12-31 00:00:00')", "Timestamp(\"2024-12-31 00:00:00\")");
    }

    #[test]
    fn a_period_is_a_plausible_one_that_is_no_number_of_a_row() {
        let check = |text: &str, passes: bool| {
            let expected = if passes { format!("\"{text}\"") } else { KEPT_BACK.to_owned() };
            check(
                &json!({"kind": "text", "text": format!("'{text}'")}),
                &json!({"kind": "text", "text": expected}),
            );
        };
        check("2024", true);
        check("2024-12", true);
        check("2024Q4", true);
        check("7001", false);
        check("1984", false);
        check("2024-13", false);
        check("2024Q5", false);
    }

    #[test]
    fn true_and_false_of_single_rows_are_kept_back() {
        let text = |text: &str| json!({"kind": "text", "text": text});
        check(&text("np.True_"), &text("np.True_"));
        check(&text("[True, False]"), &text("[(kept back), (kept back)]"));
        let head = json!([{"active": false, "amount": true}, {"active": true, "amount": false}]);
        let result = json!({"kind": "dataframe", "head": head, "columns": ["active", "amount"],
            "row_count": 2, "dtypes": {}});
        let catalog = catalog(&[("people", &["active", "amount"])]);
        let known = KnownNames::of(&catalog, r#"{"code": "df.any(skipna=True)"}"#);
        let census = ValueCounts {
            booleans: [("active".to_owned(), [5, 4])].into(),
            ..ValueCounts::default()
        };
        let sieve = OutputFilter { known: &known, census: &census };
        assert!(needles(&result).booleans);
        let told = sieve.result(&result, None);
        assert_eq!(
            told["head"],
            json!([{"active": false, "amount": KEPT_BACK}, {"active": KEPT_BACK, "amount": KEPT_BACK}])
        );
    }

    #[test]
    fn an_error_says_its_kind_its_line_and_what_it_quotes_of_the_code() {
        let check = |kind: &str, message: &str, expected: &str| {
            let text = format!("Traceback\n  File \"<cell>\", line 3\n{kind}: {message}");
            let result =
                json!({"kind": "error", "error": {"type": kind, "message": message}, "text": text});
            check(&result, &json!({"kind": "error", "text": expected}));
        };
        check("KeyError", "'regoin'", "KeyError in line 3: 'regoin'");
        check("KeyError", "'alice@x'", "KeyError in line 3: …");
        check("alice", "could not convert 47 alice", "Error in line 3: could not convert … …");
        check("ValueError", "x'alice", "ValueError in line 3: …'…");
    }
}
