//! The answer to a call: what happened in a turn, as text and as structured content.
//!
//! Clients drop the text, and even pictures, where there is structured content: what matters is in both, and an
//! answer with a picture has none.

use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{ContentBlock, Resource};
use serde_json::{Map, Value, json};

use csv_agent_types::event::{
    Body, CallStatus, ChartDrawn, DataFrame, Event, ReplyBody, Status, ToolOutput,
};
use csv_agent_types::redaction::Redaction;

use crate::names::{client_words, without_result_name};
use crate::resources::{CSV_OFFERED_BYTES_MAX, chart_uri, table_uri, turn_uri};
use crate::table_view::{TableView, csv_bytes, rows_in_words};
use crate::work::Work;

/// Bytes of one form of an answer, as JSON: clients take 45,000 in both.
const FORM_BYTES_MAX: usize = 21_000;
/// Bytes of the findings of a verdict that come back.
const FINDINGS_BYTES_MAX: usize = 8_000;
/// Tables of a rerun that are shown.
const RERUN_TABLES_MAX: usize = 3;
/// Bytes of the notes of an answer.
const NOTES_BYTES_MAX: usize = 6_000;

/// What was done.
#[derive(Debug)]
pub enum WorkResult {
    /// A turn.
    Turn(Box<ClientTurn>),
    /// Text of a program that was run.
    Text(String),
    /// The document of a rerun, and whether its results are the same.
    Rerun(Box<Value>, bool),
}

/// A turn that was made for a client.
#[derive(Debug, Default)]
pub struct ClientTurn {
    /// Its events.
    pub events: Vec<Event>,
    /// The directory of its session.
    pub session_dir: PathBuf,
    /// The session, if the client named it.
    pub session: Option<PathBuf>,
    /// The last chart of the turn, as PNG.
    pub png: Option<Vec<u8>>,
    /// What the client must not see.
    pub withheld: Redaction,
    /// Remarks of programs that ran before it.
    pub remarks: Vec<String>,
}

/// An answer to a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolAnswer {
    /// What the client's model reads.
    pub(crate) content: Vec<ContentBlock>,
    /// The same, for programs.
    pub(crate) structured: Option<Value>,
    /// Whether the call failed.
    pub(crate) is_error: bool,
    /// What is known of each dataset that was described.
    pub(crate) schemas: Vec<Value>,
    /// What it contains beyond the outputs of the turn's calls, as records count it.
    pub sent: Vec<String>,
    /// Bytes of the pictures in it.
    pub image_bytes: u64,
}

impl ToolAnswer {
    /// Says why a call failed, and what to do.
    pub fn error(text: &str) -> ToolAnswer {
        // A command says what is wrong with its flags in a document.
        let document: Value = serde_json::from_str(text).unwrap_or_default();
        let message = document["error"]["message"].as_str();
        let hint = document["error"]["hint"].as_str().map(|it| format!("; {it}"));
        let told = message.map(|it| format!("{it}{}", hint.unwrap_or_default()));
        ToolAnswer::failed(&client_words(&told.unwrap_or_else(|| text.to_owned())))
    }

    /// Says why a call failed, in words that stay as they are.
    fn failed(text: &str) -> ToolAnswer {
        let shown = cut(text, "a long message is shown with its beginning and its end");
        let content = vec![ContentBlock::text(shown)];
        ToolAnswer { content, is_error: true, ..ToolAnswer::default() }
    }
}

/// The events of a turn, by what they are.
#[derive(Default)]
struct Read<'a> {
    turn: &'a str,
    results: Vec<ReadCall<'a>>,
    tables: Vec<&'a DataFrame>,
    charts: Vec<&'a ChartDrawn>,
    rejected: Option<&'a str>,
    warnings: Vec<&'a str>,
    reply: Option<&'a ReplyBody>,
    failure: Option<String>,
}

/// A call of the turn.
struct ReadCall<'a> {
    name: &'a str,
    status: CallStatus,
    result: &'a Value,
    is_cut: bool,
}

impl Read<'_> {
    fn of(events: &[Event]) -> Read<'_> {
        let mut read = Read::default();
        for event in events {
            read.turn = &event.turn_id;
            match &event.body {
                Body::ToolResult { name, status, result, truncated, .. } => {
                    let (status, is_cut) = (*status, *truncated);
                    read.results.push(ReadCall { name, status, result, is_cut });
                }
                Body::DataFrame(table) => read.tables.push(table),
                Body::Chart(chart) => read.charts.push(chart),
                Body::ChartRejected { reason, .. } => read.rejected = Some(reason),
                Body::Status(Status::Warning { message, .. }) => read.warnings.push(message),
                Body::Reply(reply) => read.reply = Some(reply),
                Body::Error(error) if error.fatal => {
                    let hint = error.hint.iter().map(|it| format!("; {it}"));
                    read.failure = Some([error.message.clone()].into_iter().chain(hint).collect());
                }
                _ => {}
            }
        }
        read
    }
}

pub(crate) fn put_into_words(work: &Work, done: Result<WorkResult, String>) -> ToolAnswer {
    match done {
        Err(message) => ToolAnswer::error(&message),
        Ok(WorkResult::Text(text)) => of_export(work, text),
        Ok(WorkResult::Rerun(document, is_same)) => of_rerun(&document, is_same),
        Ok(WorkResult::Turn(turn)) => of_turn(work, &turn),
    }
}

fn of_turn(work: &Work, turn: &ClientTurn) -> ToolAnswer {
    let read = Read::of(&turn.events);
    if let Some(failure) = &read.failure {
        return ToolAnswer::error(failure);
    }
    if let Some(failed) = read.results.iter().find(|it| it.status != CallStatus::Ok)
        && !matches!(work, Work::Ask { .. })
    {
        let text = failed.result["text"]
            .as_str()
            .map_or_else(|| ToolOutput::json(failed.result.clone()).for_model(), str::to_owned);
        return match failed.name {
            // A traceback quotes code and data.
            "python_repl" => {
                let notes = notes_of(failed.result);
                let parts: Vec<String> = [text].into_iter().chain(notes).collect();
                ToolAnswer::failed(&parts.join("\n"))
            }
            _ => ToolAnswer::error(&without_result_name(&text)),
        };
    }
    let mut parts = AnswerParts::new(&read, turn);
    match work {
        Work::Ask { .. } => parts.ask(),
        Work::Verdict { .. } => parts.verdict(),
        _ => parts.calls(),
    }
    parts.finish()
}

/// An answer in the making.
struct AnswerParts<'a> {
    read: &'a Read<'a>,
    turn: &'a ClientTurn,
    text: Vec<String>,
    structured: Map<String, Value>,
    links: Vec<Resource>,
    sent: Vec<String>,
    schemas: Vec<Value>,
    image: Option<&'a [u8]>,
}

impl<'a> AnswerParts<'a> {
    fn new(read: &'a Read<'a>, turn: &'a ClientTurn) -> AnswerParts<'a> {
        let mut structured = Map::new();
        let number = read.turn.trim_start_matches('0');
        structured.insert("turn".into(), number.into());
        AnswerParts {
            read,
            turn,
            text: Vec::new(),
            structured,
            links: Vec::new(),
            sent: Vec::new(),
            schemas: Vec::new(),
            image: None,
        }
    }

    /// Adds the results of calls.
    fn calls(&mut self) {
        let read = self.read;
        let shows_chart = !read.charts.is_empty();
        for call in &read.results {
            match call.name {
                // A chart or a table that was sent follows.
                "query_datasets" if shows_chart => {}
                "send_chart_to_ui" => self.charts(),
                "send_data_to_ui_as_df" => self.tables(),
                "get_dataset_info" | "list_datasets" | "find_value_columns" => self.facts(call),
                _ => self.result(call),
            }
        }
    }

    /// Adds the result of a query or of code.
    fn result(&mut self, call: &ReadCall) {
        let result = call.result;
        let printed = result["stdout"].as_str().filter(|it| !it.is_empty());
        if let Some(printed) = printed {
            let printed = cut(printed, &self.whole());
            self.text.push(printed.clone());
            self.structured.insert("printed".into(), printed.into());
        }
        let whole = self.read.tables.first().copied().filter(|_| call.name == "query_datasets");
        if let Some(table) = TableView::of_result(result, whole, call.name == "python_repl") {
            // What a dataset looks like beside its schema.
            if self.structured.contains_key("schema") {
                self.text.push(format!("Its first rows:\n{}", table.text()));
                let mut head = Map::new();
                table.add_to(&mut head);
                head.remove("truncated");
                self.structured.insert("head".into(), head.into());
                if table.has_cut_cells() {
                    self.structured.insert("truncated".into(), true.into());
                    self.note(CUT_CELLS_ELSEWHERE);
                }
                return;
            }
            self.text.push(table.size());
            self.text.push(table.text());
            table.add_to(&mut self.structured);
            self.notes_of(result);
            if table.has_cut_cells() {
                self.note(if whole.is_some() { CUT_CELLS } else { CUT_CELLS_ELSEWHERE });
            }
            let is_kept = !self.read.tables.is_empty();
            if table.lacks_rows() && !is_kept && self.turn.withheld.rows {
                self.text.push("The other rows are kept back by --no-rows.".to_owned());
            } else if table.is_cut() && call.name == "python_repl" {
                self.note(
                    "To get all of it, assign it to a variable and call `table` with its name.",
                );
            }
            return;
        }
        let text = cut(&without_notes(result).for_model(), &self.whole());
        if !text.is_empty() {
            self.text.push(text.clone());
        }
        self.structured.insert("result".into(), text.into());
        self.notes_of(result);
        if !self.structured.contains_key("truncated") {
            self.structured.insert("truncated".into(), call.is_cut.into());
        }
    }

    fn notes_of(&mut self, result: &Value) {
        for note in notes_of(result) {
            self.note(&note);
        }
    }

    /// Says where all of a text is that is cut.
    fn whole(&self) -> String {
        let uri = turn_uri(self.read.turn, self.turn.session.as_deref());
        format!("{uri} has all of it; or ask for less")
    }

    /// Adds a note to both forms.
    fn note(&mut self, note: &str) {
        self.text.push(note.to_owned());
        let notes = self.structured.entry("notes").or_insert_with(|| json!([]));
        notes.as_array_mut().into_iter().for_each(|it| it.push(note.into()));
    }

    /// Adds what is known of datasets.
    fn facts(&mut self, call: &ReadCall) {
        if call.name == "get_dataset_info" {
            self.schemas.push(call.result.clone());
        }
        let mut facts = call.result.clone();
        if let Some(members) = facts.as_object_mut() {
            members.shift_remove("kind");
        }
        rename(&mut facts);
        // Not all datasets that match were searched.
        let is_partial = call.name == "find_value_columns"
            && facts["note"]
                .as_str()
                .is_some_and(|it| it.contains(" more datasets were not searched;"));
        // A call has bounded them.
        self.text.push(facts.to_string());
        let key = match call.name {
            "get_dataset_info"
                if self.read.results.len() == 1 || !self.structured.contains_key("schema") =>
            {
                "schema"
            }
            "get_dataset_info" => "further_schema",
            "list_datasets" => "found",
            _ => "matches",
        };
        self.structured.insert(key.into(), facts);
        self.structured.insert("truncated".into(), (call.is_cut || is_partial).into());
    }

    /// Adds the tables that the turn sent: their rows, unless the call before has shown them, and where all of a
    /// table is.
    fn tables(&mut self) {
        for table in &self.read.tables {
            let is_shown = self.structured.contains_key("rows");
            if self.turn.withheld.rows {
                self.text.push(format!(
                    "The table `{}` has {}. Cells that identify a row are kept back; the complete table is in the session.",
                    table.logical_name, rows_in_words(table.row_count)
                ));
                continue;
            }
            if !is_shown {
                let view = TableView::of_sent(table);
                self.text.push(view.size());
                self.text.push(view.text());
                view.add_to(&mut self.structured);
                if view.has_cut_cells() {
                    self.note(CUT_CELLS);
                }
                self.sent.push(view.as_sent());
            }
            let is_cut = self.structured.get("truncated") == Some(&true.into());
            let Some(artifact) = table.artifact.as_ref().filter(|_| is_cut || !is_shown) else {
                continue;
            };
            let path = self.turn.session_dir.join(&artifact.path).display().to_string();
            let rows = rows_in_words(table.row_count);
            let all = if table.row_count == 1 {
                "All of the row".to_owned()
            } else {
                format!("All {rows}")
            };
            // A resource that is too large could not be read.
            let n_bytes = csv_bytes(table, artifact.bytes);
            if CSV_OFFERED_BYTES_MAX < n_bytes {
                self.text.push(format!(
                    "{all}: the Parquet file `{path}` ({} MB; too large for a resource). Or query less.",
                    (artifact.bytes >> 20).max(1)
                ));
                let whole = json!({"parquet": path, "bytes": artifact.bytes});
                self.structured.insert("whole".into(), whole);
                continue;
            }
            let name = stem(&artifact.path);
            let uri = table_uri(self.read.turn, &name, self.turn.session.as_deref());
            if is_cut {
                self.text.push(format!(
                    "{all}: read the resource {uri} as CSV, or the Parquet file `{path}`."
                ));
            }
            let whole = json!({"uri": uri, "parquet": path});
            self.structured.insert("whole".into(), whole);
            let link = Resource::new(uri, table.logical_name.clone());
            let about = if table.row_count == 1 { rows } else { format!("all {rows}") };
            self.links.push(link.with_description(about).with_mime_type("text/csv"));
        }
    }

    /// Adds the charts that the turn drew.
    fn charts(&mut self) {
        if let Some(reason) = self.read.rejected {
            let reason = without_result_name(&client_words(reason));
            self.text.push(format!("The chart was not drawn: {reason}"));
        }
        for chart in &self.read.charts {
            let Some(png) = chart.files.iter().find(|it| it.format == "png") else { continue };
            let path = self.turn.session_dir.join(&png.path);
            if self.turn.withheld.rows {
                self.text.push(format!(
                    "The chart `{}` is drawn. It is in the session for its owner; --no-rows keeps the picture back.",
                    chart.logical_name
                ));
                continue;
            }
            let uri = chart_uri(self.read.turn, &stem(&png.path), self.turn.session.as_deref());
            self.text.push(format!("{}\nThe chart is the file `{}`.", chart.alt, path.display()));
            self.sent.push(chart.alt.clone());
            let link = Resource::new(uri, chart.logical_name.clone()).with_mime_type("image/png");
            self.links.push(link.with_size(png.bytes));
            self.image = self.turn.png.as_deref();
        }
    }

    fn ask(&mut self) {
        let Some(reply) = self.read.reply else { return };
        let is_refused = reply.stop_reason == csv_agent_types::status::StopReason::Refused;
        let text = cut(&reply.text, &self.whole());
        self.text.push(text.clone());
        self.sent.push(text.clone());
        self.structured.insert("answer".into(), text.into());
        self.structured.insert("understood".into(), (!is_refused).into());
        self.tables();
        self.charts();
        if is_refused {
            self.text.push(
                "The built-in analyst answers plain questions only; use `query` or `python` for this one."
                    .to_owned(),
            );
        }
    }

    fn verdict(&mut self) {
        let Some(reply) = self.read.reply else { return };
        let assessment = reply.assessment.map(csv_agent_types::conversation::Assessment::name);
        let mut n_bytes = 0;
        let shown = reply.findings.iter().map(|it| json!(it)).take_while(|it| {
            n_bytes += weight(&it.to_string());
            n_bytes <= FINDINGS_BYTES_MAX
        });
        let shown: Vec<Value> = shown.collect();
        let n_more = reply.findings.len() - shown.len();
        let has_findings = !shown.is_empty();
        let findings = json!(shown);
        self.text.push(format!(
            "Recorded. The assessment is {}, with {}.",
            assessment.unwrap_or("none"),
            match reply.findings.len() {
                0 => "no finding".to_owned(),
                1 => "1 finding".to_owned(),
                n => format!("{n} findings"),
            }
        ));
        if has_findings {
            self.text.push(findings.to_string());
        }
        if 0 < n_more {
            self.note(&format!(
                "{n_more} of {} findings are recorded and not repeated here; the record has them",
                reply.findings.len()
            ));
        }
        self.sent.push(findings.to_string());
        self.structured.insert("assessment".into(), assessment.into());
        self.structured.insert("findings".into(), findings);
        self.structured.insert("truncated".into(), (0 < n_more).into());
    }

    fn finish(mut self) -> ToolAnswer {
        let remarks = self.turn.remarks.iter().map(|it| client_words(it));
        let warnings = self.read.warnings.iter().map(|it| client_words(it));
        let notes: Vec<String> = remarks.chain(warnings).collect();
        let mut n_bytes = 0;
        let fit = notes.iter().take_while(|it| {
            n_bytes += weight(it);
            n_bytes <= NOTES_BYTES_MAX
        });
        let n_shown = fit.count();
        if !notes.is_empty() {
            self.sent.extend(self.turn.remarks.iter().take(n_shown).cloned());
        }
        for note in &notes[..n_shown] {
            self.text.push(format!("Note: {note}"));
            let more = self.structured.entry("notes").or_insert_with(|| json!([]));
            more.as_array_mut().into_iter().for_each(|it| it.push(note.as_str().into()));
        }
        if n_shown < notes.len() {
            let n_more = notes.len() - n_shown;
            self.note(&format!("{n_more} more notes; `describe` has those of each dataset"));
        }
        let link = turn_uri(self.read.turn, self.turn.session.as_deref());
        let number = self.read.turn.trim_start_matches('0');
        self.text.push(format!("Recorded as turn {number}: {link}"));
        self.structured.insert("record".into(), link.into());
        let mut content = vec![ContentBlock::text(self.text.join("\n\n"))];
        let mut image_bytes = 0;
        let has_image = self.image.is_some();
        if let Some(png) = self.image {
            let encoded = BASE64_STANDARD.encode(png);
            image_bytes = encoded.len() as u64;
            content.push(ContentBlock::image(encoded, "image/png"));
        }
        content.extend(self.links.into_iter().map(ContentBlock::resource_link));
        let structured = (!has_image && self.read.charts.is_empty()).then_some(self.structured);
        ToolAnswer {
            content,
            structured: structured.map(Value::Object),
            is_error: false,
            schemas: self.schemas,
            sent: self.sent,
            image_bytes,
        }
    }
}

/// A part of a program is of no use: it comes back whole, or it is said how to get it.
fn of_export(work: &Work, text: String) -> ToolAnswer {
    let (shown, structured) = match work {
        Work::Export { turns, form } if FORM_BYTES_MAX < weight(&text) => {
            let fewer =
                if turns.len() == 1 && turns[0] != "all" { "" } else { "; or export fewer turns" };
            let way = format!(
                "It has {} bytes, too many for an answer, and is not shown. To get it, run \
                 `csv-agent export {form} {} -o FILE` in a terminal{fewer}.",
                text.len(),
                turns.join(" ")
            );
            let structured = json!({"text": "", "truncated": true, "whole": way});
            (way, structured)
        }
        _ => {
            let structured = json!({"text": text, "truncated": false});
            (text, structured)
        }
    };
    ToolAnswer {
        content: vec![ContentBlock::text(shown.clone())],
        structured: Some(structured),
        sent: vec![shown],
        ..ToolAnswer::default()
    }
}

fn of_rerun(document: &Value, is_same: bool) -> ToolAnswer {
    let text = document["text"].as_str().unwrap_or_default();
    let text = cut(text, "repeat the calls of the turn to see what they return");
    let tables = document["tables"].as_array().into_iter().flatten();
    let tables = tables.filter_map(|it| serde_json::from_value::<DataFrame>(it.clone()).ok());
    let mut parts = vec![text.clone()];
    let mut structured = json!({"same": is_same, "text": text, "tables": [], "truncated": false});
    let mut sent = vec![text];
    for (at, table) in tables.enumerate() {
        let (name, view) = (&table.logical_name, TableView::of_sent(&table));
        let mut members = Map::new();
        members.insert("name".into(), name.clone().into());
        view.add_to(&mut members);
        let shown = Value::Object(members);
        let n_bytes = structured.to_string().len() + shown.to_string().len();
        let fits = at < RERUN_TABLES_MAX && n_bytes <= FORM_BYTES_MAX;
        if fits {
            parts.push(format!("Table `{name}` now. {}\n{}", view.size(), view.text()));
            sent.push(view.as_sent());
            structured["tables"].as_array_mut().into_iter().for_each(|it| it.push(shown.clone()));
        } else {
            parts.push(format!("Table `{name}` is left out, as the answer would be too long."));
        }
        if !fits || view.is_cut() {
            structured["truncated"] = true.into();
            parts.push(format!(
                "To get all of `{name}`, repeat the calls of the turn: `query` and `table` keep the whole result."
            ));
        }
    }
    ToolAnswer {
        content: vec![ContentBlock::text(parts.join("\n\n"))],
        structured: Some(structured),
        sent,
        ..ToolAnswer::default()
    }
}

/// Puts the words of a client into the notes of a result. Texts of files among the members stay as they are.
fn rename(facts: &mut Value) {
    match facts {
        Value::Array(items) => items.iter_mut().for_each(rename),
        Value::Object(members) => {
            // Without the key of a kept output, `text` may be that of a file.
            let is_kept = members.contains_key("data_key");
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "note" || is_kept && name == "text" => {
                        *text = client_words(text);
                    }
                    other => rename(other),
                }
            }
        }
        _ => {}
    }
}

/// Returns a result without what is shown apart: what code printed, and notes.
fn without_notes(result: &Value) -> ToolOutput {
    let mut result = result.clone();
    if let Some(members) = result.as_object_mut() {
        members.retain(|name, _| !["stdout", "notes", "note", "sample"].contains(&name.as_str()));
    }
    ToolOutput::json(result)
}

/// Returns the notes of a result.
fn notes_of(result: &Value) -> Vec<String> {
    let notes = result["notes"].as_array().into_iter().flatten();
    let notes = notes.chain([&result["note"], &result["sample"]]);
    notes.filter_map(|it| it.as_str().map(client_words)).collect()
}

/// Returns the name of a file without its directory and ending.
fn stem(path: &str) -> String {
    let path = std::path::Path::new(path);
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Said where cells are cut and the whole result is a file.
const CUT_CELLS: &str = "Cells that end in `…` are cut; the whole result has all of them.";
/// Said where cells are cut and no file has them.
const CUT_CELLS_ELSEWHERE: &str = "Cells that end in `…` may be cut; print such a cell in `python`, or keep a whole \
DataFrame with `table`.";

/// Returns the bytes of a text within JSON.
fn weight(text: &str) -> usize {
    text.chars().map(weight_of).sum()
}

fn weight_of(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        it if it < ' ' => 6,
        it => it.len_utf8(),
    }
}

/// Cuts a text that is too long in the middle, and says there where all of it is.
fn cut(text: &str, whole: &str) -> String {
    if weight(text) <= FORM_BYTES_MAX {
        return text.to_owned();
    }
    let half = FORM_BYTES_MAX / 2 - 60 - weight(whole);
    let fitting = |letters: &mut dyn Iterator<Item = char>| {
        let mut n_bytes = 0;
        let fit = letters.take_while(|it| {
            n_bytes += weight_of(*it);
            n_bytes <= half
        });
        fit.map(char::len_utf8).sum::<usize>()
    };
    let head = fitting(&mut text.chars());
    let tail = text.len() - fitting(&mut text.chars().rev());
    format!(
        "{}\n… {} of {} bytes left out; {whole} …\n{}",
        &text[..head],
        tail - head,
        text.len(),
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use super::{FORM_BYTES_MAX, cut, weight};

    #[test]
    fn a_text_is_cut_by_its_bytes_in_json() {
        for text in ["x".repeat(50_000), "\u{1}\"\n".repeat(9_000), "größe…".repeat(9_000)] {
            let found = cut(&text, "turn 7 has all of it");
            assert!(weight(&found) <= FORM_BYTES_MAX);
            assert!(found.contains("bytes left out; turn 7 has all of it …"));
            assert_eq!(serde_json::to_string(&found).unwrap().len(), weight(&found) + 2);
        }
        assert_eq!(cut("short", "turn 7"), "short");
    }
}
