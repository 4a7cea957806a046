//! The built-in analyst: answers plain analytical questions with the tools that a model would call.
//!
//! It is a semantic parser and no chatbot. Words are grounded in the data (`ground`), marks become a reading
//! (`parse`), a reading becomes pandas (`code`), what comes back becomes sentences (`answer`). What it does
//! not understand it says. It keeps nothing between requests: where a turn stands is read off its items.

mod answer;
mod code;
mod follow_up;
mod ground;
mod lexicon;
mod look;
mod parse;
mod reading;
#[cfg(test)]
mod readings;
mod schema;
mod suggest;
mod transcript;
mod words;

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Value, json};

use csv_agent_types::conversation::{FinishReason, Item, Request, Response, ToolChoice, Usage};

use ground::Mark;
use lexicon::{ENGLISH, Lexicon};
use reading::Reading;
use schema::Table;
use transcript::Turn;

/// Tables whose schemas are asked for when the instructions cut them.
const SCHEMAS_MAX: usize = 8;
/// Turns before the question that it may take up.
const TURNS_MAX: usize = 8;
/// Words of a question that are read; one that asks for one thing has fewer.
const WORDS_MAX: usize = 200;

/// A tool to call, and its arguments.
type Call = (&'static str, Value);

/// What happens next.
enum Next {
    /// Calls to make.
    Calls(Vec<Call>),
    /// The answer: its text, and the same with a verdict, as a gate reads it.
    Say(String, Value),
    /// Why there is none.
    Refuse(String),
}

/// Answers a request as a model would: with calls, or with a reply.
pub fn respond(request: &Request) -> Response {
    let next = match request.tool_choice {
        ToolChoice::Auto | ToolChoice::Hosted(_) => next(request, &ENGLISH),
        ToolChoice::None => Next::Refuse(
            "There were no rounds left to compute the answer. Allow more with `--max-rounds`."
                .to_owned(),
        ),
    };
    let items = match next {
        Next::Calls(calls) => {
            let n_before = request.items.len();
            let item = |(n, (name, arguments)): (usize, (&str, Value))| {
                Item(json!({
                    "type": "function_call",
                    "call_id": format!("call_{n_before}_{n}"),
                    "name": name,
                    "arguments": arguments.to_string(),
                }))
            };
            calls.into_iter().enumerate().map(item).collect()
        }
        Next::Say(text, verdict) => {
            let text = if request.format.is_some() { verdict.to_string() } else { text };
            vec![Item::assistant(&text)]
        }
        Next::Refuse(text) => vec![Item(json!({
            "type": "message",
            "role": "assistant",
            "content": [{"type": "refusal", "refusal": text}],
        }))],
    };
    Response {
        id: None,
        previous_id: None,
        request_id: None,
        model: None,
        items,
        usage: Usage { requests: 1, ..Usage::default() },
        ending: FinishReason::Completed,
        wants_more: false,
    }
}

/// Decides what to do next in the last turn.
fn next(request: &Request, lexicon: &Lexicon) -> Next {
    let mut turns = transcript::turns(&request.items);
    let mut tables = schema::of_instructions(&request.instructions, lexicon);
    for turn in &mut turns {
        turn.question = schema::with_quoted_names(&turn.question, &tables);
    }
    let Some((turn, before)) = turns.split_last() else {
        return Next::Refuse("There is no question.".to_owned());
    };
    if tables.is_empty() {
        return Next::Refuse(
            "There is no data to ask about: add some with `csv-agent ingest FILE.csv`.".to_owned(),
        );
    }
    for done in turns.iter().flat_map(|it| &it.calls) {
        let name = done.arguments["name"].as_str();
        if done.name == "get_dataset_info"
            && let Some(table) = tables.iter_mut().find(|it| Some(it.name.as_str()) == name)
        {
            schema::complete(table, &done.output, lexicon);
        }
    }
    let cut: Vec<&Table> = tables.iter().filter(|it| !it.is_whole()).take(SCHEMAS_MAX).collect();
    if !cut.is_empty() && turn.calls.is_empty() {
        let call = |it: &&Table| ("get_dataset_info", json!({"name": it.name}));
        return Next::Calls(cut.iter().map(call).collect());
    }
    // A table whose schema nobody could get is left out.
    tables.retain(|it| !it.columns.is_empty());
    for turn in &turns {
        for table in &mut tables {
            for done in turn.run_on(&table.name.clone(), look::FLAGS) {
                table.set_flags(&look::flags(&done.output));
            }
        }
    }
    let mut last: Option<Reading> = None;
    let mut last_tables: Vec<usize> = Vec::new();
    let mut is_lost = false;
    for earlier in before.iter().rev().take(TURNS_MAX).rev() {
        let asked = Asked {
            turn: earlier,
            tables: &tables,
            lexicon,
            last: last.as_ref(),
            last_tables: &last_tables,
            wants_verdict: false,
            is_lost,
            grounded: RefCell::default(),
        };
        // What follows a question that nobody understood takes nothing up.
        last = match asked.understand() {
            follow_up::Understood::Read(found) => {
                last_tables.clone_from(&found.tables);
                Some(found.reading)
            }
            _ => None,
        };
        is_lost = last.is_none();
    }
    let asked = Asked {
        turn,
        tables: &tables,
        lexicon,
        last: last.as_ref(),
        last_tables: &last_tables,
        wants_verdict: request.format.is_some(),
        is_lost,
        grounded: RefCell::default(),
    };
    asked.next()
}

/// A question with all that is known while it is answered.
struct Asked<'a> {
    turn: &'a Turn,
    tables: &'a [Table],
    lexicon: &'a Lexicon,
    /// How the question before was read, and over which tables.
    last: Option<&'a Reading>,
    last_tables: &'a [usize],
    /// Whether a verdict is asked for.
    wants_verdict: bool,
    /// Whether the question before was not understood.
    is_lost: bool,
    /// The question grounded in tables: it is wanted several times.
    grounded: RefCell<HashMap<Vec<usize>, Vec<Mark>>>,
}
