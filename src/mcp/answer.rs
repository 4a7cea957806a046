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
use csv_agent_types::limits::CLIENT_OUTPUT_BYTES_MAX;
use csv_agent_types::redaction::Redaction;

use crate::names::client_names;
use crate::resources::{chart_uri, table_uri, turn_uri};
use crate::table_view::TableView;

use crate::work::Work;

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
    /// What it contains beyond the outputs of the turn's calls, as records count it.
    pub sent: Vec<String>,
    /// Bytes of the pictures in it.
    pub image_bytes: u64,
}

impl ToolAnswer {
    /// Says why a call failed, and what to do.
    pub fn error(text: &str) -> ToolAnswer {
        let content = vec![ContentBlock::text(client_names(&cut(text)))];
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

/// Puts the result of work into words.
pub(crate) fn put_into_words(work: &Work, done: Result<WorkResult, String>) -> ToolAnswer {
    match done {
        Err(message) => ToolAnswer::error(&message),
        Ok(WorkResult::Text(text)) => of_text(work, &text),
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
        return ToolAnswer::error(&text);
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
            let printed = cut(printed);
            self.text.push(printed.clone());
            self.structured.insert("printed".into(), printed.into());
        }
        if let Some(table) = TableView::of_result(result) {
            // What a dataset looks like beside its schema.
            if self.structured.contains_key("schema") {
                self.text.push(format!("Its first rows:\n{}", table.text()));
                let mut head = Map::new();
                table.add_to(&mut head);
                head.remove("truncated");
                self.structured.insert("head".into(), head.into());
                return;
            }
            self.text.push(table.size());
            self.text.push(table.text());
            table.add_to(&mut self.structured);
            self.notes_of(result);
            if table.is_cut() && self.read.tables.is_empty() && self.turn.withheld.rows {
                self.text.push("The other rows are kept back by --no-rows.".to_owned());
            }
            return;
        }
        let text = cut(&without_printed(result).for_model());
        if !text.is_empty() {
            self.text.push(text.clone());
        }
        self.structured.insert("result".into(), text.into());
        if !self.structured.contains_key("truncated") {
            self.structured.insert("truncated".into(), call.is_cut.into());
        }
    }

    fn notes_of(&mut self, result: &Value) {
        let notes = result["notes"].as_array().into_iter().flatten();
        let notes: Vec<String> =
            notes.chain([&result["note"]]).filter_map(|it| it.as_str().map(client_names)).collect();
        if !notes.is_empty() {
            self.text.extend(notes.iter().cloned());
            self.structured.insert("notes".into(), notes.into());
        }
    }

    /// Adds what is known of datasets.
    fn facts(&mut self, call: &ReadCall) {
        let mut facts = call.result.clone();
        if let Some(members) = facts.as_object_mut() {
            members.shift_remove("kind");
        }
        rename(&mut facts);
        let text = cut(&facts.to_string());
        let is_cut = call.is_cut || text.len() < facts.to_string().len();
        self.text.push(text.clone());
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
        let value = if is_cut { text.into() } else { facts };
        self.structured.insert(key.into(), value);
        self.structured.insert("truncated".into(), is_cut.into());
    }

    /// Adds the tables that the turn sent: their rows, unless the call before has shown them, and where all of a
    /// table is.
    fn tables(&mut self) {
        for table in &self.read.tables {
            let is_shown = self.structured.contains_key("rows");
            if self.turn.withheld.rows {
                self.text.push(format!(
                    "The table `{}` has {} rows. It is in the session for its owner; --no-rows keeps its rows back.",
                    table.logical_name, table.row_count
                ));
                continue;
            }
            if !is_shown {
                let view = TableView::of_sent(table);
                self.text.push(view.size());
                self.text.push(view.text());
                view.add_to(&mut self.structured);
                self.sent.push(view.as_sent());
            }
            let is_cut = self.structured.get("truncated") == Some(&true.into());
            let Some(artifact) = table.artifact.as_ref().filter(|_| is_cut || !is_shown) else {
                continue;
            };
            let path = self.turn.session_dir.join(&artifact.path);
            let name = stem(&artifact.path);
            let uri = table_uri(self.read.turn, &name, self.turn.session.as_deref());
            if is_cut {
                self.text.push(format!(
                    "All {} rows: read the resource {uri} as CSV, or the Parquet file `{}`.",
                    table.row_count,
                    path.display()
                ));
            }
            let whole = json!({"uri": uri, "parquet": path.display().to_string()});
            self.structured.insert("whole".into(), whole);
            let about = format!("all {} rows", table.row_count);
            let link = Resource::new(uri, table.logical_name.clone());
            self.links.push(link.with_description(about).with_mime_type("text/csv"));
        }
    }

    /// Adds the charts that the turn drew.
    fn charts(&mut self) {
        if let Some(reason) = self.read.rejected {
            self.text.push(format!("The chart was not drawn: {}", client_names(reason)));
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
        self.text.push(reply.text.clone());
        self.sent.push(reply.text.clone());
        self.structured.insert("answer".into(), reply.text.clone().into());
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
        let findings = json!(reply.findings);
        self.text.push(format!(
            "Recorded. The assessment is {}, with {}.",
            assessment.unwrap_or("none"),
            match reply.findings.len() {
                0 => "no finding".to_owned(),
                1 => "1 finding".to_owned(),
                n => format!("{n} findings"),
            }
        ));
        if !reply.findings.is_empty() {
            self.text.push(findings.to_string());
        }
        self.sent.push(findings.to_string());
        self.structured.insert("assessment".into(), assessment.into());
        self.structured.insert("findings".into(), findings);
    }

    fn finish(mut self) -> ToolAnswer {
        let remarks = self.turn.remarks.iter().map(|it| client_names(it));
        let warnings = self.read.warnings.iter().map(|it| client_names(it));
        let notes: Vec<String> = remarks.chain(warnings).collect();
        if !notes.is_empty() {
            self.sent.extend(self.turn.remarks.iter().cloned());
            self.text.extend(notes.iter().map(|it| format!("Note: {it}")));
            let more = self.structured.entry("notes").or_insert_with(|| json!([]));
            more.as_array_mut()
                .into_iter()
                .for_each(|it| it.extend(notes.iter().map(|it| json!(it))));
        }
        let link = turn_uri(self.read.turn, self.turn.session.as_deref());
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
            sent: self.sent,
            image_bytes,
        }
    }
}

fn of_text(work: &Work, text: &str) -> ToolAnswer {
    let shown = cut(text);
    let is_cut = shown.len() < text.len();
    let mut structured = json!({"text": shown, "truncated": is_cut});
    let mut parts = vec![shown.clone()];
    if let (true, Work::Export { turns, form }) = (is_cut, work) {
        let way = format!(
            "It has {} bytes and is cut. All of it: `csv-agent export {form} {} -o FILE`.",
            text.len(),
            turns.join(" ")
        );
        structured["whole"] = way.clone().into();
        parts.push(way);
    }
    ToolAnswer {
        content: vec![ContentBlock::text(parts.join("\n\n"))],
        structured: Some(structured),
        sent: vec![shown],
        ..ToolAnswer::default()
    }
}

fn of_rerun(document: &Value, is_same: bool) -> ToolAnswer {
    let text = document["text"].as_str().unwrap_or_default();
    let tables = document["tables"].as_array().into_iter().flatten();
    let table = |it: &Value| {
        let table: DataFrame = serde_json::from_value(it.clone()).ok()?;
        Some((table.logical_name.clone(), TableView::of_sent(&table)))
    };
    let tables: Vec<(String, TableView)> = tables.filter_map(table).take(3).collect();
    let mut parts = vec![cut(text)];
    let mut structured = json!({"same": is_same, "text": cut(text), "tables": []});
    let mut sent = vec![cut(text)];
    for (name, view) in tables {
        let mut members = Map::new();
        members.insert("name".into(), name.clone().into());
        view.add_to(&mut members);
        parts.push(format!("Table `{name}` now. {}\n{}", view.size(), view.text()));
        sent.push(view.as_sent());
        let shown = Value::Object(members);
        let n_bytes = structured.to_string().len() + shown.to_string().len();
        if n_bytes <= CLIENT_OUTPUT_BYTES_MAX {
            structured["tables"].as_array_mut().into_iter().for_each(|it| it.push(shown.clone()));
        } else {
            parts.pop();
            sent.pop();
            parts.push(format!("Table `{name}` is left out, as the answer would be too long."));
        }
    }
    ToolAnswer {
        content: vec![ContentBlock::text(parts.join("\n\n"))],
        structured: Some(structured),
        sent,
        ..ToolAnswer::default()
    }
}

/// Puts the names that a client knows into the notes of a result.
fn rename(facts: &mut Value) {
    match facts {
        Value::Array(items) => items.iter_mut().for_each(rename),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if ["note", "text"].contains(&name.as_str()) => {
                        *text = client_names(text);
                    }
                    other => rename(other),
                }
            }
        }
        _ => {}
    }
}

/// Returns a result without what code printed, which is shown apart.
fn without_printed(result: &Value) -> ToolOutput {
    let mut result = result.clone();
    if let Some(members) = result.as_object_mut() {
        members.shift_remove("stdout");
    }
    ToolOutput::json(result)
}

/// Returns the name of a file without its directory and ending.
fn stem(path: &str) -> String {
    let path = std::path::Path::new(path);
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Cuts a text that is too long in the middle, and says so there.
fn cut(text: &str) -> String {
    if text.len() <= CLIENT_OUTPUT_BYTES_MAX {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(CLIENT_OUTPUT_BYTES_MAX / 2 - 100);
    let tail = text.ceil_char_boundary(text.len() + 100 - CLIENT_OUTPUT_BYTES_MAX / 2);
    let n_cut = tail - head;
    format!(
        "{}\n… {n_cut} of {} bytes left out; ask for less, or aggregate …\n{}",
        &text[..head],
        text.len(),
        &text[tail..]
    )
}
