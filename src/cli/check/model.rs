//! Claims become statements: a model writes them, from the words and the names and types of columns.
//!
//! No value of the data is sent. What the model answers is data from outside: one SELECT, which the engine prepares and
//! the proof tries before anyone uses it.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use csv_agent_provider::{Progress, Provider};
use csv_agent_query::{TableSchema, prepare};
use csv_agent_session::Session;
use csv_agent_text::{digits::count, sanitize};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::{
    AnswerFormat, FinishReason, Item, ItemKind, Request, Response, ToolChoice, Usage,
};
use csv_agent_types::limits::{
    COMPILE_ROUNDS_MAX, COMPILED_SQL_BYTES_MAX, READING_BYTES_MAX, SCHEMA_BYTES_MAX,
};
use csv_agent_types::status::{BUILTIN, Failure};
use csv_agent_worker::engine::table_of;

use super::compile::{Compiled, unread_part};
use super::lock::CompiledClaim;
use super::proof;
use crate::flags::TurnFlags;
use crate::options::settings::{MODEL, Settings, ValueOrigin};
use crate::options::{GlobalOptions, TurnOptions};
use crate::signals::{self, Signals};
use crate::{ask, diagnostics};

/// What the model is asked to do.
const PROMPT: &str = include_str!("model.md");
/// By this, the provider's cache finds the instructions of an earlier request.
const CACHE_KEY: &str = "csv-agent-check";

/// Returns whether a model is configured that may compile claims. With `--no-input`, a flag has to name it.
pub(super) fn is_configured(settings: &Settings) -> anyhow::Result<bool> {
    let chosen = settings.choose(&MODEL)?;
    let may_ask = match chosen.origin {
        ValueOrigin::Default => false,
        ValueOrigin::Flag(_) => true,
        _ => !settings.no_input(),
    };
    Ok(may_ask && chosen.value.is_some_and(|it| it != BUILTIN))
}

/// Compiles claims about the datasets of a temporary session. Fails when a setting is invalid, there is no key,
/// the model cannot be reached, or a signal came.
pub(super) fn compile(
    claims: &[&str],
    session: &Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<Vec<Compiled>> {
    let flags = TurnFlags { ephemeral: true, ..TurnFlags::default() };
    let turn = TurnOptions::resolve(flags, options.clone(), settings)?;
    let provider = ask::provider(&turn, ask::key(&turn)?)?;
    let tables = session.catalog().iter().map(|(name, it)| table_of(name, it)).collect();
    let server = provider.destination_name().unwrap_or_default();
    let runtime = signals::runtime()?;
    let mut compiler = Compiler {
        turn,
        provider,
        tables,
        runtime,
        colour: options.terminal.stderr.colour,
        sent: (0, 0),
    };
    let mut results = Vec::new();
    for claim in claims {
        results.push(compiler.compile(claim, session, settings)?);
    }
    let (n_requests, n_bytes) = compiler.sent;
    if !options.quiet {
        diagnostics::note(&format!(
            "sent {} ({}) to {server}: claims, and the names and types of columns",
            count(n_requests, "request"),
            count(n_bytes, "byte")
        ));
    }
    Ok(results)
}

/// A model that compiles claims.
struct Compiler {
    turn: TurnOptions,
    provider: Provider,
    tables: Vec<TableSchema>,
    /// Of all requests: connections belong to it.
    runtime: Runtime,
    colour: bool,
    /// How many requests were sent, with how many bytes.
    sent: (u64, u64),
}

/// What the model answers.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    sql: Option<String>,
    reading: String,
}

impl Compiler {
    /// Compiles a claim: the model gets to know why its statement was refused, and writes another, a few times.
    fn compile(
        &mut self,
        claim: &str,
        session: &Session,
        settings: &Settings,
    ) -> anyhow::Result<Compiled> {
        let task = format!("{}\nRule: {claim}", schema(session.catalog()));
        let mut items = vec![Item::user(&task)];
        let (mut usage, mut reason) = (Usage::default(), String::new());
        for _ in 0..COMPILE_ROUNDS_MAX.min(self.turn.agent.limits.rounds_max) {
            if self.has_spent(&usage) {
                reason = format!("the limit of tokens or cost was reached; {reason}");
                break;
            }
            let response = self.respond(items.clone())?;
            usage.add(&response.usage);
            let answer = match read(&response) {
                Ok(WrittenRule { sql: None, reading }) => {
                    return Ok(Err(format!("`{}` refuses it: {reading}", self.turn.agent.model)));
                }
                Ok(WrittenRule { sql: Some(sql), reading }) => Ok((sql, reading)),
                Err(ReplyTrouble::Final(reason)) => return Ok(Err(reason)),
                Err(ReplyTrouble::Form(reason)) => Err(reason),
            };
            let refused = match answer {
                Err(reason) => reason,
                Ok((sql, reading)) => match self.checked(claim, sql, reading, session, settings)? {
                    Ok(compiled) => return Ok(Ok(compiled)),
                    Err(reason) => reason,
                },
            };
            items.extend(response.items);
            items.push(Item::user(&format!("Refused: {refused}\nAnswer again, in the same form.")));
            reason = refused;
        }
        Ok(Err(format!(
            "`{}` wrote no statement that can be used: {reason}",
            self.turn.agent.model
        )))
    }

    /// Returns the claim with a statement that may be used, or why it may not.
    fn checked(
        &self,
        claim: &str,
        sql: String,
        reading: String,
        session: &Session,
        settings: &Settings,
    ) -> anyhow::Result<Compiled> {
        let columns = match columns_of(&sql, &self.tables) {
            Ok(columns) => columns,
            Err(reason) => return Ok(Err(reason)),
        };
        if let Some(part) = unread_part(claim, &sql, &columns, session.catalog()) {
            return Ok(Err(format!(
                "the rule contains `{part}`, but the statement does not use it"
            )));
        }
        let (claim, by) = (claim.to_owned(), self.turn.agent.model.clone());
        let compiled = CompiledClaim { claim, reading, sql, by, columns };
        let refusal = proof::refusals(&[&compiled], session, settings)?.pop().flatten();
        Ok(match refusal {
            Some(reason) => Err(reason),
            None => Ok(compiled),
        })
    }

    fn has_spent(&self, usage: &Usage) -> bool {
        let (limits, price) = (&self.turn.agent.limits, self.turn.agent.price);
        limits.tokens_max.is_some_and(|it| it <= usage.total_tokens())
            || limits.cost_usd_max.zip(price).is_some_and(|(max, it)| max <= it.cost(usage))
    }

    fn respond(&mut self, items: Vec<Item>) -> anyhow::Result<Response> {
        let agent = &self.turn.agent;
        let request = Request {
            model: agent.model.clone(),
            instructions: PROMPT.to_owned(),
            items,
            tools: Vec::new(),
            tool_choice: ToolChoice::None,
            format: Some(AnswerFormat { name: "rule".to_owned(), schema: form(), strict: true }),
            reasoning: agent.reasoning,
            cache_key: CACHE_KEY.to_owned(),
        };
        let (sent, colour) = (&mut self.sent, self.colour);
        let mut on_progress = |progress: Progress<'_>| match progress {
            Progress::Sending { body, .. } => {
                *sent = (sent.0 + 1, sent.1 + body.to_string().len() as u64);
            }
            Progress::Retrying { reason, delay, .. } => {
                let seconds = delay.max(Duration::from_secs(1)).as_secs();
                diagnostics::warning(&format!("{reason}; retrying in {seconds} s"), colour);
            }
            Progress::Warning { message, .. } => diagnostics::warning(&message, colour),
            _ => {}
        };
        let responding = self.provider.respond(&request, &mut on_progress);
        let limit = agent.limits.timeout.unwrap_or(Duration::MAX);
        self.runtime.block_on(async {
            let mut signals = Signals::listen()?;
            tokio::select! {
                response = responding => Ok(response?),
                status = signals.next() => Err(Failure::new(status, "interrupted").into()),
                () = tokio::time::sleep(limit) => {
                    let message = format!("the model took longer than {} s", limit.as_secs_f64());
                    let failure = Failure::limit(message);
                    Err(failure.hint("raise the limit with `--timeout`").into())
                }
            }
        })
    }
}

/// Why there is no answer to use.
#[derive(Debug, PartialEq)]
enum ReplyTrouble {
    /// The model may do better.
    Form(String),
    /// It will not.
    Final(String),
}

/// Reads the answer of the model.
fn read(response: &Response) -> Result<WrittenRule, ReplyTrouble> {
    if let FinishReason::Incomplete(reason) = &response.ending {
        let reason = sanitize::one_line(reason);
        return Err(ReplyTrouble::Final(format!("the model's answer was cut ({reason})")));
    }
    if let Some(refusal) = response.items.iter().find_map(Item::refusal) {
        let refusal = sanitize::one_line(&refusal);
        return Err(ReplyTrouble::Final(format!("the model refuses it: {refusal}")));
    }
    let messages = response.items.iter().filter(|it| it.kind() == ItemKind::AssistantMessage);
    parse(&messages.map(Item::text).collect::<String>()).map_err(ReplyTrouble::Form)
}

/// Reads the text of an answer.
fn parse(text: &str) -> Result<WrittenRule, String> {
    // Some servers do not enforce the form, and some models then put the object into a block of code.
    let text = text.trim();
    let text = text.strip_prefix("```").map_or(text, |it| it.trim_start_matches("json"));
    let text = text.strip_suffix("```").unwrap_or(text);
    let answer: WrittenRule = serde_json::from_str(text.trim())
        .map_err(|_| "the answer is not the JSON object that was asked for".to_owned())?;
    let reading = sanitize::one_line(answer.reading.trim());
    if reading.is_empty() || READING_BYTES_MAX < reading.len() {
        return Err(format!(
            "`reading` has to be one sentence of at most {READING_BYTES_MAX} bytes"
        ));
    }
    let sql = answer.sql.map(|it| it.trim().trim_end_matches(';').trim_end().to_owned());
    if sql.as_ref().is_some_and(|it| COMPILED_SQL_BYTES_MAX < it.len()) {
        return Err(format!("`sql` has more than {COMPILED_SQL_BYTES_MAX} bytes"));
    }
    Ok(WrittenRule { sql, reading })
}

/// Returns the columns without which a statement cannot be prepared, as `orders.total`. Fails when it cannot be
/// prepared, or reads no dataset.
fn columns_of(sql: &str, tables: &[TableSchema]) -> Result<Vec<String>, String> {
    let now = Timestamp::now().as_microsecond();
    let prepared = prepare(sql, tables, now).map_err(|it| match it.hint {
        Some(ref hint) => format!("{it} ({hint})"),
        None => it.to_string(),
    })?;
    if prepared.tables.is_empty() {
        return Err("the statement reads no table".to_owned());
    }
    let mut needed = Vec::new();
    for (at, table) in tables.iter().enumerate().filter(|it| prepared.tables.contains(&it.1.name)) {
        for column in 0..table.columns.len() {
            let mut without = tables.to_vec();
            let (name, _) = without[at].columns.remove(column);
            if prepare(sql, &without, now).is_err() {
                needed.push(format!("{}.{name}", table.name));
            }
        }
    }
    Ok(needed)
}

/// Writes the names and types of the columns of all datasets.
fn schema(catalog: &Catalog) -> String {
    let mut text = "Tables. Names are in quotes.\n".to_owned();
    for (name, dataset) in catalog.iter() {
        text.extend(["- ", &Value::from(name).to_string(), "\n"]);
        for column in &dataset.columns {
            text.extend([
                "  - ",
                &Value::from(&*column.name).to_string(),
                " ",
                column.dtype.name(),
            ]);
            if let Some(meaning) = &column.meaning {
                text.extend([", ", &meaning.words()]);
            }
            text.push('\n');
        }
    }
    if SCHEMA_BYTES_MAX < text.len() {
        text.truncate(text.floor_char_boundary(SCHEMA_BYTES_MAX));
        text.push_str("\n(more columns are left out)\n");
    }
    text
}

/// The form of an answer.
fn form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "sql": {"type": ["string", "null"], "description": "The statement, or null"},
            "reading": {"type": "string", "description": "What the statement checks, or why there is none"},
        },
        "required": ["sql", "reading"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use csv_agent_query::TableSchema;
    use csv_agent_query::plan::Type;

    use super::{WrittenRule, columns_of, parse};

    #[test]
    fn only_the_object_that_was_asked_for_is_an_answer() {
        let answer = |sql: Option<&str>| {
            Ok(WrittenRule { sql: sql.map(str::to_owned), reading: "no a below 0".to_owned() })
        };
        for text in [
            r#"{"sql": "select 1;\n", "reading": " no a\nbelow 0 "}"#,
            "```json\n{\"sql\": \"select 1\", \"reading\": \"no a below 0\"}\n```",
        ] {
            assert_eq!(parse(text), answer(Some("select 1")), "{text}");
        }
        assert_eq!(parse(r#"{"sql": null, "reading": "no a below 0"}"#), answer(None));
        for text in [
            "",
            "select 1",
            r#"{"sql": "select 1"}"#,
            r#"{"sql": ["select 1"], "reading": "r"}"#,
            r#"{"sql": "select 1", "reading": "r", "by": "me"}"#,
            r#"{"sql": "select 1", "reading": " "}"#,
            r#"[{"sql": "select 1", "reading": "r"}]"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        let long = |sql: usize, reading: usize| {
            format!(r#"{{"sql": "{}", "reading": "{}"}}"#, "a".repeat(sql), "r".repeat(reading))
        };
        assert!(parse(&long(100, 100)).is_ok());
        assert!(parse(&long(100_000, 100)).is_err());
        assert!(parse(&long(100, 10_000)).is_err());
    }

    #[test]
    fn a_statement_needs_the_columns_that_it_names() {
        let table = |name: &str, columns: [&str; 2]| TableSchema {
            name: name.to_owned(),
            columns: columns.map(|it| (it.to_owned(), Type::Int)).into(),
        };
        let tables = [table("a", ["id", "x"]), table("b", ["id", "y"])];
        let check = |sql: &str| columns_of(sql, &tables).map(|it| it.join(" "));
        assert_eq!(check("select * from a where x < 0").as_deref(), Ok("a.x"));
        let join = "select * from a where x > 0 and id not in (select id from b)";
        assert_eq!(check(join).as_deref(), Ok("a.id a.x b.id"));
        assert_eq!(check("select count(*) from a having count(*) < 9").as_deref(), Ok(""));
        for sql in [
            "select 1",
            "drop table a",
            "select * from a; select 1",
            "select z from a",
            "",
            "copy a to 'f'",
        ] {
            assert!(check(sql).is_err(), "{sql}");
        }
    }
}
