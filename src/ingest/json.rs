//! JSON: an array of objects, or one object after another, as in JSON lines. An object that has one array of
//! objects stands for that array.
//!
//! Each object is a row, each key a column; a missing key is null. Numbers are kept as written, so that
//! none is rounded; text that looks like a number remains text. Nested objects and arrays are kept as
//! JSON, or, if the user requests it, each value of an object becomes a column: `address.city`.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::ops::Range;

use serde::Deserializer as _;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::error::Category;
use serde_json::value::RawValue;

use csv_agent_text::digits::count;
use csv_agent_text::lists::all_names;
use csv_agent_types::limits::{CSV_COLUMNS_MAX, SNIFF_HEAD_BYTES};

use super::Watch;
use super::dialect::is_json;
use super::python_json::FiniteNumbers;
use super::source::Input;
use super::spool::Spool;
use crate::refusal::{check_cancelled, refuse};

/// Returns whether a file is JSON, from its first bytes.
pub(crate) fn is_of(head: &[u8]) -> bool {
    is_json(head)
}

/// Returns whether a file has a JSON extension, compressed or not.
pub(crate) fn is_called(name: &str) -> bool {
    let name = name.to_lowercase();
    let compressed = [".gz", ".zst", ".bz2", ".zip"];
    let name = compressed.iter().find_map(|it| name.strip_suffix(it)).unwrap_or(&name);
    [".json", ".jsonl", ".ndjson"].iter().any(|it| name.ends_with(it))
}

/// Returns whether a file is JSON that may be a table, from its first bytes: an array of objects, or lines of one
/// object each.
pub(crate) fn is_list(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let mut lines = head.split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
    let is_object = |it: &[u8]| it.starts_with(b"{") && it.ends_with(b"}");
    head.strip_prefix(b"[").is_some_and(|it| it.trim_ascii_start().starts_with(b"{"))
        || lines.next().is_some_and(is_object)
            && lines.next().is_some_and(|it| it.starts_with(b"{"))
}

/// Returns why a JSON file that nobody named is not read, from its first bytes; None if it may be a table.
pub(crate) fn why_no_table(head: &[u8]) -> Option<&'static str> {
    if is_list(head) {
        return None;
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    match (text.first(), &lists_of_objects(text)[..]) {
        (Some(b'{'), [_]) if n_keys(text) <= WRAPPER_KEYS_MAX => return None,
        (Some(b'{'), [_, _, ..]) => return Some("has several lists of objects"),
        _ => {}
    }
    let mut documents = Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let is_whole = head.len() < SNIFF_HEAD_BYTES;
    if is_whole && !documents.all(|it| it.is_ok()) {
        return Some("is not valid JSON");
    }
    Some("has no list of objects")
}

/// Keys of an object around a list of rows; an object with more is itself a row.
const WRAPPER_KEYS_MAX: usize = 8;

/// A list of objects within an object.
struct FoundList {
    /// Its keys, joined by a point.
    path: String,
    place: Range<usize>,
}

/// Returns the lists of objects in an object, and in objects in it. The text may be cut.
fn lists_of_objects(text: &[u8]) -> Vec<FoundList> {
    let (mut found, mut keys) = (Vec::new(), Vec::new());
    let mut key = String::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = end_of_text(text, at);
                key = String::from_utf8_lossy(text.get(at + 1..end - 1).unwrap_or_default()).into();
                at = end;
                continue;
            }
            b'{' => keys.push(std::mem::take(&mut key)),
            b'}' if keys.len() <= 1 => break,
            b'}' => key = keys.pop().unwrap_or_default(),
            b'[' => {
                let end = end_of_list(text, at);
                if text[at + 1..].trim_ascii_start().starts_with(b"{") {
                    let outer = keys.iter().skip(1).map(String::as_str);
                    let path = outer.chain([key.as_str()]).collect::<Vec<_>>().join(".");
                    found.push(FoundList { path, place: at..end });
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the number of keys of an object, which may be cut.
fn n_keys(text: &[u8]) -> usize {
    let (mut n_levels, mut n_keys, mut at) = (0, 0, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = end_of_text(text, at);
                continue;
            }
            b'{' | b'[' => n_levels += 1,
            b'}' | b']' if n_levels <= 1 => break,
            b'}' | b']' => n_levels -= 1,
            b':' if n_levels == 1 => n_keys += 1,
            _ => {}
        }
        at += 1;
    }
    n_keys
}

/// Returns the end of a text that begins with a quote here.
fn end_of_text(text: &[u8], start: usize) -> usize {
    let mut is_escaped = true;
    let is_end = |byte: &u8| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    };
    text[start..].iter().position(is_end).map_or(text.len(), |it| start + it + 1)
}

/// Returns the end of a list that begins here.
fn end_of_list(text: &[u8], start: usize) -> usize {
    let (mut n_levels, mut at) = (0, start);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = end_of_text(text, at);
                continue;
            }
            b'[' => n_levels += 1,
            b']' if n_levels == 1 => return at + 1,
            b']' => n_levels -= 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Writes the objects as rows. Returns the names of the columns, in the order of their first values. Fails when
/// the file is not JSON, or contains anything but objects.
pub(crate) fn write(
    spool: &mut Spool<'_>,
    input: &Input,
    is_flat: bool,
    watch: &Watch<'_>,
) -> anyhow::Result<Vec<String>> {
    let head = input.head(2)?;
    if head == [0xff, 0xfe] || head == [0xfe, 0xff] {
        let message = format!("cannot read `{}` as JSON: it is UTF-16", input.name);
        return Err(refuse(message, "write it in UTF-8"));
    }
    let mut file = input.file()?;
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(file);
    let is_array = begins_array(&mut reader)?;
    let mut rows =
        JsonRows { spool, input, watch, is_flat, is_array, columns: HashMap::new(), failure: None };
    let n_replaced = Cell::new(0);
    let mut documents =
        Deserializer::from_reader(BufReader::new(FiniteNumbers::new(reader, &n_replaced)));
    // A value may be nested as deep as its text is long; nesting is parsed no deeper than a program
    // would write.
    let read = if is_array {
        documents.deserialize_seq(&mut rows).and_then(|()| documents.end())
    } else {
        let mut values = documents.into_iter::<Box<RawValue>>();
        values.try_for_each(|value| {
            let value = value?;
            rows.add(&value).map_err(|error| {
                rows.failure.get_or_insert(error);
                Error::custom("stopped")
            })
        })
    };
    if let Some(failure) = rows.failure {
        return Err(failure);
    }
    read.map_err(|error| {
        let (name, line, column) = (&input.name, error.line(), error.column());
        let message = match error.classify() {
            Category::Eof => {
                format!("cannot read `{name}` as JSON: it ends within a value, on line {line}")
            }
            Category::Syntax => {
                format!(
                    "cannot read `{name}` as JSON: not valid on line {line}, at byte {column} of it"
                )
            }
            _ => format!("cannot read `{name}` as JSON: {error}"),
        };
        refuse(
            message,
            "check how the file was made; each line, or each item of one list, must be an object",
        )
    })?;
    if 0 < n_replaced.get() {
        let numbers = count(n_replaced.get(), "value");
        let reason =
            format!("{numbers} `NaN` or `Infinity`, which JSON does not have: read as missing");
        rows.spool.written.reasons.push(reason);
    }
    let mut names = vec![String::new(); rows.columns.len()];
    for (path, at) in rows.columns {
        names[at] = path.replace(STEP, ".");
    }
    Ok(names)
}

/// Skips a byte order mark and blanks; returns whether an array begins.
fn begins_array(reader: &mut impl BufRead) -> anyhow::Result<bool> {
    let head = reader.fill_buf()?;
    let n_mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    reader.consume(n_mark);
    loop {
        let head = reader.fill_buf()?;
        let n_blanks = head.iter().take_while(|it| it.is_ascii_whitespace()).count();
        let (first, is_end) = (head.get(n_blanks).copied(), head.is_empty());
        reader.consume(n_blanks);
        if first.is_some() || is_end {
            return Ok(first == Some(b'['));
        }
    }
}

/// Maximum number of names in a message.
const NAMED_MAX: usize = 5;

/// Separates the keys of a path; no column name contains it.
const STEP: char = '\0';

struct JsonRows<'a, 'b> {
    spool: &'a mut Spool<'b>,
    input: &'a Input,
    watch: &'a Watch<'a>,
    is_flat: bool,
    /// The rows are the items of a list.
    is_array: bool,
    /// By key path: `a.b` may be one key or two.
    columns: HashMap<String, usize>,
    /// Why reading stopped, where the JSON is not at fault.
    failure: Option<anyhow::Error>,
}

impl JsonRows<'_, '_> {
    fn add(&mut self, value: &RawValue) -> anyhow::Result<()> {
        let number = self.spool.n_rows() + 1;
        self.add_row(value).map_err(|error| match error.downcast::<serde_json::Error>() {
            // The parts of an object are parsed separately, and do not know their position.
            Ok(error) => {
                let name = &self.input.name;
                let message = format!("cannot read `{name}` as JSON: object {number}: {error}");
                refuse(
                    message,
                    "check how the file was made; text must be UTF-8 with complete escapes",
                )
            }
            Err(error) => error,
        })
    }

    fn add_row(&mut self, value: &RawValue) -> anyhow::Result<()> {
        check_cancelled(self.watch.cancelled)?;
        let text = value.get();
        if !text.starts_with('{') {
            return Err(self.refuse_item(text));
        }
        if let Some(list) = self.wrapped(text)? {
            self.is_array = true;
            let items = &mut Deserializer::from_str(&list);
            return items
                .deserialize_seq(&mut *self)
                .map_err(|error| self.failure.take().unwrap_or_else(|| anyhow::Error::new(error)));
        }
        let mut cells = Vec::new();
        self.cells(text, "", 0, &mut cells)?;
        cells.sort_by_key(|it: &(usize, String)| it.0);
        // Of a repeated key, the last value counts, as is usual.
        cells.reverse();
        cells.dedup_by_key(|it| it.0);
        while let Some((column, value)) = cells.pop() {
            self.cell(column, &value)?;
        }
        self.spool.end_row()
    }

    /// Collects the values of an object, each with its column.
    fn cells(
        &mut self,
        object: &str,
        prefix: &str,
        n_levels: usize,
        cells: &mut Vec<(usize, String)>,
    ) -> anyhow::Result<()> {
        /// Deeper objects are kept as JSON.
        const LEVELS_MAX: usize = 16;
        let entries: Entries = serde_json::from_str(object)?;
        for (key, value) in entries.0 {
            let path = if prefix.is_empty() { key } else { format!("{prefix}{STEP}{key}") };
            let value = value.get();
            let is_nested = self.is_flat && value.starts_with('{') && n_levels < LEVELS_MAX;
            if is_nested && value[1..].trim_start() != "}" {
                self.cells(value, &path, n_levels + 1, cells)?;
                continue;
            }
            let column = self.column(path)?;
            cells.push((column, value.to_owned()));
        }
        Ok(())
    }

    fn column(&mut self, path: String) -> anyhow::Result<usize> {
        let next = self.columns.len();
        let at = *self.columns.entry(path).or_insert(next);
        if at < CSV_COLUMNS_MAX {
            return Ok(at);
        }
        let message = format!(
            "cannot read `{}`: its objects have more than {CSV_COLUMNS_MAX} different keys; the keys \
             may be values",
            self.input.name
        );
        Err(refuse(message, "write each pair as an object with a name and a value"))
    }

    fn cell(&mut self, column: usize, value: &str) -> anyhow::Result<()> {
        match value.as_bytes().first() {
            Some(b'"') => {
                let text: String = serde_json::from_str(value)?;
                self.spool.text(column, &text);
            }
            Some(b'{' | b'[') => self.spool.text(column, &compact(value)),
            _ if value == "null" => self.spool.nothing(column),
            _ => self.spool.value(column, value),
        }
        Ok(())
    }

    fn refuse_item(&self, text: &str) -> anyhow::Error {
        let kind = match text.as_bytes().first() {
            Some(b'[') => "a list",
            Some(b'"') => "text",
            Some(b't' | b'f') => "a truth value",
            Some(b'n') => "null",
            _ => "a number",
        };
        let number = self.spool.n_rows() + 1;
        let message = format!(
            "cannot read `{}` as a table: item {number} is {kind}, and each must be an object",
            self.input.name
        );
        refuse(message, "write each row as an object: {\"name\": value, …}")
    }

    /// Returns the list of rows in the only object of a file. Fails when it has several lists of objects.
    fn wrapped(&mut self, text: &str) -> anyhow::Result<Option<String>> {
        let name = self.input.name.to_lowercase();
        let has_lines = [".jsonl", ".ndjson"].iter().any(|it| name.contains(it));
        let is_only = self.spool.n_rows() == 0 && self.input.bytes < text.len() as u64 + 16;
        if self.is_array || has_lines || !is_only || WRAPPER_KEYS_MAX < n_keys(text.as_bytes()) {
            return Ok(None);
        }
        let lists = lists_of_objects(text.as_bytes());
        match &lists[..] {
            [] => Ok(None),
            [FoundList { path, place }] => {
                let reason =
                    format!("rows: the list `{path}`, the only one of objects in the file");
                self.spool.written.reasons.push(reason);
                Ok(Some(text[place.clone()].to_owned()))
            }
            [first, ..] => {
                let name = &self.input.name;
                let names = all_names(lists.iter().take(NAMED_MAX).map(|it| it.path.as_str()));
                let message = format!(
                    "cannot read `{name}` as a table: it is one object with several lists of objects: {names}"
                );
                let keys = first.path.split('.').map(|it| format!("[\"{it}\"]"));
                let filter = keys.collect::<String>();
                let hint = format!(
                    "extract one list: `jq '.{filter}' FILE | csv-agent ingest --name NAME -`"
                );
                Err(refuse(message, &hint))
            }
        }
    }
}

impl<'de> Visitor<'de> for &mut JsonRows<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(value) = items.next_element::<Box<RawValue>>()? {
            if let Err(error) = self.add(&value) {
                self.failure = Some(error);
                return Err(Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// The keys and values of an object, in order, with the values as written.
struct Entries(Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeepEntries)
    }
}

struct KeepEntries;

impl<'de> Visitor<'de> for KeepEntries {
    type Value = Entries;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

/// Returns JSON without blanks between tokens.
fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut is_quoted, mut is_escaped) = (false, false);
    for it in json.chars() {
        if !is_quoted && it.is_ascii_whitespace() {
            continue;
        }
        if it == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = it == '\\' && !is_escaped;
        text.push(it);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{compact, is_list, why_no_table};

    #[test]
    fn blanks_go_only_where_they_mean_nothing() {
        assert_eq!(compact("[ 1,\n { \"a b\" : \"c \\\" d\" } ]"), "[1,{\"a b\":\"c \\\" d\"}]");
    }

    #[test]
    fn an_object_around_one_list_of_objects_may_be_a_table() {
        let check = |text: &str, why: Option<&str>| {
            assert_eq!(why_no_table(text.as_bytes()), why, "{text}");
        };
        check("{\"n\": \"[{\", \"data\": {\"rows\": [{\"a\": [{}]}]}}", None);
        check("{\"data\": [{\"a\": 1},", None);
        check("{\"a\": [{}], \"b\": [{}]}", Some("has several lists of objects"));
        check("{\"a\": [1, {}], \"b\": {\"c\": []}}", Some("has no list of objects"));
        check("[1, 2]", Some("has no list of objects"));
        check("{\"a\": 1,", Some("is not valid JSON"));
        let keys: Vec<String> = (0..9).map(|it| format!("\"k{it}\": 1, ")).collect();
        let keys = keys.concat();
        check(&format!("{{{keys}\"a\": [{{}}]}}"), Some("has no list of objects"));
    }

    #[test]
    fn a_list_of_objects_may_be_a_table() {
        assert!(is_list(b" [ {\"a\": 1}]"));
        assert!(!is_list(b"[1, 2]"));
        assert!(!is_list(b"{\"name\": \"x\"}"));
        assert!(is_list(b"{\"a\": 1}\r\n{\"a\": 2"));
        assert!(!is_list(b"{\"a\": [\n{}\n{"));
    }
}
