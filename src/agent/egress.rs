//! Egress: what of the data left the machine, counted in the bodies of the requests.
//!
//! Pure, except for the file that records a turn's egress. It reads the body itself, in either dialect, so
//! nothing is sent uncounted. A later request repeats what an earlier one sent: names, rows and text count
//! once a turn, bytes each time.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use csv_agent_cluster::Traffic;
use csv_agent_provider::Progress;
use csv_agent_session::egress_store::EgressFile;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::egress::{Egress, Record};
use csv_agent_types::limits::{CLUSTER_RECORD_EVERY, COLUMN_NAME_BYTES_MAX};

/// Members of a body that hold text for the model. The rest are settings and tools.
const SAID: [&str; 3] = ["instructions", "input", "messages"];
/// Members within these that hold keywords of the dialect, ids, and data that only the server can read.
const NOT_SAID: [&str; 8] =
    ["type", "role", "id", "call_id", "tool_call_id", "name", "status", "encrypted_content"];
/// Prefix of an image within a body.
const IMAGE: &str = "data:image/";
/// Prefix of a row in the profile for a model without tools.
pub(crate) const PROFILE_ROW: &str = "  - row: ";

/// The egress record of a running turn. It is written before a request is sent, so that a killed process
/// leaves a record of what it sent.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Debug)]
struct Inner {
    counter: Counter,
    /// The counts before the current request.
    before: Option<Counter>,
    /// Traffic to and from a cluster. A failed request to a provider does not revert it.
    cluster: Record,
    file: EgressFile,
    /// When the file was last written.
    written: Option<Instant>,
    /// Whether the file lacks some of the cluster's traffic.
    is_behind: bool,
    failed: Option<anyhow::Error>,
}

impl Ledger {
    /// Begins the record of a turn over these datasets.
    pub(crate) fn begin(catalog: &Catalog, file: EgressFile) -> Ledger {
        let counter = Counter::new(catalog);
        let cluster = Record::default();
        let inner = Inner {
            counter,
            before: None,
            cluster,
            file,
            written: None,
            is_behind: false,
            failed: None,
        };
        Ledger { inner: Rc::new(RefCell::new(inner)) }
    }

    /// Counts a request that is sent, and reverts one that found no server. In a transcript, outputs of
    /// earlier turns count as text.
    pub(crate) fn hear(&self, progress: &Progress, is_transcript: bool) {
        let mut inner = self.inner.borrow_mut();
        match progress {
            Progress::Sending { body, to } => {
                inner.before = Some(inner.counter.clone());
                inner.counter.count(body, Some(to), is_transcript);
            }
            Progress::Calling { bytes, to } => {
                inner.before = Some(inner.counter.clone());
                inner.counter.count_request(*bytes, Some(to));
            }
            Progress::Uploading { dataset, bytes, to, .. } => {
                inner.before = Some(inner.counter.clone());
                inner.counter.count_upload(dataset, *bytes, Some(to));
            }
            Progress::Fetched { bytes } => inner.counter.count_download(*bytes),
            Progress::Unsent => {
                let Some(before) = inner.before.take() else { return };
                inner.counter = before;
            }
            _ => return,
        }
        inner.write();
    }

    /// Records that a cluster may be queried from now on. It runs before the first query, so that a killed
    /// process leaves the record. The amounts follow later. Fails when this cannot be written to disk. The
    /// cluster must not be queried then.
    pub(crate) fn opens_cluster(&self, destination: &str) -> anyhow::Result<()> {
        let mut inner = self.inner.borrow_mut();
        if inner.cluster.all.destinations.iter().any(|it| it == destination) {
            return Ok(());
        }
        let opened = Egress { destinations: vec![destination.to_owned()], ..Egress::default() };
        inner.cluster.add(&Record { all: opened, ..Record::default() });
        let record = inner.record();
        inner.file.write(&record)
    }

    /// Counts traffic to and from the cluster. The destination is recorded by then; the amounts are written
    /// after [`CLUSTER_RECORD_EVERY`], and by [`Ledger::catch_up`].
    pub(crate) fn count_cluster(&self, traffic: Traffic) {
        if traffic == Traffic::default() {
            return;
        }
        let mut inner = self.inner.borrow_mut();
        let all = Egress {
            cluster_requests: traffic.requests,
            cluster_sent_bytes: traffic.sent_bytes,
            cluster_received_bytes: traffic.received_bytes,
            ..Egress::default()
        };
        inner.cluster.add(&Record { all, ..Record::default() });
        inner.is_behind = true;
        if inner.written.is_none_or(|it| CLUSTER_RECORD_EVERY <= it.elapsed()) {
            inner.write();
        }
    }

    /// Writes the traffic since the last write to the record.
    pub(crate) fn catch_up(&self) {
        let mut inner = self.inner.borrow_mut();
        if inner.is_behind {
            inner.write();
        }
    }

    /// Checks that the record was written to disk. Fails when it was not.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.inner.borrow_mut().failed.take().map_or(Ok(()), Err)
    }

    /// Returns what was sent so far.
    pub(crate) fn record(&self) -> Record {
        self.inner.borrow().record()
    }
}

impl Inner {
    fn record(&self) -> Record {
        let mut record = self.counter.record().clone();
        record.add(&self.cluster);
        record
    }

    fn write(&mut self) {
        (self.is_behind, self.written) = (false, Some(Instant::now()));
        if let Err(error) = self.file.write(&self.record()) {
            self.failed.get_or_insert(error);
        }
    }
}

/// Adds to the record of a turn that has ended: outputs and bytes of images that are sent to `destination`, with the
/// turn's own outputs or as a request of their own.
///
/// # Errors
///
/// Fails when the record cannot be read or written; nothing must be sent then.
pub fn record_sent(
    catalog: &Catalog,
    turn_dir: &Path,
    outputs: &[String],
    image_bytes: u64,
    destination: &str,
    is_apart: bool,
) -> anyhow::Result<()> {
    let mut counter = Counter::new(catalog);
    let item = |text: &String| json!({"type": "function_call_output", "output": text});
    let items: Vec<Value> = outputs.iter().map(item).collect();
    counter.count(&json!({"input": items}), Some(destination), false);
    if !is_apart {
        counter.record.all.requests = 0;
    }
    counter.record.all.bytes += image_bytes;
    counter.record.all.image_bytes += image_bytes;
    let file = EgressFile::of_turn(turn_dir);
    let mut record = file.read()?;
    record.add(counter.record());
    file.write(&record)
}

/// The data in a turn's requests so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counter {
    datasets: Vec<NamedDataset>,
    record: Record,
    /// Hashes of rows and texts already counted.
    seen: HashSet<u64>,
}

/// A dataset whose names are searched for.
#[derive(Debug, Clone)]
struct NamedDataset {
    name: String,
    columns: Vec<String>,
    n_rows: u64,
    was_sent: Vec<bool>,
    /// Whether one upload sent all of its rows.
    was_uploaded: bool,
}

impl Counter {
    /// Makes a counter for these datasets.
    pub(crate) fn new(catalog: &Catalog) -> Counter {
        let known = |(name, dataset): (&str, &Dataset)| NamedDataset {
            name: name.to_owned(),
            columns: dataset.columns.iter().map(|it| it.name.clone()).collect(),
            n_rows: dataset.row_count,
            was_sent: vec![false; dataset.columns.len()],
            was_uploaded: false,
        };
        Counter { datasets: catalog.iter().map(known).collect(), ..Counter::default() }
    }

    /// Counts a body that is sent to a server. In a transcript, outputs of earlier turns count as text.
    pub(crate) fn count(&mut self, body: &Value, destination: Option<&str>, is_transcript: bool) {
        let n_bytes = body.to_string().len() as u64;
        self.count_request(n_bytes, destination);
        let mut said = Vec::new();
        for it in SAID {
            texts(&body[it], &mut said);
        }
        let (images, said): (Vec<&str>, Vec<&str>) =
            said.into_iter().partition(|it| it.starts_with(IMAGE));
        for image in images {
            if self.seen.insert(hash(image)) {
                self.record.all.image_bytes += image.len() as u64;
            }
        }
        self.count_names(&said, n_bytes);
        if is_transcript {
            let items = [&body["input"], &body["messages"]];
            let items = items.into_iter().flat_map(|it| it.as_array().into_iter().flatten());
            let mut told = Vec::new();
            items.filter(|it| it["role"] == "user").for_each(|it| texts(it, &mut told));
            for it in told {
                self.count_text(it);
            }
        }
        for row in said.iter().flat_map(|it| it.lines()).filter(|it| it.starts_with(PROFILE_ROW)) {
            self.record.all.rows += u64::from(self.seen.insert(hash(row)));
        }
        for it in outputs(body) {
            self.count_output(it);
        }
    }

    /// Returns what was counted.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// Counts a request, regardless of its content.
    fn count_request(&mut self, n_bytes: u64, destination: Option<&str>) {
        let all = &mut self.record.all;
        all.requests += 1;
        all.bytes += n_bytes;
        if let Some(it) = destination.filter(|it| all.destinations.iter().all(|known| known != it))
        {
            all.destinations.push(it.to_owned());
        }
    }

    /// Counts the upload of a whole dataset: each column, and each row that was not sent before.
    pub(crate) fn count_upload(&mut self, dataset: &str, n_bytes: u64, destination: Option<&str>) {
        self.count_request(n_bytes, destination);
        let all = &mut self.record.all;
        all.uploads += 1;
        all.upload_bytes += n_bytes;
        let Some(known) = self.datasets.iter_mut().find(|it| it.name == dataset) else { return };
        known.was_sent.fill(true);
        known.was_uploaded = true;
        let sent = self.record.datasets.entry(known.name.clone()).or_default();
        sent.bytes += n_bytes;
        all.rows += known.n_rows.saturating_sub(sent.rows);
        sent.rows = sent.rows.max(known.n_rows);
        self.record_columns();
    }

    /// Counts a downloaded file.
    fn count_download(&mut self, n_bytes: u64) {
        self.record.all.downloads += 1;
        self.record.all.download_bytes += n_bytes;
    }

    /// A name counts as sent when all its words occur in the text.
    fn count_names(&mut self, said: &[&str], n_bytes: u64) {
        let there: HashSet<&str> = said.iter().flat_map(|it| words(it)).collect();
        let is_there = |name: &str| words(name).all(|it| there.contains(it));
        for known in &mut self.datasets {
            if is_there(&known.name) {
                for (name, was_sent) in known.columns.iter().zip(&mut known.was_sent) {
                    // The record holds no more of a name than that.
                    let end = name.floor_char_boundary(COLUMN_NAME_BYTES_MAX);
                    *was_sent |= is_there(&name[..end]);
                }
                self.record.datasets.entry(known.name.clone()).or_default().bytes += n_bytes;
            }
        }
        self.record_columns();
    }

    /// Records which columns were sent.
    fn record_columns(&mut self) {
        let mut columns = Vec::new();
        for known in &self.datasets {
            let sent: Vec<&String> = known
                .columns
                .iter()
                .zip(&known.was_sent)
                .filter(|it| *it.1)
                .map(|it| it.0)
                .collect();
            if sent.is_empty() {
                continue;
            }
            columns.extend(sent.iter().map(|it| format!("{}.{it}", known.name)));
            let dataset = self.record.datasets.entry(known.name.clone()).or_default();
            dataset.columns = sent.into_iter().cloned().collect();
        }
        self.record.all.columns = columns;
    }

    /// Counts the output of a call: rows of a table as rows, the rest as text.
    fn count_output(&mut self, output: &str) {
        let Ok(Value::Object(members)) = serde_json::from_str(output) else {
            return self.count_text(output);
        };
        let rows = members.get("head").and_then(Value::as_array);
        for row in rows.into_iter().flatten() {
            if !self.seen.insert(hash(&row.to_string())) {
                continue;
            }
            self.record.all.rows += 1;
            let Some(row) = row.as_object() else { continue };
            let of_dataset = |it: &&NamedDataset| !it.was_uploaded && it.has_all_of(row);
            for known in self.datasets.iter().filter(of_dataset) {
                self.record.datasets.entry(known.name.clone()).or_default().rows += 1;
            }
        }
        for text in ["text", "stdout"] {
            if let Some(text) = members.get(text).and_then(Value::as_str) {
                self.count_text(text);
            }
        }
    }

    fn count_text(&mut self, text: &str) {
        if self.seen.insert(hash(text)) {
            self.record.all.text_bytes += text.len() as u64;
        }
    }
}

impl NamedDataset {
    fn has_all_of(&self, row: &Map<String, Value>) -> bool {
        !row.is_empty() && row.keys().all(|it| self.columns.contains(it))
    }
}

/// Collects the texts of a value.
fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|it| texts(it, found)),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !NOT_SAID.contains(&name.as_str()))
            .for_each(|(_, it)| texts(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the outputs of calls in a body of either dialect.
fn outputs(body: &Value) -> Vec<&str> {
    let items = body["input"].as_array().into_iter().flatten();
    let items = items.filter(|it| it["type"] == "function_call_output").map(|it| &it["output"]);
    let messages = body["messages"].as_array().into_iter().flatten();
    let messages = messages.filter(|it| it["role"] == "tool").map(|it| &it["content"]);
    items.chain(messages).filter_map(Value::as_str).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|it| !it.is_empty())
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::{Value, json};

    use super::{Counter, Ledger};
    use crate::prompt::tests::catalog;
    use csv_agent_cluster::Traffic;
    use csv_agent_provider::Progress;
    use csv_agent_session::egress_store::EgressFile;
    use csv_agent_types::egress::{Egress, Record};

    fn body(items: &Value) -> Value {
        let told = "Datasets:\n- sales: 3 rows\n  - \"unit price\" float64\n";
        json!({"model": "m", "instructions": told, "input": items, "tools": [{"name": "day"}]})
    }

    #[test]
    fn names_rows_and_text_count_once_and_bytes_each_time() {
        let mut counter = Counter::new(&catalog(&[("sales", &["day", "unit price"])]));
        let head =
            json!({"kind": "dataframe", "head": [{"unit price": 1}, {"x": 2}], "stdout": "12"});
        let output = |id: &str, it: &str| json!({"type": "function_call_output", "call_id": id, "output": it});
        let items = json!([{"role": "user", "content": "{\"head\": [1, 2, 3]}"},
            output("c1", &head.to_string()), output("c2", "printed")]);
        let body = body(&items);
        counter.count(&body, Some("https://host"), false);
        counter.count(&body, Some("https://host"), false);
        let n_bytes = 2 * body.to_string().len() as u64;
        let Record { all, datasets } = counter.record();
        assert_eq!(
            *all,
            Egress {
                destinations: vec!["https://host".into()],
                requests: 2,
                columns: vec!["sales.unit price".into()],
                rows: 2,
                bytes: n_bytes,
                text_bytes: 9,
                ..Egress::default()
            }
        );
        assert_eq!((datasets["sales"].rows, datasets["sales"].bytes), (1, n_bytes));
    }

    #[test]
    fn an_upload_takes_all_columns_and_all_rows_along() {
        let catalog = catalog(&[("sales", &["day", "price"]), ("stock", &["item"])]);
        let n_rows = catalog.get("sales").unwrap().row_count;
        assert!(1 < n_rows);
        let mut counter = Counter::new(&catalog);
        let head = json!({"head": [{"day": 1}]}).to_string();
        let shown = json!([{"type": "function_call_output", "output": head}]);
        counter.count(&json!({"input": shown}), Some("https://host"), false);
        let before = counter.record().all.bytes;
        counter.count_upload("sales", 100, Some("https://host"));
        counter.count_upload("sales", 100, Some("https://host"));
        counter.count_request(10, Some("https://host"));
        counter.count_download(7);
        let more = json!({"head": [{"day": 2}]}).to_string();
        let shown = json!([{"type": "function_call_output", "output": more}]);
        counter.count(&json!({"input": shown}), Some("https://host"), false);
        let Record { all, datasets } = counter.record();
        assert_eq!(all.columns, ["sales.day", "sales.price"]);
        // The last row shown may have been computed.
        assert_eq!((all.rows, datasets["sales"].rows), (n_rows + 1, n_rows));
        assert_eq!((all.requests, all.uploads, all.upload_bytes), (5, 2, 200));
        assert_eq!((all.downloads, all.download_bytes), (1, 7));
        assert_eq!(datasets["sales"].bytes, 200);
        assert!(before + 210 < all.bytes);
        assert_eq!(all.destinations, ["https://host"]);
        assert!(!datasets.contains_key("stock"));
    }

    /// Makes the directory of a turn in a session.
    fn turn_in(session: &Path) -> PathBuf {
        let turn = session.join("turns/0001");
        fs::create_dir_all(&turn).unwrap();
        turn
    }

    #[test]
    fn the_ledger_hears_uploads_and_takes_back_what_found_no_server() {
        let dir = tempfile::tempdir().unwrap();
        let file = EgressFile::of_turn(&turn_in(dir.path()));
        let ledger = Ledger::begin(&catalog(&[("sales", &["day"])]), file.clone());
        let upload = Progress::Uploading {
            dataset: "sales",
            filename: "sales.csv",
            bytes: 5,
            to: "http://h",
        };
        ledger.hear(&upload, false);
        assert_eq!(file.read().unwrap().all.upload_bytes, 5, "it is written before it leaves");
        ledger.hear(&Progress::Unsent, false);
        assert_eq!(ledger.record(), Record::default());
        ledger.hear(&Progress::Calling { bytes: 3, to: "http://h" }, false);
        ledger.hear(&Progress::Fetched { bytes: 9 }, false);
        ledger.check().unwrap();
        let all = file.read().unwrap().all;
        assert_eq!((all.requests, all.bytes, all.uploads, all.download_bytes), (1, 3, 0, 9));
    }

    #[test]
    fn what_goes_to_a_cluster_is_recorded_beside_the_requests_and_never_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = EgressFile::of_turn(&turn_in(dir.path()));
        let ledger = Ledger::begin(&catalog(&[("sales", &["day"])]), file.clone());
        ledger.hear(&Progress::Calling { bytes: 3, to: "http://h" }, false);
        ledger.opens_cluster("sc://host:15002").unwrap();
        assert_eq!(file.read().unwrap().all.destinations, ["http://h", "sc://host:15002"]);
        ledger.count_cluster(Traffic { requests: 1, sent_bytes: 20, received_bytes: 300 });
        ledger.hear(&Progress::Unsent, false);
        ledger.count_cluster(Traffic { received_bytes: 50, ..Traffic::default() });
        ledger.catch_up();
        let all = Egress {
            destinations: vec!["sc://host:15002".into()],
            cluster_requests: 1,
            cluster_sent_bytes: 20,
            cluster_received_bytes: 350,
            ..Egress::default()
        };
        assert_eq!(file.read().unwrap(), Record { all, ..Record::default() });
    }

    #[test]
    fn chat_messages_profiles_images_and_transcripts_count_as_well() {
        let mut counter = Counter::new(&catalog(&[("sales", &["day"])]));
        let table = json!({"head": [{"day": "Monday"}]}).to_string();
        let messages = json!([{"role": "system", "content": "- sales\n  - row: 1, 2\n  - row: 3, 4\n"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
            {"role": "tool", "content": table}]);
        counter.count(&json!({"messages": messages}), None, false);
        let all = counter.record().all.clone();
        assert_eq!((all.rows, all.image_bytes, all.columns.len()), (3, 26, 1));
        let question = json!({"messages": [{"role": "user", "content": "data: what day is it?"}]});
        counter.count(&question, None, false);
        assert_eq!(counter.record().all.image_bytes, 26);
        let transcript = json!({"messages": [{"role": "user", "content": "# Turn 1"}]});
        counter.count(&transcript, None, true);
        assert_eq!(counter.record().all.text_bytes, 8);
    }
}
