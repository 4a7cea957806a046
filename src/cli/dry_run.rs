//! `ask --dry-run`: the request that would be sent first. Sends, asks and stores nothing.

use std::io::Write;

use serde_json::{Map, Value, json};

use csv_agent_agent::hosted::PlannedUpload;
use csv_agent_agent::preview::Preview;
use csv_agent_agent::{Agent, AgentOptions};
use csv_agent_provider::{Key, Provider, is_on_this_machine, mask};
use csv_agent_session::{Access, Session};
use csv_agent_sink::Format;
use csv_agent_text::{digits, sanitize};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::Question;

use crate::ask::{demand_data, provider};
use crate::errors::ExitStatus;
use crate::options::key::KeySource;
use crate::options::{AskOptions, ProviderChoice, TurnOptions};
use crate::{diagnostics, image};
use crate::{signals, stdout};

/// Placeholder for the key, which is not fetched.
const NO_KEY: &str = "***";

/// The URL of a request, and its headers.
type Destination = Option<(String, Vec<(String, String)>)>;

/// Prints the request. Fails when the session, a file or a setting is invalid, or the output cannot be written.
pub(crate) fn run(options: &AskOptions) -> anyhow::Result<ExitStatus> {
    let turn = &options.turn;
    let provider = provider(turn, no_key(turn))?;
    let question = image::question(options)?;
    let (preview, destination) = preview(provider, turn, &question)?;
    let write = |out: &mut dyn Write| match turn.global.format {
        Format::Json | Format::Jsonl => Ok(writeln!(out, "{}", document(&preview, destination)?)?),
        _ => Ok(write!(out, "{}", text(&preview, destination)?)?),
    };
    stdout::answer_to(turn.answer.output.as_deref(), write)?;
    Ok(ExitStatus::Ok)
}

/// Returns the placeholder where a request would contain a key.
fn no_key(turn: &TurnOptions) -> Option<Key> {
    let ProviderChoice::Remote(remote, source) = &turn.provider else { return None };
    let has_key = *source != KeySource::None || !is_on_this_machine(&remote.base_url);
    has_key.then(|| Key::new(NO_KEY))
}

/// Ingests files into a temporary session, so that the user's is unchanged.
fn preview(
    provider: Provider,
    turn: &TurnOptions,
    question: &Question,
) -> anyhow::Result<(Preview, Destination)> {
    let dir = &turn.global.session.dir;
    let is_there = !turn.ephemeral && dir.join("session.json").exists();
    if turn.files.is_empty() {
        demand_data(turn)?;
    }
    let (mut beside, datasets) = if turn.ephemeral {
        turn.inputs().temporary(&turn.global)?
    } else {
        let mut beside = Session::ephemeral(Some(dir))?;
        let datasets = turn.inputs().ingest(&mut beside, &turn.global)?;
        (beside, datasets)
    };
    diagnostics::warnings(beside.take_warnings(), turn.global.terminal.stderr.colour);
    let mut agent = Agent::new(AgentOptions { datasets, ..turn.agent.clone() }, provider);
    // Files are read to state their size, even for a session elsewhere.
    let mut catalog = Catalog::default();
    for (name, dataset) in beside.catalog().iter() {
        catalog.insert(name.to_owned(), dataset.seen_from(beside.dir()));
    }
    let mut session = if is_there {
        Session::open(dir, Access::Existing, turn.global.lock("ask"))?
    } else {
        beside
    };
    let preview = signals::runtime()?.block_on(agent.preview(&mut session, &catalog, question))?;
    Ok((preview, agent.destination()))
}

fn document(preview: &Preview, destination: Destination) -> anyhow::Result<Value> {
    let (url, headers) = destination.unzip();
    let headers: Map<String, Value> =
        headers.into_iter().flatten().map(|(name, value)| (name, json!(value))).collect();
    Ok(json!({
        "schema": "csv-agent.dry-run/1",
        "url": url,
        "headers": headers,
        "uploads": preview.uploads,
        "request": masked(&preview.request)?,
        "egress": preview.egress,
    }))
}

fn text(preview: &Preview, destination: Destination) -> anyhow::Result<String> {
    let mut lines = Vec::new();
    match destination {
        Some((url, headers)) => {
            lines.push(format!("POST {url}"));
            lines.extend(headers.into_iter().map(|(name, value)| format!("{name}: {value}")));
        }
        None => lines
            .push("Nothing would be sent: a cassette or the built-in analyst answers.".to_owned()),
    }
    lines.push(String::new());
    lines.push(serde_json::to_string_pretty(&masked(&preview.request)?)?);
    lines.push(String::new());
    if !preview.uploads.is_empty() {
        lines.extend(told_uploads(&preview.uploads));
        lines.push(String::new());
    }
    let egress = &preview.egress;
    lines.push(format!(
        "It would send {}, with the names of {} and the values of {}.",
        digits::count(egress.bytes, "byte"),
        digits::count(egress.columns.len() as u64, "column"),
        digits::count(egress.rows, "row")
    ));
    Ok(sanitize::for_terminal(&(lines.join("\n") + "\n")))
}

/// Lists the files for code at the provider, and which are uploaded already.
fn told_uploads(uploads: &[PlannedUpload]) -> Vec<String> {
    let mut lines =
        vec!["Before that, csv-agent would upload the complete datasets as files:".to_owned()];
    for it in uploads {
        let (rows, size) = (digits::count(it.rows, "row"), digits::size(it.bytes));
        let how = match &it.file_id {
            Some(id) => format!("already uploaded as `{id}`"),
            None => "to be uploaded".to_owned(),
        };
        lines.push(format!("- {}: {rows}, {size}, {how}", it.filename));
    }
    if uploads.iter().any(|it| it.file_id.is_none()) {
        lines.push(
            "A file gets its id when it is uploaded. The request above leaves these ids out."
                .to_owned(),
        );
    }
    lines
}

/// Text that looks like a key in a question or a cell is sent, but not shown.
fn masked(request: &Value) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&mask(&request.to_string(), None))?)
}
